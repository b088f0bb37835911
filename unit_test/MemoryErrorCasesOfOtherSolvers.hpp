// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_MEMORY_ERROR_CASES_OF_OTHER_SOLVERS_HPP
#define STRATA_TEST_MEMORY_ERROR_CASES_OF_OTHER_SOLVERS_HPP

// MemoryErrorCases.hpp for products, conjugate gradients, band and dense
// solvers, and functions.
#include <unistd.h>

#include <Strata_BandSolver.hpp>
#include <Strata_BiCgStab.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_FactorSolver.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_GaussJordan.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_IncompletePattern.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <Strata_Spiluk.hpp>
#include <Strata_Triangle.hpp>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>

#include "InOrder.hpp"
#include "MemoryErrorCases.hpp"
#include "ReplacedRow.hpp"

namespace Strata {
namespace SolverTest {

/// A grid's five-point matrix, or, with its corners, the nine-point one.
inline HostMatrix<double> grid_matrix(int side, bool corners) {
  HostMatrix<double> A;
  A.rows = A.columns = std::int64_t{side} * side;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      for (int p = -1; p <= 1; ++p)
        for (int q = -1; q <= 1; ++q) {
          if (i + p < 0 || i + p >= side || j + q < 0 || j + q >= side ||
              (!corners && p * q != 0))
            continue;
          A.entries.push_back(std::int64_t{i + p} * side + j + q);
          A.values.push_back(p == 0 && q == 0 ? (corners ? 8.5 : 4.5) : -1.);
        }
      A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
    }
  return A;
}

template <class Space>
using VectorOf = Kokkos::View<double*, typename Space::memory_space>;

template <class View>
auto host_copy(const View& view) {
  Kokkos::fence();
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return std::vector<typename View::non_const_value_type>(
      host.data(), host.data() + host.size());
}
/// Of a rank 1 or 2 view's values, whatever they are.
template <class Space>
VectorOf<Space> vector_of(const std::vector<double>& from) {
  const VectorOf<Space> to("vector", from.size());
  const auto host = Kokkos::create_mirror_view(to);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(to, host);
  return to;
}

template <class Failing, class Space>
void expect_memory_errors_of_sell_matrices(
    MemoryErrors<Failing, Space>& errors) {
  using Matrix = SolverMatrix<double, Space>;
  using Sell = SellMatrix<double, Space>;
  for (const bool grid : {true, false}) {
    HostMatrix<double> A;
    SellOptions options;
    if (grid) {
      A = grid_matrix(12, false);
    } else {
      A = make_triangle<double>(power_law_pattern(120), Uplo::lower);
      options.long_row = 20;
      options.sigma = 64;
    }
    const auto old_matrix = A.template to_device<Matrix>();
    const auto new_matrix = scaled(A, 3.).template to_device<Matrix>();
    const auto x = vector_of<Space>(random_values<double>(A.rows, 7));
    const auto product = [=](const Sell& sell) {
      const VectorOf<Space> y("y", x.extent(0));
      sell.apply(Space(), x, y);
      return host_copy(y);
    };
    const auto old_y = product(Sell(Space(), old_matrix, options));
    const auto new_y = product(Sell(Space(), new_matrix, options));
    const std::string name = grid ? "grid" : "long rows";
    errors.expect("SellMatrix, " + name, [&] {
      const auto made = std::make_shared<std::optional<Sell>>();
      return MemoryCase{[=] { made->emplace(Space(), old_matrix, options); },
                        {},
                        [=] { EXPECT_EQ(product(**made), old_y); }};
    });
    errors.expect("SellMatrix, update, " + name, [&] {
      const auto sell = std::make_shared<Sell>(Space(), old_matrix, options);
      return MemoryCase{[=] { sell->update_values(Space(), new_matrix); },
                        [=] { EXPECT_EQ(product(*sell), old_y); },
                        [=] { EXPECT_EQ(product(*sell), new_y); }};
    });
  }
}

/// A preconditioner that is applied.
template <class Space, class Preconditioner>
std::vector<double> applied(const Preconditioner& M, std::int64_t n) {
  const auto r = vector_of<Space>(random_values<double>(n, 9));
  const VectorOf<Space> z("z", n);
  M.apply(Space(), r, z);
  return host_copy(z);
}

inline HostMatrix<double> upper_triangle(const HostMatrix<double>& A) {
  HostMatrix<double> upper;
  upper.rows = upper.columns = A.rows;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] >= i) {
        upper.entries.push_back(A.entries[k]);
        upper.values.push_back(A.values[k]);
      }
    upper.row_map.push_back(static_cast<std::int64_t>(upper.entries.size()));
  }
  return upper;
}

