// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Strata_Sptrsv.hpp>

#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Handle =
    Experimental::KokkosKernelsHandle<int, int, double, Space, Memory, Memory>;
using Matrix = SolverMatrix<double, Space>;

/// One system and its vectors.
struct Problem {
  HostMatrix<double> A;
  Uplo uplo;
  Matrix matrix;
  std::vector<double> b;
  Kokkos::View<double*, Memory> b_view, x_view;

  explicit Problem(Uplo uplo_, int n = 200, unsigned seed = 1)
      : A(make_triangle<double>(random_pattern(n, 4.0, n, 2), uplo_,
                                StoredDiagonal::value, seed)),
        uplo(uplo_),
        matrix(A.to_device<Matrix>()),
        b(random_values<double>(n, 3)),
        b_view("b", n),
        x_view("x", n) {
    const auto host = Kokkos::create_mirror_view(b_view);
    std::copy(b.begin(), b.end(), host.data());
    Kokkos::deep_copy(b_view, host);
  }
  bool lower() const { return uplo == Uplo::lower; }
  const decltype(Matrix::graph)& graph() const { return matrix.graph; }
  std::vector<double> x() const {
    Kokkos::fence();
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x_view);
    return {host.data(), host.data() + host.extent(0)};
  }
  void expect_solved() const {
    HostSystem<double>{A, uplo, Diag::non_unit}.expect_solution(b.data(),
                                                                x().data());
  }
  /// New values in the same place.
  void change_values(unsigned seed) {
    A = make_triangle<double>(random_pattern(static_cast<int>(A.rows), 4.0,
                                             static_cast<int>(A.rows), 2),
                              uplo, StoredDiagonal::value, seed);
    const auto host = Kokkos::create_mirror_view(matrix.values);
    std::copy(A.values.begin(), A.values.end(), host.data());
    Kokkos::deep_copy(matrix.values, host);
  }
};

TEST(Sptrsv, SolvesLikeKokkosKernels) {
  for (const auto uplo : {Uplo::lower, Uplo::upper}) {
    const Problem p(uplo);
    Handle handle;
    handle.create_sptrsv_handle(Experimental::SPTRSVAlgorithm::SEQLVLSCHD_TP1,
                                200, p.lower());
    EXPECT_FALSE(handle.get_sptrsv_handle()->is_symbolic_complete());
    sptrsv_symbolic(&handle, p.graph().row_map, p.graph().entries);
    EXPECT_TRUE(handle.get_sptrsv_handle()->is_symbolic_complete());
    EXPECT_EQ(handle.get_sptrsv_handle()->is_lower_tri(), p.lower());
    EXPECT_EQ(handle.get_sptrsv_handle()->is_upper_tri(), !p.lower());
    EXPECT_EQ(handle.get_sptrsv_handle()->get_nrows(), 200u);
    EXPECT_GT(handle.get_sptrsv_handle()->get_num_levels(), 1u);
    sptrsv_solve(&handle, p.graph().row_map, p.graph().entries, p.matrix.values,
                 p.b_view, p.x_view);
    p.expect_solved();
    handle.destroy_sptrsv_handle();
    EXPECT_EQ(handle.get_sptrsv_handle(), nullptr);
  }
}

TEST(Sptrsv, EveryOverloadSolvesInEitherNamespace) {
  const Problem p(Uplo::lower);
  const auto& row_map = p.graph().row_map;
  const auto& entries = p.graph().entries;
  const auto& values = p.matrix.values;
  Space space;
  for (const auto& variant : algorithms()) {
    SCOPED_TRACE(variant.name);
    Handle handle;
    handle.create_sptrsv_handle(variant.options.algorithm, 200, true);
    const auto solve_and_expect = [&] {
      Kokkos::deep_copy(p.x_view, std::nan(""));
      Strata::sptrsv_solve(&handle, row_map, entries, values, p.b_view,
                           p.x_view);
      p.expect_solved();
      Kokkos::deep_copy(p.x_view, std::nan(""));
      Strata::Experimental::sptrsv_solve(space, &handle, row_map, entries,
                                         values, p.b_view, p.x_view);
      p.expect_solved();
    };
    Strata::sptrsv_symbolic(&handle, row_map, entries);
    solve_and_expect();
    Strata::sptrsv_symbolic(space, &handle, row_map, entries);
    solve_and_expect();
    Strata::Experimental::sptrsv_symbolic(&handle, row_map, entries, values);
    solve_and_expect();
    Strata::Experimental::sptrsv_symbolic(space, &handle, row_map, entries,
                                          values);
    solve_and_expect();
    EXPECT_EQ(handle.get_sptrsv_handle()->get_algorithm(),
              variant.options.algorithm);
  }
}

