// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_COLOURING_IMPLEMENTATION_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_COLOURING_IMPLEMENTATION_HPP

#include <Strata_Colouring.hpp>
#include <analysis/level_sets/LevelPermutationImplementation.hpp>
#include <core/device/Sort.hpp>
#include <core/device/Warp.hpp>
#include <core/scalar/CounterRandom.hpp>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<ColouredRows> : std::true_type {};

/// Each row of a level set takes the smallest colour that no neighbour has;
/// rows without a colour have -1.
template <class MemorySpace>
struct ColourRows {
  IndexArray row_map, entries;
  Kokkos::View<const int*, MemorySpace> vertex;
  Kokkos::View<int*, MemorySpace> colour;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    take(vertex(p));
  }
  KOKKOS_INLINE_FUNCTION void take(std::int64_t row) const {
    for (int base = 0;; base += 32) {
      unsigned used = 0;
      const std::int64_t end = row_map(row + 1);
      for (std::int64_t k = row_map(row); k < end; ++k) {
        const int other = colour(entries(k)) - base;
        if (other >= 0 && other < 32) used |= 1u << other;
      }
      if (~used == 0) continue;
      colour(row) = base + lowest_bit(~used);
      return;
    }
  }
};

/// Keys that put rows in an order without pattern, the same each time.
template <class MemorySpace>
struct ShuffleKeys {
  Kokkos::View<std::uint64_t*, MemorySpace> key;
  Kokkos::View<int*, MemorySpace> row;
  int bits;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    key(i) = mix64(static_cast<std::uint64_t>(i)) >> (64 - bits);
    row(i) = static_cast<int>(i);
  }
};

/// Where each colour begins among rows sorted by it.
template <class MemorySpace>
struct ColourStarts {
  Kokkos::View<const std::uint64_t*, MemorySpace> key;
  Kokkos::View<std::int64_t*, MemorySpace> start;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    if (p == 0 || key(p) != key(p - 1)) start(key(p)) = p;
  }
};

template <class ExecutionSpace, class MemorySpace>
void invert_permutation(const ExecutionSpace& exec,
                        const Permutation<MemorySpace>& made) {
  const auto old_row = made.old_row, new_row = made.new_row;
  for_each_index(
      "Strata::Permutation::invert", exec, made.size(),
      KOKKOS_LAMBDA(std::int64_t p) {
        new_row(old_row(p)) = static_cast<int>(p);
      });
}

/// Colours the rows of B in their order: level set by level set, which comes to
/// the same.
/// @return false, and nothing done, if there are more than `most_levels`; on a
///   host one thread goes through the rows, however many levels there are
template <class ExecutionSpace>
bool colour_by_levels(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, const StoredValues& values, int most_levels,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& colour) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = static_cast<std::int64_t>(row_map.extent(0)) - 1;
  if constexpr (runs_at_once<ExecutionSpace>) {
    exec.fence();
    Kokkos::deep_copy(colour, -1);
    const ColourRows<Memory> rows{row_map, entries, {}, colour};
    for (std::int64_t row = 0; row < n; ++row) rows.take(row);
    return true;
  }
  TriangleInput input;
  input.diag = Diag::unit;
  input.take_triangle = true;
  const auto graph = triangle_graph(exec, row_map, entries, values, n, input);
  const auto order = order_by_level(exec, graph, WithinLevel::ascending);
  if (order.num_levels() > most_levels) return false;
  Kokkos::deep_copy(exec, colour, -1);
  for (int level = 0; level < order.num_levels(); ++level)
    Kokkos::parallel_for(
        "Strata::Colouring::level",
        RangeOf<ExecutionSpace>(exec, order.sizes.level_map[level],
                                order.sizes.level_map[level + 1]),
        ColourRows<Memory>{row_map, entries, order.vertex, colour});
  exec.fence();
  return true;
}

/// See colour_rows.
template <class Scalar, class ExecutionSpace>
Colouring<typename ExecutionSpace::memory_space> find_colours(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A) {
  using Memory = typename ExecutionSpace::memory_space;
  using Keys = Kokkos::View<std::uint64_t*, Memory>;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, int, DeviceOf<ExecutionSpace>,
                                         void, std::int64_t>;
  using Range = RangeOf<ExecutionSpace>;
  check_square_matrix(exec, A);
  const auto n = A.rows();
  Colouring<Memory> made;
  make_unfilled(made.colour_of, "Strata::Colouring::colour_of", n);
  made.permutation = new_permutation<Memory>(n);
  if (n == 0) return made;
  const auto& permutation = made.permutation;
  const auto keys = make_unfilled<Keys>("Strata::Colouring::key", n);
  if (!colour_by_levels(exec, A.row_map, A.entries, A.stored_values(), 10000,
                        made.colour_of)) {
    for_each_index("Strata::Colouring::shuffle", exec, n,
                   ShuffleKeys<Memory>{keys, permutation.old_row, 40});
    sort_by_key(exec, keys, permutation.old_row, 40);
    invert_permutation(exec, permutation);
    exec.fence();
    NewCrsMatrix<Matrix> made_matrix;
    make_permuted_matrix<Scalar>(exec, A, permutation, made_matrix);
    const Matrix shuffled = made_matrix.matrix("Strata::Colouring::shuffled");
    const auto colour = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::Colouring::colour", n);
    colour_by_levels(exec, shuffled.graph.row_map, shuffled.graph.entries,
                     shuffled.values, std::numeric_limits<int>::max(), colour);
    const auto colour_of = made.colour_of;
    for_each_index(
        "Strata::Colouring::unshuffle", exec, n, KOKKOS_LAMBDA(std::int64_t p) {
          colour_of(permutation.old_row(p)) = colour(p);
        });
  }
  const auto colour_of = made.colour_of;
  const auto old_row = permutation.old_row;
  int last = 0;
  Kokkos::parallel_reduce(
      "Strata::Colouring::keys", Range(exec, 0, n),
      KOKKOS_LAMBDA(std::int64_t row, int& most) {
        keys(row) = static_cast<std::uint64_t>(colour_of(row));
        old_row(row) = static_cast<int>(row);
        most = colour_of(row) > most ? colour_of(row) : most;
      },
      Kokkos::Max<int>(last));
  exec.fence();
  sort_by_key(exec, keys, old_row, bits_for(static_cast<std::uint64_t>(last)));
  invert_permutation(exec, permutation);
  made.permutation.num_levels = last + 1;
  const auto start = make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
      "Strata::Colouring::start", last + 1);
  for_each_index("Strata::Colouring::starts", exec, n,
                 ColourStarts<Memory>{keys, start});
  exec.fence();
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), start);
  made.colour_map.assign(host.data(), host.data() + last + 1);
  made.colour_map.push_back(n);
  return made;
}

template <class Scalar, class ExecutionSpace>
Colouring<typename ExecutionSpace::memory_space> make_colouring(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A) {
  return with_memory_errors("the colours of rows",
                            [&] { return find_colours(exec, A); });
}

}  // namespace Detail
}  // namespace Strata

#endif
