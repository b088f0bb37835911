// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_CHOOSE_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_CHOOSE_ALGORITHM_HPP

#include <cmath>
#include <core/device/DeviceInfo.hpp>
#include <deque>
#include <kernels/triangular/selection/MakeAlgorithm.hpp>
#include <kernels/triangular/selection/MeasureParameters.hpp>
#include <kernels/triangular/selection/MemoryBudget.hpp>
#include <kernels/triangular/selection/PredictSolve.hpp>
#include <limits>
#include <optional>

namespace Strata {
namespace Detail {

/// The shape of sub-graphs for a graph: chunks of rows in the order of
/// substitution keep a narrow graph's long paths together, bands of level sets
/// keep a wide one's teams busy. Where there are few level sets there is
/// nothing to gain from taking several of them at a time, nor from looking at
/// rows for that.
inline PackingShape packing_shape(const TriangularOptions& options,
                                  int merged_levels, int n, int levels,
                                  std::int64_t edges,
                                  const int* unmerged = nullptr) {
  PackingShape shape;
  shape.unmerged = unmerged;
  const bool narrow = double(n) < 150. * std::max(1, levels);
  shape.band_levels = narrow ? 0 : 64;
  shape.merged_levels = merged_levels;
  shape.which_team = options.lanes_per_row == 0   ? -1
                     : options.lanes_per_row == 1 ? 0
                                                  : 1;
  if (levels < 64) {
    if (shape.merged_levels == 0) shape.merged_levels = 1;
    if (shape.which_team < 0 && edges < std::int64_t{6} * n)
      shape.which_team = 0;
  }
  shape.max_rows = options.max_subgraph_rows > 0 ? options.max_subgraph_rows
                   : narrow                      ? 1024
                                                 : 1536;
  return shape;
}

/// The algorithms that an analysed matrix may be solved by, and the making of
/// the best of them: the one that the options name, or the one with the
/// smallest prediction whose plan fits in the memory allowed. Refers to its
/// arguments, and fills in what the report says of the choice.
template <class Scalar, class ExecutionSpace>
class AlgorithmChoice {
 public:
  using Pointer = AlgorithmPointer<Scalar, ExecutionSpace>;

  AlgorithmChoice(const ExecutionSpace& exec,
                  TriangularAnalysis<ExecutionSpace>& analysis,
                  const TriangularOptions& options, TriangularReport& report)
      : exec_(exec),
        analysis_(analysis),
        options_(options),
        report_(report),
        merged_levels_(options.accuracy == Accuracy::componentwise
                           ? 1
                           : options.merged_levels),
        budget_(report.rows > 0 ? MemoryBudget(options, report.crs_bytes)
                                : MemoryBudget({}, 0)) {
    // Named blocks do without.
    if (options.algorithm != Algorithm::blocks) analysis.find_order(exec);
    report.levels = analysis.order.num_levels();
    report.right_hand_sides = options.max_right_hand_sides;
    report.max_plan_bytes = budget_.limited() ? budget_.bytes() : 0;
    sizes_ = plan_sizes<Scalar, ExecutionSpace>(
        analysis.graph.num_vertices, analysis.graph.num_edges(),
        analysis.order.num_levels(), analysis.num_values);
    if (options.algorithm == Algorithm::automatic)
      consider_all();
    else
      consider_named();
    beside_plan_ = analysis.work(exec).mark();
  }

  /// Makes the best algorithm that is left. Plans that turn out to take more
  /// memory than allowed are dropped before the next is made.
  /// @throws PlanMemoryError where none fits, and OptionError
  Pointer make() {
    std::size_t least = 0;
    for (Way* way = best(); way; way = best()) {
      // Whoever limits memory has no plan in a larger block, nor any kept.
      const auto release = [&] {
        if (budget_.limited()) MemoryPool<Memory, PersistentUse>::release();
      };
      release();
      Pointer made = make_within_budget(*way);
      release();
      if (made) {
        say_why(*way);
        return made;
      }
      // A lower bound promises nothing.
      if (way->made || way->algorithm == Algorithm::substitution)
        least = least == 0 ? way->bytes : std::min(least, way->bytes);
    }
    refuse(least);
  }