TEST(Sptrsv, ValuesChangedInPlaceAreSeen) {
  Problem p(Uplo::upper);
  Handle handle;
  handle.create_sptrsv_handle(Algorithm::automatic, 200, false);
  sptrsv_symbolic(&handle, p.graph().row_map, p.graph().entries,
                  p.matrix.values);
  for (unsigned seed = 1; seed < 5; ++seed) {
    p.change_values(seed);
    sptrsv_solve(&handle, p.graph().row_map, p.graph().entries, p.matrix.values,
                 p.b_view, p.x_view);
    p.expect_solved();
  }
}

TEST(Sptrsv, FixedValuesArePackedOnceAnAddress) {
  Problem p(Uplo::lower);
  Handle handle;
  handle.create_sptrsv_handle(Algorithm::automatic, 200, true);
  sptrsv_symbolic(&handle, p.graph().row_map, p.graph().entries);
  handle.get_sptrsv_handle()->set_values_fixed(true);
  const auto solve_with = [&](const Matrix& matrix) {
    sptrsv_solve(&handle, matrix.graph.row_map, matrix.graph.entries,
                 matrix.values, p.b_view, p.x_view);
    return p.x();
  };
  const auto x = solve_with(p.matrix);
  p.expect_solved();
  // The promise is taken at its word.
  p.change_values(2);
  EXPECT_TRUE(same_bits(solve_with(p.matrix), x));
  // Another address, and the promise taken back.
  const Problem other(Uplo::lower, 200, 3);
  EXPECT_FALSE(same_bits(solve_with(other.matrix), x));
  handle.get_sptrsv_handle()->set_values_fixed(false);
  solve_with(p.matrix);
  p.expect_solved();
}

