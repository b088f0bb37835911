// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_ELIMINATE_ROWS_HPP
#define STRATA_ANALYSIS_MERGING_ELIMINATE_ROWS_HPP

#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/RowPolicy.hpp>

namespace Strata {
namespace Detail {

/// Most rows that are summed up in one, and most dependencies it may then have;
/// a lane that has a row to itself takes fewer.
constexpr int max_coefficients = 60, max_dependencies = 128,
              max_dependencies_of_lane = 32;

/// Lengths of the lists of coefficients of b and dependencies; both multiples
/// of four.
struct ListLengths {
  int coefficients, dependencies;
  KOKKOS_FUNCTION int all() const { return coefficients + dependencies; }
};

/// What became of one row.
struct EliminatedRow {
  int coefficients = 0, dependencies = 0;
  /// Entries of the coefficients' rows.
  int operations = 0;
  /// False where a list was too short for it: nothing of it counts then.
  bool fits = true;
};

/// Raises a limit that many threads share: few of them find a smaller one.
KOKKOS_INLINE_FUNCTION void raise_limit(int* at, int value) {
  if (value > load_relaxed(at)) Kokkos::atomic_fetch_max(at, value);
}

/// The same of several, which are all read before any is compared.
struct RaisedLimit {
  int which, value;
};
template <int count>
KOKKOS_INLINE_FUNCTION void raise_limits(int* limits,
                                         const RaisedLimit (&raised)[count]) {
  int known[count];
  STRATA_IMPL_UNROLL
  for (int k = 0; k < count; ++k)
    known[k] = load_relaxed(limits + raised[k].which);
  STRATA_IMPL_UNROLL
  for (int k = 0; k < count; ++k)
    if (raised[k].value > known[k])
      Kokkos::atomic_fetch_max(limits + raised[k].which, raised[k].value);
}

/// For an elimination that needs no notes of where entries went.
struct NoNotes {
  KOKKOS_FUNCTION void operator()(int, bool, int) const {}
};

/// Writes down where each entry of a row goes: the list it is in, and its place
/// there, which becomes a slot when all is known.
struct RecipeNotes {
  unsigned char* at;
  KOKKOS_FUNCTION void operator()(int number, bool inner, int place) const {
    at[number] =
        static_cast<unsigned char>(inner ? place : max_coefficients + place);
  }
};
static_assert(max_coefficients + max_dependencies <= 256, "a slot is a byte");

/// Rewrites rows of x_i = (b_i - sum of l_ij x_j) / l_ii: an x_j that belongs
/// to the same group as x_i is replaced by its own equation, and so on, until
///
///     x_i = sum over j of m_j b_j - sum over dependencies k of c_k x_k
///
/// with dependencies outside the group. The coefficient m_j of b is entry (i,
/// j) of the inverse of the group's diagonal block, c_k entry (i, k) of that
/// inverse times the block's rows outside it.
///
/// A few neighbouring lanes work at a row: they take the newest x_j that
/// is not yet replaced, go through the entries of row j together, and keep two
/// lists in scratch: the rows j that have coefficients, and the dependencies.
/// Replacing the newest first, no x_j is met again once replaced.
///
/// @tparam lanes    a power of two, at most lane_width
/// @tparam rows     rows whose lists are interleaved in scratch, so that
///                  neighbouring threads find them in different banks
template <int lanes, int rows>
class EliminateRow {
 public:
  static constexpr int num_lanes = lanes;
  /// Lists that are long enough for every row that fits.
  static ListLengths longest() {
    return {max_coefficients,
            rows > 1 ? max_dependencies_of_lane : max_dependencies};
  }
  /// Scratch of `rows` rows.
  KOKKOS_FUNCTION static unsigned bytes(const ListLengths& lists) {
    return unsigned(lists.all()) * rows * 4;
  }

