// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ILU(k) by the names of Kokkos Kernels.
#include <gtest/gtest.h>

#include <Strata_Spiluk.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Strata::Experimental::SPILUKAlgorithm;
using Wide = std::complex<double>;

template <class Scalar>
Scalar random_number() {
  using Real = RealOf<Scalar>;
  std::uniform_real_distribution<double> part(-1, 1);
  const double real = part(Strata::generator());
  if constexpr (std::is_same<Real, Scalar>::value) {
    return static_cast<Scalar>(real);
  } else {
    return Scalar(static_cast<Real>(real),
                  static_cast<Real>(part(Strata::generator())));
  }
}

/// New values with a dominant diagonal.
template <class Scalar>
void change_values(HostMatrix<Scalar>& A) {
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double sum = 1;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      A.values[k] = random_number<Scalar>();
      if (A.entries[k] != i) sum += std::abs(wide(A.values[k]));
    }
    A.at(i, i) = Scalar(static_cast<RealOf<Scalar>>(sum));
  }
}

/// Sorted rows with their diagonal and some entries to either side.
template <class Scalar>
HostMatrix<Scalar> random_matrix(std::int64_t rows, double entries_a_row) {
  HostMatrix<Scalar> A;
  A.rows = A.columns = rows;
  std::bernoulli_distribution stored(
      std::min(1., entries_a_row / static_cast<double>(rows)));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < rows; ++j)
      if (i == j || stored(Strata::generator())) {
        A.entries.push_back(j);
        A.values.push_back(Scalar(0));
      }
    A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
  }
  change_values(A);
  return A;
}

/// ILU(level) by plain loops over dense arrays: levels of fill by the rule of
/// sums, elimination in wide arithmetic on what is kept.
struct Reference {
  std::int64_t n;
  std::vector<char> kept;
  std::vector<Wide> lu;

  template <class Scalar>
  Reference(const HostMatrix<Scalar>& A, std::int64_t level)
      : n(A.rows), kept(n * n, 0), lu(n * n) {
    std::vector<std::int64_t> of(n * n, std::int64_t{1} << 40);
    for (std::int64_t i = 0; i < n; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        of[i * n + A.entries[k]] = 0;
        lu[i * n + A.entries[k]] = wide(A.values[k]);
      }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < i; ++k)
        for (std::int64_t j = k + 1; j < n; ++j)
          of[i * n + j] =
              std::min(of[i * n + j], of[i * n + k] + of[k * n + j] + 1);
    for (std::int64_t at = 0; at < n * n; ++at) kept[at] = of[at] <= level;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < i; ++k) {
        if (!kept[i * n + k]) continue;
        lu[i * n + k] /= lu[k * n + k];
        for (std::int64_t j = k + 1; j < n; ++j)
          if (kept[i * n + j] && kept[k * n + j])
            lu[i * n + j] -= lu[i * n + k] * lu[k * n + j];
      }
  }
};

/// A matrix and its factors on the device, by the calls of a user.
template <class Scalar, class Ordinal = int, class Offset = int>
struct Problem {
  using Handle =
      Strata::Experimental::KokkosKernelsHandle<Offset, Ordinal, Scalar, Space,
                                                Memory, Memory>;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, Ordinal, Space, void, Offset>;
  using RowMap = Kokkos::View<Offset*, Memory>;
  using Entries = Kokkos::View<Ordinal*, Memory>;
  using Values = Kokkos::View<Scalar*, Memory>;
  static constexpr double eps = epsilon_of<Scalar>;

  HostMatrix<Scalar> host;
  Matrix A;
  /// Of all copies.
  std::shared_ptr<Handle> shared = std::make_shared<Handle>();
  Ordinal level;
  RowMap L_row_map, U_row_map;
  Entries L_entries, U_entries;
  Values L_values, U_values;

