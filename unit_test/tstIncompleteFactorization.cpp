// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Incomplete factors that are made once and applied by one call.
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "FactorizationCase.hpp"
#include "HostMatrix.hpp"
#include "KokkosEvents.hpp"
#include "RandomSeed.hpp"
#include "ReplacedRow.hpp"
#include "Scalars.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Strata::Factorization;
using Strata::Op;
using Options = Strata::FactorizationCase;
using Wide = std::complex<double>;

constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

template <class Scalar>
struct IncompleteFactorization : testing::Test {
  using Crs = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Real = RealOf<Scalar>;
  using Host = HostMatrix<Scalar>;
  static constexpr bool is_complex = !std::is_same<Real, Scalar>::value;
  static constexpr double eps = std::numeric_limits<Real>::epsilon();

  IncompleteFactorization()
      : pattern(Strata::gallery<Crs>(Device(), "triangulated:9x7")) {}

  Scalar random_number() {
    std::uniform_real_distribution<double> part(-1, 1);
    if constexpr (is_complex) {
      const double real = part(random);
      return Scalar(static_cast<Real>(real), static_cast<Real>(part(random)));
    } else {
      return static_cast<Scalar>(part(random));
    }
  }
  /// Values with a dominant diagonal, Hermitian for Cholesky.
  Host random_values(Factorization kind) {
    Host made = pattern;
    for (std::int64_t i = 0; i < made.rows; ++i)
      for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k) {
        const auto j = made.entries[k];
        const Scalar v = random_number();
        if (i == j)
          made.values[k] =
              Scalar(14) + (kind == Factorization::incomplete_cholesky
                                ? Scalar(static_cast<Real>(wide(v).real()))
                                : v);
        else
          made.values[k] = v;
        if constexpr (is_complex) {
          if (kind == Factorization::incomplete_cholesky && j < i)
            made.values[k] = Kokkos::conj(*made.find(j, i));
        } else {
          if (kind == Factorization::incomplete_cholesky && j < i)
            made.values[k] = *made.find(j, i);
        }
      }
    return made;
  }
  Host random_values() { return random_values(Factorization::incomplete_lu); }

  static Factors factorise(const Host& A, const Options& options = {}) {
    return Factors(Device(), A.template to_device<Crs>(), options.kind,
                   options);
  }
  static Options with_transposes() {
    Options options;
    options.transpose = true;
    options.triangular.max_right_hand_sides = 3;
    return options;
  }

  /// ILU(0) by the loops of Saad (2003), Algorithm 10.4, and the product of its
  /// factors, dense.
  static std::vector<Wide> dense_product(const Host& A, double shift = 0) {
    const auto n = A.rows;
    std::vector<Wide> lu(n * n), product(n * n);
    for (std::int64_t i = 0; i < n; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        lu[i * n + A.entries[k]] =
            wide(A.values[k]) * (A.entries[k] == i ? 1 + shift : 1.);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < i; ++k) {
        if (!A.find(i, k)) continue;
        const Wide l = lu[i * n + k] /= lu[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j)
          if (A.find(i, j) && A.find(k, j)) lu[i * n + j] -= l * lu[k * n + j];
      }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k <= std::min(i, j); ++k)
          product[i * n + j] +=
              (k == i ? Wide(1) : lu[i * n + k]) * lu[k * n + j];
    return product;
  }
  /// op(M) x = b, column by column, as far as rounding goes.
  static void expect_solution(const std::vector<Wide>& M, Op op,
                              const std::vector<Scalar>& b,
                              const std::vector<Scalar>& x, std::int64_t n) {
    ASSERT_EQ(b.size(), x.size());
    ASSERT_EQ(b.size() % n, 0u);
    for (std::size_t column = 0; column < b.size(); column += n)
      for (std::int64_t i = 0; i < n; ++i) {
        Wide residual = -wide(b[column + i]);
        double size = std::abs(residual);
        for (std::int64_t j = 0; j < n; ++j) {
          Wide m = op == Op::none ? M[i * n + j] : M[j * n + i];
          if (op == Op::conjugate_transpose) m = std::conj(m);
          const Wide term = m * wide(x[column + j]);
          residual += term;
          size += std::abs(term);
        }
        ASSERT_LE(std::abs(residual), 1e3 * eps * size)
            << to_string(op) << ", row " << i << ", element " << column;
      }
  }

  /// Column after column.
  std::vector<Scalar> random_vectors(std::int64_t columns) {
    std::vector<Scalar> made(pattern.rows * columns);
    for (auto& v : made) v = random_number();
    return made;
  }
  template <class View>
  static void fill(const View& view, const std::vector<Scalar>& from) {
    const auto host = Kokkos::create_mirror_view(view);
    const auto n = static_cast<std::size_t>(view.extent(0));
    for (std::size_t k = 0; k < from.size(); ++k)
      at(host, k % n, k / n) = from[k];
    Kokkos::deep_copy(view, host);
  }
  template <class View>
  static std::vector<Scalar> content(const View& view) {
    Kokkos::fence();
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    std::vector<Scalar> made;
    const std::size_t columns = View::rank == 1 ? 1 : view.extent(1);
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t i = 0; i < view.extent(0); ++i)
        made.push_back(at(host, i, c));
    return made;
  }
  template <class View>
  static auto& at(const View& view, std::size_t i, std::size_t c) {
    if constexpr (View::rank == 1) {
      return view(i + 0 * c);
    } else {
      return view(i, c);
    }
  }

  using One = Kokkos::View<Scalar*, Device>;
  using Left = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;
  using Right = Kokkos::View<Scalar**, Kokkos::LayoutRight, Device>;

  /// For ones.
  std::vector<Scalar> applied(const Factors& factors, Op op = Op::none) const {
    const One b("b", pattern.rows), x("x", pattern.rows);
    Kokkos::deep_copy(b, Scalar(1));
    factors.apply(Device(), b, x, op);
    return content(x);
  }

  template <class B, class X>
  void expect_applied(const Factors& factors, const std::vector<Wide>& M,
                      const B& b, const X& x) {
    const std::int64_t columns =
        B::rank == 1 ? 1 : static_cast<std::int64_t>(b.extent(1));
    const auto given = random_vectors(columns);
    for (const Op op : all_ops) {
      fill(b, given);
      factors.apply(Device(), b, x, op);
      const auto found = content(x);
      expect_solution(M, op, given, found, pattern.rows);
      EXPECT_EQ(content(b), given) << "b is written";
      // The same bits again, and in place.
      factors.apply(Device(), b, x, op);
      EXPECT_EQ(content(x), found);
      factors.apply(Device(), b, b, op);
      EXPECT_EQ(content(b), found);
    }
  }

  std::mt19937 random{Strata::random_seed()};
  Host pattern;
};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(IncompleteFactorization, Scalars);

