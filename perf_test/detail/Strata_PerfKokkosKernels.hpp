// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_KOKKOS_KERNELS_HPP
#define STRATA_PERF_KOKKOS_KERNELS_HPP

#include <KokkosKernels_Handle.hpp>
#include <algorithm>
#include <core/device/Backend.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <detail/Strata_SptrsvNames.hpp>
#include <exception>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// What Kokkos Kernels' handle can be told; -1: nothing, which leaves it to its
/// default.
struct KokkosKernelsParameters {
  int threshold = -1;  ///< rows of the level sets that chains may have
  int team = -1, vector = -1;
};

/// Kokkos Kernels' own sptrsv (no vendor library behind it). It solves one
/// right-hand side at a time and reads the values at every solve, so that new
/// values cost nothing.
template <class Scalar>
class KokkosKernelsSptrsv : public Algorithm<Scalar> {
 public:
  using Method = KokkosSparse::Experimental::SPTRSVAlgorithm;
  using Parameters = KokkosKernelsParameters;

  KokkosKernelsSptrsv(const Problem<Scalar>& problem, Method method,
                      const Parameters& parameters = {})
      : problem_(problem), method_(method), parameters_(parameters) {}
  ~KokkosKernelsSptrsv() override { handle_.destroy_sptrsv_handle(); }

  void analyse() override {
    const auto& graph = problem_.matrix.graph;
    handle_.create_sptrsv_handle(method_, problem_.rows(),
                                 problem_.uplo == Uplo::lower);
    if (parameters_.threshold > 0)
      handle_.get_sptrsv_handle()->reset_chain_threshold(parameters_.threshold);
    SptrsvNames::symbolic(SptrsvNames::First(), &handle_, graph.row_map,
                          graph.entries);
    set_sizes(parameters_.team, parameters_.vector);
  }
  /// After the analysis, which would print warnings about them.
  void set_sizes(int team, int vector) {
    parameters_.team = team;
    parameters_.vector = vector;
    handle_.get_sptrsv_handle()->set_team_size(team);
    handle_.get_sptrsv_handle()->set_vector_size(vector);
  }
  void update() override {}
  void solve() override {
    const auto& graph = problem_.matrix.graph;
    // Release 4.6's range-policy kernels add to what x holds.
    if (method_ == Method::SEQLVLSCHD_RP)
      Kokkos::deep_copy(exec_, problem_.x, Scalar(0));
    for (int column = 0; column < problem_.rhs(); ++column)
      SptrsvNames::solve(SptrsvNames::First(), &handle_, graph.row_map,
                         graph.entries, problem_.matrix.values,
                         Kokkos::subview(problem_.b, Kokkos::ALL(), column),
                         Kokkos::subview(problem_.x, Kokkos::ALL(), column));
  }
  /// The same for vectors of rank 1, other than the problem's.
  template <class Vector>
  void solve_with(const Vector& b, const Vector& x) {
    using Column = decltype(Kokkos::subview(problem_.b, Kokkos::ALL(), 0));
    const auto& graph = problem_.matrix.graph;
    if (method_ == Method::SEQLVLSCHD_RP)
      Kokkos::deep_copy(exec_, x, Scalar(0));
    SptrsvNames::solve(SptrsvNames::First(), &handle_, graph.row_map,
                       graph.entries, problem_.matrix.values,
                       Column(b.data(), b.extent(0)),
                       Column(x.data(), x.extent(0)));
  }
  PlanFacts plan() const override {
    const auto text = [](const char* name, int value) {
      return std::string(name) + (value > 0 ? std::to_string(value) : "auto");
    };
    PlanFacts facts;
    if (method_ != Method::SEQLVLSCHD_RP)
      facts.parameters = text("team ", parameters_.team);
    if (method_ == Method::SEQLVLSCHD_TP1CHAIN)
      facts.parameters =
          "threshold " + std::to_string(std::max(0, parameters_.threshold)) +
          ' ' + facts.parameters + ' ' + text("vector ", parameters_.vector);
    return facts;
  }
  const Parameters& parameters() const { return parameters_; }

 private:
  using Space = typename Algorithm<Scalar>::ExecutionSpace;
  using Memory = typename Space::memory_space;
  using Handle =
      KokkosKernels::Experimental::KokkosKernelsHandle<int, int, Scalar, Space,
                                                       Memory, Memory>;

  const Problem<Scalar>& problem_;
  Method method_;
  Parameters parameters_;
  Space exec_;
  Handle handle_;
};

/// What may be worth a trial, those of one threshold together. The first is the
/// handle's default, which is chains of no level sets.
inline std::vector<KokkosKernelsParameters> kokkos_kernels_candidates(
    KokkosSparse::Experimental::SPTRSVAlgorithm method, bool gpu) {
  using Method = KokkosSparse::Experimental::SPTRSVAlgorithm;
  std::vector<KokkosKernelsParameters> all{{}};
  // On a host, a team of more threads than there are ends the program.
  if (method == Method::SEQLVLSCHD_TP1) {
    for (int team = 1; team <= (gpu ? 512 : 1); team *= 2)
      all.push_back({-1, team, -1});
  } else if (method == Method::SEQLVLSCHD_TP1CHAIN) {
    for (const int threshold : {-1, 16, 64, 256, 1024})
      for (const int team : {1, 4, 16, 64, 256, 1024})
        for (const int vector : {1, 4, 32})
          if (gpu ? team >= 4 && team * vector <= 1024 : team * vector == 1)
            all.push_back({threshold, team, vector});
  }
  return all;
}

/// `method` with the parameters that are fastest on the problem, of those that
/// give a right answer; with the defaults where none does. No trial begins
/// after 30 seconds of them.
template <class Scalar>
std::unique_ptr<KokkosKernelsSptrsv<Scalar>> fastest_kokkos_kernels(
    const Problem<Scalar>& problem,
    typename KokkosKernelsSptrsv<Scalar>::Method method) {
  using Solver = KokkosKernelsSptrsv<Scalar>;
  using Space = typename Algorithm<Scalar>::ExecutionSpace;
  const Space exec;
  std::unique_ptr<Solver> solver;
  KokkosKernelsParameters best;
  double fastest = std::numeric_limits<double>::infinity(), spent = 0;
  const auto timed = [&] {
    const double taken = seconds(exec, 1, [&] { solver->solve(); });
    spent += taken;
    return taken;
  };
  for (const auto& tried :
       kokkos_kernels_candidates(method, Detail::is_gpu<Space>)) {
    if (spent > 30) break;
    try {
      if (!solver || solver->parameters().threshold != tried.threshold) {
        solver = std::make_unique<Solver>(problem, method, tried);
        spent += seconds(exec, 1, [&] { solver->analyse(); });
      }
      solver->set_sizes(tried.team, tried.vector);
      forget_answer(problem);
      timed();
      if (!(relative_error(problem.reference, answer(problem).data()) <=
            problem.tolerance))
        continue;
      double least = timed();
      for (int k = 0; k < 4 && least < 1.5 * fastest; ++k)
        least = std::min(least, timed());
      if (least >= fastest) continue;
      fastest = least;
      best = tried;
    } catch (const std::exception&) {
      // A team that the device can't hold.
    }
  }
  return std::make_unique<Solver>(problem, method, best);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
