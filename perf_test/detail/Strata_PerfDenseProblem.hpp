// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_DENSE_PROBLEM_HPP
#define STRATA_PERF_DENSE_PROBLEM_HPP

#include <algorithm>
#include <cmath>
#include <core/device/NotReady.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <detail/Strata_PerfDense.hpp>
#include <detail/Strata_PerfParts.hpp>
#include <kernels/dense/DenseRef.hpp>
#include <limits>

namespace Strata {
namespace PerfTest {

/// Entries of the test matrices; the same on every backend.
///   random           in [-1, 1)
///   positive         in [1, 1000), as in the thesis
///   graded           random, entry (i, j) times 2^(-60 (i + j) / 2n)
///   nearly_singular  random, the last column 1e-13 off two others' sum
///   dominant         positive, 1000 n on the diagonal
struct DenseEntries {
  int kind;  ///< place in dense_kinds()
  int n;

  KOKKOS_INLINE_FUNCTION double random(std::int64_t i, std::int64_t j,
                                       int part) const {
    return 2 * Detail::unit_interval(Detail::random_bits(7, i, j, part)) - 1;
  }
  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t i, std::int64_t j,
                                           int part) const {
    const double r = random(i, j, part);
    if (kind == 4 && i == j) return 1000.0 * n;
    if (kind == 1 || kind == 4) return 500.5 + 499.5 * r;
    if (kind == 2) return r * exp2(-30.0 * static_cast<double>(i + j) / n);
    if (kind == 3 && j == n - 1 && n > 2)
      return random(i, 0, part) + random(i, n / 2, part) + 1e-13 * r;
    return r;
  }
};

/// Fills rows x (some columns); identity where `unit`.
template <class Scalar>
struct FillDense {
  Detail::DenseRef<Scalar> to;
  std::int64_t rows;
  DenseEntries entries;
  int stream;
  bool unit;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t j = k / rows, i = k % rows;
    to(i, j) = unit ? Scalar(i == j ? 1 : 0)
                    : from_parts<Scalar>(entries(i, j, stream),
                                         entries(i, j, stream + 1));
  }
};

/// |A x - b| of one row, and the row's sum of magnitudes; in double.
template <class Scalar>
struct RowResidual {
  Detail::DenseRef<const Scalar> a, x, b;
  std::int64_t n, column;
  Kokkos::View<double*> residual, row_sum;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    auto difference = -in_double(b(i, column));
    double sum = 0;
    for (std::int64_t k = 0; k < n; ++k) {
      difference += in_double(a(i, k)) * in_double(x(k, column));
      sum += Detail::one_norm(a(i, k));
    }
    residual(i) = sum_of_parts(difference);
    row_sum(i) = sum;
  }
};

/// Counts the elements that are not those of the identity.
template <class Scalar>
struct CountOthers {
  Detail::DenseRef<const Scalar> a;
  std::int64_t rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k,
                                         std::int64_t& others) const {
    const std::int64_t i = k % rows, j = k / rows;
    if (!(a(i, j) == Scalar(i == j ? 1 : 0))) ++others;
  }
};

/// A X = B with the answer that is being tested.
template <class Scalar>
class DenseProblem {
 public:
  using ExecutionSpace = Kokkos::DefaultExecutionSpace;
  using Memory = ExecutionSpace::memory_space;
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Memory>;
  using Real = Detail::RealOf<Scalar>;

  explicit DenseProblem(const DenseCase& system)
      : system_(system),
        A(make("A", system.n, system.n)),
        B(make("B", system.n, columns_of(system))),
        X(make("X", system.n, columns_of(system))) {
    const auto& names = dense_kinds();
    const int kind = static_cast<int>(
        std::find(names.begin(), names.end(), system.kind) - names.begin());
    fill(A, {kind, system.n}, 1, false);
    // Right-hand sides are plain random numbers, for any matrix.
    fill(B, {0, system.n}, 3, system.task == DenseTask::inverse);
  }

  const DenseCase& system() const { return system_; }
  std::int64_t n() const { return system_.n; }
  std::int64_t columns() const {
    return static_cast<std::int64_t>(B.extent(1));
  }

