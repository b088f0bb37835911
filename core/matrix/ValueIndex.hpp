// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_VALUE_INDEX_HPP
#define STRATA_CORE_MATRIX_VALUE_INDEX_HPP

#include <Kokkos_Core.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// Where packed values come from: an index into the user's values for each
/// packed place, -1 for padding. Four bytes each while the user's values
/// number less than 2^32 - 1, else eight.
template <class MemorySpace>
struct ValueIndex {
  Kokkos::View<std::uint32_t*, MemorySpace> narrow;
  Kokkos::View<std::int64_t*, MemorySpace> wide;
  static constexpr std::uint32_t narrow_none = 0xffffffffu;

  /// Whether four bytes are enough.
  static bool is_narrow(std::int64_t num_values) {
    return num_values < std::int64_t{narrow_none};
  }

  ValueIndex() = default;
  ValueIndex(const std::string& label, std::int64_t places,
             std::int64_t num_values) {
    if (is_narrow(num_values))
      make_unfilled(narrow, label, places);
    else
      make_unfilled(wide, label, places);
  }
  /// The same from a host vector.
  ValueIndex(const std::string& label, const std::vector<std::int64_t>& from,
             std::int64_t num_values)
      : ValueIndex(label, static_cast<std::int64_t>(from.size()), num_values) {
    auto narrow_host = Kokkos::create_mirror_view(narrow);
    auto wide_host = Kokkos::create_mirror_view(wide);
    for (std::size_t i = 0; i < narrow_host.extent(0); ++i)
      narrow_host(i) =
          from[i] < 0 ? narrow_none : static_cast<std::uint32_t>(from[i]);
    for (std::size_t i = 0; i < wide_host.extent(0); ++i)
      wide_host(i) = from[i];
    Kokkos::deep_copy(narrow, narrow_host);
    Kokkos::deep_copy(wide, wide_host);
  }
  KOKKOS_INLINE_FUNCTION void set(std::int64_t place, std::int64_t k) const {
    if (wide.extent(0))
      wide(place) = k;
    else
      narrow(place) = k < 0 ? narrow_none : static_cast<std::uint32_t>(k);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t place) const {
    if (wide.extent(0)) return wide(place);
    const std::uint32_t k = narrow(place);
    return k == narrow_none ? -1 : static_cast<std::int64_t>(k);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    return static_cast<std::int64_t>(narrow.extent(0) + wide.extent(0));
  }
  std::size_t bytes() const {
    return narrow.extent(0) * sizeof(std::uint32_t) +
           wide.extent(0) * sizeof(std::int64_t);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
