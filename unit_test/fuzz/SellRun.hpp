// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_SELL_RUN_HPP
#define STRATA_FUZZ_SELL_RUN_HPP

#include <Strata_SellMatrix.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "Context.hpp"
#include "DeviceMatrix.hpp"
#include "SparseCases.hpp"
#include "VectorPair.hpp"

namespace Strata {
namespace Fuzz {

/// A product y = alpha A x + beta y.
template <class Scalar>
struct SellCase {
  SparseMatrix<Scalar> matrix;
  SellOptions options;
  Scalar alpha = Scalar(1), beta = Scalar(0);
  int columns = 1;
  Placement placement = Placement::left;
  /// Column by column.
  std::vector<Scalar> x, y;
  std::string origin;

  static SellCase draw(Random& random) {
    SellCase c;
    const SparseCases<Scalar> drawn(random);
    c.matrix = drawn.matrix;
    c.origin = drawn.name;
    if (random.chance(0.3))
      c.options.chunk_rows = random.pick({1, 2, 7, 8, 32, 64, 1000});
    if (random.chance(0.3)) c.options.sigma = random.pick({1, 2, 50, 100000});
    if (random.chance(0.2)) c.options.long_row = random.whole(1, 200);
    c.options.use_diagonals = random.chance(0.8);
    if (random.chance(0.5)) c.alpha = random_scalar<Scalar>(random);
    if (random.chance(0.5)) c.beta = random_scalar<Scalar>(random);
    c.placement = static_cast<Placement>(random.whole(0, num_placements - 1));
    c.columns = random.chance(0.4) ? 1 : random.whole(0, 20);
    if (has_rank_one(c.placement)) c.columns = 1;
    c.x = random_vector<Scalar>(random, c.matrix.columns * c.columns);
    c.y = random_vector<Scalar>(random, c.matrix.rows() * c.columns);
    if (random.chance(0.2) && !c.x.empty())
      c.x[random.bits() % c.x.size()] =
          random.pick({random_nan<Scalar>(random), Scalar(INFINITY)});
    // y is not read where beta is zero.
    if (c.beta == Scalar(0))
      for (auto& e : c.y) e = all_ones<Scalar>();
    return c;
  }
  std::string description() const {
    std::ostringstream text;
    text << ScalarTraits<Scalar>::name() << ", " << origin << "; chunk rows "
         << options.chunk_rows << ", sigma " << options.sigma << ", long row "
         << options.long_row << ", diagonals " << options.use_diagonals << "; "
         << columns << " columns, " << to_string(placement) << ", beta "
         << (beta == Scalar(0) ? "zero" : "not zero");
    return text.str();
  }
};

/// One case on one execution space.
template <class Scalar, class Space>
class SellRun {
 public:
  using Case = SellCase<Scalar>;
  using Sell = SellMatrix<Scalar, Space>;

  SellRun(Context& context, const Case& c, Random random)
      : context_(context), case_(c), random_(random), matrix_(c.matrix) {}

  void run() {
    const Sell A = make();
    context_.count("form", A.report().diagonal_chunks > 0 ? "diagonals"
                           : A.report().long_rows > 0     ? "long rows"
                                                          : "chunks");
    const auto first = apply(A);
    auto y = first;
    if (!y.empty() && context_.tampers("answer")) spoil_largest(y);
    check_answers(case_.matrix, y, "first product");
    auto again = apply(A);
    if (!again.empty() && context_.tampers("repeat")) flip_bit(again[0]);
    expect(same_bits(first, again), "repeat bit for bit");
    if (random_.chance(0.5)) check_updates(A, first);
    if (random_.chance(0.2)) check_faults();
    expect(matrix_.is_still(case_.matrix), "matrix untouched");
  }

