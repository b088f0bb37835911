// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_REWRITTEN_VALUES_HPP
#define STRATA_REWRITTEN_VALUES_HPP

#include <Strata_CollapsedLevels.hpp>
#include <Strata_RowChunks.hpp>
#include <detail/Strata_Modulus.hpp>
#include <detail/Strata_Pending.hpp>
#include <detail/Strata_RowPolicy.hpp>
#include <detail/Strata_TriangularAlgorithm.hpp>

namespace Strata {
namespace Detail {

/// Where the entries of a rewritten plan's rows stand, by position.
template <class MemorySpace>
struct RewrittenRows {
  /// Entries as the matrix has them: position of the source, marked where it
  /// is replaced by its own equation.
  Kokkos::View<int*, MemorySpace> row_map;
  Kokkos::View<unsigned*, MemorySpace> entry;
  OriginIndex<MemorySpace> origin;
  static constexpr unsigned replaced = 0x80000000u;
  /// First slot of a row's sources; how its slots follow each other, and how
  /// many there are.
  Kokkos::View<unsigned*, MemorySpace> first_slot, shape;
  static constexpr int source_bits = 11;
  static constexpr int most_sources = (1 << source_bits) - 1;
  /// Positions of rewritten rows by depth; -1 for rows that are as they were.
  Kokkos::View<int*, MemorySpace> by_depth;

  struct Slots {
    std::int64_t first;
    int stride, log_lanes, term_steps, terms, sources;
    KOKKOS_INLINE_FUNCTION std::int64_t at(int step, int e) const {
      return first + static_cast<std::int64_t>((e >> log_lanes) + step) * stride +
             (e & ((1 << log_lanes) - 1));
    }
    KOKKOS_INLINE_FUNCTION std::int64_t source(int e) const { return at(0, e); }
    KOKKOS_INLINE_FUNCTION std::int64_t term(int t) const {
      return at(-term_steps, t);
    }
  };
  /// Of a row that can be a term: others have fewer sources here.
  KOKKOS_INLINE_FUNCTION Slots slots(int p) const {
    const unsigned s = shape(p);
    return {static_cast<std::int64_t>(first_slot(p)),
            static_cast<int>(s & 63u),
            static_cast<int>(s >> 6 & 7u),
            static_cast<int>(s >> 9 & 63u),
            static_cast<int>(s >> 15 & 63u),
            static_cast<int>(s >> 21)};
  }
  std::size_t bytes() const {
    return 4 * (row_map.extent(0) + entry.extent(0) + first_slot.extent(0) +
                shape.extent(0) + by_depth.extent(0)) +
           origin.bytes();
  }
};

/// Lengths of the rows as the matrix has them, as a sum over positions.
template <class MemorySpace>
struct GivenOffsets {
  DependencyGraph<MemorySpace> given;
  Kokkos::View<const int*, MemorySpace> vertex;
  Kokkos::View<int*, MemorySpace> map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t& sum,
                                         bool final) const {
    const int v = vertex(p);
    if (final) map(p) = static_cast<int>(sum);
    sum += given.row_map(v + 1) - given.row_map(v);
    if (final && p + 1 == given.num_vertices)
      map(p + 1) = static_cast<int>(sum);
  }
};
/// Entries of a row as the matrix has them.
template <class MemorySpace>
struct KeepGiven {
  LevelGroups<MemorySpace> edges;
  Kokkos::View<const int*, MemorySpace> vertex, position;
  RewrittenRows<MemorySpace> rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, int lane,
                                         int lanes) const {
    const int v = vertex(p);
    const std::int64_t first = edges.first(v), count = edges.end(v) - first;
    const int at = rows.row_map(p);
    for (std::int64_t k = lane; k < count; k += lanes) {
      const int from = edges.entry(first + k);
      rows.entry(at + k) = static_cast<unsigned>(position(from)) |
                           (edges.inner(first + k, from, v)
                                ? RewrittenRows<MemorySpace>::replaced
                                : 0u);
      rows.origin.set(at + k, edges.graph.origin(first + k));
    }
  }
};
/// Slots of a chunk's rows.
template <class MemorySpace>
struct KeepSlots {
  Kokkos::View<const RowChunk*, MemorySpace> chunk_of;
  DependencyGraph<MemorySpace> graph;            // rewritten
  Kokkos::View<const int*, MemorySpace> vertex;  // by position
  RowTerms<MemorySpace> terms;
  RewrittenRows<MemorySpace> rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c) const {
    using Rows = RewrittenRows<MemorySpace>;
    const RowChunk chunk = chunk_of(c);
    for (int r = 0; r < chunk.rows; ++r) {
      const int p = chunk.first_position + r;
      const int v = vertex(p);
      const std::int64_t sources = graph.row_map(v + 1) - graph.row_map(v);
      const auto own = static_cast<unsigned>(terms.map(v + 1) - terms.map(v));
      rows.first_slot(p) = static_cast<unsigned>(
          chunk.first_slot + (static_cast<std::int64_t>(r) << chunk.log_lanes));
      rows.shape(p) =
          static_cast<unsigned>(chunk.rows << chunk.log_lanes) |
          static_cast<unsigned>(chunk.log_lanes) << 6 |
          static_cast<unsigned>(chunk.term_steps) << 9 | own << 15 |
          static_cast<unsigned>(sources < Rows::most_sources
                                    ? sources
                                    : std::int64_t{Rows::most_sources})
              << 21;
    }
  }
};
template <class MemorySpace>
struct KeepDepths {
  const int *vertex, *fate;
  Kokkos::View<const int*, MemorySpace> position;
  Kokkos::View<int*, MemorySpace> by_depth;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const int v = vertex[i];
    by_depth(i) = fate[v] == RowFate::rewritten ? position(v) : -1;
  }
};