TYPED_TEST(IncompleteFactorization, SolvesWithTheProductOfItsFactors) {
  using Fixture = TestFixture;
  const auto n = this->pattern.rows;
  for (const auto kind :
       {Factorization::incomplete_lu, Factorization::incomplete_cholesky})
    for (const double shift : {0., 0.25}) {
      SCOPED_TRACE(to_string(kind) + std::string(", shift ") +
                   std::to_string(shift));
      const auto A = this->random_values(kind);
      Options options = Fixture::with_transposes();
      options.kind = kind;
      options.shift = shift;
      const auto factors = Fixture::factorise(A, options);
      const auto M = Fixture::dense_product(A, shift);
      this->expect_applied(factors, M, typename Fixture::One("b", n),
                           typename Fixture::One("x", n));
      // As many as memory was taken for, and more.
      for (const int columns : {1, 3, 5}) {
        const typename Fixture::Left left("left", n, columns),
            other_left("left", n, columns);
        const typename Fixture::Right right("right", n, columns),
            other_right("right", n, columns);
        this->expect_applied(factors, M, left, other_left);
        this->expect_applied(factors, M, right, other_right);
        this->expect_applied(factors, M, left, right);
      }
    }
}

TYPED_TEST(IncompleteFactorization, GivesTheFactorsOfIncompleteLu) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  using Scalar = TypeParam;
  const auto A = this->random_values();
  const auto factors = Fixture::factorise(A);
  const auto expected =
      Strata::incomplete_lu(Device(), A.template to_device<Crs>());
  const auto expect_same = [](const HostMatrix<Scalar>& a,
                              const HostMatrix<Scalar>& b) {
    EXPECT_EQ(a.row_map, b.row_map);
    EXPECT_EQ(a.entries, b.entries);
    EXPECT_EQ(a.values, b.values);
  };
  expect_same(HostMatrix<Scalar>(factors.lower(Device())),
              HostMatrix<Scalar>(expected.L));
  expect_same(HostMatrix<Scalar>(factors.upper(Device())),
              HostMatrix<Scalar>(expected.U));
  using Other =
      KokkosSparse::CrsMatrix<Scalar, std::int64_t, Device, void, std::size_t>;
  expect_same(HostMatrix<Scalar>(factors.template upper<Other>(Device())),
              HostMatrix<Scalar>(expected.U));
  // |(L U - A)_ij| <= 10 m eps (|L| |U|)_ij on the pattern.
  const HostMatrix<Scalar> L(expected.L), U(expected.U);
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    longest = std::max(longest, A.row_map[i + 1] - A.row_map[i]);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      Wide difference = -wide(A.values[k]);
      double size = 0;
      for (std::int64_t m = 0; m < A.rows; ++m) {
        const Scalar *l = L.find(i, m), *u = U.find(m, A.entries[k]);
        if (!l || !u) continue;
        difference += wide(*l) * wide(*u);
        size += std::abs(wide(*l) * wide(*u));
      }
      EXPECT_LE(std::abs(difference),
                10. * static_cast<double>(longest) * Fixture::eps * size);
    }
}

