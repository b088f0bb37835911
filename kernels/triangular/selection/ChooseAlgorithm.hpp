// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_CHOOSE_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_CHOOSE_ALGORITHM_HPP

#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryPool.hpp>
#include <kernels/triangular/selection/DeviceRule.hpp>
#include <kernels/triangular/selection/HostRule.hpp>
#include <kernels/triangular/selection/Registry.hpp>
#include <kernels/triangular/selection/Selection.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// Chooses the algorithm for an analysed matrix and makes its plan: the
/// algorithm that the options name, or the one that a rule prefers (DeviceRule,
/// HostRule). What can't be used with these values, or does not fit in the
/// memory allowed, makes room for the next in order of preference. Refers to
/// its arguments, and fills in what the report says of the choice.
///
/// There are two lists. `preferences_` contains algorithms, in the order in
/// which the automatic choice tries them. The Selection contains candidates,
/// which are plans. If all candidates are ruled out, the next algorithm of
/// `preferences_` adds its own (AlgorithmRegistration::consider).
template <class Scalar, class ExecutionSpace>
class AlgorithmChoice {
 public:
  using Pointer = AlgorithmPointer<Scalar, ExecutionSpace>;

  /// @throws OptionError for an algorithm that does not serve these types
  AlgorithmChoice(const ExecutionSpace& exec,
                  TriangularAnalysis<ExecutionSpace>& analysis,
                  const TriangularOptions& options, TriangularReport& report)
      : registrations_(make_registrations<Scalar, ExecutionSpace>()),
        selection_(exec, analysis, options, report) {
    Registration* const named =
        selection_.is_automatic() ? nullptr : &find_named();
    if (!named || named->needs_level_sets()) analysis.find_order(exec);
    const auto& budget = selection_.budget;
    report.levels = analysis.order.num_levels();
    report.right_hand_sides = options.max_right_hand_sides;
    report.max_plan_bytes = budget.limited() ? budget.bytes() : 0;
    selection_.sizes = plan_sizes<Scalar, ExecutionSpace>(
        analysis.graph.num_vertices, analysis.graph.num_edges(),
        analysis.order.num_levels(), analysis.num_values);
    selection_.plans_begin_at(selection_.mark());
    if (named)
      named->consider(selection_);
    else
      find_preferences();
  }
  AlgorithmChoice(const AlgorithmChoice&) = delete;
  AlgorithmChoice& operator=(const AlgorithmChoice&) = delete;

  /// Makes the first candidate that is left. Plans that turn out to take more
  /// memory than allowed are dropped before the next is made.
  /// @throws PlanMemoryError where none fits, and OptionError
  Pointer make() {
    for (Candidate* next = next_candidate(); next; next = next_candidate()) {
      // With a limit on memory, a plan is in no larger block than it needs, and
      // no block of another one is kept.
      const auto release = [&] {
        if (selection_.budget.limited())
          MemoryPool<Memory, PersistentUse>::release();
      };
      release();
      Pointer made = make_within_budget(*next);
      release();
      if (made) {
        say_why(*next);
        return made;
      }
    }
    refuse();
  }

  bool is_automatic() const { return selection_.is_automatic(); }

  /// Rules an algorithm out that can't be used with these values, of which
  /// `why` tells.
  void rule_out(Algorithm algorithm, const std::string& why) {
    Registration& unusable = *find(algorithm);
    selection_.rule_out_all(unusable, why);
    selection_.forget_plan();
    if (!next_candidate()) use_last_resort();
    selection_.instead =
        why_not_first_ + why + ", which rules out " + to_string(algorithm);
    why_not_first_ = selection_.instead + "; ";
  }
  /// Merged rows of the report's algorithm, `made`, are too inaccurate with
  /// these values, of which `why` tells: the first of them in each group, and
  /// after some turns all of them, are left unmerged and the plan is made
  /// again. Where they are many, or that has not been enough, fewer level sets
  /// are merged. `made` is let go of before anything else is made.
  void merge_less(Pointer& made, const Scalar* values, const std::string& why) {
    constexpr int most_turns = 6, turns_of_first_only = 3;
    auto& analysis = selection_.analysis;
    auto& report = selection_.report;
    const int levels = report.merged_levels;
    // Each of them makes for one more level set in its group, at most.
    const std::int64_t groups = report.levels / levels + 1;
    if (turns_ < most_turns) {
      if (analysis.unmerged.extent(0) == 0)
        make_zeroed(analysis.unmerged, "Strata::Triangular::unmerged",
                    analysis.graph.num_vertices);
      const auto found = made->merging()->check_growth(
          selection_.exec, values, analysis.unmerged.data(),
          turns_ < turns_of_first_only);
      const auto rows = static_cast<int>(found.rows_over);
      ++turns_;
      made.reset();
      report.unmerged_rows += rows;
      if (rows > 0 &&
          (selection_.levels_are_named() || rows <= 1 + groups / 4)) {
        selection_.forget_plan();
        return;
      }
    }
    made.reset();
    forget_unmerged_rows();
    merge_at_most(levels / 2, why);
  }

