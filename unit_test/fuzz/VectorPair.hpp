// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_VECTOR_PAIR_HPP
#define STRATA_FUZZ_VECTOR_PAIR_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

#include "Scalar.hpp"

namespace Strata {
namespace Fuzz {

/// Where b and x stand, and as what views.
enum class Placement {
  /// Of rank 1.
  rank1,
  /// Of rank 1, every fifth element.
  rank1_strided,
  left,
  right,
  /// Columns apart from each other, every third element of each.
  strided,
  /// b by columns, x by rows.
  left_to_right,
  /// A column of a block by rows.
  column_of_right,
  /// x between the elements of b.
  interleaved
};
constexpr int num_placements = 8;

inline const char* to_string(Placement placement) {
  static const char* const names[] = {"rank 1",
                                      "rank 1 strided",
                                      "LayoutLeft",
                                      "LayoutRight",
                                      "strided",
                                      "LayoutLeft to LayoutRight",
                                      "column of LayoutRight",
                                      "interleaved"};
  return names[static_cast<int>(placement)];
}
inline bool has_rank_one(Placement placement) {
  return placement == Placement::rank1 ||
         placement == Placement::rank1_strided ||
         placement == Placement::column_of_right;
}
inline bool can_be_in_place(Placement placement) {
  return placement != Placement::left_to_right;
}

/// b and x, of k columns each, within allocations whose other elements have to
/// stay as they are to the bit.
template <class Scalar, class Space>
class VectorPair {
 public:
  using Memory = typename Space::memory_space;
  using Buffer = Kokkos::View<Scalar*, Memory>;

  /// b has `rows_b` rows and x `rows_x`.
  /// @param shift elements before the first, so that alignment is that of one
  VectorPair(Placement placement, std::int64_t rows_b, std::int64_t rows_x,
             std::int64_t k, bool in_place, int shift)
      : placement_(placement),
        n_(std::max(rows_b, rows_x)),
        rows_b_(rows_b),
        rows_x_(rows_x),
        k_(k) {
    b_ = block_for(false, shift);
    x_ = in_place ? b_ : block_for(true, shift + 1);
    const bool shared = in_place || placement == Placement::interleaved;
    b_buffer_ = Buffer("b", (shared ? x_ : b_).place(n_, k) + 3);
    x_buffer_ = shared ? b_buffer_ : Buffer("x", x_.place(n_, k) + 3);
  }
  VectorPair(Placement placement, std::int64_t n, std::int64_t k, bool in_place,
             int shift)
      : VectorPair(placement, n, n, k, in_place, shift) {}

  /// Fills everything anew: b and x column by column, guards around them. In
  /// place, b is what counts.
  void set(const std::vector<Scalar>& b, const std::vector<Scalar>& old_x) {
    expected_b_ = filled(b_buffer_);
    expected_x_ = filled(x_buffer_);
    auto& under_x = one_buffer() ? expected_b_ : expected_x_;
    for_each(rows_x_, [&](std::int64_t i, std::int64_t c, std::int64_t at) {
      under_x[x_.place(i, c)] = old_x[at];
    });
    for_each(rows_b_, [&](std::int64_t i, std::int64_t c, std::int64_t at) {
      expected_b_[b_.place(i, c)] = b[at];
    });
    if (one_buffer()) expected_x_ = expected_b_;
    upload(expected_b_, b_buffer_);
    if (!one_buffer()) upload(expected_x_, x_buffer_);
  }
  /// The same with one value for all of x.
  void set(const std::vector<Scalar>& b, const Scalar& old_x) {
    set(b, std::vector<Scalar>(static_cast<std::size_t>(rows_x_ * k_), old_x));
  }
  /// x, column by column.
  std::vector<Scalar> get() const {
    const auto host = download(x_buffer_);
    std::vector<Scalar> values(static_cast<std::size_t>(rows_x_ * k_));
    for_each(rows_x_, [&](std::int64_t i, std::int64_t c, std::int64_t at) {
      values[at] = host[x_.place(i, c)];
    });
    return values;
  }
  /// Whether b and all that is not x still have the bits that were set.
  bool rest_is_untouched() const {
    auto found = download(x_buffer_);
    for_each(rows_x_, [&](std::int64_t i, std::int64_t c, std::int64_t) {
      found[x_.place(i, c)] = expected_x_[x_.place(i, c)];
    });
    if (!same_bits(found, expected_x_)) return false;
    return one_buffer() || same_bits(download(b_buffer_), expected_b_);
  }
  /// Writes where nothing may: for self-tests.
  void overwrite_guard() const {
    auto values = download(x_buffer_);
    flip_bit(values.back());
    upload(values, x_buffer_);
  }

