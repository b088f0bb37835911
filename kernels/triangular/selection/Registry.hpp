// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_REGISTRY_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_REGISTRY_HPP

#include <Strata_TriangularOptions.hpp>
#include <cstddef>
#include <kernels/triangular/blocks/Registration.hpp>
#include <kernels/triangular/level_sets/Registration.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/selection/RegisteredAlgorithms.hpp>
#include <kernels/triangular/subgraphs/Registration.hpp>
#include <kernels/triangular/substitution/Registration.hpp>
#include <kernels/triangular/sync_free/Registration.hpp>
#include <kernels/triangular/tiles/Registration.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

template <template <class, class> class... Registrations>
struct AlgorithmList {};

/// The library's algorithms.
using LibraryAlgorithms =
    AlgorithmList<SubstitutionRegistration, LevelSetsRegistration,
                  SyncFreeRegistration, SubgraphsRegistration,
                  BlocksRegistration, TilesRegistration>;

/// Whether an enumerator has exactly one of these registrations.
template <class... Registrations>
constexpr bool is_listed_once(Algorithm algorithm) {
  return ((Registrations::enumerator == algorithm ? 1 : 0) + ... + 0) == 1;
}
/// Whether each enumerator but `automatic` has.
template <class... Registrations>
constexpr bool are_listed_once() {
  for (std::size_t k = 1; k < num_enumerators<Algorithm>(); ++k)
    if (!is_listed_once<Registrations...>(static_cast<Algorithm>(k)))
      return false;
  return sizeof...(Registrations) + 1 == num_enumerators<Algorithm>();
}

template <class Scalar, class ExecutionSpace>
using RegistrationList =
    std::vector<std::unique_ptr<AlgorithmRegistration<Scalar, ExecutionSpace>>>;

template <class Scalar, class ExecutionSpace,
          template <class, class> class... Registrations>
RegistrationList<Scalar, ExecutionSpace> make_registrations(
    AlgorithmList<Registrations...>) {
  static_assert(are_listed_once<Registrations<Scalar, ExecutionSpace>...>(),
                "each value of Algorithm but automatic has one registration "
                "in LibraryAlgorithms, and one name in EnumeratorNames");
  RegistrationList<Scalar, ExecutionSpace> all;
  const auto add = [&](auto registration, Algorithm algorithm) {
    registration->set_algorithm(algorithm);
    all.push_back(std::move(registration));
  };
  (add(std::make_unique<Registrations<Scalar, ExecutionSpace>>(),
       Registrations<Scalar, ExecutionSpace>::enumerator),
   ...);
  return all;
}

/// One object for each algorithm, for one matrix: the library's, then those
/// that the program has registered (Strata_RegisterAlgorithm.hpp).
template <class Scalar, class ExecutionSpace>
RegistrationList<Scalar, ExecutionSpace> make_registrations() {
  auto all = make_registrations<Scalar, ExecutionSpace>(LibraryAlgorithms{});
  for (auto& added :
       RegisteredAlgorithms<Scalar, ExecutionSpace>::instance().make_all())
    all.push_back(std::move(added));
  return all;
}

}  // namespace Detail
}  // namespace Strata

#endif
