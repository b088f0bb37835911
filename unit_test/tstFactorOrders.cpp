// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Orders and scalings of an IncompleteFactorization.
#include <Strata_FactorSolver.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <analysis/orders/FindOrder.hpp>
#include <analysis/orders/MaximumProduct.hpp>
#include <cmath>
#include <set>
#include <tuple>

#include "FactorCases.hpp"
#include "FactorizationCase.hpp"

namespace {

using Strata::Factorization;
using Strata::FactorOrder;
using Strata::FactorScaling;
using Strata::UpdateFault;
using Strata::Detail::HostGraph;
using FactorOptions = Strata::FactorizationCase;
using Memory = Device::memory_space;

constexpr Factorization all_kinds[] = {Factorization::incomplete_lu,
                                       Factorization::incomplete_cholesky};
constexpr FactorScaling all_scalings[] = {
    FactorScaling::none, FactorScaling::equilibration, FactorScaling::matching};

/// Those of this build.
std::vector<FactorOrder> orders() {
  std::vector<FactorOrder> made{FactorOrder::natural, FactorOrder::rcm,
                                FactorOrder::level_sets,
                                FactorOrder::multicoloured};
  if (STRATA_ENABLE_AMD) made.push_back(FactorOrder::amd);
  if (STRATA_ENABLE_METIS) made.push_back(FactorOrder::nested_dissection);
  return made;
}

template <class Scalar>
struct CopyScaling {
  Strata::Detail::ScalingArray from;
  Vector<Scalar> to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to(i) = from.template get<Scalar>(i);
  }
};

/// Pr, Dr, Dc, Pc on the host.
template <class Scalar>
struct HostTransformation {
  std::vector<std::int64_t> rows, columns;
  std::vector<Scalar> row_scale, column_scale;

  template <class Transformation>
  HostTransformation(const Transformation& from, std::int64_t n)
      : rows(n), columns(n), row_scale(n, 1), column_scale(n, 1) {
    const auto places = [n](const Strata::Detail::OptionalIndices& given,
                            std::vector<std::int64_t>& to) {
      std::iota(to.begin(), to.end(), 0);
      if (given.is_set) to = given.array.template fetch<Memory>(0, n);
    };
    places(from.row_permutation(), rows);
    places(from.column_permutation(), columns);
    const auto scales = [n](const Strata::Detail::ScalingArray& given,
                            std::vector<Scalar>& to) {
      if (!given.is_set) return;
      const Vector<Scalar> copy("copy", n);
      Kokkos::parallel_for(
          Kokkos::RangePolicy<Device, Kokkos::IndexType<std::int64_t>>(0, n),
          CopyScaling<Scalar>{given, copy});
      to = on_host(copy);
    };
    scales(from.row_scaling(), row_scale);
    scales(from.column_scaling(), column_scale);
  }

  bool permutes() const {
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i] != std::int64_t(i) || columns[i] != std::int64_t(i))
        return true;
    return false;
  }
  static bool is_permutation(const std::vector<std::int64_t>& places) {
    const std::set<std::int64_t> all(places.begin(), places.end());
    return all.size() == places.size() && *all.begin() == 0 &&
           *all.rbegin() == std::int64_t(places.size()) - 1;
  }
  HostMatrix<Scalar> of(const HostMatrix<Scalar>& A) const {
    const std::int64_t n = A.rows;
    std::vector<std::vector<std::pair<std::int64_t, Scalar>>> row(n);
    for (std::int64_t i = 0; i < n; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        const auto j = A.entries[k];
        row[rows[i]].push_back(
            {columns[j], (row_scale[i] * A.values[k]) * column_scale[j]});
      }
    HostMatrix<Scalar> made;
    made.rows = made.columns = n;
    for (auto& of : row) {
      std::sort(of.begin(), of.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      for (const auto& entry : of) {
        made.entries.push_back(entry.first);
        made.values.push_back(entry.second);
      }
      made.row_map.push_back(std::int64_t(made.entries.size()));
    }
    return made;
  }
};

template <class Scalar>
struct FactorOrders : testing::Test {
  using Host = HostMatrix<Scalar>;
  using Real = RealOf<Scalar>;
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Given = Strata::FactorTransformation<Scalar, Device>;
  using Moved = HostTransformation<Scalar>;
  using Block = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;
  static constexpr int columns = 3;
  static constexpr double eps = std::numeric_limits<Real>::epsilon();