  /// The parts of [A | B].
  auto left_of(const Matrix& augmented) const {
    return Kokkos::subview(augmented, Kokkos::ALL,
                           std::make_pair(std::int64_t(0), n()));
  }
  auto right_of(const Matrix& augmented) const {
    return Kokkos::subview(augmented, Kokkos::ALL,
                           std::make_pair(n(), n() + columns()));
  }
  /// X from the reduced row echelon form [I | X]; not a number where the left
  /// part is not the identity.
  void take_reduced(const Matrix& augmented) const {
    Kokkos::deep_copy(X, right_of(augmented));
    const Detail::DenseRef<const Scalar> reduced{augmented.data(), n()};
    const std::int64_t rows = n();
    std::int64_t others = 0;
    Kokkos::parallel_reduce(
        "not_the_identity",
        Detail::RangeOf<ExecutionSpace>(ExecutionSpace(), 0, rows * rows),
        CountOthers<Scalar>{reduced, rows}, others);
    if (others > 0)
      Kokkos::deep_copy(X, Scalar(std::numeric_limits<double>::quiet_NaN()));
  }

  /// Backward error of X; not a number if anything in it is.
  double backward_error() const {
    const ExecutionSpace exec;
    const std::int64_t checked = std::min<std::int64_t>(16, columns());
    const Kokkos::View<double*> residual("residual", n()), sum("sum", n());
    double largest = 0, of_a = 0, of_x = 0, of_b = 0;
    for (std::int64_t c = 0; c < checked; ++c) {
      const std::int64_t column =
          checked < 2 ? 0 : c * (columns() - 1) / (checked - 1);
      Kokkos::parallel_for("residual",
                           Kokkos::RangePolicy<ExecutionSpace>(exec, 0, n()),
                           RowResidual<Scalar>{{A.data(), n()},
                                               {X.data(), n()},
                                               {B.data(), n()},
                                               n(),
                                               column,
                                               residual,
                                               sum});
      raise(residual, largest);
      raise(sum, of_a);
      raise(Kokkos::subview(X, Kokkos::ALL, column), of_x);
      raise(Kokkos::subview(B, Kokkos::ALL, column), of_b);
    }
    return largest / (of_a * of_x + of_b);
  }

 private:
  DenseCase system_;

  static std::int64_t columns_of(const DenseCase& system) {
    return has_one_column(system.task) ? 1 : system.n;
  }
  static Matrix make(const char* name, std::int64_t rows,
                     std::int64_t columns) {
    return Matrix(
        Kokkos::view_alloc(std::string(name), Kokkos::WithoutInitializing),
        rows, columns);
  }
  void fill(const Matrix& to, const DenseEntries& entries, int stream,
            bool unit) const {
    Kokkos::parallel_for(
        "fill",
        Detail::RangeOf<ExecutionSpace>(ExecutionSpace(), 0,
                                        static_cast<std::int64_t>(to.size())),
        FillDense<Scalar>{{to.data(), n()}, n(), entries, stream, unit});
    Kokkos::fence();
  }
  /// largest = max(largest, |values|), NaN if there is one.
  template <class View>
  static void raise(const View& values, double& largest) {
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
    for (std::size_t i = 0; i < host.extent(0); ++i) {
      const double size = Detail::one_norm(host(i));
      if (!(size <= largest)) largest = size;
      if (std::isnan(largest)) return;
    }
  }

 public:
  Matrix A, B, X;
};

/// One way to get X from A and B, which stay as they are. The timing does the
/// fencing. The problem outlives the algorithm.
template <class Scalar>
class DenseAlgorithm {
 public:
  virtual ~DenseAlgorithm() = default;
  virtual void run() = 0;
  /// Puts the answer into problem.X where run() leaves it elsewhere.
  virtual void publish() {}
};

/// Ours is made in gauss_jordan/own.cpp, the others in gauss_jordan/peers.cpp;
/// OptionError where the build has none of that name.
template <class Scalar>
std::unique_ptr<DenseAlgorithm<Scalar>> make_dense_own(
    const DenseOptions& options, const DenseProblem<Scalar>& problem);
template <class Scalar>
std::unique_ptr<DenseAlgorithm<Scalar>> make_dense_peer(
    const std::string& name, const DenseProblem<Scalar>& problem);

}  // namespace PerfTest
}  // namespace Strata

#endif
