// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_MARKET_MATRIX_MARKET_SCAN_HPP
#define STRATA_CORE_MATRIX_MARKET_MATRIX_MARKET_SCAN_HPP

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <core/matrix_market/GzipLines.hpp>
#include <core/matrix_market/TemporaryFile.hpp>
#include <core/memory/HostMemory.hpp>
#include <cstdlib>
#include <string>
#include <string_view>

namespace Strata {
namespace Detail {

enum class MarketField { real, integer, complex, pattern };
enum class MarketSymmetry { general, symmetric, skew_symmetric, hermitian };

/// What the types of the matrix in memory can hold, and the bytes that a row
/// and an entry take of the host's memory while they are read.
struct MarketLimits {
  bool complex;
  double largest_real;
  std::int64_t largest_row, largest_offset;
  double row_bytes, entry_bytes;
};

/// Up to so many rows, a matrix may have any number of entries. Larger ones
/// have an entry in every thousandth row at least: a file of some bytes could
/// else ask for all memory.
constexpr std::int64_t rows_without_entries = std::int64_t{1} << 24;
constexpr std::int64_t most_rows_an_entry = 1000;

/// One pass over a Matrix Market file that checks every line of it, and copies
/// it in the plainest form of the format where a copy is asked for.
///
/// Format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange
/// formats: initial design", NISTIR 5935 (1996). Beyond it, `double` is taken
/// for `real`, exponents may be written with D, and comments may stand anywhere
/// below the banner.
class MatrixMarketScan {
 public:
  MatrixMarketScan(const std::string& path, const MarketLimits& limits)
      : path_(path), limits_(limits) {}

  /// Raises FileError, or IndexOverflowError where the file is sound and the
  /// types are too narrow. `copy` may be null.
  void run(TemporaryFile* copy) {
    GzipLines lines(path_);
    std::string line;
    if (!lines.next(line)) fail(lines, "is empty");
    stored_ = diagonal_ = 0;
    plainest_ = true;
    banner(lines, line);
    if (copy) copy->write(banner_ + "\n");
    if (!next_data(lines, line))
      fail(lines, "has no line with the numbers of rows, columns and entries");
    size(lines, line);
    if (copy)
      copy->write(std::to_string(rows_) + " " + std::to_string(rows_) + " " +
                  std::to_string(stated_) + "\n");
    while (next_data(lines, line)) {
      if (stored_ == stated_)
        fail(lines, "there is text after the " + std::to_string(stated_) +
                        " stated entries");
      entry(lines, line);
      if (copy) copy->write(line + "\n");
    }
    if (stored_ < stated_)
      fail(lines, "the file ends after " + std::to_string(stored_) + " of " +
                      std::to_string(stated_) + " stated entries");
  }

  MarketField field() const { return field_; }
  MarketSymmetry symmetry() const { return symmetry_; }
  std::int64_t rows() const { return rows_; }
  /// Entries of the whole matrix, mirrored ones included.
  std::int64_t entries() const {
    return symmetry_ == MarketSymmetry::general ? stored_
                                                : 2 * stored_ - diagonal_;
  }
  /// Whether Kokkos Kernels' reader understands the text as it is.
  bool plainest() const { return plainest_; }

 private:
  [[noreturn]] void fail(const GzipLines& lines,
                         const std::string& problem) const {
    throw FileError(path_, problem,
                    "check that it is a whole Matrix Market file",
                    lines.number() > 0 ? lines.number() : -1);
  }

  bool next_data(GzipLines& lines, std::string& line) {
    while (lines.next(line)) {
      const std::size_t first = line.find_first_not_of(" \t\v\f\r");
      if (first != std::string::npos && line[first] != '%') return true;
      // Kokkos Kernels' reader skips comments that start a line above the
      // sizes, nothing else.
      if (first != 0 || rows_ >= 0) plainest_ = false;
    }
    return false;
  }

  /// Splits off the next word of `rest`; empty at its end.
  static std::string_view word(std::string_view& rest) {
    const char* const blanks = " \t\v\f\r";
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
    const std::size_t length =
        std::min(rest.find_first_of(blanks), rest.size());
    const std::string_view found = rest.substr(0, length);
    rest.remove_prefix(length);
    return found;
  }