TYPED_TEST(IncompleteFactorization, UpdatesGiveTheBitsOfANewOne) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  for (const auto kind :
       {Factorization::incomplete_lu, Factorization::incomplete_cholesky}) {
    Options options = Fixture::with_transposes();
    options.kind = kind;
    options.shift = 0.125;
    auto factors = Fixture::factorise(this->random_values(kind), options);
    const auto copy = factors;
    for (int time = 0; time < 3; ++time) {
      const auto values = this->random_values(kind);
      factors.update_values(Device(), values.template to_device<Crs>());
      const auto made = Fixture::factorise(values, options);
      for (const Op op : all_ops) {
        EXPECT_EQ(this->applied(factors, op), this->applied(made, op));
        EXPECT_EQ(this->applied(copy, op), this->applied(made, op));
      }
      using Host = HostMatrix<TypeParam>;
      EXPECT_EQ(Host(factors.lower(Device())).values,
                Host(made.lower(Device())).values);
      EXPECT_EQ(Host(factors.upper(Device())).values,
                Host(made.upper(Device())).values);
    }
  }
}

TYPED_TEST(IncompleteFactorization, ARefusedUpdateKeepsTheOldFactors) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  using Host = HostMatrix<TypeParam>;
  for (const auto kind :
       {Factorization::incomplete_lu, Factorization::incomplete_cholesky}) {
    const bool cholesky = kind == Factorization::incomplete_cholesky;
    Options options = Fixture::with_transposes();
    options.kind = kind;
    auto factors = Fixture::factorise(this->random_values(kind), options);
    const auto before = this->applied(factors);
    const auto transposed = this->applied(factors, Op::conjugate_transpose);
    const auto upper = Host(factors.upper(Device())).values;
    const auto lower = Host(factors.lower(Device())).values;
    const auto refused = [&](const auto& bad, auto error, std::int64_t row) {
      try {
        factors.update_values(Device(), bad.template to_device<Crs>());
        ADD_FAILURE() << "taken";
      } catch (const decltype(error)& caught) {
        EXPECT_EQ(caught.row(), row);
      }
      EXPECT_EQ(this->applied(factors), before);
      EXPECT_EQ(this->applied(factors, Op::conjugate_transpose), transposed);
      EXPECT_EQ(Host(factors.upper(Device())).values, upper);
      EXPECT_EQ(Host(factors.lower(Device())).values, lower);
    };
    const Strata::FactorizationError factorization("", "", "", 0);
    const Strata::IndefiniteError indefinite("", "", "", 0);
    const Strata::NotHermitianError not_hermitian("", "", "", 0);
    auto bad = this->random_values(kind);
    bad.at(40, 40) = static_cast<typename Fixture::Real>(std::nan(""));
    if (cholesky)
      refused(bad, not_hermitian, 40);
    else
      refused(bad, factorization, 40);
    // Row `next` less row 0 has nothing left on the diagonal.
    bad = this->random_values(kind);
    const auto next = bad.entries[bad.row_map[0] + 1];
    bad.at(0, 0) = bad.at(next, next) = 1;
    bad.at(0, next) = bad.at(next, 0) = 1;
    if (cholesky)
      refused(bad, indefinite, next);
    else
      refused(bad, factorization, next);
    if (cholesky) {
      bad = this->random_values(kind);
      bad.at(30, 30) = -bad.at(30, 30);
      refused(bad, indefinite, 30);
      bad = this->random_values(kind);
      bad.at(bad.entries[bad.row_map[1] - 1], 0) += TypeParam(1);
      refused(bad, not_hermitian, 0);
    }
    bad = this->random_values(kind);
    bad.at(7, 7) = 0;
    refused(bad, Strata::ZeroDiagonalError("", "", "", 0), 7);
    bad = this->random_values(kind);
    bad.entries[bad.row_map[1] - 1] += 1;  // the last entry of row 0
    refused(bad, Strata::PatternMismatchError("", "", ""), -1);
    const Host larger(Strata::gallery<Crs>(Device(), "triangulated:9x8"));
    refused(larger, Strata::PatternMismatchError("", "", ""), -1);

    const auto good = this->random_values(kind);
    factors.update_values(Device(), good.template to_device<Crs>());
    EXPECT_EQ(this->applied(factors),
              this->applied(Fixture::factorise(good, options)));
  }
}

