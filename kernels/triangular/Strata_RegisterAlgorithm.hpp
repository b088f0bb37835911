// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_REGISTER_ALGORITHM_HPP
#define STRATA_REGISTER_ALGORITHM_HPP

#include <Strata_TriangularOptions.hpp>
#include <kernels/triangular/RegisteredNames.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/selection/RegisteredAlgorithms.hpp>
#include <memory>
#include <string>

namespace Strata {

/// What an algorithm from outside of the library is made of. It may change
/// from one release to the next, as may all that is reached through it.
namespace Experimental {

/// An algorithm: a plan from the pattern, packed values, and a solve. Its base
/// class.
template <class Scalar, class ExecutionSpace>
using TriangularAlgorithm = Detail::TriangularAlgorithm<Scalar, ExecutionSpace>;
/// What it is made from: the graph of dependencies and its level sets. Their
/// memory ends with the analysis.
template <class ExecutionSpace>
using TriangularAnalysis = Detail::TriangularAnalysis<ExecutionSpace>;
/// What the selection knows of it. Its base class.
template <class Scalar, class ExecutionSpace>
using AlgorithmRegistration =
    Detail::AlgorithmRegistration<Scalar, ExecutionSpace>;
/// What a registration is told of a plan's size.
using PlanSizes = Detail::PlanSizes;
/// Where elements of b and x are.
template <class T>
using MultiVectorRef = Detail::MultiVectorRef<T>;

/// Registers an algorithm for the scalar and the execution space of its
/// `Registration`, a class without arguments to its constructor that derives
/// from AlgorithmRegistration. From then on every TriangularSolver of these
/// types knows it, and `automatic` chooses it for the systems of which its
/// `why_suited` says why; `algorithm_from_string(name)` finds it, and reports,
/// messages and benchmarks call it by that name. The same name for other
/// scalars or execution spaces stands for the same algorithm.
///
/// @returns its value of TriangularOptions::algorithm, which lasts as long as
///   the process
/// @throws OptionError where the name is empty, the library's, or registered
///   for these types already
/// Safe to call from several threads; a solver that is being made meanwhile
/// may do without the algorithm.
template <class Registration>
Algorithm register_algorithm(const std::string& name) {
  using Scalar = typename Registration::scalar_type;
  using ExecutionSpace = typename Registration::execution_space;
  if (name.empty()) throw OptionError("name", "is empty", "name the algorithm");
  for (const char* const own : Detail::EnumeratorNames<Algorithm>::list)
    if (name == own)
      throw OptionError("name", "'" + name + "' is the library's own",
                        "choose another name");
  const auto algorithm =
      static_cast<Algorithm>(Detail::RegisteredNames::instance().add(name));
  Detail::RegisteredAlgorithms<Scalar, ExecutionSpace>::instance().add(
      algorithm, [] { return std::make_unique<Registration>(); });
  return algorithm;
}

}  // namespace Experimental
}  // namespace Strata

#endif
