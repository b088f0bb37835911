// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_ORDER_HPP
#define PETSCSTRATA_ORDER_HPP

// Matrices in an order that PETSc has found.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "Arrays.hpp"
#include "FactorBase.hpp"

namespace PetscStrata {

template <class T, class Exec>
Kokkos::View<T*, typename Exec::memory_space> copy_of(
    const std::string& label, const std::vector<T>& from) {
  const Kokkos::View<T*, typename Exec::memory_space> to(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, label), from.size());
  Kokkos::deep_copy(to, HostArray<const T>(from.data(), from.size()));
  return to;
}

/// A square matrix with this pattern, whose values are still to be filled in.
template <class Exec>
Matrix<Exec> matrix_of(const std::string& label,
                       const std::vector<PetscInt>& row_map,
                       const std::vector<PetscInt>& entries) {
  const auto rows = static_cast<PetscInt>(row_map.size() - 1);
  return Matrix<Exec>(
      label, rows, rows, static_cast<PetscInt>(entries.size()),
      Kokkos::View<Scalar*, typename Exec::memory_space>(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
          entries.size()),
      copy_of<PetscInt, Exec>(label + "::row_map", row_map),
      copy_of<PetscInt, Exec>(label + "::entries", entries));
}

template <class Exec>
struct GatherValues {
  Kokkos::View<const Scalar*, typename Exec::memory_space> from;
  Kokkos::View<const PetscInt*, typename Exec::memory_space> source;
  Kokkos::View<Scalar*, typename Exec::memory_space> to;
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt k) const {
    to(k) = from(source(k));
  }
};

/// Of rows and columns; without one, that of the matrix.
template <class Exec>
class Order {
 public:
  Order() = default;
  /// Cost: a sort of each row, on the host.
  explicit Order(const HostOrder& order)
      : host_rows_(order.rows, order.rows + order.count),
        rows_(copy_of<PetscInt, Exec>("Strata::petsc::rows", host_rows_)),
        columns_(copy_of<PetscInt, Exec>(
            "Strata::petsc::columns",
            {order.columns, order.columns + order.count})) {
    const auto n = static_cast<std::size_t>(order.count);
    std::vector<PetscInt> place(n), row_map(n + 1, 0), entries, source;
    for (std::size_t i = 0; i < n; ++i)
      place[static_cast<std::size_t>(order.columns[i])] =
          static_cast<PetscInt>(i);
    entries.reserve(static_cast<std::size_t>(order.row_map[n]));
    source.reserve(entries.capacity());
    std::vector<std::pair<PetscInt, PetscInt>> row;
    for (std::size_t i = 0; i < n; ++i) {
      row.clear();
      const PetscInt from = order.rows[i];
      for (PetscInt k = order.row_map[from]; k < order.row_map[from + 1]; ++k)
        row.emplace_back(place[static_cast<std::size_t>(order.entries[k])], k);
      std::sort(row.begin(), row.end());
      for (const auto& entry : row) {
        entries.push_back(entry.first);
        source.push_back(entry.second);
      }
      row_map[i + 1] = static_cast<PetscInt>(entries.size());
    }
    source_ = copy_of<PetscInt, Exec>("Strata::petsc::source", source);
    ordered_ = matrix_of<Exec>("Strata::petsc::ordered", row_map, entries);
  }

  /// On the device; null: that of the matrix.
  const PetscInt* rows() const { return rows_.data(); }
  const PetscInt* columns() const { return columns_.data(); }
  /// The row of the matrix that is row i of the factor.
  PetscInt row(PetscInt i) const {
    return host_rows_.empty() ? i : host_rows_[static_cast<std::size_t>(i)];
  }
  std::size_t bytes() const {
    return (rows_.span() + columns_.span() + source_.span() +
            ordered_.graph.row_map.span() + ordered_.graph.entries.span()) *
               sizeof(PetscInt) +
           ordered_.values.span() * sizeof(Scalar);
  }

  /// A in this order. Enqueues on `exec`.
  Matrix<Exec> of(const Exec& exec, const Matrix<Exec>& A) const {
    if (!rows()) return A;
    Kokkos::parallel_for(
        "Strata::petsc::order_values",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<PetscInt>>(exec, 0,
                                                               A.nnz()),
        GatherValues<Exec>{A.values, source_, ordered_.values});
    return ordered_;
  }

 private:
  using Indices = Kokkos::View<PetscInt*, typename Exec::memory_space>;
  std::vector<PetscInt> host_rows_;
  Indices rows_, columns_;
  Indices source_;  // of each entry, in the matrix
  Matrix<Exec> ordered_;
};

}  // namespace PetscStrata

#endif