  /// Takes an algorithm out that can't be used with these values, of which
  /// `why` tells.
  void rule_out(Algorithm algorithm, const std::string& why) {
    for (Way& way : ways_)
      if (way.algorithm == algorithm) take_out(way, why);
    if (!best()) add(Algorithm::sync_free);
    forget_plan();
    forget_packed_subgraphs();
    instead_ = why + ", which rules out " + to_string(algorithm);
  }
  /// Merged rows of the report's algorithm, `made`, are too inaccurate with
  /// these values, of which `why` tells: the first of them in each group, and
  /// after some turns all of them, are left unmerged and the plan is made
  /// again. Where they are many, or that has not been enough, fewer level sets
  /// are taken at a time. `made` is let go of before anything else is made.
  void merge_less(Pointer& made, const Scalar* values, const std::string& why) {
    constexpr int most_turns = 6, turns_of_first_only = 3;
    const int levels = report_.merged_levels;
    Way* const way = best();
    // Each of them makes for one more level set in its group, at most.
    const std::int64_t groups = report_.levels / levels + 1;
    if (turns_ < most_turns) {
      if (analysis_.unmerged.extent(0) == 0)
        analysis_.unmerged = make_zeroed<Kokkos::View<int*, Memory>>(
            "Strata::Triangular::unmerged", analysis_.graph.num_vertices);
      const int rows =
          made->mark_unmerged(exec_, values, analysis_.unmerged.data(),
                              turns_ < turns_of_first_only);
      ++turns_;
      made.reset();
      report_.unmerged_rows += rows;
      if (rows > 0 && (levels_are_named() || rows <= 1 + groups / 4)) {
        make_again(levels);
        return;
      }
    }
    made.reset();
    analysis_.unmerged = {};
    report_.unmerged_rows = 0;
    turns_ = 0;
    const bool packed = report_.algorithm == Algorithm::sync_free_subgraphs;
    LevelsAtATime next{levels / 2, way->us};
    if (!packed && !levels_are_named()) next = fewer_levels(levels / 2);
    if (next.levels < 2) return forbid_merge(why);
    take_out(*way, why);
    instead_ = why + ", so that fewer are taken at a time";
    if (packed) {
      make_again(next.levels);
    } else {
      add_instead(*way, next);
      forget_plan();
    }
  }

