// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_ROW_CHUNKS_HPP
#define STRATA_ANALYSIS_PACKING_ROW_CHUNKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Sort.hpp>
#include <core/interface/Enumerators.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstring>
#include <vector>

namespace Strata {

/// A few rows of one level set that the lanes of a warp solve together.
///
/// Row r of the chunk belongs to lanes r * 2^log_lanes and up. Entry e of that
/// row lies in step e / 2^log_lanes at lane e % 2^log_lanes of the row, and
/// step s of lane l is slot first_slot + s * (rows * 2^log_lanes) + l: as in
/// SELL-C-sigma, the lanes of a step read consecutive slots. Terms of merged
/// rows (see MergedLevels) have `term_steps` such steps before first_slot.
///
/// Where rows have terms, sources are numbered by chunk, its terms first: from
/// word source_begin on a word each or, where all of a chunk are near, two in a
/// word. These say how many positions lie between the source and the chunk, or
/// how many rows between term and row.
struct alignas(16) RowChunk {
  /// How many level sets back `throttle` lies, and how many more for each time
  /// that the lanes fetch `max_steps` entries after the first.
  static constexpr int throttle_levels = 3, throttle_levels_more = 2;

  /// How sources are stored: as they are, or, of rows that are not reversed and
  /// of those that are, by distance.
  enum Sources : std::uint8_t { whole, near_below, near_above };
  /// No distance, and the largest one.
  static constexpr int no_distance = 0xffff, most_distance = 0xfffe;

  std::int64_t first_slot = 0;
  int first_position = 0;
  int steps = 0;
  unsigned source_begin = 0;
  std::uint8_t rows = 0, log_lanes = 0, term_steps = 0, sources = whole;
  /// A position some level sets back, as far on in its level set as the chunk
  /// is in its own: until that row is solved, there is no use in asking for
  /// the chunk's sources. -1 where there are not as many level sets before, or
  /// a chunk is one lane wide.
  int throttle = -1;
  /// Whole rows; or a piece of one row that several chunks share, and the place
  /// of its partial sum (0 and up); or what adds such sums up: see
  /// `split_long_rows`.
  static constexpr int whole_rows = -1, adds_pieces = -2;
  int part = whole_rows;

  /// Slots of a step.
  KOKKOS_INLINE_FUNCTION int stride() const { return rows << log_lanes; }
  /// The first slot of the chunk, of terms if there are any.
  KOKKOS_INLINE_FUNCTION std::int64_t begin() const {
    return first_slot - std::int64_t{term_steps} * stride();
  }
  KOKKOS_INLINE_FUNCTION int num_slots() const {
    return (term_steps + steps) * stride();
  }
  /// The number in the chunk of the slot of row r's i-th term.
  KOKKOS_INLINE_FUNCTION int place_of_term(int r, int i) const {
    return (i >> log_lanes) * stride() + (r << log_lanes) +
           (i & ((1 << log_lanes) - 1));
  }
  /// What is stored for slot begin() + `number`, of words that are sources'.
  KOKKOS_INLINE_FUNCTION int stored(const int* words, int number) const {
    const int* const from = words + source_begin;
    return sources == whole
               ? from[number]
               : reinterpret_cast<const unsigned short*>(from)[number];
  }
  KOKKOS_INLINE_FUNCTION void store(int* words, int number, int value) const {
    int* const to = words + source_begin;
    if (sources == whole)
      to[number] = value;
    else
      reinterpret_cast<unsigned short*>(to)[number] =
          static_cast<unsigned short>(value);
  }
  /// A source's position, or -1, of what is stored.
  KOKKOS_INLINE_FUNCTION int source_of(int value) const {
    if (sources == whole) return value;
    return value == no_distance ? -1 : first_position - 1 - value;
  }
  /// A term's row, or -1, of what is stored for `row`.
  KOKKOS_INLINE_FUNCTION int term_of(int value, int row) const {
    if (sources == whole) return value;
    if (value == no_distance) return -1;
    return sources == near_below ? row - 1 - value : row + 1 + value;
  }
  /// What is to be stored for them; -1: padding.
  KOKKOS_INLINE_FUNCTION int to_store_source(int position) const {
    if (sources == whole) return position;
    return position < 0 ? no_distance : first_position - 1 - position;
  }
  KOKKOS_INLINE_FUNCTION int to_store_term(int term, int row) const {
    if (sources == whole) return term;
    if (term < 0) return no_distance;
    return sources == near_below ? row - 1 - term : term - 1 - row;
  }
};
static_assert(sizeof(RowChunk) == 32, "two loads");

/// Rows in level order, cut into chunks, with their entries in the order of
/// use. Pattern only.
template <class MemorySpace>
struct RowChunks {
  int num_rows = 0;
  std::int64_t num_slots = 0;
  /// Position in the order of use -> user's row.
  Kokkos::View<unsigned*, MemorySpace> row;
  Kokkos::View<RowChunk*, MemorySpace> chunk;
  /// Slot -> user's row of the source, or its position (see
  /// `make_row_chunks`); -1 in padding. Where rows have terms, words as
  /// RowChunk says.
  Kokkos::View<int*, MemorySpace> source;
  /// Slot -> index of its value among the user's values; -1 in padding. None
  /// where rows are merged.
  Detail::ValueIndex<MemorySpace> value_index;
  /// Position -> index of its diagonal value; -1 where the diagonal is one.
  /// None where rows are merged.
  Detail::ValueIndex<MemorySpace> diagonal_value_index;
  /// Level set -> first chunk; one more at the end.
  std::vector<int> level_chunk_map;
  /// See RowTerms.
  std::int64_t recipe_bytes = 0;
  /// What the arrays above are part of.
  typename Detail::PlanStorage<MemorySpace>::Block storage;

