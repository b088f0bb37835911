// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_NEW_FACTOR_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_NEW_FACTOR_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Whether offsets take 64 bits.
template <class Scalar>
bool has_wide_offsets(const CrsArrays<Scalar>& A) {
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  return static_cast<std::int64_t>(A.num_values) > most;
}

/// Memory for the indices of both factors of a matrix: an allocation takes a
/// device longer than some launches.
template <class MemorySpace>
class SharedIndexMemory {
 public:
  template <class Scalar>
  SharedIndexMemory(const std::string& label, const CrsArrays<Scalar>& A) {
    const auto rows = static_cast<std::size_t>(A.rows());
    // An array for the entries of each, and a diagonal more than A's.
    make_unfilled(block_, label,
                  static_cast<std::int64_t>(
                      2 * bytes(rows + 1, has_wide_offsets(A)) +
                      bytes(A.num_values + rows, false) + alignment));
  }
  /// Null: there is none left.
  void* take(std::int64_t count, bool wide) {
    const std::size_t size = bytes(static_cast<std::size_t>(count), wide);
    if (size > block_.extent(0) - used_) return nullptr;
    void* const array = block_.data() + used_;
    used_ += size;
    return array;
  }

 private:
  static constexpr std::size_t alignment = 128;
  /// Of an array.
  static std::size_t bytes(std::size_t count, bool wide) {
    return (count * (wide ? 8 : 4) + alignment - 1) / alignment * alignment;
  }

  Kokkos::View<char*, MemorySpace> block_;
  std::size_t used_ = 0;
};

/// Indices of four or eight bytes.
template <class MemorySpace>
class NewIndices {
 public:
  /// @param memory  where they are if there is room, and which then has to live
  ///   as long; or null
  IndexOutput make(const std::string& label, std::int64_t count, bool wide,
                   SharedIndexMemory<MemorySpace>* memory = nullptr) {
    void* array = memory ? memory->take(count, wide) : nullptr;
    if (!array) {
      make_unfilled(own_, label, count * (wide ? 8 : 4));
      array = own_.data();
    }
    const auto extent = static_cast<std::size_t>(count);
    if (wide)
      return UnmanagedView<std::int64_t, MemorySpace>(
          static_cast<std::int64_t*>(array), extent);
    return UnmanagedView<int, MemorySpace>(static_cast<int*>(array), extent);
  }

 private:
  Kokkos::View<char*, MemorySpace> own_;
};

/// A factor of a preconditioner, square, with columns of 32 bits, which number
/// all rows (see require_row_numbers), and with offsets that count the entries.
template <class Scalar, class ExecutionSpace>
class NewFactor final : public NewMatrix<Scalar> {
  using Memory = typename ExecutionSpace::memory_space;

 public:
  /// @param wide_offsets  for one that may have more entries than A
  /// @param memory  for a pattern without values, see NewIndices; or null
  explicit NewFactor(const CrsArrays<Scalar>& A, bool wide_offsets = false,
                     SharedIndexMemory<Memory>* memory = nullptr)
      : memory_(memory), wide_offsets_(wide_offsets || has_wide_offsets(A)) {
    this->largest_ordinal = std::numeric_limits<int>::max();
    this->largest_offset = std::numeric_limits<std::int64_t>::max();
  }
  IndexOutput make_row_map(const std::string& label,
                           std::int64_t rows) override {
    arrays_.columns = rows;
    const auto made = row_map_.make(label, rows + 1, wide_offsets_, memory_);
    arrays_.row_map = made;
    return made;
  }
  IndexOutput make_entries(const std::string& label,
                           std::int64_t entries) override {
    const auto made = entries_.make(label, entries, false, memory_);
    arrays_.entries = made;
    arrays_.num_values = static_cast<std::size_t>(entries);
    return made;
  }
  Scalar* make_values(const std::string& label, std::int64_t entries) override {
    if (memory_) return nullptr;
    make_unfilled(values_, label, entries);
    arrays_.values = values_.data();
    return values_.data();
  }
  /// The arrays with values in other memory.
  CrsArrays<Scalar> arrays(const Scalar* values) const {
    CrsArrays<Scalar> made = arrays_;
    made.values = values;
    return made;
  }
  /// Once it is filled in, and as long as this lives.
  const CrsArrays<Scalar>& arrays() const { return arrays_; }
  Scalar* new_values() const { return values_.data(); }
  std::size_t index_bytes() const {
    return arrays_.row_map.bytes() + arrays_.entries.bytes();
  }
  std::size_t bytes() const {
    return index_bytes() + values_.extent(0) * sizeof(Scalar);
  }

 private:
  SharedIndexMemory<Memory>* memory_;
  bool wide_offsets_;
  NewIndices<Memory> row_map_, entries_;
  Kokkos::View<Scalar*, Memory> values_;
  CrsArrays<Scalar> arrays_;
};

/// A caller's matrix of at most 2^31 rows, which has been checked, as one of
/// Kokkos Kernels' with index types that are the same for all callers. The
/// caller's arrays have to live as long as this.
template <class Scalar, class ExecutionSpace>
class BorrowedMatrix {
 public:
  using Matrix = KokkosSparse::CrsMatrix<
      const Scalar, const int, typename ExecutionSpace::device_type,
      Kokkos::MemoryTraits<Kokkos::Unmanaged>, const std::int64_t>;

  /// Cost: a copy of the indices that have other types.
  BorrowedMatrix(const ExecutionSpace& exec, const CrsArrays<Scalar>& A)
      : row_map_(indices_as<std::int64_t>(exec, A.row_map)),
        entries_(indices_as<int>(exec, A.entries)),
        matrix_(
            "borrowed", static_cast<int>(A.rows()), static_cast<int>(A.columns),
            static_cast<std::int64_t>(A.num_values),
            typename Matrix::values_type(A.values, A.num_values),
            typename Matrix::row_map_type(row_map_.data(), row_map_.extent(0)),
            typename Matrix::index_type(entries_.data(), entries_.extent(0))) {}

  const Matrix& matrix() const { return matrix_; }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::View<std::int64_t*, Memory> row_map_;
  Kokkos::View<int*, Memory> entries_;
  Matrix matrix_;
};

}  // namespace Detail
}  // namespace Strata

#endif
