// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_NEW_MATRIX_HPP
#define STRATA_CORE_MATRIX_NEW_MATRIX_HPP

#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <cstdint>
#include <limits>

namespace Strata {
namespace Detail {

/// The arrays of a matrix that is being made. A public function knows the types
/// of the matrix and allocates; what fills it in knows its scalar alone.
template <class Scalar>
class NewMatrix {
 public:
  NewMatrix() = default;
  NewMatrix(const NewMatrix&) = delete;
  NewMatrix& operator=(const NewMatrix&) = delete;

  /// Not initialised.
  virtual IndexOutput make_row_map(const std::string& label,
                                   std::int64_t rows) = 0;
  virtual IndexOutput make_entries(const std::string& label,
                                   std::int64_t entries) = 0;
  virtual Scalar* make_values(const std::string& label,
                              std::int64_t entries) = 0;

  /// The types of its indices, and what these can count.
  IndexKind ordinal = IndexKind::int32, offset = IndexKind::int32;
  std::int64_t largest_ordinal = 0, largest_offset = 0;

 protected:
  ~NewMatrix() = default;
};

template <class CrsMatrix>
class NewCrsMatrix final
    : public NewMatrix<typename MatrixTypes<CrsMatrix>::Scalar> {
 public:
  using Types = MatrixTypes<CrsMatrix>;
  using Scalar = typename Types::Scalar;

  NewCrsMatrix() {
    using Ordinal = typename Types::Ordinal;
    using Offset = typename Types::Offset;
    this->ordinal = index_kind_of<Ordinal>();
    this->offset = index_kind_of<Offset>();
    this->largest_ordinal = largest(std::numeric_limits<Ordinal>::max());
    this->largest_offset = largest(std::numeric_limits<Offset>::max());
  }
  IndexOutput make_row_map(const std::string& label,
                           std::int64_t rows) override {
    make_unfilled(row_map_, label, rows + 1);
    return row_map_;
  }
  IndexOutput make_entries(const std::string& label,
                           std::int64_t entries) override {
    make_unfilled(entries_, label, entries);
    return entries_;
  }
  Scalar* make_values(const std::string& label, std::int64_t entries) override {
    make_unfilled(values_, label, entries);
    return values_.data();
  }
  /// The matrix, square, once it is filled in.
  typename Types::Matrix matrix(const std::string& label) const {
    using Ordinal = typename Types::Ordinal;
    const auto rows = static_cast<Ordinal>(row_map_.extent(0) - 1);
    return {label,   rows,
            rows,    static_cast<typename Types::Offset>(values_.extent(0)),
            values_, row_map_,
            entries_};
  }

 private:
  template <class Integer>
  static std::int64_t largest(Integer of_type) {
    constexpr std::uint64_t most = INT64_MAX;
    const auto value = static_cast<std::uint64_t>(of_type);
    return static_cast<std::int64_t>(value < most ? value : most);
  }

  typename Types::RowMap row_map_;
  typename Types::Entries entries_;
  typename Types::Values values_;
};

/// IndexOverflowError unless the types of a new matrix can count its rows and
/// entries.
template <class Scalar>
void require_index_types_hold(const std::string& argument,
                              const NewMatrix<Scalar>& made, double rows,
                              double entries) {
  require_index_types_hold(argument, static_cast<double>(made.largest_ordinal),
                           static_cast<double>(made.largest_offset), rows,
                           entries);
}

/// Copies a matrix, or one without values with zeros. Waits for `exec`.
template <class Scalar, class ExecutionSpace>
void copy_matrix(const ExecutionSpace& exec, const std::string& label,
                 const CrsArrays<Scalar>& from, NewMatrix<Scalar>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  const auto stored = static_cast<std::int64_t>(from.num_values);
  copy_indices(exec, from.row_map, made.make_row_map(label, from.rows()));
  copy_indices(exec, from.entries, made.make_entries(label, stored));
  const UnmanagedView<Scalar, Memory> values(made.make_values(label, stored),
                                             from.num_values);
  if (from.values)
    Kokkos::deep_copy(
        exec, values,
        UnmanagedView<const Scalar, Memory>(from.values, from.num_values));
  else
    Kokkos::deep_copy(exec, values, Scalar(0));
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
