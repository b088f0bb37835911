// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_CHECKS_HPP
#define STRATA_FUZZ_TRIANGULAR_CHECKS_HPP

#include <string>
#include <vector>

#include "Context.hpp"
#include "TriangularAccuracy.hpp"
#include "TriangularCase.hpp"

namespace Strata {
namespace Fuzz {

/// What answers of a case have to fulfil, for one plan.
template <class Scalar>
class TriangularChecks {
 public:
  using Case = TriangularCase<Scalar>;
  using System = TriangularSystem<Scalar>;

  TriangularChecks(Context& context, const Case& c, std::string plan,
                   bool merged)
      : context_(context), case_(c), plan_(std::move(plan)), merged_(merged) {}

  void fail(const std::string& check, const std::string& detail) const {
    context_.fail(check, plan_ + (detail.empty() ? "" : ": " + detail));
  }
  void expect(bool holds, const std::string& check,
              const std::string& detail = {}) const {
    if (!holds) fail(check, detail);
  }
  void expect_same_bits(const std::vector<Scalar>& expected,
                        const std::vector<Scalar>& found,
                        const std::string& check) const {
    const auto at = first_difference(expected, found);
    if (at >= 0) fail(check, "element " + std::to_string(at));
  }

  /// The answers x to the case's b of a system of its pattern.
  /// @param b, x column by column, in the order of the system
  void check_answers(const System& system, const std::vector<Scalar>& b,
                     std::vector<Scalar> x, const std::string& when) const {
    const std::size_t n = static_cast<std::size_t>(system.size());
    for (int column = 0; n > 0 && column < case_.columns; ++column) {
      Scalar* const answer = x.data() + n * column;
      const Scalar* const right = b.data() + n * column;
      const Substitution<Scalar> plain(system, right);
      const bool holds =
          case_.special == Special::none
              ? check_ordinary(system, right, answer, plain, when)
              : check_special(system, right, answer, plain, when);
      if (!holds) return;
    }
  }

 private:
  Contract contract() const {
    return merged_ ? Contract::rowwise : Contract::componentwise;
  }

  bool check_ordinary(const System& system, const Scalar* b, Scalar* x,
                      const Substitution<Scalar>& plain,
                      const std::string& when) const {
    if (!plain.tame()) {
      context_.count("not compared", "near overflow or underflow");
      return true;
    }
    const Accuracy<Scalar> accuracy(system, contract());
    if (context_.tampers("answer"))
      accuracy.spoil(static_cast<int>(context_.seed % system.size()), b, x);
    for (int i = 0; i < system.size(); ++i)
      if (!finite(x[i])) {
        fail("not finite", when + ", row " + std::to_string(i) +
                               " of the system, though substitution is");
        return false;
      }
    return check_accuracy(accuracy, b, x, {}, when);
  }
  bool check_accuracy(const Accuracy<Scalar>& accuracy, const Scalar* b,
                      const Scalar* x, const std::vector<char>& marked,
                      const std::string& when) const {
    const WorstRow worst = accuracy.worst_row(b, x, marked);
    if (worst.kept()) return true;
    fail(std::string(to_string(contract())) + " error",
         when + ", " + worst.text());
    return false;
  }

  /// NaN and infinity spread as in substitution.
  bool check_special(const System& system, const Scalar* b, Scalar* x,
                     const Substitution<Scalar>& plain,
                     const std::string& when) const {
    auto marked = rows_not_finite(system);
    for (std::size_t i = 0; i < marked.size(); ++i)
      if (!case_.special_rows.empty() && case_.special_rows[i]) marked[i] = 1;
    marked = reached_from(system, marked);
    const bool rest_is_tame = plain.tame_but_for(marked);
    if (context_.tampers("special number"))
      x[0] = marked[0] ? Scalar(1) : all_ones<Scalar>();
    for (int i = 0; i < system.size(); ++i) {
      const char* const problem =
          problem_of_row(marked[i], rest_is_tame, plain.x[i], x[i]);
      if (!problem) continue;
      fail("special numbers",
           when + ", row " + std::to_string(i) + " of the system: " + problem);
      return false;
    }
    if (merged_ || !rest_is_tame) return true;
    return check_accuracy(Accuracy<Scalar>(system, contract()), b, x, marked,
                          when + ", beside special numbers");
  }
  const char* problem_of_row(bool reached, bool rest_is_tame,
                             const Scalar& plain, const Scalar& x) const {
    if (!reached)
      return rest_is_tame && !finite(x)
                 ? "not finite, though no special number reaches it"
                 : nullptr;
    switch (case_.special) {
      case Special::nan_in_b:
      case Special::nan_in_matrix:
        return is_nan(x) ? nullptr : "a NaN was lost";
      case Special::infinity_in_b:
        return !finite(plain) && finite(x) ? "an infinity was lost" : nullptr;
      default:
        return finite(plain) != finite(x)
                   ? "not finite where substitution is, or the other way round"
                   : nullptr;
    }
  }

  Context& context_;
  const Case& case_;
  std::string plan_;
  bool merged_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
