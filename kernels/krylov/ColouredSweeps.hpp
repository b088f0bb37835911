// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_COLOURED_SWEEPS_HPP
#define STRATA_KERNELS_KRYLOV_COLOURED_SWEEPS_HPP

#include <array>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/krylov/ColouredFactor.hpp>
#include <kernels/spmv/SellBuild.hpp>
#include <kernels/spmv/SellLaunch.hpp>

namespace Strata {
namespace Detail {

template <class MemorySpace>
struct RowLengths {
  IndexArray row_map;
  Kokkos::View<int*, MemorySpace> length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    length(row) = static_cast<int>(row_map(row + 1) - row_map(row));
  }
};

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
  static constexpr bool reduces = false, late = false, heavy = true;
  RowSource<Scalar> source, b;
  MultiVectorRef<Scalar> z;
  const Scalar* inverse_pivot;  // null: 1
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION Scalar solve(std::int64_t row,
                                      const Scalar& sum) const {
    const Scalar left = b(row, 0) - sum;
    const Scalar value = inverse_pivot ? inverse_pivot[row] * left : left;
    z(row, 0) = value;
    return value;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    solve(row, sum[0]);
    return 0;
  }
};

/// The same with the rows' share of r^H z, which `Sum` takes, or which is left
/// for a later launch to add up:
///   bool running() const;
///   void take(double part, bool first, bool last) const, by one thread.
template <class Scalar, class Sum, bool leaves>
struct SummingColourSweep {
  static constexpr int block = 1;
  static constexpr bool reduces = true, late = leaves, heavy = true;
  ColourSweep<Scalar> sweep;
  RowSource<Scalar> source, r;
  Sum sum_of;
  bool first, last;
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return sum_of.running();
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    // z may be r.
    const Scalar given = r(row, 0);
    return real_product(given, sweep.solve(row, sum[0]));
  }
  KOKKOS_INLINE_FUNCTION void finish(double part) const {
    sum_of.take(part, first, last);
  }
};

