// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_STEPS_OF_ROWS_HPP
#define STRATA_ANALYSIS_PACKING_STEPS_OF_ROWS_HPP

#include <analysis/packing/SubgraphPartition.hpp>
#include <core/device/Atomics.hpp>

namespace Strata {
namespace Detail {

/// In which step of its sub-graph a row's last record can stand, from the steps
/// of the rows that it needs.
template <class MemorySpace>
struct StepsOfRows : SubgraphPartition<MemorySpace> {
  using Base = SubgraphPartition<MemorySpace>;
  using Base::graph, Base::latency, Base::subgraph_of, Base::time,
      Base::entries_a_step, Base::first_edge, Base::end_edge;
  using typename Base::Index;

  /// A dependency counts from the step after the one that makes it known.
  KOKKOS_INLINE_FUNCTION int known_after(int j, int g) const {
    return load_relaxed(time + j) + (subgraph_of[j] == g ? 0 : latency);
  }
  /// Dependencies looked at together: their latencies overlap.
  static constexpr int batch = 8;
  /// A row's records take one step each, the last one the newest dependencies.
  /// With C(e) dependencies known no more than e steps before the newest, the
  /// last step is the newest's plus 1 + max over e of ceil(C(e) / entries) - e
  /// - 1. e is exact up to 15; beyond that octaves count as their first, which
  /// errs to the later side.
  static constexpr int exact_ages = 16, age_bins = exact_ages + 12;
  KOKKOS_INLINE_FUNCTION static int first_age(int bin) {
    return bin < exact_ages ? bin : exact_ages << (bin - exact_ages);
  }
  KOKKOS_INLINE_FUNCTION static int last_age(int bin) {
    return bin + 1 < age_bins ? first_age(bin + 1) - 1 : 0x7fffffff;
  }
  /// The bins of a warp that has a row: ages up to 63 exactly, then eight bins
  /// an octave.
  static constexpr int warp_bins = 256;
  KOKKOS_INLINE_FUNCTION static int bin_of(int age) {
    int octave = 0;
    while (age >> octave >= 128) ++octave;
    const int bin =
        age < 64 ? age : 64 + 8 * octave + (age >> (octave + 3)) - 8;
    return bin < warp_bins ? bin : warp_bins - 1;
  }
  /// The least age in a bin.
  KOKKOS_INLINE_FUNCTION static int age_of(int bin) {
    return bin < 64 ? bin : (8 + bin % 8) << ((bin - 64) / 8 + 3);
  }
  /// Bins that matter for a row of m entries: dependencies older than the row
  /// has steps are there in any case.
  KOKKOS_INLINE_FUNCTION int bins_of(Index m) const {
    return bin_of(static_cast<int>(m / entries_a_step())) + 1;
  }
  /// How much later the last step is where `sum` dependencies are of that age
  /// or newer.
  KOKKOS_INLINE_FUNCTION int late_by(int sum, int age) const {
    return (sum + entries_a_step() - 1) / entries_a_step() - age - 1;
  }
  /// The step of row i's last record, by one thread; its dependencies' steps
  /// are known.
  KOKKOS_INLINE_FUNCTION int step_of_row(Index i, int newest) const {
    const Index end = end_edge(i), m = end - first_edge(i);
    if (m <= entries_a_step()) return newest + 1;
    int number[age_bins] = {};
    const int g = subgraph_of[i];
    for (Index k = first_edge(i); k < end; k += batch) {
      int after[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        after[u] = k + u < end ? known_after(graph.entries(k + u), g) : -1;
      for (int u = 0; u < batch && k + u < end; ++u) {
        int bin = 0;
        while (newest - after[u] > last_age(bin)) ++bin;
        ++number[bin];
      }
    }
    int late = 0, sum = 0;
    for (int bin = 0; bin < age_bins; ++bin) {
      sum += number[bin];
      const int u = late_by(sum, first_age(bin));
      late = u > late ? u : late;
    }
    return newest + 1 + late;
  }
  /// The same of a row of `m` dependencies, `most` or fewer, that count from
  /// the steps `after` on, where those that are older than `exact_ages` don't
  /// matter: the row has no more records than that.
  template <int most>
  KOKKOS_INLINE_FUNCTION int step_of_short_row(const int (&after)[most], int m,
                                               int newest) const {
    if (m <= entries_a_step()) return newest + 1;
    int late = 0;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < most; ++u) {
      int sum = 0;
      STRATA_IMPL_UNROLL
      for (int w = 0; w < most; ++w) sum += w < m && after[w] >= after[u];
      const int by = late_by(sum, newest - after[u]);
      if (u < m) late = by > late ? by : late;
    }
    return newest + 1 + late;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
