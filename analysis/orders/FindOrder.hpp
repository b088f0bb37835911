// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_ORDERS_FIND_ORDER_HPP
#define STRATA_ANALYSIS_ORDERS_FIND_ORDER_HPP

#include <Strata_Error.hpp>
#include <analysis/orders/HostGraph.hpp>
#include <limits>
#include <new>
#include <string>
#if STRATA_ENABLE_AMD
#include <amd.h>
#endif
#if STRATA_ENABLE_METIS
#include <metis.h>
#endif

// Orders of the rows of a symmetric graph, as lists of old rows, found by one
// thread of the host.

namespace Strata {
namespace Detail {

/// Rows by ascending key, and by number where keys are equal.
inline std::vector<int> rows_by(const std::vector<int>& key) {
  std::vector<int> old_row(key.size());
  std::iota(old_row.begin(), old_row.end(), 0);
  std::stable_sort(old_row.begin(), old_row.end(),
                   [&](int a, int b) { return key[a] < key[b]; });
  return old_row;
}

/// Rows by the level set of the lower triangle. Entries stay in their triangle,
/// so incomplete factors stay the same but for the order.
inline std::vector<int> level_set_order(const HostGraph& graph) {
  std::vector<int> level(graph.rows());
  for (int row = 0; row < graph.rows(); ++row)
    graph.neighbours(row, [&](int other) {
      if (other < row) level[row] = std::max(level[row], level[other] + 1);
    });
  return rows_by(level);
}

/// Rows by colour, first fit: each row has the smallest colour that is free.
/// Source: Saad, *Iterative Methods for Sparse Linear Systems*, 3.3.3.
inline std::vector<int> colour_order(const HostGraph& graph) {
  std::vector<int> colour(graph.rows()), taken_by(graph.rows() + 1, -1);
  for (int row = 0; row < graph.rows(); ++row) {
    graph.neighbours(row, [&](int other) {
      if (other < row) taken_by[colour[other]] = row;
    });
    while (taken_by[colour[row]] == row) ++colour[row];
  }
  return rows_by(colour);
}

/// @throws OptionError  Strata was built without the library
[[noreturn]] inline void raise_no_order(const std::string& order,
                                        const std::string& library,
                                        const std::string& package) {
  throw OptionError("order",
                    "is " + order + ", and Strata was built without " + library,
                    "install it (Debian: " + package +
                        ") and build Strata with -D Strata_ENABLE_" + library +
                        "=ON, or use rcm");
}

/// Approximate minimum degree, by SuiteSparse's AMD: least fill of a complete
/// factorisation. @throws OptionError, std::bad_alloc
inline std::vector<int> amd_order_of([[maybe_unused]] const HostGraph& graph) {
#if STRATA_ENABLE_AMD
  if (graph.entries.empty()) return rows_by(std::vector<int>(graph.rows()));
  std::vector<std::int64_t> order(graph.rows());
  const auto status =
      amd_l_order(graph.rows(), graph.row_map.data(), graph.entries.data(),
                  order.data(), nullptr, nullptr);
  if (status < AMD_OK) throw std::bad_alloc();
  return std::vector<int>(order.begin(), order.end());
#else
  raise_no_order("amd", "AMD", "libsuitesparse-dev");
#endif
}

/// Nested dissection by METIS, the same each time.
/// @throws OptionError, IndexOverflowError, std::bad_alloc
inline std::vector<int> dissection_order_of(
    [[maybe_unused]] const HostGraph& graph) {
#if STRATA_ENABLE_METIS
  if (graph.entries.size() >
      static_cast<std::size_t>(std::numeric_limits<idx_t>::max()))
    throw IndexOverflowError("order", "METIS can't count the entries of A",
                             "use rcm or amd, or a METIS with 64-bit indices");
  std::vector<idx_t> row_map{0}, entries, old_row(graph.rows()),
      new_row(graph.rows());
  for (int row = 0; row < graph.rows(); ++row) {
    graph.neighbours(row, [&](int other) { entries.push_back(other); });
    row_map.push_back(static_cast<idx_t>(entries.size()));
  }
  // METIS wants an edge.
  if (entries.empty()) return rows_by(std::vector<int>(graph.rows()));
  idx_t rows = graph.rows(), options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  if (METIS_NodeND(&rows, row_map.data(), entries.data(), nullptr, options,
                   old_row.data(), new_row.data()) != METIS_OK)
    throw std::bad_alloc();
  return std::vector<int>(old_row.begin(), old_row.end());
#else
  raise_no_order("nested_dissection", "METIS", "libmetis-dev");
#endif
}

}  // namespace Detail
}  // namespace Strata

#endif
