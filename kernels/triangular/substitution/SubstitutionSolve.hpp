// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_SUBSTITUTION_SOLVE_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBSTITUTION_SUBSTITUTION_SOLVE_HPP

#include <algorithm>
#include <core/device/Profiling.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/selection/HostRule.hpp>

namespace Strata {
namespace Detail {

/// Forward substitution, one work item a right-hand side.
template <class Scalar, class ExecutionSpace>
struct SubstitutionKernel {
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::View<const std::int64_t*, Memory> row_map;
  Kokkos::View<const int*, Memory> dependency;  // user's rows
  Kokkos::View<const Scalar*, Memory> value, diagonal;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  bool reversed, divide;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t column) const {
    const std::int64_t n = static_cast<std::int64_t>(diagonal.extent(0));
    std::int64_t k = 0;
    for (std::int64_t v = 0; v < n; ++v) {
      const std::int64_t row = reversed ? n - 1 - v : v;
      Scalar sum = b(row, column);
      for (const std::int64_t end = row_map(v + 1); k < end; ++k)
        sum -= value(k) * x(dependency(k), column);
      x(row, column) = divide ? sum / diagonal(v) : sum * diagonal(v);
    }
  }
};

/// The same by a host's thread, `columns` right-hand sides from `first` on
/// while the entries of a row are at hand. Arrays in place of views, and
/// strides and cases known beforehand: rows of two or three entries take a few
/// nanoseconds, which anything more in the loop over entries would double.
template <int columns, bool unit_stride, bool reversed, bool divide,
          class Scalar, class ExecutionSpace>
void substitute(const SubstitutionKernel<Scalar, ExecutionSpace>& kernel,
                std::int64_t first) {
  const std::int64_t n = static_cast<std::int64_t>(kernel.diagonal.extent(0));
  const std::int64_t* const row_map = kernel.row_map.data();
  const int* const dependency = kernel.dependency.data();
  const Scalar* const value = kernel.value.data();
  const Scalar* const diagonal = kernel.diagonal.data();
  const auto from = kernel.b.from(first);
  const auto to = kernel.x.from(first);
  const Scalar* const b = from.data;
  Scalar* const x = to.data;
  const std::int64_t b_row = unit_stride ? 1 : from.row_stride;
  const std::int64_t x_row = unit_stride ? 1 : to.row_stride;
  std::int64_t k = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    const std::int64_t row = reversed ? n - 1 - v : v;
    Scalar sum[columns];
    for (int c = 0; c < columns; ++c)
      sum[c] = b[row * b_row + c * from.column_stride];
    STRATA_IMPL_UNROLL_TWICE
    for (const std::int64_t end = row_map[v + 1]; k < end; ++k) {
      const Scalar a = value[k];
      const Scalar* const x_j = x + dependency[k] * x_row;
      for (int c = 0; c < columns; ++c) sum[c] -= a * x_j[c * to.column_stride];
    }
    const Scalar d = diagonal[v];
    for (int c = 0; c < columns; ++c)
      x[row * x_row + c * to.column_stride] = divide ? sum[c] / d : sum[c] * d;
  }
}

/// On a host, a tile of right-hand sides for each index.
template <class Scalar, class ExecutionSpace>
struct SubstituteBlocks {
  /// Right-hand sides whose partial results fit in registers.
  static constexpr int block = 4;
  SubstitutionKernel<Scalar, ExecutionSpace> kernel;
  std::int64_t num_columns;
  int columns_of_item;

  void operator()(std::int64_t item) const {
    const std::int64_t begin = item * columns_of_item;
    const std::int64_t end =
        std::min<std::int64_t>(begin + columns_of_item, num_columns);
    const bool unit = kernel.b.row_stride == 1 && kernel.x.row_stride == 1;
    if (unit)
      choose<true>(begin, end);
    else
      choose<false>(begin, end);
  }

 private:
  template <bool unit>
  void choose(std::int64_t begin, std::int64_t end) const {
    if (kernel.reversed)
      kernel.divide ? run<unit, true, true>(begin, end)
                    : run<unit, true, false>(begin, end);
    else
      kernel.divide ? run<unit, false, true>(begin, end)
                    : run<unit, false, false>(begin, end);
  }
  template <bool unit, bool reversed, bool divide>
  void run(std::int64_t begin, std::int64_t end) const {
    for (; begin + block <= end; begin += block)
      substitute<block, unit, reversed, divide>(kernel, begin);
    for (; begin < end; ++begin)
      substitute<1, unit, reversed, divide>(kernel, begin);
  }
};

