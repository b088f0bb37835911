// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_MATRIX_MARKET_IMPLEMENTATION_HPP
#define STRATA_GALLERY_MATRIX_MARKET_IMPLEMENTATION_HPP

#include <Strata_MatrixMarket.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/scalar/Wide.hpp>
#include <gallery/GalleryBuild.hpp>
#include <gallery/HostMemory.hpp>
#include <gallery/MatrixMarketText.hpp>
#include <tuple>
#include <vector>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<MatrixMarketReader> : std::true_type {};

/// What the types of a matrix can count, and the bytes of the host's memory.
struct MarketLimits {
  std::int64_t rows, entries;
  double memory;
};

/// Up to so many rows, a matrix may have any number of entries. Larger ones
/// have an entry in every thousandth row at least: a file of some bytes could
/// else ask for all memory.
constexpr std::int64_t rows_without_entries = std::int64_t{1} << 24;
constexpr std::int64_t most_rows_an_entry = 1000;

/// Counted from 0.
template <class Scalar>
struct MarketEntry {
  std::int64_t row, column;
  Scalar value;
};

/// A coordinate file: its banner and sizes are read first, then its entries.
template <class Scalar>
class MarketCoordinates {
 public:
  using Entry = MarketEntry<Scalar>;

  /// Raises FileError, or IndexOverflowError if the types are too narrow.
  MarketCoordinates(const std::string& path, const MarketLimits& limits)
      : path_(path), text_(path, "coordinate") {
    if (text_.field() == MarketField::complex && Wide<Scalar>::parts == 1)
      text_.fail("holds complex values",
                 "read it into a matrix with a complex scalar type");
    if (!text_.next_line())
      text_.fail("has no line with the numbers of rows, columns and entries");
    rows_ = text_.whole("number of rows");
    const std::int64_t columns = text_.whole("number of columns");
    stated_ = text_.whole("number of entries");
    text_.end_line();
    if (rows_ != columns)
      text_.fail("the matrix is not square: " + std::to_string(rows_) +
                     " rows and " + std::to_string(columns) + " columns",
                 "triangular solves need a square matrix");
    check_types(limits);
    check_memory(limits.memory);
  }

  std::int64_t rows() const { return rows_; }
  /// As the file states it.
  std::string contents() const {
    return std::to_string(rows_) + " rows and " + std::to_string(stated_) +
           " entries";
  }

  /// The entries of the whole matrix, sorted by row and column. To be called
  /// once. Raises FileError.
  std::vector<Entry> read_entries() {
    std::vector<Entry> entries;
    entries.reserve(static_cast<std::size_t>(copies() * stated_));
    std::int64_t stored = 0;
    for (; text_.next_line(); ++stored) {
      if (stored == stated_)
        text_.fail("there is text after the " + std::to_string(stated_) +
                   " stated entries");
      read_entry(entries);
    }
    if (stored < stated_)
      text_.fail("the file ends after " + std::to_string(stored) + " of " +
                 std::to_string(stated_) + " stated entries");
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) {
                return std::tie(a.row, a.column) < std::tie(b.row, b.column);
              });
    if (copies() == 2) check_for_repetition(entries);
    return entries;
  }

 private:
  /// Of an entry of the file in the matrix.
  std::int64_t copies() const {
    return text_.symmetry() == MarketSymmetry::general ? 1 : 2;
  }

  void check_types(const MarketLimits& limits) const {
    if (rows_ > limits.rows)
      throw IndexOverflowError(
          path_,
          std::to_string(rows_) +
              " rows do not fit the ordinal type of the matrix",
          "read it into a matrix with a wider ordinal type");
    if (stated_ > limits.entries / copies())
      throw IndexOverflowError(
          path_,
          std::to_string(copies()) + " times " + std::to_string(stated_) +
              " entries do not fit the offset type of the matrix",
          "read it into a matrix with a wider offset type");
  }

  void check_memory(double memory) const {
    // Two numbers, or three or four, a blank or the end of the line after each.
    text_.require_room(stated_,
                       text_.field() == MarketField::pattern   ? 4
                       : text_.field() == MarketField::complex ? 8
                                                               : 6,
                       "entries");
    if (rows_ > rows_without_entries && rows_ / most_rows_an_entry > stated_)
      text_.fail("states " + std::to_string(rows_) + " rows and only " +
                     std::to_string(stated_) + " entries",
                 "check the numbers of this line: above " +
                     std::to_string(rows_without_entries) +
                     " rows there is to be an entry for every " +
                     std::to_string(most_rows_an_entry) + " of them");
    // In the list of entries and in the matrix.
    constexpr double row_bytes = 16, entry_bytes = 2 * sizeof(Entry);
    text_.require_memory(
        row_bytes * static_cast<double>(rows_) +
            entry_bytes * static_cast<double>(copies() * stated_),
        memory, contents());
  }

  std::int64_t read_index(const char* what) {
    const std::int64_t index = text_.whole(what);
    if (index < 1 || index > rows_)
      text_.fail(std::string("the ") + what + " " + std::to_string(index) +
                 " is not in 1.." + std::to_string(rows_));
    return index - 1;
  }

  void read_entry(std::vector<Entry>& entries) {
    using Parts = FromParts<Scalar>;
    const std::int64_t row = read_index("row"), column = read_index("column");
    double real = 1, imaginary = 0;
    if (text_.field() != MarketField::pattern) real = read_number();
    if (text_.field() == MarketField::complex) imaginary = read_number();
    text_.end_line();
    entries.push_back({row, column, Parts::make(real, imaginary)});
    const MarketSymmetry symmetry = text_.symmetry();
    if (row == column) {
      if (symmetry == MarketSymmetry::skew_symmetric)
        text_.fail("a skew-symmetric matrix stores a diagonal entry");
      if (symmetry == MarketSymmetry::hermitian && imaginary != 0)
        text_.fail("a hermitian matrix has a complex diagonal entry");
      return;
    }
    if (symmetry == MarketSymmetry::general) return;
    if (symmetry == MarketSymmetry::skew_symmetric) real = -real;
    if (symmetry != MarketSymmetry::symmetric) imaginary = -imaginary;
    entries.push_back({column, row, Parts::make(real, imaginary)});
  }

  double read_number() {
    return text_.number(
        static_cast<double>(std::numeric_limits<RealOf<Scalar>>::max()));
  }

  void check_for_repetition(const std::vector<Entry>& entries) const {
    const auto twice = std::adjacent_find(
        entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
          return a.row == b.row && a.column == b.column;
        });
    if (twice == entries.end()) return;
    const std::string problem = "the entry in row " +
                                std::to_string(twice->row + 1) + ", column " +
                                std::to_string(twice->column + 1) +
                                " is named twice or beside its mirror image";
    const std::string remedy =
        "store one triangle of a symmetric matrix, each entry once";
    if (text_.is_file()) fail_where_repeated(*twice, problem, remedy);
    throw FileError(path_, problem, remedy);
  }

  /// Reads the file again: the list of entries does not hold their lines.
  void fail_where_repeated(const Entry& entry, const std::string& problem,
                           const std::string& remedy) const {
    MarketText again(path_, "coordinate");
    again.next_line();
    for (int found = 0; again.next_line();) {
      const std::int64_t row = again.whole("row") - 1,
                         column = again.whole("column") - 1;
      found += std::minmax(row, column) == std::minmax(entry.row, entry.column);
      if (found == 2) again.fail(problem, remedy);
    }
  }

  std::string path_;
  MarketText text_;
  std::int64_t rows_ = 0, stated_ = 0;
};

