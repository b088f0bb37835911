// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of rows that IncompletePreconditioner chooses.
#include <gtest/gtest.h>

#include <Strata_Preconditioner.hpp>
#include <string>

#include "HermitianMatrix.hpp"

namespace {

using Strata::Factorization;
using Strata::FactorOrder;
using Preconditioner = Strata::IncompletePreconditioner<double, Device>;

constexpr bool on_gpu = Strata::Detail::is_gpu<Device>;
constexpr auto cholesky = Factorization::incomplete_cholesky;

Crs<double> matrix(const std::string& spec) {
  return hermitian<double>(spec).to_device<Crs<double>>();
}

TEST(PreconditionerChoice, IsTwoColoursOnADevice) {
  const auto order = on_gpu ? FactorOrder::coloured : FactorOrder::natural;
  for (const auto* spec : {"grid3d:12", "grid2d:30", "chain:2", "arrow:1000"}) {
    const Preconditioner M(Device(), matrix(spec), cholesky);
    EXPECT_EQ(M.order(), order) << spec;
    EXPECT_EQ(M.colours(), on_gpu ? 2 : 0) << spec;
  }
}

TEST(PreconditionerChoice, IsNaturalElse) {
  // More colours, one, and a long row.
  for (const auto* spec :
       {"grid3d27:5", "triangulated:9x7", "diagonal:50", "arrow:3000"})
    EXPECT_EQ(Preconditioner(Device(), matrix(spec), cholesky).order(),
              FactorOrder::natural)
        << spec;
  const auto grid = matrix("grid3d:9");
  // Whose matrix need not be Hermitian, and whose options are for its solvers.
  EXPECT_EQ(
      Preconditioner(Device(), grid, Factorization::incomplete_lu).order(),
      FactorOrder::natural);
  Strata::TriangularOptions options;
  options.algorithm = Strata::Algorithm::substitution;
  EXPECT_EQ(Preconditioner(Device(), grid, cholesky, options).order(),
            FactorOrder::natural);
  EXPECT_EQ(Preconditioner(Device(), Crs<double>(), cholesky).order(),
            FactorOrder::natural);
}

TEST(PreconditionerChoice, IsReported) {
  const auto A = matrix("grid3d:12");
  const Preconditioner M(Device(), A, cholesky);
  const auto& report = M.report();
  EXPECT_EQ(report.order, M.order());
  EXPECT_EQ(report.rows, 1728);
  EXPECT_EQ(report.entries, static_cast<std::int64_t>(A.nnz()));
  EXPECT_EQ(report.colours, M.colours());
  EXPECT_EQ(report.reason,
            on_gpu ? "the rows have 2 colours" : "the choice on a host");
  for (const auto order : {FactorOrder::natural, FactorOrder::coloured}) {
    const Preconditioner named(Device(), A, cholesky, {}, order);
    EXPECT_EQ(named.report().order, order);
    EXPECT_EQ(named.report().reason, "asked for");
    EXPECT_EQ(named.report().colours, order == FactorOrder::coloured ? 2 : 0);
  }
  EXPECT_THROW(Preconditioner().report(), Strata::HandleError);
}

TEST(PreconditionerChoice, IsWrittenAsText) {
  Strata::PreconditionerReport report;
  report.order = FactorOrder::coloured;
  report.reason = "a test";
  report.rows = 10;
  report.colours = 2;
  EXPECT_EQ(to_string(report),
            "order: coloured\nreason: a test\nrows: 10\nentries: 0\n"
            "colours: 2\n");
  report.colours = 0;
  EXPECT_EQ(to_string(report).find("colours"), std::string::npos);
}

}  // namespace
