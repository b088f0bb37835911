// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGULAR_OPTIONS_HPP
#define STRATA_TRIANGULAR_OPTIONS_HPP

#include <Strata_Error.hpp>
#include <Strata_Types.hpp>
#include <cstddef>
#include <kernels/triangular/RegisteredNames.hpp>
#include <string>
#include <vector>

namespace Strata {

/// How a triangular system is solved. Algorithms that a program has registered
/// (Strata_RegisterAlgorithm.hpp) are further values of it.
enum class Algorithm {
  /// The one that a written rule expects to be fastest.
  automatic,
  /// Row after row by one thread a right-hand side.
  substitution,
  /// Level sets, a launch each; narrow neighbours share a launch.
  level_sets,
  /// Sub-graphs in team scratch, a launch a sub-graph level (Picciau
  /// et al. 2017).
  subgraphs,
  /// Level sets in one launch; rows wait for the rows they need.
  sync_free,
  /// Diagonal blocks without entries inside, in the order of the rows.
  blocks,
  /// Tiles of up to 32 rows in one launch, each solved at once by the inverse
  /// of its diagonal block.
  tiles
};

namespace Detail {
/// The one list of names: benchmarks, tests and messages read it.
template <>
struct EnumeratorNames<Algorithm> {
  static constexpr const char* list[] = {
      "automatic", "substitution", "level_sets", "subgraphs",
      "sync_free", "blocks",       "tiles"};
};
template <>
struct AddedEnumerators<Algorithm> {
  static const char* name(Algorithm a) {
    return RegisteredNames::instance().name(static_cast<int>(a));
  }
  static std::vector<Algorithm> values() {
    std::vector<Algorithm> all;
    for (int k = 0; k < RegisteredNames::instance().count(); ++k)
      all.push_back(static_cast<Algorithm>(RegisteredNames::first + k));
    return all;
  }
};
}  // namespace Detail

/// Every algorithm, `automatic` first, those that the program has registered
/// last.
inline std::vector<Algorithm> all_algorithms() {
  return Detail::enumerators<Algorithm>();
}

/// The algorithm of that name. @throws OptionError
inline Algorithm algorithm_from_string(const std::string& name) {
  for (const Algorithm a : all_algorithms())
    if (name == to_string(a)) return a;
  throw OptionError("algorithm", "'" + name + "' is unknown",
                    "use " + Detail::enumerator_names<Algorithm>());
}

/// What a solve promises of its rounding errors, row by row: r = b - op(A) x is
/// the residual, m the longest row, diagonal included, and eps the distance
/// from one to the next number of the scalar's precision (four times that for
/// complex scalars). To first order, and where nothing overflows or underflows;
/// docs/accuracy.md has the proofs.
enum class Accuracy {
  /// |r_i| <= 100 m eps (sum_j |a_ij| max|x| + |b_i|). Level sets may be
  /// merged,
  /// but for rows with which that would not hold.
  rowwise,
  /// |r_i| <= (m + 4) eps (sum_j |a_ij| |x_j| + |b_i|), which is what plain
  /// substitution has: small elements of x are as accurate as large ones. No
  /// level sets are merged.
  componentwise
};

namespace Detail {
template <>
struct EnumeratorNames<Accuracy> {
  static constexpr const char* list[] = {"rowwise", "componentwise"};
};
}  // namespace Detail
/// The contract of that name. @throws OptionError
inline Accuracy accuracy_from_string(const std::string& name) {
  for (const Accuracy a : {Accuracy::rowwise, Accuracy::componentwise})
    if (name == to_string(a)) return a;
  throw OptionError("accuracy", "'" + name + "' is unknown",
                    "use rowwise or componentwise");
}

/// How the plan of a triangular solver is chosen and made: the options that
/// TriangularSolver, FactorSolver and IncompleteFactorization share.
struct TriangularPlanOptions {
  Algorithm algorithm = Algorithm::automatic;
  /// What is promised of rounding errors.
  Accuracy accuracy = Accuracy::rowwise;
  /// Level sets that `sync_free` merges into one for a single right-hand side,
  /// by rewriting rows with the inverses of small diagonal blocks (see
  /// docs/algorithms/level_merging.md): 1 forbids that, 0 leaves it to the
  /// analysis. Rows with which `accuracy` would not hold are not merged with
  /// others; where these are many, fewer level sets are merged, or none.
  int merged_levels = 0;
  /// Right-hand sides you will solve for at once. The automatic choice takes
  /// what it expects to be fastest for that many, and one launch of `sync_free`
  /// or `tiles` takes so many at most: more are solved in several
  /// launches. The workspace is part of the plan, and with 1 there is none
  /// beside that for one. `sync_free` on CUDA takes two scalars a row for each,
  /// in eights (above 16, in thirty-twos), but no more than an eighth of the
  /// device's memory, or 512 MiB if that is more or what there is room for,
  /// unless eight need it, and on a host none; `tiles` takes two scalars a row
  /// for each, up to 32, but no more than 512 MiB.
  int max_right_hand_sides = 1;
  /// Bytes of the execution space's memory that the solver may hold once it is
  /// made; 0 for no limit. A workspace for `max_right_hand_sides` that is too
  /// large is made for fewer. The automatic choice then takes the fastest
  /// algorithm that fits, and one asked for that does not is an error
  /// (PlanMemoryError). The analysis itself needs more for a while, and the
  /// first update_values of merged level sets from then on, see docs/memory.md.
  std::size_t max_plan_bytes = 0;

