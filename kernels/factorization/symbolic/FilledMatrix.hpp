// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILLED_MATRIX_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILLED_MATRIX_HPP

#include <Strata_IncompletePattern.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>
#include <optional>

namespace Strata {
namespace Detail {

/// Where A's entries are in a pattern that has them all. Rows are sorted.
template <class MemorySpace>
struct FindEntries {
  IndexArray a_row_map, a_entries, row_map, entries;
  ValueIndex<MemorySpace> place;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t at = row_map(row);
    const std::int64_t end = a_row_map(row + 1);
    for (std::int64_t k = a_row_map(row); k < end; ++k) {
      while (entries(at) < a_entries(k)) ++at;
      place.set(k, at);
    }
  }
};

template <class Scalar, class MemorySpace>
struct ScatterValues {
  const Scalar* from;
  ValueIndex<MemorySpace> place;
  Scalar* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    to[place(k)] = from[k];
  }
};

/// A matrix with its fill of ILU(k), or on a given pattern, for values that
/// come without it.
template <class Scalar, class ExecutionSpace>
class FilledMatrix {
 public:
  using Matrix = CrsArrays<Scalar>;

  /// @param level  of fill; 0: there is none, and nothing is kept
  /// @param given  in its place, has passed check_given_pattern; or null
  /// @throws what incomplete_pattern() and `limit` throw. Waits for `exec`.
  FilledMatrix(const ExecutionSpace& exec, const Matrix& A, int level,
               const FillLimit& limit, const Matrix* given = nullptr) {
    expect_compiled<PatternOfFactors, Scalar, ExecutionSpace>();
    if ((level == 0 && !given) || A.rows() == 0) return;
    filled_.emplace(A, true);
    if (given)
      copy_matrix<Scalar>(exec, "Strata::GivenPattern", *given, *filled_);
    else
      IncompletePattern<Scalar, ExecutionSpace>::make(exec, A, level, *filled_,
                                                      limit);
    const Matrix& filled = filled_->arrays();
    // A may have more, which are of no row.
    const std::int64_t entries =
        A.rows() > 0 ? A.row_map.template fetch<Memory>(A.rows()) : 0;
    fill_entries_ = static_cast<std::int64_t>(filled.num_values) - entries;
    if (fill_entries_ == 0) {
      filled_.reset();
      return;
    }
    place_ = {"Strata::IncompleteFactorization::place", entries,
              static_cast<std::int64_t>(filled.num_values)};
    for_each_index("Strata::IncompleteFactorization::find_entries", exec,
                   A.rows(),
                   FindEntries<Memory>{A.row_map, A.entries, filled.row_map,
                                       filled.entries, place_});
    exec.fence();
  }

  /// A with zeros for its fill; A itself if there is none. The constructor has
  /// stored the zeros, and nothing overwrites them: the factors are elsewhere.
  /// Enqueues on `exec`.
  /// @param A  has the pattern that the constructor has seen
  Matrix with_fill(const ExecutionSpace& exec, const Matrix& A) const {
    if (!filled_) return A;
    for_each_index(
        "Strata::IncompleteFactorization::scatter_values", exec, place_.size(),
        ScatterValues<Scalar, Memory>{A.values, place_, filled_->new_values()});
    return filled_->arrays();
  }

  /// Without a look at the values.
  Matrix pattern(const Matrix& A) const {
    return filled_ ? filled_->arrays() : A;
  }

  std::int64_t fill_entries() const { return fill_entries_; }
  std::size_t bytes() const {
    return filled_ ? filled_->bytes() + place_.bytes() : 0;
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;

  std::optional<NewFactor<Scalar, ExecutionSpace>> filled_;
  ValueIndex<Memory> place_;
  std::int64_t fill_entries_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
