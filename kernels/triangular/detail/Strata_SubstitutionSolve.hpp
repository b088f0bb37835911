// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SUBSTITUTION_SOLVE_HPP
#define STRATA_SUBSTITUTION_SOLVE_HPP

#include <detail/Strata_TriangularAlgorithm.hpp>

namespace Strata {
namespace Detail {

/// Forward substitution, one work item a right-hand side.
template <class Scalar, class ExecutionSpace>
struct SubstitutionKernel {
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::View<const std::int64_t*, Memory> row_map;
  Kokkos::View<const int*, Memory> source;  // user's rows
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
        sum -= value(k) * x(source(k), column);
      x(row, column) = divide ? sum / diagonal(v) : sum * diagonal(v);
    }
  }
};

template <class Memory>
struct SubstitutionRows {
  DependencyGraph<Memory> graph;
  Kokkos::View<unsigned*, Memory> row;
  OriginIndex<Memory> diagonal_origin;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    row(v) = static_cast<unsigned>(graph.row_of(static_cast<int>(v)));
    diagonal_origin.set(v, graph.diagonal_origin(v));
  }
};

template <class Memory>
struct SubstitutionEntries {
  DependencyGraph<Memory> graph;
  Kokkos::View<int*, Memory> source;
  OriginIndex<Memory> origin;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    source(k) = graph.row_of(graph.entries(k));
    origin.set(k, graph.origin(k));
  }
};

template <class Scalar, class ExecutionSpace>
class SubstitutionSolve : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;
  SubstitutionSolve(const ExecutionSpace& exec,
                    const TriangularAnalysis<ExecutionSpace>& analysis)
      : row_map_(analysis.graph.row_map), reversed_(analysis.graph.reversed) {
    const auto& graph = analysis.graph;
    const std::int64_t n = graph.num_vertices, edges = graph.num_edges();
    Kokkos::View<unsigned*, Memory> row("Strata::Substitution::row", n);
    OriginIndex<Memory> diagonal_origin("Strata::Substitution::diagonal_origin",
                                        n, analysis.num_values);
    source_ = Kokkos::View<int*, Memory>("Strata::Substitution::source", edges);
    origin_ = OriginIndex<Memory>("Strata::Substitution::origin", edges,
                                  analysis.num_values);
    value_ = Base::make_values(edges);
    Kokkos::parallel_for("Strata::Substitution::rows",
                         RangeOf<ExecutionSpace>(exec, 0, n),
                         SubstitutionRows<Memory>{graph, row, diagonal_origin});
    Kokkos::parallel_for("Strata::Substitution::entries",
                         RangeOf<ExecutionSpace>(exec, 0, edges),
                         SubstitutionEntries<Memory>{graph, source_, origin_});
    exec.fence();
    this->set_rows(row, diagonal_origin, analysis.conjugated);
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    const SubstitutionKernel<Scalar, ExecutionSpace> kernel{
        row_map_, source_, value_,    this->diagonal_,
        b,        x,       reversed_, this->divide_};
    // One work item on a host: waking its threads would cost a small system
    // more than the solve.
    if constexpr (!is_cuda<ExecutionSpace>) {
      if (columns == 1) {
        exec.fence();
        kernel(0);
        return;
      }
    }
    Kokkos::parallel_for("Strata::Triangular::solve::substitution",
                         RangeOf<ExecutionSpace>(exec, 0, columns), kernel);
  }

 private:
  void pack_entries(const ExecutionSpace& exec, const Scalar* values) override {
    gather_values(exec, origin_, values, value_, this->conjugated_);
  }
  std::size_t entry_bytes() const override {
    return row_map_.extent(0) * 8 + source_.extent(0) * 4 + origin_.bytes() +
           value_.extent(0) * sizeof(Scalar);
  }

  Kokkos::View<const std::int64_t*, Memory> row_map_;
  Kokkos::View<int*, Memory> source_;
  OriginIndex<Memory> origin_;
  Kokkos::View<Scalar*, Memory> value_;
  bool reversed_;
};

}  // namespace Detail
}  // namespace Strata

#endif