TYPED_TEST(IncompleteFactorization, MakesOtherSolversForValuesThatNeedThem) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  Options options;
  options.triangular.algorithm = Strata::Algorithm::sync_free;
  options.triangular.merged_levels = 4;
  auto factors = Fixture::factorise(this->random_values(), options);
  const auto copy = factors;
  ASSERT_EQ(factors.report().upper.merged_levels, 4);
  ASSERT_EQ(factors.report().upper.unmerged_rows, 0);
  // A row of U is far larger beside its diagonal, a column of L smaller.
  const auto values = Strata::with_large_row(this->random_values(), 4);
  factors.update_values(Device(), values.template to_device<Crs>());
  EXPECT_GT(factors.report().upper.unmerged_rows, 0);
  const auto expected = this->applied(Fixture::factorise(values, options));
  EXPECT_EQ(this->applied(factors), expected);
  EXPECT_EQ(this->applied(copy), expected);
}

TYPED_TEST(IncompleteFactorization, AppliesWithoutMemoryCopiesAndWaits) {
  using Fixture = TestFixture;
  using Strata::SolverTest::KokkosEvents;
  const auto n = this->pattern.rows;
  const auto factors =
      Fixture::factorise(this->random_values(), Fixture::with_transposes());
  const typename Fixture::One one("one", n);
  const typename Fixture::Left b("b", n, 3);
  const typename Fixture::Right x("x", n, 3);
  Kokkos::deep_copy(b, TypeParam(1));
  Kokkos::deep_copy(one, TypeParam(1));
  const Device exec;
  const auto apply = [&] {
    for (const Op op : all_ops) {
      factors.apply(exec, one, one, op);
      factors.apply(exec, b, x, op);
      factors.apply(exec, x, x, op);
    }
  };
  apply();
  exec.fence();
  const KokkosEvents events(Device::memory_space::name());
  apply();
  const auto counts = events.so_far();
  EXPECT_EQ(counts.allocations, 0) << counts.last;
  EXPECT_EQ(counts.copies, 0) << counts.last;
  // Kokkos tells of the end of a host's kernels as of a fence.
  if (on_gpu<Device>) {
    EXPECT_EQ(counts.fences, 0) << counts.last;
  }
}