  /// The report's algorithm merges `most` level sets at most, 1: none. With
  /// more, it can't be used with these values, of which `why` tells.
  void merge_at_most(int most, const std::string& why) {
    Registration& chosen = *selection_.best()->registration;
    selection_.forget_plan();
    if (leave_for_another(chosen, most, why)) return;
    const int merged = chosen.merge_at_most(selection_, most, why);
    if (!next_candidate()) use_last_resort();
    selection_.instead = why_not_first_ + why +
                         (merged > 1 ? ", so that fewer are merged"
                                     : ", which rules out merged level sets");
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Registration = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Candidate = Detail::Candidate<Scalar, ExecutionSpace>;

  /// Those of an algorithm with more merged level sets.
  void forget_unmerged_rows() {
    selection_.analysis.unmerged = {};
    selection_.report.unmerged_rows = 0;
    turns_ = 0;
  }
  /// Adds `sync_free` without merged level sets, which takes all values, where
  /// no other candidate is left. Its order stays when a plan is forgotten.
  void use_last_resort() {
    if (selection_.analysis.require_order(selection_.exec))
      selection_.plans_begin_at(selection_.mark());
    selection_.add(*find(Algorithm::sync_free));
  }
  /// Null where there is none for these types.
  Registration* find(Algorithm algorithm) const {
    for (const auto& registration : registrations_)
      if (registration->algorithm() == algorithm) return registration.get();
    return nullptr;
  }
  Registration& find_named() const {
    const TriangularOptions& options = selection_.options;
    Registration* const named = find(options.algorithm);
    const std::string name = to_string(options.algorithm);
    if (!named)
      throw OptionError("algorithm",
                        "is " + name +
                            ", which is not registered for this scalar and "
                            "execution space",
                        "call register_algorithm for them, too");
    if (!named->supports(options))
      throw OptionError("algorithm",
                        "is " + name +
                            ", which does not support this scalar, execution "
                            "space or number of right-hand sides",
                        "leave the choice to automatic");
    return *named;
  }

  /// The order in which the automatic choice comes to algorithms: those of the
  /// program that say so, that of the rule, and smaller and smaller plans.
  void find_preferences() {
    for (const auto& registration : registrations_) {
      if (!registration->supports(selection_.options)) continue;
      const std::string why = registration->why_suited(selection_);
      if (!why.empty()) preferences_.push_back({registration.get(), why});
    }
    const RuleChoice rule = choose_by_rule();
    prefer(rule.algorithm, rule.reason);
    const std::string smaller =
        "what was preferred can't be made, or does not fit";
    if constexpr (is_gpu<ExecutionSpace>) {
      prefer(Algorithm::sync_free, smaller);
      prefer(Algorithm::level_sets, smaller);
    }
    prefer(Algorithm::substitution, smaller);
  }
  void prefer(Algorithm algorithm, const std::string& why) {
    Registration* const added = find(algorithm);
    for (const Preference& other : preferences_)
      if (other.registration == added) return;
    if (added->supports(selection_.options))
      preferences_.push_back({added, why});
  }
  /// Whether the rule, which has chosen `sync_free`, prefers another algorithm
  /// if no more than `most` level sets are merged. That one comes next then,
  /// and `sync_free` after it.
  bool leave_for_another(Registration& chosen, int most,
                         const std::string& why) {
    if constexpr (is_gpu<ExecutionSpace>) {
      if (chosen.algorithm() != Algorithm::sync_free ||
          !selection_.is_automatic() || selection_.levels_are_named())
        return false;
      forget_unmerged_rows();
      selection_.limit_merging(most);
      const RuleChoice rule = choose_by_rule();
      Registration* const other = find(rule.algorithm);
      for (const Preference& preference : preferences_)
        if (preference.registration == other) return false;
      if (!other->supports(selection_.options)) return false;
      selection_.rule_out_all(chosen, why);
      const auto next =
          preferences_.begin() + static_cast<std::ptrdiff_t>(next_preference_);
      preferences_.insert(next, {{other, rule.reason, true}, {&chosen, why}});
      if (!next_candidate()) use_last_resort();
      selection_.instead =
          why_not_first_ + why + ", so that fewer level sets are merged";
      return true;
    }
    (void)chosen;
    (void)most;
    (void)why;
    return false;
  }
  RuleChoice choose_by_rule() {
    const auto& exec = selection_.exec;
    const auto& options = selection_.options;
    const auto& sizes = selection_.sizes;
    const int levels = selection_.report.levels;
    if constexpr (is_gpu<ExecutionSpace>) {
      return DeviceRule::choose(
          {double(sizes.rows), double(sizes.edges),
           1 + selection_.analysis.order.sizes.longest_row_of_all(), levels,
           selection_.merging().levels, options.max_right_hand_sides,
           lane_width<ExecutionSpace>, num_multiprocessors(exec),
           options.accuracy == Accuracy::rowwise},
          [&] { return selection_.tiles().chain; });
    } else {
      const std::string why_not = HostRule::why_not_level_sets(
          double(sizes.rows), double(sizes.edges), levels,
          options.max_right_hand_sides, host_threads(exec));
      if (why_not.empty())
        return {Algorithm::level_sets,
                "level sets wide enough for all threads"};
      return {Algorithm::substitution, "level_sets is left out: " + why_not};
    }
  }

  /// The first that is left; null: there is none, and no further algorithm to
  /// come to.
  Candidate* next_candidate() {
    while (!selection_.best() && next_preference_ < preferences_.size()) {
      Registration& next = *preferences_[next_preference_++].registration;
      if (selection_.may_fit(next)) next.consider(selection_);
    }
    return selection_.best();
  }

  /// The plan; nothing, and the candidate ruled out, where it takes too much.
  Pointer make_within_budget(Candidate& candidate) {
    Registration& registration = *candidate.registration;
    const auto& budget = selection_.budget;
    candidate.bytes = registration.least_bytes(selection_.sizes);
    Pointer made;
    if (budget.allows(candidate.bytes)) {
      made = registration.make(selection_, candidate);
      candidate.made = true;
      candidate.bytes = made->bytes();
    }
    if (made && budget.allows(candidate.bytes)) {
      const double times = candidate.most_times_matrix;
      if (!(double(candidate.bytes) >
            times * double(selection_.report.crs_bytes)))
        return made;
      selection_.rule_out(candidate, selection_.needs(candidate) + ", over " +
                                         std::to_string(int(times)) +
                                         " times the matrix");
    } else {
      selection_.over_budget(candidate);
    }
    made.reset();
    selection_.forget_plan();
    registration.consider_smaller(selection_, candidate);
    return nullptr;
  }

  void say_why(const Candidate& made) {
    auto& report = selection_.report;
    // What the algorithm has written itself, its partition for example.
    const std::string own = report.reason;
    report.algorithm = made.registration->algorithm();
    if (!selection_.instead.empty())
      report.reason = selection_.instead + why_second_choice(made);
    else if (!selection_.is_automatic())
      report.reason = "asked for";
    else
      report.reason = preferences_[next_preference_ - 1].why;
    report.reason += own;
    const std::string& note = report.candidates[made.place].note;
    if (selection_.instead.empty() && !note.empty())
      report.reason += "; " + note;
  }

  /// Of what leave_for_another has put before the rest, if that was made.
  std::string why_second_choice(const Candidate& made) const {
    if (!selection_.is_automatic() || next_preference_ == 0) return "";
    const Preference& latest = preferences_[next_preference_ - 1];
    return latest.is_second_choice && latest.registration == made.registration
               ? "; " + latest.why
               : "";
  }

  [[noreturn]] void refuse() const {
    const auto& budget = selection_.budget;
    const std::size_t least = selection_.sizes.of_substitution();
    const std::string enough = std::to_string(least);
    const std::string allows =
        "allows " + std::to_string(budget.bytes()) + " bytes, ";
    const std::string more =
        "allow " + enough + " bytes or more, and leave the choice to automatic";
    if (selection_.is_automatic())
      throw PlanMemoryError("max_plan_bytes",
                            allows + "the smallest plan takes " + enough, more,
                            least, budget.bytes());
    const Candidate& named = selection_.last();
    throw PlanMemoryError(
        "max_plan_bytes",
        allows + to_string(named.registration->algorithm()) + " " +
            selection_.needs(named),
        budget.allows(least)
            ? "allow as much, or set the option `algorithm` to automatic: "
              "substitution takes " +
                  enough + " bytes"
            : more,
        named.bytes, budget.bytes());
  }

  RegistrationList<Scalar, ExecutionSpace> registrations_;
  Selection<Scalar, ExecutionSpace> selection_;
  struct Preference {
    Registration* registration;
    std::string why;
    bool is_second_choice = false;  ///< see leave_for_another
  };
  std::vector<Preference> preferences_;  // of the automatic choice
  std::size_t next_preference_ = 0;      // that has not been considered
  std::string why_not_first_;            // an algorithm that was ruled out
  int turns_ = 0;  // of merge_less with one number of level sets
};

}  // namespace Detail
}  // namespace Strata

#endif
