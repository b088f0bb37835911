// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_TASKS_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_TASKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/packing/RowChunks.hpp>
#include <core/device/Atomics.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/triangular/level_sets/RowKernels.hpp>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

/// What one thread solves without a wait in between: its part of a level set,
/// several narrow level sets that follow each other, or a tile.
struct LevelTask {
  int first_permuted_row, last_permuted_row;
  /// Level sets of which this thread has done its part after this task; of
  /// tiles, those that it has done.
  int levels;
  std::int64_t first_wait, last_wait;
};

/// A thread and the level sets it has to have done its part of.
struct LevelWait {
  int thread, levels;
};

/// How a host's threads share level sets: numbers that planning and prediction
/// have in common. Work is counted in nanoseconds of one thread, about: two a
/// row, one an entry.
struct LevelShares {
  /// Work that a level set shared by several threads has to have at least (to
  /// wait for each other takes them a few hundred nanoseconds), and that of one
  /// of its parts.
  static constexpr double least_shared = 400;
  static double least_part(int threads) {
    // A part may have to look at the counter of every other thread.
    return std::max(60., 4. * threads);
  }

  static double work(double rows, double entries) { return 2 * rows + entries; }
  static int parts(double rows, double entries, int threads) {
    const double all = work(rows, entries);
    if (threads == 1 || all < least_shared) return 1;
    return static_cast<int>(std::max(
        1., std::min({double(threads), rows, all / least_part(threads)})));
  }
};

/// The tasks of all threads, in host memory.
template <class ExecutionSpace>
struct LevelTasks {
  using Memory = typename ExecutionSpace::memory_space;
  /// Threads that have tasks, and what lies between their counters: two lines
  /// of a cache, which fetches them in pairs.
  int threads = 1;
  static constexpr int apart = 32;
  int num_levels = 0;
  /// Thread -> its first task; one more at the end.
  Kokkos::View<int*, Memory> thread_map;
  Kokkos::View<LevelTask*, Memory> task;
  Kokkos::View<LevelWait*, Memory> wait;
  /// Permuted row -> first slot; one more at the end.
  Kokkos::View<std::int64_t*, Memory> first_slot;
  /// Level sets that each thread has done its part of, in all solves by as many
  /// threads as have tasks.
  Kokkos::View<unsigned*, Memory> done;
  /// All tasks in an order in which one thread can do them; empty where the
  /// permuted rows are in one.
  Kokkos::View<int*, Memory> sequence;

  /// Counters in memory of their own, for solves that overlap in time with
  /// those of the tasks that this is a copy of.
  void reset_counters() {
    done = make_zeroed<Kokkos::View<unsigned*, Memory>>(
        "Strata::LevelTasks", static_cast<std::int64_t>(done.extent(0)));
  }
  std::size_t counter_bytes() const {
    return done.extent(0) * sizeof(unsigned);
  }
  std::size_t bytes() const {
    return thread_map.extent(0) * sizeof(int) +
           task.extent(0) * sizeof(LevelTask) +
           wait.extent(0) * sizeof(LevelWait) +
           first_slot.extent(0) * sizeof(std::int64_t) +
           sequence.extent(0) * sizeof(int) + counter_bytes();
  }
};

/// The first slots of rows, chunks of which are rows: an index is a permuted
/// row.
template <class Memory>
struct CopyFirstSlots {
  Kokkos::View<const RowChunk*, Memory> chunk;
  Kokkos::View<std::int64_t*, Memory> first_slot;
  std::int64_t num_slots;
  void operator()(std::int64_t p) const {
    const auto rows = static_cast<std::int64_t>(chunk.extent(0));
    first_slot(p) = p < rows ? chunk(p).first_slot : num_slots;
  }
};

