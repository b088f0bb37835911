// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_TILE_SOLVE_PLAN_HPP
#define STRATA_KERNELS_BAND_TILE_SOLVE_PLAN_HPP

#include <core/device/NotReady.hpp>
#include <core/matrix/SharedElements.hpp>
#include <kernels/band/TileFactors.hpp>

namespace Strata {
namespace Detail {

/// The right-hand sides of every system, or their solutions, as a pointer and
/// strides.
template <class Scalar>
struct BatchVectorRef {
  Scalar* data = nullptr;
  std::int64_t row_stride = 1, column_stride = 0, system_stride = 0;

  KOKKOS_INLINE_FUNCTION Scalar* at(std::int64_t row, std::int64_t column,
                                    int system) const {
    return data + row * row_stride + column * column_stride +
           system * system_stride;
  }
  BatchVectorRef from(std::int64_t column) const {
    return {data + column * column_stride, row_stride, column_stride,
            system_stride};
  }
};

/// The same from the place of a view of rank 1 to 3.
template <class Scalar>
BatchVectorRef<Scalar> batch_vector_ref(const StridedBlock& v) {
  return {reinterpret_cast<Scalar*>(v.first), v.stride[0], v.stride[1],
          v.stride[2]};
}

/// Forward and backward substitution as one list of tasks: B rows times
/// `width` right-hand sides each, forward first. Intermediate results lie in
/// `forward` and `backward`: a tile for each block row, group of right-hand
/// sides and system; `max_groups` groups have room.
template <class Scalar, int B, int width, class Factors>
struct TileSolvePlan {
  Factors factors;
  BatchVectorRef<const Scalar> b;
  BatchVectorRef<Scalar> x;
  std::int64_t rows = 0;
  int columns = 0, max_groups = 1;
  Scalar *forward = nullptr, *backward = nullptr;
  /// Distance to the set of results that is used next time, in scalars.
  std::int64_t other_set = 0, set_size = 0;

  struct Where {
    bool backward;
    int group, system;
    TileRow row;
  };

  KOKKOS_INLINE_FUNCTION int groups() const {
    return (columns + width - 1) / width;
  }
  std::int64_t tiles_of_one_direction() const {
    return factors.blocks * max_groups * factors.batch;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t tasks() const {
    return 2 * factors.blocks * groups() * factors.batch;
  }
  std::int64_t useful() const {
    return std::min(factors.blocks, factors.useful_rows()) * groups() *
           factors.batch;
  }
  /// The plan for launch number `epoch`.
  KOKKOS_INLINE_FUNCTION TileSolvePlan select(unsigned epoch) const {
    TileSolvePlan plan = *this;
    if (epoch & 1u) {
      plan.forward += set_size, plan.backward += set_size;
      plan.other_set = -set_size;
    } else {
      plan.other_set = set_size;
    }
    return plan;
  }
  KOKKOS_INLINE_FUNCTION Where where(std::int64_t ticket) const {
    Where w;
    w.system = static_cast<int>(ticket % factors.batch);
    ticket /= factors.batch;
    w.group = static_cast<int>(ticket % groups());
    ticket /= groups();
    w.backward = ticket >= factors.blocks;
    w.row = factors.row(w.backward,
                        w.backward ? 2 * factors.blocks - 1 - ticket : ticket);
    return w;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t place(int system, int group,
                                            std::int64_t i) const {
    return (static_cast<std::int64_t>(system) * max_groups + group) *
               factors.blocks +
           i;
  }
  KOKKOS_INLINE_FUNCTION Scalar* tile(bool of_backward,
                                      std::int64_t place) const {
    return (of_backward ? backward : forward) + place * (B * width);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t flag(bool of_backward,
                                           std::int64_t place) const {
    return (of_backward ? factors.blocks * max_groups * factors.batch : 0) +
           place;
  }
  KOKKOS_INLINE_FUNCTION TileTask<Scalar> task(const Where& w) const {
    TileTask<Scalar> task;
    const std::int64_t here = place(w.system, w.group, w.row.block);
    const std::int64_t row = w.row.block * B, column = w.group * width;
    task.out = tile(w.backward, here);
    task.flag = flag(w.backward, here);
    if (w.backward) {
      task.start = tile(false, here);
      task.start_column_stride = B;
      task.start_is_solved_for = true;
      task.start_flag = flag(false, here);
      task.copy = x.at(row, column, w.system);
      task.copy_row_stride = x.row_stride;
      task.copy_column_stride = x.column_stride;
      task.finish = TileFinish::multiply_left;
      task.factor = factors.inverse(w.system, w.row);
    } else {
      task.start = b.at(row, column, w.system);
      task.start_row_stride = b.row_stride;
      task.start_column_stride = b.column_stride;
    }
    task.terms = w.row.links;
    task.valid_rows = static_cast<int>(rows - row < B ? rows - row : B);
    task.valid_columns =
        static_cast<int>(columns - column < width ? columns - column : width);
    return task;
  }
  KOKKOS_INLINE_FUNCTION TileTerm<Scalar> term(const Where& w, int t) const {
    const auto link = factors.link(w.backward, w.system, w.row, t);
    const std::int64_t dependency = place(w.system, w.group, link.block);
    return {link.tile, tile(w.backward, dependency), -1,
            flag(w.backward, dependency)};
  }
  /// Makes an element of the other set not ready; the last group does so for
  /// the groups that this launch has no tasks for.
  KOKKOS_INLINE_FUNCTION void reset(const Where& w, int element) const {
    int group = w.group;
    do {
      NotReady<Scalar>::reset(
          tile(w.backward, place(w.system, group, w.row.block)) + element +
          other_set);
      ++group;
    } while (w.group + 1 == groups() && group < max_groups);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