  void banner(const GzipLines& lines, const std::string& line) {
    std::string lower(line);
    for (char& c : lower)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    std::string_view rest(lower);
    if (word(rest) != "%%matrixmarket")
      fail(lines, "does not begin with %%MatrixMarket");
    const std::string object(word(rest)), format(word(rest)), field(word(rest)),
        symmetry(word(rest));
    if (object != "matrix") fail(lines, "holds a '" + object + "', no matrix");
    if (format != "coordinate")
      throw FileError(path_, "format '" + format + "' is not supported",
                      "store the matrix in coordinate format", lines.number());
    if (field == "real" || field == "double")
      field_ = MarketField::real;
    else if (field == "integer")
      field_ = MarketField::integer;
    else if (field == "complex")
      field_ = MarketField::complex;
    else if (field == "pattern")
      field_ = MarketField::pattern;
    else
      fail(lines,
           "field '" + field + "' is none of real, integer, complex, pattern");
    if (symmetry == "general")
      symmetry_ = MarketSymmetry::general;
    else if (symmetry == "symmetric")
      symmetry_ = MarketSymmetry::symmetric;
    else if (symmetry == "skew-symmetric")
      symmetry_ = MarketSymmetry::skew_symmetric;
    else if (symmetry == "hermitian")
      symmetry_ = MarketSymmetry::hermitian;
    else
      fail(lines, "symmetry '" + symmetry +
                      "' is none of general, symmetric, skew-symmetric, "
                      "hermitian");
    if (!word(rest).empty()) fail(lines, "the banner has a sixth word");
    if (field_ == MarketField::complex && !limits_.complex)
      throw FileError(path_, "holds complex values",
                      "read it into a matrix with a complex scalar type",
                      lines.number());
    const bool flips = symmetry_ == MarketSymmetry::skew_symmetric ||
                       symmetry_ == MarketSymmetry::hermitian;
    if ((field_ == MarketField::pattern && flips) ||
        (symmetry_ == MarketSymmetry::hermitian &&
         field_ != MarketField::complex))
      fail(lines, "a " + field + " matrix can't be " + symmetry);
    banner_ = "%%MatrixMarket matrix coordinate " +
              (field == "double" ? "real" : field) + " " + symmetry;
    plainest_ = line == banner_;
  }

  std::int64_t whole(const GzipLines& lines, std::string_view text,
                     const char* what) const {
    std::int64_t value = 0;
    if (text.empty()) fail(lines, std::string("the ") + what + " is missing");
    for (const char c : text) {
      if (c < '0' || c > '9')
        fail(lines, std::string("the ") + what + " '" + std::string(text) +
                        "' is not a whole number");
      if (value > (INT64_MAX - 9) / 10)
        fail(lines, std::string("the ") + what + " '" + std::string(text) +
                        "' is too large");
      value = value * 10 + (c - '0');
    }
    return value;
  }

  void no_more(const GzipLines& lines, std::string_view rest) const {
    const std::string_view extra = word(rest);
    if (!extra.empty())
      fail(lines, "'" + std::string(extra) + "' is one word too many");
  }

  void size(const GzipLines& lines, const std::string& line) {
    std::string_view rest(line);
    const std::int64_t rows = whole(lines, word(rest), "number of rows");
    const std::int64_t columns = whole(lines, word(rest), "number of columns");
    stated_ = whole(lines, word(rest), "number of entries");
    no_more(lines, rest);
    if (rows != columns)
      throw FileError(path_,
                      "the matrix is not square: " + std::to_string(rows) +
                          " rows and " + std::to_string(columns) + " columns",
                      "triangular solves need a square matrix", lines.number());
    rows_ = rows;
    const std::int64_t copies = symmetry_ == MarketSymmetry::general ? 1 : 2;
    if (rows > limits_.largest_row)
      throw IndexOverflowError(
          path_,
          std::to_string(rows) +
              " rows do not fit the ordinal type of the matrix",
          "read it into a matrix with a wider ordinal type");
    if (stated_ > limits_.largest_offset / copies)
      throw IndexOverflowError(
          path_,
          std::to_string(copies) + " times " + std::to_string(stated_) +
              " entries do not fit the offset type of the matrix",
          "read it into a matrix with a wider offset type");
    check_room(lines);
  }

