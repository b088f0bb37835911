// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_ARRAYS_HPP
#define STRATA_PYTHON_ARRAYS_HPP

// Arrays of Python as views of Kokkos, without copies: nanobind takes them by
// the buffer protocol or DLPack, and the views do not own them.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace StrataPython {

namespace nb = nanobind;

using Host = Kokkos::DefaultHostExecutionSpace;

/// What nanobind calls the memory of an execution space, the name that Python
/// code has for the space, and an instance of it that works on a stream.
template <class Space>
struct SpaceFacts {
  using Memory = nb::device::cpu;
  static constexpr const char* name = "host";
  static Space on_stream(std::uintptr_t) { return Space(); }
};
#if defined(KOKKOS_ENABLE_CUDA)
template <>
struct SpaceFacts<Kokkos::Cuda> {
  using Memory = nb::device::cuda;
  static constexpr const char* name = "cuda";
  /// The stream of that handle; 0 is the legacy default stream, as everywhere
  /// in CUDA. @throws HandleError where it is none
  static Kokkos::Cuda on_stream(std::uintptr_t stream);
};
#endif

/// Scalars as nanobind knows them, and their names in NumPy.
template <class Scalar>
struct ScalarFacts;
template <>
struct ScalarFacts<float> {
  using Interface = float;
  static constexpr const char* name = "float32";
};
template <>
struct ScalarFacts<double> {
  using Interface = double;
  static constexpr const char* name = "float64";
};
template <>
struct ScalarFacts<Kokkos::complex<float>> {
  using Interface = std::complex<float>;
  static constexpr const char* name = "complex64";
};
template <>
struct ScalarFacts<Kokkos::complex<double>> {
  using Interface = std::complex<double>;
  static constexpr const char* name = "complex128";
};
template <class Scalar>
using InterfaceOf = typename ScalarFacts<Scalar>::Interface;

/// "TriangularSolver_float64_host": what Python code finds a class by.
template <class Scalar, class Space>
std::string class_name(const char* name) {
  return std::string(name) + "_" + ScalarFacts<Scalar>::name + "_" +
         SpaceFacts<Space>::name;
}

// --- What is passed in -------------------------------------------------------

/// Contiguous and of one dimension, read.
template <class Scalar, class Space>
using Values = nb::ndarray<const InterfaceOf<Scalar>, nb::ndim<1>, nb::c_contig,
                           typename SpaceFacts<Space>::Memory>;
/// The same of int32 or int64.
template <class Space>
using Indices = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig,
                            typename SpaceFacts<Space>::Memory>;
/// Of any strides.
template <class Scalar, class Space>
using Read =
    nb::ndarray<const InterfaceOf<Scalar>, typename SpaceFacts<Space>::Memory>;
template <class Scalar, class Space>
using Written =
    nb::ndarray<InterfaceOf<Scalar>, typename SpaceFacts<Space>::Memory>;

/// Where an object of Python keeps a copy of its values, if anywhere.
template <class Scalar, class Space>
using Kept = std::optional<Written<Scalar, Space>>;

/// Contiguous and of one dimension, of a host or a GPU: to be written.
template <class Element>
using Filled = nb::ndarray<Element, nb::ndim<1>, nb::c_contig>;

/// Where an array is on a GPU, as frameworks tell it without DLPack: pointer,
/// n, k and two strides in elements.
struct Place {
  std::uintptr_t pointer;
  std::int64_t rows, columns, row_stride, column_stride;
};
using PlaceTuple = std::tuple<std::uintptr_t, std::int64_t, std::int64_t,
                              std::int64_t, std::int64_t>;
inline Place place_of(const PlaceTuple& of) {
  return {std::get<0>(of), std::get<1>(of), std::get<2>(of), std::get<3>(of),
          std::get<4>(of)};
}

// --- Views -------------------------------------------------------------------

using Borrowed = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

template <class Element, class Space>
using BorrowedArray =
    Kokkos::View<Element*, typename Space::memory_space, Borrowed>;

template <class Scalar, class Space>
BorrowedArray<const Scalar, Space> view_of(const Values<Scalar, Space>& array) {
  return BorrowedArray<const Scalar, Space>(
      reinterpret_cast<const Scalar*>(array.data()), array.shape(0));
}

/// `array` of one or two dimensions as n x k with strides. Python code has seen
/// to it that there are no other dimensions, and that no stride is negative.
template <class Scalar, class Space, class Array>
auto strided_view(const char* argument, const Array& array) {
  using Element = std::conditional_t<Array::ReadOnly, const Scalar, Scalar>;
  if (array.ndim() != 1 && array.ndim() != 2)
    throw Strata::SizeMismatchError(
        argument, "has " + std::to_string(array.ndim()) + " dimensions",
        "pass an array of one or two dimensions");
  const bool block = array.ndim() == 2;
  const auto stride = [&](std::size_t d) {
    if (array.shape(d) > 1 && array.stride(d) < 0)
      throw Strata::OptionError(argument, "has a negative stride",
                                "pass a copy of it");
    return array.shape(d) > 1 ? static_cast<std::size_t>(array.stride(d)) : 1;
  };
  const Kokkos::LayoutStride layout(array.shape(0), stride(0),
                                    block ? array.shape(1) : 1,
                                    block ? stride(1) : 1);
  return Kokkos::View<Element**, Kokkos::LayoutStride,
                      typename Space::memory_space, Borrowed>(
      reinterpret_cast<Element*>(array.data()), layout);
}
/// The same of a place, for which Python code vouches.
template <class Element, class Space>
auto view_at(const Place& at) {
  return Kokkos::View<Element**, Kokkos::LayoutStride,
                      typename Space::memory_space, Borrowed>(
      reinterpret_cast<Element*>(at.pointer),
      Kokkos::LayoutStride(at.rows, at.row_stride, at.columns,
                           at.column_stride));
}
/// The same of one dimension.
template <class Scalar, class Space, class Array>
auto strided_vector(const char* argument, const Array& array) {
  if (array.ndim() != 1)
    throw Strata::SizeMismatchError(
        argument, "has " + std::to_string(array.ndim()) + " dimensions",
        "pass an array of one dimension");
  return Kokkos::subview(strided_view<Scalar, Space>(argument, array),
                         Kokkos::ALL(), 0);
}

