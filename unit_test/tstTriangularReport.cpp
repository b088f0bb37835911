// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_TriangularReport.hpp>

namespace {

using Strata::Algorithm;
using Strata::TriangularReport;

TEST(TriangularReport, HoldsEveryNumber) {
  TriangularReport report;
  report.algorithm = Algorithm::subgraphs;
  report.reason = "it was asked for";
  report.rows = 1001;
  report.entries = 5002;
  report.levels = 103;
  report.subgraphs = 24;
  report.subgraph_levels = 7;
  report.internal_slots = 905;
  report.external_slots = 306;
  report.external_share = 0.125;
  report.max_subgraph_rows = 600;
  report.plan_bytes = 123456;
  report.crs_bytes = 65432;
  report.analysis_us = 123456.7;
  report.candidates = {{Algorithm::sync_free, "many levels", true},
                       {Algorithm::substitution, ""}};
  EXPECT_EQ(to_string(report),
            "algorithm: subgraphs\n"
            "reason: it was asked for\n"
            "rows: 1001\n"
            "entries: 5002\n"
            "level sets: 103\n"
            "accuracy: rowwise\n"
            "sub-graphs: 24 in 7 levels, at most 600 rows each\n"
            "time slots: 905 internal, 306 external\n"
            "external edges: 12.5 %\n"
            "memory: 123456 bytes, 65432 as a CRS matrix\n"
            "analysis: 123457 us\n"
            "candidates:\n"
            "  sync_free, ruled out: many levels\n"
            "  substitution\n");
}

TEST(TriangularReport, TellsOfDiagonalBlocks) {
  TriangularReport report;
  report.algorithm = Algorithm::blocks;
  report.rows = 30;
  report.entries = 70;
  report.blocks = 12;
  report.block_runs = 5;
  report.block_slots = 64;
  report.plan_bytes = 900;
  report.crs_bytes = 964;
  report.analysis_us = 12;
  // Made without level sets, there is no number of them.
  EXPECT_EQ(to_string(report),
            "algorithm: blocks\n"
            "rows: 30\n"
            "entries: 70\n"
            "accuracy: rowwise\n"
            "diagonal blocks: 12 in 5 launches, 64 slots\n"
            "memory: 900 bytes, 964 as a CRS matrix\n"
            "analysis: 12 us\n");
  report.levels = 9;
  EXPECT_NE(to_string(report).find("level sets: 9\n"), std::string::npos);
}

TEST(TriangularReport, TellsOfRightHandSidesAndOfMemoryAllowed) {
  TriangularReport report;
  report.algorithm = Algorithm::sync_free;
  report.rows = 3;
  report.entries = 4;
  report.levels = 2;
  report.plan_bytes = 200;
  report.crs_bytes = 64;
  report.max_plan_bytes = 256;
  report.right_hand_sides = 32;
  report.launch_right_hand_sides = 8;
  report.candidates = {{Algorithm::tiles, "3 parts; takes 300 of 256", true},
                       {Algorithm::sync_free, ""}};
  EXPECT_EQ(to_string(report),
            "algorithm: sync_free\n"
            "rows: 3\n"
            "entries: 4\n"
            "level sets: 2\n"
            "accuracy: rowwise\n"
            "memory: 200 bytes, 64 as a CRS matrix, at most 256 allowed\n"
            "right-hand sides: 32, up to 8 a launch\n"
            "analysis: 0 us\n"
            "candidates:\n"
            "  tiles, ruled out: 3 parts; takes 300 of 256\n"
            "  sync_free\n");
}

TEST(TriangularReport, LeavesOutWhatTheAlgorithmDoesNotHave) {
  TriangularReport report;
  report.algorithm = Algorithm::level_sets;
  report.rows = 3;
  report.entries = 4;
  report.levels = 2;
  EXPECT_EQ(to_string(report),
            "algorithm: level_sets\n"
            "rows: 3\n"
            "entries: 4\n"
            "level sets: 2\n"
            "accuracy: rowwise\n"
            "memory: 0 bytes, 0 as a CRS matrix\n"
            "analysis: 0 us\n");
}

}  // namespace
