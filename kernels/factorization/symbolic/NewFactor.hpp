// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_NEW_FACTOR_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_NEW_FACTOR_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Memory that several arrays of indices share: an allocation takes a device
/// longer than some launches.
template <class MemorySpace>
class SharedIndexMemory {
 public:
  /// Bytes of an array.
  static std::size_t bytes(std::int64_t count, bool wide) {
    return (static_cast<std::size_t>(count) * (wide ? 8 : 4) + alignment - 1) /
           alignment * alignment;
  }
  void allocate(const std::string& label, std::size_t bytes) {
    block_ = make_unfilled<decltype(block_)>(label,
                                             static_cast<std::int64_t>(bytes));
    used_ = 0;
  }
  /// Null: there is none left.
  void* take(std::int64_t count, bool wide) {
    if (bytes(count, wide) > block_.extent(0) - used_) return nullptr;
    void* const array = block_.data() + used_;
    used_ += bytes(count, wide);
    return array;
  }

 private:
  static constexpr std::size_t alignment = 128;
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
    void* const array = memory ? memory->take(count, wide) : nullptr;
    if (wide) return make(wide_, label, count, array);
    return make(narrow_, label, count, array);
  }

 private:
  template <class View>
  static IndexOutput make(View& view, const std::string& label,
                          std::int64_t count, void* array) {
    if (array)
      view = View(static_cast<typename View::value_type*>(array),
                  static_cast<std::size_t>(count));
    else
      view = make_unfilled<View>(label, count);
    return view;
  }

  Kokkos::View<int*, MemorySpace> narrow_;
  Kokkos::View<std::int64_t*, MemorySpace> wide_;
};

/// A factor of a preconditioner, square, in indices that can number what the
/// matrix has.
template <class Scalar, class ExecutionSpace>
class NewFactor final : public NewMatrix<Scalar> {
  using Memory = typename ExecutionSpace::memory_space;

 public:
  /// @param wide_offsets  for one that may have more entries than A
  /// @param memory  for a pattern without values, see NewIndices; or null
  explicit NewFactor(const CrsArrays<Scalar>& A, bool wide_offsets = false,
                     SharedIndexMemory<Memory>* memory = nullptr)
      : memory_(memory) {
    const auto is_wide = [](const IndexArray& array) {
      return array.bytes_of_one() == 8;
    };
    constexpr std::int64_t largest_int = std::numeric_limits<int>::max();
    wide_ordinals_ = is_wide(A.entries);
    wide_offsets_ = wide_offsets ||
                    static_cast<std::int64_t>(A.num_values) > largest_int ||
                    (wide_ordinals_ && is_wide(A.row_map));
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    this->largest_ordinal = wide_ordinals_ ? largest : largest_int;
    this->largest_offset = largest;
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
    const auto made = entries_.make(label, entries, wide_ordinals_, memory_);
    arrays_.entries = made;
    return made;
  }
  Scalar* make_values(const std::string& label, std::int64_t entries) override {
    arrays_.num_values = static_cast<std::size_t>(entries);
    if (memory_) return nullptr;
    values_ = make_unfilled<decltype(values_)>(label, entries);
    arrays_.values = values_.data();
    return values_.data();
  }
  /// The arrays with values in other memory.
  CrsArrays<Scalar> arrays(const Scalar* values) const {
    CrsArrays<Scalar> made = arrays_;
    made.values = values;
    return made;
  }
  /// What two factors of A take together, that have a diagonal each.
  std::size_t index_bytes_of_both(const CrsArrays<Scalar>& A) const {
    using Shared = SharedIndexMemory<Memory>;
    const std::int64_t rows = A.rows();
    // An array for the entries of each.
    return 2 * Shared::bytes(rows + 1, wide_offsets_) +
           Shared::bytes(static_cast<std::int64_t>(A.num_values) + rows,
                         wide_ordinals_) +
           Shared::bytes(1, false);
  }
  /// Once it is filled in, and as long as this lives.
  const CrsArrays<Scalar>& arrays() const { return arrays_; }
  Scalar* new_values() const { return values_.data(); }
  std::size_t index_bytes() const {
    const auto bytes = [](const IndexArray& array) {
      return array.extent(0) * static_cast<std::size_t>(array.bytes_of_one());
    };
    return bytes(arrays_.row_map) + bytes(arrays_.entries);
  }

 private:
  SharedIndexMemory<Memory>* memory_;
  bool wide_offsets_ = false, wide_ordinals_ = false;
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
