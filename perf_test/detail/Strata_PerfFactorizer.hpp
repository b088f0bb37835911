// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_FACTORIZER_HPP
#define STRATA_PERF_FACTORIZER_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfProblem.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Incomplete LU and, of Hermitian matrices, incomplete Cholesky without fill.
enum class FactorizationKind { ilu0, ic0 };

/// What the diagonal becomes: `dominant`, the sum of the moduli of the row's
/// other entries plus one.
enum class DiagonalValues { dominant, as_is };

}  // namespace PerfTest
template <>
struct Detail::EnumeratorNames<PerfTest::FactorizationKind> {
  static constexpr const char* list[] = {"ilu0", "ic0"};
};
template <>
struct Detail::EnumeratorNames<PerfTest::DiagonalValues> {
  static constexpr const char* list[] = {"dominant", "as_is"};
};
namespace PerfTest {

/// What becomes of the matrix before it is factorised.
struct FactorizationSettings {
  FactorizationKind kind = FactorizationKind::ilu0;
  DiagonalValues diagonal = DiagonalValues::dominant;
  bool enqueue_updates = false;   ///< see FactorProblem
  double max_seconds = INFINITY;  ///< see MatrixRunner
};

/// An incomplete factorisation. Times in microseconds, NaN where there is none;
/// the relative error is FactorErrors::relative.
struct FactorizationResult : PerfResult {
  std::string family() const { return source->family; }
  std::int64_t levels = 0;     ///< level sets of the lower triangle
  double analysis_us = NAN;    ///< of the pattern, for the numeric phase
  double numeric_us = NAN;     ///< factors of new values on that pattern
  double ready_us = NAN;       ///< from the matrix to being ready to apply
  double new_values_us = NAN;  ///< from new values to being ready to apply
  double apply_us = NAN;       ///< x = U^-1 L^-1 b
};

/// Every algorithm of any build, ours first.
inline const std::vector<std::string>& factorization_algorithms(
    FactorizationKind kind) {
  static const std::vector<std::string> ilu0{
      "strata", "serial", "kokkos_kernels_spiluk", "cusparse_csrilu02_no_level",
      "cusparse_csrilu02_use_level"};
  static const std::vector<std::string> ic0{"strata", "serial",
                                            "cusparse_csric02_no_level",
                                            "cusparse_csric02_use_level"};
  return kind == FactorizationKind::ilu0 ? ilu0 : ic0;
}

using FactorizationRunners =
    RunnersOf<PerfRunner<FactorizationResult>, const FactorizationSettings&>;

/// A matrix to factorise. Every algorithm reads the same views, with 4-byte
/// columns and offsets.
template <class Scalar>
struct FactorProblem {
  using ExecutionSpace = typename Problem<Scalar>::ExecutionSpace;
  using Matrix = typename Problem<Scalar>::Matrix;
  using Values = typename Matrix::values_type;
  using Vectors = typename Problem<Scalar>::Vectors;

  FactorizationKind kind = FactorizationKind::ilu0;
  Matrix matrix;
  /// Other values on the same pattern: S A S, where S is diagonal with powers
  /// of two, so that they have factors where A has some.
  Matrix other;
  typename Problem<Scalar>::template HostArray<int> row_map, entries;
  typename Problem<Scalar>::template HostArray<Scalar> values, other_values;
  std::vector<int> diagonal;  ///< where each row has its diagonal entry
  std::int64_t levels = 0;
  /// The serial factors of A, in the form of Factorizer::factors().
  std::vector<Scalar> reference;
  Vectors b, x;  ///< one column
  /// Ours takes new values without a wait, and does not tell of bad ones.
  bool enqueue_updates = false;
  std::vector<Scalar> host_b;

  int rows() const { return static_cast<int>(matrix.numRows()); }
  int num_entries() const { return static_cast<int>(entries.extent(0)); }
};

/// One way to factorise a FactorProblem, ours or a peer's. The timing does the
/// fencing. The problem outlives it.
template <class Scalar>
class Factorizer {
 public:
  using Problem = FactorProblem<Scalar>;
  using ExecutionSpace = typename Problem::ExecutionSpace;
  using Matrix = typename Problem::Matrix;
  using Vector = Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>;

  virtual ~Factorizer() = default;

  /// What the numeric phase needs to know of the pattern; replaces an earlier
  /// analysis.
  virtual void analyse() = 0;
  /// The numeric phase for a matrix of the problem's pattern, which stays as it
  /// is.
  virtual void compute(const Matrix& A) = 0;

  /// From the problem's matrix to being ready to apply.
  virtual void make_ready() = 0;
  /// From new values to being ready to apply, after make_ready().
  virtual void update_values(const Matrix& A) = 0;
  /// x = U^-1 L^-1 b, after make_ready().
  virtual void apply(const Vector& b, const Vector& x) = 0;
  /// Puts the answer into problem.x where apply() leaves it elsewhere.
  virtual void publish() {}

  /// What the latest compute() has made, on the host: for each entry of A that
  /// of L below the diagonal and that of U elsewhere; L has ones on its
  /// diagonal. Incomplete Cholesky's factors are put into this form.
  /// @throws std::runtime_error where they are not of that pattern, or the
  ///   numeric phase has told that it failed
  virtual std::vector<Scalar> factors() = 0;
};

/// Makes the algorithm of that name, each family in a file of its own.
template <class Scalar>
std::unique_ptr<Factorizer<Scalar>> make_own_factorizer(
    const std::string& name, const FactorProblem<Scalar>& problem);
template <class Scalar>
std::unique_ptr<Factorizer<Scalar>> make_peer_factorizer(
    const std::string& name, const FactorProblem<Scalar>& problem);

}  // namespace PerfTest
}  // namespace Strata

#endif
