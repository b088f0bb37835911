// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_TRIANGLES_HPP
#define PETSCSTRATA_TRIANGLES_HPP

// Solves with the factors of one precision.

#include <Strata_TriangularSolver.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/interface/Made.hpp>
#include <kernels/factorization/solve/SingleFactors.hpp>
#include <string>

#include "Arrays.hpp"
#include "FactorBase.hpp"

namespace PetscStrata {

/// Between vectors of PETSc's and those in the order of a factor. Null: the
/// order is the same.
struct Places {
  const PetscInt *rows = nullptr, *columns = nullptr;
  /// Square roots of the pivots of L D L^T: forward solves divide by them,
  /// backward ones multiply. Null: 1.
  const PetscReal* roots = nullptr;
};

/// to(i, c) = from(place(i), c) times root(i), scaled by a power of two that
/// makes the largest element of a column about 1, unless `largest` is null.
template <class S, class Exec>
struct MoveIn {
  Columns<Exec, Scalar> from;
  Columns<Exec, S> to;
  const PetscInt* place;
  const PetscReal* roots;
  const double* largest;
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt i) const {
    const PetscInt at = place ? place[i] : i;
    for (std::size_t c = 0; c < to.extent(1); ++c) {
      Scalar value = from(at, c);
      if (roots) value *= roots[i];
      if (largest)
        value *= static_cast<PetscReal>(Strata::Detail::power_of_two(
            -Strata::Detail::scaling_exponent(largest[c])));
      to(i, c) = Strata::Detail::narrow<S>(value);
    }
  }
};
/// The way back; the result is divided by root(i).
template <class S, class Exec>
struct MoveOut {
  Columns<Exec, S> from;
  Columns<Exec, Scalar> to;
  const PetscInt* place;
  const PetscReal* roots;
  const double* largest;
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt i) const {
    const PetscInt at = place ? place[i] : i;
    for (std::size_t c = 0; c < from.extent(1); ++c) {
      Scalar value = Strata::Detail::narrow<Scalar>(from(i, c));
      if (largest)
        value *= static_cast<PetscReal>(Strata::Detail::power_of_two(
            Strata::Detail::scaling_exponent(largest[c])));
      if (roots) value /= roots[i];
      to(at, c) = value;
    }
  }
};
/// The largest part of the elements of a column, if finite.
template <class Exec>
struct FindLargestPart {
  using value_type = double;
  Columns<Exec, Scalar> from;
  std::size_t column;
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt i,
                                         double& largest) const {
    using Part = Strata::Detail::RealPart<Scalar>;
    take(largest, Part::real(from(i, column)));
    take(largest, Part::imaginary(from(i, column)));
  }

 private:
  KOKKOS_INLINE_FUNCTION static void take(double& largest, double part) {
    const double size = part < 0 ? -part : part;
    if (size > largest && Strata::Detail::is_finite(size)) largest = size;
  }
};

/// Triangular solvers with L and U, and with their transposes from the first
/// solve that needs them: PETSc doesn't say beforehand that there will be one.
template <class S, class Exec>
class Triangles {
 public:
  using Graph = Strata::Detail::GraphWithLevels<Exec>;
  static constexpr bool is_rounded = !std::is_same<S, Scalar>::value;

  bool made() const { return made_; }
  const Strata::TriangularReport& report(Strata::Uplo uplo) const {
    return (uplo == Strata::Uplo::lower ? lower_ : upper_).report();
  }
  std::size_t bytes() const {
    std::size_t sum =
        (first_.span() + second_.span() + L_.span() + U_.span()) * sizeof(S);
    if (made_) sum += lower_.report().plan_bytes + upper_.report().plan_bytes;
    if (transposes_made_)
      sum += lower_transposed_.report().plan_bytes +
             upper_transposed_.report().plan_bytes;
    return sum;
  }

