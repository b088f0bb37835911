// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IncompleteFactorization on a pattern that the caller gives.
#include <gtest/gtest.h>

#include <Strata_Error.hpp>
#include <limits>

#include "GivenPatternCases.hpp"

namespace {

using Options = Strata::IncompleteFactorizationOptions;

template <class Scalar>
struct GivenPattern : testing::Test {
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Host = HostMatrix<Scalar>;

  static Factors factorise(const Host& A, const Host& pattern,
                           const Options& options = {},
                           Factorization kind = Factorization::incomplete_lu) {
    return Factors(Device(), A.template to_device<Crs<Scalar>>(), kind,
                   pattern.template to_device<Crs<Scalar>>().graph, options);
  }
  static double largest(const Host& A) {
    double made = 0;
    for (const Scalar& v : A.values) made = std::max(made, std::abs(wide(v)));
    return made;
  }
  /// The report says of growth and pivots what the factors do.
  static void expect_growth(const Host& A, const Factors& factors) {
    const Host L(factors.lower(Device())), U(factors.upper(Device()));
    const auto& report = factors.report();
    const auto near = [](double a, double b) {
      EXPECT_NEAR(a, b, 10 * epsilon_of<Scalar> * b);
    };
    near(report.largest_multiplier, largest(L));
    near(report.growth, largest(U) / largest(A));
    double smallest = std::numeric_limits<double>::max();
    for (std::int64_t i = 0; i < A.rows; ++i) {
      double of_row = 0;
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        of_row = std::max(of_row, std::abs(wide(A.values[k])));
      smallest =
          std::min(smallest, std::abs(wide(U.values[U.row_map[i]])) / of_row);
    }
    near(report.smallest_pivot, smallest);
  }
};
TYPED_TEST_SUITE(GivenPattern, Scalars);

TYPED_TEST(GivenPattern, OfCompleteEliminationGivesTheFactorsOfDenseLu) {
  for (const int per_row : {1, 3, 6}) {
    const auto A = random_matrix<TypeParam>(70, per_row, true);
    const auto pattern = symbolic(A);
    const auto factors = this->factorise(A, pattern);
    expect_product(A, A, factors);
    const HostMatrix<TypeParam> L(factors.lower(Device())),
        U(factors.upper(Device()));
    const auto l = dense(L), u = dense(U), lu = dense_lu(dense(A), A.rows);
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t j = 0; j < A.rows; ++j)
        ASSERT_NEAR(
            std::abs((j < i ? l : u)[i * A.rows + j] - lu[i * A.rows + j]), 0,
            1e3 * epsilon_of<TypeParam> * per_row);
    EXPECT_EQ(factors.report().fill_entries,
              std::int64_t(pattern.entries.size() - A.entries.size()));
    this->expect_growth(A, factors);
    EXPECT_LE(factors.report().growth, 2);
    const auto b = random_vector<TypeParam>(A.rows);
    const Vector<TypeParam> x("x", A.rows);
    factors.apply(Device(), b, x);
    EXPECT_LE(relative_residual(A, on_host(b), on_host(x)),
              100 * epsilon_of<TypeParam>);
  }
}

