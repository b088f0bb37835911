// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SELL_MATRIX_HPP
#define STRATA_SELL_MATRIX_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_SellOptions.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/SharedElements.hpp>
#include <memory>

namespace Strata {

namespace Detail {
template <class Scalar, class MemorySpace>
struct SellStorage;
template <class Scalar, class ExecutionSpace>
class SellMatrixState;
}  // namespace Detail

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
    if constexpr (Expect::template matrix<Matrix>) {
      build(exec, Detail::crs_arrays(A), options);
    }
  }

  /// The same from three views of rank 1: `row_map` of rows + 1 offsets,
  /// `entries` (zero-based columns) and `values` of equal length.
  template <class RowMap, class Entries, class Values>
  SellMatrix(const ExecutionSpace& exec, const RowMap& row_map,
             const Entries& entries, const Values& values,
             std::int64_t num_columns, const SellOptions& options = {}) {
    if constexpr (Expect::template matrix_views<RowMap, Entries, Values>) {
      build(exec, Detail::crs_arrays(row_map, entries, values, num_columns),
            options);
    }
  }

  /// y = alpha A x + beta y. Asynchronous on `exec`: one launch for each eight
  /// vectors, no allocation, no transfer and no wait. The same bits each time.
  /// Where beta is 0, y is not read.
  ///
  /// @param x columns() long, or columns() x k; any layout
  /// @param y rows() long, or rows() x k; must not share memory with x
  /// @throws SizeMismatchError, AliasError, HandleError before anything is
  ///   enqueued
  template <class X, class Y>
  void apply(const ExecutionSpace& exec, Scalar alpha, const X& x, Scalar beta,
             const Y& y) const {
    if constexpr (Expect::template that<
                      Detail::ExpectProduct<Scalar, ExecutionSpace, X, Y>>()) {
      multiply(exec, alpha, Detail::strided_block(x), beta,
               Detail::strided_block(y));
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
    if constexpr (Expect::template matrix_views<RowMap, Entries, Values>) {
      update(exec, Detail::crs_arrays(row_map, entries, values));
    }
  }
  /// The same from the values alone (rank 1, in the order of the CRS matrix),
  /// where the caller vouches for the pattern. Does not wait.
  template <class Values,
            std::enable_if_t<!Detail::IsCrsMatrix<Values>::value, int> = 0>
  void update_values(const ExecutionSpace& exec, const Values& values) {
    if constexpr (Expect::template values<Values>) {
      update(exec, values.data(), values.extent(0));
    }
  }

  /// These three: @throws HandleError
  std::int64_t rows() const { return report().rows; }
  std::int64_t columns() const { return report().columns; }
  /// Shape, padding and sizes.
  const SellReport& report() const;

 private:
  friend struct Detail::Internals;

  using Expect = Detail::Expects<SellMatrix, Scalar, ExecutionSpace>;

  // In SellMatrixImplementation.hpp.
  void require_made() const;
  void build(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
             const SellOptions& options);
  void multiply(const ExecutionSpace& exec, Scalar alpha,
                const Detail::StridedBlock& x, Scalar beta,
                const Detail::StridedBlock& y) const;
  void update(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A);
  void update(const ExecutionSpace& exec, const Scalar* values,
              std::size_t num_values);
  const Detail::SellStorage<Scalar, memory_space>& storage() const;

  std::shared_ptr<Detail::SellMatrixState<Scalar, ExecutionSpace>> state_;
};

template <class ExecutionSpace, class Matrix>
SellMatrix(const ExecutionSpace&, const Matrix&, const SellOptions& = {})
    -> SellMatrix<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>;

template <class ExecutionSpace, class RowMap, class Entries, class Values>
SellMatrix(const ExecutionSpace&, const RowMap&, const Entries&, const Values&,
           std::int64_t, const SellOptions& = {})
    -> SellMatrix<typename Detail::ScalarOf<Values>::type, ExecutionSpace>;

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/spmv/SellMatrixImplementation.hpp>
#endif

#endif
