// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_TILES_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <cstdint>
#include <kernels/triangular/level_sets/LevelTasks.hpp>
#include <new>
#include <queue>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// Nanoseconds of a host's threads, by which schedules are compared.
struct TileCosts {
  double row = 1.3, entry = 0.8;
  double row_alone = 1.3;  ///< where one thread has all rows
  /// What a row takes longer where a thread's share of so many bytes in all is
  /// not in the cache that a core has to itself.
  double row_beyond = 0, bytes = 0;
  double step = 5;        ///< from a row to one that needs it
  double tile = 20;       ///< to begin a tile
  double wait = 10;       ///< to look at another thread's counter
  double handover = 250;  ///< until another thread sees that a tile is done
  double line = 20;       ///< of x from another thread's cache
  double launch = 4000;   ///< see launch_of
  double row_of(int threads) const {
    constexpr double own_cache = 2 * 1024 * 1024;
    return (threads == 1 ? row_alone : row) +
           (bytes > threads * own_cache ? row_beyond : 0.);
  }
  /// One thread is the caller's.
  double launch_of(int threads) const {
    return threads == 1 ? 0. : (1 + 0.1 * threads) * launch;
  }
};

/// Tiles of a dependency graph, for threads of a host.
///
/// A tile has the rows of one block of consecutive vertices that lie in one
/// band of consecutive level sets. An edge leads to no earlier block and to no
/// earlier band. So what tiles need of each other has no cycle, and the order
/// by band and block is topological.
struct TileGraph {
  /// What a tile needs of another block.
  struct Need {
    int block;
    int band;   ///< its last band that is needed; -1: an earlier need has it
    int lines;  ///< of x
  };
  int blocks = 0, bands = 0;
  /// By tile(block, band).
  std::vector<double> rows, entries;
  std::vector<double> levels;          // by band: its level sets
  std::vector<std::int64_t> need_map;  // one more at the end
  std::vector<Need> need;

  int tile(int block, int band) const { return block * bands + band; }
  int block_of(int tile) const { return tile / bands; }
  int num_tiles() const { return blocks * bands; }
};

/// Collects what the tiles of one block need.
class BlockNeeds {
 public:
  BlockNeeds(int block, int bands)
      : block_(block), bands_(bands), need_(std::size_t(block) * bands) {}
  void add(int band, int needed_block, int needed_band, int lines) {
    Need& need = need_[std::size_t(band) * block_ + needed_block];
    need.band = std::max(need.band, needed_band);
    need.lines += lines;
  }
  /// Appends the needs of each band, and their ends.
  void append(std::vector<std::int64_t>& need_map,
              std::vector<TileGraph::Need>& needs) const {
    std::vector<int> known(block_, -1);
    for (int band = 0; band < bands_; ++band) {
      for (int b = 0; b < block_; ++b) {
        const Need& need = need_[std::size_t(band) * block_ + b];
        const bool is_new = need.band > known[b];
        if (is_new) known[b] = need.band;
        if (is_new || need.lines > 0)
          needs.push_back({b, is_new ? need.band : -1, need.lines});
      }
      need_map.push_back(static_cast<std::int64_t>(needs.size()));
    }
  }

 private:
  struct Need {
    int band = -1, lines = 0;
  };
  int block_, bands_;
  std::vector<Need> need_;
};

/// So many neighbouring blocks, and bands, as one.
inline TileGraph merge_tiles(const TileGraph& fine, int blocks_of_one,
                             int bands_of_one) {
  TileGraph made;
  made.blocks = (fine.blocks + blocks_of_one - 1) / blocks_of_one;
  made.bands = (fine.bands + bands_of_one - 1) / bands_of_one;
  made.rows.assign(std::size_t(made.blocks) * made.bands, 0);
  made.entries = made.rows;
  made.levels.assign(made.bands, 0);
  for (int l = 0; l < fine.bands; ++l)
    made.levels[l / bands_of_one] += fine.levels[l];
  made.need_map.assign(1, 0);
  for (int block = 0; block < made.blocks; ++block) {
    BlockNeeds needs(block, made.bands);
    const int last = std::min(fine.blocks, (block + 1) * blocks_of_one);
    for (int b = block * blocks_of_one; b < last; ++b) {
      for (int l = 0; l < fine.bands; ++l) {
        const int from = fine.tile(b, l), band = l / bands_of_one;
        const int to = made.tile(block, band);
        made.rows[to] += fine.rows[from];
        made.entries[to] += fine.entries[from];
        for (auto k = fine.need_map[from]; k < fine.need_map[from + 1]; ++k) {
          const auto& need = fine.need[k];
          const int needed = need.block / blocks_of_one;
          if (needed != block)
            needs.add(band, needed,
                      need.band < 0 ? -1 : need.band / bands_of_one,
                      need.lines);
        }
      }
    }
    needs.append(made.need_map, made.need);
  }
  return made;
}

