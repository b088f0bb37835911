// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PRECONDITIONER_REPORT_HPP
#define STRATA_PRECONDITIONER_REPORT_HPP

#include <core/interface/Enumerators.hpp>
#include <cstdint>
#include <sstream>
#include <string>

namespace Strata {

/// Order of rows in which IncompletePreconditioner factorises.
enum class FactorOrder {
  /// coloured on a device, for incomplete Cholesky with the default options of
  /// triangular solvers, if colour_rows() gives the rows two colours and none
  /// has more than 1,024 entries; else natural. PreconditionerReport says why.
  automatic,
  /// The order given: fewest iterations, and triangular solves whose chains of
  /// dependencies cost their length whatever the bandwidth.
  natural,
  /// The order of two colours, known as red-black: more iterations than
  /// natural, but a solve with both factors is two launches, in which no row
  /// waits for another one. A must be Hermitian, and colour_rows() must find
  /// two colours, as it does for 5- and 7-point stencils.
  coloured
};

namespace Detail {
template <>
struct EnumeratorNames<FactorOrder> {
  static constexpr const char* list[] = {"automatic", "natural", "coloured"};
};
}  // namespace Detail

inline const char* to_string(FactorOrder order) {
  return Detail::enumerator_name(order);
}

/// The order of an IncompletePreconditioner, and why it is that one.
struct PreconditionerReport {
  FactorOrder order = FactorOrder::natural;
  std::string reason;
  std::int64_t rows = 0, entries = 0;
  /// Of the coloured order; else 0.
  int colours = 0;
};

/// The report as lines of text, `name: value` each.
inline std::string to_string(const PreconditionerReport& report) {
  std::ostringstream out;
  out << "order: " << to_string(report.order) << "\nreason: " << report.reason
      << "\nrows: " << report.rows << "\nentries: " << report.entries << '\n';
  if (report.colours > 0) out << "colours: " << report.colours << '\n';
  return out.str();
}

}  // namespace Strata

#endif
