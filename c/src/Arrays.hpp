// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_C_ARRAYS_HPP
#define STRATA_C_ARRAYS_HPP

// Arrays of a caller as views of Kokkos: without copies where a space can use
// them as they are.

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_UpdateStatus.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <cstdint>
#include <string>

#include "Library.hpp"
#include "Options.hpp"

namespace StrataC {

using Borrowed = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
template <class Element, class Space>
using BorrowedArray =
    Kokkos::View<Element*, typename Space::memory_space, Borrowed>;
template <class Element, class Space>
using OwnedArray = Kokkos::View<Element*, typename Space::memory_space>;

/// A caller's matrix; the arrays are not looked at.
class Matrix final : public Object {
 public:
  static constexpr const char* kind = "one of strata_matrix_create";
  std::int64_t rows = 0, entries = 0;
  const void *row_map = nullptr, *columns = nullptr, *values = nullptr;
  bool wide_row_map = false, wide_columns = false;
  int index_base = 0;
  strata_scalar scalar = STRATA_DOUBLE;
  bool in_device = false;
};

/// Whether work with a matrix is the device's. @throws OptionError
inline bool is_on_device(const Matrix& matrix, Place place) {
  if (place == Place::automatic) return matrix.in_device;
  if (has_device && place == Place::host && matrix.in_device)
    throw Strata::OptionError("space", "is host for arrays in device memory",
                              "copy them to the host, or use device");
  return place == Place::device;
}

/// @throws NullPointerError, OptionError
template <class Element>
void require_array(const char* argument, const void* array,
                   std::int64_t elements) {
  if (elements == 0) return;
  require_pointer(argument, array);
  if (reinterpret_cast<std::uintptr_t>(array) % alignof(Element) != 0)
    throw Strata::OptionError(
        argument,
        "is not aligned to " + std::to_string(alignof(Element)) + " bytes",
        "pass memory that malloc has returned, from an element on");
}

/// Calls `take` with a zero of an index type.
template <class Take>
void with_index(bool wide, const Take& take) {
  if (wide)
    take(std::int64_t());
  else
    take(std::int32_t());
}

/// Adds a number to each index: 1 where they count from 1, or -1.
template <class Index, class Space>
struct ShiftIndices {
  OwnedArray<Index, Space> indices;
  Index by;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    indices(k) += by;
  }
};
template <class Space, class Index>
void shift_indices(const Space& exec, const OwnedArray<Index, Space>& indices,
                   int by) {
  if (by == 0) return;
  Kokkos::parallel_for(
      "Strata::C::shift_indices",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
          exec, 0, static_cast<std::int64_t>(indices.extent(0))),
      ShiftIndices<Index, Space>{indices, static_cast<Index>(by)});
}

/// An array of a matrix in `Space`: the caller's, or a copy of it.
template <class Element, class Space>
class Borrow {
 public:
  Borrow(const Space& exec, const char* argument, const void* array,
         std::int64_t elements, bool in_device, bool copy) {
    require_array<Element>(argument, array, elements);
    const auto* const from = static_cast<const Element*>(array);
    const auto count = static_cast<std::size_t>(elements);
    constexpr bool is_host = std::is_same<Space, Host>::value;
    if (!copy && (is_host || in_device)) {
      view_ = BorrowedArray<const Element, Space>(from, count);
      return;
    }
    copy_ = Strata::Detail::with_memory_errors("a copy of the matrix", [&] {
      return Strata::Detail::make_unfilled<OwnedArray<Element, Space>>(
          std::string("Strata::C::") + argument, elements);
    });
    if (in_device && !is_host)
      Kokkos::deep_copy(exec, copy_,
                        BorrowedArray<const Element, Space>(from, count));
    else
      Kokkos::deep_copy(exec, copy_,
                        BorrowedArray<const Element, Host>(from, count));
    view_ = BorrowedArray<const Element, Space>(copy_.data(), count);
  }
  const OwnedArray<Element, Space>& copy() const { return copy_; }
  const BorrowedArray<const Element, Space>& view() const { return view_; }

 private:
  OwnedArray<Element, Space> copy_;
  BorrowedArray<const Element, Space> view_;
};

template <class Scalar>
constexpr strata_scalar scalar_of() {
  constexpr bool single = sizeof(Scalar) == 4 ||
                          std::is_same<Scalar, Kokkos::complex<float>>::value;
  constexpr bool real = std::is_floating_point<Scalar>::value;
  return single ? (real ? STRATA_FLOAT : STRATA_COMPLEX_FLOAT)
                : (real ? STRATA_DOUBLE : STRATA_COMPLEX_DOUBLE);
}

/// @throws OptionError unless a solver for these types can use the matrix
template <class Scalar, class Space>
void expect_types(const Matrix& matrix) {
  if (matrix.scalar != scalar_of<Scalar>())
    throw Strata::OptionError("matrix",
                              "has another scalar type than the solver",
                              "create a new solver");
  if (!std::is_same<Space, Device>::value && matrix.in_device)
    throw Strata::OptionError(
        "matrix", "is in device memory, and the solver in host memory",
        "create a new solver, or copy the matrix");
}

