// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MATRIX_MARKET_ARRAY_HPP
#define STRATA_MATRIX_MARKET_ARRAY_HPP

#include <Kokkos_Core.hpp>
#include <fstream>
#include <gallery/HostMemory.hpp>
#include <gallery/MatrixMarketText.hpp>
#include <limits>
#include <locale>

namespace Strata {

/// A dense matrix or a block of vectors on the host, column by column.
using HostArray = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// Reads a dense matrix from a Matrix Market array file (real or integer,
/// general), gzip'd or not: right-hand sides, say.
///
/// @throws FileError with the line at fault, for whatever is not of that form
/// Cost: one pass over the text.
inline HostArray read_matrix_market_array(const std::string& path) {
  using Detail::MarketField;
  Detail::MarketText text(path, "array");
  if (text.field() == MarketField::complex ||
      text.field() == MarketField::pattern)
    text.fail("holds no real values", "store real or integer values");
  if (text.symmetry() != Detail::MarketSymmetry::general)
    text.fail("is not a general array", "store all values");
  if (!text.next_line())
    text.fail("has no line with the numbers of rows and columns");
  const std::int64_t rows = text.whole("number of rows");
  const std::int64_t columns = text.whole("number of columns");
  text.end_line();
  if (columns > 0 && rows > INT64_MAX / columns)
    text.fail("states more values than a file can hold");
  const std::int64_t stated = rows * columns;
  // A digit, and a blank or the end of the line.
  text.require_room(stated, 2, "values");
  text.require_memory(
      static_cast<double>(sizeof(double)) * static_cast<double>(stated),
      Detail::host_memory_bytes(), std::to_string(stated) + " values");
  HostArray array(
      Kokkos::view_alloc("Strata::matrix_market", Kokkos::WithoutInitializing),
      static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  std::int64_t count = 0;
  while (text.next_line())
    for (; text.has_word(); ++count) {
      if (count == stated)
        text.fail("there is text after the " + std::to_string(stated) +
                  " stated values");
      array.data()[count] = text.number(std::numeric_limits<double>::max());
    }
  if (count < stated)
    text.fail("the file ends after " + std::to_string(count) + " of " +
              std::to_string(stated) + " stated values");
  return array;
}

/// Writes a dense matrix as a Matrix Market array file that reads back to the
/// same bits. @throws FileError
inline void write_matrix_market_array(const std::string& path,
                                      const HostArray& array) {
  std::ofstream file(path);
  file.imbue(std::locale::classic());
  file.precision(std::numeric_limits<double>::max_digits10);
  file << "%%MatrixMarket matrix array real general\n"
       << array.extent(0) << ' ' << array.extent(1) << '\n';
  for (std::size_t c = 0; c < array.extent(1); ++c)
    for (std::size_t r = 0; r < array.extent(0); ++r)
      file << array(r, c) << '\n';
  file.flush();
  if (!file)
    throw FileError(path, "can't be written",
                    "check the name, the permissions and the space");
}

}  // namespace Strata

#endif
