// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_ELIMINATION_FRONTS_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_ELIMINATION_FRONTS_HPP

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/matrix/TriangleImplementation.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>
#include <cstdint>
#include <kernels/factorization/fronts/FactorByFronts.hpp>
#include <kernels/factorization/fronts/FrontTasks.hpp>
#include <kernels/factorization/fronts/FrontTree.hpp>
#include <kernels/factorization/numeric/RecipePattern.hpp>
#include <kernels/factorization/symbolic/FactorPatterns.hpp>
#include <memory>
#include <vector>

namespace Strata {
namespace Detail {

/// Multiplications of a complete elimination, were each row of U as long as its
/// column of L.
struct CountMultiplications {
  RecipePattern pattern;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         double& count) const {
    const auto right = static_cast<double>(pattern.upper(row) - 1);
    count += right * right;
  }
};

/// The first row of a pattern with a full diagonal whose elimination makes an
/// entry that the pattern lacks, or that has an entry without its mirror image:
/// of row j, all columns right of the next one but the first, k, have to be in
/// row k.
struct FindIncompleteRow {
  RecipePattern pattern;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    if (first < row) return;
    const std::int64_t begin = pattern.diagonal(row) + 1,
                       end = pattern.a_row_map(row + 1);
    for (std::int64_t k = pattern.a_row_map(row); k < end; ++k) {
      const std::int64_t column = pattern.a_entries(k);
      if (column == row) continue;
      if (!has(column, row) ||
          (k > begin && !has(pattern.a_entries(begin), column))) {
        first = row;
        return;
      }
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION bool has(std::int64_t row, std::int64_t column) const {
    return pattern.find(pattern.a_row_map(row), pattern.a_row_map(row + 1),
                        column) >= 0;
  }
};

/// A plan of FactorByFronts for one pattern. Memory, but for the fronts' own: 4
/// bytes a row and an entry, 72 a tile, 16 a row of a tile with a pivot, 32 for
/// each tile that a child contributes to.
template <class ExecutionSpace>
class EliminationFronts {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr const char* label = "Strata::IncompleteLu::fronts";

 public:
  /// Multiplications for each entry of U beside its diagonal from which fronts
  /// are used: with fewer, rows are shorter than what a team does at once.
  static constexpr double least_multiplications = 4;

  /// Whether fronts are made for this pattern: it is complete, and they pay.
  /// One or two passes over the pattern, which the host waits for.
  static bool suits(const ExecutionSpace& exec, const RecipePattern& pattern,
                    std::int64_t rows, std::int64_t entries,
                    std::int64_t upper_entries) {
    if (entries >= std::int64_t{1} << 32) return false;
    double multiplications = 0;
    Kokkos::parallel_reduce(label, RangeOf<ExecutionSpace>(exec, 0, rows),
                            CountMultiplications{pattern}, multiplications);
    exec.fence();
    return multiplications >=
               least_multiplications *
                   static_cast<double>(upper_entries - rows) &&
           upper_entries > rows && is_complete(exec, pattern, rows);
  }
  static bool is_complete(const ExecutionSpace& exec,
                          const RecipePattern& pattern, std::int64_t rows) {
    return find_first(label, exec, 0, rows, FindIncompleteRow{pattern}) ==
           no_fault;
  }

  /// Null where the plan and the fronts would take more than `most_bytes`.
  /// Waits for `exec`. Cost, on the host: see FrontTasks.
  /// @param A  has a complete pattern, and a row at least
  /// @throws MemoryError
  template <class Scalar>
  static std::unique_ptr<const EliminationFronts> make(
      const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
      const FactorPatterns<Scalar>& patterns, std::size_t most_bytes) {
    const CompletePattern pattern(
        on_host<std::int64_t>(exec, A.row_map), on_host<int>(exec, A.entries),
        on_host<std::int64_t>(exec, patterns.L.arrays.row_map));
    using Factor = FactorByFronts<Scalar, ExecutionSpace>;
    const FrontTree tree(pattern, Factor::most_small);
    if (!FrontTasks::fits(tree)) return nullptr;
    const FrontTasks tasks(pattern, tree);
    const std::size_t bytes =
        tasks.bytes() + pattern.row_numbers().size() * sizeof(int) +
        static_cast<std::size_t>(tasks.num_values) * sizeof(Scalar);
    const MemoryInfo memory = memory_info<Memory>();
    if (bytes > most_bytes || (memory.total > 0 && bytes > memory.free / 2))
      return nullptr;
    return std::unique_ptr<const EliminationFronts>(
        new EliminationFronts(exec, tasks, pattern.row_numbers()));
  }