/// New values for which the solver with U, the second one, has to be made anew.
template <class Failing, class Space>
void expect_memory_errors_of_factorisations(
    MemoryErrors<Failing, Space>& errors) {
  using Matrix = SolverMatrix<double, Space>;
  using Factors = IncompleteFactorization<double, Space>;
  const int side = 6;
  const std::int64_t n = side * side;
  const auto A = grid_matrix(side, true);
  const auto changed = with_large_row(scaled(A, 3.), 4);
  enum class Update { plain, other_solvers, enqueued, of_upper_triangle };
  for (const auto update : {Update::plain, Update::other_solvers,
                            Update::enqueued, Update::of_upper_triangle}) {
    const bool other_solvers = update == Update::other_solvers,
               of_upper_triangle = update == Update::of_upper_triangle;
    const auto given = [&](const HostMatrix<double>& from) {
      return (of_upper_triangle ? upper_triangle(from) : from)
          .template to_device<Matrix>();
    };
    const auto old_matrix = given(A),
               new_matrix = given(other_solvers ? changed : scaled(A, 3.));
    IncompleteFactorizationOptions options;
    auto kind = Factorization::incomplete_lu;
    if (of_upper_triangle) {
      kind = Factorization::incomplete_cholesky;
      options.symmetry_tolerance = std::numeric_limits<double>::infinity();
    }
    options.enqueue_updates = update == Update::enqueued;
    options.triangular.algorithm = Algorithm::sync_free;
    options.triangular.merged_levels = 4;
    options.transpose = !other_solvers;
    options.shift = 0.5;
    options.small_pivot_threshold = 1e-8;
    if (!other_solvers) options.fill_level = 1;
    const auto make = [=](const Matrix& matrix) {
      return Factors(Space(), matrix, kind, options);
    };
    const auto expect_same = [=](const Factors& found,
                                 const Factors& expected) {
      for (const Op op : {Op::none, Op::transpose}) {
        if (op != Op::none && !options.transpose) continue;
        const auto b = vector_of<Space>(std::vector<double>(n, 1.)),
                   x = vector_of<Space>(std::vector<double>(n)),
                   y = vector_of<Space>(std::vector<double>(n));
        found.apply(Space(), b, x, op);
        expected.apply(Space(), b, y, op);
        EXPECT_EQ(host_copy(x), host_copy(y));
      }
      EXPECT_EQ(host_copy(found.upper(Space()).values),
                host_copy(expected.upper(Space()).values));
    };
    const Factors of_old = make(old_matrix), of_new = make(new_matrix);
    ASSERT_EQ(of_old.report().upper.merged_levels, 4);
    ASSERT_EQ(of_old.report().upper.unmerged_rows, 0);
    ASSERT_EQ(of_new.report().upper.unmerged_rows > 0, other_solvers);
    const std::string name = other_solvers             ? ", other solvers"
                             : options.enqueue_updates ? ", enqueued updates"
                             : of_upper_triangle       ? ", upper triangle"
                                                       : "";
    if (!other_solvers)
      errors.expect("IncompleteFactorization" + name, [&] {
        const auto made = std::make_shared<std::optional<Factors>>();
        return MemoryCase{[=] { made->emplace(make(new_matrix)); },
                          {},
                          [=] { expect_same(**made, of_new); }};
      });
    errors.expect("IncompleteFactorization, update" + name, [&] {
      const auto factors = std::make_shared<Factors>(make(old_matrix));
      const Factors sharer = factors->share_plan(Space());
      const auto expect = [=](const Factors& expected) {
        expect_same(sharer, expected);
        expect_same(*factors, expected);
      };
      return MemoryCase{[=] { factors->update_values(Space(), new_matrix); },
                        [=] { expect(of_old); }, [=] { expect(of_new); }};
    });
    errors.expect("IncompleteFactorization, share_plan" + name, [&] {
      const auto factors = std::make_shared<Factors>(make(old_matrix));
      const auto sharer = std::make_shared<Factors>();
      return MemoryCase{[=] { *sharer = factors->share_plan(Space()); },
                        [=] { expect_same(*factors, of_old); },
                        [=] { expect_same(*sharer, of_old); }};
    });
  }
}