/// Which tiles each thread does, one after the other.
struct TileSchedule {
  double predicted = 0;  ///< nanoseconds
  int threads = 1;
  /// The tiles that have rows, in the order in which they begin, and who does
  /// them.
  std::vector<int> tile, thread;
};

/// Works through the tiles as threads would. Blocks are dealt out to the
/// threads in turn, so that neighbouring blocks are under way at the same time.
/// Of its tiles that need nothing more, a thread takes the one from which the
/// longest path leads to the end.
/// Cost: O((tiles + needs) log tiles), by one thread.
class TileScheduler {
 public:
  TileScheduler(const TileGraph& graph, int threads, const TileCosts& costs)
      : graph_(graph), threads_(threads), costs_(costs) {
    find_dependents();
    find_paths();
  }

  TileSchedule run() {
    TileSchedule made;
    made.threads = threads_;
    ready_.assign(threads_, {});
    busy_.assign(threads_, 0);
    ready_at_.assign(graph_.num_tiles(), 0);
    for (int t = 0; t < graph_.num_tiles(); ++t)
      if (missing_[t] == 0) events_.push({0, t, false});
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      const int t = event.tile, thread = thread_of(t);
      if (event.is_end) {
        busy_[thread] = 0;
        made.predicted = std::max(made.predicted, event.at);
        for_each_dependent(t, [&](int next, double handover) {
          ready_at_[next] = std::max(ready_at_[next], event.at + handover);
          if (--missing_[next] == 0)
            events_.push({ready_at_[next], next, false});
        });
      } else {
        ready_[thread].push({path_[t], t});
      }
      if (busy_[thread] || ready_[thread].empty()) continue;
      const int next = ready_[thread].top().second;
      ready_[thread].pop();
      busy_[thread] = 1;
      if (graph_.rows[next] > 0) {
        made.tile.push_back(next);
        made.thread.push_back(thread);
      }
      events_.push({event.at + work_[next], next, true});
    }
    return made;
  }

 private:
  struct Event {
    double at;
    int tile;     // begins to be ready, or ends
    bool is_end;  // ends first
    bool operator<(const Event& other) const {
      if (at != other.at) return at > other.at;
      if (is_end != other.is_end) return other.is_end;
      return tile > other.tile;
    }
  };

  int thread_of(int tile) const { return graph_.block_of(tile) % threads_; }

  void find_dependents() {
    const int tiles = graph_.num_tiles();
    dependent_map_.assign(std::size_t(tiles) + 2, 0);
    missing_.assign(tiles, 0);
    work_.assign(tiles, 0);
    const auto for_each_need = [&](const auto& take) {
      for (int t = 0; t < tiles; ++t)
        for (auto k = graph_.need_map[t]; k < graph_.need_map[t + 1]; ++k)
          take(t, graph_.need[k]);
    };
    for_each_need([&](int t, const TileGraph::Need& need) {
      if (thread_of(graph_.tile(need.block, 0)) != thread_of(t))
        work_[t] += costs_.line * need.lines + costs_.wait * (need.band >= 0);
      if (need.band < 0) return;
      ++dependent_map_[graph_.tile(need.block, need.band) + 2];
      ++missing_[t];
    });
    for (int t = 0; t <= tiles; ++t) dependent_map_[t + 1] += dependent_map_[t];
    dependent_.resize(dependent_map_.back());
    for_each_need([&](int t, const TileGraph::Need& need) {
      if (need.band < 0) return;
      const int from = graph_.tile(need.block, need.band);
      dependent_[dependent_map_[from + 1]++] = t;
    });
    const double row = costs_.row_of(threads_);
    for (int t = 0; t < tiles; ++t) {
      missing_[t] += t % graph_.bands > 0;  // the block's tile before
      if (graph_.rows[t] == 0) continue;
      // Of a chain, each row waits for the one before.
      const double steps =
          std::min(graph_.rows[t], graph_.levels[t % graph_.bands]);
      work_[t] += costs_.tile + std::max(row * graph_.rows[t] +
                                             costs_.entry * graph_.entries[t],
                                         costs_.step * steps);
    }
  }
  template <class Take>
  void for_each_dependent(int t, const Take& take) const {
    if ((t + 1) % graph_.bands > 0) take(t + 1, 0.);
    for (auto k = dependent_map_[t]; k < dependent_map_[t + 1]; ++k)
      take(dependent_[k],
           thread_of(dependent_[k]) == thread_of(t) ? 0. : costs_.handover);
  }
  /// Of each tile, the longest path from its beginning to the end.
  void find_paths() {
    path_.assign(graph_.num_tiles(), 0);
    for (int band = graph_.bands; band-- > 0;)
      for (int block = graph_.blocks; block-- > 0;) {
        const int t = graph_.tile(block, band);
        for_each_dependent(t, [&](int next, double handover) {
          path_[t] = std::max(path_[t], path_[next] + handover);
        });
        path_[t] += work_[t];
      }
  }

  const TileGraph& graph_;
  const int threads_;
  const TileCosts costs_;
  std::vector<std::int64_t> dependent_map_;
  std::vector<int> dependent_, missing_;
  std::vector<double> work_, path_, ready_at_;
  std::vector<std::priority_queue<std::pair<double, int>>> ready_;
  std::vector<char> busy_;
  std::priority_queue<Event> events_;
};

