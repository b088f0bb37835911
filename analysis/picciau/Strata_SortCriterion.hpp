// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SORT_CRITERION_HPP
#define STRATA_SORT_CRITERION_HPP

#include <Strata_Error.hpp>
#include <core/interface/Enumerators.hpp>
#include <string>

namespace Strata {

/// The order in which Picciau et al.'s Algorithm 3 takes the vertices that are
/// ready (its kappa); ties go by number. `automatic` tries them all, as far as
/// the work limit allows, and keeps the one with the smallest prediction.
enum class SortCriterion {
  automatic,
  /// By number.
  natural,
  fewest_children,
  most_children,
  most_parents,
  /// Longest path to a vertex without children first.
  longest_path
};

/// Every criterion but `automatic`, in the order in which they are tried.
constexpr SortCriterion sort_criteria[] = {
    SortCriterion::natural, SortCriterion::longest_path,
    SortCriterion::most_children, SortCriterion::most_parents,
    SortCriterion::fewest_children};

namespace Detail {
template <>
struct EnumeratorNames<SortCriterion> {
  static constexpr const char* list[] = {"automatic",       "natural",
                                         "fewest_children", "most_children",
                                         "most_parents",    "longest_path"};
};
}  // namespace Detail

inline const char* to_string(SortCriterion criterion) {
  return Detail::enumerator_name(criterion);
}

/// The criterion of that name; throws OptionError where there is none.
inline SortCriterion sort_criterion_from_string(const std::string& name) {
  if (name == to_string(SortCriterion::automatic))
    return SortCriterion::automatic;
  std::string known = to_string(SortCriterion::automatic);
  for (const auto criterion : sort_criteria) {
    if (name == to_string(criterion)) return criterion;
    known += std::string(", ") + to_string(criterion);
  }
  throw OptionError("sort criterion", "there is none called '" + name + "'",
                    "use one of " + known);
}

}  // namespace Strata

#endif