/// Copies from the host to MemorySpace.
template <class MemorySpace, class T>
void copy_to_space(const std::vector<T>& from, const void* to) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(Kokkos::View<T*, MemorySpace, Unmanaged>(
                        static_cast<T*>(const_cast<void*>(to)), from.size()),
                    Kokkos::View<const T*, Kokkos::HostSpace, Unmanaged>(
                        from.data(), from.size()));
}

/// Element k becomes index(k); the calls are in this order.
template <class MemorySpace, class Index>
void store_indices(const IndexOutput& to, const Index& index) {
  const auto store = [&](auto integer) {
    using Integer = decltype(integer);
    std::vector<Integer> host(to.extent(0));
    for (std::size_t k = 0; k < host.size(); ++k)
      host[k] = static_cast<Integer>(index(k));
    copy_to_space<MemorySpace>(host, to.data());
  };
  if (to.bytes_of_one() == 4)
    store(std::int32_t());
  else
    store(std::int64_t());
}

/// Makes a matrix of sorted entries.
template <class MemorySpace, class Scalar>
void store_entries(std::int64_t rows,
                   const std::vector<MarketEntry<Scalar>>& entries,
                   NewMatrix<Scalar>& made) {
  const auto stored = static_cast<std::int64_t>(entries.size());
  std::size_t first = 0;
  store_indices<MemorySpace>(
      made.make_row_map("Strata::MatrixMarket::row_map", rows),
      [&](std::size_t row) {
        while (first < entries.size() &&
               static_cast<std::size_t>(entries[first].row) < row)
          ++first;
        return first;
      });
  store_indices<MemorySpace>(
      made.make_entries("Strata::MatrixMarket::entries", stored),
      [&](std::size_t k) { return entries[k].column; });
  Scalar* const values =
      made.make_values("Strata::MatrixMarket::values", stored);
  std::vector<Scalar> host_values;
  host_values.reserve(entries.size());
  for (const auto& entry : entries) host_values.push_back(entry.value);
  copy_to_space<MemorySpace>(host_values, values);
}

template <class ExecutionSpace, class Scalar>
void make_market_matrix(const std::string& path, NewMatrix<Scalar>& made) {
  with_memory_errors("a matrix from a file", [&] {
    MarketCoordinates<Scalar> file(
        path, {made.largest_ordinal, made.largest_offset, host_memory_bytes()});
    with_memory_errors("a matrix of " + file.contents() + " from " + path, [&] {
      using MemorySpace = typename ExecutionSpace::memory_space;
      store_entries<MemorySpace>(file.rows(), file.read_entries(), made);
    });
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
