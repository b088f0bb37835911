// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the automatic choice leaves `subgraphs` out, with parameters that are
// given and not measured.
#include <gtest/gtest.h>
#include <unistd.h>

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_PerformanceCache.hpp>
#include <Strata_SubgraphAnalysis.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <cmath>
#include <core/device/DeviceInfo.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <typeinfo>

namespace {

using namespace Strata;
using Exec = Kokkos::DefaultExecutionSpace;
namespace fs = std::filesystem;

/// Parameters of a quiet host of two cores, kept where the solvers of this
/// process look for them if they run on a GPU.
class SubgraphChoice : public testing::Test {
 public:
  static void SetUpTestSuite() {
    place_ = fs::temp_directory_path() /
             ("strata_choice_" + std::to_string(::getpid()));
    fs::create_directories(place_);
    ::setenv("STRATA_CACHE_DIR", place_.c_str(), 1);
    PerformanceParameters p;
    p.alpha = 1.5;
    p.tau = p.tau_external = 0.0058;
    p.narrow_level = 0.0058;
    p.handover = 0.35;
    p.pass = 0.01;
    p.block = 0.0046;
    p.bytes_per_us = 40000;
    p.serial_row = 0.00097;
    p.serial_entry = 0.00039;
    for (const char* scalar : {typeid(float).name(), typeid(double).name()})
      ASSERT_TRUE(write_performance_cache(
          performance_key(Detail::device_name(Exec()), scalar), p));
  }
  static void TearDownTestSuite() { fs::remove_all(place_); }

  /// `inspected`: how often the solver has made a partition's plan.
  template <class Scalar>
  static TriangularReport report(const std::string& name,
                                 TriangularOptions options = {},
                                 int* inspected = nullptr) {
    using Matrix =
        KokkosSparse::CrsMatrix<Scalar, int, Exec::device_type, void, int>;
    const Exec exec;
    const auto A =
        take_triangle(exec, gallery<Matrix>(exec, name), Uplo::lower);
    if (inspected)
      options.inspect_subgraphs = [=](const SubgraphAnalysis& found) {
        EXPECT_EQ(found.graph.num_vertices, A.numRows());
        EXPECT_EQ(found.partition.subgraphs.num_vertices, A.numRows());
        EXPECT_EQ(found.schedule.internal.num_edges() +
                      found.schedule.external.num_edges(),
                  found.graph.num_edges());
        ++*inspected;
      };
    const TriangularSolver<Scalar, Exec> solver(exec, A, Uplo::lower,
                                                Diag::non_unit, options);
    return solver.report();
  }
  static const TriangularCandidate* candidate(const TriangularReport& report) {
    for (const auto& c : report.candidates)
      if (c.algorithm == Algorithm::subgraphs) return &c;
    return nullptr;
  }

 private:
  static inline fs::path place_;
};

constexpr bool on_host = !Detail::is_gpu<Exec>;

TEST_F(SubgraphChoice, LeavesOutWhatDoesNotFallIntoComponents) {
  for (const char* name : {"grid2d:60", "chain:3000", "random:30000x3",
                           "circuit:20000", "diagonal:5000", "arrow:900"}) {
    SCOPED_TRACE(name);
    const auto found = report<double>(name);
    EXPECT_NE(found.algorithm, Algorithm::subgraphs);
    if (on_host) {
      EXPECT_EQ(candidate(found), nullptr);
    }
  }
}

TEST_F(SubgraphChoice, LeavesOutComponentsThatDoNotFit) {
  int inspected = 0;
  TriangularOptions options;
  options.max_subgraph_rows = 400;
  const auto found =
      report<float>("block_diagonal:8x6000:0.01", options, &inspected);
  EXPECT_NE(found.algorithm, Algorithm::subgraphs);
  EXPECT_EQ(candidate(found), nullptr);
  EXPECT_EQ(inspected, 0);
}

TEST_F(SubgraphChoice, GivesAllScratchOfTheChipWhereItIsAskedFor) {
  using Matrix =
      KokkosSparse::CrsMatrix<float, int, Exec::device_type, void, int>;
  const Exec exec;
  // More rows than any device has scratch for, in more than one sub-graph.
  const auto A =
      take_triangle(exec, gallery<Matrix>(exec, "grid2d:300"), Uplo::lower);
  TriangularOptions options;
  options.algorithm = Algorithm::subgraphs;
  options.partition = PartitionMethod::picciau_2017;
  const TriangularSolver<float, Exec> usual(exec, A, Uplo::lower,
                                            Diag::non_unit, options);
  options.max_subgraph_rows = 1 << 30;
  const TriangularSolver<float, Exec> all(exec, A, Uplo::lower, Diag::non_unit,
                                          options);
  EXPECT_GE(all.report().max_subgraph_rows, usual.report().max_subgraph_rows);
  EXPECT_LE(all.report().subgraphs, usual.report().subgraphs);
  if (on_host) {
    EXPECT_EQ(all.report().max_subgraph_rows, usual.report().max_subgraph_rows);
  }
  using Vector = Kokkos::View<float*, Exec>;
  const Vector b("b", A.numRows()), x("x", A.numRows()), y("y", A.numRows());
  Kokkos::deep_copy(b, 1.f);
  usual.solve(exec, b, x);
  all.solve(exec, b, y);
  const auto host_x =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  const auto host_y =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (int i = 0; i < A.numRows(); ++i)
    ASSERT_NEAR(host_x(i), host_y(i), 1e-5 * std::abs(host_x(i))) << i;
}

TEST_F(SubgraphChoice, NamesTheAuthorsOwnAlgorithm) {
  TriangularOptions options;
  options.algorithm = Algorithm::subgraphs;
  options.partition = PartitionMethod::picciau_2017;
  options.max_subgraph_rows = 700;
  const auto found = report<double>("grid2d:50", options);
  EXPECT_EQ(found.partition.rfind("Picciau 2017, ", 0), 0u) << found.partition;
  EXPECT_NE(to_string(found).find("partition: Picciau 2017, "),
            std::string::npos);
  EXPECT_EQ(found.subgraphs, 4);
}

TEST_F(SubgraphChoice, EndsTheAnalysisWithWhatTheInspectionThrows) {
  TriangularOptions options;
  options.algorithm = Algorithm::subgraphs;
  options.inspect_subgraphs = [](const SubgraphAnalysis&) {
    throw FileError("plan.dot", "can't be written", "make room");
  };
  EXPECT_THROW(report<double>("grid2d:9", options), FileError);
}

}  // namespace
