// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PACK_VALUES_HPP
#define STRATA_PACK_VALUES_HPP

#include <Strata_Error.hpp>
#include <detail/Strata_KokkosCompat.hpp>
#include <detail/Strata_OriginIndex.hpp>
#include <detail/Strata_TriangleCheck.hpp>

namespace Strata {
namespace Detail {

template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar conjugate(const Scalar& v) {
  return v;
}
template <class R>
KOKKOS_INLINE_FUNCTION Kokkos::complex<R> conjugate(
    const Kokkos::complex<R>& v) {
  return Kokkos::complex<R>(v.real(), -v.imag());
}

/// True if multiplying by `r` can stand for dividing by its reciprocal: no
/// part overflowed or fell below the normal numbers.
KOKKOS_INLINE_FUNCTION bool usable_reciprocal(double r) {
  const double a = r < 0 ? -r : r;
  return a >= 2.2250738585072014e-308 && a <= 1.7976931348623157e308;
}
KOKKOS_INLINE_FUNCTION bool usable_reciprocal(float r) {
  const float a = r < 0 ? -r : r;
  return a >= 1.17549435e-38f && a <= 3.40282347e38f;
}
template <class R>
KOKKOS_INLINE_FUNCTION bool usable_reciprocal(const Kokkos::complex<R>& r) {
  // A part may vanish, but not both.
  const R re = r.real(), im = r.imag();
  return (usable_reciprocal(re) && (im == R(0) || usable_reciprocal(im))) ||
         (re == R(0) && usable_reciprocal(im));
}

template <class Scalar, class MemorySpace>
struct GatherValues {
  OriginIndex<MemorySpace> origin;
  const Scalar* values;
  Kokkos::View<Scalar*, MemorySpace> packed;
  bool conjugated;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t k = origin(place);
    const Scalar v = k < 0 ? Scalar(0) : values[k];
    packed(place) = conjugated ? conjugate(v) : v;
  }
};

template <class ExecutionSpace>
using RangeOf =
    Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// packed(place) = values[origin(place)], conjugated on request, 0 in padding.
template <class Scalar, class ExecutionSpace>
void gather_values(
    const ExecutionSpace& exec,
    const OriginIndex<typename ExecutionSpace::memory_space>& origin,
    const Scalar* values,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& packed,
    bool conjugated) {
  Kokkos::parallel_for(
      "Strata::PackValues::gather",
      RangeOf<ExecutionSpace>(exec, 0,
                              static_cast<std::int64_t>(packed.extent(0))),
      GatherValues<Scalar, typename ExecutionSpace::memory_space>{
          origin, values, packed, conjugated});
}

/// Looks at the diagonal before anything is overwritten: the first zero, and
/// whether every reciprocal is usable.
template <class Scalar, class MemorySpace>
struct InspectDiagonal {
  OriginIndex<MemorySpace> origin;
  const Scalar* values;
  Kokkos::View<const unsigned*, MemorySpace> row;   // top bit is not part of it
  Kokkos::View<std::int64_t*, MemorySpace> status;  // first zero row; divide
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t k = origin(place);
    if (k < 0) return;
    const Scalar d = values[k];
    if (d == Scalar(0))
      Kokkos::atomic_fetch_min(&status(0),
                               std::int64_t(row(place) & 0x7fffffffu));
    else if (!usable_reciprocal(d) || !usable_reciprocal(Scalar(1) / d))
      Kokkos::atomic_fetch_max(&status(1), std::int64_t(1));
  }
};

template <class Scalar, class MemorySpace>
struct PackDiagonal {
  OriginIndex<MemorySpace> origin;
  const Scalar* values;
  Kokkos::View<Scalar*, MemorySpace> packed;
  bool conjugated, divide;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t k = origin(place);
    Scalar d = k < 0 ? Scalar(1) : values[k];
    if (conjugated) d = conjugate(d);
    packed(place) = divide ? d : Scalar(1) / d;
  }
};

/// Reciprocals of the diagonal in the order of use.
///
/// One multiplication by a reciprocal replaces a division on the path that
/// every later row waits for; its error is half a unit in the last place more.
/// Where some diagonal entry is so small or so large that its reciprocal
/// leaves the normal range (or is NaN or Inf), the diagonal itself is kept and
/// the return value says that kernels must divide.
/// @throws ZeroDiagonalError before `packed` is written. Fences `exec`.
template <class Scalar, class ExecutionSpace>
bool pack_diagonal(
    const ExecutionSpace& exec,
    const OriginIndex<typename ExecutionSpace::memory_space>& origin,
    const Scalar* values,
    const Kokkos::View<const unsigned*, typename ExecutionSpace::memory_space>&
        row,
    const Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>& packed,
    bool conjugated) {
  using Memory = typename ExecutionSpace::memory_space;
  const auto places = static_cast<std::int64_t>(packed.extent(0));
  Kokkos::View<std::int64_t*, Memory> status("Strata::PackDiagonal::status", 2);
  auto status_host = Kokkos::create_mirror_view(status);
  status_host(0) = no_fault;
  status_host(1) = 0;
  Kokkos::deep_copy(status, status_host);
  const RangeOf<ExecutionSpace> range(exec, 0, places);
  Kokkos::parallel_for(
      "Strata::PackValues::inspect_diagonal", range,
      InspectDiagonal<Scalar, Memory>{origin, values, row, status});
  exec.fence();
  Kokkos::deep_copy(status_host, status);
  if (status_host(0) != no_fault)
    throw ZeroDiagonalError(
        "values",
        "the diagonal entry in row " + std::to_string(status_host(0)) +
            " is zero",
        "the system is singular: change the matrix, or pass Diag::unit if the "
        "diagonal is meant to be one",
        status_host(0), "0");
  const bool divide = status_host(1) != 0;
  Kokkos::parallel_for(
      "Strata::PackValues::diagonal", range,
      PackDiagonal<Scalar, Memory>{origin, values, packed, conjugated, divide});
  return divide;
}

}  // namespace Detail
}  // namespace Strata

#endif