/// New values for which the solver with U has to be made anew.
template <class Failing, class Space>
void expect_memory_errors_of_factor_solvers(
    MemoryErrors<Failing, Space>& errors) {
  using Matrix = SolverMatrix<double, Space>;
  using Solver = FactorSolver<double, Space>;
  using Transformation = FactorTransformation<double, Space>;
  const int side = 6;
  const std::int64_t n = side * side;
  const auto A = grid_matrix(side, true);
  const auto of = [](const HostMatrix<double>& from) {
    return incomplete_lu(Space(), from.template to_device<Matrix>());
  };
  const auto changed = with_large_row(scaled(A, 3.), 4);
  const auto old_factors = of(A), new_factors = of(changed);
  const Kokkos::View<int*, typename Space::memory_space> order("order", n);
  const auto host_order = Kokkos::create_mirror_view(order);
  for (std::int64_t i = 0; i < n; ++i)
    host_order(i) = static_cast<int>(n - 1 - i);
  Kokkos::deep_copy(order, host_order);
  const auto scaling = vector_of<Space>(std::vector<double>(n, 2.));
  for (const auto precision :
       {FactorPrecision::working, FactorPrecision::single}) {
    FactorSolverOptions options;
    options.triangular.algorithm = Algorithm::sync_free;
    options.triangular.merged_levels = 4;
    options.precision = precision;
    const auto transformed = Transformation()
                                 .row_permutation(order)
                                 .column_permutation(order)
                                 .row_scaling(scaling);
    const auto scaled_columns = Transformation().column_scaling(scaling);
    const auto old_solver = [=] {
      return Solver(Space(), old_factors.L, old_factors.U, transformed,
                    options);
    };
    const auto new_solver = [=] {
      return Solver(Space(), new_factors.L, new_factors.U, scaled_columns,
                    options);
    };
    const auto of_old = applied<Space>(old_solver(), n),
               of_new = applied<Space>(new_solver(), n);
    ASSERT_EQ(old_solver().report().upper.unmerged_rows, 0);
    ASSERT_GT(new_solver().report().upper.unmerged_rows, 0);
    const std::string name = to_string(precision);
    errors.expect("FactorSolver, " + name, [&] {
      const auto made = std::make_shared<std::optional<Solver>>();
      return MemoryCase{[=] { made->emplace(old_solver()); },
                        {},
                        [=] { EXPECT_EQ(applied<Space>(**made, n), of_old); }};
    });
    errors.expect("FactorSolver, update, " + name, [&] {
      const auto solver = std::make_shared<Solver>(old_solver());
      return MemoryCase{[=] {
                          solver->update_values(Space(), new_factors.L,
                                                new_factors.U, scaled_columns);
                        },
                        [=] { EXPECT_EQ(applied<Space>(*solver, n), of_old); },
                        [=] { EXPECT_EQ(applied<Space>(*solver, n), of_new); }};
    });
    errors.expect("FactorSolver, share_plan, " + name, [&] {
      const auto solver = std::make_shared<Solver>(old_solver());
      const auto sharer = std::make_shared<Solver>();
      return MemoryCase{[=] { *sharer = solver->share_plan(Space()); },
                        [=] { EXPECT_EQ(applied<Space>(*solver, n), of_old); },
                        [=] { EXPECT_EQ(applied<Space>(*sharer, n), of_old); }};
    });
  }
}

