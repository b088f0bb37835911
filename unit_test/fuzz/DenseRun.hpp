// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_DENSE_RUN_HPP
#define STRATA_FUZZ_DENSE_RUN_HPP

#include <Strata_GaussJordan.hpp>
#include <algorithm>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "Context.hpp"
#include "DeviceMatrix.hpp"
#include "VectorPair.hpp"

namespace Strata {
namespace Fuzz {

/// A dense matrix on the host, column by column.
template <class Scalar>
struct DenseMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<Scalar> values;

  DenseMatrix(std::int64_t m, std::int64_t n, std::vector<Scalar> given)
      : rows(m), columns(n), values(std::move(given)) {}
  const Scalar& operator()(std::int64_t i, std::int64_t j) const {
    return values[i + j * rows];
  }
  Scalar& operator()(std::int64_t i, std::int64_t j) {
    return values[i + j * rows];
  }
};

enum class DenseTask { solve, invert, reduce };
inline const char* to_string(DenseTask task) {
  return task == DenseTask::solve    ? "solve"
         : task == DenseTask::invert ? "invert"
                                     : "reduce";
}

template <class Scalar>
struct DenseCase {
  using Matrix = DenseMatrix<Scalar>;

  DenseTask task = DenseTask::solve;
  Matrix A{0, 0, {}}, b{0, 0, {}};
  GaussJordanOptions options;
  Placement placement = Placement::left;
  bool in_place = false, special = false;
  /// No more than which the rank is; -1 where it is not known.
  std::int64_t most_rank = -1;
  std::string kind;

  static DenseCase draw(Random& random) {
    DenseCase c;
    c.task =
        random.pick({DenseTask::solve, DenseTask::invert, DenseTask::reduce});
    const auto size = [&] {
      return random.chance(0.1)   ? random.whole(0, 2)
             : random.chance(0.1) ? random.whole(60, 200)
                                  : random.whole(1, 60);
    };
    const int m = size();
    c.draw_matrix(random, m, c.task == DenseTask::reduce ? size() : m);
    const bool vector = c.task == DenseTask::solve && random.chance(0.4);
    do {
      c.placement = static_cast<Placement>(random.whole(0, num_placements - 1));
    } while (has_rank_one(c.placement) != vector ||
             (c.task == DenseTask::reduce && !can_be_in_place(c.placement)));
    c.in_place = c.task == DenseTask::reduce ||
                 (can_be_in_place(c.placement) && random.chance(0.3));
    const int columns = vector ? 1 : random.whole(0, 9);
    c.b = Matrix(m, columns,
                 random_vector<Scalar>(random, std::int64_t{m} * columns));
    c.options.stripe = random.pick({0, 0, 32, 64, 128});
    if (c.task == DenseTask::reduce && random.chance(0.3))
      c.options.pivot_columns = random.whole(0, static_cast<int>(c.A.columns));
    if (random.chance(0.1) && !c.A.values.empty()) {
      c.special = true;
      c.A.values[random.bits() % c.A.values.size()] =
          random.pick({random_nan<Scalar>(random), Scalar(INFINITY)});
    }
    return c;
  }
  void draw_matrix(Random& random, int m, int n) {
    A = Matrix(m, n, random_vector<Scalar>(random, std::int64_t{m} * n));
    const int drawn = random.whole(0, 3);
    if (drawn == 0) {
      kind = "random";
    } else if (drawn == 1) {
      kind = "rows of many scales";
      for (int i = 0; i < m; ++i) {
        const auto scale =
            static_cast<RealOf<Scalar>>(random.power_of_ten(-4, 4));
        for (int j = 0; j < n; ++j) A(i, j) *= scale;
      }
    } else {
      draw_whole_numbers(random, drawn == 2 ? 2 : std::min(m, n));
    }
  }
  /// A product of two matrices of -1, 0 and 1: of a rank of no more than
  /// `rank`.
  void draw_whole_numbers(Random& random, int rank) {
    kind = "whole numbers of rank " + std::to_string(rank);
    most_rank = rank;
    const auto m = A.rows, n = A.columns;
    std::vector<int> left(m * rank), right(rank * n);
    for (auto& v : left) v = random.whole(-1, 1);
    for (auto& v : right) v = random.whole(-1, 1);
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        int sum = 0;
        for (int k = 0; k < rank; ++k)
          sum += left[i * rank + k] * right[k * n + j];
        A(i, j) = Scalar(static_cast<RealOf<Scalar>>(sum));
      }
  }
  std::string description() const {
    std::ostringstream text;
    text << ScalarTraits<Scalar>::name() << ", " << to_string(task) << ", "
         << A.rows << " x " << A.columns << ", " << kind
         << (special ? " and a special number" : "") << "; stripe "
         << options.stripe << ", pivot columns " << options.pivot_columns
         << "; " << b.columns << " columns, " << to_string(placement)
         << (in_place ? ", in place" : "");
    return text.str();
  }
};

