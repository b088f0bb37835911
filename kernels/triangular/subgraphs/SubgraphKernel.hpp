// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_KERNEL_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_KERNEL_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/triangular/subgraphs/SubgraphPlan.hpp>

namespace Strata {
namespace Detail {

/// Algorithm 1 of Picciau et al. for the sub-graphs of one sub-graph level: a
/// team a sub-graph and right-hand side, x_loc in level-0 scratch; external
/// slots, internal slots, write-back.
///
/// The matrices of the paper have ones on the diagonal. Here the last edge into
/// a vertex carries a mark, and the thread that applies it also multiplies by
/// the reciprocal of the diagonal; vertices without edges are finished when
/// they are loaded. A slot holds at most one edge into a vertex, so no two
/// threads write one element of x_loc between two barriers, and edges out of a
/// vertex lie in later slots than those into it.
///
/// On a GPU, edges are fetched `ahead` pieces of a slot before they are applied
/// (see Piece), and what their numbers lead to half as many: an instruction
/// that needs a number from memory holds a warp up until it is there.
template <class Scalar, class ExecutionSpace>
struct SubgraphLevelSolve {
  using Memory = typename ExecutionSpace::memory_space;
  /// Even; more would take registers that other teams of a multiprocessor need.
  static constexpr int ahead = sizeof(Scalar) > 8   ? 4
                               : sizeof(Scalar) > 4 ? 6
                                                    : 8;

  /// Raw pointers keep the functor small: Kokkos hands large ones over through
  /// one constant buffer, for which it has to wait on the host.
  struct Edges {
    const std::int64_t* slot_map;
    const std::int64_t* edge_map;
    const unsigned* target;
    const int* source;
    const Scalar* value;
  };
  static Edges make_edges(const typename SubgraphPlan<Memory>::Edges& plan,
                          const Kokkos::View<Scalar*, Memory>& value) {
    return {plan.slot_map.data(), plan.edge_map.data(), plan.target.data(),
            plan.source.data(), value.data()};
  }
  static constexpr unsigned last_mark = SubgraphPlan<Memory>::last_mark;
  static constexpr unsigned root_mark = SubgraphPlan<Memory>::root_mark;

  Edges external_edges, internal_edges;
  const int* order;
  const int* vertex_map;
  const unsigned* row;
  const Scalar* diagonal;
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  int first, count;  // sub-graphs of this level in `plan.order`

  struct Edge {
    unsigned target;
    int source;  // -1: none
    Scalar value;
    Scalar scale;   // of the target, where this is the last edge into it
    Scalar solved;  // x of the source of an external edge
  };

  KOKKOS_INLINE_FUNCTION Scalar finish(const Scalar& sum,
                                       const Scalar& scale) const {
    return divide ? sum / scale : sum * scale;
  }

  template <bool external>
  KOKKOS_INLINE_FUNCTION Edge fetch(std::int64_t k, std::int64_t end) const {
    Edge e{0u, -1, Scalar(0), Scalar(0), Scalar(0)};
    if (k >= end) return e;
    const Edges& edges = external ? external_edges : internal_edges;
    e.target = edges.target[k];
    e.source = edges.source[k];
    e.value = edges.value[k];
    return e;
  }
  /// Fetches what the numbers of an edge lead to.
  template <bool external>
  KOKKOS_INLINE_FUNCTION void follow(Edge& e, int offset, int column) const {
    if (e.source < 0) return;
    if constexpr (external) {
      e.solved = x(e.source, column);
    }
    if (e.target & last_mark)
      e.scale = diagonal[offset + int(e.target & ~last_mark)];
  }

  template <bool external>
  KOKKOS_INLINE_FUNCTION void apply(const Edge& e, Scalar* x_loc) const {
    if (e.source < 0) return;
    const unsigned i = e.target & ~last_mark;
    Scalar sum = x_loc[i];
    if constexpr (external) {
      sum -= e.value * e.solved;
    } else {
      sum -= e.value * x_loc[e.source];
    }
    x_loc[i] = (e.target & last_mark) ? finish(sum, e.scale) : sum;
  }

  /// Where a team is in its time slots: a piece is as many edges of one slot as
  /// the team has threads, or what is left of the slot.
  struct Piece {
    const std::int64_t* edge_map;
    std::int64_t slot, last_slot;       // from here up to there
    std::int64_t first, end, next_end;  // edges: of this slot, and of the next

    KOKKOS_INLINE_FUNCTION Piece(const Edges& edges, int g)
        : edge_map(edges.edge_map),
          slot(edges.slot_map[g]),
          last_slot(edges.slot_map[g + 1]),
          first(0),
          end(0),
          next_end(0) {
      if (slot == last_slot) return;
      first = edge_map[slot];
      end = edge_map[slot + 1];
      look_ahead();
    }
    KOKKOS_INLINE_FUNCTION bool any() const { return slot < last_slot; }
    KOKKOS_INLINE_FUNCTION bool ends_slot(int size) const {
      return first + size >= end;
    }
    KOKKOS_INLINE_FUNCTION void advance(int size) {
      if (!ends_slot(size)) {
        first += size;
        return;
      }
      ++slot;
      first = end;
      end = next_end;
      look_ahead();
    }

