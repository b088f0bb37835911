// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_DEVICE_MATRIX_HPP
#define STRATA_FUZZ_DEVICE_MATRIX_HPP

#include <Kokkos_Core.hpp>
#include <string>
#include <vector>

#include "Scalar.hpp"

namespace Strata {
namespace Fuzz {

/// The elements of `from` in a view of their own.
template <class T, class Memory, class From>
Kokkos::View<T*, Memory> to_view(const std::string& label,
                                 const std::vector<From>& from) {
  const Kokkos::View<T*, Memory> to(label, from.size());
  const auto host = Kokkos::create_mirror(to);
  for (std::size_t i = 0; i < from.size(); ++i)
    host(i) = static_cast<T>(from[i]);
  Kokkos::deep_copy(to, host);
  return to;
}
/// The elements of a view of rank 1. Waits for everything.
template <class View>
auto to_vector(const View& from) {
  Kokkos::fence();
  const auto host = Kokkos::create_mirror(from);
  Kokkos::deep_copy(host, from);
  return std::vector<typename View::non_const_value_type>(
      host.data(), host.data() + host.extent(0));
}

/// A CRS matrix in the memory of an execution space.
template <class Scalar, class Space, class Ordinal = int, class Offset = int>
struct DeviceMatrix {
  using Memory = typename Space::memory_space;
  Kokkos::View<Offset*, Memory> row_map;
  Kokkos::View<Ordinal*, Memory> entries;
  Kokkos::View<Scalar*, Memory> values;

  /// From anything with row_map, entries and values as vectors.
  template <class HostMatrix>
  explicit DeviceMatrix(const HostMatrix& A)
      : row_map(to_view<Offset, Memory>("row_map", A.row_map)),
        entries(to_view<Ordinal, Memory>("entries", A.entries)),
        values(to_view<Scalar, Memory>("values", A.values)) {}

  /// Whether it still is what it was made from, to the bit.
  template <class HostMatrix>
  bool is_still(const HostMatrix& A) const {
    const DeviceMatrix fresh(A);
    return same_bits(to_vector(row_map), to_vector(fresh.row_map)) &&
           same_bits(to_vector(entries), to_vector(fresh.entries)) &&
           same_bits(to_vector(values), to_vector(fresh.values));
  }
};

}  // namespace Fuzz
}  // namespace Strata

#endif
