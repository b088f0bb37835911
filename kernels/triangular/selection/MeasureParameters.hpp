// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_MEASURE_PARAMETERS_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_MEASURE_PARAMETERS_HPP

#include <Strata_PerformanceCache.hpp>
#include <algorithm>
#include <chrono>
#include <core/device/DeviceInfo.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/triangular/blocks/BlocksOfGraph.hpp>
#include <kernels/triangular/level_sets/LevelSetSolve.hpp>
#include <kernels/triangular/selection/HostRule.hpp>
#include <kernels/triangular/subgraphs/SubgraphSolve.hpp>
#include <kernels/triangular/substitution/SubstitutionSolve.hpp>
#include <kernels/triangular/sync_free/SyncFreeSolve.hpp>
#include <kernels/triangular/sync_free_subgraphs/SyncFreeSubgraphs.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <typeinfo>

namespace Strata {
namespace Detail {

/// Measures the parameters of the performance model with the kernels of a GPU
/// themselves on small made-up systems. A few dozen milliseconds, and no more
/// than the budget. Nothing is measured for hosts: see HostRule.
template <class Scalar, class ExecutionSpace>
class ParameterMeasurement {
  static_assert(is_gpu<ExecutionSpace>, "hosts have host_parameters");

 public:
  /// @param budget seconds, from now on
  explicit ParameterMeasurement(const ExecutionSpace& exec, double budget = 5)
      : exec_(exec),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(budget))) {}