template <class Failing, class Space>
void expect_memory_errors_of_conjugate_gradients(
    MemoryErrors<Failing, Space>& errors) {
  using Matrix = SolverMatrix<double, Space>;
  using Incomplete = IncompleteFactorization<double, Space>;
  using Jacobi = JacobiPreconditioner<double, Space>;
  using Solver = ConjugateGradient<double, Space>;
  const int side = 12;
  const std::int64_t n = side * side;
  const auto kind = Factorization::incomplete_cholesky;
  const auto A = grid_matrix(side, false);
  const auto old_matrix = A.template to_device<Matrix>();
  const auto new_matrix = scaled(A, 3.).template to_device<Matrix>();
  for (const auto order : {FactorOrder::natural, FactorOrder::coloured}) {
    const std::string name = to_string(order);
    const auto make = [=](const Matrix& matrix) {
      return Incomplete(Space(), matrix, kind, in_order(order));
    };
    const auto old_z = applied<Space>(make(old_matrix), n);
    const auto new_z = applied<Space>(make(new_matrix), n);
    errors.expect("IncompleteFactorization, " + name, [&] {
      const auto made = std::make_shared<std::optional<Incomplete>>();
      return MemoryCase{[=] { made->emplace(make(old_matrix)); },
                        {},
                        [=] { EXPECT_EQ(applied<Space>(**made, n), old_z); }};
    });
    errors.expect("IncompleteFactorization, update, " + name, [&] {
      const auto M = std::make_shared<Incomplete>(make(old_matrix));
      return MemoryCase{[=] { M->update_values(Space(), new_matrix); },
                        [=] { EXPECT_EQ(applied<Space>(*M, n), old_z); },
                        [=] { EXPECT_EQ(applied<Space>(*M, n), new_z); }};
    });
  }
  errors.expect("JacobiPreconditioner", [&] {
    const auto M = std::make_shared<Jacobi>(Space(), old_matrix);
    const auto kept = host_copy(M->inverse_diagonal());
    return MemoryCase{
        [=] { M->update_values(Space(), new_matrix); },
        [=] { EXPECT_EQ(host_copy(M->inverse_diagonal()), kept); },
        [=] { EXPECT_NE(host_copy(M->inverse_diagonal()), kept); }};
  });

  const auto sell =
      std::make_shared<SellMatrix<double, Space>>(Space(), old_matrix);
  const auto M = std::make_shared<Incomplete>(Space(), old_matrix, kind,
                                              in_order(FactorOrder::coloured));
  const auto natural = std::make_shared<Incomplete>(Space(), old_matrix, kind);
  const auto b = vector_of<Space>(random_values<double>(n, 11));
  const auto x = vector_of<Space>(std::vector<double>(n));
  errors.expect("ConjugateGradient", [&] {
    const auto made = std::make_shared<std::optional<Solver>>();
    return MemoryCase{[=] { made->emplace(Space(), n); },
                      {},
                      [=] {
                        EXPECT_EQ((*made)->solve(Space(), *sell, b, x).status,
                                  CgStatus::converged);
                        Kokkos::deep_copy(x, 0.);
                      }};
  });
  const auto expect_solve = [&](const std::string& name, const auto& by) {
    const auto solve = [=](Solver& cg, CgResult& result) {
      Kokkos::deep_copy(x, 0.);
      result = cg.solve(Space(), *sell, *by, b, x);
    };
    Solver reference(Space(), n);
    CgResult expected;
    solve(reference, expected);
    ASSERT_EQ(expected.status, CgStatus::converged);
    const auto x_expected = host_copy(x);
    errors.expect("ConjugateGradient, solve, " + name, [&] {
      const auto cg = std::make_shared<Solver>(Space(), n);
      const auto result = std::make_shared<CgResult>();
      return MemoryCase{[=] { solve(*cg, *result); },
                        {},
                        [=] {
                          EXPECT_EQ(result->status, CgStatus::converged);
                          EXPECT_EQ(result->history, expected.history);
                          EXPECT_EQ(host_copy(x), x_expected);
                        }};
    });
  };
  expect_solve("coloured", M);
  expect_solve("natural", natural);
}

