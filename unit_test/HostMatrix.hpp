// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_HOST_MATRIX_HPP
#define STRATA_TEST_HOST_MATRIX_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

/// A CRS matrix in plain vectors, to look at and to make tests from.
template <class Scalar>
struct HostMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> row_map{0};
  std::vector<std::int64_t> entries;
  std::vector<Scalar> values;

  HostMatrix() = default;

  template <class CrsMatrix>
  explicit HostMatrix(const CrsMatrix& A)
      : rows(A.numRows()), columns(A.numCols()) {
    copy(A.graph.row_map, row_map);
    copy(A.graph.entries, entries);
    copy(A.values, values);
  }

  /// A dense array's entries that are not zero.
  HostMatrix(std::int64_t rows_, std::int64_t columns_,
             const std::vector<Scalar>& dense)
      : rows(rows_), columns(columns_) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) {
        const Scalar value = dense[i * columns + j];
        if (value == Scalar(0)) continue;
        entries.push_back(j);
        values.push_back(value);
      }
      row_map.push_back(static_cast<std::int64_t>(entries.size()));
    }
  }

  /// Value at (i, j), or null where none is stored; rows must be sorted.
  const Scalar* find(std::int64_t i, std::int64_t j) const {
    const auto begin = entries.begin() + row_map[i];
    const auto end = entries.begin() + row_map[i + 1];
    const auto at = std::lower_bound(begin, end, j);
    return at != end && *at == j ? &values[at - entries.begin()] : nullptr;
  }
  /// The same, to be changed; it has to be stored.
  Scalar& at(std::int64_t i, std::int64_t j) {
    return *const_cast<Scalar*>(find(i, j));
  }

  template <class CrsMatrix>
  CrsMatrix to_device() const {
    typename CrsMatrix::row_map_type::non_const_type d_row_map("row_map",
                                                               row_map.size());
    typename CrsMatrix::index_type::non_const_type d_entries("entries",
                                                             entries.size());
    typename CrsMatrix::values_type::non_const_type d_values("values",
                                                             values.size());
    fill(d_row_map, row_map);
    fill(d_entries, entries);
    fill(d_values, values);
    return CrsMatrix("test", rows, columns, entries.size(), d_values, d_row_map,
                     d_entries);
  }

 private:
  template <class View, class T>
  static void copy(const View& view, std::vector<T>& to) {
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    to.resize(host.extent(0));
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<T>(host(k));
  }
  template <class View, class T>
  static void fill(const View& view, const std::vector<T>& from) {
    const auto host = Kokkos::create_mirror_view(view);
    for (std::size_t k = 0; k < from.size(); ++k)
      host(k) = static_cast<typename View::non_const_value_type>(from[k]);
    Kokkos::deep_copy(view, host);
  }
};

#endif
