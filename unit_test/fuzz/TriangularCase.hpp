// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_CASE_HPP
#define STRATA_FUZZ_TRIANGULAR_CASE_HPP

#include <Strata_TriangularOptions.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "MergingCases.hpp"
#include "SystemMatrix.hpp"
#include "VectorPair.hpp"

namespace Strata {
namespace Fuzz {

/// What is unusual about the numbers of a case.
enum class Special {
  none,
  nan_in_b,
  infinity_in_b,
  nan_in_matrix,
  infinity_in_matrix
};
inline const char* to_string(Special special) {
  static const char* const names[] = {"no special numbers", "NaN in b",
                                      "infinity in b", "NaN in A",
                                      "infinity in A"};
  return names[static_cast<int>(special)];
}

/// The options that will be renamed are set and read here only.
inline void set_merged_levels(TriangularOptions& options, int levels) {
  options.merged_levels = levels;
}
inline int merged_levels(const TriangularOptions& options) {
  return options.merged_levels;
}
template <class Report>
int merged_levels_found(const Report& report) {
  return report.merged_levels;
}

inline TriangularOptions random_options(Random& random) {
  TriangularOptions options;
  options.algorithm = random.pick(all_algorithms());
  options.op = random.pick({Op::none, Op::transpose, Op::conjugate_transpose});
  if (random.chance(0.4))
    set_merged_levels(options, random.pick({1, 1, 2, 3, 4, 5, 8, 16, 24}));
  auto& experimental = options.experimental;
  if (random.chance(0.2)) experimental.max_subgraph_rows = random.whole(1, 100);
  if (random.chance(0.1)) experimental.team_size = random.whole(1, 3);
  if (random.chance(0.3)) options.max_right_hand_sides = random.whole(1, 40);
  if (random.chance(0.1))
    options.max_plan_bytes =
        static_cast<std::size_t>(random.power_of_ten(2, 5.3));
  return options;
}

/// A system, how it is stored, and how it is solved.
template <class Scalar>
struct TriangularCase {
  TriangularSystem<Scalar> system;
  MatrixForm form;
  TriangularOptions options;
  /// Of what the stored matrix adds to the system.
  std::uint64_t matrix_seed = 0;
  Placement placement;
  int columns = 1;
  bool in_place = false;
  /// n x columns, column by column, in the order of the system.
  std::vector<Scalar> b;
  Special special = Special::none;
  /// Rows of the system whose b is special.
  std::vector<char> special_rows;
  std::string origin;

  int size() const { return system.size(); }
  /// The matrix as stored, of the system or one of the same pattern.
  SystemMatrix<Scalar> matrix_of(const TriangularSystem<Scalar>& other) const {
    Random random(matrix_seed);
    return SystemMatrix<Scalar>(other, form, options.op, random);
  }
  /// Columns in the order of the matrix in that of the system, or back.
  std::vector<Scalar> turned(std::vector<Scalar> all) const {
    if (!is_forward(form, options.op))
      for (std::size_t first = 0; first < all.size(); first += size())
        std::reverse(all.begin() + first, all.begin() + first + size());
    return all;
  }
  std::string description() const {
    std::ostringstream text;
    text << ScalarTraits<Scalar>::name() << ", " << size() << " rows, "
         << origin << ", " << to_string(special) << "; A " << form.text()
         << ", op " << to_string(options.op) << "; "
         << to_string(options.algorithm) << ", merged levels "
         << merged_levels(options) << ", sub-graph rows "
         << options.experimental.max_subgraph_rows << ", team "
         << options.experimental.team_size << ", max right-hand sides "
         << options.max_right_hand_sides << ", plan bytes "
         << options.max_plan_bytes << "; " << columns << " columns, "
         << to_string(placement) << (in_place ? ", in place" : "");
    return text.str();
  }
};

/// Draws the case of a seed.
template <class Scalar>
class TriangularCaseMaker {
 public:
  using Case = TriangularCase<Scalar>;

  explicit TriangularCaseMaker(Random& random) : random_(random) {}

  Case make() {
    Case c;
    c.options = random_options(random_);
    const bool unit = random_.chance(0.25);
    std::vector<Scalar> wanted_x;
    Regime regime = Regime::dominant;
    if (random_.chance(0.3)) {
      draw_merging_case(c, wanted_x);
      c.form.diag = Diag::non_unit;
    } else {
      c.form.diag = unit ? Diag::unit : Diag::non_unit;
      regime = draw_system(c, unit);
    }
    draw_vectors(c);
    draw_b(c, regime, wanted_x);
    if (wanted_x.empty() && random_.chance(0.15) && c.size() > 0 &&
        (regime == Regime::dominant || regime == Regime::equal))
      draw_special(c);
    draw_form(c);
    c.matrix_seed = random_.bits();
    return c;
  }