  static Crs<Scalar> device(const Host& A) {
    return A.template to_device<Crs<Scalar>>();
  }
  static Scalar power(int exponent) {
    return Scalar(static_cast<Real>(std::ldexp(1., exponent)));
  }
  /// On a random, unsymmetric pattern, or a symmetric one with Hermitian
  /// values; the diagonal dominates. Then scaled by random powers of two.
  static Host random_matrix(std::int64_t n, bool symmetric) {
    std::uniform_int_distribution<std::int64_t> place(0, n - 1);
    std::uniform_int_distribution<int> exponent(-6, 6);
    std::vector<Scalar> dense(n * n);
    for (std::int64_t e = 0; e < 3 * n; ++e) {
      const auto i = place(generator()), j = place(generator());
      dense[i * n + j] = random_number<Scalar>() + Scalar(Real(1.5));
      if (symmetric) dense[j * n + i] = conjugate(dense[i * n + j]);
    }
    std::vector<int> rows(n), cols(n);
    for (std::int64_t i = 0; i < n; ++i) {
      double sum = 1;
      for (std::int64_t j = 0; j < n; ++j)
        sum +=
            std::abs(wide(dense[i * n + j])) + std::abs(wide(dense[j * n + i]));
      dense[i * n + i] = Scalar(static_cast<Real>(sum));
      rows[i] = exponent(generator());
      cols[i] = symmetric ? rows[i] : exponent(generator());
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        dense[i * n + j] = power(rows[i] + cols[j]) * dense[i * n + j];
    return Host(n, n, dense);
  }
  /// Other values on the pattern.
  static Host changed(Host A) {
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        const auto j = A.entries[k];
        const auto e = static_cast<int>((i * 7) % 5 + (j * 7) % 5);
        A.values[k] = power(e) * A.values[k];
      }
    return A;
  }
  /// With rows in another order: the diagonal is lost.
  static Host shuffled(const Host& A) {
    Given given;
    auto order = std::vector<int>(A.rows);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator());
    return Moved(given.row_permutation(on_device(order)), A.rows).of(A);
  }
  static FactorOptions options_of(Factorization kind, FactorOrder order,
                                  FactorScaling scaling) {
    FactorOptions options;
    options.kind = kind;
    options.order = order;
    options.scaling = scaling;
    options.transpose = true;
    options.triangular.max_right_hand_sides = columns;
    // The quickest to analyse.
    options.triangular.algorithm = Algorithm::substitution;
    return options;
  }
  static Factors factorise(const Host& A, const FactorOptions& options,
                           const Given& given = {}) {
    return Factors(Device(), device(A), options.kind, given, options);
  }
  static Moved moved(const Factors& M) {
    return Moved(M.transformation(), M.rows());
  }

  static std::vector<Scalar> apply(const Factors& M,
                                   const std::vector<Scalar>& b, Op op) {
    const auto n = M.rows();
    const auto k = std::int64_t(b.size()) / n;
    const Block from("b", n, k), to("x", n, k);
    const auto host = Kokkos::create_mirror_view(from);
    std::copy(b.begin(), b.end(), host.data());
    Kokkos::deep_copy(from, host);
    M.apply(Device(), from, to, op);
    Kokkos::fence();
    const auto made =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
    return std::vector<Scalar>(made.data(), made.data() + made.size());
  }
  static std::vector<Scalar> random_block(std::int64_t n, int k) {
    std::vector<Scalar> made(n * k);
    for (auto& v : made) v = random_number<Scalar>();
    return made;
  }
  static void expect_near(const std::vector<Scalar>& a,
                          const std::vector<Scalar>& b, double unit = eps) {
    ASSERT_EQ(a.size(), b.size());
    double largest = 0;
    for (const auto& v : b) largest = std::max(largest, std::abs(wide(v)));
    for (std::size_t k = 0; k < a.size(); ++k)
      ASSERT_LE(std::abs(wide(a[k]) - wide(b[k])), 1e4 * unit * largest) << k;
  }
  /// M applied is what the factors of a matrix do that the host has permuted
  /// and scaled, to vectors that it has.
  static void expect_as_reference(const Factors& M, const Host& A,
                                  FactorOptions options, double unit = eps) {
    const Moved by = moved(M);
    ASSERT_TRUE(Moved::is_permutation(by.rows));
    ASSERT_TRUE(Moved::is_permutation(by.columns));
    options.order = FactorOrder::natural;
    options.scaling = FactorScaling::none;
    const Factors reference = factorise(by.of(A), options);
    const std::int64_t n = A.rows;
    for (const Op op : all_ops) {
      const bool transposed = op != Op::none,
                 conj = op == Op::conjugate_transpose;
      const auto& in = transposed ? by.columns : by.rows;
      const auto& out = transposed ? by.rows : by.columns;
      auto in_scale = transposed ? by.column_scale : by.row_scale;
      auto out_scale = transposed ? by.row_scale : by.column_scale;
      for (auto* scale : {&in_scale, &out_scale})
        for (auto& v : *scale) v = conj ? conjugate(v) : v;
      for (const int k : {1, columns, 5}) {
        const auto b = random_block(n, k);
        std::vector<Scalar> w(b.size()), x(b.size());
        for (std::int64_t i = 0; i < n * k; ++i)
          w[i / n * n + in[i % n]] = in_scale[i % n] * b[i];
        const auto v = apply(reference, w, op);
        for (std::int64_t i = 0; i < n * k; ++i)
          x[i] = out_scale[i % n] * v[i / n * n + out[i % n]];
        expect_near(apply(M, b, op), x, unit);
      }
    }
  }
  /// Calls check(A, options) for a random matrix that they can factorise.
  template <class Check>
  static void for_each_case(const Check& check) {
    for (const auto kind : all_kinds)
      for (const auto order : orders())
        for (const auto scaling : all_scalings) {
          const bool cholesky = kind == Factorization::incomplete_cholesky;
          const bool matches = scaling == FactorScaling::matching;
          if (cholesky && matches) continue;
          SCOPED_TRACE(to_string(kind) + std::string(" ") + to_string(order) +
                       " " + to_string(scaling));
          Host A = random_matrix(47, cholesky);
          if (matches) A = shuffled(A);
          check(A, options_of(kind, order, scaling));
          if (testing::Test::HasFatalFailure()) return;
        }
  }
};
TYPED_TEST_SUITE(FactorOrders, Scalars);

