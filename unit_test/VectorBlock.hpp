// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_VECTOR_BLOCK_HPP
#define STRATA_TEST_VECTOR_BLOCK_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <vector>

namespace Strata {
namespace SolverTest {

enum class Storage {
  rank1,
  rank1_strided,
  left,
  right,
  /// Columns apart from each other, every third element of each.
  strided,
  /// Rows apart from each other, every second element of each.
  strided_by_rows
};

/// n x k numbers of any storage somewhere within a larger allocation, whose
/// other elements have to stay as they are.
template <class Scalar, class ExecutionSpace>
class VectorBlock {
 public:
  using Memory = typename ExecutionSpace::memory_space;

  /// `shift`: elements from the start of the allocation, so that the block's
  /// alignment is that of one element.
  VectorBlock(Storage storage, std::int64_t n, std::int64_t k,
              std::int64_t shift = 0)
      : storage_(storage), n_(n), k_(k), shift_(shift) {
    switch (storage) {
      case Storage::rank1:
      case Storage::left:
        row_stride_ = 1, column_stride_ = n;
        break;
      case Storage::rank1_strided:
        row_stride_ = 5, column_stride_ = 0;
        break;
      case Storage::right:
        row_stride_ = k, column_stride_ = 1;
        break;
      case Storage::strided:
        row_stride_ = 3, column_stride_ = 3 * n + 7;
        break;
      case Storage::strided_by_rows:
        row_stride_ = 2 * k + 3, column_stride_ = 2;
        break;
    }
    buffer_ = Kokkos::View<Scalar*, Memory>(
        "block", shift + n * row_stride_ + k * column_stride_ + 3);
    set(std::vector<Scalar>(n * k, Scalar(0)));
  }

  /// `values` column by column.
  void set(const std::vector<Scalar>& values) const {
    const auto host = Kokkos::create_mirror_view(buffer_);
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = guard();
    for (std::int64_t c = 0; c < k_; ++c)
      for (std::int64_t i = 0; i < n_; ++i)
        host(place(i, c)) = values[c * n_ + i];
    Kokkos::deep_copy(buffer_, host);
  }
  /// The block column by column. Waits for everything.
  std::vector<Scalar> get() const {
    Kokkos::fence();
    const auto host = mirror();
    std::vector<Scalar> values(n_ * k_);
    for (std::int64_t c = 0; c < k_; ++c)
      for (std::int64_t i = 0; i < n_; ++i)
        values[c * n_ + i] = host(place(i, c));
    return values;
  }
  /// True if nothing around the block was written.
  bool surroundings_intact() const {
    const auto host = mirror();
    std::vector<char> inside(host.extent(0), 0);
    for (std::int64_t c = 0; c < k_; ++c)
      for (std::int64_t i = 0; i < n_; ++i) inside[place(i, c)] = 1;
    for (std::size_t i = 0; i < inside.size(); ++i)
      if (!inside[i] && host(i) != guard()) return false;
    return true;
  }

  /// Calls f with a view of the block's type.
  template <class F>
  void with_view(const F& f) const {
    using Kokkos::LayoutStride;
    using Kokkos::View;
    Scalar* const data = buffer_.data() + shift_;
    switch (storage_) {
      case Storage::rank1:
        return f(View<Scalar*, Memory>(data, n_));
      case Storage::rank1_strided:
        return f(View<Scalar*, LayoutStride, Memory>(
            data, LayoutStride(n_, row_stride_)));
      case Storage::left:
        return f(View<Scalar**, Kokkos::LayoutLeft, Memory>(data, n_, k_));
      case Storage::right:
        return f(View<Scalar**, Kokkos::LayoutRight, Memory>(data, n_, k_));
      default:
        return f(View<Scalar**, LayoutStride, Memory>(
            data, LayoutStride(n_, row_stride_, k_, column_stride_)));
    }
  }

 private:
  static Scalar guard() { return Scalar(-7777); }
  std::int64_t place(std::int64_t i, std::int64_t c) const {
    return shift_ + i * row_stride_ + c * column_stride_;
  }
  auto mirror() const {
    const auto host = Kokkos::create_mirror(buffer_);
    Kokkos::deep_copy(host, buffer_);
    return host;
  }

  Storage storage_;
  std::int64_t n_, k_, shift_, row_stride_ = 1, column_stride_ = 0;
  Kokkos::View<Scalar*, Memory> buffer_;
};

}  // namespace SolverTest
}  // namespace Strata

#endif
