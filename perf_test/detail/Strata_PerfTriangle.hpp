// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_TRIANGLE_HPP
#define STRATA_PERF_TRIANGLE_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_GalleryOrders.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangleGraph.hpp>
#include <core/scalar/Modulus.hpp>
#include <cstdint>
#include <detail/Strata_PerfOptions.hpp>
#include <stdexcept>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Level sets of the triangle of A that `input` describes, found on the host.
template <class Matrix>
std::int64_t count_levels(const Matrix& A, const TriangleInput& input) {
  const typename Matrix::execution_space exec;
  return find_level_sets(
             mirror_graph(Kokkos::HostSpace(),
                          triangle_graph(exec, A.graph.row_map, A.graph.entries,
                                         A.values, A.numCols(), input)))
      .num_levels;
}

/// The matrix that `source` names. Raises what the reader and the gallery
/// raise.
template <class Matrix>
Matrix load_whole_matrix(const typename Matrix::execution_space& exec,
                         const MatrixSource& source) {
  return source.is_file
             ? read_matrix_market<Matrix>(source.spec)
             : reordered(exec, gallery<Matrix>(exec, source.spec, source.seed),
                         source.order, source.seed);
}

/// The same of a matrix that can be factorised. @throws std::runtime_error
template <class Matrix>
Matrix load_square_matrix(const typename Matrix::execution_space& exec,
                          const MatrixSource& source) {
  const auto A = load_whole_matrix<Matrix>(exec, source);
  if (A.numRows() != A.numCols()) throw std::runtime_error("is not square");
  if (A.numRows() == 0) throw std::runtime_error("has no rows");
  return A;
}

/// Which diagonal entries complete_diagonal puts in.
enum class NewDiagonal { where_missing, everywhere };

/// A with a dominant diagonal entry in each row that has none, or in each row:
/// one plus the sum of the magnitudes of the row's other entries. Rows stay
/// sorted where they are.
template <class Matrix>
Matrix complete_diagonal(const Matrix& A,
                         NewDiagonal wanted = NewDiagonal::where_missing) {
  using Kokkos::create_mirror_view_and_copy;
  using Offset = typename Matrix::non_const_size_type;
  using Ordinal = typename Matrix::non_const_ordinal_type;
  using Scalar = typename Matrix::non_const_value_type;
  const bool replace = wanted == NewDiagonal::everywhere;
  const Kokkos::HostSpace host;
  const auto row_map = create_mirror_view_and_copy(host, A.graph.row_map);
  const auto from = create_mirror_view_and_copy(host, A.graph.entries);
  const auto number = create_mirror_view_and_copy(host, A.values);
  std::vector<Ordinal> map{0};
  std::vector<Ordinal> entries;
  std::vector<Scalar> values;
  for (Ordinal row = 0; row < A.numRows(); ++row) {
    Scalar dominant(1);
    bool complete = false;
    for (Offset k = row_map(row); k < row_map(row + 1); ++k) {
      if (from(k) == row)
        complete = true;
      else
        dominant += Detail::modulus(Scalar(number(k)));
    }
    for (Offset k = row_map(row); k < row_map(row + 1); ++k) {
      if (!complete && from(k) > row) {
        entries.push_back(row);
        values.push_back(dominant);
        complete = true;
      }
      entries.push_back(from(k));
      values.push_back(replace && from(k) == row ? dominant
                                                 : Scalar(number(k)));
    }
    if (!complete) {
      entries.push_back(row);
      values.push_back(dominant);
    }
    map.push_back(static_cast<Ordinal>(entries.size()));
  }
  if (!replace && entries.size() == from.extent(0)) return A;
  return Matrix("Strata::complete_diagonal", A.numRows(), A.numCols(),
                static_cast<Offset>(entries.size()), values.data(), map.data(),
                entries.data());
}

/// A's pattern with other values, worked out on the host.
/// @param value (row, column, A's value, entries of the row) -> the new one
template <class Matrix, class Value>
Matrix with_values(const Matrix& A, const Value& value) {
  using Kokkos::create_mirror_view_and_copy;
  const Kokkos::HostSpace host;
  const auto row_map = create_mirror_view_and_copy(host, A.graph.row_map);
  const auto entries = create_mirror_view_and_copy(host, A.graph.entries);
  const auto from = create_mirror_view_and_copy(host, A.values);
  const typename Matrix::values_type values("values", A.values.extent(0));
  const auto to = Kokkos::create_mirror_view(values);
  for (int row = 0; row < A.numRows(); ++row) {
    const int begin = row_map(row), end = row_map(row + 1);
    for (int k = begin; k < end; ++k)
      to(k) = value(row, entries(k), from(k), end - begin);
  }
  Kokkos::deep_copy(values, to);
  return Matrix("Strata::with_values", A.numRows(), A.numCols(), A.nnz(),
                values, A.graph.row_map, A.graph.entries);
}

inline Uplo uplo_of(Factor factor) {
  return factor == Factor::lower || factor == Factor::ilu0_l ? Uplo::lower
                                                             : Uplo::upper;
}

/// The triangle that `factor` takes of a matrix. Rows without a diagonal entry
/// get a dominant one: the patterns of graphs have none, and ones would make
/// the solution grow without bound.
template <class Matrix>
Matrix triangle_of(const typename Matrix::execution_space& exec,
                   const Matrix& whole, Factor factor) {
  switch (factor) {
    case Factor::lower:
      return take_triangle(exec, whole, Uplo::lower, MissingDiagonal::dominant);
    case Factor::upper:
      return take_triangle(exec, whole, Uplo::upper, MissingDiagonal::dominant);
    case Factor::ilu0_l:
      return incomplete_lu(exec, complete_diagonal(whole)).L;
    default:
      return incomplete_lu(exec, complete_diagonal(whole)).U;
  }
}

/// triangle_of the source's matrix.
template <class Matrix>
Matrix load_triangle(const MatrixSource& source, Factor factor,
                     GalleryOrder order) {
  const typename Matrix::execution_space exec;
  return triangle_of(
      exec, reordered(exec, load_whole_matrix<Matrix>(exec, source), order),
      factor);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
