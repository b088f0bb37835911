// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_RUN_HPP
#define STRATA_FUZZ_TRIANGULAR_RUN_HPP

#include <Strata_TriangularSolver.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "DeviceMatrix.hpp"
#include "TriangularChecks.hpp"
#include "TriangularFaults.hpp"

namespace Strata {
namespace Fuzz {

/// One case on one execution space.
template <class Scalar, class Space, class Ordinal, class Offset>
class TriangularRun {
 public:
  using Case = TriangularCase<Scalar>;
  using System = TriangularSystem<Scalar>;
  using Matrix = DeviceMatrix<Scalar, Space, Ordinal, Offset>;
  using Solver = TriangularSolver<Scalar, Space>;

  /// @param random of the checks: another one than the case was drawn from
  TriangularRun(Context& context, const Case& c, Random random)
      : context_(context),
        case_(c),
        random_(random),
        host_matrix_(c.matrix_of(c.system)),
        matrix_(host_matrix_) {}

  void run() {
    if (random_.chance(0.2)) check_faults();
    if (!make_solver()) return;
    const bool merged = merged_levels_found(solver_->report()) > 1;
    const std::string plan =
        std::string(to_string(solver_->report().algorithm)) +
        (merged ? " merged" : "");
    context_.count("algorithm", plan);
    // Tiles use inverses, too.
    const bool inverts =
        merged || solver_->report().algorithm == Algorithm::tiles;
    const TriangularChecks<Scalar> checks(
        context_, case_, Space::name() + (" " + plan), inverts);
    checks_ = &checks;
    check_report();
    first_ = solve();
    checks.check_answers(case_.system, case_.b, first_, "first solve");
    check_repeats();
    check_in_place();
    check_refused_vectors();
    if (random_.chance(0.6)) check_updates();
    if (context_.tampers("matrix")) tamper_with_matrix();
    checks.expect(matrix_.is_still(host_matrix_), "matrix untouched");
  }

 private:
  bool make_solver() {
    try {
      solver_ = std::make_unique<Solver>(
          exec_, matrix_.row_map, matrix_.entries, matrix_.values,
          case_.form.uplo, case_.form.diag, case_.options);
      return true;
    } catch (const Error& error) {
      context_.count("refusals", to_string(case_.options.algorithm));
      if (!may_refuse(error))
        context_.fail("valid system refused",
                      std::string(Space::name()) + ": " + error.what());
      return false;
    }
  }
  /// Whether the options give reason for such an error.
  bool may_refuse(const Error& error) const {
    const auto& o = case_.options;
    if (dynamic_cast<const PlanMemoryError*>(&error))
      return o.max_plan_bytes > 0;
    if (dynamic_cast<const OptionError*>(&error) ||
        dynamic_cast<const PartitionError*>(&error))
      return o.experimental.team_size > 0 ||
             o.experimental.max_subgraph_rows > 0 ||
             o.algorithm == Algorithm::subgraphs;
    return false;
  }
  void check_faults() {
    TriangularFaults<Scalar>(context_, case_)
        .template check<Space, Ordinal, Offset>(host_matrix_, random_);
  }

  void check_report() {
    const auto& report = solver_->report();
    const auto asked = case_.options.algorithm;
    checks_->expect(report.rows == case_.size(), "report",
                    "of another number of rows");
    checks_->expect(report.max_plan_bytes == 0 ||
                        report.plan_bytes <= report.max_plan_bytes,
                    "plan memory",
                    std::to_string(report.plan_bytes) + " bytes of " +
                        std::to_string(report.max_plan_bytes));
    if (asked == Algorithm::automatic || report.algorithm == asked) return;
    checks_->fail("report",
                  std::string("not what was asked for, ") + to_string(asked));
  }

  /// Solves once. Answers are in the order of the system.
  std::vector<Scalar> solve(bool in_place, int shift) {
    VectorPair<Scalar, Space> vectors(case_.placement, case_.size(),
                                      case_.columns, in_place, shift);
    // What x holds before a solve is not to matter.
    vectors.set(case_.turned(case_.b), random_.chance(0.5)
                                           ? random_nan<Scalar>(random_)
                                           : random_scalar<Scalar>(random_));
    vectors.with_views(
        [&](const auto& b, const auto& x) { solver_->solve(exec_, b, x); });
    exec_.fence();
    if (context_.tampers("guard")) vectors.overwrite_guard();
    checks_->expect(vectors.rest_is_untouched(), "memory beside x");
    return case_.turned(vectors.get());
  }
  std::vector<Scalar> solve() {
    return solve(case_.in_place, static_cast<int>(context_.seed % 3));
  }

