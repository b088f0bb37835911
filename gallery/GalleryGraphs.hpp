// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_GRAPHS_HPP
#define STRATA_GALLERY_GALLERY_GRAPHS_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <core/memory/AllocateView.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <cstdint>
#include <gallery/GallerySpec.hpp>
#include <numeric>
#include <vector>

namespace Strata {
namespace Detail {

// Random and structured graphs that one row after the other is drawn of: on the
// host, by one thread.

/// Undirected edges between the rows of a matrix, in any order; an edge may
/// come more than once, and an edge from a row to itself does not count.
struct EdgeList {
  int rows = 0;
  std::vector<int> ends;  ///< of one edge after the other

  void add(std::int64_t i, std::int64_t j) {
    ends.push_back(static_cast<int>(i));
    ends.push_back(static_cast<int>(j));
  }
};

/// Random numbers of one row, drawn one after the other: they depend on seed
/// and row alone.
class RowRandom {
 public:
  RowRandom(std::uint64_t seed, std::int64_t row)
      : seed_(seed), row_(static_cast<std::uint64_t>(row)) {}
  /// In [0, n).
  std::int64_t below(std::int64_t n) { return Detail::below(bits(), n); }
  /// In [0, 1).
  double unit() { return unit_interval(bits()); }
  bool chance(double probability) { return unit() < probability; }

 private:
  std::uint64_t bits() { return random_bits(seed_, row_, drawn_++, 0); }