TYPED_TEST(FactorOrders, AppliesAsIfTheHostHadPermuted) {
  using Fixture = TestFixture;
  Fixture::for_each_case([](const auto& A, FactorOptions options) {
    for (const int level : {0, 2}) {
      options.fill_level = level;
      options.shift = level == 0 ? 0 : 0.125;
      if (level > 0) options.triangular.algorithm = Algorithm::automatic;
      const auto M = Fixture::factorise(A, options);
      Fixture::expect_as_reference(M, A, options);
      const auto& report = M.report();
      EXPECT_EQ(report.order, options.order);
      EXPECT_EQ(report.order_reason, "asked for");
      EXPECT_EQ(report.entries, std::int64_t(A.entries.size()));
      const bool natural = options.order == FactorOrder::natural;
      EXPECT_EQ(report.transformation_bytes > 0,
                !natural || options.scaling != FactorScaling::none);
      EXPECT_EQ(report.order_us > 0, report.transformation_bytes > 0);
      EXPECT_EQ(report.level_sets_before > 0,
                !natural || options.scaling == FactorScaling::matching);
      // Copies and sharers.
      const auto b = Fixture::random_block(A.rows, 2);
      const auto x = Fixture::apply(M, b, Op::none);
      const auto copy = M;
      EXPECT_EQ(Fixture::apply(copy, b, Op::none), x);
      EXPECT_EQ(Fixture::apply(M.share_plan(Device()), b, Op::none), x);
    }
  });
}

