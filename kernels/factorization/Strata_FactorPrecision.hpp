// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FACTOR_PRECISION_HPP
#define STRATA_FACTOR_PRECISION_HPP

#include <Strata_Types.hpp>

namespace Strata {

/// The precision of the triangular solvers that apply factors.
enum class FactorPrecision {
  /// That of the vectors.
  working,
  /// float under vectors of double, complex<float> under complex<double>: half
  /// the bytes. Right-hand sides are scaled by powers of two on the way, so
  /// that their size doesn't matter. The factors must be within float's range.
  /// With vectors of float, the same as `working`.
  ///
  /// For vectors of double the result x is that of factors that differ from
  /// L and U by rounding errors of float: relative ones of 2^-24 for each entry
  /// (an entry below 2^-126: 2^-24 of its row's diagonal entry), and those of
  /// the solves, which keep the accuracy asked for in float. For a
  /// preconditioner that is nearly always enough.
  single
};

namespace Detail {
template <>
struct EnumeratorNames<FactorPrecision> {
  static constexpr const char* list[] = {"working", "single"};
};
}  // namespace Detail

}  // namespace Strata

#endif
