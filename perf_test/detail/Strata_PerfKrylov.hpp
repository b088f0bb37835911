// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_KRYLOV_HPP
#define STRATA_PERF_KRYLOV_HPP

#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfFactorizer.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

enum class KrylovMethodName { cg, bicgstab, gmres };

/// What values the matrix has before the time steps change them.
enum class BaseValues {
  dominant,  ///< the diagonal: the sum of the other moduli of a row, plus one
  as_is,
  laplacian  ///< -1 beside the diagonal, on it the number of these entries
};

struct KrylovSettings {
  KrylovMethodName method = KrylovMethodName::bicgstab;
  FactorizationKind kind = FactorizationKind::ilu0;
  BaseValues values = BaseValues::dominant;
  /// Added to the diagonal, relative to it, at the first time step; twice that
  /// at the last one.
  double shift = 0.01;
  double tolerance = 0;  ///< of the true residual; 0: that of the scalar
  int steps = 20, runs = 3, restart = 30, max_iterations = 10000;
};

/// One preconditioner on one matrix, all time steps together. Times in
/// microseconds, NaN where there is none; the relative error is the largest
/// ||b - A x|| / ||b||.
struct KrylovPerfResult : PerfResult {
  int steps = 0;
  std::int64_t iterations = 0;
  /// Times that a solve was begun anew as the true residual was not there yet.
  std::int64_t restarts = 0;
  /// New values of preconditioner and product, and solves.
  double total_us = NAN;
  double ready_us = NAN;  ///< from the first matrix to being ready to apply
};

/// Every preconditioner of any build, ours first.
inline const std::vector<std::string>& krylov_preconditioners() {
  static const std::vector<std::string> names{
      "strata", "kokkos_kernels", "cusparse_no_level", "cusparse_use_level"};
  return names;
}

inline bool is_own_preconditioner(const std::string& algorithm) {
  return starts_with(algorithm, "strata");
}

/// A preconditioner whose matrix gets new values in each time step. Works on
/// the default instance. The problem outlives it.
template <class Scalar>
class StepPreconditioner {
 public:
  using Problem = FactorProblem<Scalar>;
  using ExecutionSpace = typename Problem::ExecutionSpace;
  using Matrix = typename Problem::Matrix;
  using Vector = Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>;

  virtual ~StepPreconditioner() = default;

  /// From the problem's matrix to being ready to apply.
  virtual void make_ready() = 0;
  /// From new values to being ready to apply, after make_ready().
  virtual void update_values(const Matrix& A) = 0;
  /// z = M^-1 r.
  virtual void apply(const Vector& r, const Vector& z) = 0;
};

/// Makes the preconditioner of that name, each family in a file of its own.
template <class Scalar>
std::unique_ptr<StepPreconditioner<Scalar>> make_own_preconditioner(
    const std::string& name, const FactorProblem<Scalar>& problem);
template <class Scalar>
std::unique_ptr<StepPreconditioner<Scalar>> make_peer_preconditioner(
    const std::string& name, const FactorProblem<Scalar>& problem);

template <class Scalar>
std::unique_ptr<PerfRunner<KrylovPerfResult>> make_krylov_runner(
    const KrylovSettings& settings);

}  // namespace PerfTest
}  // namespace Strata

#endif