TYPED_TEST(FactorOrders, GivesAFactorSolverItsFactors) {
  using Fixture = TestFixture;
  Fixture::for_each_case([](const auto& A, const FactorOptions& options) {
    const auto M = Fixture::factorise(A, options);
    Strata::FactorSolverOptions how;
    how.transpose = true;
    const Strata::FactorSolver solver(Device(), M.lower(Device()),
                                      M.upper(Device()), M.transformation(),
                                      how);
    const auto b = Fixture::random_block(A.rows, 1);
    const Vector<TypeParam> from("b", A.rows), to("x", A.rows);
    const auto host = Kokkos::create_mirror_view(from);
    std::copy(b.begin(), b.end(), host.data());
    Kokkos::deep_copy(from, host);
    for (const Op op : all_ops) {
      solver.apply(Device(), from, to, op);
      Fixture::expect_near(on_host(to), Fixture::apply(M, b, op));
    }
  });
}

TYPED_TEST(FactorOrders, TakesNewValues) {
  using Fixture = TestFixture;
  Fixture::for_each_case([](const auto& A, FactorOptions options) {
    for (const bool enqueue : {false, true}) {
      options.enqueue_updates = enqueue;
      auto M = Fixture::factorise(A, options);
      const auto sharer = M.share_plan(Device());
      const auto first = Fixture::moved(M);
      const auto next = Fixture::changed(A);
      const auto d_next = Fixture::device(next);
      M.update_values(Device(), d_next);
      Fixture::expect_as_reference(M, next, options);
      Fixture::expect_as_reference(sharer, next, options);
      const auto second = Fixture::moved(M);
      EXPECT_EQ(first.rows, second.rows);
      EXPECT_EQ(first.columns, second.columns);
      EXPECT_EQ(first.row_scale != second.row_scale,
                options.scaling == FactorScaling::equilibration);
      if (!enqueue) continue;
      const auto d_first = Fixture::device(A);
      M.enqueue_update_values(Device(), d_first.values);
      Kokkos::fence();
      Fixture::expect_as_reference(M, A, options);
      const auto third = Fixture::moved(M);
      EXPECT_EQ(first.row_scale, third.row_scale);
      EXPECT_EQ(first.column_scale, third.column_scale);
      M.enqueue_update_values(Device(), d_next);
      Kokkos::fence();
      Fixture::expect_as_reference(M, next, options);
    }
  });
}

TYPED_TEST(FactorOrders, KeepsFactorsAfterBadValuesAndNamesTheirRow) {
  using Fixture = TestFixture;
  Fixture::for_each_case([](const auto& A, FactorOptions options) {
    for (const bool enqueue : {false, true}) {
      options.enqueue_updates = enqueue;
      auto M = Fixture::factorise(A, options);
      const auto b = Fixture::random_block(A.rows, 1);
      const auto x = Fixture::apply(M, b, Op::none);
      const auto before = Fixture::moved(M);
      // The pivot of row 11.
      auto bad = Fixture::changed(A);
      std::int64_t pivot = 0;
      while (before.columns[pivot] != before.rows[11]) ++pivot;
      bad.at(11, pivot) = TypeParam(0);
      const auto d_bad = Fixture::device(bad);
      expect_error<Strata::ZeroDiagonalError>(
          "A", 11, [&] { M.update_values(Device(), d_bad); });
      EXPECT_EQ(Fixture::apply(M, b, Op::none), x);
      EXPECT_EQ(Fixture::moved(M).row_scale, before.row_scale);
      auto other = A;
      std::rotate(other.entries.begin() + other.row_map[3],
                  other.entries.begin() + other.row_map[3] + 1,
                  other.entries.begin() + other.row_map[4]);
      if (other.entries != A.entries) {
        const auto d_other = Fixture::device(other);
        EXPECT_THROW(M.update_values(Device(), d_other), Strata::MatrixError);
      }
      EXPECT_THROW(
          M.update_values(Device(),
                          Fixture::device(Fixture::random_matrix(9, true))),
          Strata::PatternMismatchError);
      EXPECT_EQ(Fixture::apply(M, b, Op::none), x);
      if (!enqueue) continue;
      M.enqueue_update_values(Device(), d_bad);
      Kokkos::fence();
      const auto status = Kokkos::create_mirror_view_and_copy(
          Kokkos::HostSpace(), M.update_status())();
      EXPECT_EQ(status.fault, UpdateFault::zero_diagonal);
      EXPECT_EQ(status.row, 11);
      EXPECT_TRUE(std::isnan(wide(Fixture::apply(M, b, Op::none)[0]).real()));
      EXPECT_EQ(Fixture::moved(M).row_scale, before.row_scale);
      EXPECT_THROW(
          M.enqueue_update_values(
              Device(), Kokkos::subview(d_bad.values, std::make_pair(0, 5))),
          Strata::SizeMismatchError);
      const auto d_good = Fixture::device(A);
      M.enqueue_update_values(Device(), d_good);
      Kokkos::fence();
      EXPECT_EQ(Fixture::apply(M, b, Op::none), x);
    }
  });
}

