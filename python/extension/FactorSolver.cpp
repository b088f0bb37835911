// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FactorSolver.hpp"

#include "Bindings.hpp"

namespace StrataPython {

namespace {

template <class Scalar, class Space>
struct BindFactors {
  static void define(nb::module_& module) {
    using Class = Factors<Scalar, Space>;
    using Of = typename Class::Triangle;
    using Permutation = typename Class::Permutation;
    using Scaling = typename Class::Scaling;
    nb::class_<Class>(module, class_name<Scalar, Space>("FactorSolver").c_str())
        .def(nb::init<const Of&, const Of&, const Permutation&,
                      const Permutation&, const Scaling&, const Scaling&,
                      const nb::dict&, std::uintptr_t>(),
             nb::arg("L").noconvert(), nb::arg("U").noconvert(),
             nb::arg("perm_r").none(), nb::arg("perm_c").none(),
             nb::arg("row_scale").none(), nb::arg("col_scale").none(),
             nb::arg("options"), nb::arg("stream"))
        .def("update", &Class::update, nb::arg("L").noconvert(),
             nb::arg("U").noconvert(), nb::arg("perm_r").none(),
             nb::arg("perm_c").none(), nb::arg("row_scale").none(),
             nb::arg("col_scale").none(), nb::arg("keep_L").noconvert().none(),
             nb::arg("keep_U").noconvert().none(), nb::arg("stream"))
        .def("apply", &Class::apply, nb::arg("b").noconvert(),
             nb::arg("out").noconvert(), nb::arg("op"), nb::arg("stream"))
        .def("apply_at", &Class::apply_at, nb::arg("b"), nb::arg("out"),
             nb::arg("stream"))
        .def("share_plan", &share_plan<Class>, nb::arg("stream"))
        .def("report", &Class::report);
  }
};

}  // namespace

void bind_factor_solver(nb::module_& module) {
  using Report = Strata::FactorSolverReport;
  nb::class_<Report> bound(module, "FactorSolverReport",
                           "What a solver with given factors consists of.",
                           nb::dynamic_attr());
  with_conversion(bound)
      .def_prop_ro(
          "precision",
          [](const Report& r) { return Strata::to_string(r.precision); })
      .def_ro("rows", &Report::rows)
      .def_ro("lower_entries", &Report::lower_entries, "Entries of L.")
      .def_ro("upper_entries", &Report::upper_entries, "Entries of U.")
      .def_ro("plan_bytes", &Report::plan_bytes,
              "Bytes of the plans of all triangular solvers.")
      .def_ro("value_bytes", &Report::value_bytes,
              "Bytes of values beside the plans.")
      .def_ro("workspace_bytes", &Report::workspace_bytes,
              "Bytes of vectors between the two triangles.")
      .def_ro("transformation_bytes", &Report::transformation_bytes,
              "Bytes of permutations and scalings.")
      .def_prop_ro("bytes", &Report::bytes, "All of them.")
      .def_ro("lower", &Report::lower, "The solver with L, a TriangularReport.")
      .def_ro("upper", &Report::upper, "The solver with U, a TriangularReport.")
      .def_ro("lower_transposed", &Report::lower_transposed,
              "The solver with L's transpose; without rows unless there is "
              "one.")
      .def_ro("upper_transposed", &Report::upper_transposed,
              "The solver with U's transpose; without rows unless there is "
              "one.");
  for_each_type<BindFactors>(module);
}

}  // namespace StrataPython
