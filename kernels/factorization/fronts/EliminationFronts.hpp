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
#include <new>
#include <vector>

namespace Strata {
namespace Detail {

/// Multiplications of a complete elimination of a symmetric pattern.
struct CountMultiplications {
  RecipePattern pattern;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         double& count) const {
    const auto right = static_cast<double>(pattern.upper(row) - 1);
    count += right * right;
  }
};

/// Whether a pattern with a full diagonal is closed under elimination, and
/// whether it is symmetric. If row i has an entry in column k left of its
/// diagonal, it needs all columns that row k has right of its own. Row k is
/// searched up to the first column c < i whose row has an entry in column k:
/// row c is looked at, too, has the rest of row k if the pattern is closed, and
/// passes it on to row i (Eisenstat and Liu, Exploiting structural symmetry in
/// unsymmetric sparse symbolic factorization, 1992).
struct FindWhatIsIncomplete {
  enum : int { not_closed, not_symmetric, size };
  RecipePattern pattern;
  int* found;  // 0 before
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return pattern.a_row_map(row + 1) - pattern.a_row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t begin = pattern.a_row_map(row),
                       end = pattern.a_row_map(row + 1),
                       diagonal = pattern.diagonal(row);
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      if (load_relaxed(found + not_closed) != 0) return;
      const std::int64_t column = pattern.a_entries(k);
      if (column != row && !has(column, row)) note(not_symmetric);
      if (k < diagonal && !has_all_of(row, column)) note(not_closed);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void note(int what) const {
    if (load_relaxed(found + what) == 0) store_relaxed(found + what, 1);
  }
  KOKKOS_INLINE_FUNCTION bool has_all_of(std::int64_t row,
                                         std::int64_t other) const {
    const std::int64_t end = pattern.a_row_map(other + 1);
    for (std::int64_t k = pattern.diagonal(other) + 1; k < end; ++k) {
      const std::int64_t column = pattern.a_entries(k);
      if (!has(row, column)) return false;
      if (column < row && has(column, other)) return true;
    }
    return true;
  }
  KOKKOS_INLINE_FUNCTION bool has(std::int64_t row, std::int64_t column) const {
    return pattern.find(pattern.a_row_map(row), pattern.a_row_map(row + 1),
                        column) >= 0;
  }
};

/// A plan of FactorByFronts for one pattern. Memory, but for the fronts' own: 4
/// bytes a row and an entry, 68 a tile, 16 a row of a tile with a pivot, 32 for
/// each tile that a child contributes to.
template <class ExecutionSpace>
class EliminationFronts {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr const char* label = "Strata::IncompleteLu::fronts";

 public:
  /// Multiplications for each entry of U beside its diagonal from which fronts
  /// are used: with fewer, rows are shorter than what a team does at once.
  static constexpr double least_multiplications = 4;

  struct Closed {
    bool is_closed = false, is_symmetric = false;
  };
  /// Whether fronts are made for this pattern: it is closed under elimination,
  /// and they pay. One or two passes over the pattern, which the host waits
  /// for.
  static Closed suits(const ExecutionSpace& exec, const RecipePattern& pattern,
                      std::int64_t rows, std::int64_t entries,
                      std::int64_t upper_entries) {
    if (entries >= FrontTasks::most_places || upper_entries == rows) return {};
    double multiplications = 0;
    Kokkos::parallel_reduce(label, RangeOf<ExecutionSpace>(exec, 0, rows),
                            CountMultiplications{pattern}, multiplications);
    exec.fence();
    if (multiplications <
        least_multiplications * static_cast<double>(upper_entries - rows))
      return {};
    return is_closed(exec, pattern, rows, entries);
  }
  static Closed is_closed(const ExecutionSpace& exec,
                          const RecipePattern& pattern, std::int64_t rows,
                          std::int64_t entries) {
    using Find = FindWhatIsIncomplete;
    const auto found =
        make_zeroed<Kokkos::View<int*, Memory>>(label, Find::size);
    for_each_row(label, exec, rows, entries, Find{pattern, found.data()});
    int on_host[Find::size];
    copy_to_host(exec, found, on_host);
    return {on_host[Find::not_closed] == 0, on_host[Find::not_symmetric] == 0};
  }

  /// Null if the plan and the fronts would take more than `most_bytes`, more
  /// than half of the memory that is free or `most_times` the matrix, if the
  /// host or the device has not as much, or if one task would add up most
  /// contributions, as where all rows have a few in common.
  /// Waits for `exec`. Cost, on the host: see FrontTasks.
  /// @param A  has a pattern that is closed, and a row at least
  template <class Scalar>
  static std::unique_ptr<const EliminationFronts> make(
      const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
      const FactorPatterns<Scalar>& patterns, bool is_symmetric,
      std::size_t most_bytes) {
    const MemoryInfo memory = memory_info<Memory>();
    double most = std::min(
        static_cast<double>(most_bytes),
        most_times * static_cast<double>(A.num_values * sizeof(Scalar)));
    if (memory.total > 0) most = std::min(most, double(memory.free) / 2);
    try {
      return make_within(exec, A, patterns, is_symmetric, most);
    } catch (const std::bad_alloc&) {  // FailedAllocation among others
      return nullptr;
    }
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
    // Compiled for Kokkos' launch, the kernel loads six times as many bytes of
    // spilled registers.
    run_native_teams<Factor::teams_of_multiprocessor, Factor::threads>(
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
  std::int64_t num_values() const {
    return std::max<std::int64_t>(num_values_, 1);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  /// Of a plan and its fronts: grids and cubes take 4 to 6.
  static constexpr double most_times = 32;
  /// Contributions that one task adds up at most, if they are more than a
  /// 64th of all.
  static constexpr unsigned most_terms = 4096;

  template <class Scalar>
  static std::unique_ptr<const EliminationFronts> make_within(
      const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
      const FactorPatterns<Scalar>& patterns, bool is_symmetric, double most) {
    const CompletePattern pattern(
        on_host<std::int64_t>(exec, A.row_map), on_host<int>(exec, A.entries),
        on_host<std::int64_t>(exec, patterns.L.arrays.row_map), is_symmetric);
    if (pattern.is_too_large()) return nullptr;
    const FrontTree tree(pattern);
    if (!FrontTasks::fits(tree) ||
        FrontTasks::least_bytes(tree, sizeof(Scalar)) > most)
      return nullptr;
    const FrontTasks tasks(pattern, tree);
    const double bytes =
        double(tasks.bytes() + pattern.row_numbers().size() * sizeof(int)) +
        double(tasks.num_values) * sizeof(Scalar);
    if (bytes > most || (tasks.most_terms > most_terms &&
                         tasks.most_terms > tasks.terms.size() / 64))
      return nullptr;
    return std::unique_ptr<const EliminationFronts>(
        new EliminationFronts(exec, tasks, pattern.row_numbers()));
  }

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
      Kokkos::deep_copy(exec, to,
                        UnmanagedView<const Element, Kokkos::HostSpace>(
                            from.data(), from.size()));
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