  /// The solvers get the values of L and U, whose patterns are those of the
  /// call before. The first time, and where they can't take them as they are
  /// planned, there is an analysis, with what is known of L in `graph_of_l`.
  /// Waits for `exec`.
  void take(const Exec& exec, const Matrix<Exec>& L, const Matrix<Exec>& U,
            const Strata::TriangularPlanOptions& options, Graph& graph_of_l) {
    options_ = options;
    transposes_fresh_ = false;
    if constexpr (is_rounded) {
      using Strata::Diag;
      using Strata::Uplo;
      const auto arrays_of_l = Strata::Detail::crs_arrays(L),
                 arrays_of_u = Strata::Detail::crs_arrays(U);
      Strata::Detail::require_single_range<Scalar, Exec>(
          exec, arrays_of_l, {Uplo::lower, Diag::unit});
      Strata::Detail::require_single_range<Scalar, Exec>(
          exec, arrays_of_u, {Uplo::upper, Diag::non_unit});
      round(exec, L.values, L_);
      round(exec, U.values, U_);
    }
    give(exec, lower_, L, Strata::Uplo::lower, Strata::Op::none, made_,
         &graph_of_l);
    graph_of_l = Graph();
    give(exec, upper_, U, Strata::Uplo::upper, Strata::Op::none, made_);
    exec.fence();
    made_ = true;
  }

  /// x = the solution of a step.
  void solve(const Exec& exec, const Matrix<Exec>& L, const Matrix<Exec>& U,
             const Columns<Exec, Scalar>& b, const Columns<Exec, Scalar>& x,
             Step step, const Places& places) {
    const auto n = b.extent(0), all = b.extent(1);
    if (n == 0 || all == 0) return;
    if (step == Step::transpose) make_transposed(exec, L, U);
    const bool moves = is_rounded || places.rows || places.columns ||
                       step == Step::forward || step == Step::backward;
    reserve(n, moves);
    if (!moves) {
      if constexpr (!is_rounded) {
        // A solve in place costs merged level sets another pass.
        const bool fits = n * all <= second_.extent(0);
        const auto between = fits ? block<S>(second_.data(), n, all) : x;
        first_of(step).solve(exec, b, between);
        second_of(step).solve(exec, between, x);
      }
      return;
    }
    const std::size_t most = second_.extent(0) / n;
    for (std::size_t c = 0; c < all; c += most) {
      const auto range = Kokkos::make_pair(c, c + std::min(most, all - c));
      solve_moved(exec, Kokkos::subview(b, Kokkos::ALL, range),
                  Kokkos::subview(x, Kokkos::ALL, range), step, places);
    }
  }

 private:
  using Solver = Strata::TriangularSolver<S, Exec>;
  using Values = Kokkos::View<S*, typename Exec::memory_space>;
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<PetscInt>>;

  template <class T>
  static Columns<Exec, T> block(T* data, std::size_t n, std::size_t columns) {
    return PetscStrata::columns<Exec, T>(data, static_cast<PetscInt>(n),
                                         static_cast<PetscInt>(columns),
                                         static_cast<PetscInt>(n));
  }
  static void reserve(Values& values, const char* label, std::size_t size) {
    if (values.extent(0) == size) return;
    values = Values();
    values = Values(Kokkos::view_alloc(Kokkos::WithoutInitializing,
                                       std::string("Strata::petsc::") + label),
                    size);
  }
  void reserve(std::size_t n, bool both) {
    const auto size =
        n * static_cast<std::size_t>(options_.max_right_hand_sides);
    reserve(second_, "between", size);
    if (!both) return;
    reserve(first_, "moved", size);
    if (is_rounded && largest_.extent(0) == 0)
      largest_ = decltype(largest_)(
          "Strata::petsc::largest",
          static_cast<std::size_t>(options_.max_right_hand_sides));
  }
  const Solver& first_of(Step step) const {
    return step == Step::transpose ? upper_transposed_ : lower_;
  }
  const Solver& second_of(Step step) const {
    return step == Step::transpose ? lower_transposed_ : upper_;
  }