/// The needs and sizes of the tiles of each block: an index is a block.
template <class Memory>
struct CountTiles {
  const DependencyGraph<Memory>& graph;
  const LevelOrder<Memory>& order;
  const std::vector<int>& block_map;  // block -> first vertex
  const std::vector<int>& band_of_level;
  TileGraph& tiles;
  std::vector<std::vector<TileGraph::Need>>& needs;
  std::vector<std::vector<std::int64_t>>& need_maps;
  char* no_memory;  // by block

  void operator()(int block) const {
    // No exception may leave a parallel region.
    try {
      count(block);
    } catch (const std::bad_alloc&) {
      no_memory[block] = 1;
    }
  }

 private:
  /// Numbers of x in a line, about.
  static constexpr int of_line = 8;

  int block_of(int vertex) const {
    return static_cast<int>(
        std::upper_bound(block_map.begin() + 1, block_map.end(), vertex) -
        block_map.begin() - 1);
  }
  void count(int block) const {
    BlockNeeds found(block, tiles.bands);
    const int first = block_map[block];
    // Lines that the block has needed. In the order of level sets, as in that
    // of tiles, results of one level and block lie side by side.
    constexpr int remembered = 1 << 14;
    std::vector<int> seen(remembered, -1);
    for (int v = first; v < block_map[block + 1]; ++v) {
      const int band = band_of_level[order.level_of(v)];
      const std::int64_t begin = graph.row_map(v), end = graph.row_map(v + 1);
      tiles.rows[tiles.tile(block, band)] += 1;
      tiles.entries[tiles.tile(block, band)] +=
          static_cast<double>(end - begin);
      for (std::int64_t k = begin; k < end; ++k) {
        const int u = graph.entries(k);
        if (u >= first) continue;
        const int line = order.permuted_row(u) / of_line;
        int& last = seen[line % remembered];
        found.add(band, block_of(u), band_of_level[order.level_of(u)],
                  last != line);
        last = line;
      }
    }
    found.append(need_maps[block], needs[block]);
  }
};

/// A schedule of the rows of a graph: who does which rows, in which order.
struct TilePlan {
  /// Nanoseconds of a solve with one right-hand side.
  double predicted = 0;
  int threads = 1, blocks = 0, bands = 0;
  std::vector<int> block_map;      // block -> first vertex; one more at the end
  std::vector<int> band_of_level;  // level -> band
  std::vector<int> rows;           // by tile
  TileSchedule schedule;
};

/// Where the rows of each block go: an index is a block. The rows of a tile
/// follow each other by level set, so that a core can work at several of them
/// at the same time.
template <class Memory>
struct PlaceTileRows {
  const DependencyGraph<Memory>& graph;
  Kokkos::View<const int*, Memory> level_of;
  const TilePlan& plan;
  const std::vector<int>& first_row;  // by tile, in the tiles' order
  LevelOrder<Memory> order;
  char* no_memory;  // by block

