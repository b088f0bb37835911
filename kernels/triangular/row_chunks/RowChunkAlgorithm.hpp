// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_ROW_CHUNKS_ROW_CHUNK_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_ROW_CHUNKS_ROW_CHUNK_ALGORITHM_HPP

#include <analysis/merging/MergedRows.hpp>
#include <analysis/packing/MakeRowChunks.hpp>
#include <core/device/Launch.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/row_chunks/RowSystem.hpp>

namespace Strata {
namespace Detail {

/// Rows without entries beside the diagonal, a thread each.
template <class Scalar, class ExecutionSpace>
struct DiagonalSolve {
  static constexpr bool awaits_previous = true;
  RowSystem<Scalar, ExecutionSpace> system;
  int num_rows;
  ActivePlan active_plan;
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (ends_if_inactive(active_plan, team)) return;
    const std::int64_t p =
        static_cast<std::int64_t>(team.league_rank()) * team.team_size() +
        team.team_rank();
    std::int64_t row = 0;
    Scalar diagonal(1);
    if (p < num_rows) {
      row = system.row(p);
      diagonal = system.diagonal(p);
    }
    await_previous(team);
    release_next(team);
    if (p >= num_rows) return;
    const Scalar from = system.b(row, 0);
    system.x(row, 0) = system.divide ? from / diagonal : from * diagonal;
  }
};

/// Chunks of rows with their packed values: the base of `level_sets`, `blocks`
/// and `sync_free`, which differ in their solves.
template <class Scalar, class ExecutionSpace>
class RowChunkAlgorithm : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;
  static constexpr int width = lane_width<ExecutionSpace>;

  /// Has solves divide, or not, and returns what packs entries and diagonal for
  /// that, in a launch of the caller's.
  /// @param invalid_flag  see PackDiagonal
  PackTogether<Scalar, Memory> begin_packing(
      const Scalar* values, bool divide, const int* invalid_flag = nullptr) {
    this->divide_ = divide;
    return {{chunks_.value_index, values, value_, this->conjugated_},
            {this->diagonal_value_index_, values, this->diagonal_,
             this->conjugated_, divide, invalid_flag}};
  }

 protected:
  /// @param max_steps entries of a row that one lane fetches together: rows
  ///                  that are longer get more lanes
  /// @param buffers   scalars of workspace for each row; where there are any,
  ///                  a counter goes with them
  /// @param coefficients, rows  of merged rows. The plan also holds `rows`,
  ///                  once it is known how many bytes their recipes take
  RowChunkAlgorithm(const ExecutionSpace& exec,
                    const TriangularAnalysis<ExecutionSpace>& analysis,
                    const DependencyGraph<Memory>& graph,
                    const LevelOrder<Memory>& order,
                    DependencyNumbering numbering, int max_steps, int buffers,
                    const RowCoefficients<Memory>& coefficients = {},
                    const MergedRows<Memory>& rows = {}) {
    Kokkos::View<Scalar*, Memory> diagonal;
    chunks_ = make_row_chunks(
        exec, graph, order, analysis.num_values, width, max_steps, numbering,
        analysis.work(exec),
        [&](PlanStorage<Memory>& storage, const RowChunks<Memory>& plan) {
          // The arrays of merged rows; scalars of 16 bytes follow.
          const std::size_t bytes =
              coefficients.exist() ? rows.extent(plan.recipe_bytes) : 0;
          storage.take(merged_storage_,
                       static_cast<std::int64_t>((bytes + 15) / 16 * 2));
          storage.take(buffers_, std::int64_t{buffers} * plan.num_rows);
          storage.take(value_, plan.num_slots);
          storage.take(diagonal, plan.num_rows);
          storage.take(counter_, buffers > 0 ? 1 : 0);
        },
        coefficients);
    this->set_rows(chunks_.row, chunks_.diagonal_value_index,
                   analysis.conjugated, diagonal);
  }

  RowSystem<Scalar, ExecutionSpace> system(
      const MultiVectorRef<const Scalar>& b,
      const MultiVectorRef<Scalar>& x) const {
    return {chunks_.chunk,
            chunks_.row,
            chunks_.dependency,
            value_,
            this->diagonal_,
            this->divide_,
            b,
            x};
  }
  /// One right-hand side where the plan has no slots.
  void solve_diagonal(const ExecutionSpace& exec,
                      const MultiVectorRef<const Scalar>& b,
                      const MultiVectorRef<Scalar>& x) const {
    constexpr int threads = is_gpu<ExecutionSpace> ? 256 : 1;
    const auto n = static_cast<int>(chunks_.num_rows);
    run_native_teams<8, threads>("Strata::Triangular::solve::diagonal", exec,
                                 (n - 1) / threads + 1,
                                 DiagonalSolve<Scalar, ExecutionSpace>{
                                     system(b, x), n, this->active_plan_});
  }
  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    const auto all = begin_packing(values, this->divide_, invalid_flag);
    run_native_teams<8, all.threads>("Strata::PackValues::rows", exec,
                                     all.teams(), all);
  }
  /// Of a copy: buffers and counter of its own, not initialized.
  void take_workspace(const ExecutionSpace& exec) {
    workspace_ = make_plan_storage<Memory>(
        exec, "Strata::Triangular::workspace",
        [&](PlanStorage<Memory>& storage) {
          storage.take(buffers_, static_cast<std::int64_t>(buffers_.extent(0)));
          storage.take(counter_, static_cast<std::int64_t>(counter_.extent(0)));
        });
  }
  std::size_t buffer_bytes() const {
    return buffers_.extent(0) * sizeof(Scalar) +
           counter_.extent(0) * sizeof(unsigned);
  }
  std::size_t entry_bytes() const override {
    return chunks_.chunk.extent(0) * sizeof(RowChunk) +
           chunks_.dependency.extent(0) * 4 + chunks_.value_index.bytes() +
           (value_.extent(0) + buffers_.extent(0)) * sizeof(Scalar);
  }

  RowChunks<Memory> chunks_;
  Kokkos::View<Scalar*, Memory> value_;  // packed entries, by slot
  // Workspace of solves that wait in a launch: not-ready values of two solves,
  // and the tickets drawn (see SyncFreeKernel). Else empty.
  Kokkos::View<Scalar*, Memory> buffers_;
  Kokkos::View<unsigned*, Memory> counter_;
  typename PlanStorage<Memory>::Block workspace_;  // null: in the plan's memory
  /// The arrays of MergedRows, where rows are merged.
  Kokkos::View<std::int64_t*, Memory> merged_storage_;
};

}  // namespace Detail
}  // namespace Strata

#endif
