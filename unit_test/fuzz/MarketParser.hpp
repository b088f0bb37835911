// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_MARKET_PARSER_HPP
#define STRATA_FUZZ_MARKET_PARSER_HPP

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace Strata {
namespace Fuzz {

/// What makes a text no Matrix Market file that Strata reads.
struct NotMarket : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One entry of the whole matrix, from 0.
struct MarketEntry {
  std::int64_t row, column;
  double real, imaginary;
  friend bool operator<(const MarketEntry& a, const MarketEntry& b) {
    return std::tie(a.row, a.column, a.real, a.imaginary) <
           std::tie(b.row, b.column, b.real, b.imaginary);
  }
  friend bool operator==(const MarketEntry& a, const MarketEntry& b) {
    return !(a < b) && !(b < a);
  }
};

/// A number without a sign.
inline std::int64_t market_whole(const std::string& word) {
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos)
    throw NotMarket("'" + word + "' is no number");
  errno = 0;
  const long long value = std::strtoll(word.c_str(), nullptr, 10);
  if (errno == ERANGE) throw NotMarket("'" + word + "' is too large");
  return value;
}

inline double market_integer(const std::string& word, double largest) {
  const bool sign = word[0] == '-' || word[0] == '+';
  if (word.find_first_not_of("0123456789", sign) != std::string::npos ||
      word.size() == static_cast<std::size_t>(sign))
    throw NotMarket("'" + word + "' is no integer");
  errno = 0;
  const auto value = std::strtoll(word.c_str(), nullptr, 10);
  if (errno == ERANGE || !(std::abs(double(value)) <= largest))
    throw NotMarket("'" + word + "' is too large");
  return static_cast<double>(value);
}

/// A finite number of the field, at most `largest`.
inline double market_number(std::string word, const std::string& field,
                            double largest) {
  if (field == "integer") return market_integer(word, largest);
  for (char& c : word)
    if (c == 'd' || c == 'D') c = 'e';
  if (word.find_first_not_of("0123456789+-.eE") != std::string::npos)
    throw NotMarket("'" + word + "' is no number");
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (*end != 0 || end == word.c_str() || !(std::abs(value) <= largest))
    throw NotMarket("'" + word + "' is no number that fits");
  return value;
}

/// A plain reader of Matrix Market coordinate files, to hold Strata's against:
/// the whole text at once, one word after the other. Format: NISTIR 5935 with
/// what read_matrix_market() documents.
class MarketParser {
 public:
  std::int64_t rows = 0;
  std::vector<MarketEntry> entries;

  /// @param largest number that a real part may be
  /// @throws NotMarket
  MarketParser(const std::string& text, bool may_be_complex, double largest)
      : largest_(largest) {
    auto lines = data_lines(text);
    if (lines.size() < 2) throw NotMarket("no sizes");
    read_banner(lines[0], may_be_complex);
    read_sizes(lines[1]);
    if (static_cast<std::int64_t>(lines.size()) - 2 != stated_)
      throw NotMarket("another number of entries");
    for (std::size_t k = 2; k < lines.size(); ++k) read_entry(lines[k]);
    std::sort(entries.begin(), entries.end());
    const auto same_place = [](const MarketEntry& a, const MarketEntry& b) {
      return a.row == b.row && a.column == b.column;
    };
    if (symmetry_ != "general" &&
        std::adjacent_find(entries.begin(), entries.end(), same_place) !=
            entries.end())
      throw NotMarket("an entry is named twice");
  }

 private:
  using Words = std::vector<std::string>;

  /// The banner, then the lines that are neither empty nor comments, as words.
  static std::vector<Words> data_lines(const std::string& text) {
    std::vector<Words> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const Words words = split(text.substr(at, end - at));
      const bool banner = at == 0;
      at = end + 1;
      if (banner || (!words.empty() && words[0][0] != '%'))
        lines.push_back(words);
    }
    return lines;
  }
  static Words split(const std::string& line) {
    Words words;
    const char* const blanks = " \t\v\f\r";
    for (std::size_t at = line.find_first_not_of(blanks);
         at != std::string::npos;) {
      const std::size_t end =
          std::min(line.find_first_of(blanks, at), line.size());
      words.push_back(line.substr(at, end - at));
      at = line.find_first_not_of(blanks, end);
    }
    return words;
  }

  void read_banner(Words words, bool may_be_complex) {
    for (auto& word : words)
      for (char& c : word)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (words.size() != 5 || words[0] != "%%matrixmarket" ||
        words[1] != "matrix" || words[2] != "coordinate")
      throw NotMarket("banner");
    field_ = words[3] == "double" ? "real" : words[3];
    symmetry_ = words[4];
    const std::set<std::string> fields = {"real", "integer", "complex",
                                          "pattern"},
                                symmetries = {"general", "symmetric",
                                              "skew-symmetric", "hermitian"};
    if (fields.count(field_) == 0 || symmetries.count(symmetry_) == 0)
      throw NotMarket("field or symmetry");
    if (field_ == "complex" && !may_be_complex) throw NotMarket("complex");
    if ((symmetry_ == "hermitian" && field_ != "complex") ||
        (symmetry_ == "skew-symmetric" && field_ == "pattern"))
      throw NotMarket("field and symmetry");
  }

  void read_sizes(const Words& words) {
    if (words.size() != 3) throw NotMarket("sizes");
    rows = market_whole(words[0]);
    if (market_whole(words[1]) != rows) throw NotMarket("not square");
    stated_ = market_whole(words[2]);
  }

  void read_entry(const Words& words) {
    const std::size_t numbers = field_ == "pattern"   ? 0
                                : field_ == "complex" ? 2
                                                      : 1;
    if (words.size() != 2 + numbers) throw NotMarket("words of an entry");
    MarketEntry e{market_whole(words[0]) - 1, market_whole(words[1]) - 1, 1, 0};
    if (e.row < 0 || e.row >= rows || e.column < 0 || e.column >= rows)
      throw NotMarket("an entry is outside");
    if (numbers > 0) e.real = market_number(words[2], field_, largest_);
    if (numbers > 1) e.imaginary = market_number(words[3], field_, largest_);
    entries.push_back(e);
    if (e.row == e.column) {
      if (symmetry_ == "skew-symmetric" ||
          (symmetry_ == "hermitian" && e.imaginary != 0))
        throw NotMarket("diagonal entry");
      return;
    }
    if (symmetry_ == "general") return;
    std::swap(e.row, e.column);
    if (symmetry_ == "skew-symmetric") e.real = -e.real;
    if (symmetry_ != "symmetric") e.imaginary = -e.imaginary;
    entries.push_back(e);
  }

  double largest_;
  std::string field_, symmetry_;
  std::int64_t stated_ = 0;
};

