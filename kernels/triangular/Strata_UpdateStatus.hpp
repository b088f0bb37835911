// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_UPDATE_STATUS_HPP
#define STRATA_UPDATE_STATUS_HPP

#include <core/interface/Enumerators.hpp>
#include <cstdint>

namespace Strata {

/// What is wrong with new values.
enum class UpdateFault : std::int32_t {
  /// Nothing: the values are in use.
  none,
  /// A diagonal entry of a triangle is zero.
  zero_diagonal,
  /// The elimination of an incomplete factorisation meets a pivot of zero.
  zero_pivot,
  /// The elimination makes a value that is not finite.
  not_finite,
  /// A matrix for an incomplete Cholesky factorisation is not Hermitian.
  not_hermitian,
  /// A pivot of an incomplete Cholesky factorisation is not positive.
  not_positive
};

namespace Detail {
template <>
struct EnumeratorNames<UpdateFault> {
  static constexpr const char* list[] = {"none",          "zero_diagonal",
                                         "zero_pivot",    "not_finite",
                                         "not_hermitian", "not_positive"};
};
}  // namespace Detail
/// What the last `enqueue_update_values` or `update_values` has found, in the
/// memory of the execution space: valid once the work of that update is done,
/// and until the next update runs.
struct UpdateStatus {
  /// The kind of fault; with any but `none`, solves give NaN in every row.
  UpdateFault fault;
  /// 1 where solves use the second plan, without merged level sets, scaled
  /// entries and reciprocals: with the first one, these values would break the
  /// contract of accuracy or leave the range of normal numbers. Else 0. Of an
  /// IncompleteFactorization: 1 where that holds for any of its solvers.
  std::int32_t unmerged;
  /// The first row with that fault, counted from 0; -1 where there is none.
  std::int64_t row;
};

}  // namespace Strata

#endif