/// One case on one execution space.
template <class Scalar, class Space>
class DenseRun {
 public:
  using Case = DenseCase<Scalar>;
  using Matrix = DenseMatrix<Scalar>;
  using Solver = GaussJordan<Scalar, Space>;

  DenseRun(Context& context, const Case& c, Random random)
      : context_(context), case_(c), random_(random), solver_(c.options) {}

  void run() {
    context_.count("task", to_string(case_.task));
    Matrix result = source();
    RowEchelonForm form;
    if (!attempt(result, form)) return;
    // Without right-hand sides the matrix is not looked at.
    const bool looked = case_.task != DenseTask::solve || case_.b.columns > 0;
    expect(!case_.special || !looked, "special number accepted");
    const auto first = result.values;
    // Right-hand sides below the rank are not looked at.
    const bool looked_at =
        case_.task != DenseTask::reduce || case_.options.pivot_columns < 0;
    if (!first.empty() && looked_at && context_.tampers("answer"))
      spoil_largest(result.values);
    if (case_.task == DenseTask::reduce)
      check_form(result, form);
    else
      check_solution(result);
    Matrix again = source();
    attempt(again, form);
    if (!again.values.empty() && context_.tampers("repeat"))
      flip_bit(again.values[0]);
    expect(same_bits(first, again.values), "repeat bit for bit");
  }

 private:
  void expect(bool holds, const char* check, const std::string& detail = {}) {
    context_.expect(holds, check, Space::name() + (" " + detail));
  }
  /// What stands where the result is written from.
  Matrix source() const {
    return case_.task == DenseTask::solve ? case_.b : case_.A;
  }

  /// False where the matrix was refused, for good reason.
  bool attempt(Matrix& result, RowEchelonForm& form) {
    VectorPair<Scalar, Space> views(case_.placement, result.rows,
                                    result.columns, case_.in_place,
                                    random_.whole(0, 2));
    views.set(result.values, random_nan<Scalar>(random_));
    try {
      views.with_views([&](const auto& b, const auto& x) { call(b, x, form); });
    } catch (const NotFiniteError&) {
      expect(case_.special, "finite matrix refused");
      return refused(views);
    } catch (const SingularError& error) {
      // Others are regular but for accidents.
      expect(case_.most_rank >= 0, "regular matrix refused", error.what());
      return refused(views);
    } catch (const FactorizationError& error) {
      expect(case_.most_rank >= 0 && case_.task != DenseTask::reduce,
             "regular matrix refused", error.what());
      return refused(views);
    }
    if (context_.tampers("guard")) views.overwrite_guard();
    expect(views.rest_is_untouched(), "memory beside the result");
    result.values = views.get();
    return true;
  }
  bool refused(const VectorPair<Scalar, Space>& views) {
    context_.count("refusals", to_string(case_.task));
    expect(views.rest_is_untouched(), "memory beside the result");
    return false;
  }
  template <class B, class X>
  void call(const B& b, const X& x, RowEchelonForm& form) {
    if (case_.task == DenseTask::solve) {
      if (case_.A.columns % 2 == 0)
        return solver_.solve(exec_, matrix<Kokkos::LayoutLeft>(), b, x);
      return solver_.solve(exec_, matrix<Kokkos::LayoutRight>(), b, x);
    }
    if constexpr (X::rank == 2) {
      if (case_.task == DenseTask::invert)
        solver_.invert(exec_, b, x);
      else
        form = solver_.reduce(exec_, x);
    }
  }
  template <class Layout>
  auto matrix() const {
    const Kokkos::View<Scalar**, Layout, typename Space::memory_space> A(
        "A", case_.A.rows, case_.A.columns);
    const auto host = Kokkos::create_mirror(A);
    for (std::int64_t j = 0; j < case_.A.columns; ++j)
      for (std::int64_t i = 0; i < case_.A.rows; ++i)
        host(i, j) = case_.A(i, j);
    Kokkos::deep_copy(A, host);
    return A;
  }