TEST(Sptrsv, SolvesManyRightHandSidesWithOptions) {
  const Problem p(Uplo::lower);
  Handle handle;
  handle.create_sptrsv_handle(Algorithm::subgraphs, 200, true);
  handle.get_sptrsv_handle()->options().op = Op::transpose;
  handle.get_sptrsv_handle()->options().experimental.max_subgraph_rows = 20;
  sptrsv_symbolic(&handle, p.graph().row_map, p.graph().entries);
  const auto b = random_values<double>(200 * 5, 4);
  const auto b_view = to_columns<double, Space>(b, 200, 5);
  const Columns<double, Space> x_view("x", 200, 5);
  sptrsv_solve(&handle, p.graph().row_map, p.graph().entries, p.matrix.values,
               b_view, x_view);
  const auto x = to_vector(x_view);
  for (int c = 0; c < 5; ++c)
    HostSystem<double>{p.A, Uplo::lower, Diag::non_unit, Op::transpose}
        .expect_solution(b.data() + 200 * c, x.data() + 200 * c);
  EXPECT_GT(handle.get_sptrsv_handle()->solver().report().subgraphs, 9);
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

TEST(Sptrsv, MisuseIsAnError) {
  const Problem p(Uplo::lower), shorter(Uplo::lower, 199);
  const auto before = p.x();
  Handle handle;
  const auto symbolic = [&](const Problem& q) {
    sptrsv_symbolic(&handle, q.graph().row_map, q.graph().entries);
  };
  const auto solve = [&](const Problem& q, const auto& b, const auto& x) {
    sptrsv_solve(&handle, q.graph().row_map, q.graph().entries, q.matrix.values,
                 b, x);
  };
  expect_error<HandleError>([&] { symbolic(p); }, "handle",
                            "has no sptrsv handle");
  expect_error<HandleError>([&] { solve(p, p.b_view, p.x_view); }, "handle",
                            "has no sptrsv handle");
  handle.create_sptrsv_handle(Algorithm::automatic, 200, true);
  expect_error<HandleError>([&] { solve(p, p.b_view, p.x_view); }, "handle",
                            "has not been analysed");
  expect_error<SizeMismatchError>([&] { symbolic(shorter); }, "row_map",
                                  "created for 200 rows");
  const Problem upper(Uplo::upper);
  expect_error<WrongTriangleError>([&] { symbolic(upper); }, "entries",
                                   "lower triangle");
  symbolic(p);
  expect_error<SizeMismatchError>([&] { solve(shorter, p.b_view, p.x_view); },
                                  "row_map", "has 200 elements");
  expect_error<SizeMismatchError>([&] { solve(p, shorter.b_view, p.x_view); },
                                  "b", "has 199 rows");
  expect_error<AliasError>(
      [&] {
        const Kokkos::View<double*, Memory> both("both", 201);
        solve(p, Kokkos::subview(both, Kokkos::make_pair(0, 200)),
              Kokkos::subview(both, Kokkos::make_pair(1, 201)));
      },
      "x", "shares");
  // A zero comes with the values, long after the pattern.
  auto bad = p.A;
  bad.values[bad.row_map[8] - 1] = 0;
  const auto bad_matrix = bad.to_device<Matrix>();
  expect_error<ZeroDiagonalError>(
      [&] {
        sptrsv_solve(&handle, p.graph().row_map, p.graph().entries,
                     bad_matrix.values, p.b_view, p.x_view);
      },
      "values", "row 7");
  EXPECT_TRUE(same_bits(p.x(), before));
  solve(p, p.b_view, p.x_view);
  p.expect_solved();
}

TEST(Sptrsv, SettersUndoAnAnalysisTheyContradict) {
  const Problem p(Uplo::lower);
  Handle handle;
  EXPECT_THROW(handle.is_sptrsv_lower_tri(), HandleError);
  EXPECT_THROW(handle.set_sptrsv_unit_diagonal(true), HandleError);
  EXPECT_THROW(handle.create_sptrsv_handle(
                   Experimental::SPTRSVAlgorithm::SEQLVLSCHD_RP, 200, true, 3),
               OptionError);
  handle.create_sptrsv_handle(Experimental::SPTRSVAlgorithm::SEQLVLSCHD_RP, 200,
                              true, 0);
  auto& h = *handle.get_sptrsv_handle();
  EXPECT_FALSE(h.is_block_enabled());
  EXPECT_EQ(h.return_algorithm_string(), "automatic");
  EXPECT_EQ(h.get_team_size(), -1);
  h.set_team_size(64);
  EXPECT_EQ(h.get_team_size(), 64);
  EXPECT_EQ(h.options().experimental.team_size, 64);
  h.set_team_size(-1);
  EXPECT_EQ(h.options().experimental.team_size, 0);
  h.set_algorithm(Algorithm::level_sets);
  h.set_algorithm(Experimental::SPTRSVAlgorithm::SPTRSV_CUSPARSE);
  EXPECT_EQ(h.options().algorithm, Algorithm::automatic);
  h.set_algorithm(Algorithm::level_sets);

  const auto solve = [&](const Problem& q) {
    sptrsv_symbolic(&handle, q.graph().row_map, q.graph().entries);
    EXPECT_TRUE(h.is_symbolic_complete());
    sptrsv_solve(&handle, q.graph().row_map, q.graph().entries, q.matrix.values,
                 q.b_view, q.x_view);
    HostSystem<double>{q.A, q.uplo,
                       h.is_unit_diagonal() ? Diag::unit : Diag::non_unit}
        .expect_solution(q.b.data(), q.x().data());
  };
  solve(p);
  EXPECT_EQ(h.return_algorithm_string(), "level_sets");
  // The same again undoes nothing.
  h.set_nrows(200);
  h.set_lower_tri(true);
  h.set_unit_diagonal(false);
  EXPECT_TRUE(h.is_symbolic_complete());
  handle.set_sptrsv_unit_diagonal(true);
  EXPECT_FALSE(h.is_symbolic_complete());
  EXPECT_THROW(h.get_num_levels(), HandleError);
  solve(p);
  h.set_lower_tri(false);
  EXPECT_FALSE(h.is_symbolic_complete());
  EXPECT_FALSE(handle.is_sptrsv_lower_tri());
  solve(Problem(Uplo::upper));
  h.set_nrows(150);
  EXPECT_FALSE(h.is_symbolic_complete());
  h.set_unit_diagonal(false);
  solve(Problem(Uplo::upper, 150));
  h.set_symbolic_incomplete();
  EXPECT_FALSE(h.is_symbolic_complete());
}

TEST(Sptrsv, SolvesSystemsSideBySide) {
  const std::vector<Problem> problems{Problem(Uplo::lower, 200),
                                      Problem(Uplo::upper, 90, 2),
                                      Problem(Uplo::lower, 300, 3)};
  std::vector<Handle> handles(3);
  std::vector<Space> spaces(3);
  std::vector<Handle*> handle_v;
  std::vector<decltype(Matrix::graph.row_map)> row_map_v;
  std::vector<decltype(Matrix::graph.entries)> entries_v;
  std::vector<decltype(Matrix::values)> values_v;
  std::vector<Kokkos::View<double*, Memory>> b_v, x_v;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& p = problems[i];
    handles[i].create_sptrsv_handle(Algorithm::sync_free,
                                    static_cast<int>(p.A.rows), p.lower());
    sptrsv_symbolic(spaces[i], &handles[i], p.graph().row_map,
                    p.graph().entries);
    handle_v.push_back(&handles[i]);
    row_map_v.push_back(p.graph().row_map);
    entries_v.push_back(p.graph().entries);
    values_v.push_back(p.matrix.values);
    b_v.push_back(p.b_view);
    x_v.push_back(p.x_view);
  }
  const auto solve = [&] {
    Experimental::sptrsv_solve_streams(spaces, handle_v, row_map_v, entries_v,
                                       values_v, b_v, x_v);
  };
  solve();
  for (const auto& p : problems) p.expect_solved();

  // One fault anywhere, and none is solved.
  const auto before = problems[0].x();
  Kokkos::deep_copy(b_v[0], 3.0);
  const auto expect_nothing_done = [&] {
    EXPECT_TRUE(same_bits(problems[0].x(), before));
  };
  std::swap(b_v[1], b_v[2]);
  expect_error<SizeMismatchError>(solve, "b", "has 300 rows, the system 90");
  expect_nothing_done();
  std::swap(b_v[1], b_v[2]);
  handle_v[2] = handle_v[0];
  expect_error<AliasError>(solve, "handle_v", "one handle at 0 and 2");
  handle_v[2] = &handles[2];
  auto bad = problems[2].A;
  bad.values[bad.row_map[8] - 1] = 0;
  const auto good = values_v[2];
  values_v[2] = bad.to_device<Matrix>().values;
  expect_error<ZeroDiagonalError>(solve, "values", "row 7");
  expect_nothing_done();
  values_v[2] = good;
  // One list that is shorter, or longer.
  const auto expect_count = [&](auto& list, const char* name) {
    const auto whole = list;
    list.pop_back();
    expect_error<SizeMismatchError>(solve, name, "has 2 elements");
    list = whole;
    list.push_back(whole.back());
    expect_error<SizeMismatchError>(solve, name, "has 4 elements");
    list = whole;
    expect_nothing_done();
  };
  expect_count(handle_v, "handle_v");
  expect_count(row_map_v, "rowmap_v");
  expect_count(entries_v, "entries_v");
  expect_count(values_v, "values_v");
  expect_count(b_v, "b_v");
  expect_count(x_v, "x_v");
  spaces.pop_back();
  expect_error<SizeMismatchError>(solve, "handle_v", "execspace_v 2");
  spaces.push_back(Space());
  expect_nothing_done();
}