TYPED_TEST(FactorOrders, TakesPermutationsAndScalingsOfTheCaller) {
  using Fixture = TestFixture;
  using Scalar = TypeParam;
  using Given = typename Fixture::Given;
  const std::int64_t n = FactorCases<Scalar>::n;
  for (const auto kind : all_kinds)
    for (const bool scales : {false, true})
      for (const bool ordered : {false, true}) {
        SCOPED_TRACE(to_string(kind));
        const bool cholesky = kind == Factorization::incomplete_cholesky;
        const auto rows = FactorCases<Scalar>::random_permutation();
        const auto cols =
            cholesky ? rows : FactorCases<Scalar>::random_permutation();
        Given inverse, given;
        std::vector<int> back(n), back_columns(n);
        for (int i = 0; i < n; ++i) {
          back[rows[i]] = i;
          back_columns[cols[i]] = i;
        }
        inverse.row_permutation(on_device(back))
            .column_permutation(on_device(back_columns));
        auto A = Fixture::random_matrix(n, cholesky);
        FactorOptions options = Fixture::options_of(kind, FactorOrder::natural,
                                                    FactorScaling::none);
        if (ordered) {
          options.order = FactorOrder::rcm;
        } else {
          A = HostTransformation<Scalar>(inverse, n).of(A);
          given.row_permutation(on_device(rows))
              .column_permutation(on_device(cols));
        }
        if (scales) {
          auto r = FactorCases<Scalar>::template random_scaling<Scalar>(),
               c = r;
          for (auto& v : c)
            v = cholesky ? conjugate(v) : v + random_number<Scalar>();
          given.row_scaling(on_device(r)).column_scaling(on_device(c));
        } else {
          options.scaling = FactorScaling::equilibration;
        }
        auto M = Fixture::factorise(A, options, given);
        if (!ordered) {
          EXPECT_EQ(Fixture::moved(M).rows,
                    std::vector<std::int64_t>(rows.begin(), rows.end()));
        }
        Fixture::expect_as_reference(M, A, options, 8 * Fixture::eps);
        const auto next = Fixture::changed(A);
        M.update_values(Device(), Fixture::device(next));
        Fixture::expect_as_reference(M, next, options, 8 * Fixture::eps);
      }
}

