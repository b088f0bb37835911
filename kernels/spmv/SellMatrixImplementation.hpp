// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_MATRIX_IMPLEMENTATION_HPP
#define STRATA_KERNELS_SPMV_SELL_MATRIX_IMPLEMENTATION_HPP

// What SellMatrix does, compiled into libstrata (src/) for the scalars and
// spaces of a build. A program with others includes this file.

#include <Strata_SellMatrix.hpp>
#include <core/device/Profiling.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/spmv/SellBuild.hpp>
#include <kernels/spmv/SellLaunch.hpp>
#include <kernels/spmv/SellVectors.hpp>
#include <type_traits>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<SellMatrix<Scalar, ExecutionSpace>> : std::true_type {
};

/// What copies of a SellMatrix share.
template <class Scalar, class ExecutionSpace>
class SellMatrixState {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Matrix = CrsArrays<Scalar>;

  /// See SellMatrix's constructor.
  SellMatrixState(const ExecutionSpace& exec, const Matrix& A,
                  const SellOptions& options) {
    check_sell_options<ExecutionSpace>(options);
    const ProfilingRegion region("Strata::SellMatrix::build");
    Kokkos::Timer timer;
    row_map_extent_ = A.row_map.extent(0);
    num_values_ = A.entries.extent(0);
    check_num_values(A.num_values);
    report_.rows = row_map_extent_ == 0
                       ? 0
                       : static_cast<std::int64_t>(row_map_extent_) - 1;
    report_.columns = A.columns;
    check_matrix_extents(report_.rows, A.columns);
    const auto length = make_unfilled<Kokkos::View<int*, Memory>>(
        exec, "Strata::SellMatrix::length", report_.rows);
    const bool ascending = check_crs_pattern(exec, A.row_map, A.entries,
                                             report_.rows, A.columns, length);
    if (report_.rows > 0)
      report_.entries = A.row_map.template fetch<Memory>(report_.rows);
    parts_ = build_sell<Scalar>(exec, A.row_map, A.entries, A.values, length,
                                ascending, options, report_);
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
    report_.build_us = timer.seconds() * 1e6;
  }

  const SellReport& report() const { return report_; }
  const SellStorage<Scalar, Memory>& storage() const {
    require_values();
    return parts_.storage;
  }

  void multiply(const ExecutionSpace& exec, Scalar alpha, const StridedBlock& x,
                Scalar beta, const StridedBlock& y) const {
    check_product_vectors(report_.rows, report_.columns, x, y);
    require_values();
    const std::int64_t vectors = y.extent[1];
    if (report_.rows == 0 || vectors == 0) return;
    const ProfilingRegion region("Strata::SellMatrix::apply");
    const auto from = multi_vector_ref<const Scalar>(x);
    const auto to = multi_vector_ref<Scalar>(y);
    if (vectors == 1 && (from.row_stride == 1 || x.extent[0] < 2))
      return multiply_block<1>(exec, ContiguousSource<Scalar>{from.data}, to, 1,
                               alpha, beta);
    for (std::int64_t first = 0; first < vectors; first += sell_max_block) {
      const int count = static_cast<int>(
          std::min<std::int64_t>(sell_max_block, vectors - first));
      const StridedSource<Scalar> source{from.from(first), count};
      const auto part = to.from(first);
      if (count == 1)
        multiply_block<1>(exec, source, part, count, alpha, beta);
      else if (count <= 4)
        multiply_block<4>(exec, source, part, count, alpha, beta);
      else
        multiply_block<sell_max_block>(exec, source, part, count, alpha, beta);
    }
  }

  bool same_pattern(const ExecutionSpace& exec, const Matrix& A) const {
    if (A.row_map.extent(0) != row_map_extent_ ||
        A.entries.extent(0) != num_values_)
      return false;
    check_num_values(A.num_values);
    return with_memory_errors("new values of a SELL matrix", [&] {
      return pattern_fingerprint(exec, A.row_map, A.entries) == fingerprint_;
    });
  }
  void check_num_values(std::size_t num_values) const {
    if (num_values != num_values_)
      throw SizeMismatchError("values",
                              "has " + std::to_string(num_values) +
                                  " elements, the matrix " +
                                  std::to_string(num_values_),
                              "pass a value for every entry");
  }
  void take_values(const ExecutionSpace& exec, const Scalar* values) {
    with_memory_errors("new values of a SELL matrix", [&] {
      whole_ = false;
      parts_.set_values(exec, values);
      whole_ = true;
    });
  }

 private:
  void require_values() const {
    if (!whole_)
      throw HandleError("SellMatrix",
                        "has no values: an exception has ended the update",
                        "call update_values again");
  }

  template <int R, class Source>
  void multiply_block(const ExecutionSpace& exec, const Source& source,
                      const MultiVectorRef<Scalar>& y, int columns,
                      Scalar alpha, Scalar beta) const {
    run_sell("Strata::SellMatrix::apply", exec, parts_.storage,
             SellMultiply<Scalar, R, Source>{source, y, columns, alpha, beta,
                                             beta == Scalar(0)});
  }

  SellParts<Scalar, ExecutionSpace> parts_;
  SellReport report_;
  bool whole_ = true;  // the values are of one matrix
  std::size_t row_map_extent_ = 0, num_values_ = 0;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
void SellMatrix<Scalar, ExecutionSpace>::build(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
    const SellOptions& options) {
  Detail::with_memory_errors("a SELL matrix", [&] {
    state_ = std::make_shared<Detail::SellMatrixState<Scalar, ExecutionSpace>>(
        exec, A, options);
  });
}

template <class Scalar, class ExecutionSpace>
void SellMatrix<Scalar, ExecutionSpace>::multiply(
    const ExecutionSpace& exec, Scalar alpha, const Detail::StridedBlock& x,
    Scalar beta, const Detail::StridedBlock& y) const {
  require_made();
  state_->multiply(exec, alpha, x, beta, y);
}

template <class Scalar, class ExecutionSpace>
void SellMatrix<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  require_made();
  if (!state_->same_pattern(exec, A))
    throw PatternMismatchError(
        "matrix", "does not have the pattern that the form was built from",
        "pass that matrix with new values, or make a new SellMatrix");
  state_->take_values(exec, A.values);
}

template <class Scalar, class ExecutionSpace>
void SellMatrix<Scalar, ExecutionSpace>::update(const ExecutionSpace& exec,
                                                const Scalar* values,
                                                std::size_t num_values) {
  require_made();
  state_->check_num_values(num_values);
  state_->take_values(exec, values);
}

template <class Scalar, class ExecutionSpace>
const SellReport& SellMatrix<Scalar, ExecutionSpace>::report() const {
  require_made();
  return state_->report();
}

template <class Scalar, class ExecutionSpace>
const Detail::SellStorage<Scalar, typename ExecutionSpace::memory_space>&
SellMatrix<Scalar, ExecutionSpace>::storage() const {
  require_made();
  return state_->storage();
}

template <class Scalar, class ExecutionSpace>
void SellMatrix<Scalar, ExecutionSpace>::require_made() const {
  Detail::require_made(state_, "SellMatrix", "exec, A");
}

}  // namespace Strata

#endif
