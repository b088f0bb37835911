// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_STENCILS_HPP
#define STRATA_GALLERY_GALLERY_STENCILS_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

namespace Strata {
namespace Detail {

// Patterns whose rows are known in closed form. Each is a functor that calls
// visit(column) for the columns of a row in ascending order, diagonal included;
// `degree` is the number of off-diagonal entries of an interior row.

/// Points of an nx x ny x nz grid, x fastest. Bit 9(dz+1) + 3(dy+1) + (dx+1) of
/// `neighbours` says whether a point is coupled with the one (dx, dy, dz) away.
struct GridStencil {
  std::int64_t nx, ny, nz;
  unsigned neighbours;
  int degree;

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    const std::int64_t x = row % nx, y = row / nx % ny, z = row / (nx * ny);
    for (int bit = 0; bit < 27; ++bit) {
      if (!(neighbours >> bit & 1)) continue;
      const int dx = bit % 3 - 1, dy = bit / 3 % 3 - 1, dz = bit / 9 - 1;
      if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny ||
          z + dz < 0 || z + dz >= nz)
        continue;
      visit(row + dx + nx * (dy + ny * dz));
    }
  }
};

/// Builds the stencil of the offsets in `dimensions` dimensions that
/// `coupled(dx, dy, dz)` accepts.
template <class Coupled>
GridStencil make_grid(std::int64_t nx, std::int64_t ny, std::int64_t nz,
                      const Coupled& coupled) {
  GridStencil grid{nx, ny, nz, 0, -1};
  for (int bit = 0; bit < 27; ++bit)
    if (coupled(bit % 3 - 1, bit / 3 % 3 - 1, bit / 9 - 1)) {
      grid.neighbours |= 1u << bit;
      ++grid.degree;
    }
  return grid;
}

/// Susceptible-infected epidemic on the states (u, v), u + v < side, numbered
/// by lines of equal v: transitions to (u, v-1), (u+1, v) and (u-1, v+1). The
/// pattern is one-way, as in mc2depi (Ridler-Rowe's 2D epidemic of the MARCA
/// collection), whose rows and entries side = 1025 reproduces; its lower
/// triangle falls into chains of equal u.
struct EpidemicLattice {
  std::int64_t side;
  int degree = 3;

  KOKKOS_INLINE_FUNCTION std::int64_t line_start(std::int64_t v) const {
    return v * side - v * (v - 1) / 2;
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    // Root of line_start(v) = row, then put right what rounding did.
    const double b = static_cast<double>(side) + 0.5;
    auto v = static_cast<std::int64_t>(
        b - std::sqrt(b * b - 2 * static_cast<double>(row)));
    v = v < 0 ? 0 : v >= side ? side - 1 : v;
    while (line_start(v) > row) --v;
    while (line_start(v + 1) <= row) ++v;
    const std::int64_t u = row - line_start(v);
    if (v > 0) visit(line_start(v - 1) + u);
    visit(row);
    if (u + v + 1 < side) visit(row + 1);
    if (u > 0) visit(line_start(v + 1) + u - 1);
  }
};

/// Diagonals -reach to reach: 0 is the diagonal alone, 1 a chain.
struct Diagonals {
  std::int64_t rows;
  int reach;
  int degree;

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    for (std::int64_t column = row - reach; column <= row + reach; ++column)
      if (column >= 0 && column < rows) visit(column);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
