// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_ILUT_PATTERN_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_ILUT_PATTERN_IMPLEMENTATION_HPP

#include <Strata_IlutPattern.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/symbolic/IlutRows.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<IlutPatternTag> : std::true_type {};

/// @throws OptionError
inline void check_ilut_options(const IlutOptions& options) {
  const double threshold = options.small_pivot_threshold;
  const char* const bad = !(options.drop_tolerance >= 0) ? "drop_tolerance"
                          : options.fill_per_row < 0     ? "fill_per_row"
                          : !(threshold >= 0 && threshold <= 1)
                              ? "small_pivot_threshold"
                              : nullptr;
  if (bad)
    throw OptionError(bad, "is out of range",
                      "pass 0 or a positive number, as small_pivot_threshold "
                      "one of up to 1");
}

template <class Scalar, class ExecutionSpace>
void IlutPattern<Scalar, ExecutionSpace>::make(const ExecutionSpace& exec,
                                               const CrsArrays<Scalar>& A,
                                               const IlutOptions& options,
                                               NewMatrix<Scalar>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  check_ilut_options(options);
  with_memory_errors("an ILUT pattern", [&] {
    check_factor_input(exec, A, ZeroDiagonal::take);
    const std::int64_t rows = A.rows();
    require_row_numbers(rows);
    const auto row_map = A.row_map.template fetch<Memory>(0, rows + 1);
    const std::int64_t entries = rows > 0 ? row_map[rows] : 0;
    const auto columns = A.entries.template fetch<Memory>(0, entries);
    std::vector<Scalar> values(columns.size());
    Kokkos::deep_copy(Kokkos::View<Scalar*, Kokkos::HostSpace, Unmanaged>(
                          values.data(), values.size()),
                      Kokkos::View<const Scalar*, Memory, Unmanaged>(
                          A.values, values.size()));
    IlutRows<Scalar> factors(rows, options);
    for (std::int64_t i = 0; i < rows; ++i)
      factors.add(columns.data() + row_map[i], values.data() + row_map[i],
                  row_map[i + 1] - row_map[i]);
    const auto stored = static_cast<std::int64_t>(factors.columns().size());
    require_index_types_hold("A", made, static_cast<double>(rows),
                             static_cast<double>(stored));
    const auto on_device = [](const auto& from) {
      using T = typename std::decay_t<decltype(from)>::value_type;
      return Kokkos::create_mirror_view_and_copy(
          Memory(), Kokkos::View<const T*, Kokkos::HostSpace, Unmanaged>(
                        from.data(), from.size()));
    };
    const auto new_row_map = on_device(factors.row_map());
    const auto new_columns = on_device(factors.columns());
    const std::string label = "Strata::IlutPattern";
    copy_indices(exec, new_row_map, made.make_row_map(label, rows));
    copy_indices(exec, new_columns, made.make_entries(label, stored));
    Kokkos::deep_copy(
        exec,
        Kokkos::View<Scalar*, Memory, Unmanaged>(
            made.make_values(label, stored), static_cast<std::size_t>(stored)),
        Kokkos::View<const Scalar*, Kokkos::HostSpace, Unmanaged>(
            factors.values().data(), factors.values().size()));
    exec.fence();
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