  std::uint64_t seed_, row_, drawn_ = 0;
};

/// A box of nx x ny x nz points, x fastest, each coupled with the `reach`
/// nearest ones on either side along each axis. With reach 2 the lower triangle
/// has the pattern of a second-order upwind scheme for a constant flow.
inline EdgeList box_graph(int nx, int ny, int nz, int reach) {
  EdgeList graph;
  graph.rows = nx * ny * nz;
  const int last = std::min(reach, std::max({nx, ny, nz}) - 1);
  for (int row = 0; row < graph.rows; ++row)
    for (int d = 1; d <= last; ++d) {
      if (row % nx >= d) graph.add(row, row - d);
      if (row / nx % ny >= d) graph.add(row, row - d * nx);
      if (row / (nx * ny) >= d) graph.add(row, row - d * nx * ny);
    }
  return graph;
}

/// The nodes of a box in a random order or x fastest, each with `unknowns` rows
/// and coupled with all its neighbours, diagonal ones too: finite elements of
/// four (nz = 1) or eight nodes.
inline EdgeList element_graph(int nx, int ny, int nz, int unknowns,
                              bool shuffled, std::uint64_t seed) {
  EdgeList graph;
  const int nodes = nx * ny * nz;
  graph.rows = nodes * unknowns;
  std::vector<int> place(nodes);
  std::iota(place.begin(), place.end(), 0);
  if (shuffled)
    for (int k = nodes - 1; k > 0; --k)
      std::swap(place[k], place[RowRandom(seed, k).below(k + 1)]);
  const auto couple = [&](int a, int b) {
    for (int i = 0; i < unknowns; ++i)
      for (int j = a == b ? i + 1 : 0; j < unknowns; ++j)
        graph.add(std::int64_t(place[a]) * unknowns + i,
                  std::int64_t(place[b]) * unknowns + j);
  };
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const int node = x + nx * (y + ny * z);
        couple(node, node);
        for (int bit = 0; bit < 13; ++bit) {  // the neighbours before it
          const int ox = x + bit % 3 - 1, oy = y + bit / 3 % 3 - 1,
                    oz = z + bit / 9 - 1;
          if (ox >= 0 && ox < nx && oy >= 0 && oy < ny && oz >= 0)
            couple(node, ox + nx * (oy + ny * oz));
        }
      }
  return graph;
}

/// A band of `half` diagonals a side, each entry there with probability
/// `density`; in each `period` rows the first `hole` have none below the
/// diagonal.
inline EdgeList holed_band_graph(int rows, int half, double density, int period,
                                 int hole, std::uint64_t seed) {
  EdgeList graph;
  graph.rows = rows;
  for (int row = 0; row < rows; ++row) {
    if (row % period < hole) continue;
    RowRandom random(seed, row);
    for (int d = 1; d <= half && d <= row; ++d)
      if (random.chance(density)) graph.add(row, row - d);
  }
  return graph;
}

/// About `levels` level sets in rows of up to twice `entries` entries (the
/// diagonal counts): each row needs one of the level set before its own, and
/// others of the `window` rows before it. `spread` level sets are under way at
/// a time, so that the rows of a level set do not follow each other.
inline EdgeList deep_graph(int rows, int entries, int levels, int spread,
                           int window, std::uint64_t seed) {
  EdgeList graph;
  graph.rows = rows;
  std::vector<int> level_of(rows);
  std::vector<std::vector<int>> members(
      std::min<std::int64_t>(rows, std::int64_t(levels) + spread));
  int known = 0;  // level sets that have a row
  for (int row = 0; row < rows; ++row) {
    RowRandom random(seed, row);
    const std::int64_t wanted =
        std::int64_t(row) * levels / rows + random.below(spread);
    const auto level = static_cast<int>(std::min<std::int64_t>(wanted, known));
    known = std::max(known, level + 1);
    level_of[row] = level;
    members[level].push_back(row);
    if (level == 0) continue;
    const auto& before = members[level - 1];
    const auto recent =
        std::min<std::int64_t>(8, static_cast<std::int64_t>(before.size()));
    graph.add(row, before[before.size() - 1 - random.below(recent)]);
    const std::int64_t others = random.below(2 * std::int64_t(entries) - 3);
    for (std::int64_t k = 0; k < others; ++k) {
      const std::int64_t column = row - 1 - random.below(std::min(row, window));
      if (level_of[column] < level) graph.add(row, column);
    }
  }
  return graph;
}

/// Rows of about `entries` entries among the `window` rows before them, and
/// `hubs` rows that are coupled with `length` random others: with rows before
/// them alone where `last`, for then they are the last rows, else with any.
inline EdgeList long_row_graph(int rows, int entries, int window, int hubs,
                               int length, bool last, std::uint64_t seed) {
  EdgeList graph;
  graph.rows = rows;
  for (int row = 1; row < rows; ++row) {
    RowRandom random(seed, row);
    const std::int64_t count = random.below(2 * std::int64_t(entries) - 1);
    for (std::int64_t k = 0; k < count; ++k)
      graph.add(row, row - 1 - random.below(std::min(row, window)));
  }
  for (int hub = 0; hub < hubs; ++hub) {
    RowRandom random(seed + 1, hub);
    const std::int64_t row = last ? rows - 1 - hub : random.below(rows);
    for (int k = 0; k < length; ++k)
      graph.add(row, random.below(last ? rows - hubs : rows));
  }
  return graph;
}

/// A power-law graph by preferential attachment (Barabasi and Albert 1999):
/// each row is coupled with `links` earlier ones, each chosen with a chance in
/// proportion to how many couplings it has. The oldest rows have most.
inline EdgeList power_law_graph(int rows, int links, std::uint64_t seed) {
  EdgeList graph;
  graph.rows = rows;
  for (int row = 1; row < rows; ++row) {
    RowRandom random(seed, row);
    const auto ends = static_cast<std::int64_t>(graph.ends.size());
    for (int k = 0; k < links; ++k) {
      const std::int64_t end = random.below(ends + 1);
      graph.add(row, end < ends ? graph.ends[end] : 0);
    }
  }
  return graph;
}

/// Random points of the unit square or cube, coupled with those that are near,
/// `degree` on the average: an unstructured mesh. Points are numbered cell by
/// cell of a grid, and at random within a cell.
inline EdgeList mesh_graph(int rows, int dimensions, double degree,
                           std::uint64_t seed) {
  EdgeList graph;
  graph.rows = rows;
  const bool flat = dimensions == 2;
  const double pi = 3.141592653589793;
  const double radius = flat ? std::sqrt(degree / (pi * rows))
                             : std::cbrt(degree / (4. / 3 * pi * rows));
  // An int counts the cells; wider ones hold all neighbours, too.
  const int side =
      std::max(1, std::min(flat ? 46340 : 1290, static_cast<int>(1 / radius)));
  const int depth = flat ? 1 : side;
  using Point = std::array<double, 3>;
  const auto cell_of = [&](const Point& p) {
    const auto along = [&](double x) {
      return std::min(side - 1, static_cast<int>(x * side));
    };
    return (flat ? 0 : along(p[2])) * side * side + along(p[1]) * side +
           along(p[0]);
  };
  std::vector<Point> drawn(rows), points(rows);
  std::vector<int> start(std::size_t(side) * side * depth + 1, 0);
  for (int row = 0; row < rows; ++row) {
    RowRandom random(seed, row);
    for (int d = 0; d < dimensions; ++d) drawn[row][d] = random.unit();
    ++start[cell_of(drawn[row]) + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  auto next = start;
  for (const Point& p : drawn) points[next[cell_of(p)]++] = p;
  for (int row = 0; row < rows; ++row) {
    const Point& p = points[row];
    const int cell = cell_of(p);
    const int x = cell % side, y = cell / side % side, z = cell / side / side;
    for (int oz = std::max(0, z - 1); oz <= std::min(depth - 1, z + 1); ++oz)
      for (int oy = std::max(0, y - 1); oy <= std::min(side - 1, y + 1); ++oy)
        for (int ox = std::max(0, x - 1); ox <= std::min(side - 1, x + 1);
             ++ox) {
          const int other = (oz * side + oy) * side + ox;
          for (int k = start[other]; k < std::min(start[other + 1], row); ++k) {
            const Point& q = points[k];
            double squares = 0;
            for (int d = 0; d < dimensions; ++d)
              squares += (p[d] - q[d]) * (p[d] - q[d]);
            if (squares <= radius * radius) graph.add(row, k);
          }
        }
  }
  return graph;
}

/// Paths whose ends lie on earlier ones, `window` rows back at most, with
/// `crossings` of a hundred rows coupled with one more: streets, or the lines
/// of a power grid. `path` is the mean length of a path.
inline EdgeList path_graph(int rows, int path, int window, int crossings,
                           std::uint64_t seed) {
  EdgeList graph;
  graph.rows = rows;
  for (int row = 1; row < rows; ++row) {
    RowRandom random(seed, row);
    const auto back = [&] {
      return row - 1 - random.below(std::min(row, window));
    };
    graph.add(row, random.below(path) == 0 ? back() : row - 1);
    if (random.below(100) < crossings) graph.add(row, back());
  }
  return graph;
}

/// The graph that `spec` names.
inline EdgeList gallery_graph(const GallerySpec& spec, std::uint64_t seed) {
  const auto& at = spec.numbers;
  switch (spec.family) {
    case Family::box:
      return box_graph(at[0], at[1], at[2], at[3]);
    case Family::elements:
    case Family::shuffled:
      return element_graph(at[0], at[1], at[2], at[3],
                           spec.family == Family::shuffled, seed);
    case Family::holed_band:
      return holed_band_graph(at[0], at[1], spec.density, at[2], at[3], seed);
    case Family::deep:
      return deep_graph(at[0], at[1], at[2], at[3], at[4], seed);
    case Family::long_rows:
    case Family::long_last:
      return long_row_graph(at[0], at[1], at[4], at[2], at[3],
                            spec.family == Family::long_last, seed);
    case Family::power_law:
      return power_law_graph(at[0], at[1], seed);
    case Family::mesh2d:
    case Family::mesh3d:
      return mesh_graph(at[0], spec.family == Family::mesh2d ? 2 : 3, at[1],
                        seed);
    default:
      return path_graph(at[0], at[1], at[2], at[3], seed);
  }
}

/// The edges of a graph in MemorySpace, for build_from_edges.
template <class MemorySpace>
class ListedEdges {
 public:
  explicit ListedEdges(const EdgeList& graph)
      : ends_(
            make_unfilled<Ends>("Strata::Gallery::edges", graph.ends.size())) {
    Kokkos::deep_copy(ends_,
                      Kokkos::View<const int*, Kokkos::HostSpace,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          graph.ends.data(), graph.ends.size()));
  }

  std::int64_t generators() const {
    return static_cast<std::int64_t>(ends_.extent(0) / 2);
  }
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t edge,
                                         const Visit& visit) const {
    const int i = ends_(2 * edge), j = ends_(2 * edge + 1);
    if (i != j) visit(i, j);
  }

 private:
  using Ends = Kokkos::View<int*, MemorySpace>;
  Ends ends_;
};

}  // namespace Detail
}  // namespace Strata

#endif
