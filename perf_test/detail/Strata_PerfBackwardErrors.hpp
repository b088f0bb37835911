// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BACKWARD_ERRORS_HPP
#define STRATA_PERF_BACKWARD_ERRORS_HPP

#include <algorithm>
#include <cmath>
#include <detail/Strata_PerfProblem.hpp>
#include <limits>

namespace Strata {
namespace PerfTest {

/// Backward errors of a computed x, in units of the scalar's eps: the largest
/// over all rows and right-hand sides, with r = b - A x.
struct BackwardErrors {
  /// |r_i| / (sum_j |a_ij| max|x| + |b_i|)
  double rowwise = 0;
  /// max|r| / (max_i sum_j |a_ij| max|x| + max|b|)
  double normwise = 0;
  /// |r_i| / (sum_j |a_ij| |x_j| + |b_i|)
  double componentwise = 0;

  /// Infinite where `residual` is no number; 0 where nothing is divided by
  /// nothing.
  static double ratio(long double residual, long double size) {
    if (residual == 0) return 0;
    const auto found = static_cast<double>(residual / size);
    return found >= 0 ? found : std::numeric_limits<double>::infinity();
  }
};

/// Backward errors of `x`, columns one after the other. Residuals are computed
/// on the host in wider arithmetic. Cost: a pass over the entries for each
/// right-hand side.
template <class Scalar>
BackwardErrors backward_errors(const Problem<Scalar>& problem,
                               const Scalar* x) {
  using W = WideType<Scalar>;
  BackwardErrors errors;
  const int rows = problem.rows();
  for (int column = 0; column < problem.rhs(); ++column) {
    const Scalar* const b =
        problem.host_b.data() + std::size_t(column) * std::size_t(rows);
    const Scalar* const own = x + std::size_t(column) * std::size_t(rows);
    long double largest_x = 0, largest_b = 0, largest_r = 0, norm = 0;
    for (int i = 0; i < rows; ++i) {
      const long double size = std::abs(W::from(own[i]));
      if (!(size <= largest_x)) largest_x = size;
      largest_b = std::max<long double>(largest_b, std::abs(W::from(b[i])));
    }
    for (int i = 0; i < rows; ++i) {
      Wide<Scalar> residual = W::from(b[i]);
      const long double given = std::abs(residual);
      long double row = 0, products = given;
      for (int k = problem.host_row_map(i); k < problem.host_row_map(i + 1);
           ++k) {
        const Wide<Scalar> value = W::from(problem.host_values(k));
        const Wide<Scalar> product =
            value * W::from(own[problem.host_entries(k)]);
        residual -= product;
        products += std::abs(product);
        row += std::abs(value);
      }
      const long double size = std::abs(residual);
      errors.rowwise = std::max(
          errors.rowwise, BackwardErrors::ratio(size, row * largest_x + given));
      errors.componentwise =
          std::max(errors.componentwise, BackwardErrors::ratio(size, products));
      if (!(size <= largest_r)) largest_r = size;
      norm = std::max(norm, row);
    }
    errors.normwise = std::max(
        errors.normwise,
        BackwardErrors::ratio(largest_r, norm * largest_x + largest_b));
  }
  const double eps =
      std::numeric_limits<typename WideType<Scalar>::real>::epsilon();
  errors.rowwise /= eps;
  errors.normwise /= eps;
  errors.componentwise /= eps;
  return errors;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
