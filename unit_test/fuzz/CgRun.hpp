// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_CG_RUN_HPP
#define STRATA_FUZZ_CG_RUN_HPP

#include <Strata_ConjugateGradient.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "Context.hpp"
#include "DeviceMatrix.hpp"
#include "SparseCases.hpp"
#include "VectorPair.hpp"

namespace Strata {
namespace Fuzz {

enum class CgKind {
  /// The diagonal outweighs its row: everything converges.
  dominant,
  /// It may or may not be positive definite.
  doubtful,
  /// The negative of a dominant one.
  negative,
  /// A NaN or an infinity in A or b.
  special
};
inline const char* to_string(CgKind kind) {
  static const char* const names[] = {"dominant", "doubtful", "negative",
                                      "special"};
  return names[static_cast<int>(kind)];
}

enum class CgPreconditioner { none, jacobi, cholesky, coloured, lu };
inline const char* to_string(CgPreconditioner p) {
  static const char* const names[] = {"none", "Jacobi", "incomplete Cholesky",
                                      "coloured", "incomplete LU"};
  return names[static_cast<int>(p)];
}

/// A without the entries within the first half of the rows, and within the
/// second, but the diagonal.
template <class Scalar>
SparseMatrix<Scalar> of_two_colours(const SparseMatrix<Scalar>& A) {
  SparseMatrix<Scalar> made;
  made.columns = A.columns;
  const std::int64_t half = A.rows() / 2;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] == i || (A.entries[k] < half) != (i < half))
        made.add(A.entries[k], A.values[k]);
    made.end_row();
  }
  return made;
}

template <class Scalar>
struct CgCase {
  CgKind kind = CgKind::dominant;
  CgPreconditioner preconditioner = CgPreconditioner::none;
  SparseMatrix<Scalar> matrix;
  CgOptions options;
  Placement placement = Placement::rank1;
  std::vector<Scalar> b, x;
  double dominance = 1;
  bool special_in_b = false;

  static CgCase draw(Random& random) {
    CgCase c;
    const bool narrow = sizeof(RealOf<Scalar>) == 4;
    c.kind = random.chance(0.7) ? CgKind::dominant
                                : static_cast<CgKind>(random.whole(1, 3));
    const int n = random.chance(0.1)   ? random.whole(0, 3)
                  : random.chance(0.1) ? random.whole(300, 2000)
                                       : random.whole(1, 300);
    c.dominance =
        c.kind == CgKind::doubtful ? random.real(0.3, 1) : random.real(1.02, 3);
    c.matrix = hermitian_matrix<Scalar>(random, n, c.dominance,
                                        random.power_of_ten(-6, 6));
    if (c.kind == CgKind::negative)
      for (auto& v : c.matrix.values) v = -v;
    c.preconditioner = static_cast<CgPreconditioner>(random.whole(0, 4));
    if (c.preconditioner == CgPreconditioner::coloured)
      c.matrix = of_two_colours(c.matrix);
    c.options.relative_tolerance = random.power_of_ten(narrow ? -5 : -11, -2);
    if (random.chance(0.2))
      c.options.absolute_tolerance = random.power_of_ten(-6, 0);
    c.options.max_iterations = random.chance(0.2) ? random.whole(0, 20) : 10000;
    c.options.iterations_ahead = random.whole(1, 8);
    c.options.launches = random.pick({0, 1, 3});
    c.placement = random.pick({Placement::rank1, Placement::rank1_strided,
                               Placement::column_of_right});
    c.b = random_vector<Scalar>(random, n);
    if (random.chance(0.05)) c.b.assign(n, Scalar(0));
    c.x = random_vector<Scalar>(random, n);
    if (random.chance(0.5)) c.x.assign(n, Scalar(0));
    if (random.chance(0.1)) c.scale(random.whole(-1, 1) * (narrow ? 80 : 700));
    if (c.kind == CgKind::special && n > 0) c.spoil(random);
    return c;
  }
  /// A system of another unit, whose squares may over- or underflow.
  void scale(int exponent) {
    const auto by = std::ldexp(RealOf<Scalar>(1), exponent);
    for (auto* vector : {&b, &x})
      for (auto& v : *vector) v = by * v;
    options.absolute_tolerance =
        std::ldexp(options.absolute_tolerance, exponent);
  }
  void spoil(Random& random) {
    const Scalar value = random_nan<Scalar>(random);
    special_in_b = random.chance(0.5);
    auto& place = special_in_b ? b : matrix.values;
    place[random.bits() % place.size()] = value;
  }
  std::string description() const {
    std::ostringstream text;
    text << ScalarTraits<Scalar>::name() << ", " << matrix.rows() << " rows, "
         << to_string(kind) << ", dominance " << dominance << ", "
         << to_string(preconditioner) << "; tolerances "
         << options.relative_tolerance << " and " << options.absolute_tolerance
         << ", at most " << options.max_iterations << " iterations, "
         << options.iterations_ahead << " ahead, launches " << options.launches
         << "; " << to_string(placement);
    return text.str();
  }
};