/// Of Gmres or BiCgStab.
template <class Solver, class Failing, class Space>
void expect_memory_errors_of_krylov_solver(MemoryErrors<Failing, Space>& errors,
                                           const std::string& name) {
  const auto A = grid_matrix(12, false);
  const auto matrix = A.template to_device<SolverMatrix<double, Space>>();
  const auto sell =
      std::make_shared<SellMatrix<double, Space>>(Space(), matrix);
  const auto M = std::make_shared<IncompleteFactorization<double, Space>>(
      Space(), matrix, Factorization::incomplete_lu);
  const auto b = vector_of<Space>(random_values<double>(A.rows, 11));
  const auto x = vector_of<Space>(std::vector<double>(A.rows));
  const auto solve = [=](Solver& solver) {
    Kokkos::deep_copy(x, 0.);
    return solver.solve(Space(), *sell, *M, b, x);
  };
  Solver reference(Space(), A.rows);
  const auto expected = solve(reference);
  ASSERT_EQ(expected.status, KrylovStatus::converged);
  const auto x_expected = host_copy(x);
  errors.expect(name, [&] {
    const auto made = std::make_shared<std::optional<Solver>>();
    return MemoryCase{
        [=] { made->emplace(Space(), A.rows); },
        {},
        [=] { EXPECT_EQ(solve(**made).history, expected.history); }};
  });
  errors.expect(name + ", solve", [&] {
    const auto solver = std::make_shared<Solver>(Space(), A.rows);
    const auto result = std::make_shared<KrylovResult>();
    return MemoryCase{[=] { *result = solve(*solver); },
                      {},
                      [=] {
                        EXPECT_EQ(result->status, KrylovStatus::converged);
                        EXPECT_EQ(result->history, expected.history);
                        EXPECT_EQ(host_copy(x), x_expected);
                      }};
  });
}
template <class Failing, class Space>
void expect_memory_errors_of_krylov_solvers(
    MemoryErrors<Failing, Space>& errors) {
  expect_memory_errors_of_krylov_solver<Gmres<double, Space>>(errors, "Gmres");
  expect_memory_errors_of_krylov_solver<BiCgStab<double, Space>>(errors,
                                                                 "BiCgStab");
}

