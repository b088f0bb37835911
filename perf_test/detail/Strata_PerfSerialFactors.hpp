// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SERIAL_FACTORS_HPP
#define STRATA_PERF_SERIAL_FACTORS_HPP

#include <cmath>
#include <core/matrix/PackValues.hpp>
#include <core/scalar/RealPart.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Incomplete LU without fill by one thread of the host, row after row (Saad,
/// Iterative Methods for Sparse Linear Systems, Algorithm 10.4). `factors` has
/// the values of A, and then those of Factorizer::factors(). `place` has -1 for
/// each row, and has it again in the end.
template <class Scalar>
void eliminate_serially(const FactorProblem<Scalar>& problem,
                        std::vector<Scalar>& factors, std::vector<int>& place) {
  const int* const row_map = problem.row_map.data();
  const int* const entries = problem.entries.data();
  const int* const diagonal = problem.diagonal.data();
  Scalar* const value = factors.data();
  for (int i = 0, n = problem.rows(); i < n; ++i) {
    const int begin = row_map[i], end = row_map[i + 1];
    for (int k = begin; k < end; ++k) place[entries[k]] = k;
    for (int k = begin; k < diagonal[i]; ++k) {
      const int row = entries[k];
      const Scalar l = value[k] /= value[diagonal[row]];
      for (int q = diagonal[row] + 1; q < row_map[row + 1]; ++q) {
        const int at = place[entries[q]];
        if (at >= 0) value[at] -= l * value[q];
      }
    }
    for (int k = begin; k < end; ++k) place[entries[k]] = -1;
  }
}

/// Incomplete Cholesky without fill, row after row: the lower triangle of
/// `factors` has that of A, and then that of C with C C^H = A on the pattern. A
/// pivot that is not positive makes the rows that need it not-a-number. `place`
/// as above.
template <class Scalar>
void factorise_serially(const FactorProblem<Scalar>& problem,
                        std::vector<Scalar>& factors, std::vector<int>& place) {
  using Real = Detail::RealOf<Scalar>;
  const int* const row_map = problem.row_map.data();
  const int* const entries = problem.entries.data();
  const int* const diagonal = problem.diagonal.data();
  Scalar* const value = factors.data();
  for (int i = 0, n = problem.rows(); i < n; ++i) {
    const int begin = row_map[i];
    for (int k = begin; k < diagonal[i]; ++k) place[entries[k]] = k;
    double pivot = Detail::RealPart<Scalar>::real(value[diagonal[i]]);
    for (int k = begin; k < diagonal[i]; ++k) {
      const int row = entries[k];
      Scalar sum = value[k];
      for (int q = row_map[row]; q < diagonal[row]; ++q) {
        const int at = place[entries[q]];
        if (at >= 0) sum -= value[at] * Detail::conjugate(value[q]);
      }
      value[k] = sum / value[diagonal[row]];
      pivot -= Detail::real_product(value[k], value[k]);
    }
    value[diagonal[i]] = Scalar(static_cast<Real>(std::sqrt(pivot)));
    for (int k = begin; k < diagonal[i]; ++k) place[entries[k]] = -1;
  }
}

/// What incomplete Cholesky has made, C in the lower triangle, in the form of
/// Factorizer::factors(): L = C D^-1 and U = D C^H, D the diagonal of C.
template <class Scalar>
std::vector<Scalar> lu_of_cholesky(const FactorProblem<Scalar>& problem,
                                   const std::vector<Scalar>& cholesky) {
  std::vector<Scalar> factors(cholesky.size());
  // The place of the next entry of each row of U: columns come in order.
  std::vector<int> next = problem.diagonal;
  for (int i = 0; i < problem.rows(); ++i)
    for (int k = problem.row_map(i); k <= problem.diagonal[i]; ++k) {
      const int row = problem.entries(k);
      const Scalar d = cholesky[problem.diagonal[row]];
      if (row < i) factors[k] = cholesky[k] / d;
      factors[next[row]++] = d * Detail::conjugate(cholesky[k]);
    }
  return factors;
}

/// Where each row of A has its diagonal entry.
/// @throws std::runtime_error where one has none
template <class Scalar>
std::vector<int> diagonal_places(const FactorProblem<Scalar>& problem) {
  std::vector<int> places(problem.rows());
  for (int i = 0; i < problem.rows(); ++i) {
    int k = problem.row_map(i);
    while (k < problem.row_map(i + 1) && problem.entries(k) < i) ++k;
    if (k == problem.row_map(i + 1) || problem.entries(k) != i)
      throw std::runtime_error("row " + std::to_string(i) +
                               " has no diagonal entry");
    places[i] = k;
  }
  return places;
}

/// The reference, which is timed as well: from and to the host's memory. Beside
/// a device the copies on the host are there already, and are not timed.
template <class Scalar>
class SerialFactorizer : public Factorizer<Scalar> {
  using Matrix = typename Factorizer<Scalar>::Matrix;
  using Vector = typename Factorizer<Scalar>::Vector;

 public:
  explicit SerialFactorizer(const FactorProblem<Scalar>& problem)
      : problem_(problem), x_(Kokkos::create_mirror_view(problem.x)) {}

  void analyse() override {
    diagonal_ = diagonal_places(problem_);
    place_.assign(problem_.rows(), -1);
    factors_.resize(problem_.num_entries());
  }
  void compute(const Matrix& A) override {
    const bool other = A.values.data() == problem_.other.values.data();
    const Scalar* const from =
        (other ? problem_.other_values : problem_.values).data();
    factors_.assign(from, from + problem_.num_entries());
    if (problem_.kind == FactorizationKind::ilu0)
      eliminate_serially(problem_, factors_, place_);
    else
      factorise_serially(problem_, factors_, place_);
  }
  void make_ready() override {
    analyse();
    compute(problem_.matrix);
  }
  void update_values(const Matrix& A) override { compute(A); }
  /// From and to the copies of the problem's vectors.
  void apply(const Vector&, const Vector&) override {
    const int* const row_map = problem_.row_map.data();
    const int* const entries = problem_.entries.data();
    const Scalar* const b = problem_.host_b.data();
    const Scalar* const value = factors_.data();
    const bool cholesky = problem_.kind == FactorizationKind::ic0;
    Scalar* const x = x_.data();
    const int n = problem_.rows();
    for (int i = 0; i < n; ++i) {
      Scalar sum = b[i];
      for (int k = row_map[i]; k < diagonal_[i]; ++k)
        sum -= value[k] * x[entries[k]];
      x[i] = cholesky ? sum / value[diagonal_[i]] : sum;
    }
    for (int i = n - 1; i >= 0; --i) {
      Scalar sum = x[i];
      if (!cholesky)
        for (int k = diagonal_[i] + 1; k < row_map[i + 1]; ++k)
          sum -= value[k] * x[entries[k]];
      x[i] = sum / value[diagonal_[i]];
      if (cholesky)
        for (int k = row_map[i]; k < diagonal_[i]; ++k)
          x[entries[k]] -= Detail::conjugate(value[k]) * x[i];
    }
  }
  void publish() override { Kokkos::deep_copy(problem_.x, x_); }
  std::vector<Scalar> factors() override {
    return problem_.kind == FactorizationKind::ilu0
               ? factors_
               : lu_of_cholesky(problem_, factors_);
  }

 private:
  const FactorProblem<Scalar>& problem_;
  std::vector<int> diagonal_, place_;
  std::vector<Scalar> factors_;
  decltype(Kokkos::create_mirror_view(
      typename FactorProblem<Scalar>::Vectors())) x_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