/// The numbers of a Matrix Market array file, column by column.
struct ArrayParser {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> values;

  /// @throws NotMarket
  explicit ArrayParser(const std::string& text) {
    std::vector<std::string> sizes;
    std::string field;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      const bool banner = at == 0;
      at = end + 1;
      const auto words = split(line);
      if (banner) {
        field = field_of_banner(words);
      } else if (words.empty() || words[0][0] == '%') {
        continue;
      } else if (sizes.empty()) {
        sizes = words;
      } else {
        for (const auto& word : words)
          values.push_back(
              market_number(word, field, std::numeric_limits<double>::max()));
      }
    }
    if (sizes.size() != 2) throw NotMarket("sizes");
    rows = market_whole(sizes[0]);
    columns = market_whole(sizes[1]);
    if (static_cast<double>(rows) * static_cast<double>(columns) !=
        static_cast<double>(values.size()))
      throw NotMarket("another number of values");
  }

 private:
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> words(1);
    for (const char c : line) {
      if (!std::isspace(static_cast<unsigned char>(c)))
        words.back() += c;
      else if (!words.back().empty())
        words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
  }
  static std::string field_of_banner(std::vector<std::string> words) {
    for (auto& word : words)
      for (char& c : word)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool right =
        words.size() == 5 && words[0] == "%%matrixmarket" &&
        words[1] == "matrix" && words[2] == "array" &&
        (words[3] == "real" || words[3] == "double" || words[3] == "integer") &&
        words[4] == "general";
    if (!right) throw NotMarket("banner");
    return words[3];
  }
};

}  // namespace Fuzz
}  // namespace Strata

#endif