template <class ExecutionSpace>
Kokkos::View<std::int64_t*, typename ExecutionSpace::memory_space>
find_first_slots(
    const ExecutionSpace& exec,
    const RowChunks<typename ExecutionSpace::memory_space>& chunks) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::string label = "Strata::LevelTasks::first_slot";
  const std::int64_t n = chunks.num_rows;
  const auto first_slot =
      make_unfilled<Kokkos::View<std::int64_t*, Memory>>(label, n + 1);
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<ExecutionSpace>(exec, 0, n + 1),
      CopyFirstSlots<Memory>{chunks.chunk, first_slot, chunks.num_slots});
  exec.fence();
  return first_slot;
}

/// Who solves each vertex, and then what each thread has to wait for: an index
/// is a thread.
template <class ExecutionSpace>
struct FindLevelWaits {
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::View<const int*, Memory> thread_map;
  Kokkos::View<LevelTask*, Memory> task;
  Kokkos::View<LevelWait*, Memory> solved_by;  // by vertex
  DependencyGraph<Memory> graph;
  Kokkos::View<const int*, Memory> vertex;  // by permuted row
  /// Of each thread; and whether there was no memory for them.
  std::vector<LevelWait>* waits;
  char* no_memory;

  struct Mark {};
  void operator()(Mark, int thread) const {
    for (int t = thread_map(thread); t < thread_map(thread + 1); ++t)
      for (int p = task(t).first_permuted_row; p < task(t).last_permuted_row;
           ++p)
        solved_by(vertex(p)) = {thread, task(t).levels};
  }

  struct Find {};
  void operator()(Find, int thread) const {
    // No exception may leave a parallel region.
    try {
      find(thread);
    } catch (const std::bad_alloc&) {
      no_memory[thread] = 1;
    }
  }

 private:
  void find(int thread) const {
    const auto threads = static_cast<int>(thread_map.extent(0)) - 1;
    std::vector<LevelWait>& found = waits[thread];
    // What it needs of each thread, and what it has waited for before.
    std::vector<int> needed(threads, 0), known(threads, 0);
    for (int t = thread_map(thread); t < thread_map(thread + 1); ++t) {
      LevelTask& own = task(t);
      for (int p = own.first_permuted_row; p < own.last_permuted_row; ++p) {
        const int v = vertex(p);
        for (std::int64_t k = graph.row_map(v); k < graph.row_map(v + 1); ++k) {
          const LevelWait dependency = solved_by(graph.entries(k));
          needed[dependency.thread] =
              std::max(needed[dependency.thread], dependency.levels);
        }
      }
      own.first_wait = static_cast<std::int64_t>(found.size());
      for (int u = 0; u < threads; ++u)
        if (u != thread && needed[u] > known[u]) {
          found.push_back({u, needed[u]});
          known[u] = needed[u];
        }
      own.last_wait = static_cast<std::int64_t>(found.size());
    }
  }
};

/// The tasks of all threads, with what each waits for.
/// @param order  of which `vertex` is read
/// @param made   with first_slot and num_levels
/// Cost: O(rows + entries), by each thread for its tasks, and for each task
/// O(threads).
template <class ExecutionSpace>
void join_level_tasks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    const std::vector<std::vector<LevelTask>>& tasks,
    LevelTasks<ExecutionSpace>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::string label = "Strata::LevelTasks";
  const auto used = static_cast<int>(tasks.size());
  made.threads = used;
  std::vector<int> thread_map(1, 0);
  std::vector<LevelTask> all;
  for (const auto& of_thread : tasks) {
    all.insert(all.end(), of_thread.begin(), of_thread.end());
    thread_map.push_back(static_cast<int>(all.size()));
  }
  made.thread_map = to_device<int, Memory>(label, thread_map);
  made.task = to_device<LevelTask, Memory>(label, all);
  if (used == 1) return;

  made.done = make_zeroed<Kokkos::View<unsigned*, Memory>>(
      label, std::int64_t{used} * LevelTasks<ExecutionSpace>::apart);
  std::vector<std::vector<LevelWait>> waits(used);
  std::vector<char> no_memory(used, 0);
  using Find = FindLevelWaits<ExecutionSpace>;
  const Find find{made.thread_map,
                  made.task,
                  make_unfilled<Kokkos::View<LevelWait*, Memory>>(
                      label, std::int64_t{graph.num_vertices}),
                  graph,
                  order.vertex,
                  waits.data(),
                  no_memory.data()};
  const auto for_each_thread = [&](const auto& stage) {
    using Stage = std::decay_t<decltype(stage)>;
    Kokkos::parallel_for(
        label,
        Kokkos::RangePolicy<ExecutionSpace, Stage, Kokkos::IndexType<int>>(
            exec, 0, used),
        find);
    exec.fence();
  };
  for_each_thread(typename Find::Mark{});
  for_each_thread(typename Find::Find{});
  if (std::count(no_memory.begin(), no_memory.end(), 0) != used)
    throw std::bad_alloc();
  std::vector<LevelWait> joined;
  for (int u = 0; u < used; ++u) {
    const auto before = static_cast<std::int64_t>(joined.size());
    for (int t = thread_map[u]; t < thread_map[u + 1]; ++t) {
      made.task(t).first_wait += before;
      made.task(t).last_wait += before;
    }
    joined.insert(joined.end(), waits[u].begin(), waits[u].end());
  }
  made.wait = to_device<LevelWait, Memory>(label, joined);
}

