// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTOR_SOLVES_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTOR_SOLVES_HPP

#include <Strata_TriangularSolver.hpp>
#include <atomic>
#include <core/device/Profiling.hpp>
#include <core/interface/Sharers.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/triangular/OptionChecks.hpp>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// x = conj(b); x may be b.
template <class Scalar>
struct ConjugateRows {
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  std::int64_t columns;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    for (std::int64_t c = 0; c < columns; ++c)
      x(row, c) = Kokkos::conj(b(row, c));
  }
};

/// What solves with both factors are made for.
struct FactorSolveOptions {
  TriangularOptions triangular;
  Diag lower_diag = Diag::unit, upper_diag = Diag::non_unit;
  /// Whether apply takes the transposes, too.
  bool transpose = false;
};

/// Triangular options of solves with both factors. @throws OptionError
template <class Scalar>
void check_factor_solve_options(const TriangularOptions& options) {
  check_options(options);
  check_accuracy<Scalar>(with_old_names(options));
  if (options.op != Op::none)
    throw OptionError("op", "is not none",
                      "leave it: it is an argument of apply");
}

/// The triangular solvers with L and U. Those with the transposes are empty
/// unless they are asked for.
template <class Scalar, class ExecutionSpace>
struct FactorTriangles {
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;
  using Matrix = CrsArrays<Scalar>;

  Solver lower, upper, lower_transposed, upper_transposed;
  bool transpose = false;

  FactorTriangles() = default;
  FactorTriangles(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                  const FactorSolveOptions& options)
      : transpose(options.transpose) {
    using Expect = ExpectCompiled<Solver, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    TriangularOptions how = options.triangular;
    const Diag of_lower = options.lower_diag, of_upper = options.upper_diag;
    Internals::analyse(lower, exec, L, Uplo::lower, of_lower, how);
    Internals::analyse(upper, exec, U, Uplo::upper, of_upper, how);
    if (!transpose) return;
    how.op = Op::transpose;
    Internals::analyse(lower_transposed, exec, L, Uplo::lower, of_lower, how);
    Internals::analyse(upper_transposed, exec, U, Uplo::upper, of_upper, how);
  }

  /// Solvers with the same plans and values, and workspaces of their own. Waits
  /// for `exec`.
  FactorTriangles share_plans(const ExecutionSpace& exec) const {
    FactorTriangles made;
    made.transpose = transpose;
    made.lower = lower.share_plan(exec);
    made.upper = upper.share_plan(exec);
    if (!transpose) return made;
    made.lower_transposed = lower_transposed.share_plan(exec);
    made.upper_transposed = upper_transposed.share_plan(exec);
    return made;
  }

  /// All solvers get values of L and U. Waits for `exec`.
  void take_values(const ExecutionSpace& exec, const Matrix& L,
                   const Matrix& U) const {
    const auto give = [&](const Solver& solver, const Matrix& factor) {
      // Copies of a solver share their values.
      Solver shared = solver;
      Internals::update(shared, exec, factor.values, factor.num_values);
    };
    give(lower, L);
    give(upper, U);
    if (transpose) {
      give(lower_transposed, L);
      give(upper_transposed, U);
    }
    exec.fence();
  }
};

/// Solves with both factors, x = op(L U)^-1 b. The triangular solvers have
/// values of their own; the values in use are kept beside them, so that an
/// update which is broken off can be undone.
///
/// A copy that share() has made does nothing but apply. All values are those of
/// the original.
template <class Scalar, class ExecutionSpace>
class FactorSolves {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Matrix = CrsArrays<Scalar>;
  using Values = Kokkos::View<Scalar*, Memory>;
  using Triangles = FactorTriangles<Scalar, ExecutionSpace>;

  FactorSolves() = default;
  /// Waits for `exec`.
  /// @param options were checked
  /// @throws what the constructor of TriangularSolver throws
  FactorSolves(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
               const FactorSolveOptions& options)
      : options_(options),
        rows_(L.rows()),
        lower_values_(values_like(L)),
        upper_values_(values_like(U)),
        triangles_(exec, L, U, options) {
    keep_values(exec, L, U);
  }

