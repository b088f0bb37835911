// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_COMPILED_HPP
#define STRATA_CORE_INTERFACE_COMPILED_HPP

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <core/interface/Expectations.hpp>
#include <type_traits>

// What libstrata has and what a program compiles itself.
//
// A class has its public header, Strata_Name.hpp, with members that check the
// types of a caller's arguments and pass them on as types that do not depend on
// them, and NameImplementation.hpp, with the members that do the work. A
// program that links libstrata includes the former alone. Strata::strata then
// defines STRATA_LIBRARY and, as 0 or 1, STRATA_LIBRARY_FLOAT, _DOUBLE,
// _COMPLEX_FLOAT and _COMPLEX_DOUBLE, and those of
// STRATA_LIBRARY_WITHOUT_SERIAL, _OPENMP and so on whose spaces the library was
// built without. Without STRATA_LIBRARY the public headers include the
// implementations.
#if !defined(STRATA_LIBRARY)
#define STRATA_LIBRARY 0
#endif

namespace Strata {
namespace Detail {

/// Whether libstrata has what is compiled for a scalar; for a space, see
/// library_has_space (core/device/Backend.hpp).
template <class Scalar>
inline constexpr bool library_has_scalar = false;

#if STRATA_LIBRARY
template <>
inline constexpr bool library_has_scalar<float> = STRATA_LIBRARY_FLOAT;
template <>
inline constexpr bool library_has_scalar<double> = STRATA_LIBRARY_DOUBLE;
template <>
inline constexpr bool library_has_scalar<Kokkos::complex<float>> =
    STRATA_LIBRARY_COMPLEX_FLOAT;
template <>
inline constexpr bool library_has_scalar<Kokkos::complex<double>> =
    STRATA_LIBRARY_COMPLEX_DOUBLE;
#endif

/// Whether a program has included the implementation of a class, which says so
/// by a specialisation. Asked where a member is instantiated, after all
/// includes.
template <class Class>
struct HasImplementation : std::false_type {};

/// That a member of a class can be linked.
template <class Class, class Scalar, class ExecutionSpace>
constexpr bool expect_compiled() {
  constexpr bool has_implementation = HasImplementation<Class>::value;
  static_assert(
      !IsScalar<Scalar>::value || has_implementation ||
          library_has_scalar<Scalar>,
      "Strata: libstrata was built without this scalar type: add it to "
      "Strata_SCALARS where Strata is configured, or include the "
      "implementation of this class (NameImplementation.hpp beside its "
      "header)");
  static_assert(
      has_implementation || library_has_space<ExecutionSpace>,
      "Strata: libstrata was built without this execution space: enable it in "
      "Kokkos and Strata_SPACES, or include the implementation of this class "
      "(NameImplementation.hpp beside its header)");
  return true;
}

/// What members of a class ask of a caller's types: that one of the structs of
/// Expectations.hpp says yes, and then that the class is compiled.
template <class Class, class Scalar, class ExecutionSpace>
struct Expects {
  template <class Expect>
  static constexpr bool that() {
    if constexpr (Expect::value) {
      return expect_compiled<Class, Scalar, ExecutionSpace>();
    } else {
      return false;
    }
  }
  template <class Matrix>
  static constexpr bool matrix =
      that<ExpectMatrix<Scalar, ExecutionSpace, Matrix>>();
  template <class RowMap, class Entries, class Values>
  static constexpr bool matrix_views = that<
      ExpectMatrixViews<Scalar, ExecutionSpace, RowMap, Entries, Values>>();
  template <class Values>
  static constexpr bool values =
      that<ExpectValues<Scalar, ExecutionSpace, Values>>();
  template <class B, class X, int most_rank = 2>
  static constexpr bool vectors =
      that<ExpectVectors<Scalar, ExecutionSpace, B, X, most_rank>>();
};

}  // namespace Detail
}  // namespace Strata

#endif
