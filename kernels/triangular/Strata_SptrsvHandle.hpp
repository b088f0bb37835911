// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SPTRSV_HANDLE_HPP
#define STRATA_SPTRSV_HANDLE_HPP

#include <Strata_SpilukHandle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

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

}  // namespace Experimental

namespace Detail {
template <>
struct EnumeratorNames<Experimental::SPTRSVAlgorithm> {
  static constexpr const char* list[] = {"SEQLVLSCHD_RP", "SEQLVLSCHD_TP1",
                                         "SEQLVLSCHD_TP1CHAIN",
                                         "SPTRSV_CUSPARSE"};
};
}  // namespace Detail

namespace Experimental {

inline const char* to_string(SPTRSVAlgorithm a) {
  return Detail::enumerator_name(a);
}

/// A triangular system between sptrsv_symbolic and sptrsv_solve.
///
/// Setters of what the analysis depends on take effect at the next
/// sptrsv_symbolic; those that an analysis made before contradicts undo it.
/// docs/coming_from.md lists what Kokkos Kernels' handle has and this one
/// lacks.
template <class Scalar, class ExecutionSpace>
class SPTRSVHandle {
 public:
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;
  using HandleExecSpace = ExecutionSpace;
  using scalar_t = Scalar;
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;

  /// @throws OptionError for an algorithm that there is not
  SPTRSVHandle(Algorithm algorithm, std::size_t nrows, bool lower_tri)
      : nrows_(nrows), lower_tri_(lower_tri) {
    set_algorithm(algorithm);
  }

  std::size_t get_nrows() const { return nrows_; }
  /// Undoes sptrsv_symbolic if there were other rows.
  void set_nrows(std::size_t nrows) {
    if (nrows != nrows_) set_symbolic_incomplete();
    nrows_ = nrows;
  }
  bool is_lower_tri() const { return lower_tri_; }
  bool is_upper_tri() const { return !lower_tri_; }
  /// Undoes sptrsv_symbolic if it was for the other triangle.
  void set_lower_tri(bool lower_tri) {
    if (lower_tri != lower_tri_) set_symbolic_incomplete();
    lower_tri_ = lower_tri;
  }
  /// Ones are taken for the diagonal, stored or not. Undoes sptrsv_symbolic if
  /// it was different.
  void set_unit_diagonal(bool unit_diagonal) {
    if (unit_diagonal != unit_diagonal_) set_symbolic_incomplete();
    unit_diagonal_ = unit_diagonal;
  }
  bool is_unit_diagonal() const { return unit_diagonal_; }

  /// The algorithm asked for; after sptrsv_symbolic the one chosen.
  Algorithm get_algorithm() const {
    return solver_ ? solver_->report().algorithm : options_.algorithm;
  }
  /// @throws OptionError for an algorithm that there is not
  void set_algorithm(Algorithm algorithm) {
    Detail::require_enumerator("algorithm", algorithm);
    options_.algorithm = algorithm;
  }
  void set_algorithm(SPTRSVAlgorithm algorithm) {
    Detail::require_enumerator("algorithm", algorithm);
    set_algorithm(Algorithm::automatic);
  }
  /// Name of get_algorithm().
  std::string return_algorithm_string() const {
    return Strata::to_string(get_algorithm());
  }
  void print_algorithm() const {
    std::cout << return_algorithm_string() << std::endl;
  }
  /// Threads of a team of `subgraphs`, -1 (or 0) for a size that suits it; the
  /// other algorithms have their own.
  void set_team_size(int team_size) {
    options_.experimental.team_size = team_size == -1 ? 0 : team_size;
  }
  int get_team_size() const {
    const int team_size = options_.experimental.team_size;
    return team_size == 0 ? -1 : team_size;
  }
  /// Everything else that TriangularSolver can be told. Read by
  /// sptrsv_symbolic.
  TriangularOptions& options() { return options_; }
  const TriangularOptions& options() const { return options_; }

  bool is_symbolic_complete() const { return solver_.has_value(); }
  /// Forgets the analysis and releases its memory. The caller waits for solves
  /// under way first.
  void set_symbolic_incomplete() {
    solver_.reset();
    packed_from_ = nullptr;
  }
  /// @throws HandleError before sptrsv_symbolic
  std::size_t get_num_levels() const {
    return static_cast<std::size_t>(solver().report().levels);
  }
  /// There are no blocks here: 0 and false.
  std::size_t get_block_size() const { return 0; }
  bool is_block_enabled() const { return false; }

  /// The promise that the values a solve is given are those of the solve
  /// before, unless they stand at another address. They are then not packed
  /// again, and the solve is asynchronous.
  void set_values_fixed(bool fixed) { values_fixed_ = fixed; }
  bool are_values_fixed() const { return values_fixed_; }

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
    analysed_with_ = options_;
    solver_.emplace(make_solver(exec, row_map, entries, values));
    num_entries_ = entries.extent(0);
  }

  /// Ones, which stand in for the values of a pattern.
  static Kokkos::View<Scalar*, memory_space> ones(const ExecutionSpace& exec,
                                                  std::size_t count);

