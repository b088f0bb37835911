// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_FRONT_CASES_HPP
#define STRATA_TEST_FRONT_CASES_HPP

// Complete patterns, and elimination by fronts to compare with elimination row
// by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <kernels/factorization/fronts/FactorByFronts.hpp>
#include <kernels/factorization/fronts/FrontTasks.hpp>
#include <kernels/factorization/numeric/FactorRowsOnHost.hpp>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"

namespace FrontCases {

using Strata::generator;
using Edges = std::vector<std::pair<int, int>>;
using Rows = std::vector<std::set<int>>;

template <class Scalar>
Scalar random_number() {
  std::uniform_real_distribution<double> one(-1, 1);
  if constexpr (std::is_floating_point<Scalar>::value) {
    return static_cast<Scalar>(one(generator()));
  } else {
    return Scalar(one(generator()), one(generator()));
  }
}

/// The symmetric pattern of complete elimination.
inline Rows eliminated(int n, const Edges& edges) {
  Rows right(n);
  for (const auto& [i, j] : edges)
    if (i != j) right[std::min(i, j)].insert(std::max(i, j));
  for (int j = 0; j < n; ++j)
    if (!right[j].empty()) {
      const int parent = *right[j].begin();
      right[parent].insert(std::next(right[j].begin()), right[j].end());
    }
  Rows rows(n);
  for (int j = 0; j < n; ++j) {
    rows[j].insert(j);
    for (const int k : right[j]) {
      rows[j].insert(k);
      rows[k].insert(j);
    }
  }
  return rows;
}

/// Elimination of sets: the pattern of L + U without row exchanges.
inline Rows eliminated(Rows rows) {
  for (int i = 0; i < int(rows.size()); ++i) {
    rows[i].insert(i);
    // Columns that are inserted come later.
    for (auto k = rows[i].begin(); *k < i; ++k)
      rows[i].insert(rows[*k].upper_bound(*k), rows[*k].end());
  }
  return rows;
}
inline bool is_symmetric(const Rows& rows) {
  for (int i = 0; i < int(rows.size()); ++i)
    for (const int j : rows[i])
      if (rows[j].count(i) == 0) return false;
  return true;
}

inline Edges random_edges(int n, int count) {
  std::uniform_int_distribution<int> vertex(0, n - 1);
  Edges edges;
  for (int k = 0; k < count; ++k)
    edges.push_back({vertex(generator()), vertex(generator())});
  return edges;
}
/// Numbers of a grid's points in nested dissection order.
inline void dissect(int x, int y, int width, int height, int stride,
                    std::vector<int>& number, int& next) {
  if (width <= 0 || height <= 0) return;
  if (width * height <= 4) {
    for (int j = y; j < y + height; ++j)
      for (int i = x; i < x + width; ++i) number[j * stride + i] = next++;
    return;
  }
  if (width >= height) {
    const int middle = x + width / 2;
    dissect(x, y, middle - x, height, stride, number, next);
    dissect(middle + 1, y, x + width - middle - 1, height, stride, number,
            next);
    for (int j = y; j < y + height; ++j) number[j * stride + middle] = next++;
  } else {
    const int middle = y + height / 2;
    dissect(x, y, width, middle - y, stride, number, next);
    dissect(x, middle + 1, width, y + height - middle - 1, stride, number,
            next);
    for (int i = x; i < x + width; ++i) number[middle * stride + i] = next++;
  }
}
inline Edges grid(int width, int height, bool dissected) {
  std::vector<int> number(width * height);
  int next = 0;
  if (dissected)
    dissect(0, 0, width, height, width, number, next);
  else
    for (int& k : number) k = next++;
  Edges edges;
  for (int j = 0; j < height; ++j)
    for (int i = 0; i < width; ++i) {
      const int at = j * width + i;
      if (i + 1 < width) edges.push_back({number[at], number[at + 1]});
      if (j + 1 < height) edges.push_back({number[at], number[at + width]});
    }
  return edges;
}

struct Named {
  std::string name;
  Rows rows;
};
/// @param size  1: small ones
inline std::vector<Named> patterns(int size) {
  std::vector<Named> all;
  const auto add = [&](const std::string& name, int n, const Edges& edges) {
    all.push_back({name, eliminated(n, edges)});
  };
  const int n = 30 * size;
  Edges arrow, all_pairs, chain, blocks, star, comb, wide_band;
  for (int i = 0; i < n; ++i) {
    arrow.push_back({i, n - 1});
    for (int j = 0; j < i; ++j) all_pairs.push_back({j, i});
    if (i > 0) chain.push_back({i - 1, i});
    for (int j = i - i % 7; j < i; ++j) blocks.push_back({j, i});
    for (int j = std::max(0, i - 12); j < i; ++j) wide_band.push_back({j, i});
    // Many children of a front that has several tiles.
    if (i < n / 2) {
      star.push_back({i, n / 2 + i});
      star.push_back({i, n - 1 - i % 5});
    } else {
      for (int j = n / 2; j < i; ++j) star.push_back({j, i});
    }
    comb.push_back({i, (i + n) / 2});
  }
  add("one", 1, {});
  add("diagonal", 7, {});
  add("arrow", n, arrow);
  add("dense", n, all_pairs);
  add("dense of 32", 32, [] {
    Edges pairs;
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < i; ++j) pairs.push_back({j, i});
    return pairs;
  }());
  add("dense of 33", 33, [] {
    Edges pairs;
    for (int i = 0; i < 33; ++i)
      for (int j = 0; j < i; ++j) pairs.push_back({j, i});
    return pairs;
  }());
  add("chain", n, chain);
  add("blocks", n, blocks);
  add("band", n, wide_band);
  add("star", n, star);
  add("comb", n, comb);
  add("grid", 5 * size * 6, grid(5 * size, 6, false));
  add("dissected", 49 * size * size, grid(7 * size, 7 * size, true));
  for (const int more : {1, 2, 3})
    add("random " + std::to_string(more), n, random_edges(n, more * n / 2));
  // Without a mirror image.
  for (const double part : {0.5, 0.9}) {
    Rows rows(n), fewer(7 * size * 7 * size);
    std::bernoulli_distribution stays(part);
    for (const auto& [i, j] : random_edges(n, n / 2)) {
      rows[i].insert(j);
      if (stays(generator())) rows[j].insert(i);
    }
    for (const auto& [i, j] : grid(7 * size, 7 * size, true)) {
      if (stays(generator())) fewer[i].insert(j);
      if (stays(generator())) fewer[j].insert(i);
    }
    all.push_back({"random, not symmetric", eliminated(rows)});
    all.push_back({"dissected, not symmetric", eliminated(fewer)});
  }
  return all;
}

