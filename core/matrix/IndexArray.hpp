// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_INDEX_ARRAY_HPP
#define STRATA_CORE_MATRIX_INDEX_ARRAY_HPP

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <core/memory/ToDevice.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

/// The integer types of indices, by size and sign.
enum class IndexKind : int {
  int32,
  int64,
  uint64,
  uint32,
  int16,
  uint16,
  int8,
  uint8
};

template <class Integer>
constexpr IndexKind index_kind_of() {
  static_assert(std::is_integral<Integer>::value,
                "Strata: offsets and columns must be integers");
  constexpr bool has_sign = std::is_signed<Integer>::value;
  switch (sizeof(Integer)) {
    case 1:
      return has_sign ? IndexKind::int8 : IndexKind::uint8;
    case 2:
      return has_sign ? IndexKind::int16 : IndexKind::uint16;
    case 4:
      return has_sign ? IndexKind::int32 : IndexKind::uint32;
    default:
      return has_sign ? IndexKind::int64 : IndexKind::uint64;
  }
}

/// A caller's offsets or columns, read: a view of rank 1 of any integer type
/// and layout, reduced to a pointer, a stride and the type as a number. What
/// looks at a matrix is thereby compiled once, whatever the types of its
/// indices. The view has to live as long as this is used.
///
/// Elements are read as std::int64_t: an unsigned one beyond that type's range
/// turns negative, and is out of range for that.
class IndexArray {
 public:
  IndexArray() = default;
  template <class View, std::enable_if_t<Kokkos::is_view<View>::value, int> = 0>
  IndexArray(const View& view)  // NOLINT: a view is an array of indices
      : data_(view.data()),
        extent_(view.extent(0)),
        stride_(view.extent(0) > 1 ? static_cast<std::int64_t>(view.stride(0))
                                   : 1),
        kind_(index_kind_of<typename View::non_const_value_type>()) {
    static_assert(static_cast<int>(View::rank) == 1,
                  "Strata: offsets and columns are views of rank 1");
  }

  KOKKOS_INLINE_FUNCTION std::size_t extent(int) const { return extent_; }
  const void* data() const { return data_; }

  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t k) const {
    const std::int64_t at = k * stride_;
    // All threads take the same branch.
    if (kind_ == IndexKind::int32)
      return static_cast<const std::int32_t*>(data_)[at];
    if (kind_ <= IndexKind::uint64)
      return static_cast<const std::int64_t*>(data_)[at];
    if (kind_ == IndexKind::uint32)
      return static_cast<const std::uint32_t*>(data_)[at];
    return narrow(at);
  }

  /// Elements first + u * step for u < count, and 0 beyond the last one. One
  /// branch for all of the usual type: a GPU then reads them side by side.
  template <int count>
  KOKKOS_INLINE_FUNCTION void read(std::int64_t first, std::int64_t step,
                                   std::int64_t (&elements)[count]) const {
    const auto end = static_cast<std::int64_t>(extent_);
    if (kind_ == IndexKind::int32) {
      const auto* const data = static_cast<const std::int32_t*>(data_);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < count; ++u) {
        const std::int64_t k = first + u * step;
        elements[u] = k < end ? data[k * stride_] : 0;
      }
      return;
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u) {
      const std::int64_t k = first + u * step;
      elements[u] = k < end ? (*this)(k) : 0;
    }
  }

  /// Elements [begin, end), copied to the host from MemorySpace, where they
  /// are. Waits for all work of the device.
  template <class MemorySpace>
  std::vector<std::int64_t> fetch(std::int64_t begin, std::int64_t end) const {
    if (begin >= end) return {};
    const auto bytes = static_cast<std::size_t>(
        ((end - begin - 1) * stride_ + 1) * bytes_of_one());
    const auto copy = to_host<MemorySpace>(
        static_cast<const char*>(data_) + begin * stride_ * bytes_of_one(),
        bytes);
    IndexArray here = *this;
    here.data_ = copy.data();
    std::vector<std::int64_t> elements;
    for (std::int64_t k = 0; k < end - begin; ++k) elements.push_back(here(k));
    return elements;
  }
  /// One element, as above.
  template <class MemorySpace>
  std::int64_t fetch(std::int64_t k) const {
    return fetch<MemorySpace>(k, k + 1)[0];
  }
  /// An element that was fetched, as the caller's type writes it.
  std::string text(std::int64_t element) const {
    return kind_ == IndexKind::uint64
               ? std::to_string(static_cast<std::uint64_t>(element))
               : std::to_string(element);
  }
  bool is_contiguous() const { return stride_ == 1; }

  std::size_t bytes() const {
    return extent_ * static_cast<std::size_t>(bytes_of_one());
  }
  std::int64_t bytes_of_one() const {
    switch (kind_) {
      case IndexKind::int32:
      case IndexKind::uint32:
        return 4;
      case IndexKind::int64:
      case IndexKind::uint64:
        return 8;
      case IndexKind::int16:
      case IndexKind::uint16:
        return 2;
      default:
        return 1;
    }
  }

 protected:
  KOKKOS_INLINE_FUNCTION std::int64_t narrow(std::int64_t at) const {
    switch (kind_) {
      case IndexKind::int16:
        return static_cast<const std::int16_t*>(data_)[at];
      case IndexKind::uint16:
        return static_cast<const std::uint16_t*>(data_)[at];
      case IndexKind::int8:
        return static_cast<const std::int8_t*>(data_)[at];
      default:
        return static_cast<const std::uint8_t*>(data_)[at];
    }
  }

  const void* data_ = nullptr;
  std::size_t extent_ = 0;
  std::int64_t stride_ = 1;
  IndexKind kind_ = IndexKind::int32;
};

/// Offsets or columns of a matrix that is being made, in the integer type of
/// the caller's matrix, which has four or eight bytes.
class IndexOutput : public IndexArray {
 public:
  IndexOutput() = default;
  template <class View, std::enable_if_t<Kokkos::is_view<View>::value, int> = 0>
  IndexOutput(const View& view)  // NOLINT: a view is an array of indices
      : IndexArray(view) {
    using Integer = typename View::value_type;
    static_assert(!std::is_const<Integer>::value && sizeof(Integer) >= 4,
                  "Strata: offsets and columns of a matrix that is made must "
                  "be integers of four or eight bytes");
  }

  KOKKOS_INLINE_FUNCTION void set(std::int64_t k, std::int64_t index) const {
    void* const to = const_cast<void*>(data_);
    if (kind_ == IndexKind::int32 || kind_ == IndexKind::uint32)
      static_cast<std::uint32_t*>(to)[k * stride_] =
          static_cast<std::uint32_t>(index);
    else
      static_cast<std::int64_t*>(to)[k * stride_] = index;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
