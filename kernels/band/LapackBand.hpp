// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_LAPACK_BAND_HPP
#define STRATA_KERNELS_BAND_LAPACK_BAND_HPP

#include <algorithm>
#include <atomic>
#include <core/device/DeviceInfo.hpp>
#include <core/lapack/Lapack.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/scalar/Modulus.hpp>
#include <cstdint>
#include <kernels/band/BandAlgorithm.hpp>
#include <kernels/band/HostBandColumns.hpp>

namespace Strata {
namespace Detail {

/// Whether LAPACK's integers hold all sizes of a band in the storage of gbtrf.
template <class Scalar>
bool fits_lapack_band(const BandRef<Scalar>& A) {
  return fits_lapack(A.size + 2 * A.lower + A.upper + 2);
}

/// One band matrix on a host by LAPACK's gbtrf, and its right-hand sides by
/// gbtrs, in groups that threads share.
template <class Scalar, class ExecutionSpace>
class LapackBand : public BandAlgorithm<Scalar, ExecutionSpace> {
  using Base = BandAlgorithm<Scalar, ExecutionSpace>;
  using Memory = typename Base::Memory;
  using Real = typename Base::Real;

 public:
  /// Right-hand sides that are solved together, where b or x does not have
  /// LAPACK's layout.
  static constexpr int columns_at_once = 8;

  /// @param checks_pivots whether pivots that are small beside their rows and
  ///   columns are refused, as without row exchanges
  LapackBand(const ExecutionSpace& exec, const BandRef<Scalar>& A,
             bool checks_pivots, int max_right_hand_sides)
      : size_(static_cast<int>(A.size)),
        lower_(static_cast<int>(A.lower)),
        upper_(static_cast<int>(A.upper)),
        lines_(2 * lower_ + upper_ + 1),
        threads_(std::max(1, static_cast<int>(exec.concurrency()))),
        checks_pivots_(checks_pivots),
        band_(make_unfilled<decltype(band_)>(exec, "Strata::Band::lapack",
                                             std::int64_t{lines_} * size_)),
        exchange_(
            make_zeroed<decltype(exchange_)>("Strata::Band::exchange", size_)),
        pivots_(make_zeroed<decltype(pivots_)>("Strata::Band::pivots", size_)) {
    reserve(exec, std::max(1, max_right_hand_sides));
    grows_ = max_right_hand_sides == 0;
  }

  void factor(const ExecutionSpace& exec, const BandRef<Scalar>& A,
              const typename Base::Scale& scale,
              const typename Base::Fault& fault, Real small) override {
    const Columns columns(A);
    pack(exec, [&](std::int64_t j) { columns.copy(j, diagonal(j)); });
    const int info = Lapack<Scalar>::gbtrf(size_, lower_, upper_, band_.data(),
                                           lines_, exchange_.data());
    const auto note = [&](int what, std::int64_t row) {
      fault(what) = std::min(fault(what), static_cast<unsigned long long>(row));
    };
    if (info > 0) note(BandFaults::pivot, info - 1);
    for (int k = 0; k < size_; ++k) {
      pivots_(k) = exchange_(k) - 1;
      const Real p = modulus(*diagonal(k));
      if (info > 0 && k >= info - 1) continue;
      // The solutions multiply by 1 / p, or divide by p.
      if (!(p - p == Real(0)) || !(1 / p - 1 / p == Real(0)))
        note(BandFaults::overflow, k);
      else if (checks_pivots_ && !(p > small * scale(k)))
        note(BandFaults::pivot, k);
    }
  }

  /// One pass over the band, which adds up each column while it is copied.
  bool factor_checked(const ExecutionSpace& exec, const BandRef<Scalar>& A,
                      const typename Base::Scale& scale, Real small) override {
    const Columns columns(A);
    // That the diagonal dominates is asked for where row exchanges are not.
    std::atomic<bool> finite{true}, dominant{true};
    const auto take = [&](std::int64_t j) {
      const Real sum = columns.copy(j, diagonal(j));
      if (!(sum - sum == Real(0))) finite = false;
      if (!checks_pivots_) return;
      scale(j) = quick_modulus(A(0, j, j));
      if (dominant && !columns.dominates_column(j, sum)) dominant = false;
    };
    pack(exec, take);
    if (!finite || Lapack<Scalar>::gbtrf(size_, lower_, upper_, band_.data(),
                                         lines_, exchange_.data()) != 0)
      return false;
    if (!dominant) {
      if (!columns.dominates_rows(scale.data())) return false;
      for (int k = 0; k < size_; ++k) scale(k) = quick_modulus(A(0, k, k));
    }
    for (int k = 0; k < size_; ++k) {
      pivots_(k) = exchange_(k) - 1;
      if (is_doubtful_pivot(*diagonal(k),
                            checks_pivots_ ? small * scale(k) : Real(0)))
        return false;
    }
    return true;
  }

