// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_RANDOM_HPP
#define STRATA_FUZZ_RANDOM_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace Strata {
namespace Fuzz {

/// Random numbers that are the same with every compiler and standard library,
/// so that a seed means one case everywhere. Source: G. Steele, D. Lea,
/// C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
class Random {
 public:
  /// Streams of one seed are independent of each other.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0)
      : state_(seed * 0x9e3779b97f4a7c15u ^ stream * 0xd1342543de82ef95u) {
    bits();
    bits();
  }

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// From first to last, both included.
  int whole(int first, int last) {
    const auto count = static_cast<std::uint64_t>(last - first) + 1;
    return first + static_cast<int>(bits() % count);
  }
  double real(double from, double to) {
    return from + (to - from) * static_cast<double>(bits() >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return real(0, 1) < probability; }
  /// That number or its negative. (Operands of a product are evaluated in any
  /// order, an argument comes first.)
  double either_sign(double size) { return chance(0.5) ? size : -size; }
  double power_of_ten(double from, double to) {
    return std::pow(10.0, real(from, to));
  }
  /// About `mean`, as the number of rare events is.
  int poisson(double mean) {
    int events = 0;
    for (double p = real(0, 1); p > std::exp(-mean); p *= real(0, 1)) ++events;
    return events;
  }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[bits() % from.size()];
  }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[bits() % from.size()];
  }
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (std::size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[bits() % i]);
  }

 private:
  std::uint64_t state_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