/// M = L U of a ColouredFactor: both triangular solves, colour by colour, on
/// vectors in the given order of rows.
///
/// Two colours take a launch each: with rows in the order of colours,
///   L = [ I   0 ]   U = [ D1  F  ]   z2 = (r2 - E D1^-1 r1) / D2,
///       [ G   I ],      [ 0   D2 ],  z1 = (r1 - F z2) / D1,
/// as the first rows of L and the last of U are trivial. k colours take
/// 2 (k - 1) and a copy. Rows of a launch read none that it writes, so no row
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
    if (colours() == 0) return;
    if (colours() > 1)
      lower_ = build(exec, factor.take(exec, true), 1, colours());
    upper_ =
        build(exec, factor.take(exec, false), 0, std::max(1, colours() - 1));
  }

  /// Factors of new values on the same pattern. The old ones stay where there
  /// is no memory for these; where an exception leaves parts of both, `apply`
  /// throws HandleError until an update succeeds.
  template <class CrsMatrix>
  void update_values(const ExecutionSpace& exec,
                     const ColouredFactor<CrsMatrix>& factor) {
    if (colours() == 0) return;
    // Whatever allocates comes first.
    const auto L = factor.take(exec, true), U = factor.take(exec, false);
    whole_ = false;
    factor.invert_pivots(exec, inverse_pivot_);
    if (colours() > 1) lower_.set_values(exec, L.values.data());
    upper_.set_values(exec, U.values.data());
    exec.fence();
    whole_ = true;
  }

  /// z = U^-1 L^-1 r, for vectors of rank 1; z may be r. Asynchronous on
  /// `exec`.
  template <class R, class Z>
  void apply(const ExecutionSpace& exec, const R& r, const Z& z) const {
    apply(exec, strided_block(r), strided_block(z));
  }
  void apply(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z) const {
    sweep(exec, r, z,
          [&](const Parts& parts, const ChunkRange& range,
              const ColourSweep<Scalar>& task, bool, bool) {
            run_sell(label, exec, parts.storage, task, GridSum<Memory>(),
                     range);
          });
  }
  /// With r^H z on the way, for r and z apart: `sum` takes it.
  template <class R, class Z, class Sum>
  void apply(const ExecutionSpace& exec, const R& r, const Z& z, const Sum& sum,
             const GridSum<Memory>& grid_sum) const {
    const RowSource<Scalar> given = row_source(strided_block(r));
    sweep(exec, strided_block(r), strided_block(z),
          [&](const Parts& parts, const ChunkRange& range,
              const ColourSweep<Scalar>& task, bool first, bool last) {
            run_sell(label, exec, parts.storage,
                     SummingColourSweep<Scalar, Sum, false>{
                         task, task.source, given, sum, first, last},
                     grid_sum, range);
          });
  }
  /// With r^H z as two sums left to be added up, for at most two colours; `sum`
  /// says whether there is anything to do.
  template <class R, class Z, class Sum>
  std::array<LateSums, 2> apply_leaving_sums(
      const ExecutionSpace& exec, const R& r, const Z& z, const Sum& sum,
      const GridSum<Memory>& first_sum,
      const GridSum<Memory>& second_sum) const {
    std::array<LateSums, 2> left;
    const RowSource<Scalar> given = row_source(strided_block(r));
    sweep(exec, strided_block(r), strided_block(z),
          [&](const Parts& parts, const ChunkRange& range,
              const ColourSweep<Scalar>& task, bool first, bool last) {
            left[first ? 0 : 1] =
                run_sell(label, exec, parts.storage,
                         SummingColourSweep<Scalar, Sum, true>{
                             task, task.source, given, sum, first, last},
                         first ? first_sum : second_sum, range);
          });
    return left;
  }

  int colours() const { return colouring_.num_colours(); }
  const Colouring<Memory>& colouring() const { return colouring_; }

 private:
  static constexpr const char* label =
      "Strata::IncompletePreconditioner::sweep";

  static RowSource<Scalar> row_source(const StridedBlock& v) {
    const auto ref = multi_vector_ref<const Scalar>(v);
    return {ref.data, ref.row_stride};
  }

  /// @param finish called with the chunks and the task of each sweep that
  ///               flushes rows of z, and whether it is the first and last such
  template <class Finish>
  void sweep(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z, const Finish& finish) const {
    require_both_factors(whole_);
    const int k = colours();
    if (k == 0) return;
    const auto to = multi_vector_ref<Scalar>(z);
    const RowSource<Scalar> given = row_source(r), made = row_source(z);
    const Scalar* const pivot = inverse_pivot_.data();
    const auto range = [](const Parts& parts, int group) {
      return ChunkRange{parts.first_chunk[group], parts.first_chunk[group + 1]};
    };
    if (k > 2 && (made.data != given.data || made.stride != given.stride))
      Kokkos::deep_copy(exec, strided_vector<Scalar, ExecutionSpace>(z),
                        strided_vector<const Scalar, ExecutionSpace>(r));
    const auto& b = k > 2 ? made : given;
    for (int c = 1; c < k - 1; ++c)
      run_sell(label, exec, lower_.storage,
               ColourSweep<Scalar>{b, b, to, nullptr}, GridSum<Memory>(),
               range(lower_, c - 1));
    if (k > 1)
      finish(lower_, range(lower_, k - 2), {b, b, to, pivot}, true, false);
    for (int c = std::max(0, k - 2); c >= 0; --c)
      finish(upper_, range(upper_, c), {made, b, to, pivot}, k == 1, c == 0);
  }

  /// The rows of colours first to end - 1 of a factor.
  template <class CrsMatrix>
  Parts build(const ExecutionSpace& exec, const CrsMatrix& factor, int first,
              int end) {
    const auto& map = colouring_.colour_map;
    const SellGroups<Memory> groups{
        colouring_.permutation.old_row,
        std::vector<std::int64_t>(map.begin() + first, map.begin() + end + 1)};
    const IndexArray row_map = factor.graph.row_map;
    const auto length = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::ColouredSweeps::length", rows_);
    Kokkos::parallel_for("Strata::ColouredSweeps::length",
                         RangeOf<ExecutionSpace>(exec, 0, rows_),
                         RowLengths<Memory>{row_map, length});
    SellReport report;
    report.rows = report.columns = rows_;
    report.entries = static_cast<std::int64_t>(factor.nnz());
    return build_sell<Scalar>(exec, row_map, factor.graph.entries,
                              factor.values.data(), length, true, SellOptions(),
                              report, &groups);
  }

  std::int64_t rows_;
  Colouring<Memory> colouring_;
  Kokkos::View<Scalar*, Memory> inverse_pivot_;
  bool whole_ = true;  // all parts are of the same values
  Parts lower_, upper_;
};

}  // namespace Detail
}  // namespace Strata

#endif
