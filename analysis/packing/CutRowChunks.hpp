// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_CUT_ROW_CHUNKS_HPP
#define STRATA_ANALYSIS_PACKING_CUT_ROW_CHUNKS_HPP

#include <Kokkos_Core.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/FindColumn.hpp>

namespace Strata {

/// The vertices whose b a merged row has coefficients of, see MergedLevels;
/// without elements: none.
template <class MemorySpace>
struct RowCoefficients {
  Kokkos::View<const std::int64_t*, MemorySpace> map;  // by vertex
  Kokkos::View<const int*, MemorySpace> vertex;
  /// How much memory the recipes of the rows take: a number in device memory
  /// that the host gets along with what it waits for anyway; or null.
  const std::int64_t* recipe_bytes = nullptr;
  KOKKOS_INLINE_FUNCTION bool exist() const { return map.extent(0) > 0; }
};

namespace Detail {

/// Cuts the rows of the level sets into chunks.
///
/// Within a level set, longest rows come first. A chunk takes as many lanes a
/// row as its first row needs and as many rows as the warp then has room for,
/// so chunks of equal lanes form *runs*, at most log2(width) + 1 a level set.
template <class MemorySpace>
struct CutLevels {
  Kokkos::View<const int*, MemorySpace> length;  // permuted row -> entries
  Kokkos::View<const std::int64_t*, MemorySpace> level_map;
  int width, max_steps;
  /// Of level set l, first_of[most_splits l + e] is the first permuted row of
  /// at most 2^e lanes.
  int* first_of;
  static constexpr int most_splits = 5;  // of a warp of 32 lanes

  KOKKOS_INLINE_FUNCTION int log_width() const {
    int lanes = 0;
    while ((1 << lanes) < width) ++lanes;
    return lanes;
  }
  KOKKOS_INLINE_FUNCTION int log_lanes(int row_length) const {
    int lanes = 0;
    while ((1 << lanes) < width &&
           row_length > static_cast<std::int64_t>(max_steps) << lanes)
      ++lanes;
    return lanes;
  }
  /// Notes where runs begin that do at permuted row p of a level set, or at the
  /// end of that, if it is the last one.
  KOKKOS_INLINE_FUNCTION void find_runs(std::int64_t level,
                                        std::int64_t p) const {
    int* const first = first_of + most_splits * level;
    const std::int64_t end = level_map(level + 1);
    const int lanes = log_lanes(length(p));
    const int before =
        p == level_map(level) ? log_width() : log_lanes(length(p - 1));
    for (int e = lanes; e < before; ++e) first[e] = static_cast<int>(p);
    if (p + 1 == end)
      for (int e = 0; e < lanes; ++e) first[e] = static_cast<int>(end);
  }
  /// The first permuted row and lanes of chunk `number` of a level set, or, if
  /// that has fewer chunks, their number.
  KOKKOS_INLINE_FUNCTION std::int64_t find(std::int64_t level,
                                           std::int64_t number,
                                           std::int64_t& permuted_row,
                                           int& lanes) const {
    const int most = log_width();
    // Reads side by side.
    std::int64_t first[most_splits + 2];
    STRATA_IMPL_UNROLL
    for (int e = 0; e < most_splits; ++e)
      first[e] = e < most ? first_of[most_splits * level + e] : 0;
    const std::int64_t begin = level_map(level), end = level_map(level + 1);
    std::int64_t passed = 0, from = begin;
    lanes = -1;
    STRATA_IMPL_UNROLL
    for (int e = most_splits; e >= 0; --e) {
      const std::int64_t to = e == 0 ? end : first[e > 0 ? e - 1 : 0];
      // The last chunk of a run may take rows of the next ones.
      if (e > most || lanes >= 0 || from >= to) continue;
      const std::int64_t rows = width >> e;
      const std::int64_t chunks = (to - from + rows - 1) / rows;
      if (number < passed + chunks) {
        permuted_row = from + (number - passed) * rows;
        lanes = e;
      } else {
        passed += chunks;
        from += chunks * rows;
      }
    }
    return lanes < 0 ? passed : number;
  }
};

/// level_chunk_map from the level sets, and the chunks themselves.
template <class MemorySpace>
struct ChunkStages {
  CutLevels<MemorySpace> cut;
  Kokkos::View<int*, MemorySpace> level_chunk_map;
  Kokkos::View<RowChunk*, MemorySpace> chunk;  // at least as many
  /// Chunks, slots and, where rows have coefficients, places for rows of all
  /// chunks, words of dependencies, bytes of recipes.
  std::int64_t* totals;
  static constexpr int num_totals = 5;
  Kokkos::View<const int*, MemorySpace> vertex;        // permuted row -> vertex
  Kokkos::View<const int*, MemorySpace> permuted_row;  // vertex -> permuted row
  Kokkos::View<const int*, MemorySpace> level_of_vertex;
  Kokkos::View<const std::int64_t*, MemorySpace> row_map;
  Kokkos::View<const int*, MemorySpace> entries;
  RowCoefficients<MemorySpace> coefficients;
  /// Where rows have coefficients, of each chunk.
  struct Lists {
    /// Most of its rows, and whether one of either is far.
    int dependencies, coefficients, far;
  };
  Lists* lists;
  bool any_far;  // may be
  RowChunk::Dependencies near;
  std::int64_t threads_for_runs;

