// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_KRYLOV_METHOD_HPP
#define STRATA_PERF_KRYLOV_METHOD_HPP

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gmres.hpp>
#include <detail/Strata_PerfKrylov.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <string>

namespace Strata {
namespace PerfTest {

/// How a solve has ended.
struct Solved {
  int iterations = 0;
  bool converged = false;
  std::string status;
};

/// A preconditioner as the solvers take it.
template <class Scalar>
struct Plugged {
  StepPreconditioner<Scalar>* preconditioner;

  template <class Space, class Vector>
  void apply(const Space&, const Vector& r, const Vector& z) const {
    preconditioner->apply(r, z);
  }
};

/// One of our solvers, with its workspace. All preconditioners get the same
/// one.
template <class Scalar, class Space>
class KrylovMethod {
 public:
  KrylovMethod(const Space& exec, std::int64_t rows,
               const KrylovSettings& settings, double tolerance)
      : method_(settings.method) {
    if (method_ == KrylovMethodName::cg) {
      CgOptions options;
      options.relative_tolerance = tolerance;
      options.max_iterations = settings.max_iterations;
      cg_ = ConjugateGradient<Scalar, Space>(exec, rows, options);
    } else if (method_ == KrylovMethodName::bicgstab) {
      BiCgStabOptions options;
      options.relative_tolerance = tolerance;
      options.max_iterations = settings.max_iterations;
      bicgstab_ = BiCgStab<Scalar, Space>(exec, rows, options);
    } else {
      GmresOptions options;
      options.relative_tolerance = tolerance;
      options.max_iterations = settings.max_iterations;
      options.restart = settings.restart;
      gmres_ = Gmres<Scalar, Space>(exec, rows, options);
    }
  }

  template <class Operator, class Preconditioner, class Vector>
  Solved solve(const Space& exec, const Operator& A, const Preconditioner& M,
               const Vector& b, const Vector& x) {
    if (method_ == KrylovMethodName::cg)
      return solved(cg_.solve(exec, A, M, b, x));
    if (method_ == KrylovMethodName::bicgstab)
      return solved(bicgstab_.solve(exec, A, M, b, x));
    return solved(gmres_.solve(exec, A, M, b, x));
  }

 private:
  template <class Result>
  static Solved solved(const Result& result) {
    return {result.iterations, result.converged(), to_string(result.status)};
  }

  KrylovMethodName method_;
  ConjugateGradient<Scalar, Space> cg_;
  BiCgStab<Scalar, Space> bicgstab_;
  Gmres<Scalar, Space> gmres_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