  explicit Problem(const HostMatrix<Scalar>& from, Ordinal fill_level = 0,
                   std::size_t room = 0)
      : host(from),
        A(from.template to_device<Matrix>()),
        level(fill_level),
        L_row_map("L_row_map", from.rows + 1),
        U_row_map("U_row_map", from.rows + 1) {
    if (room == 0) room = static_cast<std::size_t>(from.rows * from.rows + 1);
    handle().create_spiluk_handle(
        SPILUKAlgorithm::SEQLVLSCHD_TP1, static_cast<Offset>(from.rows),
        static_cast<Offset>(room), static_cast<Offset>(room));
    L_entries = Entries("L_entries", handle().get_spiluk_handle()->get_nnzL());
    U_entries = Entries("U_entries", handle().get_spiluk_handle()->get_nnzU());
  }
  Handle& handle() const { return *shared; }
  void symbolic() {
    Strata::spiluk_symbolic(&handle(), level, A.graph.row_map, A.graph.entries,
                            L_row_map, L_entries, U_row_map, U_entries);
  }
  void resize() {
    const auto& made = *handle().get_spiluk_handle();
    Kokkos::resize(L_entries, made.get_nnzL());
    Kokkos::resize(U_entries, made.get_nnzU());
    L_values = Values("L_values", made.get_nnzL());
    U_values = Values("U_values", made.get_nnzU());
  }
  void numeric() {
    Strata::spiluk_numeric(&handle(), level, A.graph.row_map, A.graph.entries,
                           A.values, L_row_map, L_entries, L_values, U_row_map,
                           U_entries, U_values);
  }
  void take_values() {
    const auto h = Kokkos::create_mirror_view(A.values);
    std::copy(host.values.begin(), host.values.end(), h.data());
    Kokkos::deep_copy(A.values, h);
  }
  HostMatrix<Scalar> factor(bool lower) const {
    Kokkos::fence();
    const auto& values = lower ? L_values : U_values;
    return HostMatrix<Scalar>(Matrix(
        "factor", static_cast<Ordinal>(host.rows),
        static_cast<Ordinal>(host.rows), static_cast<Offset>(values.extent(0)),
        values, lower ? L_row_map : U_row_map, lower ? L_entries : U_entries));
  }

  /// Against the reference: patterns entry by entry in their order, values to
  /// rounding of dominant rows.
  void expect_right() const {
    const Reference expected(host, level);
    const auto n = host.rows;
    const auto L = factor(true), U = factor(false);
    for (std::int64_t i = 0; i < n; ++i) {
      std::vector<std::int64_t> lower, upper;
      for (std::int64_t j = 0; j < n; ++j)
        if (expected.kept[i * n + j]) {
          if (j < i) lower.push_back(j);
          if (j >= i) upper.push_back(j);
        }
      lower.push_back(i);
      const auto row_of = [i](const HostMatrix<Scalar>& factor) {
        return std::vector<std::int64_t>(
            factor.entries.begin() + factor.row_map[i],
            factor.entries.begin() + factor.row_map[i + 1]);
      };
      ASSERT_EQ(row_of(L), lower) << "row " << i;
      ASSERT_EQ(row_of(U), upper) << "row " << i;
      const double size = std::abs(expected.lu[i * n + i]);
      for (auto k = L.row_map[i]; k < L.row_map[i + 1]; ++k) {
        const auto j = L.entries[k];
        const Wide value = j == i ? Wide(1) : expected.lu[i * n + j];
        ASSERT_LE(std::abs(wide(L.values[k]) - value), j == i ? 0 : 100 * eps)
            << "L, row " << i << ", column " << j;
      }
      for (auto k = U.row_map[i]; k < U.row_map[i + 1]; ++k)
        ASSERT_LE(
            std::abs(wide(U.values[k]) - expected.lu[i * n + U.entries[k]]),
            100 * eps * std::max(1., size))
            << "U, row " << i << ", column " << U.entries[k];
    }
  }
};

template <class Scalar>
struct Spiluk : testing::Test {};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(Spiluk, Scalars, );

