// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_COLOURS_COLOURED_FACTORS_HPP
#define STRATA_KERNELS_FACTORIZATION_COLOURS_COLOURED_FACTORS_HPP

#include <Strata_Colouring.hpp>
#include <Strata_Error.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <core/device/Backend.hpp>
#include <core/matrix/IndexArray.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <kernels/factorization/FactorizationOptionChecks.hpp>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HermitianMatrix.hpp>
#include <kernels/factorization/solve/FactorWorkspace.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>
#include <memory>
#include <string>

namespace Strata {
namespace Detail {

/// For longest_row: a reduction with Kokkos::Max.
struct LongestRow {
  IndexArray row_map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& most) const {
    const std::int64_t length = row_map(row + 1) - row_map(row);
    if (length > most) most = length;
  }
};

/// The entries of the longest row; 0 where there is no row. Waits for `exec`.
template <class ExecutionSpace>
std::int64_t longest_row(const ExecutionSpace& exec,
                         const IndexArray& row_map) {
  const auto offsets = static_cast<std::int64_t>(row_map.extent(0));
  if (offsets < 2) return 0;
  std::int64_t longest = 0;
  Kokkos::parallel_reduce(
      "Strata::longest_row", RangeOf<ExecutionSpace>(exec, 0, offsets - 1),
      LongestRow{row_map}, Kokkos::Max<std::int64_t>(longest));
  exec.fence();
  return longest;
}

/// What copies of an IncompleteFactorization in the coloured order share.
template <class Scalar, class ExecutionSpace>
class ColouredFactors {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Options = IncompleteFactorizationOptions;
  using Report = IncompleteFactorizationReport;
  using Blocks = TwoColourBlocks<Scalar, ExecutionSpace>;
  using Colours = Colouring<typename ExecutionSpace::memory_space>;

  /// Factors of A where the options ask for the coloured order, or leave the
  /// order to the library and it is the one; else null.
  /// @param options  have passed check_factorization_options
  /// @param reason   gets why the order is the one that it is
  /// @throws OptionError for more than two colours, NotHermitianError,
  ///   IndefiniteError, FactorizationError, what check_factor_input throws
  static std::shared_ptr<ColouredFactors> make(const ExecutionSpace& exec,
                                               const Matrix& A,
                                               Factorization kind,
                                               const Options& options,
                                               std::string& reason) {
    reason = "asked for";
    const bool automatic = options.order == FactorOrder::automatic;
    if (!automatic && options.order != FactorOrder::coloured) return nullptr;
    if (automatic) {
      reason = why_natural(exec, A, kind, options);
      if (!reason.empty()) return nullptr;
    }
    Hermitian hermitian(options.symmetry_tolerance);
    const Borrowed borrowed(exec, checked(exec, A, hermitian));
    const auto colours = colour_rows(exec, borrowed.matrix());
    if (automatic) {
      reason =
          "the rows have " + std::to_string(colours.num_colours()) + " colours";
      if (colours.num_colours() != 2) return nullptr;
    }
    require_two_colours(colours);
    return std::make_shared<ColouredFactors>(exec, A, kind, options, borrowed,
                                             colours, reason);
  }

  /// For make().
  /// @param borrowed  what is factorised of A
  ColouredFactors(const ExecutionSpace& exec, const Matrix& A,
                  Factorization kind, const Options& options,
                  const BorrowedMatrix<Scalar, ExecutionSpace>& borrowed,
                  const Colours& colours, const std::string& reason)
      : options_(options),
        positive_(kind == Factorization::incomplete_cholesky),
        blocks_(exec, factorise(exec, borrowed, colours)),
        fingerprint_(pattern_fingerprint(exec, A.row_map, A.entries)) {
    report_.kind = kind;
    report_.order = FactorOrder::coloured;
    report_.order_reason = reason;
    report_.colours = colours.num_colours();
    report_.rows = A.rows();
    report_.entries = static_cast<std::int64_t>(A.num_values);
    if (A.rows() == 0) return;  // without blocks
    report_.lower_entries = blocks_.lower_entries() + A.rows();
    report_.upper_entries = blocks_.upper_entries() + A.rows();
    report_.factor_bytes = blocks_.bytes();
  }