  void solve(const ExecutionSpace& exec, const BatchVectorRef<const Scalar>& b,
             const BatchVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    // LAPACK solves in place where x is stored by columns.
    const bool in_place = x.row_stride == 1 && is_aligned(x, columns) &&
                          (columns == 1 || (x.column_stride >= size_ &&
                                            fits_lapack(x.column_stride)));
    const std::int64_t stride = room_stride();
    const auto room =
        static_cast<std::int64_t>(room_.extent(0)) / (stride * columns_at_once);
    const std::int64_t groups = std::min<std::int64_t>(
        in_place ? threads_ : std::min<std::int64_t>(threads_, room),
        (columns + columns_at_once - 1) / columns_at_once);
    const LapackBand* const own = this;
    const std::int64_t elements =
        groups == 1 ? 1 : std::int64_t{lines_} * size_ * columns;
    for_each(
        "Strata::Band::solve", exec, groups, elements, [=](std::int64_t g) {
          const std::int64_t begin = columns * g / groups,
                             end = columns * (g + 1) / groups;
          if (in_place) {
            own->copy(b, x, begin, end);
            own->substitute(x.at(0, begin, 0), end - begin,
                            columns == 1 ? own->size_ : x.column_stride);
            return;
          }
          const BatchVectorRef<Scalar> to{
              own->room_.data() + g * columns_at_once * stride, 1, stride, 0};
          for (std::int64_t c = begin; c < end; c += columns_at_once) {
            const std::int64_t now =
                std::min<std::int64_t>(columns_at_once, end - c);
            own->copy(b.from(c), to, 0, now);
            own->substitute(to.data, now, stride);
            own->copy(to, x.from(c), 0, now);
          }
        });
  }

  bool reserve(const ExecutionSpace& exec, std::int64_t columns) override {
    const std::int64_t most = std::int64_t{threads_} * columns_at_once;
    const auto wanted = static_cast<std::size_t>(
        room_stride() * std::min(most, (columns + columns_at_once - 1) /
                                           columns_at_once * columns_at_once));
    if (!grows_ || wanted <= room_.extent(0)) return false;
    Kokkos::fence();  // solves may be under way that use the old one
    room_ = decltype(room_)();
    room_ =
        make_unfilled<decltype(room_)>(exec, "Strata::Band::vectors", wanted);
    return true;
  }

  std::size_t bytes() const override {
    return (band_.extent(0) + room_.extent(0)) * sizeof(Scalar) +
           exchange_.extent(0) * sizeof(int) +
           pivots_.extent(0) * sizeof(std::int64_t);
  }
  Kokkos::View<const std::int64_t*, Memory> pivots() const override {
    return pivots_;
  }

 private:
  using Columns = HostBandColumns<Scalar, ExecutionSpace>;

  /// Where a column's address decides its last bits: some kernels of OpenBLAS
  /// (Prescott's, which it takes on processors that it does not know) round
  /// other sums if a complex<float> is not at a multiple of 16 bytes.
  static constexpr std::size_t alignment =
      sizeof(Scalar) == 2 * sizeof(float) && sizeof(Real) == sizeof(float) ? 16
                                                                           : 1;
  static bool is_aligned(const BatchVectorRef<Scalar>& x,
                         std::int64_t columns) {
    return reinterpret_cast<std::uintptr_t>(x.data) % alignment == 0 &&
           (columns == 1 || x.column_stride * std::int64_t{sizeof(Scalar)} %
                                    std::int64_t{alignment} ==
                                0);
  }
  /// From one column to the next in `room_`.
  std::int64_t room_stride() const {
    constexpr std::int64_t step =
        alignment > sizeof(Scalar) ? alignment / sizeof(Scalar) : 1;
    return (std::int64_t{size_} + step - 1) / step * step;
  }

  Scalar* diagonal(std::int64_t j) const {
    return band_.data() + j * lines_ + lower_ + upper_;
  }
  /// Calls take(j) for all columns. Waits.
  template <class Take>
  void pack(const ExecutionSpace& exec, const Take& take) const {
    const std::int64_t elements = std::int64_t{lines_} * size_;
    for_each("Strata::Band::pack", exec, size_,
             is_left_beside_lapack<ExecutionSpace>(elements) ? 0 : elements,
             take);
    exec.fence();
  }

  /// @param elements  that the loop goes over: see is_left_to_caller
  template <class Body>
  static void for_each(const char* label, const ExecutionSpace& exec,
                       std::int64_t count, std::int64_t elements,
                       const Body& body) {
    if (is_left_to_caller<ExecutionSpace>(elements))
      for (std::int64_t i = 0; i < count; ++i) body(i);
    else
      for_each_index(label, exec, count, body);
  }
  template <class From>
  void copy(const BatchVectorRef<From>& from, const BatchVectorRef<Scalar>& to,
            std::int64_t begin, std::int64_t end) const {
    for (std::int64_t c = begin; c < end; ++c) {
      if (from.at(0, c, 0) == to.at(0, c, 0) &&
          from.row_stride == to.row_stride)
        continue;
      for (std::int64_t i = 0; i < size_; ++i)
        *to.at(i, c, 0) = *from.at(i, c, 0);
    }
  }
  void substitute(Scalar* x, std::int64_t columns, std::int64_t ld) const {
    Lapack<Scalar>::gbtrs(size_, lower_, upper_, static_cast<int>(columns),
                          band_.data(), lines_, exchange_.data(), x,
                          static_cast<int>(ld));
  }

  int size_, lower_, upper_, lines_, threads_;
  bool checks_pivots_, grows_ = true;
  Kokkos::View<Scalar*, Memory> band_, room_;
  Kokkos::View<int*, Memory> exchange_;  // LAPACK's ipiv
  Kokkos::View<std::int64_t*, Memory> pivots_;
};

}  // namespace Detail
}  // namespace Strata

#endif