  /// Where a warp has several lanes, before Count.
  struct Runs {};
  KOKKOS_INLINE_FUNCTION void operator()(Runs, std::int64_t i) const {
    const auto rows = static_cast<std::int64_t>(vertex.extent(0));
    for (std::int64_t p = i; p < rows; p += threads_for_runs)
      cut.find_runs(level_of_vertex(vertex(p)), p);
  }
  struct Count {};
  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t level,
                                         std::int64_t& sum, bool final) const {
    if (final && level == 0) level_chunk_map(0) = 0;
    std::int64_t permuted_row;
    int lanes;
    sum += cut.find(level, 0x7fffffff, permuted_row, lanes);
    if (!final) return;
    level_chunk_map(level + 1) = static_cast<int>(sum);
    if (level + 2 == static_cast<std::int64_t>(level_chunk_map.extent(0))) {
      totals[0] = sum;
      totals[1] = 0;
      totals[2] = cut.width * sum;
      totals[3] = totals[4] = 0;
      // The map is copied in words of two numbers.
      const std::int64_t maps = level + 2;
      if (maps % 2 == 1) level_chunk_map.data()[maps] = 0;
    }
  }

  /// The level set of chunk c. Each level set has a chunk.
  KOKKOS_INLINE_FUNCTION std::int64_t level_of(std::int64_t c) const {
    return first_from(std::int64_t{1},
                      static_cast<std::int64_t>(level_chunk_map.extent(0)) - 1,
                      level_chunk_map, c + 1) -
           1;
  }
  KOKKOS_INLINE_FUNCTION int throttle_of(std::int64_t c, std::int64_t level,
                                         int steps) const {
    const std::int64_t from =
        level - RowChunk::throttle_levels -
        RowChunk::throttle_levels_more * ((steps - 1) / cut.max_steps);
    if (steps == 0 || from < 0) return -1;
    const std::int64_t begin = cut.level_map(from);
    const std::int64_t number = c - level_chunk_map(level) + 1;
    const std::int64_t rows =
        number * (cut.level_map(from + 1) - begin) /
        (level_chunk_map(level + 1) - level_chunk_map(level));
    return static_cast<int>(begin + (rows > 0 ? rows - 1 : 0));
  }
  // Two stages where rows have coefficients, before Place.
  struct Begin {};
  KOKKOS_INLINE_FUNCTION void operator()(Begin, std::int64_t c) const {
    std::int64_t level;
    RowChunk made = rows_of(c, level);
    made.throttle = static_cast<int>(level);  // until it has its place
    chunk(c) = made;
    lists[c] = {0, 0, 0};
  }
  /// Row i % width of chunk i / width.
  struct Look {};
  KOKKOS_INLINE_FUNCTION void operator()(Look, std::int64_t i) const {
    const std::int64_t c = i / cut.width;
    const int first = chunk(c).first_permuted_row;
    const int r = static_cast<int>(i % cut.width);
    Lists own{0, 0, 0};
    if (r < chunk(c).rows) {
      const int v = vertex(first + r);
      own.dependencies = static_cast<int>(row_map(v + 1) - row_map(v));
      own.coefficients =
          static_cast<int>(coefficients.map(v + 1) - coefficients.map(v));
      if (any_far) own.far = is_far(v, first - 1 - RowChunk::most_distance);
    }
    // A chunk's lanes are whole warps, or else each is alone.
    constexpr int warp = lane_width<typename MemorySpace::execution_space>;
    const int lanes = cut.width % warp == 0 ? warp : 1;
    for (int mask = lanes / 2; mask > 0; mask /= 2) {
      const Lists other = lane_xor(own, mask);
      raise(own.dependencies, other.dependencies);
      raise(own.coefficients, other.coefficients);
      raise(own.far, other.far);
    }
    if (i % lanes != 0) return;
    Kokkos::atomic_fetch_max(&lists[c].dependencies, own.dependencies);
    Kokkos::atomic_fetch_max(&lists[c].coefficients, own.coefficients);
    Kokkos::atomic_fetch_max(&lists[c].far, own.far);
  }
  /// The sum is of their slots.
  struct Place {};
  KOKKOS_INLINE_FUNCTION void operator()(Place, std::int64_t c,
                                         std::int64_t& sum, bool final) const {
    std::int64_t level;
    RowChunk made;
    if (coefficients.exist()) {
      made = chunk(c);
      level = made.throttle;
    } else {
      made = rows_of(c, level);
    }
    give_steps(c, made);
    made.throttle = cut.width > 1 ? throttle_of(c, level, made.steps) : -1;
    made.first_slot =
        sum + static_cast<std::int64_t>(made.stride()) * made.coefficient_steps;
    if (final) chunk(c) = made;
    sum += static_cast<std::int64_t>(made.stride()) *
           (made.coefficient_steps + made.steps);
    if (final && c + 1 == totals[0]) totals[1] = sum;
  }
  /// The sum is of words of dependencies; along with Place, or after it.
  struct PlaceDependencies {};
  KOKKOS_INLINE_FUNCTION void operator()(PlaceDependencies, std::int64_t c,
                                         std::int64_t& sum, bool final) const {
    RowChunk made = chunk(c);
    give_steps(c, made);
    const bool far = lists[c].far != 0;
    const int slots = made.num_slots();
    if (final) {
      chunk(c).dependency_begin = static_cast<unsigned>(sum);
      chunk(c).dependencies = far ? RowChunk::whole : near;
    }
    sum += far ? slots : (slots + 1) / 2;
    if (final && c + 1 == totals[0]) {
      totals[3] = sum;
      totals[4] = coefficients.recipe_bytes ? *coefficients.recipe_bytes : 0;
    }
  }