TEST(Sptrsv, SystemsSideBySideHaveSolutionsOfTheirOwn) {
  const Problem p(Uplo::lower);
  std::vector<Handle> handles(2);
  std::vector<Handle*> handle_v;
  for (auto& handle : handles) {
    handle.create_sptrsv_handle(Algorithm::automatic, 200, true);
    sptrsv_symbolic(&handle, p.graph().row_map, p.graph().entries);
    handle_v.push_back(&handle);
  }
  using Vector = Kokkos::View<double*, Memory>;
  const Vector memory("memory", 1000);
  const auto part = [&](int first) {
    return Vector(memory.data() + first, 200);
  };
  const auto solve = [&](const Vector& b0, const Vector& x0, const Vector& b1,
                         const Vector& x1) {
    sptrsv_solve_streams(
        std::vector<Space>(2), handle_v,
        std::vector<decltype(Matrix::graph.row_map)>(2, p.graph().row_map),
        std::vector<decltype(Matrix::graph.entries)>(2, p.graph().entries),
        std::vector<decltype(Matrix::values)>(2, p.matrix.values),
        std::vector<Vector>{b0, b1}, std::vector<Vector>{x0, x1});
  };
  Kokkos::deep_copy(memory, 7.0);
  const auto refused = [&](int b0, int x0, int b1, int x1, const char* what) {
    expect_error<AliasError>(
        [&] { solve(part(b0), part(x0), part(b1), part(x1)); }, "x_v", what);
  };
  refused(0, 200, 400, 200, "element 1 shares memory with element 0 of x_v");
  refused(0, 200, 600, 399, "element 1 shares memory with element 0 of x_v");
  refused(0, 200, 200, 600, "element 0 shares memory with element 1 of b_v");
  refused(0, 600, 400, 100, "element 1 shares memory with element 0 of b_v");
  Kokkos::fence();
  const auto now =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), memory);
  EXPECT_EQ(std::count(now.data(), now.data() + 1000, 7.0), 1000);
  // One b for both, and each in place.
  EXPECT_NO_THROW(solve(part(0), part(200), part(0), part(400)));
  EXPECT_NO_THROW(solve(part(0), part(0), part(400), part(400)));
  Kokkos::fence();
}

