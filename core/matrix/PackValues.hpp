// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_PACK_VALUES_HPP
#define STRATA_CORE_MATRIX_PACK_VALUES_HPP

#include <core/device/Gate.hpp>
#include <core/device/KokkosVersion.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/scalar/RealPart.hpp>

namespace Strata {
namespace Detail {

template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar conjugate(const Scalar& v) {
  return v;
}
template <class R>
KOKKOS_INLINE_FUNCTION Kokkos::complex<R> conjugate(
    const Kokkos::complex<R>& v) {
  return Kokkos::complex<R>(v.real(), -v.imag());
}

template <class Scalar, class MemorySpace>
struct GatherValues {
  ValueIndex<MemorySpace> value_index;
  const Scalar* values;
  Kokkos::View<Scalar*, MemorySpace> packed;
  bool conjugated;
  Gate gate = {};
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    if (gate.closed()) return;
    const std::int64_t k = value_index(place);
    const Scalar v = k < 0 ? Scalar(0) : values[k];
    packed(place) = conjugated ? conjugate(v) : v;
  }
};

template <class ExecutionSpace>
using RangeOf =
    Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// packed(place) = values[value_index(place)], conjugated on request, 0 in
/// padding; nothing where `gate` is closed.
template <class Scalar, class ExecutionSpace>
void gather_values(
    const ExecutionSpace& exec,
    const ValueIndex<typename ExecutionSpace::memory_space>& value_index,
    const Scalar* values,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& packed,
    bool conjugated, const Gate& gate = {}) {
  Kokkos::parallel_for(
      "Strata::PackValues::gather",
      RangeOf<ExecutionSpace>(exec, 0,
                              static_cast<std::int64_t>(packed.extent(0))),
      GatherValues<Scalar, typename ExecutionSpace::memory_space>{
          value_index, values, packed, conjugated, gate});
}

/// When a diagonal is packed, and as what, by words in device memory.
struct DiagonalGate {
  Gate gate = {};
  /// Where it is not 0, all of the diagonal becomes NaN; null: never.
  const int* spoils = nullptr;
};

template <class Scalar, class MemorySpace>
struct PackDiagonal {
  ValueIndex<MemorySpace> value_index;
  const Scalar* values;
  Kokkos::View<Scalar*, MemorySpace> packed;
  bool conjugated, divide;
  DiagonalGate by = {};
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    if (by.gate.closed()) return;
    if (by.spoils != nullptr && load_relaxed(by.spoils) != 0) {
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
    bool conjugated, bool divide, const DiagonalGate& by = {}) {
  Kokkos::parallel_for(
      "Strata::PackValues::diagonal",
      RangeOf<ExecutionSpace>(exec, 0,
                              static_cast<std::int64_t>(packed.extent(0))),
      PackDiagonal<Scalar, typename ExecutionSpace::memory_space>{
          value_index, values, packed, conjugated, divide, by});
}

/// The work of both in one launch.
template <class Scalar, class MemorySpace>
struct PackTogether {
  static constexpr int threads = 256, items_of_a_thread = 4;
  GatherValues<Scalar, MemorySpace> entries;
  PackDiagonal<Scalar, MemorySpace> diagonal;
  std::int64_t num_entries, num_rows;

  int teams() const {
    constexpr std::int64_t each = threads * items_of_a_thread;
    const std::int64_t items = num_entries > num_rows ? num_entries : num_rows;
    return static_cast<int>((items + each - 1) / each);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) *
                               threads * items_of_a_thread;
    // A host's team is one thread.
    const int size = team.team_size();
    const int turns = threads * items_of_a_thread / size;
    for (int turn = 0; turn < turns; ++turn) {
      const std::int64_t i = first + turn * size + team.team_rank();
      if (i < num_entries) entries(i);
      if (i < num_rows) diagonal(i);
    }
  }
};

template <class Scalar, class ExecutionSpace>
void pack_together(
    const char* label, const ExecutionSpace& exec,
    const GatherValues<Scalar, typename ExecutionSpace::memory_space>& entries,
    const PackDiagonal<Scalar, typename ExecutionSpace::memory_space>&
        diagonal) {
  using Pack = PackTogether<Scalar, typename ExecutionSpace::memory_space>;
  const Pack pack{entries, diagonal,
                  static_cast<std::int64_t>(entries.packed.extent(0)),
                  static_cast<std::int64_t>(diagonal.packed.extent(0))};
  run_teams<8, Pack::threads>(label, exec, pack.teams(), pack);
}

}  // namespace Detail
}  // namespace Strata

#endif