  /// Each column x of the answer for its b has
  /// |A x - b| <= c n eps (|A| |x| + |b|), in largest magnitudes.
  void check_solution(const Matrix& x) {
    const auto& A = case_.A;
    const long double norm = row_sum_norm(A);
    for (std::int64_t j = 0; j < x.columns; ++j) {
      long double residual = 0, of_x = 0, of_b = 0;
      for (std::int64_t i = 0; i < A.rows; ++i) {
        const Scalar b = case_.task == DenseTask::solve
                             ? case_.b(i, j)
                             : Scalar(i == j ? 1.0f : 0.0f);
        auto r = widen(b);
        of_b = std::max(of_b, magnitude(r));
        of_x = std::max(of_x, magnitude(widen(x(i, j))));
        for (std::int64_t k = 0; k < A.columns; ++k)
          r -= product(widen(A(i, k)), widen(x(k, j)));
        if (!(magnitude(r) <= residual)) residual = magnitude(r);
      }
      if (check_residual(residual, norm * of_x + of_b, 0, j)) continue;
      return;
    }
  }
  bool check_residual(long double residual, long double size,
                      long double dropped, std::int64_t column) {
    const long double allowed =
        roundings<Scalar> * (4 * std::max(case_.A.rows, case_.A.columns) + 20) *
            epsilon<Scalar> * size +
        dropped;
    if (residual <= allowed) return true;
    expect(false, "backward error",
           "column " + std::to_string(column) + " has " +
               std::to_string(static_cast<double>(residual / allowed)) +
               " times the residual allowed");
    return false;
  }
  static long double row_sum_norm(const Matrix& A) {
    long double largest = 0;
    for (std::int64_t i = 0; i < A.rows; ++i) {
      long double sum = 0;
      for (std::int64_t j = 0; j < A.columns; ++j)
        sum += magnitude(widen(A(i, j)));
      largest = std::max(largest, sum);
    }
    return largest;
  }

  /// Zeros and ones where the form has them, exactly; and each column of A is
  /// the sum of pivot columns that the form says.
  void check_form(const Matrix& R, const RowEchelonForm& form) {
    const auto& A = case_.A;
    const std::int64_t candidates = case_.options.pivot_columns < 0
                                        ? A.columns
                                        : case_.options.pivot_columns;
    const auto& pivots = form.pivot_columns;
    const auto rank = static_cast<std::int64_t>(pivots.size());
    expect(form.rank == rank && rank <= std::min(A.rows, candidates), "rank");
    if (case_.most_rank >= 0)
      expect(rank <= case_.most_rank, "rank", std::to_string(rank));
    expect(is_echelon(R, pivots, candidates), "echelon form");
    const long double norm = row_sum_norm(A);
    // Below the rank, right-hand sides keep what elimination left.
    const std::int64_t last = rank == A.rows ? A.columns : candidates;
    for (std::int64_t j = 0; j < last; ++j) {
      long double residual = 0, of_r = 1;
      for (std::int64_t q = 0; q < rank; ++q)
        of_r = std::max(of_r, magnitude(widen(R(q, j))));
      for (std::int64_t i = 0; i < A.rows; ++i) {
        auto r = widen(A(i, j));
        for (std::int64_t q = 0; q < rank; ++q)
          r -= product(widen(A(i, pivots[q])), widen(R(q, j)));
        if (!(magnitude(r) <= residual)) residual = magnitude(r);
      }
      const long double dropped = 2 * A.rows * form.tolerance;
      if (!check_residual(residual, norm * of_r, dropped, j)) return;
    }
  }
  static bool is_echelon(const Matrix& R,
                         const std::vector<std::int64_t>& pivots,
                         std::int64_t candidates) {
    const auto rank = static_cast<std::int64_t>(pivots.size());
    for (std::int64_t i = 0; i < R.rows; ++i) {
      const std::int64_t lead = i < rank ? pivots[i] : candidates;
      for (std::int64_t j = 0; j < lead; ++j)
        if (R(i, j) != Scalar(0)) return false;
      for (std::int64_t q = 0; q < rank; ++q)
        if (R(i, pivots[q]) != Scalar(i == q ? 1.0f : 0.0f)) return false;
    }
    return std::is_sorted(pivots.begin(), pivots.end());
  }

  Context& context_;
  const Case& case_;
  Random random_;
  Solver solver_;
  Space exec_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