  void operator()(int block) const {
    // No exception may leave a parallel region.
    try {
      place(block);
    } catch (const std::bad_alloc&) {
      no_memory[block] = 1;
    }
  }

 private:
  void place(int block) const {
    const int begin = plan.block_map[block], end = plan.block_map[block + 1];
    if (begin == end) return;
    int lowest = level_of(begin), highest = lowest;
    for (int v = begin; v < end; ++v) {
      lowest = std::min(lowest, level_of(v));
      highest = std::max(highest, level_of(v));
    }
    // By level set: its rows, then where its next one goes.
    std::vector<int> next(std::size_t(highest - lowest) + 1, 0);
    for (int v = begin; v < end; ++v) ++next[level_of(v) - lowest];
    int band = -1, place = 0;
    for (int l = lowest; l <= highest; ++l) {
      if (plan.band_of_level[l] != band) {
        band = plan.band_of_level[l];
        place = first_row[block * plan.bands + band];
      }
      const int rows = next[l - lowest];
      next[l - lowest] = place;
      place += rows;
    }
    for (int v = begin; v < end; ++v) {
      const int p = next[level_of(v) - lowest]++;
      order.vertex(p) = v;
      order.permuted_row(v) = p;
      order.length(p) =
          static_cast<int>(graph.row_map(v + 1) - graph.row_map(v));
    }
  }
};

/// The rows in the order of tiles, those of a thread side by side, as one level
/// set; and the tasks.
template <class Memory>
struct TileOrder {
  LevelOrder<Memory> order;
  std::vector<std::vector<LevelTask>> tasks;  // of each thread
  std::vector<int> sequence;                  // see LevelTasks
};

/// Cost: a few passes over the rows, by all threads.
template <class ExecutionSpace>
TileOrder<typename ExecutionSpace::memory_space> make_tile_order(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& level_of,
    const TilePlan& plan) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  const TileSchedule& schedule = plan.schedule;
  const std::size_t tiles = schedule.tile.size();
  TileOrder<Memory> made;
  made.tasks.resize(plan.threads);
  std::vector<int> task_of(tiles), first_task(plan.threads + 1, 0),
      first_row(plan.rows.size(), 0), rows_of_thread(plan.threads + 1, 0);
  for (std::size_t t = 0; t < tiles; ++t)
    rows_of_thread[schedule.thread[t] + 1] += plan.rows[schedule.tile[t]];
  for (int u = 0; u < plan.threads; ++u)
    rows_of_thread[u + 1] += rows_of_thread[u];
  for (std::size_t t = 0; t < tiles; ++t) {
    auto& own = made.tasks[schedule.thread[t]];
    const int begin = own.empty() ? rows_of_thread[schedule.thread[t]]
                                  : own.back().last_permuted_row;
    first_row[schedule.tile[t]] = begin;
    task_of[t] = static_cast<int>(own.size());
    own.push_back(
        {begin, begin + plan.rows[schedule.tile[t]], task_of[t] + 1, 0, 0});
  }
  for (int u = 0; u < plan.threads; ++u)
    first_task[u + 1] = first_task[u] + static_cast<int>(made.tasks[u].size());
  for (std::size_t t = 0; t < tiles; ++t)
    made.sequence.push_back(first_task[schedule.thread[t]] + task_of[t]);

  LevelOrder<Memory>& order = made.order;
  const auto make = [n](const char* label) {
    return make_unfilled<Kokkos::View<int*, Memory>>(label, n);
  };
  order.vertex = make("Strata::LevelTiles::vertex");
  order.permuted_row = make("Strata::LevelTiles::permuted_row");
  order.length = make("Strata::LevelTiles::length");
  order.sizes.num_levels = 1;
  order.sizes.level_map = {0, n};
  order.level_map = to_device<std::int64_t, Memory>(
      "Strata::LevelTiles::level_map", order.sizes.level_map);
  std::vector<char> no_memory(plan.blocks, 0);
  Kokkos::parallel_for(
      "Strata::LevelTiles::rows",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>(exec, 0,
                                                                  plan.blocks),
      PlaceTileRows<Memory>{graph, level_of, plan, first_row, order,
                            no_memory.data()});
  exec.fence();
  if (std::count(no_memory.begin(), no_memory.end(), 0) != plan.blocks)
    throw std::bad_alloc();
  return made;
}