/// One case on one execution space.
template <class Scalar, class Space>
class CgRun {
 public:
  using Case = CgCase<Scalar>;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, int, Space, void, int>;

  CgRun(Context& context, const Case& c, Random random)
      : context_(context),
        case_(c),
        random_(random),
        views_(c.matrix),
        matrix_("A", static_cast<int>(c.matrix.rows()),
                static_cast<int>(c.matrix.columns),
                static_cast<int>(c.matrix.entries.size()), views_.values,
                views_.row_map, views_.entries),
        sell_(exec_, matrix_),
        solver_(exec_, c.matrix.rows(), c.options) {}

  void run() {
    try {
      with_preconditioner([&](const auto& M) { check(M); });
    } catch (const Error& error) {
      context_.count("refusals", to_string(case_.preconditioner));
      // Preconditioners may refuse what is not positive definite or finite.
      expect(case_.kind != CgKind::dominant &&
                 case_.preconditioner != CgPreconditioner::none,
             "valid system refused", error.what());
    }
  }

 private:
  void expect(bool holds, const char* check, const std::string& detail = {}) {
    context_.expect(holds, check, Space::name() + (" " + detail));
  }

  template <class F>
  void with_preconditioner(const F& f) {
    const auto incomplete = [&](Factorization kind, FactorOrder order) {
      IncompleteFactorizationOptions options;
      options.order = order;
      f(IncompleteFactorization<Scalar, Space>(exec_, matrix_, kind, options));
    };
    switch (case_.preconditioner) {
      case CgPreconditioner::jacobi:
        return f(JacobiPreconditioner<Scalar, Space>(exec_, matrix_));
      case CgPreconditioner::cholesky:
        return incomplete(Factorization::incomplete_cholesky,
                          FactorOrder::natural);
      case CgPreconditioner::coloured:
        return incomplete(Factorization::incomplete_cholesky,
                          FactorOrder::coloured);
      case CgPreconditioner::lu:
        return incomplete(Factorization::incomplete_lu, FactorOrder::natural);
      default:
        return f(NoPreconditioner());
    }
  }

  template <class Preconditioner>
  void check(const Preconditioner& M) {
    CgResult result, other;
    const auto first = solve(M, result);
    context_.count("status", to_string(result.status));
    auto x = first;
    if (!x.empty() && result.converged() && context_.tampers("answer"))
      spoil_largest(x);
    check_answer(result, x);
    check_status(result);
    auto again = solve(M, other);
    if (!again.empty() && context_.tampers("repeat")) flip_bit(again[0]);
    expect(same_bits(first, again) && result.status == other.status &&
               result.iterations == other.iterations,
           "repeat bit for bit");
    expect(views_.is_still(case_.matrix), "matrix untouched");
  }
  template <class Preconditioner>
  std::vector<Scalar> solve(const Preconditioner& M, CgResult& result) {
    VectorPair<Scalar, Space> vectors(case_.placement, case_.matrix.rows(), 1,
                                      false, random_.whole(0, 2));
    vectors.set(case_.b, case_.x);
    vectors.with_views([&](const auto& b, const auto& x) {
      if constexpr (std::decay_t<decltype(b)>::rank == 1) {
        result = solver_.solve(exec_, sell_, M, b, x);
      }
    });
    exec_.fence();
    if (context_.tampers("guard")) vectors.overwrite_guard();
    expect(vectors.rest_is_untouched(), "memory beside x");
    return vectors.get();
  }