template <class Scalar, class Ordinal, class Offset>
void expect_factors_of_all_levels() {
  for (const int level : {0, 1, 2, 5, 1000}) {
    SCOPED_TRACE("level " + std::to_string(level));
    Problem<Scalar, Ordinal, Offset> p(random_matrix<Scalar>(60, 3),
                                       static_cast<Ordinal>(level));
    p.symbolic();
    p.resize();
    p.numeric();
    p.expect_right();
    const auto first = p.factor(true).values;
    // The same analysis, the same bits; then other values.
    p.numeric();
    EXPECT_EQ(p.factor(true).values, first);
    for (int step = 0; step < 2; ++step) {
      change_values(p.host);
      p.take_values();
      p.numeric();
      p.expect_right();
    }
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(Spiluk, FactorsAreThoseOfAPlainElimination) {
  expect_factors_of_all_levels<TypeParam, int, int>();
}
TYPED_TEST(Spiluk, FactorsOfAllIndexTypesAreThoseOfAPlainElimination) {
  expect_factors_of_all_levels<TypeParam, std::int64_t, int>();
  expect_factors_of_all_levels<TypeParam, int, std::size_t>();
  expect_factors_of_all_levels<TypeParam, std::int64_t, std::size_t>();
}

TYPED_TEST(Spiluk, FactorsOfSmallAndUnevenMatricesAreRight) {
  using Scalar = TypeParam;
  for (const int level : {0, 1, 3}) {
    std::vector<HostMatrix<Scalar>> matrices{
        random_matrix<Scalar>(1, 1), random_matrix<Scalar>(2, 2),
        random_matrix<Scalar>(20, 20), random_matrix<Scalar>(90, 0)};
    // An arrow: its first row and column are full, so that level 1 fills it.
    HostMatrix<Scalar> arrow;
    arrow.rows = arrow.columns = 70;
    for (std::int64_t i = 0; i < 70; ++i) {
      for (std::int64_t j = 0; j < 70; ++j)
        if (i == 0 || j == 0 || i == j) {
          arrow.entries.push_back(j);
          arrow.values.push_back(Scalar(0));
        }
      arrow.row_map.push_back(static_cast<std::int64_t>(arrow.entries.size()));
    }
    change_values(arrow);
    matrices.push_back(arrow);
    for (const auto& A : matrices) {
      SCOPED_TRACE(std::to_string(A.rows) + " rows, level " +
                   std::to_string(level));
      Problem<Scalar> p(A, level);
      p.symbolic();
      p.resize();
      p.numeric();
      p.expect_right();
    }
  }
}

TEST(SpilukHandle, SaysWhatThereIs) {
  Problem<double> p(random_matrix<double>(50, 3), 1, 2000);
  auto& handle = *p.handle().get_spiluk_handle();
  EXPECT_EQ(handle.get_nrows(), 50u);
  EXPECT_EQ(handle.get_nnzL(), 2000u);
  EXPECT_EQ(handle.get_nnzU(), 2000u);
  EXPECT_EQ(handle.get_block_size(), 0u);
  EXPECT_FALSE(handle.is_block_enabled());
  EXPECT_FALSE(handle.is_symbolic_complete());
  handle.set_team_size(64);
  handle.set_vector_size(8);
  EXPECT_EQ(handle.get_team_size(), 64);
  EXPECT_EQ(handle.get_vector_size(), 8);
  p.symbolic();
  EXPECT_TRUE(handle.is_symbolic_complete());
  const Reference expected(p.host, 1);
  std::size_t lower = 0, upper = 0, levels = 0;
  std::vector<std::size_t> level(50, 0);
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < 50; ++j) {
      if (!expected.kept[i * 50 + j]) continue;
      if (j <= i) ++lower;
      if (j >= i) ++upper;
      if (j < i) level[i] = std::max(level[i], level[j] + 1);
    }
    levels = std::max(levels, level[i] + 1);
  }
  EXPECT_EQ(handle.get_nnzL(), lower);
  EXPECT_EQ(handle.get_nnzU(), upper);
  EXPECT_EQ(handle.get_num_levels(), levels);
  EXPECT_GT(handle.get_bytes(), (lower + upper) * 12);
  handle.set_nrows(50);
  EXPECT_TRUE(handle.is_symbolic_complete());
  handle.set_nrows(51);
  EXPECT_FALSE(handle.is_symbolic_complete());
  handle.reset_handle(7, 8, 9);
  EXPECT_EQ(handle.get_nrows(), 7u);
  EXPECT_EQ(handle.get_nnzL(), 8u);
  EXPECT_EQ(handle.get_nnzU(), 9u);
  handle.set_nnzL(3);
  handle.set_nnzU(4);
  EXPECT_EQ(handle.get_nnzL(), 3u);
  EXPECT_EQ(handle.get_nnzU(), 4u);
  handle.set_algorithm(SPILUKAlgorithm::SEQLVLSCHD_RP);
  EXPECT_EQ(handle.get_algorithm(), SPILUKAlgorithm::SEQLVLSCHD_RP);
  EXPECT_STREQ(to_string(handle.get_algorithm()), "SEQLVLSCHD_RP");
  p.handle().destroy_spiluk_handle();
  EXPECT_EQ(p.handle().get_spiluk_handle(), nullptr);
}

