// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PACK_SUBGRAPH_VALUES_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PACK_SUBGRAPH_VALUES_HPP

#include <analysis/packing/PackedSubgraphs.hpp>
#include <core/device/NotReady.hpp>
#include <core/matrix/PackValues.hpp>
#include <kernels/triangular/sync_free_subgraphs/PackedWork.hpp>

namespace Strata {
namespace Detail {

/// Values of one record, scaled by its row's diagonal.
template <class Scalar, class MemorySpace>
struct PackSubgraphValues {
  PackedSubgraphs<MemorySpace> packed;
  const Scalar* values;
  Kokkos::View<const Scalar*, MemorySpace> diagonal;
  bool conjugated, divide;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t record) const {
    constexpr PackedRecord shape = PackedWork<Scalar>::shape;
    const int permuted_row = packed.record_row(record);
    if (permuted_row < 0) return;
    const Scalar by = diagonal(permuted_row);
    const int lane = packed.record_lane(record) & 31;
    const int lanes = 1 << (packed.record_lane(record) >> 5);
    unsigned char* const at =
        packed.bytes.data() + (record - lane) * shape.bytes + lane * 16;
    for (int e = 0; e < shape.entries; ++e) {
      const std::int64_t from = packed.value_index(record * shape.entries + e);
      if (from < 0) continue;
      const Scalar v = conjugated ? conjugate(values[from]) : values[from];
      const int byte = shape.value_at(e);
      // No product of what is here may look not ready.
      *reinterpret_cast<Scalar*>(at + byte / 16 * lanes * 16 + byte % 16) =
          NotReady<Scalar>::final(divide ? v / by : v * by);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
