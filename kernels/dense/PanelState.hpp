// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_PANEL_STATE_HPP
#define STRATA_KERNELS_DENSE_PANEL_STATE_HPP

#include <Kokkos_Core.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <cstdint>
#include <cstring>
#include <kernels/dense/DenseRef.hpp>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

/// What a panel leaves behind on the device, in one array of int. Rows are
/// counted from the panel's first active row, columns from its first.
struct PanelInfo {
  int* data;
  int width;

  static constexpr int size(int width) { return 2 + 5 * width; }

  /// Pivots found.
  KOKKOS_INLINE_FUNCTION int& found() const { return data[0]; }
  /// Rows that change places.
  KOKKOS_INLINE_FUNCTION int& moves() const { return data[1]; }
  /// Column of pivot q.
  KOKKOS_INLINE_FUNCTION int& column(int q) const { return data[2 + q]; }
  /// Move q takes row source(q) to row target(q). The first found() moves are
  /// those of the pivots, to rows 0, 1, ...; later ones bring the displaced
  /// rows to where a pivot came from, below the pivots.
  KOKKOS_INLINE_FUNCTION int& source(int q) const {
    return data[2 + width + q];
  }
  KOKKOS_INLINE_FUNCTION int& target(int q) const {
    return data[2 + 3 * width + q];
  }
};

/// How an elimination went, on the device.
struct EliminationStatus {
  static constexpr int none = 0x7fffffff;
  /// First column in which no pivot was found though rows were left.
  int lacking;
  /// First column whose pivot was infinite or not a number.
  int overflow;
};

/// One panel: `rows` active rows from `a` on and `columns` <= width columns.
///
/// Afterwards a row of a has U from its pivot on, if it has one, and left of
/// that, or everywhere, its multipliers in the columns that had a pivot and
/// zeros in the others. What is to change places is listed in `info`.
template <class Scalar>
struct PanelTask {
  DenseRef<Scalar> a;
  int rows, columns;
  /// Number of the panel's first column in the matrix.
  int first_column;
  /// A pivot's magnitude has to be larger.
  double tolerance;
  PanelInfo info;
  /// Gets the multipliers among the pivots, that of pivot row i at pivot q in
  /// place (i, q), q < i; width x width.
  DenseRef<Scalar> tile;
  EliminationStatus* status;
};

/// Pivots of an elimination: pivot q is in row q and column columns[q].
struct Pivots {
  std::vector<std::int64_t> columns;
  /// As in EliminationStatus.
  int lacking = EliminationStatus::none, overflow = EliminationStatus::none;

  /// Whether pivot q is in column q, for all q.
  bool leading() const {
    return columns.empty() ||
           columns.back() == static_cast<std::int64_t>(columns.size()) - 1;
  }
};

/// What pivots are searched by: the bits of an entry's magnitude, which are a
/// larger number for a larger one. The bit of the sign is left out, as a zero
/// may have one: zeros are alike. What is not a number is larger than all.
template <class Scalar>
struct PivotKey {
  using Key = unsigned long long;
  /// Whether keys differ in their upper halves only.
  static constexpr bool in_upper_half = std::is_same<Scalar, float>::value;

  KOKKOS_INLINE_FUNCTION static Key of(const Scalar& entry) {
    if constexpr (in_upper_half) {
      unsigned bits;
      memcpy(&bits, &entry, sizeof bits);
      return static_cast<Key>(bits & 0x7fffffffU) << 32;
    } else {
      const double size = one_norm(entry);
      Key key;
      memcpy(&key, &size, sizeof key);
      return key & 0x7fffffffffffffffULL;
    }
  }
  KOKKOS_INLINE_FUNCTION static double magnitude_of(Key key) {
    if constexpr (in_upper_half) {
      const unsigned bits = static_cast<unsigned>(key >> 32);
      float size;
      memcpy(&size, &bits, sizeof size);
      return size;
    } else {
      double size;
      memcpy(&size, &key, sizeof size);
      return size;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