  /// Fills in the values of L and U. Enqueues on `exec`.
  /// @param fronts  num_values() of them
  template <class Scalar>
  void eliminate(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 const NewTriangle<Scalar>& L, const NewTriangle<Scalar>& U,
                 Scalar* fronts, const SmallPivots<Scalar>& pivots) const {
    for_each_index("Strata::IncompleteLu::reset", exec,
                   static_cast<std::int64_t>(flags_.extent(0)),
                   ResetFronts{flags_.data(), drawn_.data(), fault_.data()});
    using Factor = FactorByFronts<Scalar, ExecutionSpace>;
    const auto num_tasks = static_cast<std::int64_t>(tasks_.extent(0));
    const std::int64_t teams =
        std::int64_t{num_multiprocessors(exec)} *
        (is_gpu<ExecutionSpace> ? Factor::teams_of_multiprocessor : 1);
    run_teams<Factor::teams_of_multiprocessor, Factor::threads>(
        "Strata::IncompleteLu::eliminate", exec,
        static_cast<int>(std::min(teams, num_tasks)),
        Factor{A,
               {tasks_.data(), rows_.data(), terms_.data(), places_.data(),
                row_numbers_.data(), static_cast<unsigned>(num_tasks)},
               L.values,
               U.values,
               fronts,
               flags_.data(),
               drawn_.data(),
               fault_.data(),
               pivots},
        Factor::scratch_bytes, false);
  }

  /// See EliminationRecipe.
  const Kokkos::View<std::int64_t*, Memory>& fault() const { return fault_; }
  std::int64_t num_values() const { return num_values_; }
  std::size_t bytes() const { return bytes_; }

 private:
  template <class Index>
  static std::vector<Index> on_host(const ExecutionSpace& exec,
                                    const IndexArray& from) {
    std::vector<Index> to(from.extent(0));
    copy_to_host(exec, indices_as<Index>(exec, from), to.data());
    return to;
  }

  EliminationFronts(const ExecutionSpace& exec, const FrontTasks& tasks,
                    const std::vector<int>& row_numbers)
      : num_values_(tasks.num_values) {
    storage_ = make_plan_storage<Memory>(exec, label, [&](auto& storage) {
      storage.take(rows_, static_cast<std::int64_t>(tasks.rows.size()));
      storage.take(tasks_, static_cast<std::int64_t>(tasks.tasks.size()));
      storage.take(terms_, static_cast<std::int64_t>(tasks.terms.size()));
      storage.take(fault_, 1);
      storage.take(flags_, tasks.num_flags);
      storage.take(drawn_, 1);
      storage.take(places_, static_cast<std::int64_t>(tasks.places.size()));
      storage.take(row_numbers_, static_cast<std::int64_t>(row_numbers.size()));
      bytes_ = storage.bytes();
    });
    const auto send = [&](const auto& to, const auto& from) {
      using Element = typename std::decay_t<decltype(from)>::value_type;
      Kokkos::deep_copy(
          exec, to,
          UnmanagedView<const Element, Kokkos::HostSpace>(from.data(),
                                                          from.size()));
    };
    send(rows_, tasks.rows);
    send(tasks_, tasks.tasks);
    send(terms_, tasks.terms);
    send(places_, tasks.places);
    send(row_numbers_, row_numbers);
    exec.fence();
  }

  std::int64_t num_values_;
  typename PlanStorage<Memory>::Block storage_;  // of what follows
  std::size_t bytes_ = 0;
  Kokkos::View<FrontRow*, Memory> rows_;
  Kokkos::View<FrontTask*, Memory> tasks_;
  Kokkos::View<FrontTerm*, Memory> terms_;
  Kokkos::View<std::int64_t*, Memory> fault_;
  Kokkos::View<unsigned*, Memory> flags_, drawn_, places_;
  Kokkos::View<int*, Memory> row_numbers_;
};

}  // namespace Detail
}  // namespace Strata

#endif