/// What users of other libraries' symbolic factorisations come with: A, and
/// permutations and scalings that make `moved` of it, whose pattern is given.
TYPED_TEST(GivenPattern, GoesWithPermutationsAndScalings) {
  using Real = Strata::Detail::RealOf<TypeParam>;
  const auto moved = random_matrix<TypeParam>(60, 3, true);
  const auto n = moved.rows;
  std::vector<int> new_row(n), new_column(n);
  std::vector<Real> row_scale, column_scale;
  for (std::int64_t i = 0; i < n; ++i) {
    new_row[i] = new_column[i] = static_cast<int>(i);
    row_scale.push_back(std::ldexp(Real(1), int(generator()() % 9) - 4));
    column_scale.push_back(std::ldexp(Real(1), int(generator()() % 9) - 4));
  }
  std::shuffle(new_row.begin(), new_row.end(), generator());
  std::shuffle(new_column.begin(), new_column.end(), generator());
  std::vector<std::int64_t> old_row(n), old_column(n);
  for (std::int64_t i = 0; i < n; ++i) {
    old_row[new_row[i]] = i;
    old_column[new_column[i]] = i;
  }
  Rows rows(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = moved.row_map[i]; k < moved.row_map[i + 1]; ++k)
      rows[old_row[i]].insert(old_column[moved.entries[k]]);
  auto A = pattern_of<TypeParam>(rows);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = moved.row_map[i]; k < moved.row_map[i + 1]; ++k) {
      const auto r = old_row[i], c = old_column[moved.entries[k]];
      A.at(r, c) = moved.values[k] / TypeParam(row_scale[r] * column_scale[c]);
    }
  const auto on_device = [](const auto& from) {
    using T = typename std::decay_t<decltype(from)>::value_type;
    return Kokkos::create_mirror_view_and_copy(
        typename Device::memory_space(),
        Kokkos::View<const T*, Kokkos::HostSpace,
                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from.data(),
                                                              from.size()));
  };
  Strata::FactorTransformation<TypeParam, Device> how;
  how.row_permutation(on_device(new_row))
      .column_permutation(on_device(new_column))
      .row_scaling(on_device(row_scale))
      .column_scaling(on_device(column_scale));
  const auto on = A.template to_device<Crs<TypeParam>>();
  const auto pattern = symbolic(moved).template to_device<Crs<TypeParam>>();
  const Strata::IncompleteFactorization factors(
      Device(), on, Factorization::incomplete_lu, pattern.graph, how);
  expect_product(moved, moved, factors);
  this->expect_growth(moved, factors);
  const auto b = random_vector<TypeParam>(n);
  const Vector<TypeParam> x("x", n);
  factors.apply(Device(), b, x);
  EXPECT_LE(relative_residual(A, on_host(b), on_host(x)),
            1e4 * epsilon_of<TypeParam>);
  Options order;
  order.order = Strata::FactorOrder::rcm;
  EXPECT_THROW(
      Strata::IncompleteFactorization(
          Device(), on, Factorization::incomplete_lu, pattern.graph, order),
      Strata::OptionError);
  Options matching;
  matching.scaling = Strata::FactorScaling::matching;
  EXPECT_THROW(
      Strata::IncompleteFactorization(
          Device(), on, Factorization::incomplete_lu, pattern.graph, matching),
      Strata::OptionError);
}

TYPED_TEST(GivenPattern, FactorisesGeneralMatricesWithoutPivoting) {
  for (int i = 0; i < 4; ++i) {
    const auto A = random_matrix<TypeParam>(50, 3, false);
    const auto factors = this->factorise(A, symbolic(A));
    // All that there is, as the pattern is closed.
    Rows all(A.rows);
    for (auto& row : all)
      for (std::int64_t j = 0; j < A.rows; ++j) row.insert(j);
    expect_product(A, pattern_of<TypeParam>(all), factors);
    this->expect_growth(A, factors);
  }
}

/// Blocks, and a second diagonal: long rows, which a GPU eliminates by tiles of
/// fronts; symmetric, or with entries that lack a mirror image.
TYPED_TEST(GivenPattern, MayHaveLargeFronts) {
  for (const double part : {1., 0.7}) {
    Rows rows(230);
    std::bernoulli_distribution stays(part);
    for (std::int64_t i = 0; i < 230; ++i)
      for (std::int64_t j = 0; j < 230; ++j)
        if (i == j || (i / 90 == j / 90 && stays(generator())) ||
            (i + j == 229 && stays(generator())))
          rows[i].insert(j);
    auto A = pattern_of<TypeParam>(rows);
    for (auto& v : A.values) v = random_number<TypeParam>();
    for (std::int64_t i = 0; i < A.rows; ++i) A.at(i, i) += TypeParam(100);
    const auto pattern = symbolic(A);
    const auto factors = this->factorise(A, pattern);
    expect_product(A, pattern, factors);
    this->expect_growth(A, factors);
    const auto again = this->factorise(A, pattern);
    EXPECT_EQ(HostMatrix<TypeParam>(factors.lower(Device())).values,
              HostMatrix<TypeParam>(again.lower(Device())).values);
    const auto b = random_vector<TypeParam>(A.rows);
    const Vector<TypeParam> x("x", A.rows);
    factors.apply(Device(), b, x);
    EXPECT_LE(relative_residual(A, on_host(b), on_host(x)),
              1e3 * epsilon_of<TypeParam>);
  }
}