  /// What sptrsv_solve does, in three parts: looks at the arguments' extents;
  void check(std::size_t offsets, std::size_t entries,
             const Detail::StridedBlock& b,
             const Detail::StridedBlock& x) const;
  /// takes the values, unless they are those it has; where the plan is not for
  /// such values, because merged rows would be too inaccurate or scaled ones
  /// out of range, the matrix is analysed once more, with these values and the
  /// options of sptrsv_symbolic;
  template <class RowMap, class Entries, class Values>
  void take_values(const ExecutionSpace& exec, const RowMap& row_map,
                   const Entries& entries, const Values& values) {
    if (values_fixed_ && packed_from_ == values.data()) return;
    packed_from_ = nullptr;
    try {
      solver_->update_values(exec, values);
    } catch (const ScalingError&) {
      solver_ = make_solver(exec, row_map, entries, values);
    }
    packed_from_ = values.data();
  }
  /// and solves.
  template <class B, class X>
  void solve(const ExecutionSpace& exec, const B& b, const X& x) const {
    solver().solve(exec, b, x);
  }

 private:
  template <class RowMap, class Entries, class Values>
  Solver make_solver(const ExecutionSpace& exec, const RowMap& row_map,
                     const Entries& entries, const Values& values) const {
    return Solver(exec, row_map, entries, values,
                  lower_tri_ ? Uplo::lower : Uplo::upper,
                  unit_diagonal_ ? Diag::unit : Diag::non_unit, analysed_with_);
  }

  std::size_t nrows_, num_entries_ = 0;
  bool lower_tri_, unit_diagonal_ = false, values_fixed_ = false;
  TriangularOptions options_, analysed_with_;
  std::optional<Solver> solver_;
  const Scalar* packed_from_ = nullptr;
};

/// Holds the handles of one triangular solve and of one incomplete
/// factorisation, by the names of Kokkos Kernels' handle of all its kernels.
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
  using const_size_type = const size_type;
  using const_nnz_lno_t = const nnz_lno_t;
  using const_nnz_scalar_t = const nnz_scalar_t;
  using HandleExecSpace = ExecutionSpace;
  using HandleTempMemorySpace = TemporaryMemorySpace;
  using HandlePersistentMemorySpace = PersistentMemorySpace;
  using SPTRSVHandleType = SPTRSVHandle<nnz_scalar_t, ExecutionSpace>;
  using SPILUKHandleType = SPILUKHandle<nnz_scalar_t, ExecutionSpace>;

  /// Replaces the handle there was.
  ///
  /// @param nrows rows of the matrix; @param lower_tri the triangle it stores
  /// @param block_size 0: block matrices are not taken
  /// @throws OptionError for another, and for an algorithm that there is not:
  ///   the handle there was then stays
  void create_sptrsv_handle(Algorithm algorithm, size_type nrows,
                            bool lower_tri, size_type block_size = 0) {
    if (block_size != 0)
      throw OptionError("block_size", "is " + std::to_string(block_size),
                        "pass 0, and the matrix as CRS without blocks");
    sptrsv_handle_ = std::make_unique<SPTRSVHandleType>(
        algorithm, static_cast<std::size_t>(nrows), lower_tri);
  }
  void create_sptrsv_handle(SPTRSVAlgorithm algorithm, size_type nrows,
                            bool lower_tri, size_type block_size = 0) {
    Detail::require_enumerator("algorithm", algorithm);
    create_sptrsv_handle(Algorithm::automatic, nrows, lower_tri, block_size);
  }
  /// Null before create_sptrsv_handle.
  SPTRSVHandleType* get_sptrsv_handle() const { return sptrsv_handle_.get(); }
  /// Releases plan and workspace. The caller waits for solves under way first.
  void destroy_sptrsv_handle() { sptrsv_handle_.reset(); }

  /// What the sptrsv handle says. @throws HandleError before
  /// create_sptrsv_handle
  bool is_sptrsv_lower_tri() const { return made().is_lower_tri(); }
  void set_sptrsv_unit_diagonal(bool unit_diagonal) {
    made().set_unit_diagonal(unit_diagonal);
  }

  /// Replaces the spiluk handle there was.
  ///
  /// @param nrows rows of the matrix
  /// @param nnzL, nnzU entries that the caller has room for in the factors,
  ///   with their diagonals, until spiluk_symbolic has counted them
  /// @param block_size 0: block matrices are not taken
  /// @throws OptionError for another, and for an algorithm that there is not:
  ///   the handle there was then stays
  void create_spiluk_handle(SPILUKAlgorithm algorithm, size_type nrows,
                            size_type nnzL, size_type nnzU,
                            size_type block_size = 0) {
    spiluk_handle_ = std::make_unique<SPILUKHandleType>(
        algorithm, static_cast<std::size_t>(nrows),
        static_cast<std::size_t>(nnzL), static_cast<std::size_t>(nnzU),
        static_cast<std::size_t>(block_size));
  }
  /// Null before create_spiluk_handle.
  SPILUKHandleType* get_spiluk_handle() const { return spiluk_handle_.get(); }
  /// Releases the analysis and its factors.
  void destroy_spiluk_handle() { spiluk_handle_.reset(); }

 private:
  SPTRSVHandleType& made() const {
    if (!sptrsv_handle_)
      throw HandleError("handle", "has no sptrsv handle",
                        "call create_sptrsv_handle first");
    return *sptrsv_handle_;
  }
  std::unique_ptr<SPTRSVHandleType> sptrsv_handle_;
  std::unique_ptr<SPILUKHandleType> spiluk_handle_;
};

}  // namespace Experimental
}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/triangular/SptrsvImplementation.hpp>
#endif

#endif