/// Copies values that an update has taken to where they are kept: enqueued on
/// `exec`, and allowed in a stream that is captured.
template <class Scalar, class Space, class View>
void keep(const Space& exec, const Kept<Scalar, Space>& to, const View& from) {
  if (!to) return;
  if constexpr (View::rank == 1)
    Kokkos::deep_copy(exec,
                      BorrowedArray<Scalar, Space>(
                          reinterpret_cast<Scalar*>(to->data()), to->size()),
                      from);
  else
    Kokkos::deep_copy(exec, strided_view<Scalar, Space>("keep", *to), from);
}

/// Whether an array has int64, and not int32. @throws OptionError
template <class Space>
bool is_wide(const char* argument, const Indices<Space>& array) {
  if (array.dtype() == nb::dtype<std::int64_t>()) return true;
  if (array.dtype() == nb::dtype<std::int32_t>()) return false;
  throw Strata::OptionError(argument, "is neither int32 nor int64",
                            "convert it to one of them");
}
template <class Integer, class Space>
auto index_view(const Indices<Space>& array) {
  return BorrowedArray<const Integer, Space>(
      static_cast<const Integer*>(array.data()), array.shape(0));
}
/// Calls `take` with an array as a view of its integer type.
template <class Space, class Take>
void with_integers(const char* argument, const Indices<Space>& array,
                   const Take& take) {
  if (is_wide<Space>(argument, array))
    take(index_view<std::int64_t, Space>(array));
  else
    take(index_view<std::int32_t, Space>(array));
}

/// Calls `take` with the two arrays as views of their integer types.
template <class Space, class Take>
auto with_indices(const Indices<Space>& row_map, const Indices<Space>& entries,
                  const Take& take) {
  const bool wide = is_wide<Space>("indptr", row_map);
  if (wide != is_wide<Space>("indices", entries))
    throw Strata::OptionError("indptr, indices", "are of two integer types",
                              "convert one to the type of the other");
  return wide ? take(index_view<std::int64_t, Space>(row_map),
                     index_view<std::int64_t, Space>(entries))
              : take(index_view<std::int32_t, Space>(row_map),
                     index_view<std::int32_t, Space>(entries));
}

/// Copies a view of `Space` to an array of the host or of `Space`.
/// @throws SizeMismatchError
template <class Space, class Element, class View>
void fill(const char* argument, const Filled<Element>& array,
          const View& from) {
  using Value = typename View::non_const_value_type;
  static_assert(sizeof(Value) == sizeof(Element), "");
  if (array.shape(0) != from.extent(0))
    throw Strata::SizeMismatchError(argument,
                                    "has " + std::to_string(array.shape(0)) +
                                        " elements for " +
                                        std::to_string(from.extent(0)),
                                    "pass an array of that length");
  auto* const to = reinterpret_cast<Value*>(array.data());
  if (array.device_type() == nb::device::cpu::value)
    Kokkos::deep_copy(
        Kokkos::View<Value*, Kokkos::HostSpace, Borrowed>(to, from.extent(0)),
        from);
  else
    Kokkos::deep_copy(BorrowedArray<Value, Space>(to, from.extent(0)), from);
}

template <class RowMap>
std::int64_t rows_of(const RowMap& row_map) {
  const auto offsets = static_cast<std::int64_t>(row_map.extent(0));
  return offsets == 0 ? 0 : offsets - 1;
}

/// For functions of the library that take no three views.
template <class Scalar, class Space, class RowMap, class Entries>
auto borrowed_matrix(const RowMap& row_map, const Entries& entries,
                     const BorrowedArray<const Scalar, Space>& values) {
  using Ordinal = std::remove_const_t<typename Entries::value_type>;
  using Offset = std::remove_const_t<typename RowMap::value_type>;
  using Matrix =
      KokkosSparse::CrsMatrix<const Scalar, Ordinal,
                              typename Space::device_type, Borrowed, Offset>;
  if (entries.extent(0) != values.extent(0))
    throw Strata::SizeMismatchError(
        "A",
        "has " + std::to_string(entries.extent(0)) + " indices and " +
            std::to_string(values.extent(0)) + " values",
        "give every entry both");
  const auto rows = static_cast<Ordinal>(rows_of(row_map));
  // Columns of a CrsMatrix are never const; the library does not write them.
  const BorrowedArray<Ordinal, Space> columns(
      const_cast<Ordinal*>(entries.data()), entries.extent(0));
  return Matrix("A", rows, rows, static_cast<Offset>(values.extent(0)), values,
                row_map, columns);
}

}  // namespace StrataPython

#endif
