// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PACKED_WORK_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_PACKED_WORK_HPP

#include <analysis/packing/PackedSubgraphs.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// A record as a lane holds it.
template <class Scalar>
struct alignas(16) PackedWork {
  static constexpr PackedRecord shape{sizeof(Scalar)};
  static constexpr int entries = shape.entries;
  Scalar value[entries];
  std::uint16_t dependency[entries];
  std::uint16_t out;
};

}  // namespace Detail
}  // namespace Strata

#endif