  /// @param scratch, at  the part of scratch
  /// @param row          which of the rows in it
  /// @param rank         lane of the warp
  KOKKOS_FUNCTION EliminateRow(const ScratchBytes& scratch, unsigned at,
                               int row, int rank, const ListLengths& lists)
      : scratch_(scratch),
        lists_(lists),
        at_(at),
        row_(row),
        lane_(rank % lanes) {
    const unsigned own = lanes == 32 ? 0xffffffffu : (1u << lanes) - 1;
    group_ = own << (rank - lane_);
    before_ = group_ & ((1u << rank) - 1);
  }

  KOKKOS_FUNCTION int coefficient(int t) const { return id(t); }
  KOKKOS_FUNCTION int dependency(int s) const {
    return id(lists_.coefficients + s);
  }
  /// Place that an element of a list takes when sorted.
  KOKKOS_FUNCTION int rank_of_coefficient(int t, int coefficients) const {
    return rank_of(0, t, coefficients);
  }
  KOKKOS_FUNCTION int rank_of_dependency(int s, int dependencies) const {
    return rank_of(lists_.coefficients, s, dependencies);
  }

  /// Rewrites `row`, or does nothing if it is negative. All lanes of the warp
  /// must call it.
  /// @param edges  has first(row), end(row), entry(k), group_of(row), which is
  ///               a Group, and inner(group, dependency): whether an edge from
  ///               a row of that group stays within it
  /// @param notes  called for the entries of the rows j, in the order in which
  ///               x_j is replaced: notes(number, whether it is of the group,
  ///               place in the list of coefficients or of dependencies), by
  ///               one of the lanes each
  template <class Edges, class Notes>
  KOKKOS_FUNCTION EliminatedRow run(int row, const Edges& edges,
                                    const Notes& notes) const {
    EliminatedRow result;
    int coefficients = 0, dependencies = 0, operations = 0;
    bool fits = row >= 0;
    typename Edges::Group group = {};
    if (fits) {
      group = edges.group_of(row);
      if (lane_ == 0) set_id(0, row);
      coefficients = 1;
    }
    lane_barrier();
    for (int last = 0x7fffffff;;) {
      // The newest row with a coefficient older than the last one.
      int newest = -1;
      for (int t = lane_; fits && t < coefficients; t += lanes) {
        const int v = id(t);
        newest = v < last && v > newest ? v : newest;
      }
      for (int mask = lanes / 2; mask > 0; mask /= 2) {
        const int other = lane_xor(newest, mask);
        newest = other > newest ? other : newest;
      }
      if (!lane_any(newest >= 0)) break;
      last = newest;
      std::int64_t k = newest >= 0 ? edges.first(newest) : 0;
      const std::int64_t end = newest >= 0 ? edges.end(newest) : 0;
      const std::int64_t note = operations - k + lane_;
      operations += static_cast<int>(end - k);
      for (; lane_any(k < end); k += lanes) {
        const bool any = k + lane_ < end;
        const int from = any ? edges.entry(k + lane_) : -1;
        const bool inner = any && edges.inner(group, from);
        const int begin = inner ? 0 : lists_.coefficients;
        const int length = !any ? 0 : inner ? coefficients : dependencies;
        int found = find(begin, length, from);
        const bool fresh = any && found == length;
        const unsigned fresh_coefficients =
            lane_ballot(fresh && inner) & group_;
        const unsigned fresh_dependencies =
            lane_ballot(fresh && !inner) & group_;
        if (fresh)
          found += count_bits(
              (inner ? fresh_coefficients : fresh_dependencies) & before_);
        coefficients += count_bits(fresh_coefficients);
        dependencies += count_bits(fresh_dependencies);
        if (coefficients > lists_.coefficients ||
            dependencies > lists_.dependencies) {
          fits = false;
          coefficients = dependencies = 0;
          k = end;
        } else if (any) {
          if (fresh) set_id(begin + found, from);
          notes(static_cast<int>(note + k), inner, found);
        }
        lane_barrier();
      }
    }
    // Others read what was noted.
    lane_barrier();
    result.operations = operations;
    result.coefficients = coefficients;
    result.dependencies = dependencies;
    result.fits = fits;
    return result;
  }

