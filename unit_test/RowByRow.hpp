// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_ROW_BY_ROW_HPP
#define STRATA_TEST_ROW_BY_ROW_HPP

#include <Kokkos_Core.hpp>
#include <Strata_RegisterAlgorithm.hpp>
#include <core/matrix/PackValues.hpp>
#include <cstdint>
#include <memory>

// An algorithm from outside of the library, in the least that it takes: see
// docs/developer/add_an_algorithm.md.

namespace RowByRow {

/// For tests: whether the automatic choice is to take it, whatever the matrix,
/// the largest number of right-hand sides that it supports, whether it needs
/// level sets, and whether plans take values.
inline bool is_suited = false;
inline int most_right_hand_sides = 1 << 30;
inline bool needs_levels = true;
inline bool takes_values = true;

/// A thread a right-hand side, which takes one row after the other.
template <class Scalar, class ExecutionSpace>
class Solve
    : public Strata::Experimental::TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base =
      Strata::Experimental::TriangularAlgorithm<Scalar, ExecutionSpace>;
  template <class T>
  using VectorRef = Strata::Experimental::MultiVectorRef<T>;

 public:
  using typename Base::Memory;

  Solve(
      const ExecutionSpace& exec,
      const Strata::Experimental::TriangularAnalysis<ExecutionSpace>& analysis)
      : begin_("RowByRow::begin", analysis.graph.num_vertices + 1),
        dependency_("RowByRow::dependency", analysis.graph.num_edges()),
        value_index_("RowByRow::value_index", analysis.graph.num_edges(),
                     analysis.num_values),
        value_(Base::make_values(analysis.graph.num_edges())) {
    fill(exec, analysis);
  }

  // nvcc wants what has kernels in it to be public, and no constructor.
  void fill(const ExecutionSpace& exec,
            const Strata::Experimental::TriangularAnalysis<ExecutionSpace>&
                analysis) {
    // The graph is in memory that ends with the analysis.
    const auto graph = analysis.graph;
    const std::int64_t n = graph.num_vertices, edges = graph.num_edges();
    const Kokkos::View<unsigned*, Memory> row("RowByRow::row", n);
    const Strata::Detail::ValueIndex<Memory> diagonal("RowByRow::diagonal", n,
                                                      analysis.num_values);
    Kokkos::deep_copy(exec, begin_, graph.row_map);
    const auto dependency = dependency_;
    const auto index = value_index_;
    using Range = Kokkos::RangePolicy<ExecutionSpace>;
    Kokkos::parallel_for(
        "RowByRow::rows", Range(exec, 0, n), KOKKOS_LAMBDA(std::int64_t v) {
          row(v) = static_cast<unsigned>(graph.row_of(static_cast<int>(v)));
          diagonal.set(v, graph.diagonal_value_index(v));
        });
    Kokkos::parallel_for(
        "RowByRow::entries", Range(exec, 0, edges),
        KOKKOS_LAMBDA(std::int64_t k) {
          dependency(k) = graph.row_of(graph.entries(k));
          index.set(k, graph.value_index(k));
        });
    exec.fence();
    this->set_rows(row, diagonal, analysis.conjugated);
  }

  void solve(const ExecutionSpace& exec, const VectorRef<const Scalar>& b,
             const VectorRef<Scalar>& x, std::int64_t columns) const override {
    const auto begin = begin_;
    const auto dependency = dependency_;
    const auto row = this->row_;
    const auto value = value_;
    const auto diagonal = this->diagonal_;
    const bool divide = this->divide_;
    Kokkos::parallel_for(
        "RowByRow::solve",
        Kokkos::RangePolicy<ExecutionSpace>(exec, 0, columns),
        KOKKOS_LAMBDA(std::int64_t c) {
          for (std::size_t v = 0; v < row.extent(0); ++v) {
            Scalar sum = b(row(v), c);
            for (auto k = begin(v); k < begin(v + 1); ++k)
              sum -= value(k) * x(dependency(k), c);
            x(row(v), c) = divide ? sum / diagonal(v) : sum * diagonal(v);
          }
        });
  }

  /// Nothing is written but x.
  std::shared_ptr<const Base> with_workspace(
      const ExecutionSpace&) const override {
    return nullptr;
  }

  Strata::Detail::UnsuitableValues unsuitable(
      const Strata::Detail::ValuesInspection&) const override {
    Strata::Detail::UnsuitableValues found;
    found.any = !takes_values;
    found.why = "the values are not for row_by_row";
    return found;
  }

 private:
  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    this->pack_diagonal_values(exec, values, invalid_flag);
    Strata::Detail::gather_values(exec, value_index_, values, value_,
                                  this->conjugated_);
  }
  std::size_t entry_bytes() const override {
    return (begin_.extent(0) + dependency_.extent(0)) * 8 +
           value_index_.bytes() + value_.extent(0) * sizeof(Scalar);
  }

  Kokkos::View<std::int64_t*, Memory> begin_;
  // 4 bytes would do, but tests need a plan larger than that of substitution.
  Kokkos::View<std::int64_t*, Memory> dependency_;
  Strata::Detail::ValueIndex<Memory> value_index_;
  Kokkos::View<Scalar*, Memory> value_;
};

template <class Scalar, class ExecutionSpace>
class Registration
    : public Strata::Experimental::AlgorithmRegistration<Scalar,
                                                         ExecutionSpace> {
  using Base =
      Strata::Experimental::AlgorithmRegistration<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;

  bool supports(const Strata::TriangularOptions& options) const override {
    return options.max_right_hand_sides <= most_right_hand_sides;
  }
  bool needs_level_sets() const override { return needs_levels; }
  std::size_t least_bytes(
      const Strata::Experimental::PlanSizes& sizes) const override {
    return sizes.of_rows() + sizes.of_entries() +
           (static_cast<std::size_t>(sizes.rows) + 1) * 8 +
           static_cast<std::size_t>(sizes.edges) * 4;
  }
  std::string why_suited(const Selection&) const override {
    return is_suited ? "row by row" : "";
  }
  Pointer make(Selection& selection, const Candidate&) override {
    return std::make_shared<Solve<Scalar, ExecutionSpace>>(selection.exec,
                                                           selection.analysis);
  }
};

}  // namespace RowByRow

#endif
