// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_TASKS_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_TASKS_HPP

#include <algorithm>
#include <core/device/Warp.hpp>
#include <cstdint>
#include <kernels/factorization/fronts/FrontArrays.hpp>
#include <kernels/factorization/fronts/FrontTree.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// All that an elimination by fronts is told of a pattern, on the host.
class FrontTasks {
 public:
  /// Entries of A are numbered in 32 bits.
  static constexpr std::int64_t most_places = (std::int64_t{1} << 32) - 1;

  std::vector<FrontTask> tasks;  // in the order in which they are begun
  std::vector<FrontRow> rows;
  std::vector<FrontTerm> terms;
  std::vector<unsigned> places;  // of entries in A
  std::int64_t num_values = 0;   // of the memory of fronts
  unsigned num_flags = 0;        // one a task
  int longest_path = 0;          // in tasks
  unsigned most_terms = 0;       // of a task

  FrontTasks() = default;
  /// Cost: linear in the entries of the pattern and in the tiles, but for a
  /// search for each column of a contribution.
  FrontTasks(const CompletePattern& pattern, const FrontTree& tree) {
    place(tree);
    add_terms(pattern, tree);
    for (const FrontTask& task : tasks)
      most_terms = std::max(most_terms, task.end_term - task.first_term);
    fill_rows(pattern, tree);
    order(tree);
  }

  std::size_t bytes() const {
    return tasks.size() * sizeof(FrontTask) + rows.size() * sizeof(FrontRow) +
           terms.size() * sizeof(FrontTerm) +
           (places.size() + num_flags) * sizeof(unsigned);
  }
  /// Whether all numbers fit. Bytes of fronts are for the caller to limit.
  static bool fits(const FrontTree& tree) {
    std::int64_t flags = 0;
    for (int f = 0; f < tree.size(); ++f) {
      const std::int64_t tiles = tree[f].tiles();
      if (tiles > std::numeric_limits<unsigned short>::max()) return false;
      flags += tiles * tiles;
    }
    return flags < std::numeric_limits<int>::max();
  }
  /// Of tasks and fronts.
  static double least_bytes(const FrontTree& tree, std::size_t scalar_bytes) {
    double sum = 0;
    for (int f = 0; f < tree.size(); ++f) {
      const double kept = tree[f].is_small() ? tree[f].others : tree[f].order(),
                   tiles = tree[f].tiles();
      sum += kept * kept * static_cast<double>(scalar_bytes) +
             tiles * tiles * (sizeof(FrontTask) + sizeof(unsigned));
    }
    return sum;
  }

 private:
  using Front = FrontTree::Front;
  static constexpr int tile = FrontTree::tile;

  /// Tasks by the numbers of their flags, and where fronts are.
  void place(const FrontTree& tree) {
    first_flag_.resize(static_cast<std::size_t>(tree.size()));
    std::int64_t num_rows = 0;
    for (int f = 0; f < tree.size(); ++f) {
      const Front& front = tree[f];
      first_flag_[f] = num_flags;
      FrontTask task{};
      task.first_flag = num_flags;
      task.first_row = front.first_pivot;
      task.pivots = front.pivots;
      task.is_small = front.is_small();
      // Of a small one, others need the contribution alone.
      const std::int64_t kept = task.is_small ? front.others : front.order();
      task.stride = static_cast<int>(kept);
      task.front = num_values - (task.is_small ? front.pivots * (kept + 1) : 0);
      num_values += kept * kept;
      const int tiles = front.tiles();
      task.tiles = static_cast<unsigned short>(tiles);
      task.pivot_tiles = static_cast<unsigned short>(front.pivot_tiles());
      for (int i = 0; i < tiles; ++i)
        for (int j = 0; j < tiles; ++j) {
          task.row_tile = static_cast<unsigned short>(i);
          task.column_tile = static_cast<unsigned short>(j);
          task.row_begin = front.tile_begin(i);
          task.column_begin = front.tile_begin(j);
          task.num_rows = static_cast<unsigned char>(front.tile_rows(i));
          task.num_columns = static_cast<unsigned char>(front.tile_rows(j));
          task.rows = task.has_pivot() ? num_rows : -1;
          if (task.has_pivot()) num_rows += task.num_rows;
          tasks.push_back(task);
        }
      num_flags += static_cast<unsigned>(tiles * tiles);
    }
    rows.resize(static_cast<std::size_t>(num_rows), FrontRow{0, 0, 0, 0});
  }
  unsigned task_of(int front, int i, int j) const {
    return tasks[first_flag_[front]].flag(i, j);
  }