TYPED_TEST(GivenPattern, NeedNotBeClosedUnderElimination) {
  const auto A = random_matrix<TypeParam>(60, 4, true);
  Rows rows = rows_of(A);
  std::uniform_int_distribution<std::int64_t> column(0, A.rows - 1);
  for (auto& row : rows) row.insert(column(generator()));
  const auto pattern = pattern_of<TypeParam>(rows);
  ASSERT_LT(pattern.entries.size(), symbolic(A).entries.size());
  const auto factors = this->factorise(A, pattern);
  expect_product(A, pattern, factors);
  EXPECT_EQ(factors.report().lower_entries + factors.report().upper_entries,
            std::int64_t(pattern.entries.size()) + A.rows);
}

TYPED_TEST(GivenPattern, TakesNewValues) {
  auto A = random_matrix<TypeParam>(60, 3, true);
  const auto pattern = symbolic(A);
  for (const bool enqueue : {false, true}) {
    Options options;
    options.enqueue_updates = enqueue;
    auto factors = this->factorise(A, pattern, options);
    for (auto& v : A.values) v *= TypeParam(2) + random_number<TypeParam>();
    const auto on_device = A.template to_device<Crs<TypeParam>>();
    if (enqueue)
      factors.enqueue_update_values(Device(), on_device.values);
    else
      factors.update_values(Device(), on_device);
    Device().fence();
    expect_product(A, A, factors);
    if (!enqueue) this->expect_growth(A, factors);
    const auto b = random_vector<TypeParam>(A.rows);
    const Vector<TypeParam> x("x", A.rows);
    factors.apply(Device(), b, x);
    EXPECT_LE(relative_residual(A, on_host(b), on_host(x)),
              1e3 * epsilon_of<TypeParam>);
    EXPECT_THROW(factors.update_values(
                     Device(), pattern.template to_device<Crs<TypeParam>>()),
                 Strata::PatternMismatchError);
  }
}

TYPED_TEST(GivenPattern, NeedsNoStoredDiagonalInA) {
  // [D B; C 0] without a diagonal in the last rows, whose pivots elimination
  // makes.
  const std::int64_t n = 30, m = 10;
  Rows rows(n + m);
  std::uniform_int_distribution<std::int64_t> column(0, n - 1);
  for (std::int64_t i = 0; i < n; ++i) rows[i].insert(i);
  for (std::int64_t i = 0; i < m; ++i)
    for (const auto j : {i, m + i, column(generator())}) {
      rows[n + i].insert(j);
      rows[j].insert(n + i);
    }
  auto A = pattern_of<TypeParam>(rows);
  for (auto& v : A.values) v = TypeParam(2) + random_number<TypeParam>();
  const auto pattern = symbolic(A);
  auto factors = this->factorise(A, pattern);
  expect_product(A, pattern, factors);
  this->expect_growth(A, factors);
  for (auto& v : A.values) v += TypeParam(1);
  factors.update_values(Device(), A.template to_device<Crs<TypeParam>>());
  expect_product(A, pattern, factors);
  EXPECT_THROW(Strata::IncompleteFactorization(
                   Device(), A.template to_device<Crs<TypeParam>>(),
                   Factorization::incomplete_lu),
               Strata::MissingDiagonalError);
}

TYPED_TEST(GivenPattern, ReplacesSmallPivots) {
  auto A = random_matrix<TypeParam>(40, 2, true);
  const auto row = clear_lower_part(A, 5);
  const auto pattern = symbolic(A);
  try {
    this->factorise(A, pattern);
    FAIL();
  } catch (const Strata::FactorizationError& error) {
    EXPECT_EQ(error.row(), row);
  }
  Options options;
  options.small_pivot_threshold = 1e-3;
  const auto factors = this->factorise(A, pattern, options);
  EXPECT_GE(factors.report().replaced_pivots, 1);
  EXPECT_NEAR(factors.report().smallest_pivot, 1e-3, 1e-9);
}

