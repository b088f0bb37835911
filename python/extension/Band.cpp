// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Strata_BandSolver.hpp>
#include <algorithm>

#include "Arrays.hpp"
#include "Bindings.hpp"
#include "Options.hpp"
#include "Runtime.hpp"

namespace StrataPython {

namespace {

template <class Scalar, class Space>
class Band : public Held<Strata::BandSolver<Scalar, Space>> {
 public:
  Band(const Read<Scalar, Space>& ab, std::int64_t lower, std::int64_t upper,
       const nb::dict& given, std::uintptr_t stream) {
    Strata::BandOptions options;
    options.method = option_of(given, "method", options.method);
    options.max_right_hand_sides =
        option(given, "max_right_hand_sides", options.max_right_hand_sides);
    options.require_dominance =
        option(given, "require_dominance", options.require_dominance);
    options.smallest_pivot =
        option(given, "smallest_pivot", options.smallest_pivot);
    options.tile = option(given, "tile", options.tile);
    const auto band = strided_view<Scalar, Space>("ab", ab);
    most_columns_ = options.max_right_hand_sides;
    const Work work;
    this->object = Strata::BandSolver<Scalar, Space>(this->on(stream), band,
                                                     lower, upper, options);
  }

  void update(const Read<Scalar, Space>& ab, const Kept<Scalar, Space>& kept,
              std::uintptr_t stream) {
    const auto band = strided_view<Scalar, Space>("ab", ab);
    const Work work;
    const auto exec = this->on(stream);
    this->object.update_values(exec, band);
    keep<Scalar>(exec, kept, band);
    exec.fence();
  }

  void solve(const Read<Scalar, Space>& b, const Written<Scalar, Space>& x,
             std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("b", b);
    const auto to = strided_view<Scalar, Space>("out", x);
    const auto columns = static_cast<std::int64_t>(to.extent(1));
    const Work work;
    if (columns > most_columns_)
      expect_no_capture(
          stream,
          "the first solve for so many right-hand sides makes a workspace",
          "solve for as many before the capture begins, or make the solver "
          "with max_right_hand_sides");
    this->object.solve(this->on(stream), from, to);
    most_columns_ = std::max(most_columns_, columns);
  }

  Strata::BandReport report() const { return this->object.report(); }

 private:
  /// That there is a workspace for.
  mutable std::int64_t most_columns_ = 0;
};

template <class Scalar, class Space>
struct BindBand {
  static void define(nb::module_& module) {
    using Class = Band<Scalar, Space>;
    using Of = Read<Scalar, Space>;
    nb::class_<Class>(module, class_name<Scalar, Space>("BandSolver").c_str())
        .def(nb::init<const Of&, std::int64_t, std::int64_t, const nb::dict&,
                      std::uintptr_t>(),
             nb::arg("ab").noconvert(), nb::arg("lower"), nb::arg("upper"),
             nb::arg("options"), nb::arg("stream"))
        .def("update", &Class::update, nb::arg("ab").noconvert(),
             nb::arg("keep").noconvert().none(), nb::arg("stream"))
        .def("solve", &Class::solve, nb::arg("b").noconvert(),
             nb::arg("out").noconvert(), nb::arg("stream"))
        .def("report", &Class::report);
  }
};

}  // namespace

void bind_band(nb::module_& module) {
  using Report = Strata::BandReport;
  nb::class_<Report>(module, "BandReport", "What was made of a band matrix.")
      .def_prop_ro(
          "method", [](const Report& r) { return Strata::to_string(r.method); },
          "Name of the method chosen.")
      .def_ro("rows", &Report::rows)
      .def_ro("lower", &Report::lower, "Diagonals below the main one.")
      .def_ro("upper", &Report::upper, "Diagonals above the main one.")
      .def_ro("tile", &Report::tile)
      .def_ro("bytes", &Report::bytes, "Bytes that the solver holds.")
      .def_ro("band_bytes", &Report::band_bytes, "Bytes of the band itself.")
      .def("__repr__", [](const Report& r) { return Strata::to_string(r); });
  for_each_type<BindBand>(module);
}

}  // namespace StrataPython