TEST(SpilukHandle, EveryOverloadWorksInEitherNamespace) {
  Problem<double> p(random_matrix<double>(40, 4), 2);
  const auto& A = p.A.graph;
  const auto numeric_and_expect = [&] {
    p.resize();
    Strata::Experimental::spiluk_numeric(
        &p.handle(), p.level, A.row_map, A.entries, p.A.values, p.L_row_map,
        p.L_entries, p.L_values, p.U_row_map, p.U_entries, p.U_values);
    p.expect_right();
    Kokkos::deep_copy(p.L_values, 0.);
    Strata::spiluk_numeric(Space(), &p.handle(), p.level, A.row_map, A.entries,
                           p.A.values, p.L_row_map, p.L_entries, p.L_values,
                           p.U_row_map, p.U_entries, p.U_values);
    p.expect_right();
  };
  // The number of streams of later releases.
  Strata::spiluk_symbolic(&p.handle(), p.level, A.row_map, A.entries,
                          p.L_row_map, p.L_entries, p.U_row_map, p.U_entries,
                          3);
  numeric_and_expect();
  Kokkos::deep_copy(p.L_row_map, 0);
  Kokkos::deep_copy(p.U_entries, 0);
  Strata::Experimental::spiluk_symbolic(Space(), &p.handle(), p.level,
                                        A.row_map, A.entries, p.L_row_map,
                                        p.L_entries, p.U_row_map, p.U_entries);
  numeric_and_expect();
}

TEST(SpilukHandle, FactorsMayLieInLongerArrays) {
  Problem<double> p(random_matrix<double>(40, 4), 1, 1500);
  Kokkos::deep_copy(p.L_entries, -7);
  p.symbolic();
  using Values = Kokkos::View<double*, Memory>;
  p.L_values = Values("L_values", 1500);
  p.U_values = Values("U_values", 1500);
  Kokkos::deep_copy(p.L_values, -7.);
  p.numeric();
  const auto used = p.handle().get_spiluk_handle()->get_nnzL();
  ASSERT_LT(used, 1500u);
  const auto entries =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.L_entries);
  const auto values =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.L_values);
  for (std::size_t k = used; k < 1500; ++k) {
    ASSERT_EQ(entries(k), -7);
    ASSERT_EQ(values(k), -7.);
  }
  p.expect_right();
}

TEST(SpilukHandle, NoRowsAreNoError) {
  HostMatrix<double> none;
  Problem<double> p(none, 2);
  p.symbolic();
  EXPECT_EQ(p.handle().get_spiluk_handle()->get_nnzL(), 0u);
  EXPECT_EQ(p.handle().get_spiluk_handle()->get_num_levels(), 0u);
  p.resize();
  p.numeric();
}

template <class Fault, class F>
void expect_error(const F& f, const std::string& argument,
                  const std::string& problem) {
  try {
    f();
    ADD_FAILURE() << "no error: " << problem;
  } catch (const Fault& error) {
    EXPECT_EQ(error.argument(), argument);
    EXPECT_NE(error.problem().find(problem), std::string::npos) << error.what();
  }
}

