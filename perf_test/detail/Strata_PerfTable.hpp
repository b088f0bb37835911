// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_TABLE_HPP
#define STRATA_PERF_TABLE_HPP

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <detail/Strata_PerfResult.hpp>
#include <functional>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace PerfTest {

inline std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Three to four digits, "-" where there is no number.
inline std::string digits(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  if (size >= 99.95) return formatted("%.0f", value);
  if (size >= 9.995) return formatted("%.1f", value);
  return formatted("%.2f", value);
}

inline std::string csv_text(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t i = 0; (i = text.find('"', i)) != std::string::npos; i += 2)
    text.insert(i, 1, '"');
  return '"' + text + '"';
}

inline std::string csv_number(double value) {
  return std::isnan(value) ? std::string() : formatted("%.9g", value);
}

/// A cell of a table: for CSV, for people, and the number, if it is one.
struct Cell {
  std::string csv, shown;
  double number = NAN;

  Cell(const std::string& text) : csv(csv_text(text)), shown(text) {}
  Cell(const char* text) : Cell(std::string(text)) {}
  template <class Number,
            std::enable_if_t<std::is_arithmetic<Number>::value, int> = 0>
  Cell(Number value) : number(static_cast<double>(value)) {
    if constexpr (std::is_integral<Number>::value) {
      csv = shown = std::to_string(value);
    } else {
      csv = csv_number(value);
      shown = digits(value);
    }
  }
  /// The same number, with another text for people.
  Cell as(const std::string& text) const {
    Cell cell = *this;
    cell.shown = text;
    return cell;
  }
};

/// No value.
inline Cell no_cell() { return Cell(double(NAN)); }

/// A column of a program's table.
template <class Result>
struct Column {
  std::string name;   ///< in CSV and in JSON; empty: people have it alone
  std::string title;  ///< for people; empty: they do not have it
  std::function<Cell(const Result&)> cell;

  /// @param get  a member, or a function of a result
  template <class Get>
  Column(std::string in_csv, std::string for_people, const Get& get)
      : name(std::move(in_csv)),
        title(std::move(for_people)),
        cell([get](const Result& r) { return Cell(std::invoke(get, r)); }) {}
};
template <class Result>
using Columns = std::vector<Column<Result>>;

/// A header, and a line for each result that was run.
template <class Result>
void write_csv(std::ostream& out, const Columns<Result>& columns,
               const std::vector<Result>& results) {
  const auto line = [&](const auto& text) {
    std::string separator;
    for (const auto& column : columns) {
      if (column.name.empty()) continue;
      out << separator << text(column);
      separator = ",";
    }
    out << '\n';
  };
  line([](const auto& column) { return column.name; });
  for (const auto& r : results)
    if (r.outcome != Outcome::not_run)
      line([&](const auto& column) { return column.cell(r).csv; });
}

/// Columns of text one space apart, the first ones flush left and the others
/// flush right. Columns without any value are left out.
class TextTable {
 public:
  TextTable(std::vector<std::string> header, std::size_t left_columns)
      : left_columns_(left_columns) {
    rows_.push_back(std::move(header));
  }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths(rows_[0].size(), 0);
    std::vector<bool> used(widths.size(), rows_.size() == 1);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      for (std::size_t c = 0; c < widths.size(); ++c) {
        widths[c] = std::max(widths[c], rows_[r][c].size());
        if (r > 0 && rows_[r][c] != "-") used[c] = true;
      }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line;
      for (std::size_t c = 0; c < widths.size(); ++c) {
        if (!used[c]) continue;
        const std::string& cell = rows_[r][c];
        const std::string fill(widths[c] - cell.size(), ' ');
        line += (c > 0 ? " " : "") +
                (c < left_columns_ ? cell + fill : fill + cell);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << '\n';
      if (r == 0) out << std::string(line.size(), '-') << '\n';
    }
  }

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_columns_;
};

/// The relative error; for people with "WRONG" before one that is too large.
inline Cell error_cell(const PerfResult& r) {
  const bool wrong = r.outcome == Outcome::wrong;
  return Cell(r.relative_error)
      .as((wrong ? "WRONG " : "") +
          formatted(wrong ? "%.0e" : "%.1e", r.relative_error));
}

}  // namespace PerfTest
}  // namespace Strata

#endif