  void check_repeats() {
    for (int count = random_.whole(1, 3); count > 0; --count) {
      auto again = solve();
      if (!again.empty() && context_.tampers("repeat")) flip_bit(again.back());
      checks_->expect_same_bits(first_, again, "repeat bit for bit");
    }
  }
  void check_in_place() {
    if (!can_be_in_place(case_.placement)) return;
    checks_->expect_same_bits(with_plain_nans(first_),
                              with_plain_nans(solve(!case_.in_place, 0)),
                              "in place bit for bit");
  }
  /// Vectors of other sizes, and such as overlap in part.
  void check_refused_vectors() {
    if (!random_.chance(0.1) || case_.size() < 2) return;
    using Vector = Kokkos::View<Scalar*, typename Space::memory_space>;
    const Vector v("v", case_.size() + 1);
    const auto part = [&](int from, int to) {
      return Kokkos::subview(v, std::make_pair(from, to));
    };
    const int n = case_.size();
    expect_error<SizeMismatchError>("vector too long",
                                    [&] { solver_->solve(exec_, v, v); });
    expect_error<AliasError>("vectors overlap", [&] {
      solver_->solve(exec_, part(0, n), part(1, n + 1));
    });
  }
  template <class Expected, class F>
  void expect_error(const std::string& what, const F& f) {
    try {
      f();
      checks_->fail("fault accepted", what);
    } catch (const Expected&) {
    } catch (const Error& error) {
      checks_->fail("another error", what + ": " + error.what());
    }
  }

  void check_updates() {
    System changed = case_.system;
    const bool zero = change_values(changed);
    check_update(changed, zero);
    if (random_.chance(0.3)) check_refused_pattern();
    // Back to the old values, which the plan has taken before.
    try {
      update(host_matrix_);
    } catch (const Error& error) {
      return checks_->fail("old values refused", error.what());
    }
    auto again = solve();
    if (!again.empty() && context_.tampers("update back"))
      flip_bit(again.back());
    checks_->expect_same_bits(first_, again,
                              "bits after updates there and back");
  }
  void check_update(const System& changed, bool zero) {
    const auto host = case_.matrix_of(changed);
    try {
      update(host);
      checks_->expect(!zero, "zero diagonal accepted");
      if (case_.special == Special::none && !zero)
        checks_->check_answers(changed, case_.b, solve(),
                               "after update_values");
      return;
    } catch (const ZeroDiagonalError&) {
      checks_->expect(zero, "valid update refused", "ZeroDiagonalError");
    } catch (const ScalingError& error) {
      const auto& report = solver_->report();
      checks_->expect(!zero && merged_levels_found(report) > 1,
                      "valid update refused", error.what());
    }
    context_.count("refusals", "update_values");
    auto still = solve();
    if (!still.empty() && context_.tampers("refused update"))
      flip_bit(still.back());
    checks_->expect_same_bits(first_, still, "bits after a refused update");
  }
  void update(const SystemMatrix<Scalar>& host) {
    const Matrix given(host);
    if (random_.chance(0.5))
      solver_->update_values(exec_, given.row_map, given.entries, given.values);
    else
      solver_->update_values(exec_, given.values);
    exec_.fence();
  }
  void check_refused_pattern() {
    auto other = host_matrix_;
    if (other.entries.size() < 2) return;
    std::swap(other.entries.front(), other.entries.back());
    if (other.entries == host_matrix_.entries) return;
    const Matrix given(other);
    expect_error<PatternMismatchError>("update of another pattern", [&] {
      solver_->update_values(exec_, given.row_map, given.entries, given.values);
    });
    const auto short_of_one = Kokkos::subview(
        matrix_.values, std::make_pair(std::size_t(1), other.values.size()));
    expect_error<SizeMismatchError>(
        "too few values", [&] { solver_->update_values(exec_, short_of_one); });
  }

  /// Other values on the same pattern. True where the diagonal has a zero.
  bool change_values(System& system) {
    using Real = RealOf<Scalar>;
    const bool unit = case_.form.diag == Diag::unit;
    const bool narrow = sizeof(Real) == 4;
    const int n = system.size();
    const auto factor = [&](double f) { return static_cast<Real>(f); };
    for (int i = 0; i < n; ++i) {
      for (auto& entry : system.rows[i])
        entry.value *= factor(random_.real(0.5, 1.5));
      if (unit) continue;
      system.diagonal[i] *= factor(random_.real(0.75, 1.5));
      if (system.diagonal[i] == Scalar(0)) system.diagonal[i] = Scalar(1);
    }
    if (n == 0 || unit) return false;
    const int row = random_.whole(0, n - 1);
    switch (random_.whole(0, 4)) {
      case 0:
        system.diagonal[row] = Scalar(0);
        return true;
      case 1:
        system.diagonal[row] =
            Scalar(factor(random_.power_of_ten(narrow ? -8 : -16, 0)));
        return false;
      case 2:
        system.diagonal[row] = Scalar(factor(
            random_.power_of_ten(narrow ? -37 : -300, narrow ? 37 : 300)));
        return false;
      default:
        return false;
    }
  }

  void tamper_with_matrix() {
    auto values = to_vector(matrix_.values);
    if (values.empty()) return context_.take_back();
    flip_bit(values.front());
    Kokkos::deep_copy(
        matrix_.values,
        to_view<Scalar, typename Space::memory_space>("spoilt", values));
  }

  Context& context_;
  const Case& case_;
  Random random_;
  SystemMatrix<Scalar> host_matrix_;
  Matrix matrix_;
  Space exec_;
  std::unique_ptr<Solver> solver_;
  const TriangularChecks<Scalar>* checks_ = nullptr;
  std::vector<Scalar> first_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