  double limit(const CgResult& result) const {
    return std::max(case_.options.relative_tolerance * result.rhs_norm,
                    case_.options.absolute_tolerance);
  }
  /// What was reached is what the status and the norms say.
  void check_answer(const CgResult& result, const std::vector<Scalar>& x) {
    if (result.status == CgStatus::not_finite) return;
    long double squared_residual = 0, squared_rounding = 0, squared_b = 0,
                squared_first = 0;
    for (std::int64_t i = 0; i < case_.matrix.rows(); ++i) {
      const RowProduct<Scalar> row(case_.matrix, i, x.data()),
          given(case_.matrix, i, case_.x.data());
      const auto b = widen(case_.b[i]);
      const long double residual = magnitude(b - row.sum),
                        first = magnitude(b - given.sum);
      squared_first += first * first;
      const long double rounding = roundings<Scalar> * (row.length + 6) *
                                   epsilon<Scalar> * (row.size + magnitude(b));
      squared_residual += residual * residual;
      squared_rounding += rounding * rounding;
      squared_b += magnitude(b) * magnitude(b);
    }
    const double residual = static_cast<double>(std::sqrt(squared_residual));
    const double rounding = static_cast<double>(std::sqrt(squared_rounding));
    const double b_norm = static_cast<double>(std::sqrt(squared_b));
    expect(std::isfinite(residual), "residual", "is not finite");
    expect(std::abs(result.rhs_norm - b_norm) <= 1e-6 * b_norm, "norm of b",
           std::to_string(result.rhs_norm));
    expect(
        std::abs(result.residual_norm - residual) <= rounding + 1e-5 * residual,
        "residual",
        "is not the one that the result states: " + number(residual) + " and " +
            number(result.residual_norm));
    if (result.status == CgStatus::max_iterations ||
        result.status == CgStatus::stagnated)
      expect(residual <= 1.002 * static_cast<double>(std::sqrt(squared_first)) +
                             rounding,
             "residual", "is larger than that of the x given");
    if (result.converged())
      expect(
          residual <= 2.0001 * limit(result) + rounding, "residual",
          number(residual) + " after convergence to " + number(limit(result)));
  }
  static std::string number(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  }

  void check_status(const CgResult& result) {
    const CgStatus status = result.status;
    const int most = case_.options.max_iterations;
    expect(result.iterations >= 0 && result.iterations <= most, "iterations",
           std::to_string(result.iterations));
    expect(status != CgStatus::stopped, "status", "stopped by nobody");
    if (status == CgStatus::max_iterations)
      expect(result.iterations == most, "iterations",
             "fewer than at most, which the status is");
    if (status != CgStatus::not_finite)
      expect(result.history.size() ==
                 static_cast<std::size_t>(result.iterations) + 1,
             "history", std::to_string(result.history.size()));
    const bool empty = case_.matrix.rows() == 0;
    const bool zero_b = result.rhs_norm == 0 && !case_.special_in_b;
    const std::string found = to_string(status);
    switch (case_.kind) {
      case CgKind::dominant:
        return expect(status == CgStatus::converged ||
                          ((status == CgStatus::max_iterations ||
                            status == CgStatus::diverged) &&
                           most <= 20),
                      "status", found + " of a dominant matrix");
      case CgKind::negative:
        return expect(empty || zero_b || status != CgStatus::converged ||
                          result.iterations == 0,
                      "status", found + " of a negative matrix");
      case CgKind::special:
        return expect(empty || status == CgStatus::not_finite || zero_b,
                      "status", found + " with special numbers");
      default:
        return expect(status != CgStatus::not_finite, "status", found);
    }
  }

  Context& context_;
  const Case& case_;
  Random random_;
  Space exec_;
  DeviceMatrix<Scalar, Space> views_;
  Matrix matrix_;
  SellMatrix<Scalar, Space> sell_;
  ConjugateGradient<Scalar, Space> solver_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
