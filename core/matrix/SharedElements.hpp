// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_SHARED_ELEMENTS_HPP
#define STRATA_CORE_MATRIX_SHARED_ELEMENTS_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace Strata {
namespace Detail {

/// Where the elements of a view of rank 1, 2 or 3 lie: at `first` and every sum
/// of multiples of the strides, in elements, up to the extents.
struct StridedBlock {
  static constexpr int max_rank = 3;
  std::uintptr_t first = 0;
  std::size_t element = 1;  ///< bytes
  std::array<std::int64_t, max_rank> extent{{1, 1, 1}}, stride{{0, 0, 0}};

  bool empty() const { return extent[0] * extent[1] * extent[2] == 0; }
  /// From the first element to the last, in elements.
  std::int64_t reach() const {
    std::int64_t sum = 0;
    for (int d = 0; d < max_rank; ++d) sum += (extent[d] - 1) * stride[d];
    return sum;
  }
  std::uintptr_t end() const {
    return first + (static_cast<std::size_t>(reach()) + 1) * element;
  }
};

template <class View>
StridedBlock strided_block(const View& v) {
  constexpr int rank = static_cast<int>(View::rank);
  static_assert(rank >= 1 && rank <= StridedBlock::max_rank,
                "Strata: vectors are views of rank 1, 2 or 3");
  StridedBlock block;
  block.first = reinterpret_cast<std::uintptr_t>(v.data());
  block.element = sizeof(typename View::value_type);
  for (int d = 0; d < rank; ++d) {
    block.extent[d] = static_cast<std::int64_t>(v.extent(d));
    if (block.extent[d] > 1)
      block.stride[d] = static_cast<std::int64_t>(v.stride(d));
  }
  return block;
}

/// Whether sum_k unit[k] u[k] = target for some 0 <= u[k] <= most[k], by trying
/// the values of the largest unit first that leave what the others can reach.
/// Nested strides, as those of arrays, leave at most three values each.
class BoundedSum {
 public:
  void add(std::int64_t unit, std::int64_t most) {
    if (unit == 0 || most == 0) return;
    for (int k = 0; k < count_; ++k)
      if (unit_[k] == unit) {
        most_[k] += most;
        return;
      }
    int k = count_++;
    for (; k > 0 && unit_[k - 1] < unit; --k) {
      unit_[k] = unit_[k - 1];
      most_[k] = most_[k - 1];
    }
    unit_[k] = unit;
    most_[k] = most;
  }
  /// True, too, where the search was given up after 100000 values.
  bool reaches(std::int64_t target) {
    reach_[count_] = divisor_[count_] = 0;
    for (int k = count_ - 1; k >= 0; --k) {
      reach_[k] = reach_[k + 1] + unit_[k] * most_[k];
      divisor_[k] = std::gcd(divisor_[k + 1], unit_[k]);
    }
    tries_ = 100000;
    return search(0, target);
  }

 private:
  bool search(int k, std::int64_t target) {
    if (target < 0 || target > reach_[k]) return false;
    if (target == 0) return true;
    if (target % divisor_[k] != 0) return false;
    if (k + 1 == count_) return true;  // divisor_[k] is unit_[k]
    const std::int64_t beyond = target - reach_[k + 1];
    const std::int64_t least =
        beyond > 0 ? (beyond + unit_[k] - 1) / unit_[k] : 0;
    std::int64_t last = std::min(most_[k], target / unit_[k]);
    // With one unit after it, remainders repeat.
    if (k + 2 == count_)
      last = std::min(last, least + unit_[k + 1] / divisor_[k] - 1);
    for (std::int64_t u = least; u <= last; ++u)
      if (--tries_ < 0 || search(k + 1, target - u * unit_[k])) return true;
    return false;
  }

  static constexpr int size = 2 * StridedBlock::max_rank;
  int count_ = 0, tries_ = 0;
  std::int64_t unit_[size], most_[size], reach_[size + 1], divisor_[size + 1];
};

/// Whether two blocks have an element, or part of one, in common: false for
/// columns of one array that lie between each other's elements. (Strides that
/// make the search too long count as sharing.)
inline bool share_elements(const StridedBlock& a, const StridedBlock& b) {
  if (a.empty() || b.empty()) return false;
  if (a.end() <= b.first || b.end() <= a.first) return false;
  const std::uintptr_t apart =
      a.first < b.first ? b.first - a.first : a.first - b.first;
  if (a.element != b.element || apart % a.element != 0) return true;
  std::int64_t target = static_cast<std::int64_t>(apart / a.element);
  if (a.first > b.first) target = -target;
  // a.first + sum of a's = b.first + sum of b's, with b's counted from the end.
  BoundedSum sum;
  for (int d = 0; d < StridedBlock::max_rank; ++d) {
    sum.add(a.stride[d], a.extent[d] - 1);
    sum.add(b.stride[d], b.extent[d] - 1);
  }
  return sum.reaches(target + b.reach());
}

/// Whether an element of a block is there twice, for two sets of indices: with
/// a stride of 0, or strides of which one leads to where others do. (Strides
/// that make the search too long count as that.)
inline bool repeats_elements(const StridedBlock& a) {
  if (a.empty()) return false;
  for (int d = 0; d < StridedBlock::max_rank; ++d) {
    if (a.extent[d] < 2) continue;
    // Two sets of indices differ by u + 1 in dimension d, and by up to the
    // extent either way in those before it; the latter counted from the end.
    BoundedSum sum;
    sum.add(a.stride[d], a.extent[d] - 2);
    std::int64_t target = -a.stride[d];
    for (int e = 0; e < d; ++e) {
      sum.add(a.stride[e], 2 * (a.extent[e] - 1));
      target += a.stride[e] * (a.extent[e] - 1);
    }
    if (sum.reaches(target)) return true;
  }
  return false;
}

/// Whether two blocks have the same elements in the same order.
inline bool same_elements(const StridedBlock& a, const StridedBlock& b) {
  return a.first == b.first && a.element == b.element && a.extent == b.extent &&
         a.stride == b.stride;
}

template <class A, class B>
bool share_elements(const A& a, const B& b) {
  return share_elements(strided_block(a), strided_block(b));
}

/// That a view to be written has each of its elements in a place of its own.
/// @throws AliasError
inline void require_distinct_elements(const char* name, const StridedBlock& v) {
  if (repeats_elements(v))
    throw AliasError(name, "has strides that lead to one element twice",
                     "pass a view with a place for every element");
}
}  // namespace Detail
}  // namespace Strata

#endif