template <class Memory>
struct SubstitutionRows {
  DependencyGraph<Memory> graph;
  Kokkos::View<unsigned*, Memory> row;
  ValueIndex<Memory> diagonal_value_index;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    row(v) = static_cast<unsigned>(graph.row_of(static_cast<int>(v)));
    diagonal_value_index.set(v, graph.diagonal_value_index(v));
  }
};

template <class Memory>
struct SubstitutionEntries {
  DependencyGraph<Memory> graph;
  Kokkos::View<int*, Memory> dependency;
  ValueIndex<Memory> value_index;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    dependency(k) = graph.row_of(graph.entries(k));
    value_index.set(k, graph.value_index(k));
  }
};

template <class Scalar, class ExecutionSpace>
class SubstitutionSolve : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;
  SubstitutionSolve(const ExecutionSpace& exec,
                    const TriangularAnalysis<ExecutionSpace>& analysis)
      : reversed_(analysis.graph.reversed) {
    const auto& graph = analysis.graph;
    // The graph's own would keep what it was allocated with.
    const auto row_map = make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
        "Strata::Substitution::row_map", graph.row_map.extent(0));
    Kokkos::deep_copy(exec, row_map, graph.row_map);
    row_map_ = row_map;
    const std::int64_t n = graph.num_vertices, edges = graph.num_edges();
    const auto row = make_zeroed<Kokkos::View<unsigned*, Memory>>(
        "Strata::Substitution::row", n);
    ValueIndex<Memory> diagonal_value_index(
        "Strata::Substitution::diagonal_value_index", n, analysis.num_values);
    make_zeroed(dependency_, "Strata::Substitution::dependency", edges);
    value_index_ = ValueIndex<Memory>("Strata::Substitution::value_index",
                                      edges, analysis.num_values);
    value_ = Base::make_values(edges);
    for_each_index("Strata::Substitution::rows", exec, n,
                   SubstitutionRows<Memory>{graph, row, diagonal_value_index});
    for_each_index(
        "Strata::Substitution::entries", exec, edges,
        SubstitutionEntries<Memory>{graph, dependency_, value_index_});
    exec.fence();
    this->set_rows(row, diagonal_value_index, analysis.conjugated);
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    const SubstitutionKernel<Scalar, ExecutionSpace> kernel{
        row_map_, dependency_, value_,    this->diagonal_,
        b,        x,           reversed_, this->divide_};
    const char* const label = "Strata::Triangular::solve::substitution";
    if constexpr (runs_at_once<ExecutionSpace>) {
      // Everything enqueued on `exec` is done, so that its threads may sleep.
      const int threads = exec.concurrency();
      const bool alone = !HostRule::shares_columns(
          columns, threads, double(this->row_.extent(0)),
          double(dependency_.extent(0)));
      const std::int64_t items =
          alone ? 1 : std::min<std::int64_t>(columns, threads);
      const SubstituteBlocks<Scalar, ExecutionSpace> solve{
          kernel, columns, static_cast<int>((columns + items - 1) / items)};
      if (alone) {
        const ProfilingRegion region(label);
        solve(0);
      } else {
        for_each_index(label, exec, items, solve);
      }
    } else {
      for_each_index(label, exec, columns, kernel);
    }
  }

  std::shared_ptr<const Base> with_workspace(
      const ExecutionSpace&) const override {
    return nullptr;
  }

 private:
  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    this->pack_diagonal_values(exec, values, invalid_flag);
    gather_values(exec, value_index_, values, value_, this->conjugated_);
  }
  std::size_t entry_bytes() const override {
    return row_map_.extent(0) * 8 + dependency_.extent(0) * 4 +
           value_index_.bytes() + value_.extent(0) * sizeof(Scalar);
  }

  Kokkos::View<const std::int64_t*, Memory> row_map_;
  Kokkos::View<int*, Memory> dependency_;
  ValueIndex<Memory> value_index_;
  Kokkos::View<Scalar*, Memory> value_;
  bool reversed_;
};

}  // namespace Detail
}  // namespace Strata

#endif
