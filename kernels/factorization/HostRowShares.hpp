// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_HOST_ROW_SHARES_HPP
#define STRATA_KERNELS_FACTORIZATION_HOST_ROW_SHARES_HPP

#include <Strata_LevelSets.hpp>
#include <algorithm>
#include <core/matrix/IndexArray.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// How threads of a host share the rows of an elimination: each draws the next
/// `rows_of_draw` rows of an order, again and again.
struct HostRowShares {
  int threads = 1;
  std::int64_t rows_of_draw = 1;
  /// By place in the order; empty: the place itself.
  std::vector<int> row;
  /// Whether draws are blocks of consecutive rows.
  bool in_blocks = false;
  /// Of an elimination, nanoseconds.
  double predicted = 0;
};

/// Nanoseconds that an elimination takes a host's thread, about: what shares
/// are compared by. That they are too few for rows with many entries and for
/// matrices larger than the caches makes the plan keep to one thread the
/// longer.
struct HostEliminationCosts {
  double row = 12, pair = 4, entry = 1.5;  ///< entry: of a row of U in use
  /// Looking whether rows are ready, in parts of the above.
  double checks = 1.25;
  /// A row that does not follow one of the last few rows in memory.
  double jump = 35;
  /// A row of another thread: that is waited for, and that is not.
  double handover = 200, transfer = 20;
  double draw = 60, launch = 50000;
  /// Several threads have to be this much faster than one.
  double gain = 0.8;
};

/// Threads that run at the same time: no more than there are cores, as threads
/// without one hold up those that wait for their rows.
inline int threads_at_once(int threads) {
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores > 0 ? std::min(threads, cores) : threads;
}

/// Finds shares by working through them as the threads would.
///
/// Orders: that of level sets, in which most rows can be taken at the same
/// time; and blocks of consecutive rows, each in the order of level sets. Of
/// these, threads take neighbouring ones at the same time, one some rows behind
/// the other, and what a block needs is in a core's cache. Either way a row
/// comes after those it needs.
template <class Graph>
class HostRowPlanner {
 public:
  using Costs = HostEliminationCosts;

  /// @param graph  of the lower triangle, in host memory
  /// @param u_row_map  of the upper one
  /// @param u_first  the row of it that belongs to vertex 0
  HostRowPlanner(const Graph& graph, const IndexArray& u_row_map,
                 std::int64_t u_first = 0, const Costs& costs = {})
      : graph_(graph), costs_(costs), work_(graph.num_vertices) {
    for (std::size_t v = 0; v < work_.size(); ++v) {
      const std::int64_t begin = graph.row_map(v), end = graph.row_map(v + 1);
      double work = costs.row + costs.pair * static_cast<double>(end - begin);
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t j = u_first + graph.entries(k);
        work +=
            costs.entry * static_cast<double>(u_row_map(j + 1) - u_row_map(j));
      }
      work_[v] = work;
      alone_ += work;
    }
  }

  /// Of one thread, in the order of rows.
  double alone() const { return alone_; }

  /// The best one for up to so many threads.
  /// Cost: level sets, and for each order that is looked at a pass over rows
  /// and edges, by one thread.
  HostRowShares best(int threads) const {
    HostRowShares best;
    best.predicted = alone_;
    const double most = costs_.gain * alone_;
    if (threads <= 1 || costs_.launch + alone_ / threads > most ||
        costs_.launch + longest_chain() > most)
      return best;
    const double enough =
        1.2 * std::max(longest_chain(), alone_ / threads) + costs_.launch;
    const auto by_level = find_level_sets(graph_).vertices;
    const auto consider = [&](HostRowShares&& shares) {
      shares.threads = threads;
      shares.predicted = predict(shares);
      if (shares.predicted < std::min(best.predicted, most))
        best = std::move(shares);
    };
    for (const std::int64_t rows_of_block : {128, 512, 2048}) {
      if (rows_of_block * threads > graph_.num_vertices) break;
      consider(in_blocks(by_level, rows_of_block));
      if (best.predicted <= enough) return best;
    }
    // Narrow level sets with much work are shared row by row.
    for (const std::int64_t rows_of_draw : {16, 1})
      consider({threads, rows_of_draw, by_level, false, 0});
    return best;
  }

  /// What those threads would take: the next rows go to the one that is free
  /// first.
  double predict(const HostRowShares& shares) const {
    struct Done {
      double at;
      int thread;
    };
    const auto n = static_cast<std::int64_t>(work_.size());
    std::vector<Done> done(work_.size());
    std::vector<double> free_at(shares.threads, costs_.launch);
    std::vector<RecentRows> recent(shares.threads);
    for (std::int64_t first = 0; first < n; first += shares.rows_of_draw) {
      const auto who = static_cast<int>(
          std::min_element(free_at.begin(), free_at.end()) - free_at.begin());
      double now = free_at[who] + costs_.draw;
      const std::int64_t last = std::min(n, first + shares.rows_of_draw);
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t v = shares.row.empty() ? p : shares.row[p];
        double start = now;
        for (std::int64_t k = graph_.row_map(v); k < graph_.row_map(v + 1);
             ++k) {
          const Done& other = done[graph_.entries(k)];
          if (other.thread == who) continue;
          now += costs_.transfer;
          start = std::max(start, other.at + costs_.handover);
        }
        now = std::max(start, now) + costs_.checks * work_[v];
        if (!recent[who].follows(v)) now += costs_.jump;
        done[v] = {now, who};
      }
      free_at[who] = now;
    }
    return *std::max_element(free_at.begin(), free_at.end());
  }

  /// @param by_level  the rows by level set
  static HostRowShares in_blocks(const std::vector<int>& by_level,
                                 std::int64_t rows_of_block) {
    HostRowShares made;
    made.rows_of_draw = rows_of_block;
    made.in_blocks = true;
    made.row.resize(by_level.size());
    std::vector<std::int64_t> next;
    const auto n = static_cast<std::int64_t>(by_level.size());
    for (std::int64_t first = 0; first < n; first += rows_of_block)
      next.push_back(first);
    for (const int v : by_level) made.row[next[v / rows_of_block]++] = v;
    return made;
  }

 private:
  /// Work of rows that have to be done one after the other.
  double longest_chain() const {
    if (chain_ >= 0) return chain_;
    std::vector<double> done(work_.size());
    chain_ = 0;
    for (std::size_t v = 0; v < work_.size(); ++v) {
      double start = 0;
      for (std::int64_t k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k)
        start = std::max(start, done[graph_.entries(k)]);
      done[v] = start + work_[v];
      chain_ = std::max(chain_, done[v]);
    }
    return chain_;
  }

  /// Rows whose arrays, eight of them, a core fetches ahead.
  struct RecentRows {
    std::int64_t row[2] = {-8, -8};
    unsigned next = 0;
    /// Whether v comes shortly after one of them.
    bool follows(std::int64_t v) {
      for (std::int64_t& last : row)
        if (v > last && v <= last + 4) {
          last = v;
          return true;
        }
      row[next++ % 2] = v;
      return false;
    }
  };

  const Graph& graph_;
  Costs costs_;
  std::vector<double> work_;  // of each row
  double alone_ = 0;
  mutable double chain_ = -1;
};

