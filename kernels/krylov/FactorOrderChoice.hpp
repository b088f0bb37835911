// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_FACTOR_ORDER_CHOICE_HPP
#define STRATA_KERNELS_KRYLOV_FACTOR_ORDER_CHOICE_HPP

#include <Strata_PreconditionerReport.hpp>
#include <algorithm>
#include <kernels/triangular/blocks/Prediction.hpp>
#include <kernels/triangular/selection/SolveFeatures.hpp>
#include <kernels/triangular/sync_free/Prediction.hpp>

namespace Strata {
namespace Detail {

/// What the choice of an order is made from on a device, beside the parameters
/// of the performance model: numbers to be fitted.
/// docs/algorithms/sell_and_cg.md has the measurements behind them.
struct FactorOrderCosts {
  /// Iterations in the order of colours relative to those in the natural one:
  /// of grids with two colours, a half of those without a preconditioner where
  /// the natural order has a third; and the geometric mean of six matrices with
  /// 5 to 36 colours, 1.01 to 1.66.
  double iterations_of_two_colours = 1.5, iterations_of_more_colours = 1.2;
  /// A launch that sweeps over a colour, in parts of alpha.
  double sweep = 0.9;
  /// A colour of a triangular solve, in parts of the latency of a dependency:
  /// half of the colours are merged.
  double colour = 0.6;
  /// A level set of the natural order's best solvers, in parts of `pass`.
  double least_level = 0.25;
  /// Vectors that an iteration reads and writes beside the application, and its
  /// launches.
  double vectors_of_iteration = 10, launches_of_iteration = 3;
  /// The same of an iteration in the Schur complement of two colours: see
  /// ReducedSystem.
  double vectors_of_reduced = 8, launches_of_reduced = 4;
  /// Set-ups: launches and waits, each level set in parts of alpha, each row
  /// and each entry, microseconds.
  double coloured_setup = 3000, coloured_setup_of_level = 1,
         coloured_setup_of_row = 0.004;
  double natural_setup = 3000, natural_setup_of_level = 0.2,
         natural_setup_of_entry = 0.0005;
  /// What the order of level sets takes beside the natural set-up: it finds
  /// that order, and permutes the matrix.
  double level_sets_setup = 1000, level_sets_setup_of_entry = 0.0004;
};

/// Predictions for one Hermitian matrix. Times are in microseconds.
class FactorOrderChoice {
 public:
  /// @param triangle  features of the strict lower triangle, for one vector
  /// @param entries   of the matrix
  /// @param applications  iterations in the natural order
  FactorOrderChoice(const SolveFeatures& triangle, std::int64_t entries,
                    int colours, int applications,
                    const FactorOrderCosts& costs = {})
      : f_(triangle),
        entries_(static_cast<double>(entries)),
        colours_(colours),
        applications_(applications),
        costs_(costs) {}

  /// No plans for both triangles are faster than the first. The second is one
  /// that there always is, without merged level sets.
  double natural_at_least() const {
    return 2 * (f_.begin() + f_.bytes_us +
                costs_.least_level * f_.p.pass * f_.sizes.num_levels);
  }
  double natural_at_most() const {
    return std::max(natural_at_least(), 2 * predict_sync_free(f_, false));
  }
  /// Both triangles: sweeps read the entries beside the diagonal once, and a
  /// few vectors; triangular solves wait for each colour, and find b and x in
  /// sectors of 32 bytes.
  double coloured_application() const {
    const double of_entries = 2 * f_.edges * (f_.scalar + 4);
    if (colours_ <= 2)
      return 2 * costs_.sweep * f_.p.alpha +
             (of_entries + 5 * f_.rows * f_.scalar) / f_.p.bytes_per_us;
    return 2 * (f_.begin() + costs_.colour * f_.p.handover * colours_) +
           SolveFeatures::beside_waiting *
               (of_entries + 64 * (f_.edges + 2 * f_.rows)) / f_.p.bytes_per_us;
  }
  double coloured_iterations() const {
    return colours_ <= 1   ? 1.
           : colours_ == 2 ? costs_.iterations_of_two_colours
                           : costs_.iterations_of_more_colours;
  }