TYPED_TEST(FactorOrders, RefusesWhatDoesNotGoTogether) {
  using Fixture = TestFixture;
  using Given = typename Fixture::Given;
  const std::int64_t n = FactorCases<TypeParam>::n;
  const auto A = Fixture::random_matrix(n, true);
  const auto with = [&](Factorization kind, FactorOrder order,
                        FactorScaling scaling, const Given& given = {}) {
    FactorOptions options;
    options.kind = kind;
    options.order = order;
    options.scaling = scaling;
    Fixture::factorise(A, options, given);
  };
  const auto lu = Factorization::incomplete_lu,
             cholesky = Factorization::incomplete_cholesky;
  auto permutation = FactorCases<TypeParam>::random_permutation();
  if (permutation[0] == 0) std::swap(permutation[0], permutation[1]);
  Given rows, both, scaled;
  rows.row_permutation(on_device(permutation));
  both.row_permutation(on_device(permutation))
      .column_permutation(on_device(permutation));
  std::vector<RealOf<TypeParam>> factor(n, 2);
  scaled.row_scaling(on_device(factor));
  const auto natural = FactorOrder::natural;
  const auto none = FactorScaling::none;
  expect_error<Strata::OptionError>(
      "scaling", -1, [&] { with(cholesky, natural, FactorScaling::matching); });
  for (const auto& given : {rows, scaled})
    expect_error<Strata::OptionError>(
        "transformation", -1, [&] { with(cholesky, natural, none, given); });
  with(cholesky, natural, none, both);
  expect_error<Strata::OptionError>(
      "order", -1, [&] { with(lu, FactorOrder::rcm, none, both); });
  expect_error<Strata::OptionError>(
      "order", -1, [&] { with(lu, FactorOrder::coloured, none, scaled); });
  expect_error<Strata::OptionError>("scaling", -1, [&] {
    with(lu, natural, FactorScaling::equilibration, scaled);
  });
  expect_error<Strata::OptionError>(
      "scaling", -1, [&] { with(lu, natural, FactorScaling::matching, both); });
  expect_error<Strata::OptionError>("scaling", -1, [&] {
    with(lu, FactorOrder::coloured, FactorScaling::equilibration);
  });
  with(lu, FactorOrder::automatic, FactorScaling::equilibration, both);
  if (!STRATA_ENABLE_AMD)
    expect_error<Strata::OptionError>(
        "order", -1, [&] { with(lu, FactorOrder::amd, none); });
  if (!STRATA_ENABLE_METIS)
    expect_error<Strata::OptionError>(
        "order", -1, [&] { with(lu, FactorOrder::nested_dissection, none); });
  permutation[5] = permutation[3];
  both.column_permutation(on_device(permutation));
  expect_error<Strata::PermutationError>(
      "column_permutation", 5, [&] { with(lu, natural, none, both); });
  factor[7] = 0;
  scaled.row_scaling(on_device(factor));
  expect_error<Strata::ZeroDiagonalError>(
      "row_scaling", 7, [&] { with(lu, natural, none, scaled); });
  factor.pop_back();
  scaled.row_scaling(on_device(factor));
  EXPECT_THROW(with(lu, natural, none, scaled), Strata::SizeMismatchError);
}

TYPED_TEST(FactorOrders, ScalesTheLargestEntries) {
  using Fixture = TestFixture;
  for (const bool symmetric : {false, true}) {
    const auto kind = symmetric ? Factorization::incomplete_cholesky
                                : Factorization::incomplete_lu;
    const auto A = Fixture::random_matrix(47, symmetric);
    const auto M = Fixture::factorise(
        A, Fixture::options_of(kind, FactorOrder::rcm,
                               FactorScaling::equilibration));
    const auto B = Fixture::moved(M).of(A);
    const auto part = [](const TypeParam& v) {
      const auto w = wide(v);
      return std::max(std::abs(w.real()), std::abs(w.imag()));
    };
    std::vector<double> of_row(A.rows), of_column(A.rows);
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = B.row_map[i]; k < B.row_map[i + 1]; ++k)
        for (double* most : {&of_row[i], &of_column[B.entries[k]]})
          *most = std::max(*most, part(B.values[k]));
    for (std::int64_t i = 0; i < A.rows; ++i) {
      if (symmetric) {
        EXPECT_GE(part(*B.find(i, i)), 1);
        EXPECT_LT(part(*B.find(i, i)), 4);
      } else {
        EXPECT_LT(of_row[i], 2);
        EXPECT_GE(of_column[i], 1);
        EXPECT_LT(of_column[i], 2);
      }
    }
  }
  // A row of zeros keeps its scale, and is what elimination refuses.
  auto A = Fixture::random_matrix(19, false);
  for (auto k = A.row_map[4]; k < A.row_map[5]; ++k) A.values[k] = TypeParam(0);
  FactorOptions options =
      Fixture::options_of(Factorization::incomplete_lu, FactorOrder::rcm,
                          FactorScaling::equilibration);
  expect_error<Strata::ZeroDiagonalError>(
      "A", 4, [&] { Fixture::factorise(A, options); });
  options.small_pivot_threshold = 0.01;
  expect_error<Strata::FactorizationError>(
      "A", 4, [&] { Fixture::factorise(A, options); });
  // No rows.
  options.small_pivot_threshold = 0;
  typename Fixture::Host nothing;
  for (const auto order : orders())
    for (const auto scaling : all_scalings) {
      options.order = order;
      options.scaling = scaling;
      EXPECT_EQ(Fixture::factorise(nothing, options).rows(), 0);
    }
}