/// A matrix on a complete pattern, eliminated in both ways.
template <class Scalar>
class Case {
  using Real = RealOf<Scalar>;
  template <class T>
  using Array = Kokkos::View<T*, Kokkos::HostSpace>;
  using Crs = Strata::Detail::CrsArrays<Scalar>;

 public:
  struct Factors {
    Array<Scalar> L, U;
    std::int64_t fault = 0;
    std::int64_t replaced = 0, change = 0;
  };

  explicit Case(const Rows& rows) : n_(static_cast<int>(rows.size())) {
    std::vector<std::int64_t> a_map{0}, l_map{0}, u_map{0};
    std::vector<int> entries, l_entries, u_entries;
    for (int i = 0; i < n_; ++i) {
      for (const int j : rows[i]) {
        if (j <= i) l_entries.push_back(j);
        if (j >= i) u_entries.push_back(j);
        entries.push_back(j);
      }
      a_map.push_back(std::int64_t(entries.size()));
      l_map.push_back(std::int64_t(l_entries.size()));
      u_map.push_back(std::int64_t(u_entries.size()));
      longest_ = std::max(longest_, rows[i].size());
    }
    const auto view = [](const auto& from) {
      using T = typename std::decay_t<decltype(from)>::value_type;
      Array<T> to("test", from.size());
      std::copy(from.begin(), from.end(), to.data());
      return to;
    };
    a_map_ = view(a_map);
    a_entries_ = view(entries);
    l_map_view_ = view(l_map);
    l_entries_ = view(l_entries);
    u_map_ = view(u_map);
    u_entries_ = view(u_entries);
    values_ = Array<Scalar>("values", entries.size());
    for (int i = 0; i < n_; ++i)
      for (auto k = a_map[i]; k < a_map[i + 1]; ++k)
        values_(k) =
            random_number<Scalar>() +
            (entries[k] == i ? Scalar(Real(2 * rows[i].size())) : Scalar(0));
    pattern_ = Strata::Detail::CompletePattern(a_map, entries, l_map,
                                               is_symmetric(rows));
    EXPECT_FALSE(pattern_.is_too_large());
    const Strata::Detail::FrontTree tree(pattern_);
    EXPECT_TRUE(Strata::Detail::FrontTasks::fits(tree));
    tasks_ = Strata::Detail::FrontTasks(pattern_, tree);
    // What is asked for before tasks are made.
    EXPECT_LE(
        Strata::Detail::FrontTasks::least_bytes(tree, sizeof(Scalar)),
        double(tasks_.bytes()) + double(tasks_.num_values) * sizeof(Scalar));
  }

  int rows() const { return n_; }
  const Strata::Detail::FrontTasks& tasks() const { return tasks_; }
  Scalar& at(int row, int column) {
    for (auto k = a_map_(row);; ++k)
      if (a_entries_(k) == column) return values_(k);
  }
  /// Row and column of a random entry.
  std::pair<int, int> random_entry() const {
    std::uniform_int_distribution<std::size_t> any(0, a_entries_.extent(0) - 1);
    const auto k = std::int64_t(any(generator()));
    int row = 0;
    while (a_map_(row + 1) <= k) ++row;
    return {row, a_entries_(k)};
  }
  /// Pivots below this are replaced.
  void set_least(Real least) {
    least_ = Array<Real>("least", n_);
    Kokkos::deep_copy(least_, least);
  }

