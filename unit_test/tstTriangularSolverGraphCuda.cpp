// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves recorded into CUDA graphs. The tests of this file need the CUDA
// backend; what a solve may do on any backend is in tstTriangularSolverEvents.
#include <Strata_FactorSolver.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>

#include "RowwiseAccuracy.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::Cuda;
using Memory = Space::memory_space;

void expect_success(cudaError_t error) {
  ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

/// A stream of its own, and an execution space instance on it.
class Stream {
 public:
  Stream() : stream_(make()), space_(stream_) {}
  ~Stream() {
    space_.fence();
    space_ = Space();
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  const Space& space() const { return space_; }

 private:
  static cudaStream_t make() {
    cudaStream_t stream = nullptr;
    expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
  }
  cudaStream_t stream_;
  Space space_;
};

/// What `work` enqueues on a stream, as a graph. Waiting, allocating and
/// anything else that a stream in this mode refuses ends the recording with an
/// error.
class RecordedGraph {
 public:
  template <class Work>
  RecordedGraph(const Stream& stream, const Work& work) {
    expect_success(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    work();
    expect_success(cudaStreamEndCapture(stream, &graph_));
    if (graph_ == nullptr) return;
    expect_success(cudaGraphInstantiateWithFlags(&executable_, graph_, 0));
  }
  ~RecordedGraph() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }
  RecordedGraph(const RecordedGraph&) = delete;
  RecordedGraph& operator=(const RecordedGraph&) = delete;
  bool possible() const { return executable_ != nullptr; }
  void launch(const Stream& stream) const {
    expect_success(cudaGraphLaunch(executable_, stream));
  }
  /// Kernels it consists of; -1 if there is anything else in it.
  int num_kernels() const {
    std::size_t count = 0;
    if (cudaGraphGetNodes(graph_, nullptr, &count) != cudaSuccess) return -1;
    std::vector<cudaGraphNode_t> nodes(count);
    cudaGraphGetNodes(graph_, nodes.data(), &count);
    for (const auto node : nodes) {
      cudaGraphNodeType type;
      if (cudaGraphNodeGetType(node, &type) != cudaSuccess ||
          type != cudaGraphNodeTypeKernel)
        return -1;
    }
    return static_cast<int>(count);
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

template <class Scalar>
void fill(const Columns<Scalar, Space>& view, const std::vector<Scalar>& from) {
  const auto host = Kokkos::create_mirror_view(view);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(view, host);
}

/// Records a solve of k right-hand sides before anything else was solved, then
/// replays it with new right-hand sides, other solves in between.
template <class Scalar>
void expect_replays(const Pattern& pattern, const Operation& operation,
                    const Variant& variant, int k) {
  SCOPED_TRACE(pattern.name + ", " + operation.name() + ", " + variant.name +
               ", " + std::to_string(k) + " right-hand sides");
  const auto A =
      make_triangle<Scalar>(pattern, operation.uplo, operation.stored);
  const auto matrix = A.template to_device<SolverMatrix<Scalar, Space>>();
  auto options = variant.options;
  options.op = operation.op;
  const Stream stream;
  const TriangularSolver<Scalar, Space> recorded(
      stream.space(), matrix, operation.uplo, operation.diag, options);
  const TriangularSolver<Scalar, Space> direct(Space(), matrix, operation.uplo,
                                               operation.diag, options);
  const HostSystem<Scalar> system{A, operation.uplo, operation.diag,
                                  operation.op};
  const auto n = A.rows;
  const Columns<Scalar, Space> b("b", n, k), x("x", n, k);
  const RecordedGraph graph(stream, [&] {
    if (k == 1)
      recorded.solve(stream.space(), Kokkos::subview(b, Kokkos::ALL(), 0),
                     Kokkos::subview(x, Kokkos::ALL(), 0));
    else
      recorded.solve(stream.space(), b, x);
  });
  ASSERT_TRUE(graph.possible());
  EXPECT_GE(graph.num_kernels(), 1);
  const std::vector<Scalar> nothing(n * k, Scalar(std::nan("")));
  for (unsigned replay = 0; replay < 5; ++replay) {
    const auto values = random_values<Scalar>(n * k, 100 + replay);
    fill(b, values);
    fill(x, nothing);
    Kokkos::fence();
    graph.launch(stream);
    if (replay == 3) graph.launch(stream);
    stream.space().fence();
    const auto found = to_vector(x);
    EXPECT_TRUE(same_bits(found, solve(direct, values, k)))
        << "replay " << replay;
    for (int c = 0; c < k; c += 7)
      system.expect_solution(values.data() + c * n, found.data() + c * n);
    if (testing::Test::HasFailure()) return;
    // The same solver, outside the graph, with other numbers of columns.
    if (replay % 2 == 1)
      for (const int other : {1, 3, k}) {
        const auto more = random_values<Scalar>(n * other, replay);
        EXPECT_TRUE(
            same_bits(solve(recorded, more, other), solve(direct, more, other)))
            << other << " columns outside the graph";
      }
  }
}

template <class Scalar>
void expect_all_replay() {
  const auto all = operations();
  std::size_t next = 0;
  for (const auto& pattern :
       {random_pattern(700, 4.0, 700, 2), random_pattern(500, 3.0, 4, 3),
        wave_pattern({1, 400, 2, 1, 65, 7, 300, 1, 1, 128})})
    for (const auto& variant : variants())
      for (const int k : {1, 9, 40}) {
        expect_replays<Scalar>(pattern, all[next % all.size()], variant, k);
        next += 5;
        if (testing::Test::HasFailure()) return;
      }
}

/// Plans follow each other in the same memory: a later one on another stream
/// must not be written over what solves still read.
TEST(TriangularSolver, PlansOfAnotherStreamWaitForSolves) {
  const auto A =
      make_triangle<double>(random_pattern(4000, 3.0, 60, 9), Uplo::lower);
  auto other = A;
  for (auto& value : other.values) value *= 0.5;
  using Matrix = SolverMatrix<double, Space>;
  const auto first = A.to_device<Matrix>(), second = other.to_device<Matrix>();
  const auto b = random_values<double>(4000, 4);
  const Stream here, there;
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    const auto make = [&](const Stream& stream, const Matrix& matrix) {
      return TriangularSolver<double, Space>(
          stream.space(), matrix, Uplo::lower, Diag::non_unit, variant.options);
    };
    const auto expected = solve(make(here, first), b);
    for (int turn = 0; turn < 3; ++turn) {
      const auto from = to_columns<double, Space>(b, 4000, 1);
      const auto x = to_columns<double, Space>(b, 4000, 1);
      {
        // As long as several analyses.
        const auto solver = make(here, first);
        for (int i = 0; i < 200; ++i) solver.solve(here.space(), from, x);
      }
      const auto next = make(there, second);
      EXPECT_TRUE(same_bits(to_vector(x), expected));
      EXPECT_GT(next.report().plan_bytes, 0u);
    }
    if (HasFailure()) return;
  }
}

TEST(TriangularSolverGraph, DoubleReplays) { expect_all_replay<double>(); }
TEST(TriangularSolverGraph, ComplexFloatReplays) {
  expect_all_replay<Kokkos::complex<float>>();
}

/// An apply of both factors, permuted and scaled, in more than one batch.
template <class Scalar>
void expect_applies_replay(FactorPrecision precision, Op op, int k) {
  SCOPED_TRACE(std::string(to_string(precision)) + ", " + to_string(op) + ", " +
               std::to_string(k) + " right-hand sides");
  const Stream stream;
  const auto A =
      gallery<SolverMatrix<Scalar, Space>>(Space(), "triangulated:33x17");
  const auto factors = incomplete_lu(Space(), A);
  const int n = A.numRows();
  const Kokkos::View<int*, Memory> order("order", n);
  const auto host_order = Kokkos::create_mirror_view(order);
  for (int i = 0; i < n; ++i) host_order(i) = n - 1 - i;
  Kokkos::deep_copy(order, host_order);
  const Kokkos::View<Scalar*, Memory> scaling("scaling", n);
  Kokkos::deep_copy(scaling, Scalar(3));
  const auto transformation = FactorTransformation<Scalar, Space>()
                                  .row_permutation(order)
                                  .column_permutation(order)
                                  .column_scaling(scaling);
  FactorSolverOptions options;
  options.precision = precision;
  options.transpose = true;
  options.triangular.max_right_hand_sides = 3;
  const FactorSolver<Scalar, Space> recorded(
      stream.space(), factors.L, factors.U, transformation, options),
      direct(Space(), factors.L, factors.U, transformation, options);
  const Columns<Scalar, Space> b("b", n, k), x("x", n, k), y("y", n, k);
  const RecordedGraph graph(stream,
                            [&] { recorded.apply(stream.space(), b, x, op); });
  ASSERT_TRUE(graph.possible());
  EXPECT_GE(graph.num_kernels(), 2);
  for (unsigned replay = 0; replay < 4; ++replay) {
    auto values = random_values<Scalar>(n * k, 70 + replay);
    for (auto& v : values) v *= std::ldexp(1., 100 * static_cast<int>(replay));
    fill(b, values);
    Kokkos::deep_copy(x, Scalar(std::nan("")));
    Kokkos::fence();
    graph.launch(stream);
    stream.space().fence();
    direct.apply(Space(), b, y, op);
    EXPECT_TRUE(same_bits(to_vector(x), to_vector(y))) << "replay " << replay;
    // The same solver, outside the graph.
    recorded.apply(stream.space(), b, b, op);
    EXPECT_TRUE(same_bits(to_vector(b), to_vector(y)));
  }
}
TEST(FactorSolverGraph, AppliesReplay) {
  for (const auto precision :
       {FactorPrecision::working, FactorPrecision::single})
    for (const Op op : {Op::none, Op::conjugate_transpose})
      for (const int k : {1, 5}) {
        expect_applies_replay<double>(precision, op, k);
        expect_applies_replay<Kokkos::complex<double>>(precision, op, k);
        if (testing::Test::HasFailure()) return;
      }
}

template <class Solver>
UpdateStatus status_of(const Solver& solver) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                             solver.update_status())();
}

template <class Scalar>
bool all_nan(const std::vector<Scalar>& x) {
  for (const auto& v : x)
    if (ScalarParts<Scalar>::finite(v)) return false;
  return true;
}

/// A graph of an update, a solve and a solve in place, replayed over values of
/// every kind: good, bad, such as divide by what has no reciprocal. Other
/// solves and updates come in between.
template <class Scalar>
void expect_updates_replay(const Pattern& pattern, const Operation& operation,
                           const Variant& variant, int k) {
  SCOPED_TRACE(pattern.name + ", " + operation.name() + ", " + variant.name +
               ", " + std::to_string(k) + " right-hand sides");
  const auto matrix = [&](unsigned seed) {
    return make_triangle<Scalar>(pattern, operation.uplo, operation.stored,
                                 seed);
  };
  constexpr bool is_single =
      sizeof(typename ScalarParts<Scalar>::Real) == sizeof(float);
  const auto first = matrix(1), second = matrix(2);
  const auto n = first.rows;
  auto bad = second, divided = second;
  const bool non_unit = operation.diag == Diag::non_unit;
  if (non_unit) {
    bad.at(n / 2, n / 2) = Scalar(0);
    divided.at(n / 2, n / 2) =
        Scalar(static_cast<typename ScalarParts<Scalar>::Real>(
            is_single ? 2e38 : 1.2e308));
  }
  using Matrix = SolverMatrix<Scalar, Space>;
  auto options = variant.options;
  options.op = operation.op;
  options.enqueue_updates = true;
  const Stream stream;
  const auto of_first = first.template to_device<Matrix>();
  TriangularSolver<Scalar, Space> solver(
      stream.space(), of_first, operation.uplo, operation.diag, options);
  const Kokkos::View<Scalar*, Memory> values("values", first.values.size());
  const auto given = random_values<Scalar>(n * k, 3);
  const auto b = to_columns<Scalar, Space>(given, n, k);
  const Columns<Scalar, Space> x("x", n, k), y("y", n, k);
  const auto solve_both = [&] {
    if (k == 1) {
      const auto column = [](const Columns<Scalar, Space>& of) {
        return Kokkos::subview(of, Kokkos::ALL(), 0);
      };
      solver.solve(stream.space(), column(b), column(x));
      solver.solve(stream.space(), column(y), column(y));
    } else {
      solver.solve(stream.space(), b, x);
      solver.solve(stream.space(), y, y);
    }
  };
  const RecordedGraph whole(stream, [&] {
    solver.enqueue_update_values(stream.space(), values);
    solve_both();
  });
  const RecordedGraph solves(stream, solve_both);
  ASSERT_TRUE(whole.possible());
  ASSERT_TRUE(solves.possible());
  EXPECT_GE(whole.num_kernels(), 3);
  const bool other_plan = solver.report().merged_levels > 1;
  const auto replay = [&](const RecordedGraph& graph) {
    fill(y, given);
    fill(x, std::vector<Scalar>(n * k, Scalar(7)));
    Kokkos::fence();
    graph.launch(stream);
    stream.space().fence();
    const auto found = to_vector(x);
    const auto in_place = to_vector(y);
    EXPECT_TRUE(all_nan(found) ? all_nan(in_place)
                               : same_bits(found, in_place));
    return found;
  };
  std::vector<Scalar> good_x;
  for (int turn = 0; turn < 9; ++turn) {
    SCOPED_TRACE("turn " + std::to_string(turn));
    // Good, bad, good, inaccurate, good, bad, inaccurate, bad, good.
    const int kind = std::vector<int>{0, 1, 0, 2, 0, 1, 2, 1, 0}[turn];
    const auto& A = kind == 0 ? second : kind == 1 ? bad : divided;
    const auto host = Kokkos::create_mirror_view(values);
    std::copy(A.values.begin(), A.values.end(), host.data());
    Kokkos::deep_copy(values, host);
    const auto found = replay(whole);
    const auto status = status_of(solver);
    if (kind == 1 && non_unit) {
      EXPECT_EQ(status.fault, UpdateFault::zero_diagonal);
      EXPECT_EQ(status.row, n / 2);
      EXPECT_TRUE(all_nan(found));
      EXPECT_TRUE(all_nan(replay(solves)));
    } else {
      EXPECT_EQ(status.fault, UpdateFault::none);
      EXPECT_EQ(status.unmerged, kind == 2 && non_unit && other_plan ? 1 : 0);
      const HostSystem<Scalar> system{A, operation.uplo, operation.diag,
                                      operation.op};
      for (int c = 0; c < k; c += 7)
        system.expect_solution(given.data() + c * n, found.data() + c * n);
      EXPECT_TRUE(same_bits(replay(solves), found));
      if (kind == 0 && good_x.empty()) good_x = found;
      if (kind == 0) EXPECT_TRUE(same_bits(found, good_x));
    }
    if (turn == 4) {
      // One that the host waits for leaves both graphs as they are.
      solver.update_values(stream.space(), of_first);
      const auto of_update = replay(solves);
      const HostSystem<Scalar> system{first, operation.uplo, operation.diag,
                                      operation.op};
      system.expect_solution(given.data(), of_update.data());
    }
    if (testing::Test::HasFailure()) return;
  }
}

template <class Scalar>
void expect_all_updates_replay() {
  const auto all = operations();
  std::size_t next = 0;
  for (const auto& pattern :
       {random_pattern(700, 4.0, 700, 2), random_pattern(500, 3.0, 4, 3),
        wave_pattern({1, 400, 2, 1, 65, 7, 300, 1, 1, 128})})
    for (const auto& variant : variants())
      for (const int k : {1, 9, 40}) {
        expect_updates_replay<Scalar>(pattern, all[next % all.size()], variant,
                                      k);
        next += 5;
        if (testing::Test::HasFailure()) return;
      }
}
TEST(TriangularSolverGraph, DoubleUpdatesReplay) {
  expect_all_updates_replay<double>();
}
TEST(TriangularSolverGraph, ComplexFloatUpdatesReplay) {
  expect_all_updates_replay<Kokkos::complex<float>>();
}

/// Values with which merged rows would be too inaccurate.
TEST(TriangularSolverGraph, UpdatesKeepTheContractOfAccuracy) {
  constexpr int n = 3000;
  const auto good = chain(n, 0.7);
  auto inaccurate = good;
  inaccurate.at(1000, 1000) = 1e-12;
  using Matrix = SolverMatrix<double, Space>;
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = 4;
  options.enqueue_updates = true;
  const Stream stream;
  TriangularSolver<double, Space> solver(stream.space(),
                                         good.to_device<Matrix>(), Uplo::lower,
                                         Diag::non_unit, options);
  ASSERT_EQ(solver.report().merged_levels, 4);
  const Kokkos::View<double*, Memory> values("values", good.values.size());
  const Columns<double, Space> b("b", n, 1), x("x", n, 1);
  const RecordedGraph graph(stream, [&] {
    solver.enqueue_update_values(stream.space(), values);
    for (int i = 0; i < 5; ++i)
      solver.solve(stream.space(), Kokkos::subview(b, Kokkos::ALL(), 0),
                   Kokkos::subview(x, Kokkos::ALL(), 0));
  });
  ASSERT_TRUE(graph.possible());
  for (int turn = 0; turn < 6; ++turn) {
    const auto& A = turn % 2 == 0 ? good : inaccurate;
    const auto host = Kokkos::create_mirror_view(values);
    std::copy(A.values.begin(), A.values.end(), host.data());
    Kokkos::deep_copy(values, host);
    const auto right = multiplied(A, random_values<double>(n, 5));
    fill(b, right);
    Kokkos::fence();
    graph.launch(stream);
    stream.space().fence();
    EXPECT_EQ(status_of(solver).unmerged, turn % 2);
    EXPECT_LE(rowwise_error(A, right, to_vector(x)), turn % 2 ? 6 : 100);
  }
}

/// A graph of a factorisation and its applications, replayed over good and bad
/// values, after which it is what a new factorisation is.
/// A gallery matrix with the values of its lower triangle in the upper one,
/// too, and a dominant diagonal.
HostMatrix<double> symmetric_gallery(const std::string& spec) {
  HostMatrix<double> A(gallery<SolverMatrix<double, Space>>(Space(), spec));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] < i) A.at(A.entries[k], i) = A.values[k];
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double sum = 1;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] != i) sum += std::abs(A.values[k]);
    A.at(i, i) = sum;
  }
  return A;
}

