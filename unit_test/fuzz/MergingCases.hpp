// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_MERGING_CASES_HPP
#define STRATA_FUZZ_MERGING_CASES_HPP

#include <string>
#include <vector>

#include "TriangularValues.hpp"

namespace Strata {
namespace Fuzz {

/// Systems whose rows cost digits when level sets are merged k at a time.
template <class Scalar>
class MergingCases {
 public:
  using System = TriangularSystem<Scalar>;
  static constexpr bool narrow = sizeof(RealOf<Scalar>) == 4;

  explicit MergingCases(Random& random)
      : random_(random),
        levels(random.pick({2, 3, 4, 8, 12, 16, 24})),
        place(random.whole(0, levels - 1)) {
    switch (random.whole(0, 8)) {
      case 0:
        name = "tiny pivot in a chain";
        make_chain(random.whole(levels, 1200), coupling());
        put_tiny_pivots(1, 1);
        break;
      case 1:
        name = "tiny pivot in each of many short chains";
        make_short_chains();
        break;
      case 2:
        name = "growing couplings";
        make_growing_chain();
        break;
      case 3:
        name = "grid with one row scaled";
        make_grid();
        scale_row(system, random.whole(0, system.size() - 1), 1e20);
        break;
      case 4:
        name = "tiny pivots in a grid";
        make_grid();
        put_tiny_pivots(1, 5);
        break;
      case 5:
        name = "long rows in a chain";
        make_long_rows();
        if (random.chance(0.5)) put_tiny_pivots(1, 3);
        break;
      case 6:
        name = "chain of moderate couplings";
        make_chain(random.whole(levels, 1200), coupling());
        break;
      case 7:
        name = "entries of many decades";
        make_sparse();
        spread_entries();
        break;
      default:
        name = "sparse with tiny pivots";
        make_sparse();
        put_tiny_pivots(1, 8);
    }
    name +=
        ", place " + std::to_string(place) + " of " + std::to_string(levels);
    draw_x();
  }

 private:
  Random& random_;

 public:
  /// Level sets to be merged, and the one of them that has the tiny pivot.
  int levels, place;
  System system;
  /// The solution that b is made from.
  std::vector<Scalar> x;
  std::string name;

 private:
  double coupling() { return random_.either_sign(random_.real(0.3, 0.99)); }
  Scalar make(double value) {
    if (!ScalarTraits<Scalar>::is_complex || random_.chance(0.5)) {
      return ScalarTraits<Scalar>::make(value, 0);
    }
    const double angle = random_.real(0, 6.28);
    return ScalarTraits<Scalar>::make(value * std::cos(angle),
                                      value * std::sin(angle));
  }
  double tiny() { return random_.power_of_ten(narrow ? -7 : -15, -1); }
  void resize(int n) {
    system.rows.assign(n, {});
    system.diagonal.assign(n, Scalar(1));
  }

  void make_chain(int n, double factor) {
    resize(n);
    for (int i = 1; i < n; ++i) system.rows[i].push_back({i - 1, make(factor)});
  }
  /// Row i of a chain is in level set i: the place within its group is i % k.
  void put_tiny_pivots(int fewest, int most) {
    const int n = system.size();
    for (int count = random_.whole(fewest, most); count > 0; --count) {
      const int group = random_.whole(0, (n - 1) / levels);
      const int row = group * levels + place;
      if (row < n) system.diagonal[row] = make(tiny());
    }
  }
  /// Chains side by side (row i needs row i - count) or one after another.
  void make_short_chains() {
    const int length = random_.whole(2, 3 * levels);
    const int count =
        random_.whole(1, 3000 / length > 300 ? 300 : 3000 / length);
    const bool beside = random_.chance(0.5);
    const double factor = coupling(), pivot = tiny();
    resize(count * length);
    for (int chain = 0; chain < count; ++chain)
      for (int step = 0; step < length; ++step) {
        const int row = beside ? step * count + chain : chain * length + step;
        const int before = beside ? row - count : row - 1;
        if (step > 0) system.rows[row].push_back({before, make(factor)});
        if (step % levels == place) system.diagonal[row] = make(pivot);
      }
  }
  void make_growing_chain() {
    const double factor = random_.power_of_ten(0.02, 1.2);
    // Solutions may grow by that much and stay far from overflow.
    const double decades = narrow ? 12 : 100;
    const int n = static_cast<int>(decades / std::log10(factor));
    make_chain(std::max(levels, std::min(n, 1200)), factor);
  }
  void make_grid() {
    const int side = random_.whole(2, 40), rows = random_.whole(2, 40);
    const double factor = random_.real(0.1, 0.9);
    resize(side * rows);
    for (int i = 1; i < system.size(); ++i) {
      if (i >= side) system.rows[i].push_back({i - side, make(factor)});
      if (i % side != 0) system.rows[i].push_back({i - 1, make(factor)});
    }
  }
  void make_long_rows() {
    const int n = random_.whole(levels, 600), every = random_.whole(3, 40);
    const double factor = coupling();
    resize(n);
    for (int i = 1; i < n; ++i) {
      if (i % every == 0)
        for (int j = random_.whole(0, i - 1); j < i - 1; ++j)
          system.rows[i].push_back({j, random_scalar<Scalar>(random_)});
      system.rows[i].push_back({i - 1, make(factor)});
    }
  }
  void make_sparse() {
    PatternMaker pattern(random_.whole(levels, 1000));
    Patterns::sparse(pattern, random_);
    system = make_system<Scalar>(pattern.pattern(), Regime::dominant, false,
                                 random_);
  }

  /// Of some rows and of some entries, so that what is large may have a small
  /// part in a row.
  void spread_entries() {
    const double decades = random_.real(1, narrow ? 6 : 60);
    for (int i = 0; i < system.size(); ++i) {
      if (random_.chance(0.1))
        system.diagonal[i] = make(random_.power_of_ten(-decades, 0));
      for (auto& entry : system.rows[i])
        if (random_.chance(0.2))
          entry.value = make(random_.power_of_ten(-decades, decades / 4));
    }
  }

  void draw_x() {
    const int n = system.size();
    const int kind = random_.whole(0, 2);
    name += kind == 0   ? ", x of one size"
            : kind == 1 ? ", x over ten decades"
                        : ", x that falls by ten decades";
    for (int i = 0; i < n; ++i) {
      const double wave = std::sin(1.0 + static_cast<double>(i) * i);
      const double size = kind == 0   ? 1
                          : kind == 1 ? random_.power_of_ten(-10, 0)
                                      : std::pow(10.0, -10.0 * i / n);
      x.push_back(make(wave * size));
    }
  }
};

}  // namespace Fuzz
}  // namespace Strata

#endif
