// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CHANGES_HPP
#define STRATA_PERF_CHANGES_HPP

#include <algorithm>
#include <cstdint>
#include <detail/Strata_PerfProblem.hpp>
#include <random>
#include <vector>

namespace Strata {
namespace PerfTest {

/// How many entries beside the diagonal each row has to change for `wanted`
/// changes in all.
template <class Scalar>
std::vector<int> draw_changes(const Problem<Scalar>& problem,
                              std::int64_t wanted, std::mt19937_64& engine) {
  std::vector<int> changes(problem.rows(), 0), row_of;
  for (int i = 0; i < problem.rows(); ++i)
    for (int k = problem.host_row_map(i); k < problem.host_row_map(i + 1); ++k)
      if (problem.host_entries(k) != i) row_of.push_back(i);
  for (std::int64_t made = 0; made < wanted && !row_of.empty(); ++made)
    ++changes[row_of[engine() % row_of.size()]];
  return changes;
}

/// The problem's matrix with `percent` of its entries beside the diagonal
/// changed, at least two: half of them removed, and as many added in the rows
/// that lost them, beside another entry of the row where there is a free column
/// and else anywhere on its side of the diagonal: most changes stay where other
/// entries are.
template <class Scalar>
typename Problem<Scalar>::Matrix changed_matrix(const Problem<Scalar>& problem,
                                                double percent) {
  const int n = problem.rows();
  const double edges = double(problem.host_entries.extent(0)) - n;
  std::mt19937_64 engine(20260118);
  const auto changes = draw_changes(
      problem, std::max<std::int64_t>(1, std::int64_t(percent / 200 * edges)),
      engine);
  const bool lower = problem.uplo == Uplo::lower;
  std::vector<int> map{0}, entries, columns;
  std::vector<Scalar> values;
  for (int i = 0; i < n; ++i) {
    columns.clear();
    for (int k = problem.host_row_map(i); k < problem.host_row_map(i + 1); ++k)
      if (problem.host_entries(k) != i)
        columns.push_back(problem.host_entries(k));
    const int side = lower ? i : n - 1 - i;
    for (int change = 0; change < changes[i] && !columns.empty(); ++change) {
      const int near = columns[engine() % columns.size()];
      columns.erase(columns.begin() + std::int64_t(engine() % columns.size()));
      const int anywhere = (lower ? 0 : i + 1) + int(engine() % unsigned(side));
      for (const int j : {near + 1, near - 1, anywhere})
        if (j >= 0 && j < n && (lower ? j < i : j > i) &&
            std::find(columns.begin(), columns.end(), j) == columns.end()) {
          columns.push_back(j);
          break;
        }
    }
    columns.push_back(i);
    std::sort(columns.begin(), columns.end());
    // Values matter to none of the times, but they have to be good ones.
    for (int j : columns) {
      entries.push_back(j);
      values.push_back(j == i ? Scalar(double(columns.size())) : Scalar(0.5));
    }
    map.push_back(static_cast<int>(entries.size()));
  }
  return typename Problem<Scalar>::Matrix(
      "Strata::changed", n, n, static_cast<int>(entries.size()), values.data(),
      map.data(), entries.data());
}

}  // namespace PerfTest
}  // namespace Strata

#endif
