// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_ALGORITHM_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_ALGORITHM_REGISTRATION_HPP

#include <Strata_TriangularOptions.hpp>
#include <cstddef>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/selection/PlanSizes.hpp>
#include <kernels/triangular/selection/Selection.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// What the selection knows of one algorithm: what it can do, the least bytes
/// of its plan, its candidates, and how it is made. Each
/// algorithm's folder has one (Registration.hpp); selection/Registry.hpp lists
/// them. An object serves one matrix: it may keep what its candidates need.
template <class Scalar, class ExecutionSpace>
class AlgorithmRegistration {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using Selection = Detail::Selection<Scalar, ExecutionSpace>;
  using Candidate = Detail::Candidate<Scalar, ExecutionSpace>;
  using Pointer = AlgorithmPointer<Scalar, ExecutionSpace>;

  AlgorithmRegistration() = default;
  virtual ~AlgorithmRegistration() = default;
  AlgorithmRegistration(const AlgorithmRegistration&) = delete;
  AlgorithmRegistration& operator=(const AlgorithmRegistration&) = delete;

  Algorithm algorithm() const { return algorithm_; }
  /// For the registry.
  void set_algorithm(Algorithm algorithm) { algorithm_ = algorithm; }

  /// @name What it can do
  /// @{
  /// Whether it serves this scalar, execution space and these options (their
  /// right-hand sides, for example). Where it does not, the automatic choice
  /// leaves it out, and asking for it is an OptionError.
  virtual bool supports(const TriangularOptions&) const { return true; }
  /// Whether it needs level sets where it is asked for by name; the automatic
  /// choice finds them in any case.
  virtual bool needs_level_sets() const { return true; }
  /// Why the automatic choice is to take it for this matrix; empty: it is not.
  /// For algorithms that a program has registered, which are asked before the
  /// library's rule.
  virtual std::string why_suited(const Selection&) const { return ""; }
  /// @}

  /// @name Memory
  /// @{
  /// Bytes that its plan takes at least, without a workspace for more than one
  /// right-hand side.
  virtual std::size_t least_bytes(const PlanSizes& sizes) const = 0;
  /// @}

  /// @name Candidates
  /// @{
  /// Adds its candidates (Selection::add), the best first, where the options
  /// name it or the automatic choice has come to it.
  virtual void consider(Selection& selection) { selection.add(*this); }
  /// Called when `dropped` is ruled out because its plan is too large. Adds a
  /// candidate with a smaller plan, if there is one.
  virtual void consider_smaller(Selection&, const Candidate& /*dropped*/) {}
  /// @}

  /// @name Merged level sets, for an algorithm whose plans may have them
  /// @{
  /// Rules out its candidates for the reason `why`, and adds one with `most`
  /// merged level sets at most, 1: with none.
  /// @returns how many that one has
  virtual int merge_at_most(Selection&, int /*most*/,
                            const std::string& /*why*/) {
    return 1;
  }
  /// @}

  /// The algorithm for an analysed matrix. It writes into `selection.report`
  /// what its plan looks like. `candidate.bytes` are the least bytes, which are
  /// allowed; where `options.max_right_hand_sides` need a workspace that does
  /// not fit, it makes one for fewer. @throws OptionError
  virtual Pointer make(Selection& selection, const Candidate& candidate) = 0;

 private:
  Algorithm algorithm_ = Algorithm::automatic;
};

}  // namespace Detail
}  // namespace Strata

#endif