  /// Calls f(b, x) with views.
  template <class F>
  void with_views(const F& f) const {
    using Kokkos::LayoutLeft;
    using Kokkos::LayoutRight;
    using Kokkos::LayoutStride;
    Scalar* const b = b_buffer_.data() + b_.first;
    Scalar* const x = x_buffer_.data() + x_.first;
    using Rank1 = Kokkos::View<Scalar*, Memory>;
    using Strided1 = Kokkos::View<Scalar*, LayoutStride, Memory>;
    using Left = Kokkos::View<Scalar**, LayoutLeft, Memory>;
    using Right = Kokkos::View<Scalar**, LayoutRight, Memory>;
    using Strided2 = Kokkos::View<Scalar**, LayoutStride, Memory>;
    const auto strided = [&](Scalar* data, const Block& block,
                             std::int64_t rows) {
      return Strided2(
          data, LayoutStride(rows, block.row_stride, k_, block.column_stride));
    };
    switch (placement_) {
      case Placement::rank1:
        return f(Rank1(b, rows_b_), Rank1(x, rows_x_));
      case Placement::rank1_strided:
      case Placement::column_of_right:
        return f(Strided1(b, LayoutStride(rows_b_, b_.row_stride)),
                 Strided1(x, LayoutStride(rows_x_, x_.row_stride)));
      case Placement::left:
        return f(Left(b, rows_b_, k_), Left(x, rows_x_, k_));
      case Placement::right:
        return f(Right(b, rows_b_, k_), Right(x, rows_x_, k_));
      case Placement::left_to_right:
        return f(Left(b, rows_b_, k_), Right(x, rows_x_, k_));
      default:
        return f(strided(b, b_, rows_b_), strided(x, x_, rows_x_));
    }
  }

 private:
  struct Block {
    std::int64_t first = 0, row_stride = 1, column_stride = 1;
    std::int64_t place(std::int64_t i, std::int64_t c) const {
      return first + i * row_stride + c * column_stride;
    }
  };

  Block block_for(bool of_x, int shift) const {
    switch (placement_) {
      case Placement::rank1:
      case Placement::left:
        return {shift, 1, of_x ? rows_x_ : rows_b_};
      case Placement::rank1_strided:
        return {shift, 5, 5 * n_};
      case Placement::right:
        return {shift, k_, 1};
      case Placement::left_to_right:
        return of_x ? Block{shift, k_, 1} : Block{shift, 1, rows_b_};
      case Placement::column_of_right:
        return {shift + 1, of_x ? 4 : 3, 1};
      case Placement::interleaved:
        return {shift, 2, 2 * n_ + 4};
      default:
        return {shift, 3, 3 * n_ + 7};
    }
  }

  static std::vector<Scalar> filled(const Buffer& buffer) {
    std::vector<Scalar> values(buffer.extent(0));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = Scalar(-7777.0f - static_cast<float>(i % 97));
    return values;
  }
  static void upload(const std::vector<Scalar>& from, const Buffer& to) {
    const auto host = Kokkos::create_mirror(to);
    std::copy(from.begin(), from.end(), host.data());
    Kokkos::deep_copy(to, host);
  }
  static std::vector<Scalar> download(const Buffer& from) {
    Kokkos::fence();
    const auto host = Kokkos::create_mirror(from);
    Kokkos::deep_copy(host, from);
    return std::vector<Scalar>(host.data(), host.data() + host.extent(0));
  }

  bool one_buffer() const { return x_buffer_.data() == b_buffer_.data(); }
  /// Calls f(row, column, place in a packed block of so many rows).
  template <class F>
  void for_each(std::int64_t rows, const F& f) const {
    for (std::int64_t c = 0; c < k_; ++c)
      for (std::int64_t i = 0; i < rows; ++i) f(i, c, c * rows + i);
  }

  Placement placement_;
  /// n_: of the longer one.
  std::int64_t n_, rows_b_, rows_x_, k_;
  Block b_, x_;
  Buffer b_buffer_, x_buffer_;
  std::vector<Scalar> expected_b_, expected_x_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
