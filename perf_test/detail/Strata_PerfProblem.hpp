// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_PROBLEM_HPP
#define STRATA_PERF_PROBLEM_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_Types.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <detail/Strata_PerfOptions.hpp>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace Strata {
namespace PerfTest {

/// The arithmetic of the reference solution: 64 bits of mantissa on x86.
template <class Scalar>
struct WideType {
  using real = Scalar;
  using type = long double;
  static type from(Scalar s) { return s; }
  static Scalar to(type w) { return static_cast<Scalar>(w); }
};
template <class Real>
struct WideType<Kokkos::complex<Real>> {
  using real = Real;
  using type = std::complex<long double>;
  static type from(const Kokkos::complex<Real>& s) {
    return {s.real(), s.imag()};
  }
  static Kokkos::complex<Real> to(const type& w) {
    return {static_cast<Real>(w.real()), static_cast<Real>(w.imag())};
  }
};
template <class Scalar>
using Wide = typename WideType<Scalar>::type;

/// Plain forward (lower) or backward (upper) substitution on the host with a
/// stored diagonal, in the arithmetic of Number. `convert` takes a stored
/// value to a Number. The diagonal is the last (lower) or first (upper) entry
/// of its row. Cost: one pass over the entries.
template <class Number, class Convert, class RowMap, class Entries,
          class Values, class Scalar>
void substitute(Uplo uplo, const RowMap& row_map, const Entries& entries,
                const Values& values, const Scalar* b, Number* x,
                const Convert& convert) {
  const int rows = static_cast<int>(row_map.extent(0)) - 1;
  if (uplo == Uplo::lower) {
    for (int i = 0; i < rows; ++i) {
      Number sum = convert(b[i]);
      const auto diagonal = row_map(i + 1) - 1;
      for (auto k = row_map(i); k < diagonal; ++k)
        sum -= convert(values(k)) * x[entries(k)];
      x[i] = sum / convert(values(diagonal));
    }
  } else {
    for (int i = rows - 1; i >= 0; --i) {
      Number sum = convert(b[i]);
      const auto diagonal = row_map(i);
      for (auto k = diagonal + 1; k < row_map(i + 1); ++k)
        sum -= convert(values(k)) * x[entries(k)];
      x[i] = sum / convert(values(diagonal));
    }
  }
}

/// A triangular system with a known answer. Every algorithm reads the same
/// views: 4-byte column indices and offsets, which is what the peers like
/// best, and columns of b and x one after the other.
template <class Scalar>
struct Problem {
  using ExecutionSpace = Kokkos::DefaultExecutionSpace;
  using Device = typename ExecutionSpace::device_type;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;
  template <class T>
  using HostArray = Kokkos::View<const T*, Kokkos::HostSpace>;

  Uplo uplo;
  Diag diag = Diag::non_unit;
  Op op = Op::none;  ///< cuSPARSE's SpSV alone takes others
  Matrix matrix;     ///< the triangle with its diagonal, rows sorted
  HostArray<int> host_row_map, host_entries;
  HostArray<Scalar> host_values;
  std::int64_t levels;
  Vectors b, x;                         ///< rows x right-hand sides
  std::vector<Scalar> host_b;           ///< b, column after column
  std::vector<Wide<Scalar>> reference;  ///< x, column after column
  double tolerance;                     ///< of relative_error()
  double substitution_error;            ///< of plain substitution in Scalar

  int rows() const { return static_cast<int>(matrix.numRows()); }
  int rhs() const { return static_cast<int>(b.extent(1)); }
};

/// |x - reference|_inf / |reference|_inf over all right-hand sides; infinite
/// where any x is not a number.
template <class Scalar>
double relative_error(const std::vector<Wide<Scalar>>& reference,
                      const Scalar* x) {
  long double difference = 0, size = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const long double d = std::abs(WideType<Scalar>::from(x[i]) - reference[i]);
    if (!(d <= std::numeric_limits<long double>::max()))
      return std::numeric_limits<double>::infinity();
    difference = std::max(difference, d);
    size = std::max(size, std::abs(reference[i]));
  }
  return static_cast<double>(size > 0 ? difference / size : difference);
}

template <class Scalar>
using HostVectors =
    Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
/// Makes x no number: an answer of another algorithm must not pass for the
/// next.
template <class Scalar>
void forget_answer(const Problem<Scalar>& problem) {
  Kokkos::deep_copy(problem.x,
                    Scalar(std::numeric_limits<double>::quiet_NaN()));
  Kokkos::fence();
}
/// x on the host.
template <class Scalar>
HostVectors<Scalar> answer(const Problem<Scalar>& problem) {
  HostVectors<Scalar> x("Strata::x", problem.x.extent(0), problem.x.extent(1));
  Kokkos::deep_copy(x, problem.x);
  return x;
}

