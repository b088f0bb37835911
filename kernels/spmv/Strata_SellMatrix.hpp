// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SELL_MATRIX_HPP
#define STRATA_SELL_MATRIX_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_SellOptions.hpp>
#include <core/device/Profiling.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/spmv/SellBuild.hpp>
#include <kernels/spmv/SellLaunch.hpp>
#include <kernels/spmv/SellVectors.hpp>
#include <memory>

namespace Strata {

/// A sparse matrix in SELL-C-sigma form, for products with vectors.
///
/// Rows are cut into chunks of C, each padded to its longest row and stored
/// column by column, so that neighbouring threads read neighbouring memory;
/// sorting rows by length within windows of sigma rows keeps padding small.
/// Beyond that form: a chunk whose entries lie on few diagonals stores the
/// diagonals instead of columns; rows may have several lanes each; and rows far
/// longer than the others are cut into pieces. Source: M. Kreutzer, G. Hager,
/// G. Wellein, H. Fehske, A. R. Bishop, SIAM J. Sci. Comput. 36(5), 2014.
///
/// The constructor builds it on the device from a CRS matrix, which is not
/// referred to afterwards. Copies share the matrix. Where there are long rows
/// (see report()) they also share workspace: products of one matrix, or of its
/// copies, must then not overlap in time.
///
/// A matrix made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. Every other use of an empty
/// matrix is a HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
/// @tparam ExecutionSpace where matrix and vectors are accessible
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class SellMatrix {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty one.
  SellMatrix() = default;

  /// From a KokkosSparse::CrsMatrix of any shape. Rows need not be sorted, and
  /// entries named twice add up.
  ///
  /// @throws RowMapError, ColumnRangeError, SizeMismatchError,
  ///   IndexOverflowError, OptionError, MemoryError
  /// Cost: some passes over the pattern and one over the values, on the device;
  /// for each sigma tried, a sort of the rows. Waits for `exec`.
  template <class Matrix>
  SellMatrix(const ExecutionSpace& exec, const Matrix& A,
             const SellOptions& options = {}) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      Detail::with_memory_errors("a SELL matrix", [&] {
        build(exec, A.graph.row_map, A.graph.entries, A.values,
              static_cast<std::int64_t>(A.numCols()), options);
      });
    }
  }

  /// The same from three views of rank 1: `row_map` of rows + 1 offsets,
  /// `entries` (zero-based columns) and `values` of equal length.
  template <class RowMap, class Entries, class Values>
  SellMatrix(const ExecutionSpace& exec, const RowMap& row_map,
             const Entries& entries, const Values& values,
             std::int64_t num_columns, const SellOptions& options = {}) {
    if constexpr (Detail::ExpectMatrixViews<Scalar, ExecutionSpace, RowMap,
                                            Entries, Values>::value) {
      Detail::with_memory_errors("a SELL matrix", [&] {
        build(exec, row_map, entries, values, num_columns, options);
      });
    }
  }

  /// y = alpha A x + beta y. Asynchronous on `exec`: one launch (for several
  /// vectors, one for each eight), no allocation, no transfer and no wait. The
  /// same bits each time. Where beta is 0, y is not read.
  ///
  /// @param x columns() long, or columns() x k; any layout
  /// @param y rows() long, or rows() x k; must not share memory with x
  /// @throws SizeMismatchError, AliasError, HandleError before anything is
  ///   enqueued
  template <class X, class Y>
  void apply(const ExecutionSpace& exec, Scalar alpha, const X& x, Scalar beta,
             const Y& y) const {
    if constexpr (Detail::ExpectProduct<Scalar, ExecutionSpace, X, Y>::value) {
      Detail::check_product_vectors(rows(), columns(), x, y);
      require_values();
      const std::int64_t vectors = Detail::num_columns(y);
      if (rows() == 0 || vectors == 0) return;
      const Detail::ProfilingRegion region("Strata::SellMatrix::apply");
      const auto xr = Detail::multi_vector_ref(x);
      const Detail::MultiVectorRef<const Scalar> from{xr.data, xr.row_stride,
                                                      xr.column_stride};
      const auto to = Detail::multi_vector_ref(y);
      if (vectors == 1 && from.row_stride == 1)
        return multiply<1>(exec, Detail::ContiguousSource<Scalar>{from.data},
                           to, 1, alpha, beta);
      for (std::int64_t first = 0; first < vectors; first += 8) {
        const int count =
            static_cast<int>(std::min<std::int64_t>(8, vectors - first));
        const Detail::StridedSource<Scalar> source{from.from(first), count};
        if (count == 1)
          multiply<1>(exec, source, to.from(first), count, alpha, beta);
        else if (count <= 4)
          multiply<4>(exec, source, to.from(first), count, alpha, beta);
        else
          multiply<8>(exec, source, to.from(first), count, alpha, beta);
      }
    }
  }
  /// y = A x.
  template <class X, class Y>
  void apply(const ExecutionSpace& exec, const X& x, const Y& y) const {
    apply(exec, Scalar(1), x, Scalar(0), y);
  }

  /// Takes new values of a matrix with the same pattern; the form stays.
  ///
  /// @throws HandleError, SizeMismatchError, PatternMismatchError, MemoryError:
  ///   the old values then stay. Where a launch fails once values are written,
  ///   products throw HandleError until an update succeeds
  /// Cost: one pass over the pattern, which the host waits for; then one over
  /// the values, enqueued on `exec`: let nothing but later work on `exec`
  /// change or free them before a fence.
  template <class Matrix,
            std::enable_if_t<Detail::IsCrsMatrix<Matrix>::value, int> = 0>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    update_values(exec, A.graph.row_map, A.graph.entries, A.values);
  }
  template <class RowMap, class Entries, class Values>
  void update_values(const ExecutionSpace& exec, const RowMap& row_map,
                     const Entries& entries, const Values& values) {
    if constexpr (Detail::ExpectMatrixViews<Scalar, ExecutionSpace, RowMap,
                                            Entries, Values>::value) {
      require_made();
      bool same = row_map.extent(0) == row_map_extent_ &&
                  entries.extent(0) == num_values_;
      if (same) {
        check_num_values(values);
        same = Detail::with_memory_errors("new values of a SELL matrix", [&] {
          return Detail::pattern_fingerprint(exec, row_map, entries) ==
                 fingerprint_;
        });
      }
      if (!same)
        throw PatternMismatchError(
            "matrix", "does not have the pattern that the form was built from",
            "pass that matrix with new values, or make a new SellMatrix");
      take_values(exec, values.data());
    }
  }
  /// The same from the values alone (rank 1, in the order of the CRS matrix),
  /// where the caller vouches for the pattern. Does not wait.
  template <class Values,
            std::enable_if_t<!Detail::IsCrsMatrix<Values>::value, int> = 0>
  void update_values(const ExecutionSpace& exec, const Values& values) {
    if constexpr (Detail::ExpectValues<Scalar, ExecutionSpace, Values>::value) {
      require_made();
      check_num_values(values);
      take_values(exec, values.data());
    }
  }

  /// These three: @throws HandleError
  std::int64_t rows() const { return report().rows; }
  std::int64_t columns() const { return report().columns; }
  /// Shape, padding and sizes.
  const SellReport& report() const {
    require_made();
    return *report_;
  }

 private:
  friend struct Detail::Internals;
  const Detail::SellStorage<Scalar, memory_space>& storage() const {
    require_values();
    return parts_.storage;
  }
  void require_made() const {
    Detail::require_made(report_, "SellMatrix", "exec, A");
  }

  void take_values(const ExecutionSpace& exec, const Scalar* values) {
    Detail::with_memory_errors("new values of a SELL matrix", [&] {
      *whole_ = false;
      parts_.set_values(exec, values);
      *whole_ = true;
    });
  }
  void require_values() const {
    require_made();
    if (!*whole_)
      throw HandleError("SellMatrix",
                        "has no values: an exception has ended the update",
                        "call update_values again");
  }

  template <int R, class Source>
  void multiply(const ExecutionSpace& exec, const Source& source,
                const Detail::MultiVectorRef<Scalar>& y, int columns,
                Scalar alpha, Scalar beta) const {
    Detail::run_sell("Strata::SellMatrix::apply", exec, parts_.storage,
                     Detail::SellMultiply<Scalar, R, Source>{
                         source, y, columns, alpha, beta, beta == Scalar(0)});
  }

  template <class Values>
  void check_num_values(const Values& values) const {
    if (values.extent(0) != num_values_)
      throw SizeMismatchError("values",
                              "has " + std::to_string(values.extent(0)) +
                                  " elements, the matrix " +
                                  std::to_string(num_values_),
                              "pass a value for every entry");
  }

  template <class RowMap, class Entries, class Values>
  void build(const ExecutionSpace& exec, const RowMap& row_map,
             const Entries& entries, const Values& values, std::int64_t columns,
             const SellOptions& options) {
    Detail::check_sell_options<ExecutionSpace>(options);
    const Detail::ProfilingRegion region("Strata::SellMatrix::build");
    Kokkos::Timer timer;
    auto report = std::make_shared<SellReport>();
    row_map_extent_ = row_map.extent(0);
    num_values_ = entries.extent(0);
    check_num_values(values);
    report->rows = row_map_extent_ == 0
                       ? 0
                       : static_cast<std::int64_t>(row_map_extent_) - 1;
    report->columns = columns;
    Detail::check_matrix_extents(report->rows, columns);
    const auto length = Detail::make_unfilled<Kokkos::View<int*, memory_space>>(
        exec, "Strata::SellMatrix::length", report->rows);
    const bool ascending = Detail::check_crs_pattern(
        exec, row_map, entries, report->rows, columns, length);
    if (report->rows > 0)
      report->entries = static_cast<std::int64_t>(
          Detail::fetch_element(row_map, report->rows));
    parts_ = Detail::build_sell<Scalar>(exec, row_map, entries, values.data(),
                                        length, ascending, options, *report);
    fingerprint_ = Detail::pattern_fingerprint(exec, row_map, entries);
    whole_ = std::make_shared<bool>(true);
    report->build_us = timer.seconds() * 1e6;
    report_ = report;
  }

  Detail::SellParts<Scalar, ExecutionSpace> parts_;
  std::shared_ptr<const SellReport> report_;
  std::shared_ptr<bool> whole_;  // of all copies: the values are of one matrix
  std::size_t row_map_extent_ = 0, num_values_ = 0;
  std::uint64_t fingerprint_ = 0;
};

template <class ExecutionSpace, class Matrix>
SellMatrix(const ExecutionSpace&, const Matrix&, const SellOptions& = {})
    -> SellMatrix<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>;

template <class ExecutionSpace, class RowMap, class Entries, class Values>
SellMatrix(const ExecutionSpace&, const RowMap&, const Entries&, const Values&,
           std::int64_t, const SellOptions& = {})
    -> SellMatrix<typename Detail::ScalarOf<Values>::type, ExecutionSpace>;

}  // namespace Strata

#endif
