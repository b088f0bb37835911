// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IncompleteFactorization that replaces small pivots.
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "FactorizationCase.hpp"
#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Strata::Factorization;
using Options = Strata::FactorizationCase;
using Wide = std::complex<double>;

template <class Scalar>
struct PivotReplacement : testing::Test {
  using Crs = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Real = RealOf<Scalar>;
  using Host = HostMatrix<Scalar>;
  static constexpr bool is_complex = !std::is_same<Real, Scalar>::value;
  static constexpr double eps = std::numeric_limits<Real>::epsilon();

  static Scalar scalar(double re, double im = 0) {
    if constexpr (is_complex) {
      return Scalar(static_cast<Real>(re), static_cast<Real>(im));
    } else {
      (void)im;
      return static_cast<Scalar>(re);
    }
  }
  Scalar random_number() {
    const double re = part(random);
    return scalar(re, part(random));
  }
  /// One in 31 diagonal entries is nearly zero or zero. With more of them, or
  /// larger entries beside the diagonal, what elimination makes would grow out
  /// of range.
  Host random_values(const std::string& graph, Factorization kind) {
    Host made(Strata::gallery<Crs>(Device(), graph));
    const bool hermitian = kind == Factorization::incomplete_cholesky;
    const double size =
        std::min(0.5, 2. * static_cast<double>(made.rows) /
                          static_cast<double>(made.entries.size()));
    for (std::int64_t i = 0; i < made.rows; ++i)
      for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k) {
        const auto j = made.entries[k];
        made.values[k] = random_number() * scalar(size);
        if (hermitian && j < i) made.values[k] = conjugate(*made.find(j, i));
        if (j != i) continue;
        Scalar diagonal = Scalar(8) + random_number();
        if (i % 31 == 5) diagonal = random_number() * Scalar(1e-3);
        if (i % 62 == 5) diagonal = Scalar(0);
        made.values[k] = hermitian ? scalar(wide(diagonal).real()) : diagonal;
      }
    return made;
  }

  static Options replacing(double threshold, Factorization kind) {
    Options options;
    options.kind = kind;
    options.small_pivot_threshold = threshold;
    return options;
  }
  static Factors factorise(const Host& A, const Options& options) {
    return Factors(Device(), A.template to_device<Crs>(), options.kind,
                   options);
  }
  static Host small_matrix(std::int64_t n, const std::vector<Scalar>& dense) {
    Host made;
    made.rows = made.columns = n;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) made.entries.push_back(j);
      made.row_map.push_back(n * (i + 1));
    }
    made.values = dense;
    return made;
  }
  static std::vector<Scalar> pivots(const Factors& factors) {
    const Host U(factors.upper(Device()));
    std::vector<Scalar> made;
    for (std::int64_t i = 0; i < U.rows; ++i)
      made.push_back(U.values[U.row_map[i]]);
    return made;
  }

  /// (L U)_ij = a_ij on the pattern up to rounding, but for the pivots that the
  /// report counts; these have the least modulus that is allowed, and what they
  /// were has their direction.
  static void expect_factors(const Host& A, const Factors& factors) {
    const auto& options = factors.options();
    const bool positive =
        factors.report().kind == Factorization::incomplete_cholesky;
    const Host L(factors.lower(Device())), U(factors.upper(Device()));
    std::int64_t longest = 0, replaced = 0;
    for (std::int64_t i = 0; i < A.rows; ++i)
      longest = std::max(longest, A.row_map[i + 1] - A.row_map[i]);
    double largest_change = 0, rounding_of_change = 0;
    for (std::int64_t i = 0; i < A.rows; ++i) {
      std::map<std::int64_t, Wide> product;
      std::map<std::int64_t, double> size;
      for (auto k = L.row_map[i]; k < L.row_map[i + 1]; ++k)
        for (auto m = U.row_map[L.entries[k]]; m < U.row_map[L.entries[k] + 1];
             ++m) {
          const Wide term = wide(L.values[k]) * wide(U.values[m]);
          product[U.entries[m]] += term;
          size[U.entries[m]] += std::abs(term);
        }
      double least = 0;
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        least = std::max(least, std::abs(wide(A.values[k])));
      least *= options.small_pivot_threshold;
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        const auto j = A.entries[k];
        const double rounding =
            10. * static_cast<double>(longest) * eps * size[j];
        const Wide change = product[j] - wide(A.values[k]);
        if (j != i) {
          ASSERT_LE(std::abs(change), rounding) << "entry " << i << ", " << j;
          continue;
        }
        const Wide pivot = wide(U.values[U.row_map[i]]);
        if (positive) {
          ASSERT_EQ(pivot.imag(), 0) << "row " << i;
          ASSERT_GT(pivot.real(), 0) << "row " << i;
        }
        ASSERT_GE(std::abs(pivot), least * (1 - 8 * eps)) << "row " << i;
        if (std::abs(pivot) > least * (1 + 8 * eps)) {
          ASSERT_LE(std::abs(change), rounding) << "row " << i;
          continue;
        }
        ++replaced;
        if (std::abs(change) > largest_change) rounding_of_change = rounding;
        largest_change = std::max(largest_change, std::abs(change));
        const Wide before = pivot - change;
        if (positive) {
          ASSERT_LE(before.real(), least + rounding) << "row " << i;
        } else {
          ASSERT_LE(std::abs(before), least + rounding) << "row " << i;
          ASSERT_LE(std::abs(before / std::abs(pivot) -
                             std::abs(before) / std::norm(pivot) * pivot),
                    4 * rounding / std::abs(pivot) + 16 * eps)
              << "row " << i;
        }
      }
    }
    EXPECT_EQ(factors.report().replaced_pivots, replaced);
    EXPECT_NEAR(factors.report().largest_pivot_change, largest_change,
                rounding_of_change + 16 * eps * largest_change);
  }

  std::uniform_real_distribution<double> part{-1, 1};
  std::mt19937 random{Strata::random_seed()};
};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(PivotReplacement, Scalars);

