// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_FACTORIZATION_HPP
#define STRATA_PERF_FACTORIZATION_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Incomplete LU and, of Hermitian matrices, incomplete Cholesky without fill.
enum class FactorizationKind { ilu0, ic0 };

/// What becomes of the matrix before it is factorised.
struct FactorizationSettings {
  FactorizationKind kind = FactorizationKind::ilu0;
  /// The diagonal becomes the sum of the moduli of the row's other entries plus
  /// one, else it stays as it is.
  bool dominant = true;
};

/// An incomplete factorisation. Times in microseconds, NaN where there is none;
/// the relative error is FactorErrors::relative.
struct FactorizationResult : PerfResult {
  std::int64_t levels = 0;   ///< level sets of the lower triangle
  double analysis_us = NAN;  ///< of the pattern, for the numeric phase
  double numeric_us = NAN;   ///< factors of new values on that pattern
  /// The same where the values may be overwritten, and need no copy.
  double numeric_in_place_us = NAN;
  double ready_us = NAN;       ///< from the matrix to being ready to apply
  double new_values_us = NAN;  ///< from new values to being ready to apply
  double apply_us = NAN;       ///< x = U^-1 L^-1 b
};

/// Every algorithm of any build, ours first.
inline const std::vector<std::string>& factorization_algorithms(
    FactorizationKind kind) {
  static const std::vector<std::string> ilu0{
      "strata", "serial", "kokkos_kernels_spiluk", "cusparse_csrilu02_no_level",
      "cusparse_csrilu02_use_level"};
  static const std::vector<std::string> ic0{"strata", "serial",
                                            "cusparse_csric02_no_level",
                                            "cusparse_csric02_use_level"};
  return kind == FactorizationKind::ilu0 ? ilu0 : ic0;
}

inline bool is_own_factorization(const std::string& algorithm) {
  return starts_with(algorithm, "strata");
}

template <class Scalar>
std::unique_ptr<PerfRunner<FactorizationResult>> make_factorization_runner(
    const FactorizationSettings& settings);

}  // namespace PerfTest
}  // namespace Strata

#endif