/// @param chunks  of one row each
/// Cost: O(rows + entries), by each thread for its tasks: level sets that are
/// not shared fall to one; and for each part of a level set O(threads).
template <class ExecutionSpace>
LevelTasks<ExecutionSpace> make_level_tasks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    const RowChunks<typename ExecutionSpace::memory_space>& chunks,
    int threads) {
  const LevelSizes& sizes = order.sizes;
  LevelTasks<ExecutionSpace> made;
  made.num_levels = sizes.num_levels;
  const auto first_slot = made.first_slot = find_first_slots(exec, chunks);
  std::vector<std::vector<LevelTask>> tasks(threads);
  const auto work_before = [&](int permuted_row) {
    return LevelShares::work(permuted_row, double(first_slot(permuted_row)));
  };
  int used = 1;
  bool open = false;  // the first thread's last task may go on
  for (int level = 0; level < sizes.num_levels; ++level) {
    const auto begin = static_cast<int>(sizes.level_map[level]);
    const auto end = static_cast<int>(sizes.level_map[level + 1]);
    const int parts = LevelShares::parts(
        end - begin, double(first_slot(end) - first_slot(begin)), threads);
    used = std::max(used, parts);
    if (parts == 1 && open) {
      tasks[0].back().last_permuted_row = end;
      tasks[0].back().levels = level + 1;
      continue;
    }
    open = parts == 1;
    int from = begin;
    for (int part = 0; part < parts; ++part) {
      // Up to the permuted row before which there is this share of the work.
      const double share =
          work_before(begin) +
          (work_before(end) - work_before(begin)) * ((part + 1.) / parts);
      int to = from, beyond = end;
      while (to < beyond) {
        const int middle = to + (beyond - to) / 2;
        if (work_before(middle + 1) <= share)
          to = middle + 1;
        else
          beyond = middle;
      }
      if (part + 1 == parts) to = end;
      if (to > from) tasks[part].push_back({from, to, level + 1, 0, 0});
      from = to;
    }
  }
  tasks.resize(used);
  join_level_tasks(exec, graph, order, tasks, made);
  return made;
}

/// Solves by a team of a host's threads. Dependencies are numbered by permuted
/// row.
///
/// Why it can't deadlock: there is an order of all tasks in which each comes
/// after those that it waits for, and in which every thread takes its own. (Of
/// parts of level sets, the order by level set; of tiles, the order in which
/// TileScheduler has begun them: it begins none before those that it needs have
/// ended.) So of all tasks that are not done, the first one in that order has
/// nothing to wait for and is its thread's next; and that thread runs, as
/// Kokkos runs all threads of a team at the same time (or team_barrier would
/// not return). Threads that wait for long yield their cores to it. A team of
/// fewer threads than have tasks waits for nothing: its first thread does all
/// tasks in that order.
template <class Scalar, class ExecutionSpace>
struct LevelTaskRun {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

