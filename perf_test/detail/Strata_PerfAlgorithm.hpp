// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_ALGORITHM_HPP
#define STRATA_PERF_ALGORITHM_HPP

#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfProblem.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <iosfwd>
#include <memory>
#include <string>

namespace Strata {
namespace PerfTest {

/// One way to solve a Problem, ours or a peer's. The timing does the fencing.
/// The problem outlives the algorithm.
template <class Scalar>
class Algorithm {
 public:
  using ExecutionSpace = typename Problem<Scalar>::ExecutionSpace;

  virtual ~Algorithm() = default;

  /// From the matrix to being ready to solve; replaces an earlier analysis.
  virtual void analyse() = 0;
  /// Takes the matrix's values anew, the pattern being the same.
  virtual void update() = 0;
  /// problem.b -> problem.x, asynchronous where the algorithm is.
  virtual void solve() = 0;
  /// Puts the answer into problem.x where solve() leaves it elsewhere.
  virtual void publish() {}
  /// What the plan looks like; of peers no more than their parameters.
  virtual PlanFacts plan() const { return {}; }
  /// Changes so many percent of the entries beside the diagonal back and forth,
  /// by pattern updates and by new analyses; nothing for peers. Afterwards the
  /// algorithm is that of the problem's matrix.
  virtual PatternTimes time_pattern_updates(double /*percent*/) { return {}; }
  /// Whether b and x are in the host's memory: then nothing is to be copied.
  virtual bool on_host() const { return false; }
  /// What was chosen and why, for people; nothing for peers.
  virtual void explain(std::ostream&) const {}
};

/// The system of a triangle with a stored diagonal and sorted rows, with its
/// right-hand sides and reference solutions.
template <class Scalar>
Problem<Scalar> make_problem(const typename Problem<Scalar>::Matrix& triangle,
                             Uplo uplo, int rhs);
/// The system of `source`, reordered. Raises what the readers, the gallery and
/// the checks of the matrix raise.
template <class Scalar>
Problem<Scalar> load_problem(const MatrixSource& source, Factor factor,
                             GalleryOrder reorder, int rhs);

/// Makes the algorithm of that full name (see own_algorithms() and
/// peer_algorithms()), each family in a file of its own.
template <class Scalar>
std::unique_ptr<Algorithm<Scalar>> make_own(const std::string& name,
                                            const Problem<Scalar>& problem,
                                            const TriangularOptions& wishes);
template <class Scalar>
std::unique_ptr<Algorithm<Scalar>> make_peer(const std::string& name,
                                             const Problem<Scalar>& problem);

/// The runner of strata_perf_sptrsv; the stream is where --explain prints.
using SptrsvRunners =
    RunnersOf<PerfRunner<SptrsvResult>, const SptrsvOptions&, std::ostream&>;

}  // namespace PerfTest
}  // namespace Strata

#endif