 private:
  void draw_merging_case(Case& c, std::vector<Scalar>& wanted_x) {
    MergingCases<Scalar> drawn(random_);
    c.system = drawn.system;
    c.origin = drawn.name;
    wanted_x = drawn.x;
    set_merged_levels(c.options, drawn.levels);
    c.options.algorithm = Algorithm::sync_free;
    if (random_.chance(0.1)) set_merged_levels(c.options, 0);
    c.options.max_plan_bytes = 0;
  }

  Regime draw_system(Case& c, bool unit) {
    const int n = random_.chance(0.06)   ? random_.whole(0, 3)
                  : random_.chance(0.06) ? random_.whole(200, 3000)
                                         : random_.whole(1, 200);
    const auto pattern = random_pattern(random_, n);
    const auto regime =
        random_.chance(0.3)
            ? Regime::dominant
            : static_cast<Regime>(random_.whole(0, num_regimes - 1));
    c.system = make_system<Scalar>(pattern.first, regime, unit, random_);
    c.origin = pattern.second + ", " + to_string(regime);
    return regime;
  }

  void draw_vectors(Case& c) {
    c.placement = static_cast<Placement>(random_.whole(0, num_placements - 1));
    c.columns = random_.chance(0.6)    ? 1
                : random_.chance(0.93) ? random_.whole(0, 5)
                                       : random_.whole(6, 40);
    if (has_rank_one(c.placement)) c.columns = 1;
    c.in_place = can_be_in_place(c.placement) && random_.chance(0.3);
  }

  /// Half of the right-hand sides belong to a solution of wide range.
  void draw_b(Case& c, Regime regime, const std::vector<Scalar>& wanted_x) {
    const int n = c.size();
    c.b.resize(static_cast<std::size_t>(n) * c.columns);
    const ValueMaker<Scalar> draw(
        random_.chance(0.5) ? Regime::dominant : regime, 1);
    for (int column = 0; column < c.columns; ++column) {
      Scalar* const b = c.b.data() + static_cast<std::size_t>(n) * column;
      if (!wanted_x.empty()) {
        multiply(c.system, wanted_x.data(), b);
      } else if (is_ordinary(regime) && random_.chance(0.5)) {
        multiply(c.system, solution_of_wide_range(n).data(), b);
      } else {
        for (int i = 0; i < n; ++i) b[i] = draw.entry(random_);
      }
    }
  }
  std::vector<Scalar> solution_of_wide_range(int n) {
    const double decades =
        random_.chance(0.3) ? (sizeof(RealOf<Scalar>) == 4 ? 6 : 12) : 0;
    std::vector<Scalar> x;
    for (int i = 0; i < n; ++i) {
      x.push_back(random_scalar<Scalar>(random_));
      x.back() *= static_cast<RealOf<Scalar>>(random_.power_of_ten(0, decades));
    }
    return x;
  }

  void draw_special(Case& c) {
    c.special = static_cast<Special>(random_.whole(1, 4));
    c.special_rows.assign(c.size(), 0);
    const bool nan =
        c.special == Special::nan_in_b || c.special == Special::nan_in_matrix;
    const auto draw = [&] {
      return nan ? random_nan<Scalar>(random_)
                 : ScalarTraits<Scalar>::make(random_.either_sign(INFINITY), 0);
    };
    for (int count = random_.whole(1, 3); count > 0; --count) {
      const int i = random_.whole(0, c.size() - 1);
      auto& row = c.system.rows[i];
      if (c.special == Special::nan_in_b ||
          c.special == Special::infinity_in_b) {
        c.special_rows[i] = 1;
        for (int column = 0; column < c.columns; ++column)
          c.b[static_cast<std::size_t>(c.size()) * column + i] = draw();
      } else if (!row.empty() && random_.chance(0.7)) {
        row[random_.whole(0, static_cast<int>(row.size()) - 1)].value = draw();
      } else if (c.form.diag == Diag::non_unit) {
        c.system.diagonal[i] = draw();
      }
    }
  }

  /// How the matrix is stored.
  void draw_form(Case& c) {
    c.form.uplo = random_.pick({Uplo::lower, Uplo::upper});
    c.form.shuffled = random_.chance(0.25);
    c.form.other_triangle = random_.chance(0.1);
    c.options.take_triangle = c.form.other_triangle || random_.chance(0.05);
    if (c.form.diag == Diag::unit)
      c.form.stored_diagonal = random_.pick(
          {StoredDiagonal::none, StoredDiagonal::some, StoredDiagonal::all});
  }

  Random& random_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