template <class Scalar>
struct RandomScalar {
  static Scalar draw(std::mt19937_64& engine) {
    return static_cast<Scalar>(
        std::uniform_real_distribution<double>(-1, 1)(engine));
  }
};
template <class Real>
struct RandomScalar<Kokkos::complex<Real>> {
  static Kokkos::complex<Real> draw(std::mt19937_64& engine) {
    const Real re = RandomScalar<Real>::draw(engine);
    return {re, RandomScalar<Real>::draw(engine)};
  }
};

template <class Scalar>
double unit_roundoff() {
  return std::numeric_limits<typename WideType<Scalar>::real>::epsilon();
}

/// b = A x on the host in the arithmetic of Wide, then rounded.
template <class Scalar>
void multiply(const Problem<Scalar>& problem, const Wide<Scalar>* x,
              Scalar* b) {
  for (int i = 0; i < problem.rows(); ++i) {
    Wide<Scalar> sum = 0;
    for (int k = problem.host_row_map(i); k < problem.host_row_map(i + 1); ++k)
      sum += WideType<Scalar>::from(problem.host_values(k)) *
             x[problem.host_entries(k)];
    b[i] = WideType<Scalar>::to(sum);
  }
}

/// The solutions for `host_b`, in the wider arithmetic, and how far plain
/// substitution in Scalar is from them.
template <class Scalar>
void solve_references(Problem<Scalar>& problem, int rhs) {
  const std::size_t rows = static_cast<std::size_t>(problem.rows());
  std::vector<Scalar> same_precision(rows * rhs);
  for (int column = 0; column < rhs; ++column) {
    const Scalar* b = problem.host_b.data() + column * rows;
    substitute(problem.uplo, problem.host_row_map, problem.host_entries,
               problem.host_values, b, problem.reference.data() + column * rows,
               [](const Scalar& s) { return WideType<Scalar>::from(s); });
    substitute(problem.uplo, problem.host_row_map, problem.host_entries,
               problem.host_values, b, same_precision.data() + column * rows,
               [](const Scalar& s) { return s; });
  }
  problem.substitution_error =
      relative_error(problem.reference, same_precision.data());
}

/// Right-hand sides and their solution on the host in wider arithmetic. The
/// matrix and its host copies are in place already.
///
/// b is A times a random vector (seeded), rounded to Scalar: then all of x is
/// of one size, whatever the scaling of the rows, and an error anywhere shows
/// in relative_error(). Where plain substitution can't get such an x back,
/// because solutions grow without bound (a pattern matrix of ones), b itself is
/// random, and what counts is the error relative to the largest of x.
///
/// Tolerance: an answer is right when half of the digits of Scalar are
/// (1.5e-8 for double, 3.5e-4 for float). A triangle can be so badly
/// conditioned that no substitution gets there, so what counts is 64 times
/// the error of plain substitution in Scalar where that is more: orders of
/// summation differ, wrong answers differ by more. A twentieth is the limit.
template <class Scalar>
void make_vectors(Problem<Scalar>& problem, int rhs) {
  const std::size_t rows = static_cast<std::size_t>(problem.rows());
  const std::size_t size = rows * rhs;
  problem.b = typename Problem<Scalar>::Vectors("b", rows, rhs);
  problem.x = typename Problem<Scalar>::Vectors("x", rows, rhs);
  problem.host_b.resize(size);
  problem.reference.resize(size);
  std::mt19937_64 engine(20261121);
  for (Wide<Scalar>& value : problem.reference)
    value = WideType<Scalar>::from(RandomScalar<Scalar>::draw(engine));
  for (std::size_t column = 0; column < size; column += rows)
    multiply(problem, problem.reference.data() + column,
             problem.host_b.data() + column);
  solve_references(problem, rhs);
  if (!(problem.substitution_error < 0.05 / 64)) {
    for (Scalar& value : problem.host_b)
      value = RandomScalar<Scalar>::draw(engine);
    solve_references(problem, rhs);
  }
  Kokkos::deep_copy(problem.b,
                    HostVectors<Scalar>(problem.host_b.data(), rows, rhs));
  problem.tolerance =
      std::min(0.05, std::max(std::sqrt(unit_roundoff<Scalar>()),
                              64 * problem.substitution_error));
}

}  // namespace PerfTest
}  // namespace Strata

#endif