template <class Failing, class Space>
void expect_memory_errors_of_band_solvers(
    MemoryErrors<Failing, Space>& errors) {
  using Solver = BandSolver<double, Space>;
  using Band =
      Kokkos::View<double**, Kokkos::LayoutLeft, typename Space::memory_space>;
  const std::int64_t n = 150;
  const int kl = 3, ku = 2;
  const auto make_band = [=](double diagonal) {
    const Band ab("ab", kl + ku + 1, n);
    const auto host = Kokkos::create_mirror_view(ab);
    for (std::int64_t j = 0; j < n; ++j)
      for (int d = 0; d < kl + ku + 1; ++d)
        host(d, j) = d == ku ? diagonal : 0.5 + 0.01 * double((j + d) % 7);
    Kokkos::deep_copy(ab, host);
    return ab;
  };
  const Band old_band = make_band(5), new_band = make_band(7);
  const auto solve = [=](const Solver& solver, std::int64_t k) {
    const auto b =
        to_columns<double, Space>(random_values<double>(n * k, 5), n, k);
    solver.solve(Space(), b, b);
    return to_vector(b);
  };
  for (const auto method : {BandMethod::tiles, BandMethod::nested_dissection,
                            BandMethod::partial_pivoting}) {
    BandOptions options;
    options.method = method;
    const std::string name = std::string(", ") + to_string(method);
    std::vector<double> old_x[3], new_x[3];
    const std::int64_t columns[3] = {1, 20, 200};
    for (int i = 0; i < 3; ++i) {
      old_x[i] = solve(Solver(Space(), old_band, kl, ku, options), columns[i]);
      new_x[i] = solve(Solver(Space(), new_band, kl, ku, options), columns[i]);
    }
    errors.expect("BandSolver" + name, [&] {
      const auto made = std::make_shared<std::optional<Solver>>();
      return MemoryCase{
          [=] { made->emplace(Space(), old_band, kl, ku, options); },
          {},
          [=] { EXPECT_EQ(solve(**made, 1), old_x[0]); }};
    });
    errors.expect("BandSolver, update" + name, [&] {
      const auto solver =
          std::make_shared<Solver>(Space(), old_band, kl, ku, options);
      return MemoryCase{[=] { solver->update_values(Space(), new_band); },
                        [=] { EXPECT_THROW(solve(*solver, 1), HandleError); },
                        [=] { EXPECT_EQ(solve(*solver, 1), new_x[0]); }};
    });
    for (int i = 1; i < 3; ++i)
      errors.expect(
          "BandSolver, solve of " + std::to_string(columns[i]) + name, [&] {
            const auto solver =
                std::make_shared<Solver>(Space(), old_band, kl, ku, options);
            const auto many = columns[i];
            solver->reserve(Space(), 5);
            const auto x = to_columns<double, Space>(
                random_values<double>(n * many, 5), n, many);
            return MemoryCase{
                [=] { solver->solve(Space(), x, x); },
                [=] {
                  EXPECT_EQ(solve(*solver, 1), old_x[0]);
                  EXPECT_EQ(solve(*solver, 20), old_x[1]);
                },
                [=, wanted = old_x[i]] { EXPECT_EQ(to_vector(x), wanted); }};
          });
  }
}

template <class Failing, class Space>
void expect_memory_errors_of_dense_systems(
    MemoryErrors<Failing, Space>& errors) {
  using Solver = GaussJordan<double, Space>;
  const std::int64_t n = 70, k = 3;
  auto entries = random_values<double>(n * n, 13);
  // The third column is twice the second: one without pivot.
  auto singular = entries;
  for (std::int64_t i = 0; i < n; ++i)
    singular[2 * n + i] = 2 * singular[n + i];
  const auto A = to_columns<double, Space>(entries, n, n);
  const auto b =
      to_columns<double, Space>(random_values<double>(n * k, 15), n, k);
  using View = std::decay_t<decltype(A)>;
  const View x("x", n, k), inverse("inverse", n, n);
  Solver reference;
  reference.solve(Space(), A, b, x);
  const auto wanted = to_vector(x);
  reference.invert(Space(), A, inverse);
  const auto wanted_inverse = to_vector(inverse);
  const auto small = to_columns<double, Space>({4., 1., 2., 5.}, 2, 2);
  // On an object that has had a smaller system, and on a new one.
  for (const bool used : {false, true}) {
    const auto make = [=] {
      const auto solver = std::make_shared<Solver>();
      if (used) solver->invert(Space(), small, View("other", 2, 2));
      return solver;
    };
    errors.expect("GaussJordan::solve", [&] {
      const auto solver = make();
      Kokkos::deep_copy(x, 7.);
      return MemoryCase{[=] { solver->solve(Space(), A, b, x); },
                        [=] {
                          for (const double v : to_vector(x)) EXPECT_EQ(v, 7.);
                        },
                        [=] { EXPECT_EQ(to_vector(x), wanted); }};
    });
    errors.expect("GaussJordan::invert", [&] {
      const auto solver = make();
      Kokkos::deep_copy(inverse, 7.);
      return MemoryCase{[=] { solver->invert(Space(), A, inverse); },
                        [=] {
                          for (const double v : to_vector(inverse))
                            EXPECT_EQ(v, 7.);
                        },
                        [=] { EXPECT_EQ(to_vector(inverse), wanted_inverse); }};
    });
    errors.expect("GaussJordan::reduce", [&] {
      const auto solver = make();
      const auto in_place = to_columns<double, Space>(singular, n, n);
      const auto form = std::make_shared<RowEchelonForm>();
      return MemoryCase{[=] { *form = solver->reduce(Space(), in_place); },
                        [=] { EXPECT_EQ(to_vector(in_place), singular); },
                        [=] { EXPECT_EQ(form->rank, n - 1); }};
    });
  }
}