  Factors by_rows() const {
    Factors made = new_factors();
    Array<std::int64_t> found("found", 2);
    const Array<int> places("places", n_), continues("continues", n_);
    Kokkos::deep_copy(places, -1);
    const Array<Scalar> row("row", longest_);
    const Strata::Detail::FactorRowsOnHost<Scalar> factor{
        A(),
        {{l_map_view_, l_entries_, made.L.data(), made.L.extent(0), n_},
         made.L.data()},
        {{u_map_, u_entries_, made.U.data(), made.U.extent(0), n_},
         made.U.data()},
        a_entries_.data(),
        u_entries_.data(),
        n_,
        places.data(),
        continues.data(),
        row.data(),
        pivots(found),
        &made.fault};
    factor(Strata::Detail::OneThreadTeam(0, 1));
    made.replaced = found(0);
    made.change = found(1);
    return made;
  }

  /// @param run  run(kernel) starts the teams
  template <class ExecutionSpace, class Run>
  Factors by_fronts(const Run& run) const {
    Factors made = new_factors();
    Array<std::int64_t> found("found", 2);
    Array<Scalar> fronts("fronts", tasks_.num_values);
    // Nobody relies on zeros.
    Kokkos::deep_copy(fronts, Scalar(std::numeric_limits<Real>::quiet_NaN()));
    Array<unsigned> flags("flags", tasks_.num_flags), drawn("drawn", 1);
    Kokkos::deep_copy(flags, 7);
    const Strata::Detail::ResetFronts reset{flags.data(), drawn.data(),
                                            &made.fault};
    for (unsigned i = 0; i < tasks_.num_flags; ++i) reset(i);
    run(Strata::Detail::FactorByFronts<Scalar, ExecutionSpace>{
        A(),
        {tasks_.tasks.data(), tasks_.rows.data(), tasks_.terms.data(),
         tasks_.places.data(), pattern_.row_numbers().data(),
         unsigned(tasks_.tasks.size())},
        made.L.data(),
        made.U.data(),
        fronts.data(),
        flags.data(),
        drawn.data(),
        &made.fault,
        pivots(found)});
    made.replaced = found(0);
    made.change = found(1);
    for (unsigned i = 0; i < tasks_.num_flags; ++i) EXPECT_EQ(flags(i), 1u);
    return made;
  }

  /// |L U - A| x <= m eps |L| |U| |x| for a random x, and L has its ones.
  void expect_factors(const Factors& made) const {
    std::vector<std::complex<double>> x(n_), y(n_);
    std::vector<double> size(n_);
    for (auto& v : x) v = wide(random_number<Scalar>());
    for (int i = 0; i < n_; ++i) {
      ASSERT_EQ(made.L(l_map_view_(i + 1) - 1), Scalar(1)) << i;
      for (auto k = u_map_(i); k < u_map_(i + 1); ++k) {
        y[i] += wide(made.U(k)) * x[u_entries_(k)];
        size[i] += std::abs(wide(made.U(k))) * std::abs(x[u_entries_(k)]);
      }
    }
    for (int i = 0; i < n_; ++i) {
      std::complex<double> sum = 0;
      double limit = 0;
      for (auto k = l_map_view_(i); k < l_map_view_(i + 1); ++k) {
        sum += wide(made.L(k)) * y[l_entries_(k)];
        limit += std::abs(wide(made.L(k))) * size[l_entries_(k)];
      }
      for (auto k = a_map_(i); k < a_map_(i + 1); ++k)
        sum -= wide(values_(k)) * x[a_entries_(k)];
      ASSERT_LE(std::abs(sum),
                20 * double(longest_) * epsilon_of<Scalar> * limit)
          << i;
    }
  }
  static void expect_same_bits(const Factors& a, const Factors& b) {
    EXPECT_EQ(
        0, std::memcmp(a.L.data(), b.L.data(), a.L.extent(0) * sizeof(Scalar)));
    EXPECT_EQ(
        0, std::memcmp(a.U.data(), b.U.data(), a.U.extent(0) * sizeof(Scalar)));
  }

 private:
  Crs A() const {
    return {a_map_, a_entries_, values_.data(), values_.extent(0), n_};
  }
  Factors new_factors() const {
    Factors made;
    made.L = Array<Scalar>("L", l_entries_.extent(0));
    made.U = Array<Scalar>("U", u_entries_.extent(0));
    return made;
  }
  Strata::Detail::SmallPivots<Scalar> pivots(
      const Array<std::int64_t>& found) const {
    Strata::Detail::SmallPivots<Scalar> of;
    if (least_.extent(0) > 0) of = {least_.data(), false, found.data(), false};
    return of;
  }

  int n_;
  std::size_t longest_ = 1;
  Strata::Detail::CompletePattern pattern_;
  Array<std::int64_t> a_map_, l_map_view_, u_map_;
  Array<int> a_entries_, l_entries_, u_entries_;
  Array<Scalar> values_;
  Array<Real> least_;
  Strata::Detail::FrontTasks tasks_;
};

}  // namespace FrontCases

#endif