  /// Nothing where the machine was too busy for the differences to make sense,
  /// or the time was over.
  std::optional<PerformanceParameters> run() const {
    try {
      return measure();
    } catch (const TimeIsOver&) {
      return std::nullopt;
    }
  }
  bool time_is_over() const { return Clock::now() >= deadline_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct TimeIsOver {};
  using Memory = typename ExecutionSpace::memory_space;
  using Analysis = TriangularAnalysis<ExecutionSpace>;

  std::optional<PerformanceParameters> measure() const {
    PerformanceParameters p;
    const int n = 1024;
    bool sound = true;
    const auto one = band(1, 1), chain = band(n, 1);
    const auto positive = [&sound](double us) {
      sound = sound && us > 0;
      return us;
    };
    using LevelSetsOf = LevelSetSolve<Scalar, ExecutionSpace>;
    using SyncFree = SyncFreeAlgorithm<Scalar, ExecutionSpace>;
    using Packed = SyncFreeSubgraphs<Scalar, ExecutionSpace>;
    using Substitution = SubstitutionSolve<Scalar, ExecutionSpace>;
    p.alpha = positive(time(LevelSetsOf(exec_, one), 1));
    p.narrow_level =
        positive((time(LevelSetsOf(exec_, chain), n) - p.alpha) / n);
    auto in_one = Packed::make_builder(exec_, chain.graph, nullptr, n, 1, {});
    // Without room for sub-graphs in scratch there are none to choose either.
    if (in_one.possible())
      p.pass =
          positive((time(Packed(exec_, chain, in_one, 1), n) - p.alpha) / n);
    p.block = positive((time(make_block_chain(chain), n) - p.alpha) / n);
    const double internal = time_subgraphs(chain, std::vector<int>(n, 0));
    p.tau = positive((internal - p.alpha) / (n - 1));
    // One row that needs many of another sub-graph: a slot for each.
    const auto time_star = [this](int dependencies) {
      std::vector<int> apart(dependencies + 1, 0);
      apart.back() = 1;
      return time_subgraphs(star(dependencies), apart);
    };
    const int dependencies = 255;
    p.tau_external =
        positive((time_star(dependencies) - 2 * p.alpha) / dependencies);
    const double narrow = time(Substitution(exec_, chain), n);
    const double wide = time(Substitution(exec_, band(n, 17)), n);
    p.serial_entry = positive((wide - narrow) / (16. * n));
    p.serial_row = positive(narrow / n - p.serial_entry);
    p.handover = positive((time(SyncFree(exec_, chain, 1), n) - p.alpha) / n);
    p.bytes_per_us = bandwidth();
    if (!sound) return std::nullopt;
    return p;
  }

  /// Row i needs the `half` rows before it; unit diagonal.
  Analysis band(int n, int half) const {
    std::vector<std::int64_t> row_map(1, 0);
    std::vector<int> entries;
    for (int i = 0; i < n; ++i) {
      for (int j = std::max(0, i - half); j < i; ++j) entries.push_back(j);
      row_map.push_back(static_cast<std::int64_t>(entries.size()));
    }
    return analysis(row_map, entries);
  }
  /// The last row needs all the others.
  Analysis star(int dependencies) const {
    std::vector<std::int64_t> row_map(dependencies + 1, 0);
    std::vector<int> entries;
    for (int j = 0; j < dependencies; ++j) entries.push_back(j);
    row_map.push_back(dependencies);
    return analysis(row_map, entries);
  }
  Analysis analysis(const std::vector<std::int64_t>& row_map,
                    const std::vector<int>& entries) const {
    Analysis result;
    DependencyGraph<Kokkos::HostSpace> host;
    const std::string label = "Strata::MeasureParameters::graph";
    std::vector<std::int64_t> value_index(entries.size());
    for (std::size_t k = 0; k < value_index.size(); ++k)
      value_index[k] = static_cast<std::int64_t>(k);
    host.num_vertices = static_cast<int>(row_map.size()) - 1;
    host.row_map = to_device<std::int64_t, Kokkos::HostSpace>(label, row_map);
    host.entries = to_device<int, Kokkos::HostSpace>(label, entries);
    host.value_index =
        to_device<std::int64_t, Kokkos::HostSpace>(label, value_index);
    host.diagonal_value_index = to_device<std::int64_t, Kokkos::HostSpace>(
        label, std::vector<std::int64_t>(host.num_vertices, -1));
    result.graph = mirror_graph(Memory(), host);
    result.find_order(exec_);
    result.num_values = static_cast<std::int64_t>(entries.size());
    return result;
  }

  BlockSubstitution<Scalar, ExecutionSpace> make_block_chain(
      const Analysis& system) const {
    const auto blocks = find_graph_blocks<Scalar>(exec_, system);
    BlockSubstitution<Scalar, ExecutionSpace> solve(
        exec_, blocks,
        DiagonalSource{system.graph.diagonal_value_index.data(), false, false,
                       false},
        system.num_values, false);
    exec_.fence();
    return solve;
  }
  double time_subgraphs(const Analysis& system,
                        const std::vector<int>& subgraph_of) const {
    const auto subgraphs = subgraphs_from_map(system.host().graph, subgraph_of);
    return time(SubgraphSolve<Scalar, ExecutionSpace>(
                    exec_, system, subgraphs,
                    make_schedule(system.host().graph, subgraphs), 256),
                system.graph.num_vertices);
  }

  /// Time of a solve, in microseconds, in the fastest of some batches without a
  /// wait in between, as other programs may use the machine. Small values keep
  /// every solution finite. Throws TimeIsOver.
  /// @param row_values  most values in a row of the system's matrix
  template <class Solve>
  double time(Solve&& solve, int n, int row_values = 64) const {
    using Vector = Kokkos::View<Scalar*, Memory>;
    const auto values = make_unfilled<Vector>(
        "Strata::MeasureParameters::values", std::int64_t{row_values} * n + 64);
    const auto b = make_unfilled<Vector>("Strata::MeasureParameters::b", n);
    const auto x = make_zeroed<Vector>("Strata::MeasureParameters::x", n);
    Kokkos::deep_copy(values, Scalar(0.01));
    Kokkos::deep_copy(b, Scalar(1));
    solve.set_values(exec_, values.data(), false);
    const MultiVectorRef<const Scalar> from{b.data(), 1, n};
    const MultiVectorRef<Scalar> to{x.data(), 1, n};
    const int batch = 8;
    double best = 1e300;
    for (int warm = 0; warm < 2; ++warm) solve.solve(exec_, from, to, 1);
    for (int repeat = 0; repeat < 7; ++repeat) {
      exec_.fence();
      Kokkos::Timer timer;
      for (int i = 0; i < batch; ++i) solve.solve(exec_, from, to, 1);
      exec_.fence();
      if (time_is_over()) throw TimeIsOver();
      best = std::min(best, timer.seconds() * 1e6 / batch);
    }
    return best;
  }

  /// Bytes read and written a microsecond by a large copy.
  double bandwidth() const {
    const std::int64_t count = std::int64_t{8} << 20;
    using Words = Kokkos::View<double*, Memory>;
    const auto from =
        make_zeroed<Words>("Strata::MeasureParameters::from", count);
    const auto to = make_zeroed<Words>("Strata::MeasureParameters::to", count);
    double best = 1e300;
    for (int i = 0; i < 4; ++i) {
      exec_.fence();
      Kokkos::Timer timer;
      Kokkos::deep_copy(exec_, to, from);
      exec_.fence();
      best = std::min(best, timer.seconds() * 1e6);
    }
    return 2. * sizeof(double) * double(count) / std::max(best, 1e-3);
  }

  ExecutionSpace exec_;
  Clock::time_point deadline_;
};

/// The parameters for this device and scalar: from this process, else from the
/// cache file, else measured now and kept in both, else the defaults, which
/// this process keeps: another may find the machine less busy. Those of a host
/// are written down.
template <class Scalar, class ExecutionSpace>
PerformanceParameters performance_parameters(const ExecutionSpace& exec) {
  if constexpr (is_gpu<ExecutionSpace>) {
    static std::mutex mutex;
    static std::map<std::string, PerformanceParameters> known;
    const std::string key =
        performance_key(device_name(exec), typeid(Scalar).name());
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
    auto cached = read_performance_cache(key);
    if (!cached) {
      const ParameterMeasurement<Scalar, ExecutionSpace> measurement(exec);
      for (int attempt = 0;
           attempt < 3 && !cached && !measurement.time_is_over(); ++attempt)
        cached = measurement.run();
      if (cached)
        write_performance_cache(key, *cached);
      else
        cached = PerformanceParameters();
    }
    return known[key] = *cached;
  } else {
    (void)exec;
    return host_parameters();
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