TEST(SpilukErrors, OfTheSymbolicPhaseUndoTheAnalysis) {
  using Handle = Problem<double>::Handle;
  Handle empty;
  Problem<double> p(random_matrix<double>(30, 3), 1);
  const auto& A = p.A.graph;
  auto& handle = *p.handle().get_spiluk_handle();
  using Entries = Problem<double>::Entries;
  using RowMap = Problem<double>::RowMap;
  const auto symbolic = [&](auto* of, int level, const auto& row_map,
                            const auto& entries, const auto& L_row_map,
                            const auto& L_entries, const auto& U_entries) {
    Strata::spiluk_symbolic(of, level, row_map, entries, L_row_map, L_entries,
                            p.U_row_map, U_entries);
  };
  expect_error<Strata::HandleError>(
      [&] {
        symbolic(&empty, 1, A.row_map, A.entries, p.L_row_map, p.L_entries,
                 p.U_entries);
      },
      "handle", "has no spiluk handle");
  const auto expect_undone = [&](const auto& call, auto fault,
                                 const std::string& argument,
                                 const std::string& problem) {
    p.symbolic();
    ASSERT_TRUE(handle.is_symbolic_complete());
    Kokkos::deep_copy(p.L_row_map, -3);
    expect_error<std::decay_t<decltype(*fault)>>(call, argument, problem);
    EXPECT_FALSE(handle.is_symbolic_complete());
    const auto row_map =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.L_row_map);
    for (std::size_t i = 0; i < row_map.extent(0); ++i)
      ASSERT_EQ(row_map(i), -3);
    expect_error<Strata::HandleError>([&] { handle.get_num_levels(); },
                                      "handle", "has not been analysed");
  };
  Strata::SizeMismatchError* const size = nullptr;
  Strata::OptionError* const option = nullptr;
  expect_undone(
      [&] {
        symbolic(&p.handle(), -1, A.row_map, A.entries, p.L_row_map,
                 p.L_entries, p.U_entries);
      },
      option, "fill_lev", "-1 is negative");
  expect_undone(
      [&] {
        symbolic(&p.handle(), 1, RowMap("r", 30), A.entries, p.L_row_map,
                 p.L_entries, p.U_entries);
      },
      size, "A_row_map", "has 30 offsets, the handle was created for 30 rows");
  expect_undone(
      [&] {
        symbolic(&p.handle(), 1, A.row_map, A.entries, RowMap("r", 32),
                 p.L_entries, p.U_entries);
      },
      size, "L_row_map", "has 32 offsets");
  expect_undone(
      [&] {
        symbolic(&p.handle(), 1, A.row_map, A.entries, p.L_row_map,
                 Entries("e", 29), p.U_entries);
      },
      size, "L_entries", "has 29 elements, the factor ");
  expect_undone(
      [&] {
        symbolic(&p.handle(), 1, A.row_map, A.entries, p.L_row_map, p.L_entries,
                 Entries("e", 0));
      },
      size, "U_entries", "has 0 elements, the factor ");
  EXPECT_THROW(p.handle().create_spiluk_handle(SPILUKAlgorithm::SEQLVLSCHD_TP1,
                                               9, 9, 9, 3),
               Strata::OptionError);
  EXPECT_THROW(handle.reset_handle(9, 9, 9, 3), Strata::OptionError);
  EXPECT_THROW(handle.set_algorithm(static_cast<SPILUKAlgorithm>(9)),
               Strata::OptionError);
  EXPECT_EQ(p.handle().get_spiluk_handle(), &handle);
  EXPECT_EQ(handle.get_nrows(), 30u);
}