/// The matrix's numbers by position.
template <class Scalar, class MemorySpace>
struct GivenNumbers {
  RewrittenRows<MemorySpace> rows;
  OriginIndex<MemorySpace> diagonal_origin;
  const Scalar* values;
  bool conjugated;
  KOKKOS_INLINE_FUNCTION Scalar entry(int k) const {
    const Scalar v = values[rows.origin(k)];
    return conjugated ? conjugate(v) : v;
  }
  KOKKOS_INLINE_FUNCTION Scalar diagonal(int p) const {
    const std::int64_t k = diagonal_origin(p);
    const Scalar d = k < 0 ? Scalar(1) : values[k];
    return conjugated ? conjugate(d) : d;
  }
};

/// What replacing costs in digits, one depth after the other: an upper bound of
/// the rows of the groups' inverses (unit diagonals),
///
///     g_i = 1 + sum over replaced sources j of |l_ij / l_ii| g_j,
///
/// which is exact where no two products cancel.
template <class Scalar, class MemorySpace>
struct BoundRewritten {
  GivenNumbers<Scalar, MemorySpace> given;
  Kokkos::View<const unsigned*, MemorySpace> row;  // by position
  const int* position;
  Scalar* bound;  // g by position, 1 before
  std::int64_t* faults;

  KOKKOS_INLINE_FUNCTION static bool is_finite(const Scalar& v) {
    return v - v == Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION static double real_of(double v) { return v; }
  template <class R>
  KOKKOS_INLINE_FUNCTION static double real_of(const Kokkos::complex<R>& v) {
    return double(v.real());
  }
  /// Numbers that are not negative compare as their bits do.
  KOKKOS_INLINE_FUNCTION void raise(int which, double value) const {
    if (!(value - value == 0)) return;
    std::int64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    if (bits > *static_cast<volatile std::int64_t*>(faults + which))
      Kokkos::atomic_fetch_max(faults + which, bits);
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const int p = position[i];
    if (p < 0) return;
    constexpr double largest =
        sizeof(typename Pending<Scalar>::Word) == 4 ? 3e38 : 1e308;
    const Scalar own = given.diagonal(p);
    double inverse = 1, block = 1;
    bool lost = false, special = !is_finite(own);
    for (int k = given.rows.row_map(p); k < given.rows.row_map(p + 1); ++k) {
      const unsigned code = given.rows.entry(k);
      if (!(code & RewrittenRows<MemorySpace>::replaced)) continue;
      const int from =
          static_cast<int>(code & ~RewrittenRows<MemorySpace>::replaced);
      const Scalar v = given.entry(k), by = given.diagonal(from);
      const Scalar factor = v / by;
      const double before = real_of(bound[from]);
      special = special || !is_finite(v) || !is_finite(by) || before == 0;
      lost = lost ||
             (is_finite(by) &&
              !(usable_reciprocal(by) && usable_reciprocal(Scalar(1) / by))) ||
             (usable_reciprocal(v) && usable_reciprocal(by) &&
                      !usable_reciprocal(factor));
      const double ratio = double(modulus(v / own));
      block += ratio;
      inverse += ratio * before;
    }
    // No bound: 0, and so for all rows rewritten through this one.
    bound[p] = Scalar(special ? 0 : inverse < largest ? inverse : largest);
    if (special) return;
    if (lost || !(inverse < largest))
      Kokkos::atomic_fetch_min(faults + RewriteFaults::row,
                               std::int64_t{row(p) & 0x7fffffffu});
    raise(RewriteFaults::inverse, inverse);
    raise(RewriteFaults::block, block);
  }
};

/// Values of rows that are as they were, by the lanes of a chunk.
template <class Scalar, class MemorySpace>
struct PackGiven {
  GivenNumbers<Scalar, MemorySpace> given;
  Kokkos::View<const RowChunk*, MemorySpace> chunk_of;
  Kokkos::View<const unsigned char*, MemorySpace> rewritten;  // by position
  Kokkos::View<Scalar*, MemorySpace> value;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, int lane,
                                         int lanes) const {
    const RowChunk chunk = chunk_of(c);
    const int per_row = 1 << chunk.log_lanes, active = chunk.rows * per_row;
    for (int l = lane; l < active; l += lanes) {
      const int p = chunk.first_position + (l >> chunk.log_lanes);
      const bool whole = !rewritten(p);
      const int first = given.rows.row_map(p), end = given.rows.row_map(p + 1);
      for (int s = 0; s < chunk.steps; ++s) {
        const std::int64_t k =
            first + static_cast<std::int64_t>(s) * per_row + l % per_row;
        value(chunk.first_slot + static_cast<std::int64_t>(s) * active + l) =
            whole && k < end ? given.entry(static_cast<int>(k)) : Scalar(0);
      }
      for (int s = 1; s <= chunk.term_steps; ++s)
        value(chunk.first_slot - static_cast<std::int64_t>(s) * active + l) =
            Scalar(0);
    }
  }
};