  int num_chunks() const { return static_cast<int>(chunk.extent(0)); }
  int num_levels() const {
    return static_cast<int>(level_chunk_map.size()) - 1;
  }
};

/// What a slot's `source` names.
enum class SourceNumbering { row, position };

namespace Detail {
template <>
struct EnumeratorNames<SourceNumbering> {
  static constexpr const char* list[] = {"row", "position"};
};
}  // namespace Detail

/// Terms of merged rows, see MergedLevels; without elements: none.
template <class MemorySpace>
struct RowTerms {
  Kokkos::View<const std::int64_t*, MemorySpace> map;  // by vertex
  Kokkos::View<const int*, MemorySpace> vertex;
  /// How much memory the recipes of the rows take: a number in device memory
  /// that the host gets along with what it waits for anyway; or null.
  const std::int64_t* recipe_bytes = nullptr;
  KOKKOS_INLINE_FUNCTION bool exist() const { return map.extent(0) > 0; }
};

namespace Detail {

template <class MemorySpace>
struct FillRowChunks {
  Kokkos::View<const RowChunk*, MemorySpace> chunk_of;
  Kokkos::View<RowChunk*, MemorySpace> chunks;  // copied to
  Kokkos::View<unsigned*, MemorySpace> row;
  Kokkos::View<int*, MemorySpace> source;
  ValueIndex<MemorySpace> value_index, diagonal_value_index;
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<const int*, MemorySpace> vertex;    // position -> vertex
  Kokkos::View<const int*, MemorySpace> position;  // vertex -> position
  bool by_position;
  RowTerms<MemorySpace> terms;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t c) const {
    return chunk_of(c).num_slots();
  }
  KOKKOS_INLINE_FUNCTION int user_row(int v) const {
    return graph.reversed ? graph.num_vertices - 1 - v : v;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t c, int lane,
                                         int lanes) const {
    const RowChunk chunk = chunk_of(c);
    if (lane == 0) chunks(c) = chunk;
    const int per_row = 1 << chunk.log_lanes;
    const int active = chunk.rows * per_row;
    for (int l = lane; l < active; l += lanes) {
      const int p = chunk.first_position + (l >> chunk.log_lanes);
      const int v = vertex(p);
      const std::int64_t begin = graph.row_map(v);
      const std::int64_t end = graph.row_map(v + 1);
      if (l % per_row == 0) {
        row(p) = static_cast<unsigned>(user_row(v));
        if (!terms.exist())
          diagonal_value_index.set(p, graph.diagonal_value_index(v));
      }
      if (terms.exist()) {
        fill_both(chunk, l, v);
        continue;
      }
      for (int s = 0; s < chunk.steps; ++s)
        fill(chunk.first_slot + static_cast<std::int64_t>(s) * active + l,
             begin + static_cast<std::int64_t>(s) * per_row + l % per_row, end);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void fill(std::int64_t slot, std::int64_t k,
                                   std::int64_t end) const {
    const bool used = k < end;
    const int j = used ? graph.entries(k) : -1;
    source(slot) = used ? (by_position ? position(j) : user_row(j)) : -1;
    value_index.set(slot, used ? graph.value_index(k) : -1);
  }
  /// Terms and sources of lane l, whose row is v.
  KOKKOS_INLINE_FUNCTION void fill_both(const RowChunk& chunk, int l,
                                        int v) const {
    const int per_row = 1 << chunk.log_lanes, active = chunk.stride();
    const int row_of_v = user_row(v);
    // Several reads, then as many writes: else each waits for those before.
    constexpr int batch = 4;
    int number = l;
    std::int64_t at = terms.map(v) + l % per_row, end = terms.map(v + 1);
    for (int s = 0; s < chunk.term_steps; s += batch) {
      int term[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u, at += per_row)
        term[u] = at < end ? user_row(terms.vertex(at)) : -1;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (s + u < chunk.term_steps)
          chunk.store(source.data(), number + u * active,
                      chunk.to_store_term(term[u], row_of_v));
      number += batch * active;
    }
    number = l + chunk.term_steps * active;
    at = graph.row_map(v) + l % per_row;
    end = graph.row_map(v + 1);
    for (int s = 0; s < chunk.steps; s += batch) {
      int from[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u, at += per_row)
        from[u] = at < end ? graph.entries(at) : -1;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (from[u] >= 0) from[u] = position(from[u]);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (s + u < chunk.steps)
          chunk.store(source.data(), number + u * active,
                      chunk.to_store_source(from[u]));
      number += batch * active;
    }
  }
};

/// Cuts the rows of the level sets into chunks.
///
/// Within a level set, longest rows come first. A chunk takes as many lanes a
/// row as its first row needs and as many rows as the warp then has room for,
/// so chunks of equal lanes form *runs*, at most log2(width) + 1 a level set.
template <class MemorySpace>
struct CutLevels {
  Kokkos::View<const int*, MemorySpace> length;  // position -> entries
  Kokkos::View<const std::int64_t*, MemorySpace> level_map;
  int width, max_steps;

  KOKKOS_INLINE_FUNCTION int log_lanes(int row_length) const {
    int lanes = 0;
    while ((1 << lanes) < width &&
           row_length > static_cast<std::int64_t>(max_steps) << lanes)
      ++lanes;
    return lanes;
  }
  /// First position in [begin, end) with fewer lanes a row, or `end`.
  KOKKOS_INLINE_FUNCTION std::int64_t fewer_lanes(std::int64_t begin,
                                                  std::int64_t end,
                                                  int lanes) const {
    if (lanes == 0) return end;
    const std::int64_t most = static_cast<std::int64_t>(max_steps)
                              << (lanes - 1);
    while (begin < end) {
      const std::int64_t middle = begin + (end - begin) / 2;
      if (length(middle) > most)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
  /// The first position and lanes of chunk `number` of a level set, or, if
  /// that has fewer chunks, their number.
  KOKKOS_INLINE_FUNCTION std::int64_t find(std::int64_t level,
                                           std::int64_t number,
                                           std::int64_t& position,
                                           int& lanes) const {
    const std::int64_t end = level_map(level + 1);
    std::int64_t passed = 0;
    for (position = level_map(level); position < end;) {
      lanes = log_lanes(length(position));
      const std::int64_t rows = width >> lanes;
      const std::int64_t last = fewer_lanes(position, end, lanes);
      const std::int64_t chunks = (last - position + rows - 1) / rows;
      if (number < passed + chunks) {
        position += (number - passed) * rows;
        return number;
      }
      passed += chunks;
      position += chunks * rows;
    }
    return passed;
  }
};

/// level_chunk_map from the level sets, and the chunks themselves.
template <class MemorySpace>
struct ChunkStages {
  CutLevels<MemorySpace> cut;
  Kokkos::View<int*, MemorySpace> level_chunk_map;
  Kokkos::View<RowChunk*, MemorySpace> chunk;  // at least as many
  /// Chunks, slots and, where rows have terms, places for rows of all chunks,
  /// words of sources, bytes of recipes.
  std::int64_t* totals;
  static constexpr int num_totals = 5;
  Kokkos::View<const int*, MemorySpace> vertex;    // position -> vertex
  Kokkos::View<const int*, MemorySpace> position;  // vertex -> position
  Kokkos::View<const std::int64_t*, MemorySpace> row_map;
  Kokkos::View<const int*, MemorySpace> entries;
  RowTerms<MemorySpace> terms;
  /// Where rows have terms: most sources and most terms of a chunk's rows, and
  /// later whether one of them is far.
  int* lists;
  RowChunk::Sources near;

  struct Count {};
  KOKKOS_INLINE_FUNCTION void operator()(Count, std::int64_t level,
                                         std::int64_t& sum, bool final) const {
    if (final && level == 0) level_chunk_map(0) = 0;
    std::int64_t position;
    int lanes;
    sum += cut.find(level, 0x7fffffff, position, lanes);
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

  /// The level set whose chunks c is one of: none is without.
  KOKKOS_INLINE_FUNCTION std::int64_t level_of(std::int64_t c) const {
    std::int64_t level = 0;
    std::int64_t beyond =
        static_cast<std::int64_t>(level_chunk_map.extent(0)) - 1;
    while (beyond - level > 1) {
      const std::int64_t middle = level + (beyond - level) / 2;
      if (level_chunk_map(middle) <= c)
        level = middle;
      else
        beyond = middle;
    }
    return level;
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
  /// Where rows have terms, before Place.
  struct Lists {};
  KOKKOS_INLINE_FUNCTION void operator()(Lists, std::int64_t c) const {
    std::int64_t level;
    RowChunk made = rows_of(c, level);
    made.throttle = static_cast<int>(level);  // until it has its place
    chunk(c) = made;
    int most[2] = {0, 0};
    constexpr int batch = 8;
    for (int first = 0; first < made.rows; first += batch) {
      // Reads side by side.
      int own[batch][2];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const int r = first + u < made.rows ? first + u : made.rows - 1;
        const int v = vertex(made.first_position + r);
        own[u][0] = static_cast<int>(row_map(v + 1) - row_map(v));
        own[u][1] = static_cast<int>(terms.map(v + 1) - terms.map(v));
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        for (int list = 0; list < 2; ++list)
          most[list] = own[u][list] > most[list] ? own[u][list] : most[list];
    }
    lists[2 * c] = most[0];
    lists[2 * c + 1] = most[1];
  }
  /// The sum is of their slots.
  struct Place {};
  KOKKOS_INLINE_FUNCTION void operator()(Place, std::int64_t c,
                                         std::int64_t& sum, bool final) const {
    std::int64_t level;
    RowChunk made;
    if (terms.exist()) {
      made = chunk(c);
      level = made.throttle;
    } else {
      made = rows_of(c, level);
    }
    const int per_row = 1 << made.log_lanes;
    const auto steps_for = [&](std::int64_t entries) {
      return static_cast<int>((entries + per_row - 1) >> made.log_lanes);
    };
    made.steps = steps_for(terms.exist() ? lists[2 * c]
                                         : cut.length(made.first_position));
    made.throttle = cut.width > 1 ? throttle_of(c, level, made.steps) : -1;
    made.term_steps = 0;
    if (terms.exist()) {
      made.term_steps = static_cast<std::uint8_t>(steps_for(lists[2 * c + 1]));
      if (final) lists[2 * c] = 0;
    }
    made.first_slot =
        sum + static_cast<std::int64_t>(made.stride()) * made.term_steps;
    if (final) chunk(c) = made;
    sum += static_cast<std::int64_t>(made.stride()) *
           (made.term_steps + made.steps);
    if (final && c + 1 == totals[0]) totals[1] = sum;
  }
  /// Row i % width of chunk i / width: whether it has a source or a term that
  /// is far.
  struct Reach {};
  KOKKOS_INLINE_FUNCTION void operator()(Reach, std::int64_t i) const {
    const std::int64_t c = i / cut.width;
    const RowChunk made = chunk(c);
    const int r = static_cast<int>(i % cut.width);
    if (r >= made.rows || load_relaxed(lists + 2 * c) != 0) return;
    const int v = vertex(made.first_position + r);
    const int nearest = made.first_position - 1 - RowChunk::most_distance;
    bool far = false;
    constexpr int batch = 4;
    const std::int64_t end = row_map(v + 1);
    for (std::int64_t k = row_map(v); k < end; k += batch) {
      // Reads side by side.
      int from[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        from[u] = entries(k + u < end ? k + u : end - 1);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) from[u] = position(from[u]);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) far = far || from[u] < nearest;
    }
    // Terms ascend.
    if (terms.map(v) < terms.map(v + 1))
      far = far || terms.vertex(terms.map(v)) < v - 1 - RowChunk::most_distance;
    if (far) store_relaxed(lists + 2 * c, 1);
  }
  /// The sum is of words of sources.
  struct PlaceSources {};
  KOKKOS_INLINE_FUNCTION void operator()(PlaceSources, std::int64_t c,
                                         std::int64_t& sum, bool final) const {
    RowChunk& made = chunk(c);
    const bool far = lists[2 * c] != 0;
    const int slots = made.num_slots();
    if (final) {
      made.source_begin = static_cast<unsigned>(sum);
      made.sources = far ? RowChunk::whole : near;
    }
    sum += far ? slots : (slots + 1) / 2;
    if (final && c + 1 == totals[0]) {
      totals[3] = sum;
      totals[4] = terms.recipe_bytes ? *terms.recipe_bytes : 0;
    }
  }

 private:
  /// Chunk c's rows and lanes, and its level set.
  KOKKOS_INLINE_FUNCTION RowChunk rows_of(std::int64_t c,
                                          std::int64_t& level) const {
    // A chunk of one lane is a row.
    RowChunk made;
    std::int64_t position = c, left = 1;
    level = 0;
    if (cut.width > 1) {
      level = level_of(c);
      int lanes = 0;
      cut.find(level, c - level_chunk_map(level), position, lanes);
      made.log_lanes = static_cast<std::uint8_t>(lanes);
      left = cut.level_map(level + 1) - position;
    }
    const int room = cut.width >> made.log_lanes;
    made.first_position = static_cast<int>(position);
    made.rows = static_cast<std::uint8_t>(left < room ? left : room);
    return made;
  }
};

/// See make_row_chunks.
/// @param pool    for temporary arrays, to be kept until `exec` has been waited
///                for
/// @param request called with a PlanStorage and the plan, whose numbers of
///                rows and slots are known: takes what the caller wants to have
///                in the plan's allocation
/// @param terms   of merged rows; the graph needs no value_indices then
template <class ExecutionSpace, class Request>
RowChunks<typename ExecutionSpace::memory_space> make_row_chunks_with(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    std::int64_t num_values, int width, int max_steps,
    SourceNumbering numbering, WorkPool<ExecutionSpace>& pool,
    const Request& request,
    const RowTerms<typename ExecutionSpace::memory_space>& terms = {}) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  const std::int64_t levels = order.num_levels();
  RowChunks<Memory> plan;
  plan.num_rows = static_cast<int>(n);
  plan.level_chunk_map.assign(std::size_t(levels) + 1, 0);
  std::int64_t chunks = 0, source_words = 0;
  Kokkos::View<RowChunk*, Memory> found;
  if (n > 0) {
    // Rows of several lanes have more than max_steps / 2 entries a lane, and in
    // each level set, each number of lanes may have a chunk that is not full.
    const std::int64_t most = std::min(
        n, n / width +
               2 *
                   (graph.num_edges() +
                    static_cast<std::int64_t>(terms.vertex.extent(0))) /
                   (std::int64_t{max_steps} * width) +
               levels * (bits_for(width) + 1));
    found = pool.template view<RowChunk>(most);
    using Stages = ChunkStages<Memory>;
    const std::int64_t words = Stages::num_totals + (levels + 2) / 2;
    const auto head = pool.template view<std::int64_t>(words);
    const Stages stages{
        {order.length, order.level_map, width, max_steps},
        Kokkos::View<int*, Memory>(
            reinterpret_cast<int*>(head.data() + Stages::num_totals),
            levels + 1),
        found,
        head.data(),
        order.vertex,
        order.position,
        graph.row_map,
        graph.entries,
        terms,
        pool.template take<int>(terms.exist() ? 2 * most : 0),
        graph.reversed ? RowChunk::near_above : RowChunk::near_below};
    FusedStages<ExecutionSpace> sequence(exec, pool);
    const SumStage<typename Stages::Count> count{levels};
    const SumStage<typename Stages::Place> place{{most, head.data()}};
    if (terms.exist()) {
      const EachStage<typename Stages::Lists> lists{{most, head.data()}};
      const SumStage<typename Stages::PlaceSources> sources{
          {most, head.data()}};
      // In few rows nothing is far.
      if (n <= RowChunk::most_distance)
        sequence.run("Strata::RowChunks::cut", stages, count, lists, place,
                     sources);
      else
        sequence.run(
            "Strata::RowChunks::cut", stages, count, lists, place,
            EachStage<typename Stages::Reach>{{width * most, head.data() + 2}},
            sources);
    } else {
      sequence.run("Strata::RowChunks::cut", stages, count, place);
    }
    std::vector<std::int64_t> host(words);
    copy_to_host(exec, head, host.data());
    chunks = host[0];
    plan.num_slots = source_words = host[1];
    if (terms.exist()) {
      source_words = host[3];
      plan.recipe_bytes = host[4];
    }
    std::memcpy(plan.level_chunk_map.data(), host.data() + Stages::num_totals,
                plan.level_chunk_map.size() * sizeof(int));
  }
  plan.storage = make_plan_storage<Memory>(
      exec, "Strata::RowChunks", [&](PlanStorage<Memory>& storage) {
        request(storage, plan);
        storage.take(plan.chunk, chunks);
        storage.take(plan.value_index, terms.exist() ? 0 : plan.num_slots,
                     num_values);
        storage.take(plan.diagonal_value_index, terms.exist() ? 0 : n,
                     num_values);
        storage.take(plan.row, n);
        storage.take(plan.source, source_words);
      });
  if (n > 0)
    for_each_row(
        "Strata::RowChunks::fill", exec, chunks, plan.num_slots,
        FillRowChunks<Memory>{found, plan.chunk, plan.row, plan.source,
                              plan.value_index, plan.diagonal_value_index,
                              graph, order.vertex, order.position,
                              numbering == SourceNumbering::position, terms});
  return plan;
}

}  // namespace Detail

/// Cuts the level sets of `graph` into chunks and lays out the entries.
///
/// @param order     of the graph's vertices, longest rows first unless `width`
///                  is 1
/// @param num_values number of values the user's matrix stores
/// @param width     lanes that work together (a warp, or 1 on a host)
/// @param max_steps steps a row should take before it gets more lanes
/// Cost: O(entries) on the device; the host waits for it twice, and gets the
/// level sets' numbers of chunks.
/// @throws OptionError for a `numbering` that there is not
template <class ExecutionSpace>
RowChunks<typename ExecutionSpace::memory_space> make_row_chunks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    std::int64_t num_values, int width, int max_steps,
    SourceNumbering numbering) {
  Detail::require_enumerator("numbering", numbering);
  Detail::WorkPool<ExecutionSpace> pool(exec, 0);
  const auto plan = Detail::make_row_chunks_with(exec, graph, order, num_values,
                                                 width, max_steps, numbering,
                                                 pool, [](auto&, auto&) {});
  exec.fence();
  return plan;
}

}  // namespace Strata

#endif