/// The share of the edges that lead further than two blocks back, of so many
/// blocks of consecutive vertices: where that is most of them, tiles are no
/// use. Cost: a look at 4,096 vertices, by one thread.
template <class Memory>
double share_of_far_edges(const DependencyGraph<Memory>& graph, int blocks) {
  const std::int64_t n = graph.num_vertices, looked_at = 4096;
  const std::int64_t far = 2 * n / blocks, apart = 1 + n / looked_at;
  std::int64_t edges = 0, far_edges = 0;
  for (std::int64_t v = 0; v < n; v += apart) {
    const auto begin = static_cast<std::int64_t>(graph.row_map(v)),
               end = static_cast<std::int64_t>(graph.row_map(v + 1));
    edges += end - begin;
    for (std::int64_t k = begin; k < end; ++k)
      far_edges += v - graph.entries(k) > far;
  }
  return edges == 0 ? 0. : static_cast<double>(far_edges) / edges;
}

/// Finds tiles for up to so many threads of a host.
/// Cost: a pass over the edges, by all threads; some six schedules of up to
/// most_tiles tiles for each number of threads, a millisecond each or less, by
/// one thread.
template <class ExecutionSpace>
class TilePlanner {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int most_tiles = 1 << 14, blocks_of_thread = 4;

  /// @param graph, order  are referred to
  TilePlanner(const ExecutionSpace& exec, const DependencyGraph<Memory>& graph,
              const LevelOrder<Memory>& order, int threads,
              const TileCosts& costs)
      : exec_(exec),
        graph_(graph),
        order_(order),
        threads_(graph.num_vertices > 0 ? threads : 1),
        costs_(costs) {
    if (threads_ == 1) return;
    cut();
    count();
  }

  /// No solve by so many threads can be faster, in nanoseconds.
  static double least(const TileCosts& costs, double rows, double entries,
                      int threads) {
    return costs.launch_of(threads) +
           (costs.row_of(threads) * rows + costs.entry * entries) / threads;
  }
  /// The fastest that is found. Several threads have to gain a fifth over one:
  /// they cost other programs more, and lose more where cores are busy.
  TilePlan best() const {
    constexpr double gain = 0.8;
    TilePlan best = alone();
    for (int threads = threads_; threads > 1; threads /= 2) {
      const double bound = least(costs_, double(graph_.num_vertices),
                                 double(graph_.num_edges()), threads);
      const double most =
          best.threads == 1 ? gain * best.predicted : best.predicted;
      if (bound >= most) continue;
      TilePlan found = best_of(threads);
      if (found.predicted < most)
        best = std::move(found);
      else if (best.threads > 1)
        break;
    }
    return best;
  }
  /// By one thread, block by block: its rows by level set are no chains, and a
  /// block is in the core's cache.
  TilePlan alone() const {
    constexpr std::int64_t rows_of_block = 4096;
    const std::int64_t n = graph_.num_vertices;
    TilePlan made;
    made.blocks =
        static_cast<int>(std::max<std::int64_t>(1, n / rows_of_block));
    made.bands = 1;
    made.band_of_level.assign(order_.sizes.num_levels, 0);
    made.block_map.assign(1, 0);
    for (int b = 0; b < made.blocks; ++b) {
      made.block_map.push_back(static_cast<int>(n * (b + 1) / made.blocks));
      made.rows.push_back(made.block_map[b + 1] - made.block_map[b]);
      made.schedule.tile.push_back(b);
      made.schedule.thread.push_back(0);
    }
    const double steps = std::min(
        double(n), double(made.blocks) * double(order_.sizes.num_levels));
    made.predicted =
        std::max(least(costs_, double(n), double(graph_.num_edges()), 1),
                 costs_.step * steps) +
        costs_.tile * made.blocks;
    return made;
  }
  /// The tiles of `blocks_of_one` neighbouring blocks and `bands_of_one` bands
  /// as one, for so many threads.
  TilePlan plan(int threads, int blocks_of_one, int bands_of_one) const {
    const TileGraph tiles = merge_tiles(tiles_, blocks_of_one, bands_of_one);
    TilePlan made;
    made.threads = threads;
    made.blocks = tiles.blocks;
    made.bands = tiles.bands;
    for (int b = 0; b < tiles_.blocks; b += blocks_of_one)
      made.block_map.push_back(block_map_[b]);
    made.block_map.push_back(block_map_.back());
    for (const int band : band_of_level_)
      made.band_of_level.push_back(band / bands_of_one);
    made.rows.assign(tiles.rows.begin(), tiles.rows.end());
    made.schedule = TileScheduler(tiles, threads, costs_).run();
    made.predicted = made.schedule.predicted + costs_.launch_of(threads);
    return made;
  }
  const TileGraph& tiles() const { return tiles_; }