constexpr Factorization all_kinds[] = {Factorization::incomplete_lu,
                                       Factorization::incomplete_cholesky};

TYPED_TEST(PivotReplacement, ChangesPivotsAloneAndTellsHowMuch) {
  using Fixture = TestFixture;
  std::int64_t replaced = 0;
  // Short rows, rows of several registers, and rows that are longer.
  for (const char* graph : {"triangulated:31x23", "grid3d:7", "arrow:90",
                            "block_diagonal:8x40:0.9", "arrow:400"})
    for (const auto kind : all_kinds)
      for (const double threshold : {0.5, 0.2}) {
        SCOPED_TRACE(std::string(graph) + ", " + to_string(kind) + ", " +
                     std::to_string(threshold));
        const auto A = this->random_values(graph, kind);
        const auto factors =
            Fixture::factorise(A, Fixture::replacing(threshold, kind));
        Fixture::expect_factors(A, factors);
        replaced += factors.report().replaced_pivots;
        // The same bits again.
        const auto again =
            Fixture::factorise(A, Fixture::replacing(threshold, kind));
        EXPECT_EQ(Fixture::pivots(again), Fixture::pivots(factors));
        EXPECT_EQ(again.report().replaced_pivots,
                  factors.report().replaced_pivots);
        EXPECT_EQ(again.report().largest_pivot_change,
                  factors.report().largest_pivot_change);
      }
  EXPECT_GT(replaced, 100);
}

TYPED_TEST(PivotReplacement, KeepsSignAndPhase) {
  using Fixture = TestFixture;
  const auto lu = Factorization::incomplete_lu;
  const auto expect = [](const auto& A, const Options& options,
                         const std::vector<TypeParam>& expected,
                         std::int64_t count, double change) {
    const auto factors = Fixture::factorise(A, options);
    const auto found = Fixture::pivots(factors);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_LE(std::abs(wide(found[i]) - wide(expected[i])),
                4 * Fixture::eps * std::abs(wide(expected[i])))
          << i;
    EXPECT_EQ(factors.report().replaced_pivots, count);
    EXPECT_NEAR(factors.report().largest_pivot_change, change,
                8 * Fixture::eps * change);
  };
  const auto s = [](double re, double im = 0) {
    return Fixture::scalar(re, im);
  };
  // u_11 = 1 - 3/1 2.
  const auto zero = Fixture::small_matrix(2, {s(0), s(2), s(3), s(1)});
  expect(zero, Fixture::replacing(0.5, lu), {s(1), s(-5)}, 1, 1);
  const auto negative = Fixture::small_matrix(2, {s(-0.5), s(4), s(0), s(8)});
  expect(negative, Fixture::replacing(0.5, lu), {s(-2), s(8)}, 1, 1.5);
  // As large as the least one.
  const auto as_large = Fixture::small_matrix(2, {s(-2), s(4), s(0), s(8)});
  expect(as_large, Fixture::replacing(0.5, lu), {s(-2), s(8)}, 0, 0);
  const auto cholesky = Factorization::incomplete_cholesky;
  // 1 - 2 2 = -3 becomes 1, and the pivot after it 2 - 0.
  const auto indefinite = Fixture::small_matrix(
      3, {s(1), s(2), s(0), s(2), s(1), s(0), s(0), s(0), s(2)});
  expect(indefinite, Fixture::replacing(0.5, cholesky), {s(1), s(1), s(2)}, 1,
         4);
  if constexpr (Fixture::is_complex) {
    const auto turned =
        Fixture::small_matrix(2, {s(0.3, -0.4), s(0, 4), s(0), s(8)});
    expect(turned, Fixture::replacing(0.5, lu), {s(1.2, -1.6), s(8)}, 1, 1.5);
    // Moduli whose squares are no numbers.
    const double tiny = sizeof(typename Fixture::Real) == 4 ? 1e-30 : 1e-200;
    const auto small =
        Fixture::small_matrix(2, {s(0, -tiny), s(4 * tiny), s(0), s(8)});
    expect(small, Fixture::replacing(0.5, lu), {s(0, -2 * tiny), s(8)}, 1,
           tiny);
  }
}