TYPED_TEST(FactorOrders, MatchesTheLargestEntries) {
  using Fixture = TestFixture;
  const auto A = Fixture::shuffled(Fixture::random_matrix(47, false));
  for (const auto order : orders()) {
    const auto M = Fixture::factorise(
        A, Fixture::options_of(Factorization::incomplete_lu, order,
                               FactorScaling::matching));
    const auto B = Fixture::moved(M).of(A);
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = B.row_map[i]; k < B.row_map[i + 1]; ++k) {
        const double size = std::abs(wide(B.values[k]));
        EXPECT_LE(size, 1 + 100 * Fixture::eps);
        if (B.entries[k] == i) {
          EXPECT_GE(size, 1 - 100 * Fixture::eps);
        }
      }
  }
  auto singular = A;
  std::int64_t column = singular.entries[0];
  for (std::size_t k = 0; k < singular.entries.size(); ++k)
    if (singular.entries[k] == column) singular.values[k] = TypeParam(0);
  const auto options =
      Fixture::options_of(Factorization::incomplete_lu, FactorOrder::natural,
                          FactorScaling::matching);
  EXPECT_THROW(Fixture::factorise(singular, options), Strata::SingularError);
  singular.values[0] = TypeParam(std::numeric_limits<double>::quiet_NaN());
  expect_error<Strata::NotFiniteError>(
      "A", 0, [&] { Fixture::factorise(singular, options); });
}

TYPED_TEST(FactorOrders, HoldsLimitsOfMemoryAndPrecision) {
  using Fixture = TestFixture;
  const auto A = Fixture::random_matrix(47, true);
  for (const auto order : orders()) {
    auto options = Fixture::options_of(Factorization::incomplete_cholesky,
                                       order, FactorScaling::equilibration);
    options.triangular.max_plan_bytes = 100;
    EXPECT_THROW(Fixture::factorise(A, options), Strata::PlanMemoryError);
    options.triangular.max_plan_bytes = 0;
    options.precision = Strata::FactorPrecision::single;
    Fixture::expect_as_reference(Fixture::factorise(A, options), A, options,
                                 1e-6);
    options.precision = Strata::FactorPrecision::working;
    options.small_pivot_threshold = 0.25;
    Fixture::expect_as_reference(Fixture::factorise(A, options), A, options);
  }
}

/// The upper triangle alone can't be read of what permutations mix.
TYPED_TEST(FactorOrders, NeedBothTrianglesOfSymmetricMatrices) {
  using Strata::Factorization;
  const auto A = hermitian<TypeParam>("triangulated:9x7", 1.5);
  const auto on = A.template to_device<Crs<TypeParam>>();
  for (const auto kind :
       {Factorization::incomplete_cholesky, Factorization::incomplete_ldlh}) {
    Strata::IncompleteFactorizationOptions options;
    options.symmetry_tolerance = std::numeric_limits<double>::infinity();
    options.scaling = Strata::FactorScaling::equilibration;
    Strata::IncompleteFactorization(Device(), on, kind, options);
    options.order = Strata::FactorOrder::rcm;
    EXPECT_THROW(Strata::IncompleteFactorization(Device(), on, kind, options),
                 Strata::OptionError);
    options.symmetry_tolerance.reset();
    Strata::IncompleteFactorization(Device(), on, kind, options);
  }
}

/// ILU of the rows of a level set side by side are those of the natural order.
TYPED_TEST(FactorOrders, KeepsFactorsInTheOrderOfLevelSets) {
  using Fixture = TestFixture;
  for (const auto kind : all_kinds) {
    const auto A =
        Fixture::random_matrix(47, kind == Factorization::incomplete_cholesky);
    const auto options =
        Fixture::options_of(kind, FactorOrder::natural, FactorScaling::none);
    const auto natural = Fixture::factorise(A, options);
    const auto sorted =
        Fixture::factorise(A, Fixture::options_of(kind, FactorOrder::level_sets,
                                                  FactorScaling::none));
    EXPECT_EQ(sorted.report().level_sets_before,
              sorted.report().level_sets_after);
    const auto b = Fixture::random_block(A.rows, 2);
    for (const Op op : all_ops)
      Fixture::expect_near(Fixture::apply(sorted, b, op),
                           Fixture::apply(natural, b, op));
  }
}

using Double = FactorOrders<double>;

