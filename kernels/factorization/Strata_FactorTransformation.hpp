// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FACTOR_TRANSFORMATION_HPP
#define STRATA_FACTOR_TRANSFORMATION_HPP

#include <Kokkos_Core.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/IndexArray.hpp>
#include <core/scalar/RealPart.hpp>
#include <memory>

namespace Strata {

namespace Detail {

/// A caller's permutation, which `owner` keeps alive.
struct OptionalIndices {
  IndexArray array;
  bool is_set = false;
  std::shared_ptr<const void> owner;
};

/// A caller's scaling, of real or of the system's scalars.
struct ScalingArray {
  const void* data = nullptr;
  std::size_t extent = 0;
  std::int64_t stride = 1;
  bool is_real = false, is_set = false;

  template <class Scalar>
  KOKKOS_INLINE_FUNCTION Scalar get(std::int64_t i) const {
    return is_real
               ? Scalar(static_cast<const RealOf<Scalar>*>(data)[i * stride])
               : static_cast<const Scalar*>(data)[i * stride];
  }
};

}  // namespace Detail

/// How the factors L and U of a FactorSolver or an IncompleteFactorization come
/// from a matrix A:
///
///     Pr Dr A Dc Pc = L U,
///
/// with the names and meaning of SuperLU. Dr and Dc are diagonal, with
/// row_scaling(i) and column_scaling(i) as their elements. Row i of A is row
/// row_permutation(i) of Pr A, and column i of A is column
/// column_permutation(i) of A Pc. What is not set is the identity. (SciPy's
/// `splu` has both as `perm_r` and `perm_c`. Where another program's list says
/// which row of A comes to place i, as PETSc's index sets do, pass its
/// inverse. SuperLU and `splu` keep L and U by columns: FactorSolver needs them
/// as CRS matrices.)
///
/// The views are looked at when a solver is made or updated, which copies them;
/// until then this keeps them alive.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class FactorTransformation {
 public:
  /// n integers of any type, in memory that the space can access: each of 0 to
  /// n - 1 once.
  template <class View>
  FactorTransformation& row_permutation(const View& view) {
    row_permutation_ = indices(view);
    return *this;
  }
  template <class View>
  FactorTransformation& column_permutation(const View& view) {
    column_permutation_ = indices(view);
    return *this;
  }
  /// n finite numbers other than 0, of the scalar type or its real one, in
  /// memory that the space can access.
  template <class View>
  FactorTransformation& row_scaling(const View& view) {
    row_owner_ = scaling(view, row_scaling_);
    return *this;
  }
  template <class View>
  FactorTransformation& column_scaling(const View& view) {
    column_owner_ = scaling(view, column_scaling_);
    return *this;
  }

  /// Whether any is set.
  bool permutes() const {
    return row_permutation_.is_set || column_permutation_.is_set;
  }
  bool scales() const { return row_scaling_.is_set || column_scaling_.is_set; }

  // For the library.
  const Detail::OptionalIndices& row_permutation() const {
    return row_permutation_;
  }
  const Detail::OptionalIndices& column_permutation() const {
    return column_permutation_;
  }
  const Detail::ScalingArray& row_scaling() const { return row_scaling_; }
  const Detail::ScalingArray& column_scaling() const { return column_scaling_; }

 private:
  template <class View>
  static Detail::OptionalIndices indices(const View& view) {
    using Of = Detail::ViewFacts<View>;
    static_assert(Of::rank == 1 && Of::is_integer,
                  "Strata: a permutation must be a Kokkos::View of rank 1 with "
                  "integers");
    static_assert(Of::template is_accessible<ExecutionSpace>,
                  "Strata: a permutation must be in memory that the execution "
                  "space can access: copy it there (Kokkos::deep_copy)");
    return {view, true, std::make_shared<const View>(view)};
  }
  template <class View>
  static std::shared_ptr<const void> scaling(const View& view,
                                             Detail::ScalingArray& to) {
    using Of = Detail::ViewFacts<View>;
    using Real = Detail::RealOf<Scalar>;
    static_assert(
        Of::rank == 1 &&
            (Of::template is_of<Scalar> || Of::template is_of<Real>),
        "Strata: a scaling must be a Kokkos::View of rank 1 with elements of "
        "the solver's scalar type or its real one");
    static_assert(Of::template is_accessible<ExecutionSpace>,
                  "Strata: a scaling must be in memory that the execution "
                  "space can access: copy it there (Kokkos::deep_copy)");
    const bool has_stride = view.extent(0) > 1;
    to = {view.data(), view.extent(0),
          has_stride ? static_cast<std::int64_t>(view.stride(0)) : 1,
          Of::template is_of<Real>, true};
    return std::make_shared<const View>(view);
  }

  Detail::OptionalIndices row_permutation_, column_permutation_;
  Detail::ScalingArray row_scaling_, column_scaling_;
  std::shared_ptr<const void> row_owner_, column_owner_;
};

}  // namespace Strata

#endif