  /// The same, with notes for write_recipe.
  template <class Edges>
  KOKKOS_FUNCTION EliminatedRow run_and_note(int row, const Edges& edges,
                                             unsigned char* slots) const {
    return run(row, edges, RecipeNotes{slots});
  }
  /// What MergedRows has of a row that has been run and fits: the numbers of
  /// entries of the coefficients' rows without the row itself, the newest
  /// first, and the slots of all entries: these coefficients, ascending, and
  /// then the dependencies, ascending.
  template <class Edges>
  KOKKOS_FUNCTION void write_recipe(const EliminatedRow& row,
                                    const Edges& edges, unsigned char* lengths,
                                    unsigned char* slots) const {
    const int others = row.coefficients - 1;
    for (int t = lane_; t < row.coefficients; t += lanes) {
      const int rank = rank_of_coefficient(t, row.coefficients);
      if (rank < others)
        lengths[others - rank - 1] = static_cast<unsigned char>(
            edges.end(coefficient(t)) - edges.first(coefficient(t)));
    }
    for (int o = lane_; o < row.operations; o += num_lanes) {
      const int noted = slots[o];
      slots[o] = static_cast<unsigned char>(
          noted < max_coefficients
              ? rank_of_coefficient(noted, row.coefficients)
              : others + rank_of_dependency(noted - max_coefficients,
                                            row.dependencies));
    }
  }

 private:
  struct alignas(16) FourIds {
    int id[4];
  };
  KOKKOS_FUNCTION unsigned id_at(int place) const {
    return at_ + 4 * (place * rows + row_);
  }
  KOKKOS_FUNCTION int id(int place) const {
    return static_cast<int>(scratch_.load<unsigned>(id_at(place)));
  }
  KOKKOS_FUNCTION void set_id(int place, int value) const {
    scratch_.store(id_at(place), static_cast<unsigned>(value));
  }
  /// Four elements of a list, whose number is a multiple of four; what lies
  /// beyond the list's end is anything.
  KOKKOS_FUNCTION FourIds four_ids(int place) const {
    if constexpr (rows == 1) {
      return scratch_.load<FourIds>(id_at(place));
    } else {
      FourIds four;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < 4; ++u) four.id[u] = id(place + u);
      return four;
    }
  }
  /// Place in a list of so many elements, their number if it is not there.
  KOKKOS_FUNCTION int find(int begin, int count, int value) const {
    for (int first = 0; first < count; first += 4) {
      const FourIds four = four_ids(begin + first);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < 4; ++u)
        if (four.id[u] == value && first + u < count) return first + u;
    }
    return count;
  }
  KOKKOS_FUNCTION int rank_of(int begin, int place, int count) const {
    const int own = id(begin + place);
    int rank = 0;
    for (int first = 0; first < count; first += 4) {
      const FourIds four = four_ids(begin + first);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < 4; ++u) rank += four.id[u] < own && first + u < count;
    }
    return rank;
  }
  ScratchBytes scratch_;
  ListLengths lists_;
  unsigned at_, group_, before_;
  int row_, lane_;
};

/// `task` for every number below `count`, a group of `lanes` lanes each:
/// task(number, lane, eliminate), number -1 where there is none left. All lanes
/// of a warp call it together.
template <class ExecutionSpace, int lanes, class Task>
struct EliminateRows {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr bool interleaved = lanes < width && lanes == 1;
  static constexpr int team_size = 2 * width;
  static constexpr int teams_rows = width == 1 ? 1 : team_size / lanes;
  static constexpr int threads = width == 1 ? 1 : team_size;
  using Eliminate = EliminateRow<lanes, interleaved ? teams_rows : 1>;
  Task task;
  std::int64_t count;
  ListLengths lists;

