// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves recorded into CUDA graphs. The tests of this file need the CUDA
// backend; what a solve may do on any backend is in tstTriangularSolverEvents.
#include <Strata_FactorSolver.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_IncompleteLu.hpp>

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
