// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_BINDINGS_HPP
#define STRATA_PYTHON_BINDINGS_HPP

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <Kokkos_Core.hpp>
#include <string>

#include "Arrays.hpp"

namespace StrataPython {

/// Arrays of a GPU made here, or known by address alone.
void bind_cuda_arrays(nb::module_& module);
// Each defines the classes of one solver, for every scalar and space.
void bind_triangular(nb::module_& module);
void bind_substitution(nb::module_& module);
void bind_level_sets(nb::module_& module);
void bind_factorization(nb::module_& module);
void bind_factor_solver(nb::module_& module);
void bind_sell_matrix(nb::module_& module);
void bind_krylov(nb::module_& module);
void bind_band(nb::module_& module);
void bind_dense(nb::module_& module);
void bind_gallery(nb::module_& module);
/// What JAX calls from compiled programs; nothing where the build had no
/// headers of jaxlib.
void bind_jax(nb::module_& module);

/// Python code's part of a report, kept by objects with attributes of their
/// own (nb::dynamic_attr).
inline std::string conversion_of(nb::handle report) {
  return nb::cast<std::string>(nb::getattr(report, "_conversion", nb::str("")));
}
/// Gives a report this attribute, and its text.
template <class Report>
nb::class_<Report>& with_conversion(nb::class_<Report>& bound) {
  return bound
      .def_prop_rw(
          "conversion", [](nb::handle self) { return conversion_of(self); },
          [](nb::handle self, const std::string& text) {
            nb::setattr(self, "_conversion", nb::str(text.c_str()));
          },
          "What of the matrix given was converted, at the price of a copy; "
          "empty if nothing was.")
      .def("__repr__", [](nb::handle self) {
        const std::string converted = conversion_of(self);
        return to_string(nb::cast<const Report&>(self)) +
               (converted.empty() ? "" : "converted: " + converted);
      });
}

/// Calls `take` with a zero of every scalar that libstrata has.
template <class Take>
void for_each_scalar(const Take& take) {
#if STRATA_LIBRARY_FLOAT
  take(float());
#endif
#if STRATA_LIBRARY_DOUBLE
  take(double());
#endif
#if STRATA_LIBRARY_COMPLEX_FLOAT
  take(Kokkos::complex<float>());
#endif
#if STRATA_LIBRARY_COMPLEX_DOUBLE
  take(Kokkos::complex<double>());
#endif
}

/// Calls `take` with a scalar and a space for every pair that there is.
template <class Take>
void for_each_scalar_and_space(const Take& take) {
  for_each_scalar([&](auto scalar) {
    take(scalar, Host());
#if defined(KOKKOS_ENABLE_CUDA)
    take(scalar, Kokkos::Cuda());
#endif
  });
}

/// Calls Bind<Scalar, Space>::define(module) for every pair.
template <template <class, class> class Bind>
void for_each_type(nb::module_& module) {
  for_each_scalar_and_space([&](auto scalar, auto space) {
    Bind<decltype(scalar), decltype(space)>::define(module);
  });
}

}  // namespace StrataPython

#endif