 private:
  void expect(bool holds, const char* check, const std::string& detail = {}) {
    context_.expect(holds, check, Space::name() + (" " + detail));
  }
  Sell make() const {
    return Sell(exec_, matrix_.row_map, matrix_.entries, matrix_.values,
                case_.matrix.columns, case_.options);
  }
  std::vector<Scalar> apply(const Sell& A) {
    VectorPair<Scalar, Space> vectors(case_.placement, case_.matrix.columns,
                                      case_.matrix.rows(), case_.columns, false,
                                      random_.whole(0, 2));
    vectors.set(case_.x, case_.y);
    vectors.with_views([&](const auto& x, const auto& y) {
      A.apply(exec_, case_.alpha, x, case_.beta, y);
    });
    exec_.fence();
    if (context_.tampers("guard")) vectors.overwrite_guard();
    expect(vectors.rest_is_untouched(), "memory beside y");
    return vectors.get();
  }

  /// |y - (alpha A x + beta y)| <= (entries + 6) eps of what was added up; a
  /// row with a NaN or an infinity is not finite.
  void check_answers(const SparseMatrix<Scalar>& A,
                     const std::vector<Scalar>& y, const std::string& when) {
    for (int column = 0; column < case_.columns; ++column)
      for (std::int64_t i = 0; i < A.rows(); ++i) {
        const auto at = static_cast<std::size_t>(column * A.rows() + i);
        const RowProduct<Scalar> row(A, i, case_.x.data() + column * A.columns);
        const std::string problem = problem_of_row(row, case_.y[at], y[at]);
        if (problem.empty()) continue;
        return expect(false, "answer",
                      when + ", row " + std::to_string(i) + ", column " +
                          std::to_string(column) + ": " + problem);
      }
  }
  std::string problem_of_row(const RowProduct<Scalar>& row, const Scalar& old_y,
                             const Scalar& y) const {
    if (row.special) return finite(y) ? "a special number was lost" : "";
    auto expected = product(widen(case_.alpha), row.sum);
    long double size = magnitude(widen(case_.alpha)) * row.size;
    if (case_.beta != Scalar(0)) {
      const auto term = product(widen(case_.beta), widen(old_y));
      expected += term;
      size += magnitude(term);
    }
    const long double error = magnitude(widen(y) - expected);
    const long double allowed =
        roundings<Scalar> * (row.length + 6) * epsilon<Scalar> * size +
        std::numeric_limits<RealOf<Scalar>>::denorm_min() * (row.length + 6);
    if (error <= allowed) return "";
    return std::to_string(static_cast<double>(error / allowed)) +
           " times the error allowed";
  }

  void check_updates(Sell A, const std::vector<Scalar>& first) {
    auto other = case_.matrix;
    for (auto& v : other.values) v = random_scalar<Scalar>(random_);
    const DeviceMatrix<Scalar, Space> given(other);
    if (random_.chance(0.5))
      A.update_values(exec_, given.row_map, given.entries, given.values);
    else
      A.update_values(exec_, given.values);
    check_answers(other, apply(A), "after update_values");
    A.update_values(exec_, matrix_.values);
    auto again = apply(A);
    if (!again.empty() && context_.tampers("update back")) flip_bit(again[0]);
    expect(same_bits(first, again), "bits after updates there and back");
  }
  void check_faults() {
    auto bad = case_.matrix;
    if (bad.entries.empty()) return;
    const bool column = random_.chance(0.5);
    if (column)
      bad.entries[random_.bits() % bad.entries.size()] =
          random_.pick({std::int64_t{-1}, bad.columns});
    else
      bad.row_map.back() += 1;
    const DeviceMatrix<Scalar, Space> given(bad);
    try {
      const Sell A(exec_, given.row_map, given.entries, given.values,
                   bad.columns, case_.options);
      expect(false, "fault accepted", column ? "column" : "row map");
    } catch (const ColumnRangeError&) {
      expect(column, "another error", "ColumnRangeError");
    } catch (const RowMapError&) {
      expect(!column, "another error", "RowMapError");
    }
    context_.count("refusals", column ? "column" : "row map");
  }

  Context& context_;
  const Case& case_;
  Random random_;
  DeviceMatrix<Scalar, Space> matrix_;
  Space exec_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
