// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SRC_ANALYSIS_HPP
#define STRATA_SRC_ANALYSIS_HPP

#include <Strata_TriangleGraph.hpp>
#include <analysis/level_sets/CacheBlockOrder.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/merging/MergedLevels.hpp>
#include <analysis/merging/SampleMerging.hpp>
#include <analysis/packing/MakeRowChunks.hpp>

// Functions and classes of the analysis that depend on no scalar.
// Analysis.cpp.in has them compiled once for a space, and the files for each
// scalar refer to those.
//
// STRATA_ANALYSIS_OF(template, Space) or STRATA_ANALYSIS_OF(extern template,
// Space), in namespace Strata.
#define STRATA_ANALYSIS_OF(keyword, Space)                                    \
  keyword DependencyGraph<Space::memory_space> Detail::make_triangle_graph(   \
      const Space&, const Detail::IndexArray&, const Detail::IndexArray&,     \
      const Detail::StoredValues&, std::int64_t, const TriangleInput&,        \
      Detail::WorkPool<Space>*, Detail::GraphLevels<Space::memory_space>*);   \
  keyword LevelOrder<Space::memory_space> Detail::make_level_order(           \
      const Space&, const DependencyGraph<Space::memory_space>&, WithinLevel, \
      Detail::WorkPool<Space>&, Detail::GraphLevels<Space::memory_space>);    \
  keyword LevelOrder<Space::memory_space> Detail::order_by_cache_blocks(      \
      const Space&, const DependencyGraph<Space::memory_space>&,              \
      const LevelOrder<Space::memory_space>&, int, WithinLevel,               \
      Detail::WorkPool<Space>&);                                              \
  keyword SampledLevels sample_merged_levels(                                 \
      const Space&, const DependencyGraph<Space::memory_space>&,              \
      const LevelOrder<Space::memory_space>&, const Detail::MergeCandidates&, \
      std::size_t, Detail::WorkPool<Space>&);                                 \
  keyword MergedLevels<Space::memory_space> merge_levels(                     \
      const Space&, const DependencyGraph<Space::memory_space>&,              \
      const LevelOrder<Space::memory_space>&, int, std::int64_t, int,         \
      WithinLevel, Detail::WorkPool<Space>&, const int*, bool);               \
  keyword Detail::CutChunks<Space::memory_space> Detail::cut_row_chunks(      \
      const Space&, const DependencyGraph<Space::memory_space>&,              \
      const LevelOrder<Space::memory_space>&, int, int,                       \
      Detail::WorkPool<Space>&, const RowCoefficients<Space::memory_space>&,  \
      RowChunks<Space::memory_space>&)

#endif
