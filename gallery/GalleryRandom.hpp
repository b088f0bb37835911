// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_RANDOM_HPP
#define STRATA_GALLERY_GALLERY_RANDOM_HPP

#include <core/memory/AllocateView.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <vector>

namespace Strata {
namespace Detail {

// Random families as sets of undirected edges. Each is a functor that calls
// visit(i, j), i != j, for the edges that generator `g` owns; generators can
// run in any order, and an edge may come more than once.

/// Independent trials of one probability in time proportional to the successes:
/// threshold(m - 1) / 2^64 is the chance that at least m failures come in a
/// row. A longer run than the table has starts afresh, which the geometric
/// distribution does not notice. Integers decide, so every backend draws the
/// same.
template <class MemorySpace>
struct Trials {
  Kokkos::View<const std::uint64_t*, MemorySpace> threshold;

  explicit Trials(double probability) {
    constexpr int longest = 4096;
    std::vector<std::uint64_t> table;
    double chance = 1;
    do {
      chance *= 1 - probability;
      // The largest double below 2^64 stands for a chance that rounds to one.
      const double scaled = chance * 0x1p64;
      table.push_back(static_cast<std::uint64_t>(
          scaled < 0x1.fffffffffffffp63 ? scaled : 0x1.fffffffffffffp63));
    } while (table.back() != 0 && table.size() < longest);
    const auto copy = make_unfilled<Kokkos::View<std::uint64_t*, MemorySpace>>(
        "Strata::Gallery::trials", table.size());
    Kokkos::deep_copy(copy,
                      Kokkos::View<const std::uint64_t*, Kokkos::HostSpace,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          table.data(), table.size()));
    threshold = copy;
  }

  /// visit(t) for the successful trials among [begin, end).
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::uint64_t seed, std::uint64_t row,
                                         std::uint64_t stream,
                                         std::int64_t begin, std::int64_t end,
                                         const Visit& visit) const {
    const auto size = static_cast<std::int64_t>(threshold.extent(0));
    std::uint64_t draw = 0;
    for (std::int64_t t = begin; t < end;) {
      const std::uint64_t bits = random_bits(seed, row, draw++, stream);
      std::int64_t low = 0, high = size;
      while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (bits < threshold(middle))
          low = middle + 1;
        else
          high = middle;
      }
      t += low;
      if (low == size) continue;
      if (t < end) visit(t);
      ++t;
    }
  }
};

/// Full first sub-diagonal (so the dependency chain has every row) and random
/// entries on the next half - 1.
template <class MemorySpace>
struct BandEdges {
  std::uint64_t seed;
  std::int64_t rows, half;
  Trials<MemorySpace> trials;

  std::int64_t generators() const { return rows; }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    if (row > 0) visit(row, row - 1);
    const std::int64_t farthest = half < row ? half : row;
    trials(seed, row, 0, 2, farthest + 1,
           [&](std::int64_t distance) { visit(row, row - distance); });
  }
};

/// Diagonal blocks of `size` rows with random entries (Picciau et al. 2017,
/// section IV-A).
template <class MemorySpace>
struct BlockEdges {
  std::uint64_t seed;
  std::int64_t rows, size;
  Trials<MemorySpace> trials;

  std::int64_t generators() const { return rows; }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    trials(seed, row, 0, row - row % size, row,
           [&](std::int64_t column) { visit(row, column); });
  }
};

/// Clusters of 1/4 to 1/32 of the rows, half full inside, 3.1 % outside: the
/// density (9 %) and the uneven rows of human_gene2.
template <class MemorySpace>
struct GeneEdges {
  std::uint64_t seed;
  std::int64_t rows;
  Trials<MemorySpace> inside, outside;

  std::int64_t generators() const { return rows; }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    // Cluster starts in 32nds of the rows: 0, 8, 12, 16, 18, ..., 24, 25, ...
    std::int64_t cluster = 0;
    for (int start = 8; start < 32;) {
      const std::int64_t first = rows * start / 32;
      if (first <= row) cluster = first;
      start += start < 16 ? 4 : start < 24 ? 2 : 1;
    }
    const auto edge = [&](std::int64_t column) { visit(row, column); };
    outside(seed, row, 0, 0, cluster, edge);
    inside(seed, row, 1, cluster, row, edge);
  }
};

/// `columns` uniform draws a row among the smaller indices.
struct UniformEdges {
  std::uint64_t seed;
  std::int64_t rows, columns;

  std::int64_t generators() const { return rows; }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    if (row == 0) return;
    for (std::int64_t k = 0; k < columns; ++k)
      visit(row, below(random_bits(seed, row, k, 0), row));
  }
};

/// Circuit-like: most rows have none to three earlier neighbours, mostly within
/// their own sub-circuit of 256 rows, else anywhere, a few at a log-uniform
/// distance; 16 nets (supply, clock) reach min(rows/4, 6000)/q rows, q = 1..16.
struct CircuitEdges {
  static constexpr int nets = 16;
  std::uint64_t seed;
  std::int64_t rows;
  std::int64_t net_end[nets];  // running sum of the nets' sizes

  CircuitEdges(std::uint64_t seed_, std::int64_t rows_)
      : seed(seed_), rows(rows_) {
    std::int64_t sum = 0;
    const std::int64_t largest = rows / 4 < 6000 ? rows / 4 : 6000;
    for (int q = 0; q < nets; ++q) net_end[q] = sum += largest / (q + 1);
  }

  std::int64_t generators() const { return rows + net_end[nets - 1]; }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t g,
                                         const Visit& visit) const {
    if (g < rows)
      neighbours(g, visit);
    else
      net_member(g - rows, visit);
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void neighbours(std::int64_t row,
                                         const Visit& visit) const {
    if (row == 0) return;
    // Per cent of rows with more than 0, 1, ... neighbours; mean 1.54.
    const int more[8] = {70, 40, 22, 12, 6, 3, 1, 1};
    const std::int64_t percent = below(random_bits(seed, row, 0, 0), 100);
    for (int k = 0; k < 8 && percent < more[k]; ++k) {
      const std::uint64_t kind = random_bits(seed, row, k, 1);
      const std::uint64_t bits = random_bits(seed, row, k, 2);
      const std::int64_t first = row - row % 256;
      std::int64_t column;
      if (kind % 100 < 80 && first < row) {
        column = first + below(bits, row - first);
      } else if (kind % 100 < 84) {
        int width = 0;
        while (rows >> width > 1) ++width;
        const int bit = static_cast<int>((kind >> 32) % (width + 1));
        column = row - 1 - below(bits, std::int64_t{1} << bit);
      } else {
        column = below(bits, row);
      }
      if (column >= 0) visit(row, column);
    }
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void net_member(std::int64_t member,
                                         const Visit& visit) const {
    int q = 0;
    while (net_end[q] <= member) ++q;
    const std::int64_t net = below(random_bits(seed, q, 0, 3), rows);
    const std::int64_t other = below(random_bits(seed, member, 0, 4), rows);
    if (net != other) visit(net, other);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