 private:
  static KOKKOS_INLINE_FUNCTION void raise(int& to, int value) {
    to = value > to ? value : to;
  }
  /// Chunk c's, by its rows and lanes.
  KOKKOS_INLINE_FUNCTION void give_steps(std::int64_t c, RowChunk& made) const {
    const int per_row = 1 << made.log_lanes;
    const auto steps_for = [&](std::int64_t entries) {
      return static_cast<int>((entries + per_row - 1) >> made.log_lanes);
    };
    made.coefficient_steps = 0;
    if (!coefficients.exist()) {
      made.steps = steps_for(cut.length(made.first_permuted_row));
      return;
    }
    made.steps = steps_for(lists[c].dependencies);
    made.coefficient_steps =
        static_cast<std::uint8_t>(steps_for(lists[c].coefficients));
  }
  /// Whether vertex v has a dependency or a coefficient before `nearest`.
  KOKKOS_INLINE_FUNCTION bool is_far(int v, int nearest) const {
    bool far = false;
    constexpr int batch = 4;
    const std::int64_t end = row_map(v + 1);
    for (std::int64_t k = row_map(v); k < end && !far; k += batch) {
      // Reads side by side.
      int from[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        from[u] = entries(k + u < end ? k + u : end - 1);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) from[u] = permuted_row(from[u]);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) far = far || from[u] < nearest;
    }
    // The rows of coefficients ascend.
    return far || (coefficients.map(v) < coefficients.map(v + 1) &&
                   coefficients.vertex(coefficients.map(v)) <
                       v - 1 - RowChunk::most_distance);
  }
  /// Chunk c's rows and lanes, and its level set.
  KOKKOS_INLINE_FUNCTION RowChunk rows_of(std::int64_t c,
                                          std::int64_t& level) const {
    // A chunk of one lane is a row.
    RowChunk made;
    std::int64_t permuted_row = c, left = 1;
    level = 0;
    if (cut.width > 1) {
      level = level_of(c);
      int lanes = 0;
      cut.find(level, c - level_chunk_map(level), permuted_row, lanes);
      made.log_lanes = static_cast<std::uint8_t>(lanes);
      left = cut.level_map(level + 1) - permuted_row;
    }
    const int room = cut.width >> made.log_lanes;
    made.first_permuted_row = static_cast<int>(permuted_row);
    made.rows = static_cast<std::uint8_t>(left < room ? left : room);
    return made;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
