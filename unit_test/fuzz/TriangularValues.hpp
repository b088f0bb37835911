// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_VALUES_HPP
#define STRATA_FUZZ_TRIANGULAR_VALUES_HPP

#include <cmath>
#include <limits>
#include <vector>

#include "TriangularPatterns.hpp"
#include "TriangularSystem.hpp"

namespace Strata {
namespace Fuzz {

/// How values are drawn.
enum class Regime {
  /// The diagonal outweighs its row: solutions stay near b.
  dominant,
  /// Entries and diagonal of about one size.
  equal,
  /// Entries up to thirty times the diagonal.
  growing,
  /// All over six decades.
  graded,
  /// Small whole numbers, many of them zero.
  whole_numbers,
  /// Diagonals down to a millionth.
  small_pivots,
  /// Single diagonals near the unit roundoff and below.
  tiny_pivots,
  /// Rows of all scales, one of them 1e20 times the others.
  scaled_rows,
  /// The whole range of numbers.
  whole_range,
  /// Denormals among ordinary numbers.
  denormals
};
constexpr int num_regimes = 10;

inline const char* to_string(Regime regime) {
  static const char* const names[] = {
      "dominant",      "equal",        "growing",     "graded",
      "whole numbers", "small pivots", "tiny pivots", "scaled rows",
      "whole range",   "denormals"};
  return names[static_cast<int>(regime)];
}
/// Whether nothing near the ends of the range of numbers is drawn on purpose.
inline bool is_ordinary(Regime regime) {
  return regime != Regime::whole_range && regime != Regime::denormals;
}

/// Draws values of one regime.
template <class Scalar>
class ValueMaker {
 public:
  using Real = RealOf<Scalar>;
  using Traits = ScalarTraits<Scalar>;

  /// @param scale of entries beside the diagonal, in most regimes
  ValueMaker(Regime regime, double scale) : regime_(regime), scale_(scale) {}

  Scalar entry(Random& random) const {
    const double re = entry_part(random);
    if (!Traits::is_complex) {
      return Traits::make(re, 0);
    }
    const double im = random.chance(0.2) ? 0.0 : entry_part(random);
    return Traits::make(random.chance(0.1) ? 0.0 : re, im);
  }
  /// Not zero.
  Scalar diagonal(Random& random) const {
    const double re = diagonal_part(random);
    const double im =
        !Traits::is_complex || random.chance(0.2) ? 0.0 : diagonal_part(random);
    const Scalar drawn = Traits::make(re, im);
    return drawn == Scalar(0) ? Scalar(1) : drawn;
  }

 private:
  static double denormal(Random& random) {
    return random.either_sign(random.whole(1, 1000)) *
           static_cast<double>(std::numeric_limits<Real>::denorm_min());
  }
  static double of_whole_range(Random& random) {
    return random.either_sign(sizeof(Real) == 4
                                  ? random.power_of_ten(-38, 37)
                                  : random.power_of_ten(-300, 300));
  }
  double entry_part(Random& random) const {
    switch (regime_) {
      case Regime::growing:
        return random.either_sign(random.power_of_ten(-1, 1.5)) * scale_;
      case Regime::graded:
        return random.either_sign(random.power_of_ten(-3, 3));
      case Regime::whole_numbers:
        return random.chance(0.4) ? 0 : random.whole(-2, 2) * scale_;
      case Regime::whole_range:
        return of_whole_range(random);
      case Regime::denormals:
        if (random.chance(0.3)) return denormal(random);
        [[fallthrough]];
      default:
        return random.real(-1, 1) * scale_;
    }
  }
  double diagonal_part(Random& random) const {
    switch (regime_) {
      case Regime::equal:
        return random.either_sign(random.real(0.5, 2));
      case Regime::growing:
        return random.either_sign(1);
      case Regime::graded:
        return random.either_sign(random.power_of_ten(-3, 3));
      case Regime::whole_numbers:
        return random.either_sign(random.whole(1, 3));
      case Regime::small_pivots:
        return random.either_sign(random.power_of_ten(-6, 0));
      case Regime::whole_range:
        return of_whole_range(random);
      case Regime::denormals:
        if (random.chance(0.3)) return denormal(random);
        [[fallthrough]];
      default:
        return random.either_sign(random.real(1, 2));
    }
  }

  Regime regime_;
  double scale_;
};

template <class Scalar>
void scale_row(TriangularSystem<Scalar>& system, int i, double factor) {
  const auto f = static_cast<RealOf<Scalar>>(factor);
  for (auto& entry : system.rows[i]) entry.value *= f;
  system.diagonal[i] *= f;
}

/// What sets a regime apart beyond single values.
template <class Scalar>
void finish_regime(TriangularSystem<Scalar>& system, Regime regime,
                   Random& random) {
  const int n = system.size();
  if (n == 0) return;
  const bool narrow = sizeof(RealOf<Scalar>) == 4;
  if (regime == Regime::tiny_pivots)
    for (int count = random.whole(1, 4); count > 0; --count)
      system.diagonal[random.whole(0, n - 1)] *= static_cast<RealOf<Scalar>>(
          random.power_of_ten(narrow ? -8 : -17, -2));
  if (regime == Regime::scaled_rows) {
    for (int i = 0; i < n; ++i)
      scale_row(system, i, random.power_of_ten(-4, 4));
    scale_row(system, random.whole(0, n - 1), 1e20);
  }
}

/// A system of that pattern.
template <class Scalar>
TriangularSystem<Scalar> make_system(const Pattern& pattern, Regime regime,
                                     bool unit, Random& random) {
  std::size_t longest = 1;
  for (const auto& row : pattern) longest = std::max(longest, row.size());
  const bool scaled = regime == Regime::dominant || random.chance(0.6);
  const ValueMaker<Scalar> draw(regime,
                                scaled ? 1 / static_cast<double>(longest) : 1);
  TriangularSystem<Scalar> system;
  for (const auto& columns : pattern) {
    system.rows.emplace_back();
    for (const int j : columns)
      system.rows.back().push_back({j, draw.entry(random)});
    system.diagonal.push_back(draw.diagonal(random));
  }
  finish_regime(system, regime, random);
  if (unit)
    std::fill(system.diagonal.begin(), system.diagonal.end(), Scalar(1));
  return system;
}

}  // namespace Fuzz
}  // namespace Strata

#endif
