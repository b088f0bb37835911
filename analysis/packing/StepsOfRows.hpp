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
  /// - 1. Ages are counted in bins: up to 63 exactly, then eight bins an
  /// octave, whose ages count as the first, which errs to the later side.
  static constexpr int age_bins = 256, exact_bins = 64;
  KOKKOS_INLINE_FUNCTION static int bin_of(int age) {
    int octave = 0;
    while (age >> octave >= 2 * exact_bins) ++octave;
    const int bin = age < exact_bins
                        ? age
                        : exact_bins + 8 * octave + (age >> (octave + 3)) - 8;
    return bin < age_bins ? bin : age_bins - 1;
  }
  /// The least age in a bin.
  KOKKOS_INLINE_FUNCTION static int age_of(int bin) {
    return bin < exact_bins ? bin
                            : (8 + bin % 8) << ((bin - exact_bins) / 8 + 3);
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
  /// The step of a row's last record, of `m` dependencies, `most` or fewer,
  /// that count from the steps `after` on.
  template <int most>
  KOKKOS_INLINE_FUNCTION int step_of_short_row(const int (&after)[most], int m,
                                               int newest) const {
    int late = 0;
    // Older dependencies are there in any case, see bins_of.
    const int ages = m > entries_a_step() ? m / entries_a_step() + 1 : 0;
    for (int age = 0; age < ages; ++age) {
      int sum = 0;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < most; ++u) sum += u < m && after[u] >= newest - age;
      const int by = late_by(sum, age);
      late = by > late ? by : late;
    }
    return newest + 1 + late;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
