// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SPILUK_HANDLE_HPP
#define STRATA_SPILUK_HANDLE_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <core/interface/Enumerators.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <iostream>
#include <memory>
#include <string>

namespace Strata {
namespace Experimental {

/// Kokkos Kernels' names of its own kernels. There is one algorithm here, that
/// of incomplete_lu(), which each of them stands for.
enum class SPILUKAlgorithm { SEQLVLSCHD_RP, SEQLVLSCHD_TP1 };

}  // namespace Experimental

namespace Detail {

template <>
struct EnumeratorNames<Experimental::SPILUKAlgorithm> {
  static constexpr const char* list[] = {"SEQLVLSCHD_RP", "SEQLVLSCHD_TP1"};
};

template <class Scalar, class ExecutionSpace>
struct SpilukFactors;

/// Where spiluk_symbolic puts the pattern of a factor, "L" or "U".
struct SpilukPattern {
  std::string name;
  IndexOutput row_map, entries;
  double largest_offset;  // that the row map's type can hold
};

/// A factor that spiluk_numeric is given, "L" or "U".
template <class Scalar>
struct SpilukOutput {
  std::string name;
  IndexArray row_map, entries;
  Scalar* values;
  std::size_t num_values;
};

}  // namespace Detail

namespace Experimental {

inline const char* to_string(SPILUKAlgorithm a) {
  return Detail::enumerator_name(a);
}

/// An incomplete factorisation between spiluk_symbolic and spiluk_numeric.
///
/// It keeps the analysis of a pattern and factors of its own: new values of the
/// caller's are written when the numeric phase has succeeded.
/// docs/coming_from.md lists what Kokkos Kernels' handle has and this one
/// lacks.
template <class Scalar, class ExecutionSpace>
class SPILUKHandle {
 public:
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;
  using HandleExecSpace = ExecutionSpace;
  using nnz_scalar_t = Scalar;

  /// @throws OptionError for an algorithm that there is not, and for blocks
  SPILUKHandle(SPILUKAlgorithm algorithm, std::size_t nrows, std::size_t nnzL,
               std::size_t nnzU, std::size_t block_size = 0)
      : nrows_(nrows), nnz_l_(nnzL), nnz_u_(nnzU) {
    set_algorithm(algorithm);
    require_no_blocks(block_size);
  }

  /// What the constructor does, but for the algorithm: undoes spiluk_symbolic.
  /// @throws OptionError for blocks; nothing is changed then
  void reset_handle(std::size_t nrows, std::size_t nnzL, std::size_t nnzU,
                    std::size_t block_size = 0) {
    require_no_blocks(block_size);
    reset_symbolic_complete();
    nrows_ = nrows;
    nnz_l_ = nnzL;
    nnz_u_ = nnzU;
  }

  std::size_t get_nrows() const { return nrows_; }
  /// Undoes spiluk_symbolic if there were other rows.
  void set_nrows(std::size_t nrows) {
    if (nrows != nrows_) reset_symbolic_complete();
    nrows_ = nrows;
  }
  /// Entries of the factors, with their diagonals: what the caller said, after
  /// spiluk_symbolic what they have.
  std::size_t get_nnzL() const { return nnz_l_; }
  std::size_t get_nnzU() const { return nnz_u_; }
  void set_nnzL(std::size_t nnzL) { nnz_l_ = nnzL; }
  void set_nnzU(std::size_t nnzU) { nnz_u_ = nnzU; }
  /// There are no blocks here: 0 and false.
  std::size_t get_block_size() const { return 0; }
  bool is_block_enabled() const { return false; }

  SPILUKAlgorithm get_algorithm() const { return algorithm_; }
  /// @throws OptionError for an algorithm that there is not
  void set_algorithm(SPILUKAlgorithm algorithm) {
    Detail::require_enumerator("algorithm", algorithm);
    algorithm_ = algorithm;
  }
  void print_algorithm() const {
    std::cout << to_string(algorithm_) << std::endl;
  }
  /// Kept and returned, without effect: the elimination has sizes of its own.
  void set_team_size(int team_size) { team_size_ = team_size; }
  int get_team_size() const { return team_size_; }
  void set_vector_size(int vector_size) { vector_size_ = vector_size; }
  int get_vector_size() const { return vector_size_; }

  bool is_symbolic_complete() const { return factors_ != nullptr; }
  /// Forgets the analysis and releases its memory.
  void reset_symbolic_complete() { factors_.reset(); }
  /// Level sets of L, counted at each call. Waits for the default instance.
  /// @throws HandleError before spiluk_symbolic, MemoryError
  std::size_t get_num_levels() const;
  /// Bytes that the analysis and its own factors take.
  /// @throws HandleError before spiluk_symbolic
  std::size_t get_bytes() const;

  /// What spiluk_symbolic and spiluk_numeric do.
  void analyse(const ExecutionSpace& exec, std::int64_t fill_level,
               const Detail::IndexArray& row_map,
               const Detail::IndexArray& entries,
               const Detail::SpilukPattern& L, const Detail::SpilukPattern& U);
  void check(std::int64_t fill_level, const Detail::CrsArrays<Scalar>& A,
             const Detail::SpilukOutput<Scalar>& L,
             const Detail::SpilukOutput<Scalar>& U) const;
  void compute(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
               const Detail::SpilukOutput<Scalar>& L,
               const Detail::SpilukOutput<Scalar>& U) const;

 private:
  using Factors = Detail::SpilukFactors<Scalar, ExecutionSpace>;

  static void require_no_blocks(std::size_t block_size) {
    if (block_size != 0)
      throw OptionError("block_size", "is " + std::to_string(block_size),
                        "pass 0, and the matrix as CRS without blocks");
  }
  const Factors& factors() const {
    if (!factors_)
      throw HandleError("handle", "the matrix has not been analysed",
                        "call spiluk_symbolic first");
    return *factors_;
  }

  std::size_t nrows_, nnz_l_, nnz_u_;
  SPILUKAlgorithm algorithm_ = SPILUKAlgorithm::SEQLVLSCHD_TP1;
  int team_size_ = -1, vector_size_ = -1;
  std::shared_ptr<const Factors> factors_;
};

}  // namespace Experimental
}  // namespace Strata

#endif
