// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_COLOURED_SWEEPS_HPP
#define STRATA_COLOURED_SWEEPS_HPP

#include <detail/Strata_ColouredFactor.hpp>
#include <detail/Strata_SellBuild.hpp>
#include <detail/Strata_SellKernel.hpp>

namespace Strata {
namespace Detail {

/// A vector in memory that the launch may write elsewhere.
template <class Scalar>
struct RowSource {
  const Scalar* data;
  std::int64_t stride;
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row, int) const {
    return data[row * stride];
  }
};

/// z = (b - A x) / d for the rows of a colour, where A has no column of that
/// colour; without a d, z = b - A x.
template <class Scalar>
struct ColourSweep {
  static constexpr int block = 1;
  static constexpr bool reduces = false, streams = true;
  RowSource<Scalar> source, b;
  MultiVectorRef<Scalar> z;
  const Scalar* inverse_pivot;  // null: 1
  KOKKOS_INLINE_FUNCTION bool read() { return true; }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    const Scalar left = b(row, 0) - sum[0];
    z(row, 0) = inverse_pivot ? inverse_pivot[row] * left : left;
    return 0;
  }
};

/// M = L U of a ColouredFactor: both triangular solves, colour by colour, on
/// vectors in the given order of rows.
///
/// Two colours take a launch each: with rows in the order of colours,
///   L = [ I   0 ]   U = [ D1  F  ]   z2 = (r2 - E D1^-1 r1) / D2,
///       [ G   I ],      [ 0   D2 ],  z1 = (r1 - F z2) / D1,
/// as the first rows of L and the last of U are trivial. k colours take
/// 2 (k - 1) and a copy. Rows of a launch read none that it writes, so nobody
/// waits and the bits are the same each time.
template <class Scalar, class ExecutionSpace>
class ColouredSweeps {
  using Memory = typename ExecutionSpace::memory_space;
  using Parts = SellParts<Scalar, ExecutionSpace>;

 public:
  template <class CrsMatrix>
  ColouredSweeps(const ExecutionSpace& exec,
                 const ColouredFactor<CrsMatrix>& factor)
      : rows_(static_cast<std::int64_t>(factor.A.numRows())),
        colouring_(factor.colouring),
        inverse_pivot_(make_unfilled<Kokkos::View<Scalar*, Memory>>(
            "Strata::ColouredSweeps::inverse_pivot", rows_)) {
    factor.invert_pivots(exec, inverse_pivot_);
    if (colours() < 2) return;
    lower_ = build(exec, factor.take(exec, true), 1, colours());
    upper_ = build(exec, factor.take(exec, false), 0, colours() - 1);
  }

  /// Factors of new values on the same pattern.
  template <class CrsMatrix>
  void update_values(const ExecutionSpace& exec,
                     const ColouredFactor<CrsMatrix>& factor) {
    factor.invert_pivots(exec, inverse_pivot_);
    if (colours() < 2) return;
    const auto L = factor.take(exec, true), U = factor.take(exec, false);
    lower_.set_values(exec, L.values.data());
    upper_.set_values(exec, U.values.data());
    exec.fence();
  }

  /// z = U^-1 L^-1 r; z may be r. Asynchronous on `exec`.
  template <class R, class Z>
  void apply(const ExecutionSpace& exec, const R& r, const Z& z) const {
    const int k = colours();
    const auto from = multi_vector_ref(r);
    const auto to = multi_vector_ref(z);
    const RowSource<Scalar> given{from.data, from.row_stride};
    const RowSource<Scalar> made{to.data, to.row_stride};
    const Scalar* const pivot = inverse_pivot_.data();
    if (k == 0) return;
    if (k == 1) {
      Kokkos::parallel_for("Strata::IncompletePreconditioner::divide",
                           RangeOf<ExecutionSpace>(exec, 0, rows_),
                           ScaleRows{given, to, pivot});
      return;
    }
    if (k == 2) {
      sweep(exec, lower_, 0, {given, given, to, pivot});
      sweep(exec, upper_, 0, {made, given, to, pivot});
      return;
    }
    if (to.data != from.data || to.row_stride != from.row_stride)
      Kokkos::deep_copy(exec, z, r);
    for (int c = 1; c < k; ++c)
      sweep(exec, lower_, c - 1,
            {made, made, to, c == k - 1 ? pivot : nullptr});
    for (int c = k - 2; c >= 0; --c)
      sweep(exec, upper_, c, {made, made, to, pivot});
  }

  int colours() const { return colouring_.num_colours(); }
  const Colouring<Memory>& colouring() const { return colouring_; }
  std::size_t bytes_read() const { return bytes_read_; }

  struct ScaleRows {
    RowSource<Scalar> r;
    MultiVectorRef<Scalar> z;
    const Scalar* inverse_pivot;
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
      z(row, 0) = inverse_pivot[row] * r(row, 0);
    }
  };

 private:
  void sweep(const ExecutionSpace& exec, const Parts& parts, int group,
             const ColourSweep<Scalar>& task) const {
    run_sell("Strata::IncompletePreconditioner::sweep", exec, parts.storage,
             task, GridSum<Memory>(),
             ChunkRange{parts.first_chunk[group], parts.first_chunk[group + 1]});
  }

  /// The rows of colours first to end - 1 of a factor.
  template <class CrsMatrix>
  Parts build(const ExecutionSpace& exec, const CrsMatrix& factor, int first,
              int end) {
    const auto& map = colouring_.colour_map;
    const SellGroups<Memory> groups{
        colouring_.permutation.old_row,
        std::vector<std::int64_t>(map.begin() + first, map.begin() + end + 1)};
    const auto row_map = factor.graph.row_map;
    const auto length = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::ColouredSweeps::length", rows_);
    Kokkos::parallel_for("Strata::ColouredSweeps::length",
                         RangeOf<ExecutionSpace>(exec, 0, rows_),
                         RowLengths<decltype(row_map)>{row_map, length});
    SellReport report;
    report.rows = report.columns = rows_;
    report.entries = static_cast<std::int64_t>(factor.nnz());
    const Parts made = build_sell<Scalar>(
        exec, row_map, factor.graph.entries, factor.values.data(), length, true,
        SellOptions(), report, &groups);
    bytes_read_ += report.bytes_read;
    return made;
  }
  template <class RowMap>
  struct RowLengths {
    RowMap row_map;
    Kokkos::View<int*, Memory> length;
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
      length(row) = static_cast<int>(row_map(row + 1) - row_map(row));
    }
  };

  std::int64_t rows_;
  Colouring<Memory> colouring_;
  Kokkos::View<Scalar*, Memory> inverse_pivot_;
  std::size_t bytes_read_ = 0;
  Parts lower_, upper_;
};

}  // namespace Detail
}  // namespace Strata

#endif
