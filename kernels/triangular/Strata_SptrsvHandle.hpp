// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SPTRSV_HANDLE_HPP
#define STRATA_SPTRSV_HANDLE_HPP

#include <Strata_TriangularSolver.hpp>
#include <memory>
#include <optional>

namespace Strata {
namespace Experimental {

/// Kokkos Kernels' names of its own kernels. None has a counterpart here: each
/// stands for Algorithm::automatic.
enum class SPTRSVAlgorithm {
  SEQLVLSCHD_RP,
  SEQLVLSCHD_TP1,
  SEQLVLSCHD_TP1CHAIN,
  SPTRSV_CUSPARSE
};

/// A triangular system between sptrsv_symbolic and sptrsv_solve.
template <class Scalar, class ExecutionSpace>
class SPTRSVHandle {
 public:
  using execution_space = ExecutionSpace;
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;

  SPTRSVHandle(Algorithm algorithm, std::size_t nrows, bool lower_tri)
      : nrows_(nrows), lower_tri_(lower_tri) {
    options_.algorithm = algorithm;
  }

  std::size_t get_nrows() const { return nrows_; }
  bool is_lower_tri() const { return lower_tri_; }
  bool is_upper_tri() const { return !lower_tri_; }
  /// The algorithm asked for; after sptrsv_symbolic the one chosen.
  Algorithm get_algorithm() const {
    return solver_ ? solver_->report().algorithm : options_.algorithm;
  }
  void set_algorithm(Algorithm algorithm) { options_.algorithm = algorithm; }
  /// Everything else that TriangularSolver can be told. Read by
  /// sptrsv_symbolic.
  TriangularOptions& options() { return options_; }
  bool is_symbolic_complete() const { return solver_.has_value(); }
  std::size_t get_num_levels() const {
    return static_cast<std::size_t>(solver().report().levels);
  }
  /// The promise that the values a solve is given are those of the solve
  /// before, unless they stand at another address. They are then not packed
  /// again, and the solve is asynchronous.
  void set_values_fixed(bool fixed) { values_fixed_ = fixed; }

  /// The solver that sptrsv_symbolic made. @throws HandleError before that
  const Solver& solver() const {
    if (!solver_)
      throw HandleError("handle", "the system has not been analysed",
                        "call sptrsv_symbolic first");
    return *solver_;
  }

  /// What sptrsv_symbolic does: analyses the pattern. `values` are packed.
  template <class RowMap, class Entries, class Values>
  void analyse(const ExecutionSpace& exec, const RowMap& row_map,
               const Entries& entries, const Values& values) {
    if (row_map.extent(0) != nrows_ + 1 &&
        !(nrows_ == 0 && row_map.extent(0) == 0))
      throw SizeMismatchError(
          "row_map",
          "has " + std::to_string(row_map.extent(0)) +
              " offsets, the handle was created for " + std::to_string(nrows_) +
              " rows",
          "create the handle with the number of rows of the matrix");
    solver_.reset();
    packed_from_ = nullptr;
    solver_.emplace(exec, row_map, entries, values,
                    lower_tri_ ? Uplo::lower : Uplo::upper, Diag::non_unit,
                    options_);
    num_entries_ = entries.extent(0);
  }

  /// What sptrsv_solve does.
  template <class RowMap, class Entries, class Values, class B, class X>
  void solve(const ExecutionSpace& exec, const RowMap& row_map,
             const Entries& entries, const Values& values, const B& b,
             const X& x) {
    solver();
    check_extent("row_map", row_map.extent(0), nrows_ + 1);
    check_extent("entries", entries.extent(0), num_entries_);
    Detail::check_vectors<Scalar, ExecutionSpace>(
        static_cast<std::int64_t>(nrows_), b, x);
    if (!values_fixed_ || packed_from_ != values.data()) {
      packed_from_ = nullptr;
      solver_->update_values(exec, values);
      packed_from_ = values.data();
    }
    solver_->solve(exec, b, x);
  }

 private:
  static void check_extent(const char* name, std::size_t given,
                           std::size_t analysed) {
    const bool no_rows = analysed == 1 && given == 0;
    if (given != analysed && !no_rows)
      throw SizeMismatchError(name,
                              "has " + std::to_string(given) +
                                  " elements, the analysed matrix " +
                                  std::to_string(analysed),
                              "pass the matrix given to sptrsv_symbolic");
  }

  std::size_t nrows_, num_entries_ = 0;
  bool lower_tri_, values_fixed_ = false;
  TriangularOptions options_;
  std::optional<Solver> solver_;
  const Scalar* packed_from_ = nullptr;
};

/// Holds the handle of one triangular solve, by the names of Kokkos Kernels'
/// handle of all its kernels.
///
/// @tparam SizeType offsets of the row map; @tparam Ordinal columns
/// The two memory spaces are accepted for the sake of those names: memory is
/// of the execution space.
template <class SizeType, class Ordinal, class Scalar, class ExecutionSpace,
          class TemporaryMemorySpace = typename ExecutionSpace::memory_space,
          class PersistentMemorySpace = TemporaryMemorySpace>
class KokkosKernelsHandle {
 public:
  using size_type = std::remove_const_t<SizeType>;
  using nnz_lno_t = std::remove_const_t<Ordinal>;
  using nnz_scalar_t = std::remove_const_t<Scalar>;
  using HandleExecSpace = ExecutionSpace;
  using HandleTempMemorySpace = TemporaryMemorySpace;
  using HandlePersistentMemorySpace = PersistentMemorySpace;
  using SPTRSVHandleType = SPTRSVHandle<nnz_scalar_t, ExecutionSpace>;

  /// Replaces the handle there was.
  ///
  /// @param nrows rows of the matrix; @param lower_tri the triangle it stores
  void create_sptrsv_handle(Algorithm algorithm, size_type nrows,
                            bool lower_tri) {
    sptrsv_handle_ = std::make_unique<SPTRSVHandleType>(
        algorithm, static_cast<std::size_t>(nrows), lower_tri);
  }
  void create_sptrsv_handle(SPTRSVAlgorithm, size_type nrows, bool lower_tri) {
    create_sptrsv_handle(Algorithm::automatic, nrows, lower_tri);
  }
  /// Null before create_sptrsv_handle.
  SPTRSVHandleType* get_sptrsv_handle() const { return sptrsv_handle_.get(); }
  /// Releases plan and workspace. The caller waits for solves under way first.
  void destroy_sptrsv_handle() { sptrsv_handle_.reset(); }

 private:
  std::unique_ptr<SPTRSVHandleType> sptrsv_handle_;
};

}  // namespace Experimental
}  // namespace Strata

#endif
