// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SELL_OPTIONS_HPP
#define STRATA_SELL_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <sstream>
#include <string>

namespace Strata {

/// Shape of a SELL-C-sigma matrix. Zeros leave the choice to the device and the
/// matrix.
struct SellOptions {
  /// C, rows of a chunk: at most 1,048,576. Default: as many as fill a warp
  /// (32 with one lane a row); on a host 8.
  int chunk_rows = 0;
  /// sigma, rows of a window within which rows are sorted by falling length; 1
  /// leaves their order alone, the number of rows or more sorts all. Default:
  /// the smallest of 1, 1,024 and 16,384 with at most 10 % of padding, else
  /// the one with the least.
  std::int64_t sigma = 0;
  /// Lanes that share a row: a power of two up to a warp, 1 on a host.
  /// Default: 1 where rows are short and enough to hide latencies: on a device
  /// of 132 multiprocessors, 21,000 of seven entries each, or 135,000 if some
  /// row has over four times the mean.
  int lanes_per_row = 0;
  /// Entries above which a row is taken out of the chunks and cut into pieces
  /// for a warp each.
  std::int64_t long_row = 0;
  /// Chunks whose entries lie on few diagonals store the diagonals in place of
  /// columns, where that takes fewer bytes.
  bool use_diagonals = true;
};

/// What was made of the matrix.
struct SellReport {
  std::int64_t rows = 0, columns = 0, entries = 0;
  /// Stored slots, padding included; without padding they equal `entries`.
  std::int64_t slots = 0;
  int chunk_rows = 0;      ///< C
  std::int64_t sigma = 0;  ///< 1: not sorted
  int lanes_per_row = 0;
  std::int64_t chunks = 0;
  std::int64_t diagonal_chunks = 0;  ///< chunks that store diagonals
  std::int64_t long_rows = 0;        ///< rows taken out of the chunks
  std::int64_t longest_row = 0;
  /// Bytes that a product reads of the matrix, once each.
  std::size_t bytes_read = 0;
  /// Bytes of device memory held, with what update_values needs.
  std::size_t bytes = 0;
  /// Time of the constructor, microseconds.
  double build_us = 0;

  /// Share of the slots that hold no entry, 0 to 1.
  double padding() const {
    return slots == 0 ? 0.0
                      : 1.0 - static_cast<double>(entries) /
                                  static_cast<double>(slots);
  }
};

/// The report as lines of text, `name: value` each.
inline std::string to_string(const SellReport& report) {
  std::ostringstream out;
  out << std::setprecision(3) << "rows: " << report.rows
      << "\ncolumns: " << report.columns << "\nentries: " << report.entries
      << "\nslots: " << report.slots << ", " << 100 * report.padding()
      << " % without an entry\nchunks: " << report.chunks << " of "
      << report.chunk_rows << " rows, " << report.diagonal_chunks
      << " on diagonals; " << report.lanes_per_row << " lanes a row; sorted by "
      << report.sigma << " rows\nlongest row: " << report.longest_row << ", "
      << report.long_rows << " rows out of chunks\nmemory: " << report.bytes
      << " bytes, " << report.bytes_read << " read by a product\n";
  return out.str();
}

}  // namespace Strata

#endif