   private:
    KOKKOS_INLINE_FUNCTION void look_ahead() {
      if (slot + 1 < last_slot) next_end = edge_map[slot + 2];
    }
  };

  template <bool external, class Team>
  KOKKOS_INLINE_FUNCTION void run_slots(const Team& team, int g, int offset,
                                        int column, Scalar* x_loc) const {
    const Edges& edges = external ? external_edges : internal_edges;
    const int rank = team.team_rank(), size = team.team_size();
    if constexpr (lane_width<ExecutionSpace> == 1) {
      for (std::int64_t q = edges.slot_map[g]; q < edges.slot_map[g + 1]; ++q) {
        const std::int64_t end = edges.edge_map[q + 1];
        for (std::int64_t k = edges.edge_map[q] + rank; k < end; k += size) {
          Edge e = fetch<external>(k, end);
          follow<external>(e, offset, column);
          apply<external>(e, x_loc);
        }
        team.team_barrier();
      }
    } else {
      enum : int { none, within_slot, at_end_of_slot };
      Edge ring[ahead];
      int place[ahead];  // of the piece; the same for all threads
      Piece next(edges, g);
      const auto refill = [&](int u) {
        place[u] = !next.any()            ? none
                   : next.ends_slot(size) ? at_end_of_slot
                                          : within_slot;
        ring[u] = fetch<external>(next.first + rank, next.any() ? next.end : 0);
        if (place[u] != none) next.advance(size);
      };
      for (int u = 0; u < ahead; ++u) refill(u);
      for (int u = 0; u < ahead / 2; ++u)
        follow<external>(ring[u], offset, column);
      while (place[0] != none) {
        for (int u = 0; u < ahead; ++u) {
          const Edge mine = ring[u];
          const int where = place[u];
          follow<external>(ring[(u + ahead / 2) % ahead], offset, column);
          refill(u);
          apply<external>(mine, x_loc);
          if (where == at_end_of_slot) team.team_barrier();
        }
      }
    }
  }

  /// Scratch that a team needs for x_loc of `vertices` elements.
  static std::size_t scratch_bytes(int vertices) {
    return sizeof(Scalar) * (static_cast<std::size_t>(vertices) + 1);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION static Scalar* aligned_scratch(const Team& team,
                                                        int vertices) {
    auto address =
        reinterpret_cast<std::uintptr_t>(team.team_scratch(0).get_shmem(
            sizeof(Scalar) * (static_cast<std::size_t>(vertices) + 1)));
    address = (address + sizeof(Scalar) - 1) / sizeof(Scalar) * sizeof(Scalar);
    return reinterpret_cast<Scalar*>(address);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int g = order[first + team.league_rank() % count];
    const int column = team.league_rank() / count;
    const int offset = vertex_map[g];
    const int vertices = vertex_map[g + 1] - offset;
    Scalar* const x_loc = aligned_scratch(team, vertices);
    const int rank = team.team_rank(), size = team.team_size();
    for (int i = rank; i < vertices; i += size) {
      const unsigned marked = row[offset + i];
      const Scalar value = b(marked & ~root_mark, column);
      x_loc[i] =
          (marked & root_mark) ? finish(value, diagonal[offset + i]) : value;
    }
    team.team_barrier();
    run_slots<true>(team, g, offset, column, x_loc);
    run_slots<false>(team, g, offset, column, x_loc);
    for (int i = rank; i < vertices; i += size)
      x(std::int64_t(row[offset + i] & ~root_mark), column) = x_loc[i];
  }
};

/// For launches by Kokkos, which looks at the type of the team.
template <class Scalar, class ExecutionSpace>
struct SubgraphTeams {
  SubgraphLevelSolve<Scalar, ExecutionSpace> level;
  KOKKOS_INLINE_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<ExecutionSpace>::member_type& team)
      const {
    level(team);
  }
};

/// Rows without off-diagonal entries on either side: x = b / d.
template <class Scalar, class ExecutionSpace>
struct IsolatedRows {
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::View<const unsigned*, Memory> row;
  Kokkos::View<const Scalar*, Memory> diagonal;
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  int first, num_columns;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const unsigned marked = row(first + place);
    const std::int64_t i = marked & ~SubgraphPlan<Memory>::root_mark;
    const Scalar d = diagonal(first + place);
    for (int c = 0; c < num_columns; ++c)
      x(i, c) = divide ? b(i, c) / d : b(i, c) * d;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