/// Values of rewritten rows, one depth after the other, from those of the rows
/// that they replace. A row's slots begin as zeros. A few neighbouring lanes
/// share a row: the elements of one replaced row's lists go to different slots.
template <class Scalar, class ExecutionSpace>
struct PackRewritten {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Rows = RewrittenRows<MemorySpace>;
  using Slots = typename Rows::Slots;
  static constexpr bool on_device = lane_width<ExecutionSpace> > 1;
  static constexpr int lanes = on_device ? 8 : 1;
  static constexpr int threads = on_device ? 128 : 1;
  static constexpr int team_rows = on_device ? threads / lanes : 64;

  GivenNumbers<Scalar, MemorySpace> given;
  Kokkos::View<const int*, MemorySpace> source;    // by slot
  Kokkos::View<const unsigned*, MemorySpace> row;  // by position
  const int* position;
  std::int64_t count;
  Scalar* value;

  /// The row's slots for a source, for a term: they have one.
  KOKKOS_INLINE_FUNCTION std::int64_t source_slot(const Slots& slots,
                                                  int position_of) const {
    int e = 0;
    while (e + 1 < slots.sources && source(slots.source(e)) != position_of) ++e;
    return slots.source(e);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t term_slot(const Slots& slots,
                                                int row_of) const {
    int t = 0;
    while (t + 1 < slots.terms && source(slots.term(t)) != row_of) ++t;
    return slots.term(t);
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * team_rows;
    if constexpr (on_device) {
      pack(first + team.team_rank() / lanes, team.team_rank() % lanes);
    } else {
      for (int r = 0; r < team_rows; ++r) pack(first + r, 0);
    }
  }
  /// All lanes of a warp come together after each replaced row.
  KOKKOS_INLINE_FUNCTION void pack(std::int64_t i, int lane) const {
    const int p = i < count ? position[i] : -1;
    const Slots own = given.rows.slots(p < 0 ? 0 : p);
    const int begin = p < 0 ? 0 : given.rows.row_map(p);
    const int end = p < 0 ? 0 : given.rows.row_map(p + 1);
    for (int k = begin + lane; k < end; k += lanes) {
      const unsigned code = given.rows.entry(k);
      if (!(code & Rows::replaced))
        value[source_slot(own, static_cast<int>(code))] = given.entry(k);
    }
    lane_barrier();
    for (int k = begin; lane_any(k < end); ++k) {
      const unsigned code = k < end ? given.rows.entry(k) : 0u;
      if (code & Rows::replaced)
        replace(own, static_cast<int>(code & ~Rows::replaced), given.entry(k),
                lane);
      lane_barrier();
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void replace(const Slots& own, int from,
                                      const Scalar& entry, int lane) const {
    const Scalar factor = entry / given.diagonal(from);
    const Slots theirs = given.rows.slots(from);
    if (lane == 0)
      value[term_slot(own, static_cast<int>(row(from) & 0x7fffffffu))] +=
          factor;
    for (int t = lane; t < theirs.terms; t += lanes)
      value[term_slot(own, source(theirs.term(t)))] -=
          factor * value[theirs.term(t)];
    for (int e = lane; e < theirs.sources; e += lanes)
      value[source_slot(own, source(theirs.source(e)))] -=
          factor * value[theirs.source(e)];
  }
};

template <class Scalar>
struct FillOnes {
  Scalar* at;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    at[i] = Scalar(1);
  }
};
template <class MemorySpace>
struct MarkRewritten {
  const int* position;
  Kokkos::View<unsigned char*, MemorySpace> rewritten;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (position[i] >= 0) rewritten(position[i]) = 1;
  }
};

/// Values of a plan of chunks whose level sets are taken several at a time.
///
/// Cost of new values: a look, and a packing, each a launch for each level set
/// of a group after the first; a row takes time for each entry of the rows that
/// it replaces, times the length of its list, which is searched.
template <class Scalar, class ExecutionSpace>
class RewrittenValues {
 public:
  using Memory = typename ExecutionSpace::memory_space;