TYPED_TEST(PivotReplacement, LeavesOtherPivotsTheirBits) {
  using Fixture = TestFixture;
  auto A =
      this->random_values("triangulated:31x23", Factorization::incomplete_lu);
  for (std::int64_t i = 0; i < A.rows; ++i)
    A.at(i, i) = TypeParam(9) + this->random_number();
  const auto plain = Fixture::factorise(A, {});
  const auto replacing = Fixture::factorise(
      A, Fixture::replacing(0.01, Factorization::incomplete_lu));
  EXPECT_EQ(Fixture::pivots(replacing), Fixture::pivots(plain));
  EXPECT_EQ(replacing.report().replaced_pivots, 0);
  EXPECT_EQ(replacing.report().largest_pivot_change, 0);
  EXPECT_GT(replacing.report().elimination_bytes,
            plain.report().elimination_bytes);
}

TYPED_TEST(PivotReplacement, UpdatesTellWhatTheyHaveReplaced) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  for (const auto kind : all_kinds) {
    auto good = this->random_values("grid2d:20", kind);
    for (std::int64_t i = 0; i < good.rows; ++i) good.at(i, i) = TypeParam(9);
    const auto poor = this->random_values("grid2d:20", kind);
    auto factors = Fixture::factorise(good, Fixture::replacing(0.3, kind));
    EXPECT_EQ(factors.report().replaced_pivots, 0);
    factors.update_values(Device(), poor.template to_device<Crs>());
    Fixture::expect_factors(poor, factors);
    const auto replaced = factors.report().replaced_pivots;
    const auto change = factors.report().largest_pivot_change;
    EXPECT_GT(replaced, 0);
    // Refused: the old factors stay, and what is told of them.
    auto bad = good;
    bad.values[bad.row_map[50]] = Fixture::scalar(std::nan(""));
    EXPECT_THROW(factors.update_values(Device(), bad.template to_device<Crs>()),
                 Strata::Error);
    EXPECT_EQ(factors.report().replaced_pivots, replaced);
    EXPECT_EQ(factors.report().largest_pivot_change, change);
    factors.update_values(Device(), good.template to_device<Crs>());
    EXPECT_EQ(factors.report().replaced_pivots, 0);
    EXPECT_EQ(factors.report().largest_pivot_change, 0);
  }
}

TYPED_TEST(PivotReplacement, DoesNotHideWhatIsNoNumber) {
  using Fixture = TestFixture;
  const auto lu = Factorization::incomplete_lu;
  const double inf = std::numeric_limits<double>::infinity();
  for (const double value : {std::nan(""), inf, -inf}) {
    auto A = this->random_values("grid2d:20", lu);
    A.at(123, 123) = Fixture::scalar(value);
    try {
      Fixture::factorise(A, Fixture::replacing(0.3, lu));
      ADD_FAILURE() << "taken";
    } catch (const Strata::FactorizationError& error) {
      EXPECT_EQ(error.row(), 123);
    }
  }
  // Nothing to measure a pivot by.
  for (const auto kind : all_kinds) {
    auto A = this->random_values("diagonal:30", kind);
    for (auto& v : A.values) v = TypeParam(3);
    A.at(17, 17) = TypeParam(0);
    try {
      Fixture::factorise(A, Fixture::replacing(0.3, kind));
      ADD_FAILURE() << "taken";
    } catch (const Strata::FactorizationError& error) {
      EXPECT_EQ(kind, lu);
      EXPECT_EQ(error.row(), 17);
    } catch (const Strata::IndefiniteError& error) {
      EXPECT_NE(kind, lu);
      EXPECT_EQ(error.row(), 17);
    }
  }
}

TYPED_TEST(PivotReplacement, RefusesThresholdsThatMeanNothing) {
  using Fixture = TestFixture;
  const auto A = this->random_values("grid2d:5", Factorization::incomplete_lu);
  std::vector<double> refused{-0.1, 1.5, std::nan("")};
  // Zero in single precision.
  if (sizeof(typename Fixture::Real) == 4) refused.push_back(1e-60);
  for (const double threshold : refused)
    EXPECT_THROW(
        Fixture::factorise(
            A, Fixture::replacing(threshold, Factorization::incomplete_lu)),
        Strata::OptionError)
        << threshold;
}

TYPED_TEST(PivotReplacement, TakesNoRows) {
  HostMatrix<TypeParam> none;
  const auto factors = TestFixture::factorise(
      none, TestFixture::replacing(0.1, Factorization::incomplete_lu));
  EXPECT_EQ(factors.report().replaced_pivots, 0);
}

}  // namespace
