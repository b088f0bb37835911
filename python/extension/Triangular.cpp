// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Triangular.hpp"

#include <nanobind/stl/vector.h>

#include <utility>

#include "Bindings.hpp"

namespace StrataPython {

namespace {

Strata::TriangularPlanOptions::Experimental experimental_options(
    const nb::dict& given) {
  Strata::TriangularPlanOptions::Experimental options;
  if (!given.contains("experimental")) return options;
  const nb::handle named = given["experimental"];
  if (named.is_none()) return options;
  nb::dict members;
  if (!nb::try_cast(named, members))
    throw Strata::OptionError("experimental", "is no dictionary",
                              "pass a dictionary of numbers by name");
  const std::pair<const char*, int*> known[] = {
      {"max_subgraph_rows", &options.max_subgraph_rows},
      {"team_size", &options.team_size}};
  std::size_t found = 0;
  for (const auto& [name, value] : known) {
    found += members.contains(name);
    *value = option(members, name, *value);
  }
  if (found < members.size())
    throw Strata::OptionError(
        "experimental",
        nb::cast<std::string>(nb::repr(members)) + " has unknown names",
        "use max_subgraph_rows and team_size");
  return options;
}

}  // namespace

Strata::TriangularPlanOptions plan_options(const nb::dict& given) {
  Strata::TriangularPlanOptions options;
  options.algorithm = Strata::algorithm_from_string(
      option<std::string>(given, "algorithm", "automatic"));
  options.accuracy = Strata::accuracy_from_string(
      option<std::string>(given, "accuracy", "rowwise"));
  options.merged_levels = option(given, "merged_levels", options.merged_levels);
  options.max_right_hand_sides =
      option(given, "max_right_hand_sides", options.max_right_hand_sides);
  options.max_plan_bytes =
      option(given, "max_plan_bytes", options.max_plan_bytes);
  options.experimental = experimental_options(given);
  return options;
}

Strata::TriangularOptions triangular_options(const nb::dict& given) {
  Strata::TriangularOptions options{plan_options(given)};
  options.op = option_of(given, "op", options.op);
  options.take_triangle = option(given, "take_triangle", options.take_triangle);
  options.enqueue_updates =
      option(given, "enqueue_updates", options.enqueue_updates);
  return options;
}

namespace {

template <class Scalar, class Space>
struct BindTriangular {
  static void define(nb::module_& module) {
    using Class = Triangular<Scalar, Space>;
    using Row = Indices<Space>;
    using Of = Values<Scalar, Space>;
    nb::class_<Class>(module,
                      class_name<Scalar, Space>("TriangularSolver").c_str())
        .def(nb::init<const Row&, const Row&, const Of&, bool, bool,
                      const nb::dict&, std::uintptr_t>(),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("lower"),
             nb::arg("unit_diagonal"), nb::arg("options"), nb::arg("stream"))
        .def("solve", &Class::solve, nb::arg("b").noconvert(),
             nb::arg("out").noconvert(), nb::arg("stream"))
        .def("solve_conjugated", &Class::solve_conjugated,
             nb::arg("b").noconvert(), nb::arg("out").noconvert(),
             nb::arg("stream"))
        .def("update_values", &Class::update_values,
             nb::arg("data").noconvert(), nb::arg("keep").noconvert().none(),
             nb::arg("stream"))
        .def("update", &Class::update, nb::arg("indptr").noconvert(),
             nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
             nb::arg("keep").noconvert().none(), nb::arg("stream"))
        .def("solve_at", &Class::solve_at, nb::arg("b"), nb::arg("out"),
             nb::arg("stream"))
        .def("seconds_of_solve", &Class::seconds_of_solve,
             nb::arg("b").noconvert(), nb::arg("out").noconvert(),
             nb::arg("times"), nb::arg("stream"))
        .def("enqueue_values", &Class::enqueue_values,
             nb::arg("data").noconvert(), nb::arg("keep").noconvert().none(),
             nb::arg("stream"))
        .def("status", &Class::status, nb::arg("stream"))
        .def("share_plan", &share_plan<Class>, nb::arg("stream"))
        .def("report", &Class::report);
  }
};

}  // namespace

void bind_triangular(nb::module_& module) {
  using Candidate = Strata::TriangularCandidate;
  nb::class_<Candidate>(module, "TriangularCandidate",
                        "A plan that was considered.")
      .def_prop_ro(
          "algorithm",
          [](const Candidate& c) { return Strata::to_string(c.algorithm); },
          "Name of the algorithm.")
      .def_ro("note", &Candidate::note,
              "What it consists of, and what ruled it out.")
      .def_ro("ruled_out", &Candidate::ruled_out,
              "Whether it can't be used with these values or this memory.");

  using Report = Strata::TriangularReport;
  nb::class_<Report> bound(
      module, "TriangularReport",
      "What was chosen and why; str() has it as lines of text.",
      nb::dynamic_attr());
  with_conversion(bound)
      .def_prop_ro(
          "algorithm",
          [](const Report& r) { return Strata::to_string(r.algorithm); },
          "Name of the algorithm chosen.")
      .def_ro("reason", &Report::reason, "Why it was chosen.")
      .def_ro("rows", &Report::rows)
      .def_ro("entries", &Report::entries,
              "Entries that a solve uses: the strict triangle, and the "
              "diagonal unless it is one.")
      .def_ro("levels", &Report::levels, "Level sets.")
      .def_ro("merged_levels", &Report::merged_levels,
              "Level sets that are merged into one.")
      .def_prop_ro(
          "accuracy",
          [](const Report& r) { return Strata::to_string(r.accuracy); },
          "The contract that solves keep.")
      .def_ro("longest_row", &Report::longest_row)
      .def_ro("unmerged_rows", &Report::unmerged_rows)
      .def_ro("growth", &Report::growth)
      .def_ro("blocks", &Report::blocks, "Diagonal blocks.")
      .def_ro("block_runs", &Report::block_runs)
      .def_ro("block_slots", &Report::block_slots)
      .def_ro("subgraphs", &Report::subgraphs, "Sub-graphs.")
      .def_ro("external_share", &Report::external_share,
              "Share of edges between sub-graphs, 0 to 1.")
      .def_ro("subgraph_levels", &Report::subgraph_levels)
      .def_ro("internal_slots", &Report::internal_slots)
      .def_ro("external_slots", &Report::external_slots)
      .def_ro("max_subgraph_rows", &Report::max_subgraph_rows)
      .def_ro("plan_bytes", &Report::plan_bytes, "Bytes that the plan holds.")
      .def_ro("max_plan_bytes", &Report::max_plan_bytes)
      .def_ro("crs_bytes", &Report::crs_bytes,
              "Bytes of the triangle as a CRS matrix with 32-bit indices.")
      .def_ro("workspace_bytes", &Report::workspace_bytes,
              "Bytes of them that are a workspace: what share_plan takes.")
      .def_ro("right_hand_sides", &Report::right_hand_sides)
      .def_ro("launch_right_hand_sides", &Report::launch_right_hand_sides)
      .def_ro("analysis_us", &Report::analysis_us,
              "Time of the analysis in microseconds.")
      .def_ro(
          "candidates", &Report::candidates,
          "What was considered, a TriangularCandidate each: the first that is "
          "not ruled out was chosen.");

  for_each_type<BindTriangular>(module);
}

}  // namespace StrataPython