/// ILU(1) by the names of Kokkos Kernels.
template <class Failing, class Space, class Matrix>
void expect_memory_errors_of_spiluk(MemoryErrors<Failing, Space>& errors,
                                    const Matrix& A) {
  using Memory = typename Space::memory_space;
  using Indices = Kokkos::View<int*, Memory>;
  struct Factors {
    Experimental::KokkosKernelsHandle<int, int, double, Space> handle;
    Indices L_row_map, L_entries, U_row_map, U_entries;
    VectorOf<Space> L_values, U_values;
  };
  const auto rows = static_cast<std::size_t>(A.numRows());
  const auto room = 8 * rows;
  const auto make = [=] {
    auto made = std::make_shared<Factors>();
    made->handle.create_spiluk_handle(
        Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1, static_cast<int>(rows),
        static_cast<int>(room), static_cast<int>(room));
    made->L_row_map = Indices("L_row_map", rows + 1);
    made->U_row_map = Indices("U_row_map", rows + 1);
    made->L_entries = Indices("L_entries", room);
    made->U_entries = Indices("U_entries", room);
    made->L_values = VectorOf<Space>("L_values", room);
    made->U_values = VectorOf<Space>("U_values", room);
    return made;
  };
  const auto symbolic = [=](Factors& f) {
    spiluk_symbolic(Space(), &f.handle, 1, A.graph.row_map, A.graph.entries,
                    f.L_row_map, f.L_entries, f.U_row_map, f.U_entries);
  };
  const auto numeric = [=](Factors& f) {
    spiluk_numeric(Space(), &f.handle, 1, A.graph.row_map, A.graph.entries,
                   A.values, f.L_row_map, f.L_entries, f.L_values, f.U_row_map,
                   f.U_entries, f.U_values);
  };
  const auto reference = make();
  symbolic(*reference);
  numeric(*reference);
  const auto entries = host_copy(reference->U_entries);
  const auto values = host_copy(reference->U_values);
  const std::vector<int> no_entries(room);
  const std::vector<double> no_values(room);
  errors.expect("spiluk_symbolic", [&] {
    const auto made = make();
    return MemoryCase{
        [=] { symbolic(*made); },
        [=] {
          EXPECT_FALSE(
              made->handle.get_spiluk_handle()->is_symbolic_complete());
          EXPECT_EQ(host_copy(made->U_entries), no_entries);
        },
        [=] { EXPECT_EQ(host_copy(made->U_entries), entries); }};
  });
  errors.expect("spiluk_numeric", [&] {
    const auto made = make();
    symbolic(*made);
    return MemoryCase{[=] { numeric(*made); },
                      [=] { EXPECT_EQ(host_copy(made->U_values), no_values); },
                      [=] { EXPECT_EQ(host_copy(made->U_values), values); }};
  });
}

