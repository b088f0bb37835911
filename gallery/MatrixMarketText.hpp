// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_MATRIX_MARKET_TEXT_HPP
#define STRATA_GALLERY_MATRIX_MARKET_TEXT_HPP

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <core/scalar/ReadDouble.hpp>
#include <cstdlib>
#include <gallery/GzipLines.hpp>
#include <string_view>
#include <utility>

namespace Strata {
namespace Detail {

enum class MarketField { real, integer, complex, pattern };
enum class MarketSymmetry { general, symmetric, skew_symmetric, hermitian };

/// The words and numbers of a Matrix Market file, line by line. Whatever is
/// wrong with them raises FileError with the line.
///
/// Format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange
/// formats: initial design", NISTIR 5935 (1996). Beyond it, `double` means
/// `real`, exponents may be written with D, and comments may stand anywhere
/// below the banner.
class MarketText {
 public:
  /// @param format  that the banner has to name
  MarketText(const std::string& path, const std::string& format)
      : path_(path), lines_(path) {
    if (!lines_.next(line_)) fail("is empty");
    for (char& c : line_)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    rest_ = line_;
    if (word() != "%%matrixmarket") fail("does not begin with %%MatrixMarket");
    const std::string object(word());
    if (object != "matrix") fail("holds a '" + object + "', no matrix");
    const std::string found(word());
    if (found != format)
      fail("format '" + found + "' is not supported",
           "store the matrix in " + format + " format");
    read_field_and_symmetry();
  }

  MarketField field() const { return field_; }
  MarketSymmetry symmetry() const { return symmetry_; }
  /// Whether it is on a disk, and so can be read again.
  bool is_file() const { return lines_.most_text_left() < INT64_MAX; }

  [[noreturn]] void fail(
      const std::string& problem,
      const std::string& remedy =
          "check that it is a whole Matrix Market file") const {
    throw FileError(path_, problem, remedy,
                    lines_.number() > 0 ? lines_.number() : -1);
  }

  /// Goes to the next line that is neither empty nor a comment; false at the
  /// end of the file.
  bool next_line() {
    while (lines_.next(line_)) {
      rest_ = line_;
      const std::size_t first = rest_.find_first_not_of(blanks);
      if (first != std::string_view::npos && rest_[first] != '%') return true;
    }
    return false;
  }

  /// Whether the line has another word.
  bool has_word() const {
    return rest_.find_first_not_of(blanks) != std::string_view::npos;
  }
  /// The next word of the line; empty at its end.
  std::string_view word() {
    rest_.remove_prefix(
        std::min(rest_.find_first_not_of(blanks), rest_.size()));
    const std::size_t length =
        std::min(rest_.find_first_of(blanks), rest_.size());
    const std::string_view found = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return found;
  }

  /// That the line has no more words.
  void end_line() {
    const std::string_view extra = word();
    if (!extra.empty())
      fail("'" + std::string(extra) + "' is one word too many");
  }

  /// The next word as a number without a sign, which is `what`.
  std::int64_t whole(const std::string& what) {
    const std::string text(word());
    if (text.empty()) fail("the " + what + " is missing");
    std::int64_t value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9')
        fail("the " + what + " '" + text + "' is not a whole number");
      if (value > (INT64_MAX - 9) / 10)
        fail("the " + what + " '" + text + "' is too large");
      value = value * 10 + (c - '0');
    }
    return value;
  }

  /// The next word as a finite number of the file's field.
  /// @param largest  that its modulus may be
  double number(double largest) {
    const std::string_view text = word();
    if (text.empty()) fail("the value is missing");
    char* const begin = line_.data() + (text.data() - line_.data());
    const char* const end = begin + text.size();
    bool digits_only = true;
    for (char* c = begin; c < end; ++c) {
      if (*c == 'd' || *c == 'D') *c = 'e';
      const bool sign = *c == '+' || *c == '-';
      if ((*c >= '0' && *c <= '9') || (sign && c == begin)) continue;
      digits_only = false;
      if (!sign && *c != '.' && *c != 'e' && *c != 'E') not_a_number(text);
    }
    char* stop = nullptr;
    double value = read_double(begin, &stop);
    if (stop != end) not_a_number(text);
    if (field_ == MarketField::integer) {
      if (!digits_only) fail("'" + std::string(text) + "' is not an integer");
      errno = 0;
      value = static_cast<double>(std::strtoll(begin, nullptr, 10));
      if (errno == ERANGE)
        fail("'" + std::string(text) + "' does not fit 64 bits");
    }
    if (!(std::abs(value) <= largest))
      fail("'" + std::string(text) +
           "' is too large for the scalar type of the matrix");
    return value;
  }

  /// That the rest of the file has room for `count` of `what`, of which each
  /// takes that many characters or more: nothing is allocated on a file's word.
  void require_room(std::int64_t count, std::int64_t shortest,
                    const char* what) const {
    // The last line need not end.
    const std::int64_t left = lines_.most_text_left();
    const std::int64_t room = left == INT64_MAX ? left : (left + 1) / shortest;
    if (count > room)
      fail("states " + std::to_string(count) + " " + what +
           ", and the rest of the file has room for " + std::to_string(room) +
           " at most");
  }

  /// That a host of `memory` bytes can hold `contents`, which take `needed`.
  void require_memory(double needed, double memory,
                      const std::string& contents) const {
    if (needed <= memory) return;
    const auto mebibytes = [](double bytes) {
      return std::to_string(static_cast<std::int64_t>(bytes / (1 << 20))) +
             " MiB";
    };
    fail(contents + " take " + mebibytes(needed) + " to read, and there are " +
             mebibytes(memory),
         "read it on a machine with more memory");
  }

 private:
  static constexpr const char* blanks = " \t\v\f\r";

  void read_field_and_symmetry() {
    const std::string field(word()), symmetry(word());
    if (field == "real" || field == "double")
      field_ = MarketField::real;
    else if (field == "integer")
      field_ = MarketField::integer;
    else if (field == "complex")
      field_ = MarketField::complex;
    else if (field == "pattern")
      field_ = MarketField::pattern;
    else
      fail("field '" + field + "' is none of real, integer, complex, pattern");
    if (symmetry == "general")
      symmetry_ = MarketSymmetry::general;
    else if (symmetry == "symmetric")
      symmetry_ = MarketSymmetry::symmetric;
    else if (symmetry == "skew-symmetric")
      symmetry_ = MarketSymmetry::skew_symmetric;
    else if (symmetry == "hermitian")
      symmetry_ = MarketSymmetry::hermitian;
    else
      fail("symmetry '" + symmetry +
           "' is none of general, symmetric, skew-symmetric, hermitian");
    if (!word().empty()) fail("the banner has a sixth word");
    if ((field_ == MarketField::pattern &&
         symmetry_ == MarketSymmetry::skew_symmetric) ||
        (field_ != MarketField::complex &&
         symmetry_ == MarketSymmetry::hermitian))
      fail("a " + field + " matrix can't be " + symmetry);
  }

  [[noreturn]] void not_a_number(std::string_view text) const {
    fail("'" + std::string(text) + "' is not a finite number");
  }

  std::string path_;
  GzipLines lines_;
  std::string line_;
  std::string_view rest_;
  MarketField field_ = MarketField::real;
  MarketSymmetry symmetry_ = MarketSymmetry::general;
};

}  // namespace Detail
}  // namespace Strata

#endif