  /// Neighbouring columns of a child's contribution that come to lie in one
  /// tile of its parent.
  struct Run {
    int tile, first;  // counted from the child's first column without a pivot
    unsigned mask;
    int last;
  };
  void find_runs(const CompletePattern& pattern, const Front& child,
                 const Front& parent) {
    runs_.clear();
    const int* const others = pattern.columns(parent.rest);
    const int* at = others;
    for (int k = 0; k < child.others; ++k) {
      const int column = pattern.column(child.rest + k);
      int local = column - parent.first_pivot;
      if (local >= parent.pivots) {
        at = std::lower_bound(at, others + parent.others, column);
        local = parent.pivots + static_cast<int>(at - others);
      }
      const int t = parent.tile_of(local);
      if (runs_.empty() || runs_.back().tile != t)
        runs_.push_back({t, k, 0, k});
      runs_.back().mask |= 1u << (local - parent.tile_begin(t));
      runs_.back().last = k;
    }
  }
  /// For each child and tile of its parent: work(parent's tile, child, rows,
  /// columns).
  template <class Work>
  void for_each_term(const CompletePattern& pattern, const FrontTree& tree,
                     const Work& work) {
    for (int f = 0; f < tree.size(); ++f) {
      const Front& child = tree[f];
      if (child.parent < 0) continue;
      const Front& parent = tree[child.parent];
      find_runs(pattern, child, parent);
      for (const Run& i : runs_)
        for (const Run& j : runs_)
          work(task_of(child.parent, i.tile, j.tile), f, i, j);
    }
  }
  void add_terms(const CompletePattern& pattern, const FrontTree& tree) {
    std::size_t count = 0;
    for_each_term(pattern, tree, [&](unsigned to, int, const Run&, const Run&) {
      ++tasks[to].end_term;
      ++count;
    });
    unsigned sum = 0;
    for (FrontTask& task : tasks) {
      task.first_term = sum;
      sum += task.end_term;
      task.end_term = task.first_term;
    }
    terms.resize(count);
    for_each_term(
        pattern, tree, [&](unsigned to, int child, const Run& i, const Run& j) {
          terms[tasks[to].end_term++] = term_of(tree[child], child, i, j);
        });
  }
  FrontTerm term_of(const Front& child, int number, const Run& i,
                    const Run& j) const {
    const FrontTask& task = tasks[first_flag_[number]];
    const auto tile_at = [&](int k) { return child.tile_of(child.pivots + k); };
    FrontTerm term;
    term.first = task.front +
                 std::int64_t{child.pivots + i.first} * task.stride +
                 (child.pivots + j.first);
    term.rows = i.mask;
    term.columns = j.mask;
    term.stride = task.stride;
    term.flag = task_of(number, tile_at(i.first), tile_at(j.first));
    term.next_flag = task.tiles;
    const unsigned right = tile_at(j.first) != tile_at(j.last) ? 1 : 0,
                   down = tile_at(i.first) != tile_at(i.last) ? 2 : 0;
    term.more = right | down;
    return term;
  }

