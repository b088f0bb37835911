// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_COLOURING_HPP
#define STRATA_COLOURING_HPP

#include <Strata_LevelPermutation.hpp>
#include <core/device/Sort.hpp>
#include <core/device/Warp.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <vector>

namespace Strata {

/// Rows of a matrix in colours: no entry off the diagonal lies in a row and a
/// column of one colour.
template <class MemorySpace>
struct Colouring {
  Kokkos::View<int*, MemorySpace> colour_of;  // row -> colour, from 0
  /// The rows of colour c, ascending, are the new rows colour_map[c] to
  /// colour_map[c + 1] - 1.
  Permutation<MemorySpace> permutation;
  std::vector<std::int64_t> colour_map{0};

  int num_colours() const { return static_cast<int>(colour_map.size()) - 1; }
};

namespace Detail {

/// Each row of a level set takes the smallest colour that no neighbour has;
/// rows without a colour have -1.
template <class CrsMatrix>
struct ColourRows {
  using Memory = typename CrsMatrix::memory_space;
  typename CrsMatrix::row_map_type row_map;
  typename CrsMatrix::index_type entries;
  Kokkos::View<const int*, Memory> vertex;
  Kokkos::View<int*, Memory> colour;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    take(vertex(p));
  }
  KOKKOS_INLINE_FUNCTION void take(std::int64_t row) const {
    for (int base = 0;; base += 32) {
      unsigned used = 0;
      for (auto k = row_map(row); k < row_map(row + 1); ++k) {
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

template <class MemorySpace>
Permutation<MemorySpace> new_permutation(std::int64_t n) {
  using Rows = Kokkos::View<int*, MemorySpace>;
  Permutation<MemorySpace> made;
  made.old_row = make_unfilled<Rows>("Strata::Permutation::old_row", n);
  made.new_row = make_unfilled<Rows>("Strata::Permutation::new_row", n);
  return made;
}
template <class ExecutionSpace, class MemorySpace>
void invert_permutation(const ExecutionSpace& exec,
                        const Permutation<MemorySpace>& made) {
  const auto old_row = made.old_row, new_row = made.new_row;
  Kokkos::parallel_for(
      "Strata::Permutation::invert",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, made.size()),
      KOKKOS_LAMBDA(std::int64_t p) {
        new_row(old_row(p)) = static_cast<int>(p);
      });
}

/// Colours the rows of B in their order: level set by level set, which comes to
/// the same.
/// @return false, and nothing done, if there are more than `most_levels`; on a
///   host one thread goes through the rows, however many levels there are
template <class CrsMatrix>
bool colour_by_levels(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& B,
    int most_levels,
    const Kokkos::View<int*, typename CrsMatrix::memory_space>& colour) {
  using Types = MatrixTypes<CrsMatrix>;
  if constexpr (runs_at_once<typename Types::ExecutionSpace>) {
    exec.fence();
    Kokkos::deep_copy(colour, -1);
    const ColourRows<CrsMatrix> rows{
        B.graph.row_map, B.graph.entries, {}, colour};
    for (std::int64_t row = 0; row < B.numRows(); ++row) rows.take(row);
    return true;
  }
  TriangleInput input;
  input.diag = Diag::unit;
  input.take_triangle = true;
  const auto graph =
      triangle_graph(exec, B.graph.row_map, B.graph.entries, B.values,
                     static_cast<std::int64_t>(B.numCols()), input);
  const auto order = order_by_level(exec, graph, WithinLevel::ascending);
  if (order.num_levels() > most_levels) return false;
  Kokkos::deep_copy(exec, colour, -1);
  for (int level = 0; level < order.num_levels(); ++level)
    Kokkos::parallel_for(
        "Strata::Colouring::level",
        typename Types::Rows(exec, order.sizes.level_map[level],
                             order.sizes.level_map[level + 1]),
        ColourRows<CrsMatrix>{B.graph.row_map, B.graph.entries, order.vertex,
                              colour});
  exec.fence();
  return true;
}

/// See colour_rows.
template <class CrsMatrix>
Colouring<typename CrsMatrix::memory_space> find_colours(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A) {
  using Types = Detail::MatrixTypes<CrsMatrix>;
  using Memory = typename CrsMatrix::memory_space;
  using Keys = Kokkos::View<std::uint64_t*, Memory>;
  using Range = typename Types::Rows;
  Detail::check_square_matrix(exec, A);
  const auto n = static_cast<std::int64_t>(A.numRows());
  Colouring<Memory> made;
  made.colour_of = Detail::make_unfilled<Kokkos::View<int*, Memory>>(
      "Strata::Colouring::colour_of", n);
  made.permutation = Detail::new_permutation<Memory>(n);
  if (n == 0) return made;
  const auto& permutation = made.permutation;
  const auto keys = Detail::make_unfilled<Keys>("Strata::Colouring::key", n);
  if (!Detail::colour_by_levels(exec, A, 10000, made.colour_of)) {
    Kokkos::parallel_for(
        "Strata::Colouring::shuffle", Range(exec, 0, n),
        Detail::ShuffleKeys<Memory>{keys, permutation.old_row, 40});
    Detail::sort_by_key(exec, keys, permutation.old_row, 40);
    Detail::invert_permutation(exec, permutation);
    exec.fence();
    const auto shuffled = permute_symmetric(exec, A, permutation);
    const auto colour = Detail::make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::Colouring::colour", n);
    Detail::colour_by_levels(exec, shuffled, std::numeric_limits<int>::max(),
                             colour);
    const auto colour_of = made.colour_of;
    Kokkos::parallel_for(
        "Strata::Colouring::unshuffle", Range(exec, 0, n),
        KOKKOS_LAMBDA(std::int64_t p) {
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
  Detail::sort_by_key(exec, keys, old_row,
                      Detail::bits_for(static_cast<std::uint64_t>(last)));
  Detail::invert_permutation(exec, permutation);
  made.permutation.num_levels = last + 1;
  const auto start = Detail::make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
      "Strata::Colouring::start", last + 1);
  Kokkos::parallel_for("Strata::Colouring::starts", Range(exec, 0, n),
                       Detail::ColourStarts<Memory>{keys, start});
  exec.fence();
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), start);
  made.colour_map.assign(host.data(), host.data() + last + 1);
  made.colour_map.push_back(n);
  return made;
}

}  // namespace Detail

/// Colours the rows of a square matrix with a symmetric pattern, first fit
/// (each row the smallest colour that is free) in the order of the rows, which
/// gives regular stencils few colours: 5- and 7-point ones two, 9-point ones
/// four, 27-point ones eight. Where that order has more than 10,000 level sets,
/// on a device, in an order drawn by hashing the row's number. The same each
/// time. Sources: Y. Saad, *Iterative Methods for Sparse Linear Systems*, 2003,
/// section 3.3.3; M. T. Jones, P. E. Plassmann, SIAM J. Sci. Comput. 14(3),
/// 1993.
///
/// @throws what level_permutation() and permute_symmetric() throw
/// Cost: on a device level sets of the lower triangle, a launch for each of
/// them, two sorts of the rows at most; on a host a pass over the entries by
/// one thread and a sort; a check of the pattern before that. Waits for `exec`.
template <class CrsMatrix>
Colouring<typename CrsMatrix::memory_space> colour_rows(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A) {
  return Detail::with_memory_errors("the colours of rows", [&] {
    return Detail::find_colours<CrsMatrix>(exec, A);
  });
}

}  // namespace Strata

#endif