TYPED_TEST(GivenPattern, GivesCompleteCholeskyFactors) {
  const auto A = hermitian<TypeParam>("triangulated:8x7");
  const auto pattern = symbolic(A);
  const auto factors =
      this->factorise(A, pattern, {}, Factorization::incomplete_cholesky);
  expect_product(A, pattern, factors);
  auto rows = rows_of(pattern);
  std::int64_t row = 0;  // that has fill without its mirror image
  for (std::int64_t i = 0; i < A.rows; ++i)
    if (!A.find(A.rows - 1, i) && rows[A.rows - 1].erase(i) > 0) {
      row = i;
      break;
    }
  try {
    this->factorise(A, pattern_of<TypeParam>(rows), {},
                    Factorization::incomplete_cholesky);
    FAIL();
  } catch (const Strata::PatternMismatchError& error) {
    EXPECT_EQ(error.row(), row);
    EXPECT_EQ(error.argument(), "pattern");
    EXPECT_EQ(error.value(), std::to_string(A.rows - 1));
  }
}

TYPED_TEST(GivenPattern, MayHaveOtherIndexTypesAndGoAway) {
  using WideCrs =
      KokkosSparse::CrsMatrix<TypeParam, std::int64_t, Device, void, int>;
  auto A = random_matrix<TypeParam>(40, 3, true);
  auto factors = [&] {
    const auto pattern = symbolic(A).template to_device<WideCrs>();
    return Strata::IncompleteFactorization(
        Device(), A.template to_device<Crs<TypeParam>>(),
        Factorization::incomplete_lu, pattern.graph);
  }();
  for (auto& v : A.values) v *= TypeParam(3);
  factors.update_values(Device(), A.template to_device<Crs<TypeParam>>());
  expect_product(A, A, factors);
}

TYPED_TEST(GivenPattern, OfNoRows) {
  const HostMatrix<TypeParam> none;
  const auto factors = this->factorise(none, none);
  EXPECT_EQ(factors.rows(), 0);
  EXPECT_THROW(this->factorise(none, random_matrix<TypeParam>(3, 1, true)),
               Strata::SizeMismatchError);
}

TYPED_TEST(GivenPattern, NamesWhatIsWrong) {
  const auto A = random_matrix<TypeParam>(40, 3, true);
  const auto whole = symbolic(A);
  const auto expect_error = [&](auto kind, const HostMatrix<TypeParam>& pattern,
                                std::int64_t row) {
    using Error = decltype(kind);
    try {
      this->factorise(A, pattern);
      FAIL() << row;
    } catch (const Error& error) {
      EXPECT_EQ(error.row(), row);
      EXPECT_EQ(error.argument().rfind("pattern", 0), 0u) << error.what();
    }
  };
  auto rows = rows_of(whole);
  std::int64_t row = 11;
  while (A.row_map[row + 1] - A.row_map[row] < 2) ++row;
  const auto k = A.row_map[row];
  rows[row].erase(A.entries[A.entries[k] == row ? k + 1 : k]);
  expect_error(Strata::PatternMismatchError("", "", ""),
               pattern_of<TypeParam>(rows), row);
  rows = rows_of(whole);
  rows[17].erase(17);
  expect_error(Strata::MissingDiagonalError("", "", ""),
               pattern_of<TypeParam>(rows), 17);
  auto pattern = whole;
  row = 39;
  while (pattern.row_map[row + 1] - pattern.row_map[row] < 2) --row;
  std::swap(pattern.entries[pattern.row_map[row]],
            pattern.entries[pattern.row_map[row] + 1]);
  expect_error(Strata::UnsortedRowError("", "", ""), pattern, row);
  pattern = whole;
  pattern.entries[pattern.row_map[5]] = 40;
  expect_error(Strata::ColumnRangeError("", "", ""), pattern, 5);
  pattern = whole;
  pattern.row_map[8] = pattern.row_map[7] - 1;
  expect_error(Strata::RowMapError("", "", ""), pattern, 7);

  EXPECT_THROW(this->factorise(A, random_matrix<TypeParam>(41, 3, true)),
               Strata::SizeMismatchError);
  Options options;
  options.fill_level = 1;
  EXPECT_THROW(this->factorise(A, whole, options), Strata::OptionError);
  options = {};
  options.order = Strata::FactorOrder::coloured;
  EXPECT_THROW(this->factorise(A, whole, options), Strata::OptionError);
}

}  // namespace