TEST(SpilukErrors, OfMatricesNameTheRow) {
  const auto fail = [](HostMatrix<double> A, auto fault, std::int64_t row) {
    for (const int level : {0, 2}) {
      Problem<double> p(A, level, 400);
      try {
        p.symbolic();
        ADD_FAILURE() << "no error";
      } catch (const std::decay_t<decltype(*fault)>& error) {
        EXPECT_EQ(error.row(), row);
      }
    }
  };
  const auto good = random_matrix<double>(10, 10);
  auto A = good;
  std::swap(A.entries[A.row_map[4]], A.entries[A.row_map[4] + 1]);
  Strata::UnsortedRowError* const unsorted = nullptr;
  fail(A, unsorted, 4);
  A = good;
  A.entries[A.row_map[6] + 1] = A.entries[A.row_map[6]];
  Strata::DuplicateEntryError* const duplicate = nullptr;
  fail(A, duplicate, 6);
  A = good;
  A.entries[A.row_map[3]] = 11;
  Strata::ColumnRangeError* const range = nullptr;
  fail(A, range, 3);
  A = HostMatrix<double>();
  A.rows = A.columns = 3;
  A.row_map = {0, 1, 2, 3};
  A.entries = {0, 0, 2};
  A.values = {1, 1, 1};
  Strata::MissingDiagonalError* const diagonal = nullptr;
  fail(A, diagonal, 1);
}

TEST(SpilukErrors, OfTheNumericPhaseWriteNothing) {
  for (const int level : {0, 2}) {
    SCOPED_TRACE("level " + std::to_string(level));
    Problem<double> p(random_matrix<double>(30, 3), level);
    expect_error<Strata::HandleError>([&] { p.numeric(); }, "handle",
                                      "has not been analysed");
    p.symbolic();
    p.resize();
    p.numeric();
    const auto L = p.factor(true).values, U = p.factor(false).values;
    const auto expect_refused = [&](auto fault, const auto& call,
                                    const std::string& argument,
                                    const std::string& problem) {
      expect_error<std::decay_t<decltype(*fault)>>(call, argument, problem);
      EXPECT_EQ(p.factor(true).values, L);
      EXPECT_EQ(p.factor(false).values, U);
    };
    Strata::OptionError* const option = nullptr;
    Strata::SizeMismatchError* const size = nullptr;
    Strata::PatternMismatchError* const pattern = nullptr;
    Strata::FactorizationError* const pivot = nullptr;
    Strata::ZeroDiagonalError* const zero = nullptr;
    Strata::AliasError* const alias = nullptr;
    const auto numeric = [](Problem<double>& q) {
      return [&q] { q.numeric(); };
    };
    auto other = p;
    ++other.level;
    expect_refused(option, numeric(other), "fill_lev",
                   "that of spiluk_symbolic was " + std::to_string(level));
    other = p;
    other.U_values = p.L_values;
    if (p.L_values.extent(0) >= p.U_values.extent(0))
      expect_refused(alias, numeric(other), "U_values", "shares memory");
    other = p;
    other.L_values = Problem<double>::Values("short", p.L_values.extent(0) - 1);
    expect_refused(size, numeric(other), "L_values", "elements, not");
    other = p;
    other.U_entries =
        Problem<double>::Entries("short", p.U_entries.extent(0) - 1);
    expect_refused(size, numeric(other), "U_entries", "elements, not");
    other = p;
    other.U_row_map = Problem<double>::RowMap("long", 32);
    expect_refused(size, numeric(other), "U_row_map", "elements, not");
    other = p;
    other.L_entries = Problem<double>::Entries("zeros", p.L_entries.extent(0));
    expect_refused(pattern, numeric(other), "L_entries",
                   "not what spiluk_symbolic made");
    other = p;
    other.U_row_map = Problem<double>::RowMap("zeros", 31);
    expect_refused(pattern, numeric(other), "U_row_map",
                   "not what spiluk_symbolic made");
    {
      // As many entries, one of them elsewhere.
      auto moved = p.host;
      for (std::int64_t i = 0; i < 30; ++i) {
        const auto last = moved.row_map[i + 1] - 1;
        if (moved.entries[last] == i || moved.entries[last] == 29) continue;
        ++moved.entries[last];
        break;
      }
      ASSERT_NE(moved.entries, p.host.entries);
      other = p;
      other.A = moved.to_device<Problem<double>::Matrix>();
      expect_refused(pattern, numeric(other), "A_entries",
                     "the pattern that was analysed");
    }
    const auto with_values = [&](const auto& change) {
      auto changed = p.host;
      change(changed);
      auto made = p;
      made.A = changed.to_device<Problem<double>::Matrix>();
      return made;
    };
    other = with_values([](auto& A) { A.at(7, 7) = 0; });
    expect_refused(zero, numeric(other), "A", "row 7");
    other = with_values([](auto& A) {
      A.at(11, 11) = std::numeric_limits<double>::quiet_NaN();
    });
    expect_refused(pivot, numeric(other), "A", "row 11");
    other = with_values(
        [](auto& A) { A.at(0, 0) = std::numeric_limits<double>::infinity(); });
    expect_refused(pivot, numeric(other), "A", "row 0");
    // All of that has changed nothing.
    p.numeric();
    p.expect_right();
  }
}

