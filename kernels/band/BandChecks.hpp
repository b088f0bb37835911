// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_BAND_CHECKS_HPP
#define STRATA_KERNELS_BAND_BAND_CHECKS_HPP

#include <Strata_BandOptions.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/band/BandInput.hpp>
#include <kernels/band/LapackBand.hpp>
#include <kernels/band/TileDissection.hpp>
#include <vector>

namespace Strata {
namespace Detail {

template <class T>
struct TypeOf {
  using type = T;
};

/// @throws BandwidthError
inline void check_bandwidth(const char* name, std::int64_t k) {
  if (k < 0)
    throw BandwidthError(name, "is " + std::to_string(k),
                         "a number of diagonals is at least 0");
}

/// A view of bands, of rank 2 or 3, with its sizes checked. Diagonals outside
/// of the matrix are left out.
/// @throws BandwidthError, SizeMismatchError, IndexOverflowError
template <class Scalar>
BandRef<Scalar> checked_band(const StridedBlock& ab, std::int64_t kl,
                             std::int64_t ku) {
  BandRef<Scalar> A;
  A.size = ab.extent[1];
  check_bandwidth("kl", kl);
  check_bandwidth("ku", ku);
  if (A.size > std::int64_t{1} << 30)
    throw IndexOverflowError("ab", std::to_string(A.size) + " columns",
                             "at most 2^30 are supported");
  const std::int64_t rows = ab.extent[0];
  // Sums of larger numbers could overflow.
  const bool are_smaller = kl < rows && ku < rows;
  const bool room_for_fill = are_smaller && rows == 2 * kl + ku + 1;
  if (!room_for_fill && !(are_smaller && rows == kl + ku + 1))
    throw SizeMismatchError(
        "ab",
        "has " + std::to_string(rows) + " rows for kl = " + std::to_string(kl) +
            " and ku = " + std::to_string(ku),
        "pass kl + ku + 1 rows, or 2 kl + ku + 1 with room for fill first");
  if (ab.extent[2] > 1 << 24)
    throw IndexOverflowError("ab", std::to_string(ab.extent[2]) + " systems",
                             "split the batch");
  const std::int64_t widest = std::max<std::int64_t>(A.size - 1, 0);
  A.lower = std::min(kl, widest), A.upper = std::min(ku, widest);
  A.row_stride = ab.stride[0];
  A.column_stride = ab.stride[1];
  A.system_stride = ab.stride[2];
  A.batch = static_cast<int>(ab.extent[2]);
  A.data = reinterpret_cast<const Scalar*>(ab.first);
  if (A.data)
    A.data += ((room_for_fill ? kl : 0) + ku - A.upper) * A.row_stride;
  return A;
}

/// Tiles of a block row on the side that has more of them.
template <class Scalar>
std::int64_t tiles_on_a_side(const BandRef<Scalar>& A, int tile) {
  return (std::max(A.lower, A.upper) + tile - 1) / tile;
}
template <class Scalar>
bool fits_dissection(const BandRef<Scalar>& A, int tile) {
  return TileDissection::fits((A.size + tile - 1) / tile,
                              tiles_on_a_side(A, tile));
}

/// @throws OptionError
template <class Scalar>
void check_band_options(const BandOptions& options, const BandRef<Scalar>& A) {
  require_enumerator("method", options.method);
  if (options.max_right_hand_sides < 0 ||
      options.max_right_hand_sides > 1 << 20)
    throw OptionError("max_right_hand_sides",
                      "is " + std::to_string(options.max_right_hand_sides),
                      "pass 1 to 1048576, or 0 for what solves need");
  if (options.tile != 0 && options.tile != 32 && options.tile != 64)
    throw OptionError("tile", "is " + std::to_string(options.tile),
                      "pass 32, 64, or 0 for a choice by the band");
  if (!(options.smallest_pivot >= 0 && options.smallest_pivot < 1))
    throw OptionError("smallest_pivot",
                      "is " + std::to_string(options.smallest_pivot),
                      "pass a share of the largest element, below 1");
  const std::int64_t widest = std::max(A.lower, A.upper);
  const int tile = options.tile == 32 ? 32 : 64;
  if (options.method == BandMethod::nested_dissection &&
      !fits_dissection(A, tile))
    throw OptionError(
        "method",
        "nested_dissection of " + std::to_string(A.size) + " rows with " +
            std::to_string(widest) +
            " diagonals on a side may take more than 2^31 products "
            "of tiles",
        tile == 32 && fits_dissection(A, 64)
            ? "set tile to 0 or 64, or use tiles"
            : "use tiles");
}

/// Right-hand sides that `automatic` chooses for.
inline int expected_columns(const BandOptions& options) {
  return options.max_right_hand_sides > 0 ? options.max_right_hand_sides : 100;
}

/// Whether tiles in nested dissection are expected to be faster than in the
/// order of the band, both of 32 rows. Where kl = ku, they do about twice the
/// products in a solve and 4 to 5 times as many in a factorisation, in about
/// (log2(n / (32 w)) + 1) w dependent steps where the others take n / 32, w
/// tiles on a side. So the products of one step must be few beside what a
/// device does meanwhile, and fewer for many right-hand sides. (The limits are
/// measured: docs/notes/band_and_dense.md.)
template <class Scalar>
bool dissection_is_faster(int multiprocessors, const BandOptions& options,
                          const BandRef<Scalar>& A) {
  // A triangle's factorisation has no products in the order of the band, and
  // its solve one chain.
  if (std::min(A.lower, A.upper) == 0 || !fits_dissection(A, 32)) return false;
  const double width = static_cast<double>(tiles_on_a_side(A, 32));
  const int columns = expected_columns(options);
  const double products_at_once = columns <= 16    ? 3
                                  : columns <= 128 ? 0.8
                                                   : 0.5;
  return (4 * width + 1) * A.batch <= products_at_once * multiprocessors &&
         width * width * A.batch <= 4 * multiprocessors;
}

/// The method that `automatic` stands for on a device.
template <class Scalar>
BandMethod choose_on_device(int multiprocessors, const BandOptions& options,
                            const BandRef<Scalar>& A) {
  const std::int64_t widest = std::max(A.lower, A.upper);
  // Short bands have few steps, diagonal matrices one.
  if (widest == 0 || A.size <= 4 * widest) return BandMethod::tiles;
  // Narrow bands have few products, unless there are many systems.
  const bool narrow = widest <= (options.tile == 32 ? 32 : 64) &&
                      std::int64_t{A.batch} * 2 <= multiprocessors;
  return narrow || dissection_is_faster(multiprocessors, options, A)
             ? BandMethod::nested_dissection
             : BandMethod::tiles;
}

/// Small tiles pass on sooner; large ones read less for each operation, which
/// decides once the arithmetic does.
template <class Scalar>
int choose_tile(bool on_device, BandMethod method, const BandRef<Scalar>& A) {
  if (method == BandMethod::nested_dissection && !fits_dissection(A, 32))
    return 64;
  if (!on_device) return 32;
  const auto widest = static_cast<double>(std::max(A.lower, A.upper));
  if (method != BandMethod::nested_dissection) return widest <= 1500 ? 32 : 64;
  return widest > 64 &&
                 widest * widest * static_cast<double>(A.size) * A.batch > 2.5e9
             ? 64
             : 32;
}

/// Fills in method and tile.
template <class ExecutionSpace, class Scalar>
void choose_band_method(const ExecutionSpace& exec, const BandOptions& options,
                        const BandRef<Scalar>& A, BandReport& report) {
  constexpr bool on_device = is_gpu<ExecutionSpace>;
  report.method = options.method;
  report.tile = options.tile;
  report.lapack =
      has_lapack<ExecutionSpace> && options.use_lapack && A.batch == 1 &&
      fits_lapack_band(A) &&
      (options.method == BandMethod::partial_pivoting ||
       (options.method == BandMethod::automatic && options.require_dominance));
  if (report.lapack) {
    report.method = BandMethod::partial_pivoting;
    report.tile = 0;
    return;
  }
  if (report.method == BandMethod::automatic) {
    report.method =
        on_device ? choose_on_device(num_multiprocessors(exec), options, A)
                  : BandMethod::tiles;
  }
  if (report.method == BandMethod::partial_pivoting)
    report.tile = 32;
  else if (report.tile == 0)
    report.tile = choose_tile(on_device, report.method, A);
}

/// Sizes and memory of right-hand sides and solutions, views of rank `rank`.
/// @throws SizeMismatchError, AliasError
inline void check_band_vectors(const BandReport& report, int rank,
                               const StridedBlock& b, const StridedBlock& x) {
  if (rank < 3) {
    if (report.systems != 1)
      throw SizeMismatchError(
          "b", "has rank " + std::to_string(rank) + ", the solver a batch",
          "pass views of rank 3: rows x right-hand sides x systems");
    check_vectors(report.rows, b, x);
    return;
  }
  const auto check = [&](const char* name, const StridedBlock& v) {
    if (v.extent[2] != report.systems)
      throw SizeMismatchError(name,
                              "has " + std::to_string(v.extent[2]) +
                                  " systems, the solver " +
                                  std::to_string(report.systems),
                              "pass vectors for every system of the batch");
  };
  check("b", b);
  check("x", x);
  if (report.systems == 0) return;
  check_vector_sizes(report.rows, b, x);
  check_apart_or_same(b, x);
}

/// Waits for the factorisation and raises what it found.
/// @param place_of_pivot  the place of what BandFaults::pivot or overflow holds
/// @throws DominanceError, FactorizationError
template <class ExecutionSpace, class Fault, class PlaceOfPivot>
void raise_band_faults(const ExecutionSpace& exec, const Fault& fault,
                       std::int64_t size, int batch, bool pivoting,
                       bool require_dominance,
                       const PlaceOfPivot& place_of_pivot) {
  std::vector<unsigned long long> found(fault.extent(0));
  copy_to_host(exec, fault, found.data());
  const auto row = [&](int what) {
    return static_cast<std::int64_t>(found[what]) % size;
  };
  const auto place = [&](int what) {
    std::string text = " " + std::to_string(row(what));
    if (batch > 1)
      text += " of system " +
              std::to_string(static_cast<std::int64_t>(found[what]) / size);
    return text;
  };
  if (found[BandFaults::not_finite] != BandFaults::none)
    throw FactorizationError(
        "ab", "a value is not finite in row" + place(BandFaults::not_finite),
        "look for NaN and infinity in the band", row(BandFaults::not_finite));
  for (int system = 0; !pivoting && require_dominance && system < batch;
       ++system) {
    const int of_row = BandFaults::place(BandFaults::row, system);
    const int of_column = BandFaults::place(BandFaults::column, system);
    if (found[of_row] != BandFaults::none &&
        found[of_column] != BandFaults::none)
      throw DominanceError(
          "ab",
          "the diagonal does not dominate row" + place(of_row) +
              ", nor column" + place(of_column),
          "use partial_pivoting, or set require_dominance to false if no "
          "exchanges are needed",
          row(of_row));
  }
  // The first of both: the other one may follow from it.
  const auto pivot =
      std::min(found[BandFaults::pivot], found[BandFaults::overflow]);
  if (pivot == BandFaults::none) return;
  const bool is_small = pivot == found[BandFaults::pivot];
  const int fault_of_pivot =
      is_small ? BandFaults::pivot : BandFaults::overflow;
  found[fault_of_pivot] = static_cast<unsigned long long>(
      place_of_pivot(static_cast<std::int64_t>(pivot)));
  if (is_small)
    throw FactorizationError(
        "ab",
        pivoting ? "the matrix is singular: no pivot is left in column" +
                       place(BandFaults::pivot)
                 : "elimination makes the pivot small in row" +
                       place(BandFaults::pivot),
        pivoting ? "check the matrix for rows that depend on each other"
                 : "use partial_pivoting, or check that the matrix is regular",
        row(BandFaults::pivot));
  throw FactorizationError(
      "ab",
      "elimination makes a pivot in row" + place(BandFaults::overflow) +
          " that is not finite, or so small that its reciprocal is not",
      pivoting ? "scale the matrix"
               : "scale the matrix, or use partial_pivoting",
      row(BandFaults::overflow));
}

}  // namespace Detail
}  // namespace Strata

#endif
