// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_PLAN_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_PLAN_HPP

// How many teams do conjugate gradients in one launch, and what each has in its
// scratch.

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/ResidentLaunch.hpp>
#include <core/device/ResidentSum.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstddef>
#include <kernels/krylov/conjugate_gradient/CgResidentRows.hpp>
#include <kernels/krylov/conjugate_gradient/CgState.hpp>
#include <kernels/spmv/SellStorage.hpp>

namespace Strata {
namespace Detail {

/// Iterations of a launch at most.
constexpr int most_resident_iterations = 32;

/// Iterations ahead that a callback has to allow for launches that do half of
/// them to be faster.
constexpr int least_resident_ahead = 16;

/// What a team has in its scratch besides the matrix.
struct ResidentVectors {
  int rows = 0;
  unsigned sums = 0, norms = 0;  ///< sums of its threads; norms of residuals
  unsigned r = 0, w = 0, p = 0, x = 0;  ///< its rows of these
  unsigned inverse_diagonal = 0;        ///< the same, where there is one
  unsigned diagonal = 0, t = 0;         ///< of TwoColourBlocks
};

/// How a launch shares out rows and scratch.
struct ResidentPlan {
  int teams = 0;  // 0: the system does not fit
  int team_size = 0;
  std::size_t scratch_bytes = 0;
  ResidentVectors at;
  ResidentShare share, first;
};

/// Scratch of a team that is given away from its beginning on.
struct ResidentScratch {
  std::size_t used = 0;
  unsigned take(std::size_t count, std::size_t size) {
    const std::size_t begin = used;
    used += (count * size + 15) / 16 * 16;
    return static_cast<unsigned>(begin);
  }
};

/// How a launch of `Kernel` shares out a system with the matrix A and, of a
/// reduced system, with the first colour's rows.
template <class Kernel, class Scalar, class ExecutionSpace>
class ResidentPlanner {
 public:
  using Storage = SellStorage<Scalar, typename ExecutionSpace::memory_space>;

  /// @param first  may be null
  /// @param scaled whether there is a diagonal preconditioner
  ResidentPlanner(const Storage& A, const Storage* first, bool scaled)
      : A_(A), first_(first), scaled_(scaled) {}

  /// Without teams unless the system fits: matrices whose chunks fill a warp
  /// and which have no long rows, and vectors that the scratch of all
  /// multiprocessors holds.
  ResidentPlan plan(const ExecutionSpace& exec) {
    /// Chunks that keep a team from being smaller than a barrier is worth.
    constexpr std::int64_t least_chunks = 8;
    if (!has_resident_teams<ExecutionSpace> ||
        lane_width<ExecutionSpace> != width || A_.num_chunks() == 0 ||
        !fits(A_) || (first_ && !fits(*first_)))
      return {};
    const std::int64_t wanted = std::min<std::int64_t>(
        num_multiprocessors(exec), over(A_.num_chunks(), least_chunks));
    const std::int64_t chunks = over(A_.num_chunks(), wanted);
    teams_ = over(A_.num_chunks(), chunks);
    const std::int64_t first_chunks =
        first_ ? over(first_->num_chunks(), teams_) : 0;
    if (chunks > (1 << 20) || first_chunks > (1 << 20)) return {};
    place_vectors(chunks, first_chunks);
    const std::size_t most_bytes = native_scratch_bytes(exec);
    if (scratch_.used > most_bytes) return {};
    place_matrices(most_bytes);
    constexpr std::int64_t most_warps = Kernel::max_team_size / width;
    const int team_size =
        width * static_cast<int>(
                    std::min(most_warps, std::max<std::int64_t>(4, chunks)));
    if (max_resident_teams<Kernel>(exec, team_size, scratch_.used) < teams_)
      return {};
    plan_.teams = static_cast<int>(teams_);
    plan_.team_size = team_size;
    plan_.scratch_bytes = scratch_.used;
    return plan_;
  }

 private:
  static constexpr int width = Kernel::width;

  static bool fits(const Storage& matrix) {
    return matrix.chunk_lanes() == width && matrix.num_pieces() == 0;
  }
  static std::int64_t over(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
  }

  void place_vectors(std::int64_t chunks, std::int64_t first_chunks) {
    ResidentVectors& at = plan_.at;
    const auto rows = static_cast<std::size_t>(chunks) *
                      static_cast<std::size_t>(A_.chunk_rows);
    scratch_.take(1, sizeof(CgScalars));
    at.rows = static_cast<int>(rows);
    at.sums =
        scratch_.take(ResidentSumRef<width>::scratch_size, sizeof(double));
    at.norms = scratch_.take(most_resident_iterations, sizeof(double));
    for (unsigned* vector : {&at.r, &at.w, &at.p, &at.x})
      *vector = scratch_.take(rows, sizeof(Scalar));
    if (scaled_)
      at.inverse_diagonal = scratch_.take(rows, sizeof(RealOf<Scalar>));
    if (first_) {
      at.diagonal = scratch_.take(rows, sizeof(Scalar));
      at.t = scratch_.take(static_cast<std::size_t>(first_chunks) *
                               static_cast<std::size_t>(first_->chunk_rows),
                           sizeof(Scalar));
    }
    place_chunks(plan_.share, chunks);
    place_chunks(plan_.first, first_chunks);
  }
  void place_chunks(ResidentShare& share, std::int64_t count) {
    share.chunks_of_team = static_cast<int>(count);
    share.chunks_at = scratch_.take(static_cast<std::size_t>(count),
                                    sizeof(ResidentChunk<Scalar>));
  }

  /// What is left holds the matrices, as far as it does.
  void place_matrices(std::size_t most_bytes) {
    const std::size_t left = (most_bytes - scratch_.used) / 16 * 16;
    const std::size_t own = share_bytes(&A_), other = share_bytes(first_);
    const double part =
        own + other <= left
            ? 1.0
            : static_cast<double>(left) / static_cast<double>(own + other);
    const auto give = [&](ResidentShare& share, std::size_t bytes) {
      share.room_at = static_cast<unsigned>(scratch_.used);
      share.room = static_cast<unsigned>(
          static_cast<std::size_t>(part * static_cast<double>(bytes)) / 16 *
          16);
      scratch_.used += share.room;
    };
    give(plan_.share, own);
    give(plan_.first, other);
  }
  /// What a team's share takes, with a quarter more where chunks differ.
  std::size_t share_bytes(const Storage* matrix) const {
    if (!matrix) return 0;
    const std::size_t bytes = matrix->value.extent(0) * sizeof(Scalar) +
                              matrix->column.extent(0) * sizeof(int);
    const std::size_t of_team = bytes / static_cast<std::size_t>(teams_);
    const std::size_t count = std::max<std::size_t>(
        1, static_cast<std::size_t>(over(matrix->num_chunks(), teams_)));
    const std::size_t all =
        of_team +
        of_team / (matrix->uniform_steps > 0 ? count : std::size_t{4}) + 64;
    return (all + 15) / 16 * 16;
  }

  const Storage& A_;
  const Storage* first_;
  bool scaled_;
  std::int64_t teams_ = 0;
  ResidentScratch scratch_;
  ResidentPlan plan_;
};

}  // namespace Detail
}  // namespace Strata

#endif