TEST(SpilukStreams, FactorsOfSeveralInstancesAreRight) {
  const int count = 3, level = 1;
  std::vector<std::unique_ptr<Problem<double>>> problems;
  std::vector<Space> spaces(count);
  std::vector<Problem<double>::Handle*> handles;
  using P = Problem<double>;
  std::vector<decltype(P::Matrix::staticcrsgraph_type::row_map)> A_row_map;
  std::vector<decltype(P::Matrix::staticcrsgraph_type::entries)> A_entries;
  std::vector<P::Matrix::values_type> A_values;
  std::vector<P::RowMap> L_row_map, U_row_map;
  std::vector<P::Entries> L_entries, U_entries;
  std::vector<P::Values> L_values, U_values;
  for (int i = 0; i < count; ++i) {
    problems.push_back(
        std::make_unique<P>(random_matrix<double>(20 + 10 * i, 4), level));
    P& p = *problems.back();
    p.symbolic();
    p.resize();
    handles.push_back(&p.handle());
    A_row_map.push_back(p.A.graph.row_map);
    A_entries.push_back(p.A.graph.entries);
    A_values.push_back(p.A.values);
    L_row_map.push_back(p.L_row_map);
    U_row_map.push_back(p.U_row_map);
    L_entries.push_back(p.L_entries);
    U_entries.push_back(p.U_entries);
    L_values.push_back(p.L_values);
    U_values.push_back(p.U_values);
  }
  const auto numeric = [&] {
    Strata::Experimental::spiluk_numeric_streams(
        spaces, handles, level, A_row_map, A_entries, A_values, L_row_map,
        L_entries, L_values, U_row_map, U_entries, U_values);
  };
  numeric();
  for (const auto& p : problems) p->expect_right();

  const auto expect_refused = [&](auto fault, const std::string& argument,
                                  const std::string& problem) {
    for (const auto& p : problems) Kokkos::deep_copy(p->L_values, -1.);
    expect_error<std::decay_t<decltype(*fault)>>(numeric, argument, problem);
    for (const auto& p : problems)
      for (const double v : p->factor(true).values) ASSERT_EQ(v, -1.);
  };
  Strata::SizeMismatchError* const size = nullptr;
  Strata::AliasError* const alias = nullptr;
  U_entries.pop_back();
  expect_refused(size, "U_entries_v", "has 2 elements, execspace_v 3");
  U_entries.push_back(problems[2]->U_entries);
  std::swap(handles[1], handles[0]);
  expect_refused(size, "A_row_map", "elements, not");
  std::swap(handles[1], handles[0]);
  handles[2] = handles[0];
  expect_refused(alias, "handle_v", "one handle at 0 and 2");
  handles[2] = &problems[2]->handle();
  const auto own = U_values[0];
  U_values[0] = U_values[2];
  expect_refused(alias, "U_values_v", "factors 0 and 2 share memory");
  U_values[0] = own;
  numeric();
  for (const auto& p : problems) p->expect_right();
}

}  // namespace