Double::Factors of_gallery(const std::string& spec, FactorOrder order,
                           int level = 0) {
  auto options = Double::options_of(Factorization::incomplete_lu, order,
                                    FactorScaling::none);
  options.fill_level = level;
  return Double::Factors(Device(), Strata::gallery<Crs<double>>(Device(), spec),
                         options.kind, options);
}

TEST(FactorOrdersOf, GridsDoWhatTheyAreFor) {
  const std::string grid = "box:24x24x1";
  const int complete = 1000;
  const auto natural = of_gallery(grid, FactorOrder::natural, complete);
  EXPECT_EQ(
      of_gallery(grid, FactorOrder::multicoloured).report().level_sets_after,
      2);
  const auto rcm = of_gallery(grid, FactorOrder::rcm, complete);
  EXPECT_LT(rcm.report().fill_entries, natural.report().fill_entries);
  for (const auto order : {FactorOrder::amd, FactorOrder::nested_dissection}) {
    if (order == FactorOrder::amd ? !STRATA_ENABLE_AMD : !STRATA_ENABLE_METIS)
      continue;
    const auto M = of_gallery(grid, order, complete);
    EXPECT_LT(2 * M.report().fill_entries, natural.report().fill_entries);
    EXPECT_LT(M.report().level_sets_after, M.report().level_sets_before);
  }
}

/// A small dense matrix, of which some entries are 0.
HostGraph full(int n) {
  HostGraph graph{{0}, {}};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) graph.entries.push_back(j);
    graph.row_map.push_back(std::int64_t(graph.entries.size()));
  }
  return graph;
}

TEST(MaximumProduct, IsThatOfAllPermutations) {
  std::uniform_real_distribution<double> some(0, 1);
  int singular = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + trial % 6;
    const HostGraph graph = full(n);
    std::vector<double> modulus(n * n);
    for (auto& v : modulus)
      v = some(Strata::generator()) < 0.5
              ? 0
              : std::exp(20 * some(Strata::generator()) - 10);
    std::vector<int> column(n);
    std::iota(column.begin(), column.end(), 0);
    double largest = 0;
    do {
      double product = 1;
      for (int i = 0; i < n; ++i) product *= modulus[i * n + column[i]];
      largest = std::max(largest, product);
    } while (std::next_permutation(column.begin(), column.end()));
    if (largest == 0) {
      ++singular;
      EXPECT_THROW(Strata::Detail::MaximumProduct(graph, modulus),
                   Strata::SingularError);
      continue;
    }
    const Strata::Detail::MaximumProduct best(graph, modulus);
    double product = 1;
    for (int i = 0; i < n; ++i) {
      product *= modulus[i * n + best.column_of[i]];
      for (int j = 0; j < n; ++j) {
        const double size =
            best.row_scale[i] * modulus[i * n + j] * best.column_scale[j];
        EXPECT_LE(size, 1 + 1e-12);
        if (j == best.column_of[i]) {
          EXPECT_GE(size, 1 - 1e-12);
        }
      }
    }
    EXPECT_NEAR(product / largest, 1, 1e-12);
  }
  EXPECT_GT(singular, 0);
  EXPECT_LT(singular, 300);
}

TEST(HostOrders, AreOrdersOfAnyGraph) {
  using namespace Strata::Detail;
  std::uniform_int_distribution<int> some(0, 1 << 20);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 1 + trial;
    HostGraph graph{{0}, {}};
    for (int i = 0; i < n; ++i) {
      for (int e = some(Strata::generator()) % 4; e > 0; --e)
        graph.entries.push_back(some(Strata::generator()) % n);
      graph.row_map.push_back(std::int64_t(graph.entries.size()));
    }
    const HostGraph both = symmetric_graph(graph);
    std::vector<std::vector<int>> all{
        cuthill_mckee(both), level_set_order(both), colour_order(both)};
    if (STRATA_ENABLE_AMD) all.push_back(amd_order_of(both));
    if (STRATA_ENABLE_METIS) all.push_back(dissection_order_of(both));
    for (auto order : all) {
      std::sort(order.begin(), order.end());
      for (int i = 0; i < n; ++i) ASSERT_EQ(order[i], i);
    }
  }
}

}  // namespace
