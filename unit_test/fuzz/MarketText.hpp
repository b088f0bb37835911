// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_MARKET_TEXT_HPP
#define STRATA_FUZZ_MARKET_TEXT_HPP

#include <cctype>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "Random.hpp"

namespace Strata {
namespace Fuzz {

/// Texts of valid Matrix Market files, in all the ways in which they may be
/// written.
class MarketText {
 public:
  explicit MarketText(Random& random) : random_(random) {}

  /// A coordinate file.
  std::string coordinate(bool may_be_complex) {
    field_ = random_.pick({"real", "double", "integer", "complex", "pattern"});
    if (!may_be_complex && field_ == "complex") field_ = "real";
    symmetry_ = field_ == "complex"
                    ? random_.pick({"general", "symmetric", "skew-symmetric",
                                    "hermitian"})
                : field_ == "pattern"
                    ? random_.pick({"general", "symmetric"})
                    : random_.pick({"general", "symmetric", "skew-symmetric"});
    begin("coordinate");
    const int n =
        random_.chance(0.1) ? random_.whole(0, 2) : random_.whole(1, 60);
    const auto places = random_places(n);
    line({number_text(n), number_text(n),
          number_text(static_cast<int>(places.size()))});
    for (const auto& place : places) {
      std::vector<std::string> words = {number_text(place.first + 1),
                                        number_text(place.second + 1)};
      if (field_ != "pattern") words.push_back(value());
      if (field_ == "complex")
        words.push_back(symmetry_ == "hermitian" && place.first == place.second
                            ? "0"
                            : value());
      line(words);
    }
    return finished();
  }
  /// An array file.
  std::string array() {
    field_ = random_.pick({"real", "double", "integer"});
    symmetry_ = "general";
    begin("array");
    const int rows = random_.whole(0, 20), columns = random_.whole(0, 6);
    line({number_text(rows), number_text(columns)});
    std::vector<std::string> words;
    for (int k = 0; k < rows * columns; ++k) {
      words.push_back(value());
      if (!random_.chance(0.6)) continue;
      line(words);
      words.clear();
    }
    if (!words.empty()) line(words);
    return finished();
  }

 private:
  void begin(const char* format) {
    plain_ = random_.chance(0.4);
    end_ = !plain_ && random_.chance(0.3) ? "\r\n" : "\n";
    std::string banner =
        std::string(" matrix ") + format + " " + field_ + " " + symmetry_;
    if (!plain_)
      for (char& c : banner)
        if (random_.chance(0.1))
          c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    text_ = "%%MatrixMarket" + banner + end_;
    if (random_.chance(0.4)) text_ += "% a comment 1 2 3" + end_;
  }
  std::string finished() {
    if (!plain_ && random_.chance(0.2))
      text_.resize(text_.size() - end_.size());
    return text_;
  }

  std::vector<std::pair<int, int>> random_places(int n) {
    std::set<std::pair<int, int>> places;
    for (int k = n == 0 ? 0 : random_.whole(0, 3 * n); k > 0; --k) {
      const int row = random_.whole(0, n - 1), column = random_.whole(0, n - 1);
      if (symmetry_ == "skew-symmetric" && row == column) continue;
      if (symmetry_ != "general" && places.count({column, row}) > 0) continue;
      places.insert({row, column});
    }
    std::vector<std::pair<int, int>> all(places.begin(), places.end());
    if (symmetry_ == "general" && !all.empty() && random_.chance(0.1))
      all.push_back(random_.pick(all));
    random_.shuffle(all);
    return all;
  }

  void line(const std::vector<std::string>& words) {
    if (!plain_) {
      if (random_.chance(0.03)) text_ += end_;
      if (random_.chance(0.03)) text_ += " \t" + end_;
      if (random_.chance(0.03)) text_ += "% within" + end_;
      if (random_.chance(0.1)) text_ += "  ";
    }
    for (std::size_t k = 0; k < words.size(); ++k) {
      if (k > 0) text_ += !plain_ && random_.chance(0.1) ? " \t " : " ";
      text_ += words[k];
    }
    if (!plain_ && random_.chance(0.1)) text_ += " ";
    text_ += end_;
  }
  std::string number_text(int number) {
    const std::string zeros = !plain_ && random_.chance(0.02) ? "00" : "";
    return zeros + std::to_string(number);
  }
  std::string value() {
    const double size = random_.chance(0.1) ? random_.power_of_ten(-37, 37)
                                            : random_.real(0, 10);
    const double number = random_.either_sign(random_.chance(0.1) ? 0 : size);
    if (field_ == "integer")
      return std::to_string(random_.whole(-1000000, 1000000));
    char text[64];
    std::snprintf(text, sizeof text,
                  random_.pick({"%.17g", "%g", "%.3e", "%f", "%+.9g"}), number);
    std::string word = text;
    if (!plain_ && random_.chance(0.1))
      for (char& c : word)
        if (c == 'e') c = random_.pick({'E', 'd', 'D'});
    return word;
  }

  Random& random_;
  bool plain_ = true;
  std::string field_, symmetry_, end_, text_;
};

/// The text with something done to it that may or may not matter.
inline std::string mutated(std::string text, Random& random) {
  const auto place = [&] {
    return text.empty() ? 0
                        : static_cast<std::size_t>(random.bits()) % text.size();
  };
  for (int count = random.whole(1, 4); count > 0 && !text.empty(); --count)
    switch (random.whole(0, 7)) {
      case 0:
        text[place()] = static_cast<char>(random.whole(0, 255));
        break;
      case 1:
        text.resize(place());
        break;
      case 2:
        text.erase(place(), static_cast<std::size_t>(random.whole(1, 20)));
        break;
      case 3:
        text.insert(place(), 1, static_cast<char>(random.whole(32, 126)));
        break;
      case 4: {
        const std::size_t at = place();
        text.insert(at, text.substr(place(), 30));
        break;
      }
      case 5: {
        // A word that is almost a number.
        const std::size_t at = std::min(text.find(' ', place()), text.size());
        text.insert(at, random.pick({" nan", " inf", " -1", " 0x10", " 1e999",
                                     " 1,5", " 99999999999999999999", " 1e",
                                     " +-1", " 0", " \n", "e5", ".", "%"}));
        break;
      }
      case 6: {
        // A digit more or another digit.
        const std::size_t at = text.find_first_of("0123456789", place());
        if (at == std::string::npos) break;
        if (random.chance(0.5))
          text[at] = static_cast<char>('0' + random.whole(0, 9));
        else
          text.insert(at, 1, static_cast<char>('0' + random.whole(0, 9)));
        break;
      }
      default: {
        const std::size_t at = text.find('\n', place());
        if (at != std::string::npos)
          text.replace(at, 1, random.pick({"", "\r", "\n\n", " ", "\n%"}));
      }
    }
  return text;
}

}  // namespace Fuzz
}  // namespace Strata

#endif