/// Calls `take` with row map, columns and values in `Space`, counted from 0,
/// and waits: the caller's arrays are then no longer in use.
template <class Scalar, class Space, class Take>
void with_arrays(const Space& exec, const Matrix& matrix, const Take& take) {
  note_index_base(matrix.index_base);
  expect_types<Scalar, Space>(matrix);
  const bool shift = matrix.index_base != 0;
  const Borrow<Scalar, Space> values(exec, "values", matrix.values,
                                     matrix.entries, matrix.in_device, false);
  with_index(matrix.wide_row_map, [&](auto offset) {
    using Offset = decltype(offset);
    const Borrow<Offset, Space> row_map(exec, "row_map", matrix.row_map,
                                        matrix.rows + 1, matrix.in_device,
                                        shift);
    with_index(matrix.wide_columns, [&](auto column) {
      using Column = decltype(column);
      const Borrow<Column, Space> columns(exec, "columns", matrix.columns,
                                          matrix.entries, matrix.in_device,
                                          shift);
      if (shift) {
        shift_indices(exec, row_map.copy(), -1);
        shift_indices(exec, columns.copy(), -1);
      }
      take(row_map.view(), columns.view(), values.view());
      exec.fence();
    });
  });
}

/// For classes of the library that want a matrix.
template <class Scalar, class Space, class RowMap, class Columns>
auto borrowed_matrix(const RowMap& row_map, const Columns& columns,
                     const BorrowedArray<const Scalar, Space>& values) {
  using Ordinal = typename Columns::non_const_value_type;
  using Offset = typename RowMap::non_const_value_type;
  using Crs =
      KokkosSparse::CrsMatrix<const Scalar, Ordinal,
                              typename Space::device_type, Borrowed, Offset>;
  const auto rows = static_cast<Ordinal>(row_map.extent(0) - 1);
  // Columns of a CrsMatrix are never const; the library does not write them.
  const BorrowedArray<Ordinal, Space> written(
      const_cast<Ordinal*>(columns.data()), columns.extent(0));
  return Crs("A", rows, rows, static_cast<Offset>(values.extent(0)), values,
             row_map, written);
}

/// Vectors of a caller, of one length.
struct Vectors {
  const void* b;
  std::int64_t ldb;
  void* x;
  std::int64_t ldx, nrhs;
  strata_layout layout;
};

/// @throws SizeMismatchError, NullPointerError, OptionError
template <class Element, class Space>
auto block_view(const char* argument, const char* leading, Element* array,
                std::int64_t ld, std::int64_t rows, std::int64_t nrhs,
                strata_layout layout) {
  const bool row_major =
      is_second("layout", layout, "STRATA_COLUMN_MAJOR or STRATA_ROW_MAJOR");
  if (nrhs < 0)
    throw Strata::SizeMismatchError("nrhs", "is " + std::to_string(nrhs),
                                    "pass 0 or more right-hand sides");
  const std::int64_t least = row_major ? nrhs : rows;
  if (ld < least)
    throw Strata::SizeMismatchError(
        leading, "is " + std::to_string(ld),
        "pass at least the number of " +
            std::string(row_major ? "right-hand sides, " : "rows, ") +
            std::to_string(least));
  require_array<Element>(argument, array, rows * nrhs);
  const auto n = static_cast<std::size_t>(rows);
  const auto k = static_cast<std::size_t>(nrhs);
  const auto far = static_cast<std::size_t>(ld);
  return Kokkos::View<Element**, Kokkos::LayoutStride,
                      typename Space::memory_space, Borrowed>(
      array,
      Kokkos::LayoutStride(n, row_major ? far : 1, k, row_major ? 1 : far));
}

/// Calls `take` with b and x as views.
template <class Scalar, class Space, class Take>
void with_vectors(const Vectors& of, std::int64_t rows, const Take& take) {
  const auto b = block_view<const Scalar, Space>(
      "b", "ldb", static_cast<const Scalar*>(of.b), of.ldb, rows, of.nrhs,
      of.layout);
  const auto x = block_view<Scalar, Space>(
      "x", "ldx", static_cast<Scalar*>(of.x), of.ldx, rows, of.nrhs, of.layout);
  take(b, x);
}

/// Values that are passed without their pattern.
template <class Scalar, class Space>
auto values_view(const void* values, std::int64_t entries) {
  require_array<Scalar>("values", values, entries);
  return BorrowedArray<const Scalar, Space>(static_cast<const Scalar*>(values),
                                            static_cast<std::size_t>(entries));
}

/// Waits, and copies what an update has found.
template <class Space, class Status>
Strata::UpdateStatus fetch_status(const Space& exec, const Status& status) {
  const Kokkos::View<Strata::UpdateStatus, Kokkos::HostSpace> found(
      "Strata::C::update_status");
  Kokkos::deep_copy(exec, found, status);
  exec.fence();
  return found();
}
inline void give_fault(const Strata::UpdateStatus& found, strata_fault* fault,
                       std::int64_t* row) {
  if (fault) *fault = static_cast<strata_fault>(found.fault);
  if (row) *row = found.row;
}

}  // namespace StrataC

#endif