/// Rows that are looked at to find shares: those in the middle of a larger
/// matrix.
constexpr std::int64_t rows_of_host_plan = std::int64_t{1} << 16;

/// The graph of rows `first` to `first + count` - 1, without what they need of
/// others.
template <class Graph>
Graph graph_of_rows(const Graph& graph, std::int64_t first,
                    std::int64_t count) {
  Graph made;
  made.num_vertices = static_cast<int>(count);
  made.row_map = make_unfilled<decltype(made.row_map)>(
      "Strata::HostRowShares::row_map", count + 1);
  std::int64_t edges = 0;
  const auto for_each_edge = [&](std::int64_t v, const auto& take) {
    const std::int64_t end = graph.row_map(first + v + 1);
    for (std::int64_t k = graph.row_map(first + v); k < end; ++k)
      if (graph.entries(k) >= first)
        take(static_cast<int>(graph.entries(k) - first));
  };
  for (std::int64_t v = 0; v < count; ++v) {
    made.row_map(v) = edges;
    for_each_edge(v, [&](int) { ++edges; });
  }
  made.row_map(count) = edges;
  made.entries = make_unfilled<decltype(made.entries)>(
      "Strata::HostRowShares::entries", edges);
  edges = 0;
  for (std::int64_t v = 0; v < count; ++v)
    for_each_edge(v, [&](int j) { made.entries(edges++) = j; });
  return made;
}

/// Shares for a whole matrix.
/// @param graph, u_row_map  see HostRowPlanner
/// Cost: a few passes over up to rows_of_host_plan rows and their edges; where
/// several threads are to share the rows, two over all.
template <class Graph>
HostRowShares host_row_shares(const Graph& graph, const IndexArray& u_row_map,
                              int threads) {
  const std::int64_t rows = graph.num_vertices;
  using Planner = HostRowPlanner<Graph>;
  if (rows <= rows_of_host_plan) return Planner(graph, u_row_map).best(threads);
  const std::int64_t first = (rows - rows_of_host_plan) / 2;
  const Graph some = graph_of_rows(graph, first, rows_of_host_plan);
  HostRowShares shares = Planner(some, u_row_map, first).best(threads);
  if (shares.threads == 1) return shares;
  auto by_level = find_level_sets(graph).vertices;
  if (!shares.in_blocks) {
    shares.row = std::move(by_level);
    return shares;
  }
  auto made = Planner::in_blocks(by_level, shares.rows_of_draw);
  made.threads = shares.threads;
  return made;
}

}  // namespace Detail
}  // namespace Strata

#endif
