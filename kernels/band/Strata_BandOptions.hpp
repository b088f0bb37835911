// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BAND_OPTIONS_HPP
#define STRATA_BAND_OPTIONS_HPP

#include <Strata_Error.hpp>
#include <core/interface/Enumerators.hpp>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>

namespace Strata {

/// How a band matrix is factorised.
enum class BandMethod {
  /// On a host, LAPACK solves one system whose dominance is required, as with
  /// `partial_pivoting`, where the build has LAPACK. On a GPU, few systems of
  /// up to some 700 diagonals on a side take `nested_dissection`. All others
  /// take `tiles`, as do those for whose dissection, and the workspace of
  /// max_right_hand_sides (of 100 if it is 0), there is no memory when the
  /// solver is made.
  automatic,
  /// Block LU without row exchanges, in tiles that wait for each other.
  tiles,
  /// `tiles` in the order of nested dissection, which has fewer dependent steps
  /// where a band is long beside its width. About twice the memory where kl =
  /// ku, up to four times where all diagonals are on one side.
  nested_dissection,
  /// LU with partial pivoting: LAPACK's dgbtrf. For any matrix.
  partial_pivoting
};

namespace Detail {
template <>
struct EnumeratorNames<BandMethod> {
  static constexpr const char* list[] = {
      "automatic", "tiles", "nested_dissection", "partial_pivoting"};
};
}  // namespace Detail

struct BandOptions {
  BandMethod method = BandMethod::automatic;
  /// Right-hand sides that one launch solves for; more take more launches.
  ///   0: as many as a solve has, up to 1024. The workspace grows with the
  ///   first
  ///      solve that has more of them than those before, or by reserve(); that
  ///      solve waits and allocates, no other does.
  ///   1 or more: that many. The workspace is made with the solver and stays.
  /// On a GPU, `automatic` chooses the method for so many, and for some 100 if
  /// it is 0.
  int max_right_hand_sides = 0;
  /// Without pivoting: refuse matrices that are diagonally dominant neither by
  /// rows nor by columns. (Sums that equal the diagonal pass.)
  bool require_dominance = true;
  /// Without pivoting: pivots below this share of the largest element of their
  /// row or column, whichever is smaller, are refused; 0: the unit roundoff of
  /// the scalar type.
  double smallest_pivot = 0;
  /// Rows and columns of a tile, 32 or 64; 0: chosen by the band.
  int tile = 0;
  /// With `automatic` and `partial_pivoting`, one system on a host: call the
  /// LAPACK that the library was built with, if any (Strata_ENABLE_LAPACK).
  bool use_lapack = true;
};

/// What was made of a matrix, in numbers.
struct BandReport {
  BandMethod method = BandMethod::automatic;
  /// Rows, and diagonals below and above the main one that are in the matrix.
  std::int64_t rows = 0, lower = 0, upper = 0;
  int systems = 1;
  /// Rows and columns of a tile, or columns of a panel.
  int tile = 0;
  bool lapack = false;  ///< LAPACK has the factors
  /// Bytes of device memory that the solver holds, and of the band itself.
  std::size_t bytes = 0, band_bytes = 0;
};

/// The report as lines of text, `name: value` each.
inline std::string to_string(const BandReport& report) {
  std::ostringstream out;
  out << "method: " << to_string(report.method)
      << (report.lapack ? " (LAPACK)" : "") << "\nrows: " << report.rows
      << "\ndiagonals below, above: " << report.lower << ", " << report.upper
      << "\nsystems: " << report.systems << "\ntile: " << report.tile
      << "\nmemory: " << report.bytes << " bytes, " << report.band_bytes
      << " as a band\n";
  return out.str();
}

}  // namespace Strata

#endif