  /// See IncompleteFactorization::update_values.
  void take_values(const ExecutionSpace& exec, const Matrix& A) {
    require_same_rows(A, report_.rows);
    Hermitian hermitian(options_.symmetry_tolerance);
    const Matrix read = checked(exec, A, hermitian);
    if (pattern_fingerprint(exec, A.row_map, A.entries) != fingerprint_)
      raise_other_pattern();
    blocks_.update_values(
        exec, factorise(exec, Borrowed(exec, read), blocks_.colouring()));
  }

  /// See IncompleteFactorization::apply.
  void apply(const ExecutionSpace& exec, const StridedBlock& b,
             const StridedBlock& x, Op op) const {
    require_enumerator("op", op);
    if (op != Op::none)
      throw OptionError(
          "op",
          std::string("is ") + to_string(op) +
              ", and in the coloured order there are no solves with transposes",
          "set the option `transpose`, and `order` to FactorOrder::natural");
    check_vectors(report_.rows, b, x);
    for (std::int64_t k = 0; k < x.extent[1]; ++k)
      blocks_.apply(exec, columns_of(b, k, 1), columns_of(x, k, 1));
  }

  const Options& options() const { return options_; }
  const Report& report() const { return report_; }
  /// Of the system reduced to one colour; null where there is none.
  const Blocks* reduced() const {
    return positive_ && report_.colours == 2 ? &blocks_ : nullptr;
  }

 private:
  using Hermitian = HermitianMatrix<Scalar, ExecutionSpace>;
  using Borrowed = BorrowedMatrix<Scalar, ExecutionSpace>;
  using Factor = TwoColourFactor<typename Borrowed::Matrix>;

  /// Entries of a row in the coloured order that `automatic` chooses: a thread
  /// has a row where the first colour is eliminated.
  static constexpr std::int64_t most_entries_of_row = 1024;

  /// Why the order is natural, whatever the colours; empty: it may not be.
  static std::string why_natural(const ExecutionSpace& exec, const Matrix& A,
                                 Factorization kind, const Options& options) {
    if (!is_gpu<ExecutionSpace>) return "the choice on a host";
    if (A.rows() == 0) return "there are no rows";
    if (is_ldl(kind)) return "the choice for factors L D L^H";
    if (kind != Factorization::incomplete_cholesky)
      return "the choice for incomplete LU, whose matrix need not be Hermitian";
    if (const char* const name = option_of_natural_order(options))
      return std::string("the order with the option `") + name + "`";
    if (longest_row(exec, A.row_map) > most_entries_of_row)
      return "the choice for a matrix with a row of more than " +
             std::to_string(most_entries_of_row) + " entries";
    return "";
  }
  static void require_two_colours(const Colours& colours) {
    if (colours.num_colours() <= 2) return;
    throw OptionError(
        "order",
        "is coloured, but two colours are not enough: colour_rows() gives "
        "row " +
            std::to_string(fetch_element(
                colours.permutation.old_row,
                static_cast<std::size_t>(colours.colour_map[2]))) +
            " of A a third one",
        "ask for FactorOrder::natural");
  }
  /// @param hermitian  lives as long as what is returned
  static Matrix checked(const ExecutionSpace& exec, const Matrix& A,
                        Hermitian& hermitian) {
    check_factor_input(exec, A);
    return hermitian.take(exec, A);
  }
  Factor factorise(const ExecutionSpace& exec, const Borrowed& A,
                   const Colours& colours) const {
    return Factor(exec, A.matrix(), colours, positive_);
  }

  Options options_;
  bool positive_;  // pivots have to be
  Blocks blocks_;
  std::uint64_t fingerprint_;  // of A
  Report report_;
};

}  // namespace Detail
}  // namespace Strata

#endif
