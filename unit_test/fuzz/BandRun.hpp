// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_BAND_RUN_HPP
#define STRATA_FUZZ_BAND_RUN_HPP

#include <Strata_BandSolver.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "../BandMatrix.hpp"
#include "Context.hpp"
#include "DeviceMatrix.hpp"
#include "Scalar.hpp"
#include "VectorPair.hpp"

namespace Strata {
namespace Fuzz {

/// Band systems of one size, and how they are solved.
template <class Scalar>
struct BandCase {
  using Band = BandTest::HostBand<Scalar>;
  using Dominance = typename Band::Dominance;

  int n = 0, kl = 0, ku = 0, systems = 1, columns = 1;
  /// Rows of ab before the band.
  int extra_rows = 0;
  Dominance dominance = Dominance::rows;
  BandOptions options;
  Placement placement = Placement::left;
  bool in_place = false;
  std::vector<Band> bands;
  /// System after system, column by column.
  std::vector<Scalar> b;

  static BandCase draw(Random& random) {
    BandCase c;
    c.n = random.chance(0.1)   ? random.whole(0, 3)
          : random.chance(0.2) ? random.whole(100, 900)
                               : random.whole(1, 100);
    // Some are wider than the matrix.
    const auto diagonals = [&] {
      return random.chance(0.1) ? random.whole(0, 90) : random.whole(0, 9);
    };
    c.kl = diagonals();
    c.ku = diagonals();
    if (random.chance(0.2)) c.systems = random.whole(0, 6);
    c.dominance =
        random.pick({Dominance::rows, Dominance::columns, Dominance::none});
    c.options.method =
        c.dominance == Dominance::none || random.chance(0.2)
            ? BandMethod::partial_pivoting
            : random.pick({BandMethod::automatic, BandMethod::tiles,
                           BandMethod::nested_dissection});
    c.options.tile = random.pick({0, 0, 32, 64});
    if (random.chance(0.3))
      c.options.max_right_hand_sides = random.whole(1, 20);
    if (random.chance(0.3)) c.extra_rows = c.kl;
    c.columns = random.chance(0.5) ? 1 : random.whole(0, 12);
    c.placement = static_cast<Placement>(random.whole(0, num_placements - 1));
    if (has_rank_one(c.placement)) c.columns = 1;
    c.in_place = can_be_in_place(c.placement) && random.chance(0.3);
    c.bands = c.draw_bands(random);
    c.b = random_vector<Scalar>(random,
                                std::int64_t{c.n} * c.columns * c.systems);
    return c;
  }
  /// Systems of the same size with other values.
  std::vector<Band> draw_bands(Random& random) const {
    std::vector<Band> drawn;
    for (int s = 0; s < systems; ++s) {
      drawn.emplace_back(n, kl, ku);
      fill(drawn.back(), random);
    }
    return drawn;
  }
  void fill(Band& band, Random& random) const {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (band.holds(i, j)) band(i, j) = random_scalar<Scalar>(random);
    if (dominance == Dominance::none) return;
    for (int i = 0; i < n; ++i) {
      long double sum = 0.25L;
      for (int j = 0; j < n; ++j)
        if (j != i)
          sum += 1.05L *
                 magnitude(widen(dominance == Dominance::rows ? band.at(i, j)
                                                              : band.at(j, i)));
      band(i, i) = ScalarTraits<Scalar>::make(
          random.either_sign(static_cast<double>(sum)), 0);
    }
  }
  std::string description() const {
    std::ostringstream text;
    text << ScalarTraits<Scalar>::name() << ", " << systems
         << " band systems of " << n << " rows, " << kl << " diagonals below, "
         << ku << " above, dominance " << static_cast<int>(dominance)
         << "; method " << to_string(options.method) << ", tile "
         << options.tile << ", max right-hand sides "
         << options.max_right_hand_sides << ", " << extra_rows
         << " extra rows; " << columns << " columns, " << to_string(placement)
         << (in_place ? ", in place" : "");
    return text.str();
  }
};

/// One case on one execution space.
template <class Scalar, class Space>
class BandRun {
 public:
  using Case = BandCase<Scalar>;
  using Band = typename Case::Band;
  using Memory = typename Space::memory_space;
  using Storage = Kokkos::View<Scalar***, Kokkos::LayoutLeft, Memory>;

  BandRun(Context& context, const Case& c, Random random)
      : context_(context), case_(c), random_(random) {}

  void run() {
    try {
      check();
    } catch (const FactorizationError& error) {
      expect(may_be_singular(), "valid system refused", error.what());
      context_.count("refusals", "near singular");
    }
  }

 private:
  void check() {
    const Storage ab = storage(case_.bands);
    const std::vector<Scalar> before = elements(ab);
    BandSolver<Scalar, Space> solver(exec_, ab, case_.kl, case_.ku,
                                     case_.options);
    context_.count("algorithm", to_string(solver.report().method));
    auto x = solve(solver);
    const auto first = x;
    if (!x.empty() && context_.tampers("answer")) spoil_largest(x);
    check_answers(case_.bands, x, "first solve");
    auto again = solve(solver);
    if (!again.empty() && context_.tampers("repeat")) flip_bit(again[0]);
    expect(same_bits(again, first), "repeat bit for bit");
    if (random_.chance(0.5)) check_updates(solver, ab, first);
    expect(same_bits(elements(ab), before), "band untouched");
  }
  /// Solutions of matrices without dominance may grow or pivots shrink beyond
  /// all numbers, but not within so few rows.
  bool may_be_singular() const {
    return case_.dominance == Case::Dominance::none && case_.n > 40;
  }