  /// For experiments with one algorithm. Members may change in any release.
  struct Experimental {
    /// Rows of a sub-graph at most; 0 for what the team scratch holds
    /// (`subgraphs`: that of Kokkos, beyond which a number may go up to what
    /// the chip has for a team where Strata_ENABLE_CUDA_NATIVE is on).
    int max_subgraph_rows = 0;
    /// Threads of a team of `subgraphs`; 0 for a size that suits it.
    int team_size = 0;

    friend bool operator==(const Experimental& a, const Experimental& b) {
      return a.max_subgraph_rows == b.max_subgraph_rows &&
             a.team_size == b.team_size;
    }
  };
  Experimental experimental;

  friend bool operator==(const TriangularPlanOptions& a,
                         const TriangularPlanOptions& b) {
    return a.algorithm == b.algorithm && a.accuracy == b.accuracy &&
           a.merged_levels == b.merged_levels &&
           a.max_right_hand_sides == b.max_right_hand_sides &&
           a.max_plan_bytes == b.max_plan_bytes &&
           a.experimental == b.experimental;
  }
  friend bool operator!=(const TriangularPlanOptions& a,
                         const TriangularPlanOptions& b) {
    return !(a == b);
  }
};

/// What a TriangularSolver is asked for.
struct TriangularOptions : TriangularPlanOptions {
  /// op(A) x = b is solved.
  Op op = Op::none;
  /// Use just the stated triangle of a full matrix instead of refusing
  /// entries outside it.
  bool take_triangle = false;
  /// Lets the solver take values by `enqueue_update_values`, for which the host
  /// does not wait. A plan that merges level sets then has a second one beside
  /// it, `sync_free` without merged ones, which serves values that the first
  /// can't take: its memory counts like that of the
  /// first, and each solve has one launch more, which ends at once. Other
  /// algorithms divide by the diagonal instead of multiplying by reciprocals.
  bool enqueue_updates = false;

  friend bool operator==(const TriangularOptions& a,
                         const TriangularOptions& b) {
    const TriangularPlanOptions &plan_a = a, &plan_b = b;
    return plan_a == plan_b && a.op == b.op &&
           a.take_triangle == b.take_triangle &&
           a.enqueue_updates == b.enqueue_updates;
  }
  friend bool operator!=(const TriangularOptions& a,
                         const TriangularOptions& b) {
    return !(a == b);
  }
};

/// The options of a plan as a member of other options.
struct NestedPlanOptions : TriangularPlanOptions {
  NestedPlanOptions() = default;
  NestedPlanOptions(const TriangularPlanOptions& options)
      : TriangularPlanOptions(options) {}
  /// `op`, `take_triangle` and `enqueue_updates` would be lost.
  NestedPlanOptions(const TriangularOptions&) = delete;
};

}  // namespace Strata

#endif