  KOKKOS_INLINE_FUNCTION int scratch_bytes() const {
    return (interleaved ? 1 : teams_rows) * int(Eliminate::bytes(lists)) + 16;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int rank = team.team_rank(), row = rank / lanes;
    const std::int64_t number =
        static_cast<std::int64_t>(team.league_rank()) * teams_rows + row;
    const Eliminate eliminate(
        ScratchBytes(aligned_scratch<void>(team, scratch_bytes())),
        interleaved ? 0 : row * Eliminate::bytes(lists), interleaved ? row : 0,
        rank % width, lists);
    task(number < count ? number : -1, rank % lanes, eliminate);
  }
};

/// Mean number of entries of a row from which on lanes share one.
constexpr double least_shared = 4;

/// Calls `launch` with the lanes that share a row, as an integral constant.
/// @param mean_length  mean number of entries of a row: few lanes for short
///                     rows
template <class ExecutionSpace, class Launch>
void with_lanes_for(double mean_length, const Launch& launch) {
  if constexpr (!is_gpu<ExecutionSpace>) {
    launch(std::integral_constant<int, 1>());
  } else if (mean_length < least_shared) {
    launch(std::integral_constant<int, 1>());
  } else if (mean_length < 12) {
    launch(std::integral_constant<int, 8>());
  } else {
    launch(std::integral_constant<int, lane_width<ExecutionSpace>>());
  }
}

/// Lists that no row outgrows, or none that fits anywhere, where rows have up
/// to `longest_row` entries and groups so many level sets.
inline ListLengths longest_lists(std::int64_t longest_row, int levels) {
  std::int64_t coefficients = 1;
  for (int l = 1; l < levels && coefficients < max_coefficients; ++l)
    coefficients = std::min<std::int64_t>(max_coefficients,
                                          1 + longest_row * coefficients);
  const std::int64_t dependencies =
      std::min<std::int64_t>(max_dependencies, longest_row * coefficients);
  const auto whole = [](std::int64_t length) {
    return static_cast<int>(length + 3) / 4 * 4;
  };
  return {whole(coefficients), whole(dependencies)};
}

/// As much of these as eliminate_rows finds to fit.
template <class ExecutionSpace>
ListLengths lists_to_find(double mean_length, ListLengths longest) {
  with_lanes_for<ExecutionSpace>(mean_length, [&](auto shared) {
    constexpr int lanes = decltype(shared)::value;
    const ListLengths most =
        EliminateRows<ExecutionSpace, lanes, NoNotes>::Eliminate::longest();
    longest.coefficients = std::min(longest.coefficients, most.coefficients);
    longest.dependencies = std::min(longest.dependencies, most.dependencies);
  });
  return longest;
}

/// @param lists  the longest ones of rows that are to be found to fit, or are
///               known to; {0, 0}: those that fit at all
template <class ExecutionSpace, class Task>
void eliminate_rows(const char* label, const ExecutionSpace& exec,
                    std::int64_t count, double mean_length, const Task& task,
                    ListLengths lists = {0, 0}) {
  if (count == 0) return;
  // For longer lists than a lane finds, a team's scratch has no room for each.
  if (lists.all() > max_coefficients + max_dependencies_of_lane)
    mean_length = std::max(mean_length, least_shared);
  with_lanes_for<ExecutionSpace>(mean_length, [&](auto shared) {
    constexpr int lanes = decltype(shared)::value;
    using Kernel = EliminateRows<ExecutionSpace, lanes, Task>;
    LargeFunctorTeams<ExecutionSpace> policy(
        exec,
        static_cast<int>((count + Kernel::teams_rows - 1) / Kernel::teams_rows),
        Kernel::threads);
    const Kernel kernel{task, count,
                        lists.all() > 0 ? lists : Kernel::Eliminate::longest()};
    policy.set_scratch_size(0, Kokkos::PerTeam(kernel.scratch_bytes()));
    Kokkos::parallel_for(label, policy, kernel);
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
