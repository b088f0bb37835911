// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Factorization.hpp"

#include "Bindings.hpp"

namespace StrataPython {

Strata::IncompleteFactorizationOptions factorization_options(
    const nb::dict& given) {
  // Here, and in `_factor_options` of _precondition.py, is where an option of
  // the library gets its name in Python.
  Strata::IncompleteFactorizationOptions options;
  options.order = option_of(given, "order", options.order);
  options.scaling = option_of(given, "scaling", options.scaling);
  options.transpose = option(given, "transpose", options.transpose);
  options.shift = option(given, "shift", options.shift);
  options.shift_tries = option(given, "shift_tries", options.shift_tries);
  options.fill_level = option(given, "fill_level", options.fill_level);
  options.small_pivot_threshold =
      option(given, "small_pivot_threshold", options.small_pivot_threshold);
  options.symmetry_tolerance =
      option(given, "symmetry_tolerance", options.symmetry_tolerance);
  options.precision = option_of(given, "precision", options.precision);
  options.enqueue_updates =
      option(given, "enqueue_updates", options.enqueue_updates);
  options.triangular = plan_options(given);
  return options;
}

Strata::IlutOptions ilut_options(const nb::dict& given) {
  Strata::IlutOptions options;
  options.drop_tolerance =
      option(given, "drop_tolerance", options.drop_tolerance);
  options.fill_per_row = option(given, "fill_per_row", options.fill_per_row);
  options.small_pivot_threshold =
      option(given, "small_pivot_threshold", options.small_pivot_threshold);
  return options;
}

namespace {

template <class Scalar, class Space>
struct BindFactorization {
  static void define(nb::module_& module) {
    using Class = Factorization<Scalar, Space>;
    using Row = Indices<Space>;
    using Of = Values<Scalar, Space>;
    using Permutation = std::optional<Row>;
    using Scaling = std::optional<Of>;
    nb::class_<Class> bound(
        module, class_name<Scalar, Space>("IncompleteFactorization").c_str());
    bound
        .def(nb::init<const Row&, const Row&, const Of&, const std::string&,
                      const Permutation&, const Permutation&, const Scaling&,
                      const Scaling&, const nb::dict&, std::uintptr_t>(),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("kind"),
             nb::arg("perm_r").none(), nb::arg("perm_c").none(),
             nb::arg("row_scale").none(), nb::arg("col_scale").none(),
             nb::arg("options"), nb::arg("stream"))
        .def(nb::init<const Row&, const Row&, const Of&, const std::string&,
                      const Permutation&, const Permutation&, const Scaling&,
                      const Scaling&, const nb::dict&, std::uintptr_t,
                      const Row&, const Row&>(),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("kind"),
             nb::arg("perm_r").none(), nb::arg("perm_c").none(),
             nb::arg("row_scale").none(), nb::arg("col_scale").none(),
             nb::arg("options"), nb::arg("stream"),
             nb::arg("pattern_indptr").noconvert(),
             nb::arg("pattern_indices").noconvert())
        .def("update", &Class::update, nb::arg("indptr").noconvert(),
             nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
             nb::arg("keep").noconvert().none(), nb::arg("stream"))
        .def("apply", &Class::apply, nb::arg("r").noconvert(),
             nb::arg("out").noconvert(), nb::arg("op"), nb::arg("stream"))
        .def("apply_at", &Class::apply_at, nb::arg("r"), nb::arg("out"),
             nb::arg("stream"))
        .def("enqueue_values", &Class::enqueue_values,
             nb::arg("data").noconvert(), nb::arg("keep").noconvert().none(),
             nb::arg("stream"))
        .def("status", &Class::status, nb::arg("stream"))
        .def("copy_places", &Class::copy_places, nb::arg("rows"),
             nb::arg("to").noconvert(), nb::arg("stream"))
        .def("copy_scaling", &Class::copy_scaling, nb::arg("rows"),
             nb::arg("to").noconvert(), nb::arg("stream"))
        .def("share_plan", &share_plan<Class>, nb::arg("stream"))
        .def("report", &Class::report);
    // A lambda, because nvcc takes no pointers to members that are templates.
    const auto define_copy = [&](auto integer) {
      using Integer = decltype(integer);
      bound.def(
          "copy_factor",
          [](const Class& self, bool lower, const Filled<Integer>& row_map,
             const Filled<Integer>& entries,
             const Filled<InterfaceOf<Scalar>>& values, std::uintptr_t stream) {
            self.copy_factor(lower, row_map, entries, values, stream);
          },
          nb::arg("lower"), nb::arg("indptr").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
          nb::arg("stream"));
    };
    define_copy(std::int32_t());
    define_copy(std::int64_t());
  }
};

}  // namespace

void bind_factorization(nb::module_& module) {
  using Report = Strata::IncompleteFactorizationReport;
  nb::class_<Report> bound(module, "IncompleteFactorizationReport",
                           "What an incomplete factorisation consists of.",
                           nb::dynamic_attr());
  with_conversion(bound)
      .def_prop_ro("kind",
                   [](const Report& r) { return Strata::to_string(r.kind); })
      .def_prop_ro("order",
                   [](const Report& r) { return Strata::to_string(r.order); })
      .def_ro("order_reason", &Report::order_reason,
              "Why the rows have this order.")
      .def_ro("colours", &Report::colours,
              "Colours of the coloured order, else 0.")
      .def_ro("order_us", &Report::order_us,
              "Time in which rows were permuted and scaled, microseconds.")
      .def_ro("level_sets_before", &Report::level_sets_before,
              "Level sets of A's lower triangle; 0 if nothing is permuted.")
      .def_ro("level_sets_after", &Report::level_sets_after,
              "Those of the permuted matrix, without fill.")
      .def_ro("transformation_bytes", &Report::transformation_bytes,
              "Bytes of permutations, scalings and the permuted matrix.")
      .def_ro("rows", &Report::rows)
      .def_ro("entries", &Report::entries, "Entries of A.")
      .def_ro("lower_entries", &Report::lower_entries,
              "Entries of L with its diagonal.")
      .def_ro("upper_entries", &Report::upper_entries,
              "Entries of U with its diagonal.")
      .def_ro("fill_entries", &Report::fill_entries,
              "Entries that fill_level or a pattern adds to those of A.")
      .def_ro("replaced_pivots", &Report::replaced_pivots,
              "Pivots that small_pivot_threshold replaced.")
      .def_ro("largest_pivot_change", &Report::largest_pivot_change,
              "The largest modulus of a pivot minus what replaced it.")
      .def_ro("shift", &Report::shift, "The shift of these factors.")
      .def_ro("shift_tries", &Report::shift_tries,
              "Factorisations that were tried for it.")
      .def_ro("positive_pivots", &Report::positive_pivots,
              "Of ildl: the pivots that are positive; 0 of complex symmetric "
              "factors.")
      .def_ro("negative_pivots", &Report::negative_pivots,
              "Of ildl: the pivots that are negative.")
      .def_ro("largest_multiplier", &Report::largest_multiplier,
              "On a given pattern: the largest modulus in L.")
      .def_ro("growth", &Report::growth,
              "On a given pattern: the largest modulus of U over that of A.")
      .def_ro("smallest_pivot", &Report::smallest_pivot,
              "On a given pattern: the smallest ratio of a pivot's modulus to "
              "the largest one in its row of A.")
      .def_ro("factor_bytes", &Report::factor_bytes,
              "Bytes of the factors: those in use, and those that an update "
              "computes beside them.")
      .def_ro("elimination_bytes", &Report::elimination_bytes,
              "Bytes that the elimination keeps for other values.")
      .def_ro("plan_bytes", &Report::plan_bytes,
              "Bytes of the plans of all triangular solvers.")
      .def_ro("workspace_bytes", &Report::workspace_bytes,
              "Bytes of vectors between the two triangles.")
      .def_ro("lower", &Report::lower,
              "The solver with L, a TriangularReport; without rows in the "
              "coloured order.")
      .def_ro("upper", &Report::upper,
              "The solver with U, a TriangularReport; without rows in the "
              "coloured order.")
      .def_ro("lower_transposed", &Report::lower_transposed,
              "The solver with L's transpose; without rows unless there is "
              "one.")
      .def_ro("upper_transposed", &Report::upper_transposed,
              "The solver with U's transpose; without rows unless there is "
              "one.");

  for_each_type<BindFactorization>(module);
}

}  // namespace StrataPython
