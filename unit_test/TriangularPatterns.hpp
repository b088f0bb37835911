// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_TRIANGULAR_PATTERNS_HPP
#define STRATA_TEST_TRIANGULAR_PATTERNS_HPP

#include <Kokkos_Complex.hpp>
#include <Strata_Types.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "HostMatrix.hpp"

namespace Strata {
namespace SolverTest {

/// Columns of each row of a strictly lower triangle, ascending.
struct Pattern {
  std::string name;
  std::vector<std::vector<int>> rows;
  int size() const { return static_cast<int>(rows.size()); }
};

inline Pattern empty_pattern(const std::string& name, int n) {
  return {name + " " + std::to_string(n),
          std::vector<std::vector<int>>(static_cast<std::size_t>(n))};
}

/// About `degree` entries a row, at most `reach` columns from the diagonal.
inline Pattern random_pattern(int n, double degree, int reach, unsigned seed) {
  Pattern p = empty_pattern("random of degree " + std::to_string(degree), n);
  std::mt19937 random(seed);
  for (int i = 1; i < n; ++i) {
    const int first = std::max(0, i - reach);
    const int wanted =
        std::min(std::poisson_distribution<int>(degree)(random), i - first);
    std::set<int> columns;
    while (static_cast<int>(columns.size()) < wanted)
      columns.insert(std::uniform_int_distribution<int>(first, i - 1)(random));
    p.rows[i].assign(columns.begin(), columns.end());
  }
  return p;
}

inline Pattern diagonal_pattern(int n) { return empty_pattern("diagonal", n); }

inline Pattern chain_pattern(int n) {
  Pattern p = empty_pattern("chain", n);
  for (int i = 1; i < n; ++i) p.rows[i] = {i - 1};
  return p;
}

/// The last row needs all others.
inline Pattern dense_row_pattern(int n) {
  Pattern p = empty_pattern("dense last row", n);
  for (int j = 0; j + 1 < n; ++j) p.rows[n - 1].push_back(j);
  return p;
}

/// All rows need the first.
inline Pattern dense_column_pattern(int n) {
  Pattern p = empty_pattern("dense first column", n);
  for (int i = 1; i < n; ++i) p.rows[i] = {0};
  return p;
}

inline Pattern dense_pattern(int n) {
  Pattern p = empty_pattern("dense", n);
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < i; ++j) p.rows[i].push_back(j);
  return p;
}

inline Pattern block_pattern(int count, int size, double density) {
  Pattern p = empty_pattern("blocks", count * size);
  std::mt19937 random(7);
  std::bernoulli_distribution stored(density);
  for (int i = 0; i < count * size; ++i)
    for (int j = i / size * size; j < i; ++j)
      if (stored(random)) p.rows[i].push_back(j);
  return p;
}

/// Most rows have a few entries and some have a large share of their row.
inline Pattern power_law_pattern(int n) {
  Pattern p = empty_pattern("power law", n);
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int i = 1; i < n; ++i) {
    const double length = 0.8 / (uniform(random) + 1.0 / n);
    std::set<int> columns;
    for (int k = 0; k < std::min<int>(static_cast<int>(length), i); ++k)
      columns.insert(std::uniform_int_distribution<int>(0, i - 1)(random));
    p.rows[i].assign(columns.begin(), columns.end());
  }
  return p;
}

/// `count` chains: row i needs row i - count.
inline Pattern chains_pattern(int count, int length) {
  Pattern p = empty_pattern("chains", count * length);
  for (int i = count; i < count * length; ++i) p.rows[i] = {i - count};
  return p;
}

/// Level sets of many widths, narrow and wide ones in turn: each row needs up
/// to three of the level before.
inline Pattern wave_pattern(const std::vector<int>& widths) {
  int n = 0;
  for (const int width : widths) n += width;
  Pattern p = empty_pattern("waves", n);
  std::mt19937 random(13);
  int before = 0, start = widths.empty() ? 0 : widths[0];
  for (std::size_t level = 1; level < widths.size(); ++level) {
    for (int i = start; i < start + widths[level]; ++i) {
      std::set<int> columns;
      for (int k = 0; k < 3; ++k)
        columns.insert(
            std::uniform_int_distribution<int>(before, start - 1)(random));
      p.rows[i].assign(columns.begin(), columns.end());
    }
    before = start;
    start += widths[level];
  }
  return p;
}