template <class Failing, class Space>
void expect_memory_errors_of_functions(MemoryErrors<Failing, Space>& errors) {
  using Matrix = SolverMatrix<double, Space>;
  const auto A = grid_matrix(12, false).template to_device<Matrix>();
  const auto factors = incomplete_lu(Space(), A);
  const auto lower = host_copy(factors.L.values);
  const auto upper = host_copy(factors.U.values);
  errors.expect("incomplete_lu", [&] {
    const auto made = std::make_shared<IncompleteLu<Matrix>>();
    return MemoryCase{[=] { *made = incomplete_lu(Space(), A); },
                      {},
                      [=] {
                        EXPECT_EQ(host_copy(made->L.values), lower);
                        EXPECT_EQ(host_copy(made->U.values), upper);
                      }};
  });
  const auto with_fill = incomplete_pattern(Space(), A, 2);
  const auto columns = host_copy(with_fill.graph.entries);
  errors.expect("incomplete_pattern", [&] {
    const auto made = std::make_shared<Matrix>();
    return MemoryCase{
        [=] { *made = incomplete_pattern(Space(), A, 2); },
        {},
        [=] { EXPECT_EQ(host_copy(made->graph.entries), columns); }};
  });
  expect_memory_errors_of_spiluk(errors, A);
  errors.expect("take_triangle", [&] {
    const auto made = std::make_shared<Matrix>();
    return MemoryCase{[=] { *made = take_triangle(Space(), A, Uplo::lower); },
                      {},
                      [=] { EXPECT_EQ(made->nnz(), factors.L.nnz()); }};
  });
  const auto order = level_permutation(Space(), A);
  const auto rows = host_copy(order.old_row);
  errors.expect("level_permutation", [&] {
    const auto made = std::make_shared<std::decay_t<decltype(order)>>();
    return MemoryCase{[=] { *made = level_permutation(Space(), A); },
                      {},
                      [=] { EXPECT_EQ(host_copy(made->old_row), rows); }};
  });
  errors.expect("permute_symmetric", [&] {
    const auto made = std::make_shared<Matrix>();
    return MemoryCase{[=] { *made = permute_symmetric(Space(), A, order); },
                      {},
                      [=] { EXPECT_EQ(made->nnz(), A.nnz()); }};
  });
  errors.expect("colour_rows", [&] {
    const auto made =
        std::make_shared<Colouring<typename Space::memory_space>>();
    return MemoryCase{[=] { *made = colour_rows(Space(), A); },
                      {},
                      [=] { EXPECT_EQ(made->num_colours(), 2); }};
  });
  for (const char* spec : {"grid2d:9", "random:200x5"})
    errors.expect(std::string("gallery, ") + spec, [&] {
      const auto made = std::make_shared<Matrix>();
      const auto same = host_copy(gallery<Matrix>(Space(), spec).values);
      return MemoryCase{[=] { *made = gallery<Matrix>(Space(), spec); },
                        {},
                        [=] { EXPECT_EQ(host_copy(made->values), same); }};
    });
  const std::string path = testing::TempDir() + "/strata_memory_errors_" +
                           std::to_string(getpid()) + ".mtx";
  {
    std::ofstream file(path);
    file << "%%MatrixMarket matrix coordinate real general\n60 60 119\n1 1 "
            "2.5\n";
    for (int i = 2; i <= 60; ++i)
      file << i << ' ' << i - 1 << " 0.5\n" << i << ' ' << i << " 2.5\n";
  }
  errors.expect("read_matrix_market", [&] {
    const auto made = std::make_shared<Matrix>();
    return MemoryCase{[=] { *made = read_matrix_market<Matrix>(path); },
                      {},
                      [=] {
                        EXPECT_EQ(made->nnz(), 119);
                        EXPECT_EQ(host_copy(made->values)[0], 2.5);
                      }};
  });
  std::remove(path.c_str());
}

}  // namespace SolverTest
}  // namespace Strata

#endif