  RewrittenValues(const ExecutionSpace& exec,
                  const CollapsedLevels<Memory>& levels,
                  const RowChunks<Memory>& chunks, std::int64_t num_values,
                  bool conjugated)
      : depth_map_(levels.depth_map),
        num_rows_(chunks.num_rows),
        conjugated_(conjugated) {
    using Kokkos::view_alloc;
    using Kokkos::WithoutInitializing;
    const std::string label = "Strata::RewrittenRows::";
    const std::int64_t n = num_rows_, edges = levels.given.num_edges();
    const std::int64_t deep = n - depth_map_[1];
    const auto words = [&](const char* name, std::int64_t count) {
      return Kokkos::View<unsigned*, Memory>(
          view_alloc(exec, label + name, WithoutInitializing), count);
    };
    rows_.row_map = Kokkos::View<int*, Memory>(
        view_alloc(exec, label + "row_map", WithoutInitializing), n + 1);
    rows_.entry = words("entry", edges);
    rows_.origin = OriginIndex<Memory>(label + "origin", edges, num_values);
    rows_.first_slot = words("first_slot", n);
    rows_.shape = words("shape", n);
    rows_.by_depth = Kokkos::View<int*, Memory>(
        view_alloc(exec, label + "by_depth", WithoutInitializing), deep);
    rewritten_ = Kokkos::View<unsigned char*, Memory>(
        view_alloc(exec, label + "rewritten"), n);
    faults_ = Kokkos::View<std::int64_t*, Memory>(
        view_alloc(exec, label + "faults", WithoutInitializing),
        int{RewriteFaults::size});
    Kokkos::parallel_for(label + "clear_faults",
                         RangeOf<ExecutionSpace>(exec, 0, 1),
                         ClearRewriteFaults{faults_.data()});
    const auto& order = levels.order;
    Kokkos::parallel_scan(label + "offsets", RangeOf<ExecutionSpace>(exec, 0, n),
                          GivenOffsets<Memory>{levels.given, order.vertex,
                                               rows_.row_map});
    for_each_row("Strata::RewrittenRows::entries", exec, n, edges,
                 KeepGiven<Memory>{
                     LevelGroups<Memory>{levels.given,
                                         levels.given_level.data(),
                                         levels.fate.data(), levels.levels},
                     order.vertex, order.position, rows_});
    Kokkos::parallel_for(
        label + "slots",
        RangeOf<ExecutionSpace>(exec, 0, chunks.num_chunks()),
        KeepSlots<Memory>{chunks.chunk, levels.graph, order.vertex,
                          RowTerms<Memory>{levels.term_map, levels.term},
                          rows_});
    Kokkos::parallel_for(
        label + "depths", RangeOf<ExecutionSpace>(exec, 0, deep),
        KeepDepths<Memory>{levels.by_depth.data() + depth_map_[1],
                           levels.fate.data(), order.position,
                           rows_.by_depth});
    Kokkos::parallel_for(
        label + "mark", RangeOf<ExecutionSpace>(exec, 0, deep),
        MarkRewritten<Memory>{rows_.by_depth.data(), rewritten_});
  }

