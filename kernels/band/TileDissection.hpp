// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_TILE_DISSECTION_HPP
#define STRATA_KERNELS_BAND_TILE_DISSECTION_HPP

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace Strata {
namespace Detail {

/// Nested dissection of a band of tiles, and the block LU of its rows in that
/// order as a list of tasks, made on the host.
///
/// A range of at least three times `width` block rows is cut by its `width`
/// middle ones, which come after both halves; shorter ranges keep their order.
/// The pattern is taken to be symmetric. A tile is a task; tasks come in the
/// order of their depth, so that a task comes after all that it needs. Tasks of
/// equal depth do not need each other.
/// (George, Nested dissection of a regular finite element mesh, 1973.)
///
/// Cost: up to 4.5 `width` + 1 tiles and 5.2 `width`^2 products a block row.
class TileDissection {
 public:
  enum Kind : int { diagonal, lower, upper, in_band = 4 };
  // What one read brings.
  struct alignas(16) Task {
    int kind;  ///< Kind, and in_band where the matrix has the tile
    /// diagonal: its place in `forward`; lower: the task of its factor
    int other;
    int first_term, terms;
  };
  struct alignas(16) Row {
    int block, first_link, links;
    int diagonal;  ///< its task
  };
  struct alignas(8) Pair {
    int first, second;
  };

  /// Whether the numbers of tasks and of products are sure to be ints. A block
  /// row has fewer than 2 `width` (4 `width` + 1) of either.
  static bool fits(std::int64_t blocks, std::int64_t width) {
    width = std::max(width, std::int64_t{1});
    return blocks < (std::int64_t{1} << 31) / (2 * width) / (4 * width + 1);
  }

  /// Without lists yet.
  /// @param below,above tiles of a block row on either side of the diagonal one
  TileDissection(int blocks, int below, int above)
      : blocks_(blocks),
        below_(below),
        above_(above),
        width_(std::max({below, above, 1})),
        position_(blocks) {
    order_.reserve(blocks);
    dissect(0, blocks);
    for (int p = 0; p < blocks; ++p) position_[order_[p]] = p;
    find_pattern();
  }

  int num_tiles() const { return blocks_ + 2 * begin_[blocks_]; }
  /// Makes the lists, which have some hundredths of the tiles' bytes.
  void make() {
    number_tasks();
    list_tasks();
    list_terms();
    list_rows();
  }

  std::vector<Task> tasks;
  std::vector<Pair> terms;  ///< tasks whose tiles are multiplied
  /// Tasks of the band's tiles: (below + 1 + above) for each block row.
  std::vector<int> band;
  /// Block rows in the order of the forward substitution, for both.
  std::vector<Row> forward, backward;
  std::vector<Pair> links;  ///< task and block row

 private:
  void dissect(int begin, int end) {
    if (end - begin < 3 * width_) {
      for (int i = begin; i < end; ++i) order_.push_back(i);
      return;
    }
    const int middle = begin + (end - begin - width_) / 2;
    dissect(begin, middle);
    dissect(middle + width_, end);
    for (int i = middle; i < middle + width_; ++i) order_.push_back(i);
  }

  /// The later positions that the elimination of each position joins: those of
  /// its own row, and those that its children in the elimination tree join.
  void find_pattern() {
    std::vector<int> first_child(blocks_, -1), next_child(blocks_, -1), joined;
    begin_.assign(1, 0);
    for (int p = 0; p < blocks_; ++p) {
      joined.clear();
      const int i = order_[p];
      for (int j = std::max(0, i - width_);
           j <= std::min(blocks_ - 1, i + width_); ++j)
        if (position_[j] > p) joined.push_back(position_[j]);
      for (int c = first_child[p]; c >= 0; c = next_child[c])
        joined.insert(joined.end(), later_.begin() + begin_[c] + 1,
                      later_.begin() + begin_[c + 1]);
      std::sort(joined.begin(), joined.end());
      joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
      later_.insert(later_.end(), joined.begin(), joined.end());
      begin_.push_back(static_cast<int>(later_.size()));
      if (joined.empty()) continue;
      next_child[p] = first_child[joined.front()];
      first_child[joined.front()] = p;
    }
  }

  // Tiles before they have tasks: the diagonal one of a position, then the
  // lower and the upper one of each later position, of which entry e of later_
  // is one.
  int diagonal_place(int p) const { return p + 2 * begin_[p]; }
  int lower_place(int p, int e) const { return p + 1 + 2 * e; }

  /// use(place, a, b) for the products that position k adds to later tiles.
  template <class Use>
  void each_term(int k, const Use& use) const {
    for (int s = begin_[k]; s < begin_[k + 1]; ++s) {
      const int p = later_[s];
      const int l = lower_place(k, s), u = l + 1;
      use(diagonal_place(p), l, u);
      int at = begin_[p];
      for (int t = s + 1; t < begin_[k + 1]; ++t) {
        while (later_[at] != later_[t]) ++at;
        const int target = lower_place(p, at), of_t = lower_place(k, t);
        use(target, of_t, u);          // row t, column p
        use(target + 1, l, of_t + 1);  // row p, column t
      }
    }
  }

  /// The task of each place, in the order of their depths, and its products.
  void number_tasks() {
    std::vector<int> depth(num_tiles(), 0);
    num_terms_.assign(num_tiles(), 0);
    int deepest = 0;
    for (int k = 0; k < blocks_; ++k) {
      const int first = diagonal_place(k);
      for (int place = first; place < diagonal_place(k + 1); ++place) {
        // A lower tile is multiplied by the inverse on the diagonal.
        if ((place - first) % 2 == 1)
          depth[place] = std::max(depth[place], depth[first]);
        deepest = std::max(deepest, ++depth[place]);
      }
      each_term(k, [&](int place, int a, int b) {
        ++num_terms_[place];
        depth[place] = std::max({depth[place], depth[a], depth[b]});
      });
    }
    std::vector<int> next(deepest + 2, 0);
    for (const int d : depth) ++next[d + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    task_of_.resize(num_tiles());
    for (int place = 0; place < num_tiles(); ++place)
      task_of_[place] = next[depth[place]]++;
  }

  void list_tasks() {
    tasks.resize(num_tiles());
    band.assign(static_cast<std::size_t>(blocks_) * (below_ + 1 + above_), -1);
    for (int p = 0; p < blocks_; ++p) {
      const int i = order_[p], task = task_of_[diagonal_place(p)];
      list_task(diagonal_place(p), diagonal, 0, i, i);
      for (int e = begin_[p]; e < begin_[p + 1]; ++e) {
        const int j = order_[later_[e]];
        list_task(lower_place(p, e), lower, task, j, i);
        list_task(lower_place(p, e) + 1, upper, 0, i, j);
      }
    }
    int first = 0;
    for (Task& task : tasks) {
      task.first_term = first;
      first += task.terms;
    }
  }
  /// Of the tile in block row i and block column j.
  void list_task(int place, int kind, int other, int i, int j) {
    const int task = task_of_[place];
    const bool has = j - i >= -below_ && j - i <= above_;
    if (has)
      band[static_cast<std::size_t>(i) * (below_ + 1 + above_) + j - i +
           below_] = task;
    tasks[task] = {has ? kind | in_band : kind, other, 0, num_terms_[place]};
  }

  void list_terms() {
    terms.resize(tasks.back().first_term + tasks.back().terms);
    std::vector<int> next(tasks.size());
    for (std::size_t t = 0; t < tasks.size(); ++t)
      next[t] = tasks[t].first_term;
    for (int k = 0; k < blocks_; ++k)
      each_term(k, [&](int place, int a, int b) {
        terms[next[task_of_[place]]++] = {task_of_[a], task_of_[b]};
      });
    // Those that are there last come last.
    for (const Task& task : tasks) {
      const auto first = terms.begin() + task.first_term;
      std::sort(first, first + task.terms, [](const Pair& a, const Pair& b) {
        return std::max(a.first, a.second) < std::max(b.first, b.second);
      });
    }
  }

  /// What each block row of a substitution needs, first what is there first.
  void list_rows() {
    std::vector<int> depth(blocks_, 0), step(blocks_), first(blocks_ + 1, 0);
    for (int p = 0; p < blocks_; ++p)
      for (int e = begin_[p]; e < begin_[p + 1]; ++e) {
        depth[later_[e]] = std::max(depth[later_[e]], depth[p] + 1);
        ++first[later_[e] + 1];
      }
    std::iota(step.begin(), step.end(), 0);
    std::stable_sort(step.begin(), step.end(),
                     [&](int p, int q) { return depth[p] < depth[q]; });
    std::partial_sum(first.begin(), first.end(), first.begin());
    const int half = begin_[blocks_];
    links.resize(2 * static_cast<std::size_t>(half));
    auto next = first;
    for (const int p : step)
      for (int e = begin_[p]; e < begin_[p + 1]; ++e)
        links[next[later_[e]]++] = {task_of_[lower_place(p, e)], order_[p]};
    // The other way round: entry e of later_ is link half + e.
    std::vector<int> step_of(blocks_);
    for (int s = 0; s < blocks_; ++s) step_of[step[s]] = s;
    std::vector<int> entry;
    for (const int p : step) {
      entry.resize(begin_[p + 1] - begin_[p]);
      std::iota(entry.begin(), entry.end(), begin_[p]);
      std::sort(entry.begin(), entry.end(), [&](int e, int f) {
        return step_of[later_[e]] > step_of[later_[f]];
      });
      for (std::size_t t = 0; t < entry.size(); ++t)
        links[half + begin_[p] + t] = {task_of_[lower_place(p, entry[t]) + 1],
                                       order_[later_[entry[t]]]};
      const int inverse = task_of_[diagonal_place(p)];
      tasks[inverse].other = static_cast<int>(forward.size());
      forward.push_back(
          {order_[p], first[p], first[p + 1] - first[p], inverse});
      backward.push_back({order_[p], half + begin_[p],
                          static_cast<int>(entry.size()), inverse});
    }
  }

  int blocks_, below_, above_, width_;
  std::vector<int> order_, position_;  // block row of each position, and back
  std::vector<int> begin_, later_;     // of each position
  std::vector<int> task_of_, num_terms_;  // of each place
};

}  // namespace Detail
}  // namespace Strata

#endif
