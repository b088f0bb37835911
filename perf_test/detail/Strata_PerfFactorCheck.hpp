// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_FACTOR_CHECK_HPP
#define STRATA_PERF_FACTOR_CHECK_HPP

#include <algorithm>
#include <cmath>
#include <detail/Strata_PerfBackwardErrors.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Factors that are stored as two matrices, L with the ones of its diagonal, in
/// the form of Factorizer::factors(). The order within a row is free.
/// @throws std::runtime_error where an entry is not of A's pattern, or missing
template <class Scalar, class Matrix>
std::vector<Scalar> on_pattern(const FactorProblem<Scalar>& problem,
                               const Matrix& L, const Matrix& U) {
  using Kokkos::create_mirror_view_and_copy;
  std::vector<Scalar> factors(problem.num_entries());
  std::vector<int> place(problem.rows(), -1);
  const Kokkos::HostSpace host;
  for (const bool lower : {true, false}) {
    const Matrix& factor = lower ? L : U;
    const auto row_map =
        create_mirror_view_and_copy(host, factor.graph.row_map);
    const auto entries =
        create_mirror_view_and_copy(host, factor.graph.entries);
    const auto values = create_mirror_view_and_copy(host, factor.values);
    for (int i = 0; i < problem.rows(); ++i) {
      const std::string in_row = std::string(" in row ") + std::to_string(i) +
                                 " of " + (lower ? "L" : "U");
      const int begin = lower ? problem.row_map(i) : problem.diagonal[i];
      const int end = lower ? problem.diagonal[i] : problem.row_map(i + 1);
      for (int k = begin; k < end; ++k) place[problem.entries(k)] = k;
      int found = 0;
      for (int k = row_map(i); k < row_map(i + 1); ++k) {
        const int column = entries(k);
        if (lower && column == i) {
          if (!(values(k) == Scalar(1)))
            throw std::runtime_error("the diagonal is not one" + in_row);
          continue;
        }
        if (column < 0 || column >= problem.rows() || place[column] < 0)
          throw std::runtime_error("an entry is not in A's pattern" + in_row);
        factors[place[column]] = values(k);
        place[column] = -1;  // once
        ++found;
      }
      if (found != end - begin)
        throw std::runtime_error("an entry of A's pattern is missing" + in_row);
    }
  }
  return factors;
}

/// The larger one; what is no number stays.
inline void raise_to(long double& largest, long double size) {
  if (!(size <= largest) && !std::isnan(largest)) largest = size;
}

/// How good factors are.
struct FactorErrors {
  /// Beside the serial factors: the largest |difference| over the largest
  /// |value| in a row of L (without the ones of its diagonal) or U.
  double relative = 0;
  /// Largest |(L U - A)_ij| / (10 m eps (|L| |U|)_ij) on the pattern, m the
  /// entries of the longest row: right up to one.
  double over_bound = 0;
  int row = 0;  ///< of over_bound
};

/// Products in wider arithmetic on the host. Cost: that of the elimination.
template <class Scalar>
FactorErrors factor_errors(const FactorProblem<Scalar>& problem,
                           const std::vector<Scalar>& factors) {
  using W = WideType<Scalar>;
  FactorErrors errors;
  const int n = problem.rows();
  const auto& row_map = problem.row_map;
  const auto& entries = problem.entries;
  int longest = 0;
  for (int i = 0; i < n; ++i)
    longest = std::max(longest, row_map(i + 1) - row_map(i));
  const long double bound = 10.0L * longest * unit_roundoff<Scalar>();
  std::vector<int> place(n, -1);
  std::vector<Wide<Scalar>> product(longest);
  std::vector<long double> size(longest);
  for (int i = 0; i < n; ++i) {
    const int begin = row_map(i), end = row_map(i + 1);
    const auto compare_row = [&](int from, int to) {
      long double difference = 0, largest = 0;
      for (int k = from; k < to; ++k) {
        const Wide<Scalar> serial = W::from(problem.reference[k]);
        raise_to(difference, std::abs(W::from(factors[k]) - serial));
        raise_to(largest, std::abs(serial));
      }
      const double relative = BackwardErrors::ratio(difference, largest);
      errors.relative = std::max(errors.relative, relative);
    };
    compare_row(begin, problem.diagonal[i]);
    compare_row(problem.diagonal[i], end);

    for (int k = begin; k < end; ++k) {
      place[entries(k)] = k - begin;
      product[k - begin] = 0;
      size[k - begin] = 0;
    }
    for (int k = begin; k <= problem.diagonal[i]; ++k) {
      const int row = entries(k);
      const Wide<Scalar> l = row == i ? Wide<Scalar>(1) : W::from(factors[k]);
      for (int q = problem.diagonal[row]; q < row_map(row + 1); ++q) {
        const int at = place[entries(q)];
        if (at < 0) continue;
        const Wide<Scalar> term = l * W::from(factors[q]);
        product[at] += term;
        size[at] += std::abs(term);
      }
    }
    for (int k = begin; k < end; ++k) {
      place[entries(k)] = -1;
      const double off = BackwardErrors::ratio(
          std::abs(product[k - begin] - W::from(problem.values(k))),
          bound * size[k - begin]);
      if (off > errors.over_bound) {
        errors.over_bound = off;
        errors.row = i;
      }
    }
  }
  return errors;
}

/// The largest |b - L U x|_i over what rounding in each of two solves, row by
/// row, may make of it: |b_i| + (|L| |U| e)_i max|x| + (|L| e)_i max|U x|.
/// Infinite where x is no number. Cost: a pass over the entries.
template <class Scalar>
double apply_error(const FactorProblem<Scalar>& problem,
                   const std::vector<Scalar>& factors, const Scalar* x) {
  using W = WideType<Scalar>;
  const int n = problem.rows();
  long double largest_x = 0, largest_y = 0;
  for (int i = 0; i < n; ++i) raise_to(largest_x, std::abs(W::from(x[i])));
  std::vector<Wide<Scalar>> y(n, 0);
  std::vector<long double> sum_of_u(n, 0);
  for (int i = 0; i < n; ++i) {
    for (int k = problem.diagonal[i]; k < problem.row_map(i + 1); ++k) {
      const Wide<Scalar> u = W::from(factors[k]);
      y[i] += u * W::from(x[problem.entries(k)]);
      sum_of_u[i] += std::abs(u);
    }
    raise_to(largest_y, std::abs(y[i]));
  }
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    Wide<Scalar> residual = W::from(problem.host_b[i]) - y[i];
    long double size = std::abs(W::from(problem.host_b[i])) +
                       sum_of_u[i] * largest_x + largest_y;
    for (int k = problem.row_map(i); k < problem.diagonal[i]; ++k) {
      const Wide<Scalar> l = W::from(factors[k]);
      const int row = problem.entries(k);
      residual -= l * y[row];
      size += std::abs(l) * (sum_of_u[row] * largest_x + largest_y);
    }
    worst = std::max(worst, BackwardErrors::ratio(std::abs(residual), size));
  }
  return worst;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