TEST(Sptrsv, AlgorithmsThatThereAreNotAreRefused) {
  const std::string says = "is 99, which has no name";
  const auto bad = static_cast<Algorithm>(99);
  const auto bad_kernel = static_cast<Experimental::SPTRSVAlgorithm>(99);
  Handle handle;
  expect_error<OptionError>(
      [&] { handle.create_sptrsv_handle(bad, 200, true); }, "algorithm", says);
  EXPECT_EQ(handle.get_sptrsv_handle(), nullptr);
  handle.create_sptrsv_handle(Algorithm::level_sets, 200, true);
  const auto* const made = handle.get_sptrsv_handle();
  expect_error<OptionError>(
      [&] { handle.create_sptrsv_handle(bad_kernel, 200, true); }, "algorithm",
      says);
  EXPECT_EQ(handle.get_sptrsv_handle(), made);
  auto& h = *handle.get_sptrsv_handle();
  expect_error<OptionError>([&] { h.set_algorithm(bad); }, "algorithm", says);
  expect_error<OptionError>([&] { h.set_algorithm(bad_kernel); }, "algorithm",
                            says);
  EXPECT_EQ(h.get_algorithm(), Algorithm::level_sets);
  EXPECT_STREQ(to_string(bad_kernel), "unknown");
  EXPECT_STREQ(to_string(Experimental::SPTRSVAlgorithm::SPTRSV_CUSPARSE),
               "SPTRSV_CUSPARSE");
  const Problem p(Uplo::lower);
  h.options().algorithm = bad;
  expect_error<OptionError>(
      [&] { sptrsv_symbolic(&handle, p.graph().row_map, p.graph().entries); },
      "algorithm", says);
}

TEST(Sptrsv, ChecksTheExtentsOfAMatrixOfOneEntry) {
  const auto A = HostMatrix<double>(1, 1, {2}).to_device<Matrix>();
  Handle handle;
  handle.create_sptrsv_handle(Algorithm::automatic, 1, true);
  sptrsv_symbolic(&handle, A.graph.row_map, A.graph.entries);
  const Kokkos::View<double*, Memory> b("b", 1), x("x", 1);
  const decltype(Matrix::graph.entries) none;
  expect_error<SizeMismatchError>(
      [&] { sptrsv_solve(&handle, A.graph.row_map, none, A.values, b, x); },
      "entries", "has 0 elements");
}

TEST(Sptrsv, AcceptsNoRows) {
  const Problem p(Uplo::lower, 0);
  Handle handle;
  handle.create_sptrsv_handle(Algorithm::automatic, 0, true);
  sptrsv_symbolic(&handle, p.graph().row_map, p.graph().entries);
  sptrsv_solve(&handle, p.graph().row_map, p.graph().entries, p.matrix.values,
               p.b_view, p.x_view);
  EXPECT_EQ(handle.get_sptrsv_handle()->get_num_levels(), 0u);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
