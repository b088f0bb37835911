// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MATRIX_MARKET_ARRAY_HPP
#define STRATA_MATRIX_MARKET_ARRAY_HPP

#include <Kokkos_Core.hpp>
#include <cctype>
#include <cmath>
#include <core/matrix_market/GzipLines.hpp>
#include <core/memory/HostMemory.hpp>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

namespace Strata {

/// A dense matrix or a block of vectors on the host, column by column.
using HostArray = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// Reads a dense matrix from a Matrix Market array file (real or integer,
/// general), gzip'd or not: right-hand sides, say.
///
/// @throws FileError with the line at fault, for whatever is not of that form
/// Cost: one pass over the text.
inline HostArray read_matrix_market_array(const std::string& path) {
  Detail::GzipLines lines(path);
  std::string line;
  const auto fail = [&](const std::string& problem) {
    throw FileError(path, problem,
                    "check that it is a Matrix Market array file",
                    lines.number() > 0 ? lines.number() : -1);
  };
  const auto next_data = [&] {
    while (lines.next(line)) {
      const std::size_t first = line.find_first_not_of(" \t\v\f\r");
      if (first != std::string::npos && line[first] != '%') return true;
    }
    return false;
  };
  if (!lines.next(line)) fail("is empty");
  std::string banner;
  for (const char c : line)
    banner += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::istringstream words(banner);
  std::string mark, object, format, field, symmetry, more;
  words >> mark >> object >> format >> field >> symmetry;
  if (mark != "%%matrixmarket" || object != "matrix")
    fail("does not begin with '%%MatrixMarket matrix'");
  if (format != "array")
    fail("holds a '" + format + "' matrix where an array is wanted");
  if (field != "real" && field != "double" && field != "integer")
    fail("holds '" + field + "' values where real ones are wanted");
  if (symmetry != "general" || words >> more) fail("is not a general array");
  if (!next_data()) fail("has no line with the numbers of rows and columns");
  std::istringstream sizes(line);
  std::int64_t rows = -1, columns = -1;
  if (!(sizes >> rows >> columns) || sizes >> more || rows < 0 || columns < 0)
    fail("'" + line + "' are not the numbers of rows and columns");
  if (columns > 0 && rows > (std::int64_t{1} << 40) / columns)
    fail("states more values than a file can hold");
  // A digit, and a blank or the end of the line but for the last.
  const std::int64_t left = lines.most_text_left();
  if (rows * columns > left / 2 + left % 2)
    fail("states " + std::to_string(rows * columns) +
         " values, more than the rest of the file has room for");
  // While they grow, values are there twice.
  if (24.0 * static_cast<double>(rows * columns) > Detail::host_memory_bytes())
    fail("states " + std::to_string(rows * columns) +
         " values, for which there is no memory");
  // Nothing is allocated on the word of a file: values come one by one.
  std::vector<double> values;
  const std::int64_t stated = rows * columns;
  while (next_data()) {
    const char* at = line.c_str();
    const char* const last = at + line.size();
    for (;;) {
      while (std::isspace(static_cast<unsigned char>(*at))) ++at;
      if (at == last) break;
      char* end = nullptr;
      const double value = std::strtod(at, &end);
      // A zero byte ends a number, but not a line.
      const bool ends =
          end == last || std::isspace(static_cast<unsigned char>(*end));
      if (end == at || !ends || !std::isfinite(value))
        fail("'" + std::string(at) + "' is not a finite number");
      if (static_cast<std::int64_t>(values.size()) == stated)
        fail("there is text after the " + std::to_string(stated) +
             " stated values");
      values.push_back(value);
      at = end;
    }
  }
  if (static_cast<std::int64_t>(values.size()) < stated)
    fail("the file ends after " + std::to_string(values.size()) + " of " +
         std::to_string(stated) + " stated values");
  HostArray array(
      Kokkos::view_alloc("Strata::matrix_market", Kokkos::WithoutInitializing),
      static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  std::copy(values.begin(), values.end(), array.data());
  return array;
}

/// Writes a dense matrix as a Matrix Market array file that reads back to the
/// same bits. @throws FileError
inline void write_matrix_market_array(const std::string& path,
                                      const HostArray& array) {
  std::ofstream file(path);
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
