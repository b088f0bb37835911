// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_ACCURACY_HPP
#define STRATA_FUZZ_TRIANGULAR_ACCURACY_HPP

#include <cmath>
#include <limits>
#include <string>

#include "TriangularSystem.hpp"

namespace Strata {
namespace Fuzz {

/// The error that a solve may have: its residual's, row by row.
enum class Contract {
  /// |r_i| <= c (entries of row i + 6) eps (sum_j |L_ij| |x_j| + |b_i|), c = 1,
  /// 4 for complex scalars: that of substitution, in any order of summation.
  componentwise,
  /// |r_i| <= c m eps (sum_j |L_ij| ||x||_inf + |b_i|), m the entries of the
  /// longest row: that of merged level sets.
  rowwise
};
/// c of the rowwise contract; 4 times that for complex scalars.
constexpr double rowwise_constant = 100;

inline const char* to_string(Contract contract) {
  return contract == Contract::rowwise ? "rowwise" : "componentwise";
}

/// The row whose residual is the largest share of what it may be.
struct WorstRow {
  double share = 0;
  int row = -1;
  bool kept() const { return share <= 1; }
  std::string text() const {
    return "row " + std::to_string(row) + " of the system has " +
           std::to_string(share) + " times the residual allowed";
  }
};

/// Holds answers of one system against a contract.
template <class Scalar>
class Accuracy {
 public:
  Accuracy(const TriangularSystem<Scalar>& system, Contract contract)
      : system_(system), contract_(contract), longest_(system.longest_row()) {}

  /// Over the rows that are not marked.
  WorstRow worst_row(const Scalar* b, const Scalar* x,
                     const std::vector<char>& marked = {}) const {
    const long double largest = largest_element(x);
    WorstRow worst;
    for (int i = 0; i < system_.size(); ++i) {
      if (!marked.empty() && marked[i]) continue;
      const Row row = look_at(i, b, x, largest);
      double share = row.residual == 0
                         ? 0.0
                         : static_cast<double>(row.residual / row.allowed);
      if (std::isnan(share)) share = std::numeric_limits<double>::infinity();
      if (share > worst.share) worst = {share, i};
    }
    return worst;
  }
  /// Moves an element of an answer by so much that its row breaks the contract.
  void spoil(int i, const Scalar* b, Scalar* x) const {
    const Row row = look_at(i, b, x, largest_element(x));
    const long double step = 20 * (row.allowed + row.residual) /
                             magnitude(widen(system_.diagonal[i]));
    x[i] = ScalarTraits<Scalar>::narrow(widen(x[i]) +
                                        WideOf<Scalar>(step > 0 ? step : 1.0L));
  }

 private:
  struct Row {
    long double residual, allowed;
  };

  long double largest_element(const Scalar* x) const {
    long double largest = 0;
    for (int i = 0; i < system_.size(); ++i)
      largest = std::max(largest, magnitude(widen(x[i])));
    return largest;
  }
  Row look_at(int i, const Scalar* b, const Scalar* x,
              long double largest) const {
    const bool rowwise = contract_ == Contract::rowwise;
    const auto d = widen(system_.diagonal[i]);
    auto residual = widen(b[i]);
    long double size = magnitude(residual);
    const auto subtract = [&](const auto& value, const auto& element) {
      const auto term = product(value, element);
      residual -= term;
      size += rowwise ? magnitude(value) * largest : magnitude(term);
    };
    subtract(d, widen(x[i]));
    for (const auto& entry : system_.rows[i])
      subtract(widen(entry.value), widen(x[entry.column]));
    const auto entries = static_cast<long double>(system_.rows[i].size());
    const long double roundings_allowed =
        rowwise ? rowwise_constant * longest_ : entries + 6;
    // Each term and sum may lose a denormal, before or after the division.
    const long double underflow =
        std::numeric_limits<RealOf<Scalar>>::denorm_min() * (magnitude(d) + 2) *
        (entries + 4);
    return {magnitude(residual),
            roundings<Scalar> * roundings_allowed * epsilon<Scalar> * size +
                underflow};
  }

  const TriangularSystem<Scalar>& system_;
  Contract contract_;
  long double longest_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
