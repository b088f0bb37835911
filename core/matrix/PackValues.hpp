// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_PACK_VALUES_HPP
#define STRATA_CORE_MATRIX_PACK_VALUES_HPP

#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/scalar/RealPart.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class MemorySpace>
struct GatherValues {
  ValueIndex<MemorySpace> value_index;
  const Scalar* values;
  Kokkos::View<Scalar*, MemorySpace> packed;
  bool conjugated;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t k = value_index(place);
    const Scalar v = k < 0 ? Scalar(0) : values[k];
    packed(place) = conjugated ? conjugate(v) : v;
  }
};

/// packed(place) = values[value_index(place)], conjugated on request, 0 in
/// padding.
template <class Scalar, class ExecutionSpace>
void gather_values(
    const ExecutionSpace& exec,
    const ValueIndex<typename ExecutionSpace::memory_space>& value_index,
    const Scalar* values,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& packed,
    bool conjugated) {
  for_each_index("Strata::PackValues::gather", exec, packed.extent(0),
                 GatherValues<Scalar, typename ExecutionSpace::memory_space>{
                     value_index, values, packed, conjugated});
}

template <class Scalar, class MemorySpace>
struct PackDiagonal {
  ValueIndex<MemorySpace> value_index;
  const Scalar* values;
  Kokkos::View<Scalar*, MemorySpace> packed;
  bool conjugated, divide;
  /// A word in device memory: if it is not 0, all becomes NaN. Null: never.
  const int* invalid_flag = nullptr;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    if (invalid_flag != nullptr && load_relaxed(invalid_flag) != 0) {
      packed(place) = not_a_number<Scalar>();
      return;
    }
    const std::int64_t k = value_index(place);
    Scalar d = k < 0 ? Scalar(1) : values[k];
    if (conjugated) d = conjugate(d);
    packed(place) = divide ? d : Scalar(1) / d;
  }
};

/// Reciprocals of the diagonal in the order of use, or, if `divide`, the
/// diagonal itself.
///
/// One multiplication by a reciprocal replaces a division on the path that
/// every later row waits for; its error is half a unit in the last place more.
/// Enqueued on `exec`.
template <class Scalar, class ExecutionSpace>
void pack_diagonal(
    const ExecutionSpace& exec,
    const ValueIndex<typename ExecutionSpace::memory_space>& value_index,
    const Scalar* values,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& packed,
    bool conjugated, bool divide, const int* invalid_flag = nullptr) {
  for_each_index(
      "Strata::PackValues::diagonal", exec, packed.extent(0),
      PackDiagonal<Scalar, typename ExecutionSpace::memory_space>{
          value_index, values, packed, conjugated, divide, invalid_flag});
}

/// The work of both in one launch.
template <class Scalar, class MemorySpace>
struct PackTogether {
  static constexpr int threads = 256, items_of_a_thread = 4;
  GatherValues<Scalar, MemorySpace> entries;
  PackDiagonal<Scalar, MemorySpace> diagonal;

  KOKKOS_INLINE_FUNCTION std::int64_t num_entries() const {
    return static_cast<std::int64_t>(entries.packed.extent(0));
  }
  KOKKOS_INLINE_FUNCTION std::int64_t num_rows() const {
    return static_cast<std::int64_t>(diagonal.packed.extent(0));
  }
  int teams() const {
    constexpr std::int64_t each = threads * items_of_a_thread;
    const std::int64_t items = std::max(num_entries(), num_rows());
    return static_cast<int>((items + each - 1) / each);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    take(team, team.league_rank());
  }
  /// Part `part` of what there are teams() of.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take(const Team& team, std::int64_t part) const {
    const std::int64_t first = part * threads * items_of_a_thread;
    // A host's team is one thread.
    const int size = team.team_size();
    const int turns = threads * items_of_a_thread / size;
    for (int turn = 0; turn < turns; ++turn) {
      const std::int64_t i = first + turn * size + team.team_rank();
      if (i < num_entries()) entries(i);
      if (i < num_rows()) diagonal(i);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