  PreconditionerCandidate natural(double application_us,
                                  const std::string& note) const {
    const double setup =
        costs_.natural_setup +
        costs_.natural_setup_of_level * f_.p.alpha * f_.sizes.num_levels +
        costs_.natural_setup_of_entry * entries_;
    return candidate(FactorOrder::natural, setup, application_us, 1, note);
  }
  /// @param solves_us  of both triangles. Vectors that are permuted come on top
  PreconditionerCandidate level_sets(double solves_us,
                                     const std::string& note) const {
    auto made = natural(solves_us + permuted_vectors(), note);
    const double setup =
        costs_.level_sets_setup + costs_.level_sets_setup_of_entry * entries_;
    made.order = FactorOrder::level_sets;
    made.setup_us += setup;
    made.predicted_us += setup;
    return made;
  }
  PreconditionerCandidate coloured() const {
    const double setup =
        costs_.coloured_setup +
        costs_.coloured_setup_of_level * f_.p.alpha * f_.sizes.num_levels +
        costs_.coloured_setup_of_row * f_.rows;
    auto made = candidate(FactorOrder::coloured, setup, coloured_application(),
                          coloured_iterations(), "a model of its launches");
    if (colours_ == 2)
      made.predicted_us = setup + made.iterations * reduced_iteration();
    return made;
  }
  /// Both triangles in the order of level sets. The graph is the natural
  /// order's: what that order's `sync_free` can do, it can do here, with b and
  /// x of neighbouring rows side by side. Each level set is a block. What
  /// sub-graphs make of neighbours does not carry over.
  /// @param natural_us    of the natural order's solvers
  /// @param by_sync_free  whether those are `sync_free`, merged or not
  double solves_by_level(double natural_us, bool by_sync_free) const {
    double sync_free = 2 * predict_sync_free(f_, false);
    if (by_sync_free) sync_free = std::min(sync_free, natural_us);
    const double sectors = 4 * f_.rows * std::max(0., 32 - f_.scalar);
    sync_free -= SolveFeatures::beside_waiting * sectors / f_.p.bytes_per_us;
    return std::max(std::min(sync_free, 2 * blocks_by_level()),
                    natural_at_least());
  }
  /// natural or coloured where bounds are enough to tell; else automatic: a
  /// plan of the natural order has to be made, whose report tells.
  FactorOrder by_bounds() const {
    const double coloured_us = coloured().predicted_us;
    if (natural(natural_at_most(), "").predicted_us <= coloured_us)
      return FactorOrder::natural;
    if (natural(natural_at_least(), "").predicted_us >= coloured_us)
      return FactorOrder::coloured;
    return FactorOrder::automatic;
  }

 private:
  /// A product with the matrix, and updates and dot products of vectors.
  double rest_of_iteration() const {
    return costs_.launches_of_iteration * f_.begin() +
           (entries_ * (f_.scalar + 4) +
            costs_.vectors_of_iteration * f_.rows * f_.scalar) /
               f_.p.bytes_per_us;
  }
  /// An iteration by two colours, whose entries it reads once.
  double reduced_iteration() const {
    return costs_.launches_of_reduced * f_.begin() +
           (2 * f_.edges * (f_.scalar + 4) +
            costs_.vectors_of_reduced * f_.rows * f_.scalar) /
               f_.p.bytes_per_us;
  }
  /// r on its way to the factors, and z on its way back: one end of each is in
  /// sectors of 32 bytes.
  double permuted_vectors() const {
    return 2 *
           (f_.begin() + f_.rows * (f_.scalar + 4 + 32) / f_.p.bytes_per_us);
  }
  /// A solve by `blocks`, each of which is a level set: see predict_blocks.
  double blocks_by_level() const {
    const BlockCosts block{f_};
    double total = f_.p.alpha + f_.bytes_us;
    for (int l = 0; l < f_.sizes.num_levels; ++l) {
      const double rows = f_.sizes.rows(l);
      total += std::min(block.single_team() * std::max(1., rows / 400),
                        block.multi_team());
    }
    return total + f_.p.handover * std::max(0., f_.longest_row() - 2000) / 800;
  }
  PreconditionerCandidate candidate(FactorOrder order, double setup_us,
                                    double application_us, double iterations,
                                    const std::string& note) const {
    PreconditionerCandidate made;
    made.order = order;
    made.setup_us = setup_us;
    made.application_us = application_us;
    made.iterations = iterations * applications_;
    made.predicted_us =
        setup_us + made.iterations * (application_us + rest_of_iteration());
    made.note = note;
    return made;
  }

  SolveFeatures f_;
  double entries_;
  int colours_, applications_;
  FactorOrderCosts costs_;
};

}  // namespace Detail
}  // namespace Strata

#endif