 private:
  /// From two blocks for each thread on, as long as twice as many or half as
  /// many, blocks or bands, are faster.
  TilePlan best_of(int threads) const {
    int blocks = tiles_.blocks / threads / 2, bands = 1;
    TilePlan best = plan(threads, blocks, bands);
    const auto improves = [&](int of_blocks, int of_bands) {
      if (of_blocks < 1 || of_bands < 1 || of_bands > tiles_.bands ||
          of_blocks * threads > tiles_.blocks)
        return false;
      TilePlan other = plan(threads, of_blocks, of_bands);
      if (other.predicted >= best.predicted) return false;
      best = std::move(other);
      blocks = of_blocks;
      bands = of_bands;
      return true;
    };
    while (improves(blocks, 2 * bands)) {
    }
    if (improves(2 * blocks, bands)) return best;
    while (improves(blocks / 2, bands)) {
    }
    improves(blocks, 2 * bands);
    return best;
  }
  double work(double rows, double entries) const {
    return costs_.row * rows + costs_.entry * entries;
  }
  void cut() {
    const int n = graph_.num_vertices;
    const int blocks = blocks_of_thread * threads_;
    const auto work_before = [&](std::int64_t v) {
      return work(double(v), double(graph_.row_map(v)));
    };
    const double all = work_before(n);
    block_map_.assign(1, 0);
    for (int b = 1; b < blocks; ++b) {
      int low = block_map_.back(), high = n;
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (work_before(middle) < all * b / blocks)
          low = middle + 1;
        else
          high = middle;
      }
      // A line of x is one block's.
      block_map_.push_back(std::max(block_map_.back(), low / 16 * 16));
    }
    block_map_.push_back(n);

    // A band takes no more work than this, or it is one level set.
    const auto& sizes = order_.sizes;
    const double most =
        std::max(all / (double(most_tiles) / blocks), 100. * threads_);
    double sum = 2 * most;
    int band = -1;
    for (int l = 0; l < sizes.num_levels; ++l) {
      const double of_level = work(sizes.rows(l), double(sizes.edges[l]));
      if (sum + of_level > most) {
        ++band;
        sum = 0;
        tiles_.levels.push_back(0);
      }
      band_of_level_.push_back(band);
      ++tiles_.levels.back();
      sum += of_level;
    }
    tiles_.blocks = blocks;
    tiles_.bands = band + 1;
  }
  void count() {
    const int blocks = tiles_.blocks;
    tiles_.rows.assign(tiles_.num_tiles(), 0);
    tiles_.entries = tiles_.rows;
    std::vector<std::vector<TileGraph::Need>> needs(blocks);
    std::vector<std::vector<std::int64_t>> need_maps(blocks);
    std::vector<char> no_memory(blocks, 0);
    Kokkos::parallel_for(
        "Strata::LevelTiles::count",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>,
                            Kokkos::Schedule<Kokkos::Dynamic>>(exec_, 0,
                                                               blocks),
        CountTiles<Memory>{graph_, order_, block_map_, band_of_level_, tiles_,
                           needs, need_maps, no_memory.data()});
    exec_.fence();
    if (std::count(no_memory.begin(), no_memory.end(), 0) != blocks)
      throw std::bad_alloc();
    tiles_.need_map.assign(1, 0);
    for (int b = 0; b < blocks; ++b) {
      const auto before = static_cast<std::int64_t>(tiles_.need.size());
      for (const auto end : need_maps[b])
        tiles_.need_map.push_back(before + end);
      tiles_.need.insert(tiles_.need.end(), needs[b].begin(), needs[b].end());
    }
  }

  ExecutionSpace exec_;
  const DependencyGraph<Memory>& graph_;
  const LevelOrder<Memory>& order_;
  int threads_;
  TileCosts costs_;
  std::vector<int> block_map_, band_of_level_;
  TileGraph tiles_;
};

}  // namespace Detail
}  // namespace Strata

#endif
