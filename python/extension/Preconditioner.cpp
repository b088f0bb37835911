// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Preconditioner.hpp"

#include "Bindings.hpp"

namespace StrataPython {

namespace {

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
             nb::arg("keep").noconvert().none(), nb::arg("stream"))
        .def("apply", &Class::apply, nb::arg("r").noconvert(),
             nb::arg("out").noconvert(), nb::arg("stream"))
        .def("order", &Class::order);
  }
};

}  // namespace

void bind_preconditioner(nb::module_& module) {
  for_each_type<BindPreconditioner>(module);
}

}  // namespace StrataPython