  /// Of a local index.
  struct Local {
    int tile, in_tile;
  };
  /// work(row, bit, place, i, has_pivot) for each entry of the pattern: its
  /// row's FrontRow and column in the tile, its place in A, the number of its
  /// row, and whether that has a pivot of the front.
  template <class Work>
  void for_each_entry(const CompletePattern& pattern, const FrontTree& tree,
                      const Work& work) {
    std::vector<Local> at;
    std::vector<FrontRow*> first;  // of tiles with a pivot
    for (int f = 0; f < tree.size(); ++f) {
      const Front& front = tree[f];
      const int tiles = front.tiles();
      at.clear();
      for (int local = 0; local < front.order(); ++local) {
        const int t = front.tile_of(local);
        at.push_back({t, local - front.tile_begin(t)});
      }
      first.assign(static_cast<std::size_t>(tiles) * tiles, nullptr);
      for (int i = 0; i < tiles; ++i)
        for (int j = 0; j < tiles; ++j) {
          const FrontTask& task = tasks[task_of(f, i, j)];
          if (task.has_pivot()) first[i * tiles + j] = rows.data() + task.rows;
        }
      const auto row_of = [&](const Local& row, const Local& column) -> auto& {
        return first[row.tile * tiles + column.tile][row.in_tile];
      };
      const int* const others = pattern.columns(front.rest);
      for (int p = 0; p < front.pivots; ++p) {
        const int row = front.first_pivot + p;
        const Local own = at[p];
        work(row_of(own, own), own.in_tile, pattern.diagonal(row), row, true);
        int other = 0;
        const std::int64_t end = pattern.begin(row + 1);
        for (std::int64_t k = pattern.begin(row); k < end; ++k) {
          const int column = pattern.column(k);
          int local = column - front.first_pivot;
          if (local >= front.pivots) {
            while (others[other] < column) ++other;
            local = front.pivots + other;
          }
          if (pattern.place(k) != pattern.nowhere)
            work(row_of(own, at[local]), at[local].in_tile, pattern.place(k),
                 row, true);
          if (pattern.mirror(k) != pattern.nowhere)
            work(row_of(at[local], own), own.in_tile, pattern.mirror(k), column,
                 local < front.pivots);
        }
      }
    }
  }
  void fill_rows(const CompletePattern& pattern, const FrontTree& tree) {
    for_each_entry(
        pattern, tree,
        [&](FrontRow& to, int bit, unsigned, int row, bool has_pivot) {
          if (to.mask == 0) {
            to.to_l = pattern.to_l(row);
            to.to_u = has_pivot
                          ? pattern.to_u(row)
                          : static_cast<unsigned>(pattern.row_numbers()[row]);
          }
          to.mask |= 1u << bit;
        });
    unsigned sum = 0;
    for (FrontRow& row : rows) {
      row.first = sum;
      sum += static_cast<unsigned>(count_bits(row.mask));
    }
    places.resize(sum);
    // A row's entries come in the order of columns.
    for_each_entry(pattern, tree,
                   [&](FrontRow& to, int, unsigned place, int, bool) {
                     places[to.first++] = place;
                   });
    for (FrontRow& row : rows)
      row.first -= static_cast<unsigned>(count_bits(row.mask));
  }

  /// By depth, which is one more than that of the deepest task that a task
  /// waits for, then by front. So each task comes after those it waits for.
  void order(const FrontTree& tree) {
    std::vector<int> depth(tasks.size(), 0);
    const auto settle = [&](unsigned at) {
      const FrontTask& task = tasks[at];
      int most = -1;
      const auto wait_for = [&](unsigned flag) {
        most = std::max(most, depth[flag]);
      };
      for (unsigned k = task.first_term; k < task.end_term; ++k) {
        const FrontTerm& term = terms[k];
        for (unsigned down = 0; down <= (term.more >> 1u); ++down)
          for (unsigned right = 0; right <= (term.more & 1u); ++right)
            wait_for(term.flag + down * term.next_flag + right);
      }
      const int m = task.smaller_tile();
      const int last = std::min<int>(m, task.pivot_tiles) - 1;
      // These have waited for the tiles before them.
      if (last >= 0) {
        wait_for(task.flag(task.row_tile, last));
        wait_for(task.flag(last, task.column_tile));
      }
      if (task.has_pivot() && !task.is_diagonal()) wait_for(task.flag(m, m));
      depth[at] = most + 1;
      longest_path = std::max(longest_path, most + 2);
    };
    for (int f = 0; f < tree.size(); ++f) {
      const FrontTask first = tasks[first_flag_[f]];
      for (int m = 0; m < first.tiles; ++m) {
        settle(first.flag(m, m));
        for (int k = m + 1; k < first.tiles; ++k) {
          settle(first.flag(m, k));
          settle(first.flag(k, m));
        }
      }
    }
    std::vector<std::size_t> begin(static_cast<std::size_t>(longest_path) + 1);
    for (const int d : depth) ++begin[static_cast<std::size_t>(d) + 1];
    for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
    std::vector<FrontTask> ordered(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t)
      ordered[begin[static_cast<std::size_t>(depth[t])]++] = tasks[t];
    tasks = std::move(ordered);
  }

  std::vector<unsigned> first_flag_;  // by front: of its first task, until they
                                      // are ordered
  std::vector<Run> runs_;
};

}  // namespace Detail
}  // namespace Strata

#endif
