// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_KERNEL_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_KERNEL_HPP

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
/// Edges are fetched `ahead` slots before they are applied; so are, for
/// external edges, the finished values of x they refer to.
template <class Scalar, class ExecutionSpace>
struct SubgraphLevelSolve {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int ahead = 4;

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
    int source;
    Scalar value;
    Scalar scale;
  };

  KOKKOS_INLINE_FUNCTION Scalar finish(const Scalar& sum,
                                       const Scalar& scale) const {
    return divide ? sum / scale : sum * scale;
  }

  template <bool external>
  KOKKOS_INLINE_FUNCTION Edge fetch(std::int64_t k, std::int64_t end,
                                    int offset, int column) const {
    Edge e{0u, -1, Scalar(0), Scalar(0)};
    if (k >= end) return e;
    const Edges& edges = external ? external_edges : internal_edges;
    e.target = edges.target[k];
    e.source = edges.source[k];
    e.value = external ? edges.value[k] * x(e.source, column) : edges.value[k];
    if (e.target & last_mark)
      e.scale = diagonal[offset + int(e.target & ~last_mark)];
    return e;
  }

  template <bool external>
  KOKKOS_INLINE_FUNCTION void apply(const Edge& e, Scalar* x_loc) const {
    if (e.source < 0) return;
    const unsigned i = e.target & ~last_mark;
    Scalar sum = x_loc[i];
    if constexpr (external) {
      sum -= e.value;
    } else {
      sum -= e.value * x_loc[e.source];
    }
    x_loc[i] = (e.target & last_mark) ? finish(sum, e.scale) : sum;
  }

  template <bool external, class Team>
  KOKKOS_INLINE_FUNCTION void run_slots(const Team& team, int g, int offset,
                                        int column, Scalar* x_loc) const {
    const Edges& edges = external ? external_edges : internal_edges;
    const std::int64_t begin = edges.slot_map[g], end = edges.slot_map[g + 1];
    const int rank = team.team_rank(), size = team.team_size();
    Edge ring[ahead];
    for (int u = 0; u < ahead; ++u) {
      const bool in = begin + u < end;
      ring[u] = fetch<external>(in ? edges.edge_map[begin + u] + rank : 0,
                                in ? edges.edge_map[begin + u + 1] : 0, offset,
                                column);
    }
    for (std::int64_t q = begin; q < end; q += ahead) {
      for (int u = 0; u < ahead; ++u) {
        if (q + u >= end) break;
        const Edge mine = ring[u];
        const bool in = q + u + ahead < end;
        ring[u] = fetch<external>(in ? edges.edge_map[q + u + ahead] + rank : 0,
                                  in ? edges.edge_map[q + u + ahead + 1] : 0,
                                  offset, column);
        apply<external>(mine, x_loc);
        const std::int64_t slot_end = edges.edge_map[q + u + 1];
        for (std::int64_t k = edges.edge_map[q + u] + rank + size; k < slot_end;
             k += size)
          apply<external>(fetch<external>(k, slot_end, offset, column), x_loc);
        team.team_barrier();
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
  KOKKOS_INLINE_FUNCTION void solve(const Team& team) const {
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
    level.solve(team);
  }
};
/// For run_teams.
template <class Scalar, class ExecutionSpace>
struct SubgraphNativeTeams {
  SubgraphLevelSolve<Scalar, ExecutionSpace> level;
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    level.solve(team);
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