TYPED_TEST(IncompleteFactorization, ReportsWhatItIsMadeOf) {
  using Fixture = TestFixture;
  const auto A = this->random_values(Factorization::incomplete_cholesky);
  Options options;
  options.kind = Factorization::incomplete_cholesky;
  const auto plain = Fixture::factorise(A, options).report();
  EXPECT_EQ(plain.kind, Factorization::incomplete_cholesky);
  EXPECT_EQ(plain.rows, A.rows);
  const auto stored = static_cast<std::int64_t>(A.entries.size());
  EXPECT_EQ(plain.entries, stored);
  EXPECT_EQ(plain.lower_entries + plain.upper_entries, stored + A.rows);
  // On a GPU a pool lends the memory of values in the making.
  const std::size_t sets = on_gpu<Device> ? 1 : 2;
  EXPECT_EQ(plain.factor_bytes, static_cast<std::size_t>(stored + A.rows) *
                                        (4 + sets * sizeof(TypeParam)) +
                                    8 * static_cast<std::size_t>(A.rows + 1));
  // Nothing on a host, where one thread takes so few rows in their order, and
  // on a GPU no more than 3.5 times a matrix.
  const auto bytes_of_matrix =
      static_cast<std::size_t>(stored) * (4 + sizeof(TypeParam)) +
      4 * static_cast<std::size_t>(A.rows + 1);
  if (on_gpu<Device>) {
    EXPECT_GT(plain.elimination_bytes, 0u);
    EXPECT_LE(2 * plain.elimination_bytes, 7 * bytes_of_matrix);
  } else {
    EXPECT_EQ(plain.elimination_bytes, 0u);
  }
  EXPECT_EQ(plain.lower.rows, A.rows);
  EXPECT_EQ(plain.plan_bytes, plain.lower.plan_bytes + plain.upper.plan_bytes);
  EXPECT_GT(plain.plan_bytes, 0u);
  EXPECT_EQ(plain.upper_transposed.rows, 0);
  options.transpose = true;
  const auto both = Fixture::factorise(A, options).report();
  EXPECT_EQ(both.upper_transposed.rows, A.rows);
  EXPECT_GT(both.plan_bytes, plain.plan_bytes);
}

TYPED_TEST(IncompleteFactorization, RefusesArgumentsBeforeAnythingIsWritten) {
  using Fixture = TestFixture;
  const auto n = this->pattern.rows;
  const auto A = this->random_values();
  const auto factors = Fixture::factorise(A);
  const typename Fixture::One b("b", n), x("x", n), longer("longer", n + 1);
  Kokkos::deep_copy(b, TypeParam(1));
  EXPECT_THROW(factors.apply(Device(), b, x, Op::transpose),
               Strata::OptionError);
  EXPECT_THROW(factors.apply(Device(), b, x, static_cast<Op>(7)),
               Strata::OptionError);
  EXPECT_THROW(factors.apply(Device(), b, longer), Strata::SizeMismatchError);
  EXPECT_THROW(
      factors.apply(
          Device(), Kokkos::subview(longer, std::make_pair<int, int>(0, n)),
          Kokkos::subview(longer, std::make_pair<int, int>(1, n + 1))),
      Strata::AliasError);
  EXPECT_EQ(Fixture::content(x), std::vector<TypeParam>(n));

  const auto refused = [&](const Options& options) {
    EXPECT_THROW(Fixture::factorise(A, options), Strata::OptionError);
  };
  Options options;
  options.kind = static_cast<Factorization>(9);
  refused(options);
  for (const double shift : {-0.5, std::nan(""), 1e308 * 10}) {
    options = {};
    options.shift = shift;
    refused(options);
  }
  options = {};
  options.triangular.max_right_hand_sides = 0;
  refused(options);
}

TYPED_TEST(IncompleteFactorization, IsEmptyUntilOneIsAssigned) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  typename Fixture::Factors factors;
  const auto A = this->random_values();
  const typename Fixture::One b("b", A.rows);
  const auto expect_empty = [&](auto& empty) {
    EXPECT_THROW(empty.apply(Device(), b, b), Strata::HandleError);
    EXPECT_THROW(empty.update_values(Device(), A.template to_device<Crs>()),
                 Strata::HandleError);
    EXPECT_THROW(empty.rows(), Strata::HandleError);
    EXPECT_THROW(empty.report(), Strata::HandleError);
    EXPECT_THROW(empty.options(), Strata::HandleError);
    EXPECT_THROW(empty.lower(Device()), Strata::HandleError);
  };
  expect_empty(factors);
  factors = Fixture::factorise(A);
  EXPECT_EQ(factors.rows(), A.rows);
  const auto before = this->applied(factors);
  auto moved = std::move(factors);
  expect_empty(factors);
  EXPECT_EQ(this->applied(moved), before);
}

TYPED_TEST(IncompleteFactorization, TakesNoRows) {
  using Crs = typename TestFixture::Crs;
  HostMatrix<TypeParam> none;
  Options options;
  options.transpose = true;
  auto factors = TestFixture::factorise(none, options);
  EXPECT_EQ(factors.rows(), 0);
  const typename TestFixture::One b("b", 0);
  factors.apply(Device(), b, b, Op::conjugate_transpose);
  factors.update_values(Device(), none.template to_device<Crs>());
  EXPECT_EQ(factors.upper(Device()).numRows(), 0);
}

}  // namespace
