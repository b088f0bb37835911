// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_SPHERE_HPP
#define STRATA_GALLERY_GALLERY_SPHERE_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Triangular cells of a sphere: an icosahedron whose faces are cut into four
/// `levels` times. Cell numbers are base-4 digits after the face: digit k < 3
/// is the child at corner k, digit 3 the child in the middle, whose corner k is
/// the midpoint of the edge opposite the parent's corner k.
///
/// Edge e of a cell is opposite its corner e. The neighbour across it is found
/// from the digits alone: going up, a child lies on its parent's edge e unless
/// it is the middle child or the child at corner e; there the edge is inside
/// the parent, and the digits below only change the names of two corners.
struct SphereCells {
  /// Neighbour of face f across edge e, and the names that the neighbour gives
  /// to the corners of f (its own edge is what corner e maps to).
  struct Across {
    signed char face;
    signed char corner[3];
  };

  int levels;
  Across across[20][3];
  int degree = 3;

  explicit SphereCells(int levels_) : levels(levels_) {
    // Corners: 0 on top, 1-5 the upper ring, 6-10 the lower one, 11 below.
    int corners[20][3];
    for (int k = 0; k < 5; ++k) {
      const int next = (k + 1) % 5;
      const int faces[4][3] = {{0, 1 + k, 1 + next},
                               {1 + k, 6 + k, 1 + next},
                               {6 + k, 6 + next, 1 + next},
                               {11, 6 + next, 6 + k}};
      for (int part = 0; part < 4; ++part)
        for (int c = 0; c < 3; ++c) corners[5 * part + k][c] = faces[part][c];
    }
    for (int f = 0; f < 20; ++f)
      for (int e = 0; e < 3; ++e)
        for (int g = 0; g < 20; ++g) {
          Across candidate{static_cast<signed char>(g), {0, 0, 0}};
          int shared = 0, names = 0;
          for (int c = 0; c < 3; ++c)
            for (int d = 0; d < 3; ++d)
              if (c != e && corners[f][c] == corners[g][d]) {
                candidate.corner[c] = static_cast<signed char>(d);
                names += d;
                ++shared;
              }
          if (g == f || shared < 2) continue;
          candidate.corner[e] = static_cast<signed char>(3 - names);
          across[f][e] = candidate;
        }
  }

  KOKKOS_INLINE_FUNCTION std::int64_t neighbour(std::int64_t cell,
                                                int edge) const {
    int level = 0, digit = 0;
    for (; level < levels; ++level) {
      digit = static_cast<int>(cell >> (2 * level) & 3);
      if (digit == 3 || digit == edge) break;
    }
    int name[4] = {0, 1, 2, 3};
    std::int64_t upper;
    if (level == levels) {
      const Across& to = across[cell >> (2 * levels)][edge];
      for (int c = 0; c < 3; ++c) name[c] = to.corner[c];
      upper = to.face;
    } else {
      const int i = (edge + 1) % 3, j = (edge + 2) % 3;
      name[i] = j;
      name[j] = i;
      upper = (cell >> (2 * level + 2)) * 4 + (digit == 3 ? edge : 3);
    }
    // The digits below are corners on the shared edge.
    for (int below = level - 1; below >= 0; --below)
      upper = upper * 4 + name[cell >> (2 * below) & 3];
    return upper;
  }

  template <class Visit>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         const Visit& visit) const {
    std::int64_t columns[4] = {row, neighbour(row, 0), neighbour(row, 1),
                               neighbour(row, 2)};
    for (int k = 1; k < 4; ++k)
      for (int l = k; l > 0 && columns[l] < columns[l - 1]; --l) {
        const std::int64_t smaller = columns[l];
        columns[l] = columns[l - 1];
        columns[l - 1] = smaller;
      }
    for (int k = 0; k < 4; ++k) visit(columns[k]);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