  /// Takes the way of the report's algorithm out, whose level sets can't be
  /// taken several at a time with these values, of which `why` tells: from now
  /// on one by one. Sub-graphs take fewer at a time than `sync_free`, and have
  /// a try of their own.
  void forbid_merge(const std::string& why) {
    const bool packed = report_.algorithm == Algorithm::sync_free_subgraphs;
    const bool looked = packed_.has_value();
    for (Way& way : ways_)
      if (way.levels > 1 ||
          (packed && way.algorithm == Algorithm::sync_free_subgraphs))
        take_out(way, why);
    forget_plan();
    if (packed) {
      merged_levels_ = 1;
      forget_packed_subgraphs();
      consider_packed_subgraphs(prediction());
    } else if (!looked && options_.algorithm == Algorithm::automatic &&
               sub_graphs_suit({1, prediction().sync_free()}) &&
               may_fit(Algorithm::sync_free_subgraphs)) {
      consider_packed_subgraphs(prediction());
    }
    if (!best()) add(Algorithm::sync_free);
    instead_ = why + ", which rules out several level sets at a time";
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr std::size_t not_considered = ~std::size_t{0};

  /// The plan of the report's algorithm once more, with so many level sets at a
  /// time.
  void make_again(int levels) {
    const bool packed = report_.algorithm == Algorithm::sync_free_subgraphs;
    forget_plan();
    if (!packed) return;
    // A builder makes one packed.
    for (Way& way : ways_)
      if (way.algorithm == Algorithm::sync_free_subgraphs)
        take_out(way, "made again with fewer merged rows");
    merged_levels_ = levels;
    forget_packed_subgraphs();
    consider_packed_subgraphs(prediction());
    if (!best()) add(Algorithm::sync_free);
  }

  struct Way {
    Algorithm algorithm;
    double us;              // predicted; 0: it was asked for
    std::size_t candidate;  // place in the report
    bool out;
    std::size_t bytes;  // that the plan takes, once that is known
    bool made;          // to know it: else it is a lower bound
    int levels = 1;     // that `sync_free` takes at a time
  };

  /// Level sets that `sync_free` takes at a time, and the solve predicted.
  struct LevelsAtATime {
    int levels = 1;
    double us = 0;
  };

  void add(Algorithm a) {
    ways_.push_back({a, 0, not_considered, false, 0, false});
  }
  /// `sync_free` with other level sets at a time than `way`.
  void add_instead(const Way& way, const LevelsAtATime& other) {
    if (way.candidate == not_considered)
      add(Algorithm::sync_free);
    else
      consider(Algorithm::sync_free, other.us, levels_note(other.levels));
    ways_.back().levels = other.levels;
  }
  void consider(Algorithm a, double us, const std::string& note) {
    ways_.push_back({a, us, report_.candidates.size(), false, 0, false});
    report_.candidates.push_back({a, us, note});
  }
  Way* best() {
    Way* found = nullptr;
    for (Way& way : ways_)
      if (!way.out && (!found || way.us < found->us)) found = &way;
    return found;
  }
  void take_out(Way& way, const std::string& why) {
    if (way.out) return;
    way.out = true;
    if (way.candidate == not_considered) return;
    auto& candidate = report_.candidates[way.candidate];
    candidate.ruled_out = true;
    candidate.note += (candidate.note.empty() ? "" : "; ") + why;
  }

  void over_budget(Way& way) {
    take_out(way, needs(way) + " of " + std::to_string(budget_.bytes()) +
                      " allowed");
  }

  void consider_named() {
    const Algorithm named = options_.algorithm;
    // Nothing has to be predicted for the algorithms without a choice inside.
    if (named == Algorithm::subgraphs ||
        named == Algorithm::sync_free_subgraphs ||
        (named == Algorithm::sync_free && may_choose_levels()))
      parameters_ = performance_parameters<Scalar>(exec_);
    if (named == Algorithm::sync_free) return add_sync_free();
    if (named != Algorithm::sync_free_subgraphs) return add(named);
    consider_packed_subgraphs(prediction());
    if (packed_) return;
    add(Algorithm::sync_free);
    instead_ =
        "asked for sync_free_subgraphs, but the matrix has no rows or too many "
        "entries, or a row needs more values from outside its sub-graph than a "
        "team's scratch holds";
  }

  void consider_all() {
    parameters_ = performance_parameters<Scalar>(exec_);
    if constexpr (!is_gpu<ExecutionSpace>) {
      host_rows_ = sample_host_rows(analysis_.graph);
    }
    const SolvePrediction predict = prediction();
    consider(Algorithm::substitution, predict.substitution(), "");
    using Solve = LevelSetSolve<Scalar, ExecutionSpace>;
    consider(Algorithm::level_sets,
             predict.level_sets(Solve::narrow_chunks, Solve::team_warps(exec_)),
             "");
    consider(Algorithm::sync_free, predict.sync_free(), "");
    const LevelsAtATime several = best_levels();
    if (several.levels > 1) {
      consider(Algorithm::sync_free, several.us, levels_note(several.levels));
      ways_.back().levels = several.levels;
    }
    const int n = analysis_.graph.num_vertices, levels = report_.levels;
    if (sub_graphs_suit(several) && may_fit(Algorithm::sync_free_subgraphs))
      consider_packed_subgraphs(predict);

    // Picciau et al.'s own algorithm where one sub-graph holds everything,
    // unless even a slot a level set is too much: elsewhere its partition, on
    // the host, costs more than all the rest of the analysis. It does where the
    // other sub-graphs are to be had, too, which it is hardly ever ahead of.
    if (is_gpu<ExecutionSpace> && !packed_ &&
        n <= SubgraphSolve<Scalar, ExecutionSpace>::max_rows(exec_) &&
        predict.subgraphs_at_least() < best()->us &&
        may_fit(Algorithm::subgraphs)) {
      const auto& host = analysis_.host();
      const Partition found =
          partition(host.graph, host.levels,
                    partition_options<Scalar>(exec_, options_, parameters_));
      consider(Algorithm::subgraphs,
               predict.subgraphs(found.candidates[found.chosen].predicted_us),
               "");
    }

    // Blocks are at least as many as level sets. Rows without entries are
    // solved in one launch by all.
    if (levels > 1 && predict.blocks_at_least() < best()->us &&
        may_fit(Algorithm::blocks)) {
      using Blocks = BlockSubstitution<Scalar, ExecutionSpace>;
      blocks_.emplace(find_graph_blocks<Scalar>(exec_, analysis_));
      const auto runs = make_block_runs(blocks_->wide(), blocks_->num_blocks(),
                                        n, Blocks::is_irregular(*blocks_));
      consider(Algorithm::blocks,
               predict.blocks(runs, blocks_->found(EllHead::num_slots)),
               std::to_string(blocks_->num_blocks()) + " blocks in " +
                   std::to_string(runs.size()) + " launches");
    }
  }

  /// Whether sub-graphs are worth a look beside what `sync_free` takes. A host
  /// has no lanes that could fetch while others solve; and where level sets are
  /// wide and few, or rows long, most values come from other sub-graphs. The
  /// bound is of sub-graphs that take level sets one by one: with several at a
  /// time they come to half of it in chains of chunks, to 0.6 of it in bands.
  bool sub_graphs_suit(const LevelsAtATime& several) const {
    if (!is_gpu<ExecutionSpace>) return false;
    const int n = analysis_.graph.num_vertices, levels = report_.levels;
    // With a limit on memory they are looked at whatever `sync_free` can do
    // within it: else more memory could make for the slower choice.
    const bool compared = several.levels > 1 && !budget_.limited();
    const double bound = prediction().sync_free_subgraphs_at_least();
    if (packing_shape(options_, merged_levels_, n, levels, sizes_.edges)
            .band_levels == 0)
      // With so few level sets they are taken one by one, and never come near
      // the bound.
      return !compared || several.us > (levels < 64 ? 1.3 : 1.) * bound ||
             (levels >= 64 && (n < 32 * levels || several.us > bound / 2));
    const double widest = compared ? 600 : 1500;
    return n < widest * levels && levels >= 64 &&
           double(sizes_.edges) < 16. * n &&
           (!compared || several.us > bound / 1.5);
  }

  /// Whether `sync_free` may take level sets several at a time: one right-hand
  /// side a launch, and not on hosts, where the first thread does all anyway,
  /// unless asked for.
  bool may_take_several() const {
    return options_.max_right_hand_sides == 1 && report_.levels > 1 &&
           merged_levels_ != 1 &&
           (is_gpu<ExecutionSpace> || merged_levels_ > 1);
  }
  bool may_choose_levels() const {
    return may_take_several() && merged_levels_ == 0;
  }
  /// (`merged_levels_` may be what sub-graphs have come down to.)
  bool levels_are_named() const { return options_.merged_levels > 0; }
  /// Times the matrix: what is made, and what is expected of what is chosen.
  static constexpr double most_made = 6, most_size = 5.4;
  /// How many level sets `sync_free` should take at a time.
  LevelsAtATime best_levels() {
    LevelsAtATime found;
    if (!may_take_several()) return found;
    const SolvePrediction predict = prediction();
    const double one_by_one = predict.sync_free();
    found.us = one_by_one;
    const MergeCandidates candidates =
        merged_levels_ > 0
            ? MergeCandidates{{merged_levels_}, 1}
            : MergeCandidates{{2, 3, 4, 5, 6, 7, 8, 12, 16, 24}, 10};
    numbers_of_levels_.clear();
    double least = std::numeric_limits<double>::max(), size = 0;
    for (const LevelsCandidate& c :
         sample_merged_levels(exec_, analysis_.graph, analysis_.order,
                              candidates, analysis_.work(exec_))) {
      const double us = predict.sync_free(c);
      // Memory counts, too, which is also what new values take longer for;
      // and a plan should not take over five times the matrix, never six.
      // Plans grow with the number of level sets, whatever is predicted: if
      // not, less memory allowed could make for the faster choice.
      size = std::max(
          size, predict.sync_free_bytes(c, analysis_.graph.values_in_order) /
                    double(report_.crs_bytes));
      const bool saves = us < 0.95 * one_by_one && c.stay < 0.2;
      if (saves) numbers_of_levels_.push_back({c.levels, us});
      // No host enqueues solves faster than that.
      const double cost =
          std::max(us, parameters_.alpha) * std::pow(size + 1.5, 1. / 8);
      const bool worthwhile = saves && size < most_size &&
                              budget_.allows(static_cast<std::size_t>(
                                  size * double(report_.crs_bytes))) &&
                              cost < 0.995 * least;
      if (worthwhile || merged_levels_ > 0) {
        found = {c.levels, us};
        least = cost;
      }
    }
    return found;
  }
  /// `sync_free` by name. Where nobody asked for several level sets at a time,
  /// one by one is a way, too.
  void add_sync_free() {
    int levels = 1;
    if (may_take_several())
      levels = merged_levels_ > 0 ? merged_levels_ : best_levels().levels;
    add(Algorithm::sync_free);
    ways_.back().levels = levels;
    if (levels == 1 || merged_levels_ > 0) return;
    add(Algorithm::sync_free);
    ways_.back().us = 1;
  }

  /// False, and a line in the report, for what is too large however it is made.
  bool may_fit(Algorithm a) {
    const std::size_t least = sizes_.least_bytes(a);
    if (budget_.allows(least)) return true;
    consider(a, 0, "");
    ways_.back().bytes = least;
    over_budget(ways_.back());
    return false;
  }

  SolvePrediction prediction() const {
    return {parameters_,
            sizes_.edges,
            analysis_.order.sizes,
            sizeof(Scalar),
            num_multiprocessors(exec_),
            lane_width<ExecutionSpace>,
            options_.max_right_hand_sides,
            gains_by_blocks(exec_, analysis_.order.sizes, sizeof(Scalar)),
            host_rows_};
  }

  /// Factor on the prediction of sub-graphs in bands, fitted for one to four
  /// level sets at a time: merged rows have terms to begin with and more
  /// sources, and four teams share a multiprocessor that does that work.
  static double in_bands(int levels) { return 0.75 + 0.12 * levels; }

  /// Sub-graphs in a packed, where there can be one.
  void consider_packed_subgraphs(const SolvePrediction& predict) {
    const int n = analysis_.graph.num_vertices, levels = report_.levels;
    const PackingShape shape =
        packing_shape(options_, merged_levels_, n, levels, sizes_.edges,
                      analysis_.unmerged_rows());
    const auto& longest = analysis_.order.sizes.longest_row;
    beside_packed_ = analysis_.work(exec_).mark();
    auto packed = SyncFreeSubgraphs<Scalar, ExecutionSpace>::make_builder(
        exec_, analysis_.graph, analysis_.order.level_of.data(), levels,
        longest.empty() ? 0 : *std::max_element(longest.begin(), longest.end()),
        shape, analysis_.pool, analysis_.order.vertex.data());
    if (!packed.possible()) return;
    beside_plan_ = analysis_.work(exec_).mark();
    consider(
        Algorithm::sync_free_subgraphs,
        predict.sync_free_subgraphs(
            packed.critical_steps(),
            shape.band_levels > 0 ? 0.4 * packed.critical_steps()
                                  : packed.team_steps(),
            packed.step_cost(), shape.latency, packed.num_subgraphs(),
            packed.num_imports()) *
            (shape.band_levels > 0 ? in_bands(packed.merged_levels()) : 1.),
        std::to_string(packed.num_subgraphs()) + " sub-graphs of up to " +
            std::to_string(packed.max_rows()) + " rows in " +
            (shape.band_levels > 0
                 ? "bands of " + std::to_string(shape.band_levels) +
                       " level sets"
                 : "the order of substitution") +
            (packed.merged_levels() > 1
                 ? ", " + levels_note(packed.merged_levels())
                 : "") +
            (packed.team() > 0 ? ", four lanes a row" : ""));
    packed_ = std::move(packed);
  }
  /// Once no plan is left.
  void forget_packed_subgraphs() {
    if (!packed_) return;
    packed_.reset();
    beside_plan_ = beside_packed_;
    analysis_.work(exec_).give_back(beside_plan_);
  }

  /// The plan, with as much workspace for several right-hand sides as there is
  /// memory for; nothing, and the way taken out, where it does not fit.
  Pointer make_within_budget(Way& way) {
    way.bytes = sizes_.least_bytes(way.algorithm);
    Pointer made;
    if (budget_.allows(way.bytes)) {
      using Blocks = SyncFreeTiles<Scalar, ExecutionSpace>;
      const bool in_blocks = way.algorithm == Algorithm::sync_free;
      for (int columns = options_.max_right_hand_sides; columns > 0;
           columns = in_blocks ? fewer(columns) : 0) {
        if (in_blocks && columns > 1 &&
            !budget_.allows(way.bytes +
                            Blocks::least_bytes(sizes_.rows, columns)))
          continue;
        made.reset();
        made = make_algorithm<Scalar>(
            exec_, analysis_, way.algorithm, options_, columns, budget_.bytes(),
            parameters_, packed_ ? &*packed_ : nullptr,
            blocks_ ? &*blocks_ : nullptr, way.levels, report_);
        if (budget_.allows(made->bytes())) break;
      }
      way.made = true;
      way.bytes = made->bytes();
    }
    if (made && budget_.allows(way.bytes)) {
      if (way.levels == 1 || levels_are_named() ||
          double(way.bytes) <= most_made * double(report_.crs_bytes))
        return made;
      take_out(way, needs(way) + ", over " + std::to_string(int(most_made)) +
                        " times the matrix");
      made.reset();
      forget_plan();
      take_fewer_levels(way);
      return nullptr;
    }
    over_budget(way);
    made.reset();
    if (way.algorithm == Algorithm::blocks) blocks_.reset();
    forget_plan();
    if (way.algorithm == Algorithm::sync_free_subgraphs) take_fewer_levels();
    if (way.levels > 1 && !levels_are_named()) take_fewer_levels(way);
    return nullptr;
  }
  /// A plan of sub-graphs that was too large may fit with fewer level sets at a
  /// time: one way more, unless their number was asked for like the algorithm.
  void take_fewer_levels() {
    const int levels = packed_ ? packed_->merged_levels() : 1;
    forget_packed_subgraphs();
    if (levels == 1 || (options_.merged_levels > 0 &&
                        options_.algorithm != Algorithm::automatic))
      return;
    merged_levels_ = levels > 4 ? 4 : levels > 2 ? 2 : 1;
    consider_packed_subgraphs(prediction());
  }
  /// One way more for `sync_free` with level sets at a time: the best of those
  /// with fewer, which take less memory.
  void take_fewer_levels(const Way& way) {
    const LevelsAtATime next = fewer_levels(way.levels - 1);
    if (next.levels > 1) add_instead(way, next);
  }
  /// The best number of level sets that `sync_free` may take up to `most`; one,
  /// if none of them is worthwhile.
  LevelsAtATime fewer_levels(int most) const {
    LevelsAtATime next;
    for (const LevelsAtATime& fewer : numbers_of_levels_)
      if (fewer.levels <= most && (next.levels == 1 || fewer.us <= next.us))
        next = fewer;
    return next;
  }
  static std::string levels_note(int levels) {
    return std::to_string(levels) + " level sets at a time";
  }
  /// The next smaller workspace of `sync_free` worth a try.
  static int fewer(int columns) {
    return columns > 32 ? 32 : columns > 8 ? 8 : columns > 1 ? 1 : 0;
  }
  static std::string needs(const Way& way) {
    return bytes_needed(way.bytes, way.made);
  }
  /// What an algorithm has put into the report that was dropped again, and the
  /// memory it was made in.
  void forget_plan() {
    analysis_.work(exec_).give_back(beside_plan_);
    report_.subgraphs = report_.subgraph_levels = report_.max_subgraph_rows = 0;
    report_.internal_slots = report_.external_slots = 0;
    report_.blocks = report_.block_runs = 0;
    report_.block_slots = 0;
    report_.merged_levels = 1;
    report_.launch_right_hand_sides = 0;
    report_.external_share = report_.predicted_solve_us = 0;
    report_.reason.clear();
  }

  void say_why(const Way& way) {
    const bool automatic = options_.algorithm == Algorithm::automatic;
    // `subgraphs` has told its partition.
    const std::string own = report_.reason;
    report_.algorithm = way.algorithm;
    bool too_large = false;
    for (const Way& other : ways_)
      too_large |= other.out && !budget_.allows(other.bytes);
    if (!instead_.empty())
      report_.reason = instead_;
    else if (!automatic)
      report_.reason = "asked for";
    else if (too_large)
      report_.reason =
          "the smallest prediction of those that fit in the memory "
          "allowed";
    else
      report_.reason = "the smallest prediction of those considered";
    report_.reason += own;
    if (way.candidate == not_considered) {
      if (report_.predicted_solve_us > 0)
        report_.predicted_solve_us =
            prediction().subgraphs(report_.predicted_solve_us);
      return;
    }
    report_.predicted_solve_us = way.us;
    const std::string& note = report_.candidates[way.candidate].note;
    if (instead_.empty() && !note.empty()) report_.reason += "; " + note;
  }

  [[noreturn]] void refuse(std::size_t least) const {
    const Way& named = ways_.back();
    if (options_.algorithm != Algorithm::automatic)
      refuse_named_plan(budget_, sizes_, named.algorithm, named.bytes,
                        named.made);
    throw PlanMemoryError(
        budget_.option(),
        "allows " + std::to_string(budget_.bytes()) +
            " bytes, a small plan takes " + std::to_string(least),
        "allow " + std::to_string(least) +
            " bytes or more, and leave the choice to automatic",
        least, budget_.bytes());
  }

  ExecutionSpace exec_;
  TriangularAnalysis<ExecutionSpace>& analysis_;
  const TriangularOptions& options_;
  TriangularReport& report_;
  int merged_levels_;  // as the option merged_levels
  MemoryBudget budget_;
  PlanSizes sizes_{};
  PerformanceParameters parameters_;
  HostRows host_rows_;
  std::deque<Way> ways_;  // whose elements stay where they are
  std::vector<LevelsAtATime> numbers_of_levels_;  // that sync_free may take
  std::optional<SubgraphPacker<ExecutionSpace>> packed_;
  std::optional<GraphBlocks<ExecutionSpace>> blocks_;
  /// What the analysis' memory holds beside what plans are made in, and beside
  /// the sub-graphs' builder.
  typename WorkPool<ExecutionSpace>::Mark beside_plan_, beside_packed_;
  std::string instead_;  // why the first choice was not to be had
  int turns_ = 0;        // of merge_less with one number of level sets
};

}  // namespace Detail
}  // namespace Strata

#endif