inline std::vector<Pattern> small_patterns() {
  std::vector<Pattern> all;
  for (const int n : {0, 1, 2, 31, 32, 33})
    all.push_back(random_pattern(n, 2.0, n, 100 + n));
  all.push_back(diagonal_pattern(70));
  all.push_back(chain_pattern(97));
  all.push_back(dense_row_pattern(130));
  all.push_back(dense_column_pattern(130));
  all.push_back(dense_pattern(45));
  all.push_back(block_pattern(9, 13, 0.4));
  all.push_back(power_law_pattern(400));
  all.push_back(random_pattern(300, 2.5, 3, 1));
  all.push_back(chains_pattern(40, 6));
  all.push_back(wave_pattern({1, 90, 2, 1, 65, 7, 32, 1, 1, 128}));
  all.push_back(random_pattern(500, 4.0, 500, 2));
  return all;
}

inline std::vector<Pattern> large_patterns() {
  return {random_pattern(3000, 6.0, 3000, 3),
          random_pattern(2500, 5.0, 12, 4),
          power_law_pattern(2500),
          chain_pattern(2000),
          dense_row_pattern(3000),
          dense_column_pattern(3000),
          chains_pattern(700, 5),
          dense_pattern(300),
          wave_pattern({2000, 1, 1, 1500, 3, 700, 1})};
}

/// What a unit triangle stores on its diagonal.
enum class StoredDiagonal { value, garbage, none };

template <class Scalar>
struct ScalarParts {
  using Real = Scalar;
  using Wide = double;
  static constexpr bool is_complex = false;
  static Real real(const Scalar& v) { return v; }
  static bool finite(const Scalar& v) { return std::isfinite(v); }
  template <class Random>
  static Scalar draw(Random& random) {
    return std::uniform_real_distribution<Real>(-1, 1)(random);
  }
};
template <class R>
struct ScalarParts<Kokkos::complex<R>> {
  using Real = R;
  using Wide = Kokkos::complex<double>;
  static constexpr bool is_complex = true;
  static R real(const Kokkos::complex<R>& v) { return v.real(); }
  static bool finite(const Kokkos::complex<R>& v) {
    return std::isfinite(v.real()) && std::isfinite(v.imag());
  }
  template <class Random>
  static Kokkos::complex<R> draw(Random& random) {
    const R re = ScalarParts<R>::draw(random);
    return {re, ScalarParts<R>::draw(random)};
  }
};

template <class Scalar>
std::vector<Scalar> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Scalar> values(count);
  for (auto& v : values) v = ScalarParts<Scalar>::draw(random);
  return values;
}

/// A triangle of that pattern, mirrored for the upper one. Off-diagonal
/// magnitudes sum to less than a half in every row and column and diagonal
/// ones are at least 1.25, so that solutions stay near their right-hand sides
/// under every operation.
template <class Scalar>
HostMatrix<Scalar> make_triangle(
    const Pattern& pattern, Uplo uplo,
    StoredDiagonal diagonal = StoredDiagonal::value, unsigned seed = 1) {
  using Parts = ScalarParts<Scalar>;
  using Real = typename Parts::Real;
  const int n = pattern.size();
  const bool lower = uplo == Uplo::lower;
  std::mt19937 random(seed);
  std::vector<int> in_column(n, 0);
  for (const auto& row : pattern.rows)
    for (const int j : row) ++in_column[j];
  HostMatrix<Scalar> A;
  A.rows = A.columns = n;
  for (int r = 0; r < n; ++r) {
    const int i = lower ? r : n - 1 - r;
    const auto& row = pattern.rows[i];
    const auto store_diagonal = [&] {
      if (diagonal == StoredDiagonal::none) return;
      const Scalar drawn = Parts::draw(random);
      Scalar d =
          drawn + (Parts::real(drawn) < 0 ? Scalar(-1.25) : Scalar(1.25));
      if (diagonal == StoredDiagonal::garbage)
        d = r % 3 == 0   ? Scalar(std::numeric_limits<Real>::quiet_NaN())
            : r % 3 == 1 ? Scalar(0)
                         : Scalar(-1e30);
      A.entries.push_back(r);
      A.values.push_back(d);
    };
    if (!lower) store_diagonal();
    for (std::size_t k = 0; k < row.size(); ++k) {
      const int j = lower ? row[k] : row[row.size() - 1 - k];
      const int most =
          std::max<int>(in_column[j], static_cast<int>(row.size()));
      A.entries.push_back(lower ? j : n - 1 - j);
      A.values.push_back(Parts::draw(random) * Real(0.35 / most));
    }
    if (lower) store_diagonal();
    A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
  }
  return A;
}

}  // namespace SolverTest
}  // namespace Strata

#endif
