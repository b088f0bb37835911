// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_WORKSPACE_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_WORKSPACE_HPP

#include <algorithm>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Columns of a block of vectors.
inline StridedBlock columns_of(const StridedBlock& all, std::int64_t first,
                               std::int64_t count) {
  StridedBlock some = all;
  some.first +=
      static_cast<std::uintptr_t>(first * all.stride[1]) * all.element;
  some.extent[1] = count;
  if (count == 1) some.stride[1] = 0;
  return some;
}

/// Vectors between the two triangles of an apply, made once.
template <class Scalar, class ExecutionSpace>
class FactorWorkspace {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  /// Of all vectors, unless one takes more.
  static constexpr std::size_t most_bytes = std::size_t{512} << 20;

  FactorWorkspace() = default;
  /// @param blocks of up to `columns` vectors each
  FactorWorkspace(std::int64_t rows, int columns, int blocks) : rows_(rows) {
    const std::size_t one = sizeof(Scalar) * static_cast<std::size_t>(blocks) *
                            static_cast<std::size_t>(rows > 0 ? rows : 1);
    columns_ = static_cast<int>(
        std::min<std::size_t>(static_cast<std::size_t>(columns),
                              std::max<std::size_t>(1, most_bytes / one)));
    make_unfilled(vectors_, "Strata::FactorSolves::workspace",
                  rows * columns_ * blocks);
  }
  int columns() const { return columns_; }
  std::size_t bytes() const { return vectors_.extent(0) * sizeof(Scalar); }
  /// `count` vectors with the order of elements that `like` has.
  StridedBlock block(int which, std::int64_t count,
                     const StridedBlock& like) const {
    StridedBlock made;
    made.first = reinterpret_cast<std::uintptr_t>(vectors_.data() +
                                                  which * rows_ * columns_);
    made.element = sizeof(Scalar);
    made.extent = {{rows_, count, 1}};
    const bool by_rows = is_by_rows(like);
    made.stride = {{by_rows ? count : 1, by_rows ? 1 : rows_, 0}};
    if (rows_ == 1) made.stride[0] = 0;
    if (count == 1) made.stride[1] = 0;
    return made;
  }
  static bool is_by_rows(const StridedBlock& v) {
    return v.extent[1] > 1 && v.stride[1] < v.stride[0];
  }

 private:
  std::int64_t rows_ = 0;
  int columns_ = 1;
  Kokkos::View<Scalar*, Memory> vectors_;
};

}  // namespace Detail
}  // namespace Strata

#endif
