// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_WHOLE_MATRIX_HPP
#define STRATA_PERF_WHOLE_MATRIX_HPP

#include <Strata_Gallery.hpp>
#include <Strata_MatrixMarket.hpp>
#include <cstdlib>
#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfPoisson.hpp>

namespace Strata {
namespace PerfTest {

/// The matrix that `source` names, poisson:N among the gallery's. Raises what
/// the readers and the gallery raise.
template <class Matrix>
Matrix load_whole_matrix(const typename Matrix::execution_space& exec,
                         const MatrixSource& source) {
  if (source.is_file) return read_matrix_market<Matrix>(source.spec);
  if (is_poisson(source))
    return poisson_cube<Matrix>(exec, std::atoll(source.spec.c_str() + 8));
  return gallery<Matrix>(exec, source.spec);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
