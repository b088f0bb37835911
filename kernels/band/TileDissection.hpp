// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_TILE_DISSECTION_HPP
#define STRATA_KERNELS_BAND_TILE_DISSECTION_HPP

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// Nested dissection of a band of tiles, and the block LU of its rows in that
/// order as a list of tasks, made on the host.
///
/// A range of at least three times `width` block rows is cut by its `width`
/// middle ones, which come after both halves; shorter ranges keep their order.
/// The pattern is taken to be symmetric. A tile is a task; tasks come in the
/// order of their depth, so that a task comes after all that it needs and as
/// many as there are may be under way at once. Pairs are (tile, tile) or (tile,
/// block row).
/// (George, Nested dissection of a regular finite element mesh, 1973.)
///
/// Cost: n / B block rows of up to 4 `width` + 1 tiles, and as many terms as
/// tiles times twice `width`.
class TileDissection {
 public:
  enum Kind : int { diagonal, lower, upper, kinds, in_band = 4 };

  TileDissection(int blocks, int below, int above)
      : blocks_(blocks),
        below_(below),
        above_(above),
        width_(std::max({below, above, 1})) {
    dissect(0, blocks);
    position_.resize(blocks);
    for (int p = 0; p < blocks; ++p) position_[order_[p]] = p;
    find_pattern();
    std::vector<Pair> of_tiles;
    std::vector<int> begin;
    list_terms(begin, of_tiles);
    number_tasks(begin, of_tiles);
    list_links();
  }

  // One read each.
  struct alignas(16) Task {
    int kind;   ///< Kind, and in_band where the matrix has the tile
    int other;  ///< diagonal: its block row; lower: factor's task
    int first_term, terms;
  };
  struct alignas(16) Row {
    int block, first_link, links;
    int diagonal;  ///< task
  };
  struct alignas(8) Pair {
    int first, second;
  };

  int num_tiles() const { return static_cast<int>(tasks.size()); }

  std::vector<Task> tasks;
  std::vector<Pair> terms;  ///< tasks whose tiles are multiplied
  /// Tasks of the band's tiles: (below + 1 + above) for each block row.
  std::vector<int> band;
  /// Block rows in the order of the forward substitution.
  std::vector<Row> forward, backward;
  std::vector<Pair> links;  ///< task and block row

 private:
  void dissect(int begin, int end) {
    static const double leaf_of = std::getenv("STRATA_LEAF")
                                      ? std::atof(std::getenv("STRATA_LEAF"))
                                      : 3.0;
    if (end - begin < leaf_of * width_ || end - begin < width_ + 2) {
      for (int i = begin; i < end; ++i) order_.push_back(i);
      return;
    }
    const int middle = begin + (end - begin - width_) / 2;
    dissect(begin, middle);
    dissect(middle + width_, end);
    for (int i = middle; i < middle + width_; ++i) order_.push_back(i);
  }

  /// The later positions that elimination of each position joins.
  void find_pattern() {
    later_.resize(blocks_);
    std::vector<std::vector<int>> children(blocks_);
    std::vector<int> joined;
    for (int p = 0; p < blocks_; ++p) {
      joined.clear();
      const int i = order_[p];
      for (int j = std::max(0, i - width_);
           j <= std::min(blocks_ - 1, i + width_); ++j)
        if (position_[j] > p) joined.push_back(position_[j]);
      for (const int child : children[p])
        joined.insert(joined.end(), later_[child].begin() + 1,
                      later_[child].end());
      std::sort(joined.begin(), joined.end());
      joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
      later_[p] = joined;
      if (!joined.empty()) children[joined.front()].push_back(p);
    }
    first_tile_.assign(blocks_ + 1, 0);
    for (int p = 0; p < blocks_; ++p)
      first_tile_[p + 1] =
          first_tile_[p] + 1 + 2 * static_cast<int>(later_[p].size());
  }

  // Tiles before they have tasks: the diagonal one of a position, then the
  // lower and the upper one of each later position.
  int lower_tile(int p, std::size_t t) const {
    return first_tile_[p] + 1 + 2 * static_cast<int>(t);
  }

