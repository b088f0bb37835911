// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/stl/vector.h>

#include <Strata_GaussJordan.hpp>

#include "Arrays.hpp"
#include "Bindings.hpp"
#include "Options.hpp"
#include "Runtime.hpp"

namespace StrataPython {

namespace {

/// Reduces A, m x n, in place.
template <class Scalar, class Space>
Strata::RowEchelonForm reduce(const Written<Scalar, Space>& A, double tolerance,
                              std::int64_t pivot_columns,
                              std::uintptr_t stream) {
  Strata::GaussJordanOptions options;
  options.tolerance = tolerance;
  options.pivot_columns = pivot_columns;
  const auto matrix = strided_view<Scalar, Space>("A", A);
  const Work work;
  return Strata::reduced_row_echelon_form(SpaceFacts<Space>::on_stream(stream),
                                          matrix, options);
}

template <class Scalar, class Space>
struct BindDense {
  static void define(nb::module_& module) {
    module.def(class_name<Scalar, Space>("reduce").c_str(),
               &reduce<Scalar, Space>, nb::arg("A").noconvert(),
               nb::arg("tolerance"), nb::arg("pivot_columns"),
               nb::arg("stream"));
  }
};

}  // namespace

void bind_dense(nb::module_& module) {
  using Form = Strata::RowEchelonForm;
  nb::class_<Form>(module, "RowEchelonForm")
      .def_ro("rank", &Form::rank)
      .def_ro("pivot_columns", &Form::pivot_columns)
      .def_ro("tolerance", &Form::tolerance)
      .def_ro("norm", &Form::norm);
  for_each_type<BindDense>(module);
}

}  // namespace StrataPython