  /// Other values of L and U. Where the solvers can't take them as they are
  /// planned, there are new ones. After an exception the old values stay.
  /// Waits for `exec`.
  /// @param prepare  is called with new solvers before they are put to use
  template <class Prepare>
  void take_values(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                   const Prepare& prepare) {
    try {
      try {
        shared_->whole = false;
        triangles_.take_values(exec, L, U);
        shared_->whole = true;
        keep_values(exec, L, U);
      } catch (const ScalingError&) {
        // Other algorithms take them.
        exec.fence();
        Triangles triangles(exec, L, U, options_);
        prepare(triangles);
        const auto sharers = shared_->in_use();
        std::vector<Triangles> of_sharers;
        for (std::size_t i = 0; i < sharers.size(); ++i)
          of_sharers.push_back(triangles.share_plans(exec));
        keep_values(exec, L, U);
        triangles_ = std::move(triangles);
        for (std::size_t i = 0; i < sharers.size(); ++i)
          sharers[i]->triangles_ = std::move(of_sharers[i]);
        shared_->whole = true;
      }
    } catch (...) {
      try {
        make_whole(exec);
      } catch (...) {
        // The next apply tries again.
      }
      throw;
    }
  }

  /// Applies that may overlap in time with those of this object: plans and
  /// values are shared, workspaces are not. Waits for `exec`.
  std::shared_ptr<FactorSolves> share(const ExecutionSpace& exec) const {
    const auto made = std::make_shared<FactorSolves>(*this);
    made->triangles_ = triangles_.share_plans(exec);
    shared_->add(made);
    return made;
  }

  /// See IncompleteFactorization::apply.
  void apply(const ExecutionSpace& exec, const StridedBlock& b,
             const StridedBlock& x, Op op) {
    require_enumerator("op", op);
    if (op != Op::none && !options_.transpose)
      throw OptionError("op",
                        std::string("is ") + to_string(op) +
                            ", and there are no solvers with the transposes",
                        "set the option `transpose`");
    check_vectors(rows_, b, x);
    const std::int64_t columns = x.extent[1];
    if (rows_ == 0 || columns == 0) return;
    make_whole(exec);
    if (op == Op::none) {
      Internals::solve(triangles_.lower, exec, b, x);
      Internals::solve(triangles_.upper, exec, x, x);
      return;
    }
    // (L U)^H x = b is (L U)^T conj(x) = conj(b).
    constexpr bool is_complex = !std::is_same<RealOf<Scalar>, Scalar>::value;
    const bool conjugates = is_complex && op == Op::conjugate_transpose;
    if (conjugates) conjugate(exec, b, x, columns);
    Internals::solve(triangles_.upper_transposed, exec, conjugates ? x : b, x);
    Internals::solve(triangles_.lower_transposed, exec, x, x);
    if (conjugates) conjugate(exec, x, x, columns);
  }

  std::int64_t rows() const { return rows_; }
  const Triangles& triangles() const { return triangles_; }
  /// Those in use, in the order of the matrices.
  const Values& lower_values() const { return lower_values_; }
  const Values& upper_values() const { return upper_values_; }

 private:
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  using Borrowed = Kokkos::View<const Scalar*, Memory,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  struct Shared : Sharers<FactorSolves> {
    /// All solvers have the values in use.
    std::atomic<bool> whole{true};
    std::mutex of_update;
  };

  static Values values_like(const Matrix& factor) {
    return make_unfilled<Values>("Strata::FactorSolves::values",
                                 static_cast<std::int64_t>(factor.num_values));
  }
  /// They become those in use. Waits for `exec`.
  void keep_values(const ExecutionSpace& exec, const Matrix& L,
                   const Matrix& U) const {
    Kokkos::deep_copy(exec, lower_values_, Borrowed(L.values, L.num_values));
    Kokkos::deep_copy(exec, upper_values_, Borrowed(U.values, U.num_values));
    exec.fence();
  }
  /// After an update that was broken off, all solvers get the old values back.
  void make_whole(const ExecutionSpace& exec) {
    if (shared_->whole) return;
    // One of those that share the plans does it for all.
    const std::lock_guard<std::mutex> lock(shared_->of_update);
    if (shared_->whole) return;
    Matrix L, U;
    L.values = lower_values_.data();
    L.num_values = lower_values_.extent(0);
    U.values = upper_values_.data();
    U.num_values = upper_values_.extent(0);
    triangles_.take_values(exec, L, U);
    shared_->whole = true;
  }

  static void conjugate(const ExecutionSpace& exec, const StridedBlock& b,
                        const StridedBlock& x, std::int64_t columns) {
    if constexpr (!std::is_same<RealOf<Scalar>, Scalar>::value) {
      Kokkos::parallel_for(
          "Strata::FactorSolves::conjugate", Range(exec, 0, x.extent[0]),
          ConjugateRows<Scalar>{multi_vector_ref<const Scalar>(b),
                                multi_vector_ref<Scalar>(x), columns});
    }
  }

  FactorSolveOptions options_;
  std::int64_t rows_ = 0;
  Values lower_values_, upper_values_;
  Triangles triangles_;
  /// Of all that share the plans.
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace Detail
}  // namespace Strata

#endif