  template <class B, class X>
  void solve_moved(const Exec& exec, const B& b, const X& x, Step step,
                   const Places& places) {
    const auto n = static_cast<PetscInt>(b.extent(0));
    const auto first = block<S>(first_.data(), b.extent(0), b.extent(1)),
               second = block<S>(second_.data(), b.extent(0), b.extent(1));
    const double* largest = nullptr;
    if (is_rounded) {
      largest = largest_.data();
      for (std::size_t c = 0; c < b.extent(1); ++c)
        Kokkos::parallel_reduce(
            "Strata::petsc::largest", Range(exec, 0, n),
            FindLargestPart<Exec>{b, c},
            Kokkos::Max<double, typename Exec::memory_space>(
                Kokkos::subview(largest_, c)));
    }
    // In the order of the factor are: what a forward solve results in, and what
    // a backward one begins with.
    const bool transposed = step == Step::transpose;
    const PetscInt* from = step == Step::backward
                               ? nullptr
                               : (transposed ? places.columns : places.rows);
    const PetscInt* to = step == Step::forward
                             ? nullptr
                             : (transposed ? places.rows : places.columns);
    Kokkos::parallel_for(
        "Strata::petsc::move_in", Range(exec, 0, n),
        MoveIn<S, Exec>{b, first, from,
                        step == Step::backward ? places.roots : nullptr,
                        largest});
    if (step != Step::backward) first_of(step).solve(exec, first, second);
    if (step == Step::backward)
      second_of(step).solve(exec, first, second);
    else if (step != Step::forward)
      second_of(step).solve(exec, second, first);
    const bool one = step == Step::forward || step == Step::backward;
    Kokkos::parallel_for(
        "Strata::petsc::move_out", Range(exec, 0, n),
        MoveOut<S, Exec>{one ? second : first, x, to,
                         step == Step::forward ? places.roots : nullptr,
                         largest});
  }

  template <class From>
  static void round(const Exec& exec, const From& from, Values& to) {
    reserve(to, "rounded", from.extent(0));
    Kokkos::parallel_for(
        "Strata::petsc::round",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
            exec, 0, static_cast<std::int64_t>(from.extent(0))),
        Strata::Detail::RoundValues<Scalar>{from.data(), to.data()});
  }
  void make_transposed(const Exec& exec, const Matrix<Exec>& L,
                       const Matrix<Exec>& U) {
    if (transposes_fresh_) return;
    give(exec, lower_transposed_, L, Strata::Uplo::lower, Strata::Op::transpose,
         transposes_made_);
    give(exec, upper_transposed_, U, Strata::Uplo::upper, Strata::Op::transpose,
         transposes_made_);
    exec.fence();
    transposes_made_ = transposes_fresh_ = true;
  }
  void give(const Exec& exec, Solver& solver, const Matrix<Exec>& T,
            Strata::Uplo uplo, Strata::Op op, bool is_made,
            const Graph* graph = nullptr) {
    const bool is_lower = uplo == Strata::Uplo::lower;
    auto arrays = values_of(T, is_lower ? L_ : U_);
    if (is_made) {
      try {
        solver.update_values(
            exec, Kokkos::View<const S*, typename Exec::memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                      arrays.values, arrays.num_values));
        return;
      } catch (const Strata::ScalingError&) {
        // Another algorithm takes them.
      }
    }
    const auto diag = is_lower ? Strata::Diag::unit : Strata::Diag::non_unit;
    Strata::TriangularOptions how{options_};
    how.op = op;
    Strata::Detail::Internals::analyse(solver, exec, arrays, uplo, diag, how,
                                       graph);
  }
  /// T with its values, or those that were rounded.
  static auto values_of(const Matrix<Exec>& T, const Values& rounded) {
    const auto given = Strata::Detail::crs_arrays(T);
    if constexpr (!is_rounded) {
      return given;
    } else {
      Strata::Detail::CrsArrays<S> arrays;
      arrays.row_map = given.row_map;
      arrays.entries = given.entries;
      arrays.values = rounded.data();
      arrays.num_values = given.num_values;
      arrays.columns = given.columns;
      return arrays;
    }
  }

  Strata::TriangularPlanOptions options_;
  bool made_ = false, transposes_made_ = false, transposes_fresh_ = false;
  Solver lower_, upper_, lower_transposed_, upper_transposed_;
  Values L_, U_;           // rounded
  Values first_, second_;  // vectors: moved, and between the triangles
  Kokkos::View<double*, typename Exec::memory_space> largest_;
};

}  // namespace PetscStrata

#endif