  /// Enqueues a look at what rewriting does to accuracy, and returns what it
  /// notes. `work` holds as many scalars as rows.
  std::int64_t* probe(const ExecutionSpace& exec,
                      const OriginIndex<Memory>& diagonal_origin,
                      const Scalar* values,
                      const Kokkos::View<const unsigned*, Memory>& row,
                      const Kokkos::View<Scalar*, Memory>& work) const {
    Kokkos::parallel_for("Strata::RewrittenRows::begin_probe",
                         RangeOf<ExecutionSpace>(exec, 0, num_rows_),
                         FillOnes<Scalar>{work.data()});
    for_each_depth([&](std::int64_t first, std::int64_t count) {
      Kokkos::parallel_for(
          "Strata::RewrittenRows::probe",
          RangeOf<ExecutionSpace>(exec, 0, count),
          BoundRewritten<Scalar, Memory>{
              numbers(diagonal_origin, values), row,
              rows_.by_depth.data() + first, work.data(), faults_.data()});
    });
    return faults_.data();
  }
  /// Enqueues the packing.
  void pack(const ExecutionSpace& exec,
            const OriginIndex<Memory>& diagonal_origin, const Scalar* values,
            const RowChunks<Memory>& chunks,
            const Kokkos::View<Scalar*, Memory>& value) const {
    for_each_row("Strata::RewrittenRows::pack_given", exec, chunks.num_chunks(),
                 chunks.num_slots,
                 PackGiven<Scalar, Memory>{numbers(diagonal_origin, values),
                                           chunks.chunk, rewritten_, value});
    for_each_depth([&](std::int64_t first, std::int64_t count) {
      using Pack = PackRewritten<Scalar, ExecutionSpace>;
      Kokkos::parallel_for(
          "Strata::RewrittenRows::pack",
          Kokkos::TeamPolicy<ExecutionSpace>(
              exec,
              static_cast<int>((count + Pack::team_rows - 1) / Pack::team_rows),
              Pack::threads),
          Pack{numbers(diagonal_origin, values), chunks.source, chunks.row,
               rows_.by_depth.data() + first, count, value.data()});
    });
  }
  std::size_t bytes() const {
    return rows_.bytes() + rewritten_.extent(0) +
           faults_.extent(0) * sizeof(std::int64_t);
  }

 private:
  template <class Launch>
  void for_each_depth(const Launch& launch) const {
    for (std::size_t d = 1; d + 1 < depth_map_.size(); ++d)
      if (depth_map_[d + 1] > depth_map_[d])
        launch(depth_map_[d] - depth_map_[1], depth_map_[d + 1] - depth_map_[d]);
  }
  GivenNumbers<Scalar, Memory> numbers(
      const OriginIndex<Memory>& diagonal_origin, const Scalar* values) const {
    return {rows_, diagonal_origin, values, conjugated_};
  }

  RewrittenRows<Memory> rows_;
  Kokkos::View<unsigned char*, Memory> rewritten_;
  Kokkos::View<std::int64_t*, Memory> faults_;
  std::vector<std::int64_t> depth_map_;
  std::int64_t num_rows_;
  bool conjugated_;
};

}  // namespace Detail
}  // namespace Strata

#endif