  /// That the rest of the file can hold as many entries as are stated, and the
  /// memory as many rows: before anything is made for them.
  void check_room(const GzipLines& lines) const {
    // Two numbers, or three or four, a blank or the end of the line after each.
    const std::int64_t shortest = field_ == MarketField::pattern   ? 4
                                  : field_ == MarketField::complex ? 8
                                                                   : 6;
    // The last line need not end.
    const std::int64_t left = lines.most_text_left();
    const std::int64_t room = left == INT64_MAX ? left : (left + 1) / shortest;
    if (stated_ > room)
      fail(lines, "states " + std::to_string(stated_) +
                      " entries, and the rest of the file has room for " +
                      std::to_string(room) + " at most");
    if (rows_ > rows_without_entries && rows_ / most_rows_an_entry > stated_)
      throw FileError(path_,
                      "states " + std::to_string(rows_) + " rows and only " +
                          std::to_string(stated_) + " entries",
                      "check the numbers of this line: above " +
                          std::to_string(rows_without_entries) +
                          " rows there is to be an entry for every " +
                          std::to_string(most_rows_an_entry) + " of them",
                      lines.number());
    const double needed = limits_.row_bytes * static_cast<double>(rows_) +
                          limits_.entry_bytes * static_cast<double>(stated_);
    const double memory = host_memory_bytes();
    if (needed > memory) {
      const auto mebibytes = [](double bytes) {
        return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20))) +
               " MiB";
      };
      throw FileError(path_,
                      std::to_string(rows_) + " rows and " +
                          std::to_string(stated_) + " entries take " +
                          mebibytes(needed) + " to read, and there are " +
                          mebibytes(memory),
                      "read it on a machine with more memory", lines.number());
    }
  }

  std::int64_t index(const GzipLines& lines, std::string_view text,
                     const char* what) const {
    const std::int64_t value = whole(lines, text, what);
    if (value < 1 || value > rows_)
      fail(lines, std::string("the ") + what + " " + std::string(text) +
                      " is not in 1.." + std::to_string(rows_));
    return value;
  }

  /// Checks a number in `line`, turning a D exponent into an E.
  double number(const GzipLines& lines, std::string& line,
                std::string_view text) {
    if (text.empty()) fail(lines, "the value is missing");
    const auto begin = static_cast<std::size_t>(text.data() - line.data());
    bool digits_only = true;
    for (std::size_t k = begin; k < begin + text.size(); ++k) {
      char& c = line[k];
      if (c == 'd' || c == 'D') {
        c = 'e';
        plainest_ = false;
      }
      const bool sign = (c == '+' || c == '-');
      if (!(c >= '0' && c <= '9') && !(sign && k == begin)) {
        digits_only = false;
        if (!sign && c != '.' && c != 'e' && c != 'E')
          not_a_number(lines, text);
      }
    }
    char* end = nullptr;
    errno = 0;
    const double value = std::strtod(line.c_str() + begin, &end);
    if (end != line.c_str() + begin + text.size()) not_a_number(lines, text);
    if (field_ == MarketField::integer) {
      if (!digits_only)
        fail(lines, "'" + std::string(text) + "' is not an integer");
      errno = 0;
      (void)std::strtoll(line.c_str() + begin, nullptr, 10);
      if (errno == ERANGE)
        fail(lines, "'" + std::string(text) + "' does not fit 64 bits");
    }
    if (!(std::abs(value) <= limits_.largest_real))
      fail(lines, "'" + std::string(text) +
                      "' is too large for the scalar type of the matrix");
    return value;
  }

  [[noreturn]] void not_a_number(const GzipLines& lines,
                                 std::string_view text) const {
    fail(lines, "'" + std::string(text) + "' is not a finite number");
  }

  void entry(const GzipLines& lines, std::string& line) {
    std::string_view rest(line);
    const std::int64_t row = index(lines, word(rest), "row");
    const std::int64_t column = index(lines, word(rest), "column");
    if (field_ != MarketField::pattern) {
      number(lines, line, word(rest));
      if (field_ == MarketField::complex) {
        const double imaginary = number(lines, line, word(rest));
        if (row == column && imaginary != 0 &&
            symmetry_ == MarketSymmetry::hermitian)
          fail(lines, "a hermitian matrix has a complex diagonal entry");
      }
    }
    no_more(lines, rest);
    if (row == column) {
      if (symmetry_ == MarketSymmetry::skew_symmetric)
        fail(lines, "a skew-symmetric matrix stores a diagonal entry");
      ++diagonal_;
    }
    ++stored_;
  }

  std::string path_, banner_;
  MarketLimits limits_;
  MarketField field_ = MarketField::real;
  MarketSymmetry symmetry_ = MarketSymmetry::general;
  std::int64_t rows_ = -1, stated_ = 0, stored_ = 0, diagonal_ = 0;
  bool plainest_ = true;
};

}  // namespace Detail
}  // namespace Strata

#endif