TEST(TriangularSolverGraph, FactorisationsReplay) {
  using Matrix = SolverMatrix<double, Space>;
  using Factors = IncompleteFactorization<double, Space>;
  for (const auto kind :
       {Factorization::incomplete_lu, Factorization::incomplete_cholesky})
    for (const std::string from : {"grid2d:30", "grid3d:12", "band:400"}) {
      SCOPED_TRACE(from + ", " + to_string(kind));
      const Stream stream;
      const auto good = symmetric_gallery(from);
      const auto A = good.to_device<Matrix>();
      const auto n = good.rows;
      auto bad = good;
      bad.at(n / 2, n / 2) = kind == Factorization::incomplete_lu ? 0. : -1.;
      IncompleteFactorizationOptions options;
      options.transpose = true;
      options.shift = 0.25;
      options.enqueue_updates = true;
      Factors factors(stream.space(), A, kind, options);
      const Kokkos::View<double*, Memory> values("values", good.values.size());
      const Columns<double, Space> b("b", n, 1), x("x", n, 1), y("y", n, 1);
      Kokkos::deep_copy(b, 1.);
      const RecordedGraph graph(stream, [&] {
        factors.enqueue_update_values(stream.space(), values);
        factors.apply(stream.space(), b, x);
        factors.apply(stream.space(), b, y, Op::transpose);
      });
      ASSERT_TRUE(graph.possible());
      for (int turn = 0; turn < 5; ++turn) {
        auto now = turn % 2 == 0 ? good : bad;
        for (auto& v : now.values) v *= 1 + turn;
        const auto host = Kokkos::create_mirror_view(values);
        std::copy(now.values.begin(), now.values.end(), host.data());
        Kokkos::deep_copy(values, host);
        Kokkos::fence();
        graph.launch(stream);
        stream.space().fence();
        const auto status = status_of(factors);
        if (turn % 2 == 1) {
          EXPECT_EQ(status.row, n / 2);
          EXPECT_EQ(status.fault, kind == Factorization::incomplete_lu
                                      ? UpdateFault::zero_diagonal
                                      : UpdateFault::not_positive);
          EXPECT_TRUE(all_nan(to_vector(x)));
          EXPECT_TRUE(all_nan(to_vector(y)));
          continue;
        }
        EXPECT_EQ(status.fault, UpdateFault::none);
        const Factors made(stream.space(), now.to_device<Matrix>(), kind,
                           options);
        for (const auto op : {Op::none, Op::transpose}) {
          const Columns<double, Space> expected("expected", n, 1);
          made.apply(stream.space(), b, expected, op);
          stream.space().fence();
          const auto a = to_vector(expected),
                     found = to_vector(op == Op::none ? x : y);
          for (std::int64_t i = 0; i < n; ++i)
            ASSERT_LE(std::abs(a[i] - found[i]), 1e-10 * std::abs(a[i]) + 1e-13)
                << i;
        }
      }
    }
}

/// The recording itself is held against what must not be recorded.
TEST(TriangularSolverGraph, RecordingNoticesTransfers) {
  const Stream stream;
  const Kokkos::View<double*, Memory> from("from", 1000), to("to", 1000);
  Kokkos::fence();
  const RecordedGraph graph(stream, [&] {
    expect_success(cudaMemcpyAsync(to.data(), from.data(),
                                   1000 * sizeof(double),
                                   cudaMemcpyDeviceToDevice, stream));
  });
  EXPECT_EQ(graph.num_kernels(), -1);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