  /// The products of each tile, one for each earlier position that joins its
  /// row and column.
  void list_terms(std::vector<int>& begin, std::vector<Pair>& of_tiles) const {
    begin.assign(first_tile_[blocks_] + 1, 0);
    each_term([&](int tile, int, int) { ++begin[tile + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    of_tiles.resize(begin.back());
    auto next = begin;
    each_term([&](int tile, int a, int b) { of_tiles[next[tile]++] = {a, b}; });
  }
  template <class Use>
  void each_term(const Use& use) const {
    for (int k = 0; k < blocks_; ++k) {
      const auto& joined = later_[k];
      for (std::size_t s = 0; s < joined.size(); ++s) {
        const int p = joined[s];
        const int l = lower_tile(k, s), u = l + 1;
        use(first_tile_[p], l, u);
        std::size_t at = 0;
        for (std::size_t t = s + 1; t < joined.size(); ++t) {
          while (later_[p][at] != joined[t]) ++at;
          const int target = lower_tile(p, at), of_t = lower_tile(k, t);
          use(target, of_t, u);          // row t, column p
          use(target + 1, l, of_t + 1);  // row p, column t
        }
      }
    }
  }

  /// Tasks in the order of their depth.
  void number_tasks(const std::vector<int>& begin,
                    const std::vector<Pair>& of_tile) {
    const int tiles = first_tile_[blocks_];
    std::vector<int> depth(tiles, 0);
    for (int p = 0; p < blocks_; ++p)
      for (int tile = first_tile_[p]; tile < first_tile_[p + 1]; ++tile) {
        int most = 0;
        for (int t = begin[tile]; t < begin[tile + 1]; ++t)
          most = std::max(
              {most, depth[of_tile[t].first], depth[of_tile[t].second]});
        if ((tile - first_tile_[p]) % 2 == 1)
          most = std::max(most, depth[first_tile_[p]]);
        depth[tile] = most + 1;
      }
    std::vector<int> sorted(tiles);
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int a, int b) { return depth[a] < depth[b]; });
    task_of_.resize(tiles);
    for (int t = 0; t < tiles; ++t) task_of_[sorted[t]] = t;

    tasks.assign(tiles, {0, 0, 0, 0});
    terms.reserve(of_tile.size());
    band.assign(static_cast<std::size_t>(blocks_) * (below_ + 1 + above_), -1);
    for (int p = 0; p < blocks_; ++p) {
      const int i = order_[p], task = task_of_[first_tile_[p]];
      tasks[task] = {diagonal | in_band, i, 0, 0};
      band[band_place(i, i)] = task;
      for (std::size_t t = 0; t < later_[p].size(); ++t) {
        const int j = order_[later_[p][t]];
        const int l = task_of_[lower_tile(p, t)];
        const int u = task_of_[lower_tile(p, t) + 1];
        tasks[l] = {lower, task, 0, 0};
        tasks[u] = {upper, 0, 0, 0};
        take_from_band(l, j, i);
        take_from_band(u, i, j);
      }
    }
    for (int task = 0; task < tiles; ++task) {
      const int tile = sorted[task];
      const auto first = static_cast<std::ptrdiff_t>(terms.size());
      tasks[task].first_term = static_cast<int>(first);
      tasks[task].terms = begin[tile + 1] - begin[tile];
      for (int t = begin[tile]; t < begin[tile + 1]; ++t)
        terms.push_back(
            {task_of_[of_tile[t].first], task_of_[of_tile[t].second]});
      // Those that are there last come last.
      std::sort(
          terms.begin() + first, terms.end(), [](const Pair& a, const Pair& b) {
            return std::max(a.first, a.second) < std::max(b.first, b.second);
          });
    }
  }
  std::size_t band_place(int i, int j) const {
    return static_cast<std::size_t>(i) * (below_ + 1 + above_) + j - i + below_;
  }
  void take_from_band(int task, int i, int j) {
    if (j - i < -below_ || j - i > above_) return;
    tasks[task].kind |= in_band;
    band[band_place(i, j)] = task;
  }

  /// What each block row of a substitution needs.
  void list_links() {
    std::vector<int> depth(blocks_, 0);
    std::vector<std::vector<Pair>> earlier(blocks_);
    for (int p = 0; p < blocks_; ++p)
      for (std::size_t t = 0; t < later_[p].size(); ++t) {
        const int q = later_[p][t];
        depth[q] = std::max(depth[q], depth[p] + 1);
        earlier[q].push_back({task_of_[lower_tile(p, t)], order_[p]});
      }
    std::vector<int> steps(blocks_), step_of(blocks_);
    std::iota(steps.begin(), steps.end(), 0);
    std::stable_sort(steps.begin(), steps.end(),
                     [&](int a, int b) { return depth[a] < depth[b]; });
    for (int s = 0; s < blocks_; ++s) step_of[order_[steps[s]]] = s;
    const auto row = [&](int p, std::vector<Pair>& mine, bool ascending) {
      std::sort(mine.begin(), mine.end(), [&](const Pair& a, const Pair& b) {
        return ascending ? step_of[a.second] < step_of[b.second]
                         : step_of[a.second] > step_of[b.second];
      });
      const Row made{order_[p], static_cast<int>(links.size()),
                     static_cast<int>(mine.size()), task_of_[first_tile_[p]]};
      links.insert(links.end(), mine.begin(), mine.end());
      return made;
    };
    std::vector<Pair> after;
    for (const int p : steps) {
      forward.push_back(row(p, earlier[p], true));
      after.clear();
      for (std::size_t t = 0; t < later_[p].size(); ++t)
        after.push_back({task_of_[lower_tile(p, t) + 1], order_[later_[p][t]]});
      backward.push_back(row(p, after, false));
    }
  }

  int blocks_, below_, above_, width_;
  std::vector<int> order_, position_;  // block row of each position, and back
  std::vector<std::vector<int>> later_;
  std::vector<int> first_tile_, task_of_;
};

}  // namespace Detail
}  // namespace Strata

#endif