  void expect(bool holds, const char* check, const std::string& detail = {}) {
    context_.expect(holds, check, Space::name() + (" " + detail));
  }
  Storage storage(const std::vector<Band>& bands) const {
    if (!bands.empty())
      return BandTest::to_band_views<Scalar, Space>(bands, case_.extra_rows);
    return Storage("ab", case_.kl + case_.ku + 1 + case_.extra_rows, case_.n,
                   0);
  }
  static std::vector<Scalar> elements(const Storage& ab) {
    Kokkos::fence();
    const auto host = Kokkos::create_mirror(ab);
    Kokkos::deep_copy(host, ab);
    return std::vector<Scalar>(host.data(), host.data() + host.size());
  }

  std::vector<Scalar> solve(const BandSolver<Scalar, Space>& solver) {
    return case_.systems == 1 ? solve_one(solver) : solve_batch(solver);
  }
  std::vector<Scalar> solve_one(const BandSolver<Scalar, Space>& solver) {
    VectorPair<Scalar, Space> vectors(case_.placement, case_.n, case_.columns,
                                      case_.in_place, random_.whole(0, 2));
    vectors.set(case_.b, random_nan<Scalar>(random_));
    vectors.with_views(
        [&](const auto& b, const auto& x) { solver.solve(exec_, b, x); });
    exec_.fence();
    if (context_.tampers("guard")) vectors.overwrite_guard();
    expect(vectors.rest_is_untouched(), "memory beside x");
    return vectors.get();
  }
  std::vector<Scalar> solve_batch(const BandSolver<Scalar, Space>& solver) {
    const Storage b("b", case_.n, case_.columns, case_.systems);
    const Storage x = case_.in_place
                          ? b
                          : Storage("x", case_.n, case_.columns, case_.systems);
    const auto host = Kokkos::create_mirror(b);
    std::copy(case_.b.begin(), case_.b.end(), host.data());
    Kokkos::deep_copy(b, host);
    solver.solve(exec_, b, x);
    exec_.fence();
    return elements(x);
  }

  void check_answers(const std::vector<Band>& bands,
                     const std::vector<Scalar>& x, const std::string& when) {
    const double allowed = BandTest::tolerance<Scalar>() *
                           (1 + static_cast<double>(case_.kl + case_.ku) / 64);
    const std::size_t size = static_cast<std::size_t>(case_.n) * case_.columns;
    for (int s = 0; s < case_.systems; ++s) {
      const auto part = [&](const std::vector<Scalar>& all) {
        return std::vector<Scalar>(all.begin() + s * size,
                                   all.begin() + (s + 1) * size);
      };
      const auto answer = part(x);
      const bool all_finite =
          std::all_of(answer.begin(), answer.end(),
                      [](const Scalar& v) { return finite(v); });
      if (!all_finite && may_be_singular()) {
        context_.count("not compared", "not finite");
        continue;
      }
      const double error = bands[s].backward_error(answer, part(case_.b));
      expect(error <= allowed, "backward error",
             when + ", system " + std::to_string(s) + ": " +
                 std::to_string(error / epsilon<Scalar>) + " eps");
    }
  }

  void check_updates(BandSolver<Scalar, Space>& solver, const Storage& ab,
                     const std::vector<Scalar>& first) {
    const auto others = case_.draw_bands(random_);
    solver.update_values(exec_, storage(others));
    check_answers(others, solve(solver), "after update_values");
    if (case_.systems > 0 && case_.n > 0) check_refused(solver, others);
    solver.update_values(exec_, ab);
    auto again = solve(solver);
    if (!again.empty() && context_.tampers("update back")) flip_bit(again[0]);
    expect(same_bits(again, first), "bits after updates there and back");
  }
  /// A solver has no factors after values that it can't take, and says so.
  void check_refused(BandSolver<Scalar, Space>& solver,
                     std::vector<Band> bands) {
    const int s = random_.whole(0, case_.systems - 1);
    const int i = random_.whole(0, case_.n - 1);
    const bool singular = random_.chance(0.5);
    if (singular)
      for (int j = 0; j < case_.n; ++j) {
        if (bands[s].holds(i, j)) bands[s](i, j) = Scalar(0);
      }
    else
      bands[s](i, i) = random_nan<Scalar>(random_);
    const char* const what = singular ? "row of zeros" : "NaN";
    try {
      solver.update_values(exec_, storage(bands));
      if (!context_.tampered()) expect(false, "fault accepted", what);
      return;
    } catch (const FactorizationError&) {
    } catch (const DominanceError&) {
      expect(singular, "another error", "DominanceError");
    }
    context_.count("refusals", what);
    try {
      solve(solver);
      expect(case_.columns == 0, "solve without factors");
    } catch (const HandleError&) {
    }
  }

  Context& context_;
  const Case& case_;
  Random random_;
  Space exec_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
