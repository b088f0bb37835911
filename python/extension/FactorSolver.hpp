// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_FACTOR_SOLVER_HPP
#define STRATA_PYTHON_FACTOR_SOLVER_HPP

#include <Strata_FactorSolver.hpp>
#include <optional>
#include <string>

#include "Arrays.hpp"
#include "Options.hpp"
#include "Runtime.hpp"
#include "UpdateStatus.hpp"

namespace StrataPython {

/// A triangle by rows, as three arrays.
template <class Scalar, class Space>
using Arrays =
    std::tuple<Indices<Space>, Indices<Space>, Values<Scalar, Space>>;

/// What leads from A to its factors: two permutations and two scalings, of
/// which any may be missing. They outlive the call that they are passed to.
template <class Scalar, class Space>
struct Transformation {
  std::optional<Indices<Space>> row_permutation, column_permutation;
  std::optional<Values<Scalar, Space>> row_scaling, column_scaling;

  Strata::FactorTransformation<Scalar, Space> made() const {
    Strata::FactorTransformation<Scalar, Space> made;
    if (row_permutation)
      with_integers<Space>("perm_r", *row_permutation,
                           [&](auto view) { made.row_permutation(view); });
    if (column_permutation)
      with_integers<Space>("perm_c", *column_permutation,
                           [&](auto view) { made.column_permutation(view); });
    if (row_scaling) made.row_scaling(view_of<Scalar, Space>(*row_scaling));
    if (column_scaling)
      made.column_scaling(view_of<Scalar, Space>(*column_scaling));
    return made;
  }
};

template <class Scalar, class Space>
class Factors : public Held<Strata::FactorSolver<Scalar, Space>> {
 public:
  using Triangle = Arrays<Scalar, Space>;
  using Permutation = std::optional<Indices<Space>>;
  using Scaling = std::optional<Values<Scalar, Space>>;

  Factors() = default;
  Factors(const Triangle& L, const Triangle& U, const Permutation& rows,
          const Permutation& columns, const Scaling& row_scaling,
          const Scaling& column_scaling, const nb::dict& given,
          std::uintptr_t stream) {
    Strata::FactorSolverOptions options;
    options.triangular = plan_options(given);
    options.take_triangle =
        option(given, "take_triangle", options.take_triangle);
    options.transpose = option(given, "transpose", options.transpose);
    options.precision = option_of(given, "precision", options.precision);
    options.lower_diag = option(given, "unit_lower", true)
                             ? Strata::Diag::unit
                             : Strata::Diag::non_unit;
    options.upper_diag = option(given, "unit_upper", false)
                             ? Strata::Diag::unit
                             : Strata::Diag::non_unit;
    const Transformation<Scalar, Space> from{rows, columns, row_scaling,
                                             column_scaling};
    const Work work;
    const auto exec = this->on(stream);
    with_matrices(L, U, [&](const auto& lower, const auto& upper) {
      this->object = Strata::FactorSolver<Scalar, Space>(exec, lower, upper,
                                                         from.made(), options);
    });
  }

  void update(const Triangle& L, const Triangle& U, const Permutation& rows,
              const Permutation& columns, const Scaling& row_scaling,
              const Scaling& column_scaling,
              const Kept<Scalar, Space>& kept_lower,
              const Kept<Scalar, Space>& kept_upper, std::uintptr_t stream) {
    const Transformation<Scalar, Space> from{rows, columns, row_scaling,
                                             column_scaling};
    const Work work;
    const auto exec = this->on(stream);
    with_matrices(L, U, [&](const auto& lower, const auto& upper) {
      this->object.update_values(exec, lower, upper, from.made());
    });
    keep<Scalar>(exec, kept_lower, view_of<Scalar, Space>(std::get<2>(L)));
    keep<Scalar>(exec, kept_upper, view_of<Scalar, Space>(std::get<2>(U)));
    exec.fence();
  }

  void apply(const Read<Scalar, Space>& b, const Written<Scalar, Space>& x,
             const std::string& op, std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("b", b);
    const auto to = strided_view<Scalar, Space>("out", x);
    const auto which = enumerator<Strata::Op>("op", op);
    const Work work;
    this->object.apply(this->on(stream), from, to, which);
  }
  void apply_at(const PlaceTuple& b, const PlaceTuple& x,
                std::uintptr_t stream) const {
    const auto from = view_at<const Scalar, Space>(place_of(b));
    const auto to = view_at<Scalar, Space>(place_of(x));
    const Work work;
    this->object.apply(this->on(stream), from, to);
  }

  /// Becomes one with the factors and plans of `other`.
  void share(const Factors& other, std::uintptr_t stream) {
    const Work work;
    this->object = other.object.share_plan(other.on(stream));
  }

  Strata::FactorSolverReport report() const { return this->object.report(); }

 private:
  template <class Take>
  static void with_matrices(const Triangle& L, const Triangle& U,
                            const Take& take) {
    const auto with = [](const Triangle& of, const auto& next) {
      with_indices<Space>(
          std::get<0>(of), std::get<1>(of), [&](auto offsets, auto columns) {
            next(borrowed_matrix<Scalar, Space>(
                offsets, columns, view_of<Scalar, Space>(std::get<2>(of))));
          });
    };
    with(L, [&](const auto& lower) {
      with(U, [&](const auto& upper) { take(lower, upper); });
    });
  }
};

}  // namespace StrataPython

#endif
