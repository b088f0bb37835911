// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_EXPECTATIONS_HPP
#define STRATA_CORE_INTERFACE_EXPECTATIONS_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace Strata {
namespace Detail {

// What a caller's types have to be. Each struct says the first thing that is
// wrong, in a sentence, and has `value`: a function that goes on only where
// that is true adds no errors of its own.

template <class Scalar>
struct IsScalar : std::false_type {};
template <>
struct IsScalar<float> : std::true_type {};
template <>
struct IsScalar<double> : std::true_type {};
template <>
struct IsScalar<Kokkos::complex<float>> : std::true_type {};
template <>
struct IsScalar<Kokkos::complex<double>> : std::true_type {};

/// Of a solver.
template <class Scalar>
struct ExpectScalar : IsScalar<Scalar> {
  static_assert(IsScalar<Scalar>::value,
                "Strata: the scalar type must be float, double, "
                "Kokkos::complex<float> or Kokkos::complex<double>");
};

/// What is known of a type that may be a view; of one that is not, no more than
/// that.
template <class View, bool = Kokkos::is_view<View>::value>
struct ViewFacts {
  static constexpr bool is_view = false, is_contiguous = false,
                        is_writable = false, is_integer = false;
  static constexpr int rank = 0;
  using Element = void;
  template <class>
  static constexpr bool is_of = false;
  template <class>
  static constexpr bool is_accessible = false;
};
template <class View>
struct ViewFacts<View, true> {
  using Element = typename View::non_const_value_type;
  static constexpr bool is_view = true;
  static constexpr bool is_contiguous =
      !std::is_same<typename View::array_layout, Kokkos::LayoutStride>::value;
  static constexpr bool is_writable =
      std::is_same<typename View::value_type, Element>::value;
  static constexpr bool is_integer = std::is_integral<Element>::value;
  static constexpr int rank = static_cast<int>(View::rank);
  template <class Scalar>
  static constexpr bool is_of = std::is_same<Element, Scalar>::value;
  template <class ExecutionSpace>
  static constexpr bool is_accessible =
      Kokkos::SpaceAccessibility<ExecutionSpace,
                                 typename View::memory_space>::accessible;
};

/// Right-hand sides b, which are read, and solutions x.
template <class Scalar, class ExecutionSpace, class B, class X,
          int most_rank = 2>
struct ExpectVectors {
  using OfB = ViewFacts<B>;
  using OfX = ViewFacts<X>;
  static constexpr bool known = ExpectScalar<Scalar>::value;
  static constexpr bool are_views = OfB::is_view && OfX::is_view;
  static_assert(!known || are_views,
                "Strata: b and x must be Kokkos::View objects");
  static constexpr bool views = known && are_views;
  static constexpr bool ranks = OfB::rank >= 1 && OfB::rank <= most_rank &&
                                OfX::rank >= 1 && OfX::rank <= most_rank;
  static_assert(
      !views || ranks || most_rank != 1,
      "Strata: b and x must be views of rank 1: this solver takes one "
      "right-hand side");
  static_assert(!views || ranks || most_rank != 2,
                "Strata: b and x must be views of rank 1, or of rank 2 with a "
                "column for each right-hand side");
  static_assert(!views || ranks || most_rank != 3,
                "Strata: b and x must be views of rank 1, of rank 2 with a "
                "column for each right-hand side, or of rank 3 for a batch");
  static constexpr bool same_rank = most_rank < 3 || OfB::rank == OfX::rank;
  static_assert(!views || !ranks || same_rank,
                "Strata: b and x must be views of the same rank");
  static constexpr bool shaped = views && ranks && same_rank;
  static constexpr bool scalars =
      OfB::template is_of<Scalar> && OfX::template is_of<Scalar>;
  static_assert(!shaped || scalars,
                "Strata: the elements of b and x must have the scalar type of "
                "the solver's matrix");
  static constexpr bool writable = OfX::is_writable;
  static_assert(!shaped || !scalars || writable,
                "Strata: x is written: its elements must not be const");
  static constexpr bool accessible =
      OfB::template is_accessible<ExecutionSpace> &&
      OfX::template is_accessible<ExecutionSpace>;
  static_assert(
      !shaped || !scalars || !writable || accessible,
      "Strata: b and x must be in memory that the execution space can "
      "access: copy them there (Kokkos::deep_copy)");
  static constexpr bool value = shaped && scalars && writable && accessible;
};

/// Vectors x, which are read, and y, which are written, of a product.
template <class Scalar, class ExecutionSpace, class X, class Y>
struct ExpectProduct {
  using OfX = ViewFacts<X>;
  using OfY = ViewFacts<Y>;
  static constexpr bool known = ExpectScalar<Scalar>::value;
  static constexpr bool are_views =
      OfX::rank >= 1 && OfX::rank <= 2 && OfY::rank >= 1 && OfY::rank <= 2;
  static_assert(!known || are_views,
                "Strata: x and y must be Kokkos::View objects of rank 1, or of "
                "rank 2 with a vector in each column");
  static constexpr bool views = known && are_views;
  static constexpr bool scalars =
      OfX::template is_of<Scalar> && OfY::template is_of<Scalar>;
  static_assert(!views || scalars,
                "Strata: the elements of x and y must have the scalar type of "
                "the matrix");
  static constexpr bool writable = OfY::is_writable;
  static_assert(!views || !scalars || writable,
                "Strata: y is written: its elements must not be const");
  static constexpr bool accessible =
      OfX::template is_accessible<ExecutionSpace> &&
      OfY::template is_accessible<ExecutionSpace>;
  static_assert(
      !views || !scalars || !writable || accessible,
      "Strata: x and y must be in memory that the execution space can "
      "access: copy them there (Kokkos::deep_copy)");
  static constexpr bool value = views && scalars && writable && accessible;
};

/// A view of a matrix's values.
/// @tparam has_rank  whether its rank is one of those that are wanted
template <class Scalar, class ExecutionSpace, class Values, bool has_rank>
struct ExpectArray {
  using Of = ViewFacts<Values>;
  static constexpr bool known = ExpectScalar<Scalar>::value;
  static constexpr bool view = known && has_rank;
  static constexpr bool scalar = Of::template is_of<Scalar>;
  static_assert(!view || scalar,
                "Strata: the values must have the scalar type that the solver "
                "or matrix was made for");
  static constexpr bool accessible = Of::template is_accessible<ExecutionSpace>;
  static_assert(!view || !scalar || accessible,
                "Strata: the matrix must be in memory that the execution space "
                "can access: copy it there (Kokkos::deep_copy)");
  static constexpr bool value = view && scalar && accessible;
};

/// The values of a CRS matrix.
template <class Scalar, class ExecutionSpace, class Values>
struct ExpectValues : ExpectArray<Scalar, ExecutionSpace, Values,
                                  ViewFacts<Values>::rank == 1> {
  using Base = typename ExpectValues::ExpectArray;
  static_assert(!Base::known || Base::Of::rank == 1,
                "Strata: the values must be a Kokkos::View of rank 1");
  static constexpr bool contiguous = Base::Of::is_contiguous;
  static_assert(!Base::value || contiguous,
                "Strata: the values of a matrix must be contiguous: no "
                "LayoutStride");
  static constexpr bool value = Base::value && contiguous;
};

/// The three views of a CRS matrix.
template <class Scalar, class ExecutionSpace, class RowMap, class Entries,
          class Values>
struct ExpectMatrixViews {
  using OfRows = ViewFacts<RowMap>;
  using OfEntries = ViewFacts<Entries>;
  static constexpr bool known = ExpectScalar<Scalar>::value;
  static constexpr bool are_views = OfRows::is_view && OfEntries::is_view &&
                                    OfRows::rank == 1 && OfEntries::rank == 1;
  static_assert(!known || are_views,
                "Strata: the row map and the entries must be Kokkos::View "
                "objects of rank 1");
  static constexpr bool views = known && are_views;
  static constexpr bool integers = OfRows::is_integer && OfEntries::is_integer;
  static_assert(!views || integers,
                "Strata: the row map (offsets) and the entries (zero-based "
                "columns) must be integers; the order of arguments is row map, "
                "entries, values");
  static constexpr bool accessible =
      OfRows::template is_accessible<ExecutionSpace> &&
      OfEntries::template is_accessible<ExecutionSpace>;
  static_assert(!views || !integers || accessible,
                "Strata: the matrix must be in memory that the execution space "
                "can access: copy it there (Kokkos::deep_copy)");
  static constexpr bool pattern = views && integers && accessible;
  static constexpr bool value =
      std::conditional_t<pattern, ExpectValues<Scalar, ExecutionSpace, Values>,
                         std::false_type>::value;
};

template <class Matrix, class = void>
struct IsCrsMatrix : std::false_type {};
template <class Matrix>
struct IsCrsMatrix<Matrix, std::void_t<typename Matrix::staticcrsgraph_type>>
    : std::true_type {};

/// A KokkosSparse::CrsMatrix.
template <class Scalar, class ExecutionSpace, class Matrix,
          bool = IsCrsMatrix<Matrix>::value>
struct ExpectMatrix : std::false_type {
  static_assert(
      IsCrsMatrix<Matrix>::value,
      "Strata: the matrix must be a KokkosSparse::CrsMatrix; row map, "
      "entries and values are three views in its place");
};
template <class Scalar, class ExecutionSpace, class Matrix>
struct ExpectMatrix<Scalar, ExecutionSpace, Matrix, true>
    : ExpectMatrixViews<Scalar, ExecutionSpace, typename Matrix::row_map_type,
                        typename Matrix::index_type,
                        typename Matrix::values_type> {};

/// A band, or a batch of them.
template <class Scalar, class ExecutionSpace, class Band,
          bool is_band =
              ViewFacts<Band>::rank == 2 || ViewFacts<Band>::rank == 3>
struct ExpectBand : ExpectArray<Scalar, ExecutionSpace, Band, is_band> {
  static_assert(
      !IsScalar<Scalar>::value || is_band,
      "Strata: the band must be a Kokkos::View of rank 2 (diagonals x "
      "columns), or of rank 3 for a batch");
};

/// A dense matrix.
template <class Scalar, class ExecutionSpace, class Matrix,
          bool is_dense = ViewFacts<Matrix>::rank == 2>
struct ExpectDense : ExpectArray<Scalar, ExecutionSpace, Matrix, is_dense> {
  static_assert(!IsScalar<Scalar>::value || is_dense,
                "Strata: a dense matrix must be a Kokkos::View of rank 2");
};
template <class Scalar, class ExecutionSpace, class Matrix>
struct ExpectWritableDense : ExpectDense<Scalar, ExecutionSpace, Matrix> {
  using Base = ExpectDense<Scalar, ExecutionSpace, Matrix>;
  static constexpr bool writable = Base::Of::is_writable;
  static_assert(!Base::value || writable,
                "Strata: a dense matrix that is written must not be const");
  static constexpr bool value = Base::value && writable;
};

/// Two arguments of a function that moves elements from one to the other.
template <class ExecutionSpace, class From, class To>
struct ExpectMove {
  using OfFrom = ViewFacts<From>;
  using OfTo = ViewFacts<To>;
  static constexpr bool shaped = (OfFrom::rank == 1 || OfFrom::rank == 2) &&
                                 (OfTo::rank == 1 || OfTo::rank == 2);
  static_assert(shaped,
                "Strata: both vectors must be Kokkos::View objects of rank 1, "
                "or of rank 2 with a vector in each column");
  static constexpr bool scalars =
      OfTo::template is_of<typename OfFrom::Element> && OfTo::is_writable;
  static_assert(!shaped || scalars,
                "Strata: both vectors must have the same scalar type, and the "
                "one written must not be const");
  static constexpr bool accessible =
      OfFrom::template is_accessible<ExecutionSpace> &&
      OfTo::template is_accessible<ExecutionSpace>;
  static_assert(!shaped || !scalars || accessible,
                "Strata: both vectors must be in memory that the execution "
                "space can access: copy them there (Kokkos::deep_copy)");
  static constexpr bool value = shaped && scalars && accessible;
};

/// The scalar of a view or matrix, for the deduction of a solver's type; of
/// what has none, one with which the constructor can say so.
template <class Values, class = void>
struct ScalarOf {
  using type = double;
};
template <class Values>
struct ScalarOf<Values, std::void_t<typename Values::non_const_value_type>> {
  using type = typename Values::non_const_value_type;
};

}  // namespace Detail
}  // namespace Strata

#endif