  RowSystem<Scalar, ExecutionSpace> system;
  LevelTasks<ExecutionSpace> tasks;
  /// Permuted row -> x, of a single right-hand side: dependencies of a level
  /// set lie side by side there.
  Kokkos::View<Scalar*, typename ExecutionSpace::memory_space> x;
  int num_rows;
  std::int64_t columns;  // right-hand sides

  void operator()(const Member& team) const {
    const int thread = team.team_rank();
    if (thread >= tasks.threads) return;
    if (tasks.threads == 1 || team.team_size() < tasks.threads) {
      if (thread == 0) solve_all();
      return;
    }
    // All threads have the same number when a solve begins, and when it ends.
    unsigned* const own = tasks.done.data() + thread * tasks.apart;
    const unsigned before = *own;
    const int last = tasks.thread_map(thread + 1);
    for (int t = tasks.thread_map(thread); t < last; ++t) {
      const LevelTask& task = tasks.task(t);
      for (std::int64_t w = task.first_wait; w < task.last_wait; ++w)
        await(tasks.wait(w), before);
      solve(task.first_permuted_row, task.last_permuted_row);
      store_release(own, before + static_cast<unsigned>(task.levels));
    }
    store_release(own, before + static_cast<unsigned>(tasks.num_levels));
  }

  /// By one thread.
  void solve_all() const {
    const auto count = static_cast<int>(tasks.sequence.extent(0));
    if (count == 0) return solve(0, num_rows);
    for (int t = 0; t < count; ++t) {
      const LevelTask& task = tasks.task(tasks.sequence(t));
      solve(task.first_permuted_row, task.last_permuted_row);
    }
  }

 private:
  void await(const LevelWait& wait, unsigned before) const {
    const unsigned* const done = tasks.done.data() + wait.thread * tasks.apart;
    for (int turn = 0;
         load_acquire(done) - before < static_cast<unsigned>(wait.levels);
         ++turn)
      // The thread waited for is at work, or the system has taken its core.
      if (turn > 2000) pause_while_waiting(turn - 2000 + 64);
  }
  void solve(int first, int last) const {
    if (columns == 1) return solve_one(first, last);
    std::int64_t c = 0;
    for (; c + 4 <= columns; c += 4) solve_some<4>(first, last, c);
    if (c + 2 <= columns) {
      solve_some<2>(first, last, c);
      c += 2;
    }
    if (c < columns) solve_some<1>(first, last, c);
  }
  void solve_one(int first, int last) const {
    std::int64_t slot = tasks.first_slot(first);
    for (int permuted_row = first; permuted_row < last; ++permuted_row) {
      const std::int64_t end = tasks.first_slot(permuted_row + 1);
      Scalar sum(0);
      for (; slot < end; ++slot)
        sum += system.value(slot) * x(system.dependency(slot));
      const std::int64_t row = system.row(permuted_row);
      x(permuted_row) = system.finish(system.b(row, 0) - sum, permuted_row);
      system.x(row, 0) = x(permuted_row);
    }
  }
  /// R right-hand sides while a row's entries are at hand.
  template <int R>
  void solve_some(int first, int last, std::int64_t column) const {
    std::int64_t slot = tasks.first_slot(first);
    for (int permuted_row = first; permuted_row < last; ++permuted_row) {
      const std::int64_t end = tasks.first_slot(permuted_row + 1);
      Scalar sum[R];
      for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
      for (; slot < end; ++slot) {
        const Scalar value = system.value(slot);
        const std::int64_t from = system.row(system.dependency(slot));
        for (int r = 0; r < R; ++r)
          sum[r] += value * system.x(from, column + r);
      }
      const std::int64_t row = system.row(permuted_row);
      for (int r = 0; r < R; ++r)
        system.x(row, column + r) =
            system.finish(system.b(row, column + r) - sum[r], permuted_row);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
