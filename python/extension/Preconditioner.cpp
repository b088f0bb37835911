// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Preconditioner.hpp"

#include <Strata_IncompleteLu.hpp>
#include <cstring>

#include "Bindings.hpp"

namespace StrataPython {

namespace {

/// An array of NumPy with a copy of a view on the host.
template <class View>
nb::object numpy_copy(const View& view, const char* dtype) {
  const nb::object array =
      nb::module_::import_("numpy").attr("empty")(view.extent(0), dtype);
  const auto to = nb::cast<nb::ndarray<nb::device::cpu>>(array);
  if (view.extent(0) > 0)
    std::memcpy(to.data(), view.data(),
                view.extent(0) * sizeof(typename View::value_type));
  return array;
}

/// indptr, indices, data of L and of U: copies on the host.
template <class Scalar, class Space>
nb::tuple incomplete_lu(const Indices<Space>& row_map,
                        const Indices<Space>& entries,
                        const Values<Scalar, Space>& values,
                        std::uintptr_t stream) {
  return with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
    using Integer = typename decltype(columns)::non_const_value_type;
    const char* const integer = sizeof(Integer) == 8 ? "int64" : "int32";
    const auto here = [](const auto& view) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    };
    auto make = [&] {
      const Work work;
      const auto factors = Strata::incomplete_lu(
          SpaceFacts<Space>::on_stream(stream),
          borrowed_matrix<Scalar, Space>(offsets, columns,
                                         view_of<Scalar, Space>(values)));
      const auto arrays = [&](const auto& factor) {
        return std::make_tuple(here(factor.graph.row_map),
                               here(factor.graph.entries), here(factor.values));
      };
      return std::make_pair(arrays(factors.L), arrays(factors.U));
    };
    const auto made = make();
    const auto to_numpy = [&](const auto& arrays) {
      return nb::make_tuple(
          numpy_copy(std::get<0>(arrays), integer),
          numpy_copy(std::get<1>(arrays), integer),
          numpy_copy(std::get<2>(arrays), ScalarFacts<Scalar>::name));
    };
    return nb::make_tuple(to_numpy(made.first), to_numpy(made.second));
  });
}

template <class Scalar, class Space>
struct BindPreconditioner {
  static void define(nb::module_& module) {
    using Class = Preconditioner<Scalar, Space>;
    using Row = Indices<Space>;
    using Of = Values<Scalar, Space>;
    nb::class_<Class>(
        module, class_name<Scalar, Space>("IncompletePreconditioner").c_str())
        .def(nb::init<const Row&, const Row&, const Of&, const std::string&,
                      const std::string&, const nb::dict&, std::uintptr_t>(),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("kind"), nb::arg("order"),
             nb::arg("options"), nb::arg("stream"))
        .def("update", &Class::update, nb::arg("indptr").noconvert(),
             nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
             nb::arg("stream"))
        .def("apply", &Class::apply, nb::arg("r").noconvert(),
             nb::arg("out").noconvert(), nb::arg("stream"))
        .def("order", &Class::order)
        .def("colours", &Class::colours)
        .def("lower_report", &Class::lower_report)
        .def("upper_report", &Class::upper_report);
    module.def(class_name<Scalar, Space>("incomplete_lu").c_str(),
               &incomplete_lu<Scalar, Space>, nb::arg("indptr").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
               nb::arg("stream"));
  }
};

}  // namespace

void bind_preconditioner(nb::module_& module) {
  for_each_type<BindPreconditioner>(module);
}

}  // namespace StrataPython
