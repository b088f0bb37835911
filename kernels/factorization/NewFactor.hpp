// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NEW_FACTOR_HPP
#define STRATA_KERNELS_FACTORIZATION_NEW_FACTOR_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Indices of four or eight bytes.
template <class MemorySpace>
class NewIndices {
 public:
  IndexOutput make(const std::string& label, std::int64_t count, bool wide) {
    if (wide) {
      wide_ = make_unfilled<decltype(wide_)>(label, count);
      return wide_;
    }
    narrow_ = make_unfilled<decltype(narrow_)>(label, count);
    return narrow_;
  }

 private:
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
  explicit NewFactor(const CrsArrays<Scalar>& A, bool wide_offsets = false) {
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
    const auto made = row_map_.make(label, rows + 1, wide_offsets_);
    arrays_.row_map = made;
    return made;
  }
  IndexOutput make_entries(const std::string& label,
                           std::int64_t entries) override {
    const auto made = entries_.make(label, entries, wide_ordinals_);
    arrays_.entries = made;
    return made;
  }
  Scalar* make_values(const std::string& label, std::int64_t entries) override {
    values_ = make_unfilled<decltype(values_)>(label, entries);
    arrays_.values = values_.data();
    arrays_.num_values = values_.extent(0);
    return values_.data();
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
