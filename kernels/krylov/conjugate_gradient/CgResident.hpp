// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_HPP

// Conjugate gradients of small systems: one launch does many iterations. Its
// teams, one a multiprocessor, run at the same time and keep their rows of the
// matrix and of the vectors in scratch, so that an iteration moves the elements
// of two vectors through the second-level cache and waits for two sums. After
// Zhang et al. 2023 (docs/references.md).

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/ResidentLaunch.hpp>
#include <core/device/ResidentSum.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/krylov/conjugate_gradient/CgKernels.hpp>
#include <kernels/krylov/conjugate_gradient/CgState.hpp>
#include <kernels/spmv/SellLane.hpp>
#include <kernels/spmv/SellStorage.hpp>

namespace Strata {
namespace Detail {

/// Iterations of a launch at most.
constexpr int most_resident_iterations = 32;

/// Iterations ahead that a callback has to allow for launches that do half of
/// them to be faster.
constexpr int least_resident_ahead = 16;

/// Where a chunk of a team is: in the matrix, or in scratch.
template <class Scalar>
struct ResidentChunk {
  const Scalar* value;
  const int* column;
  int steps, on_diagonals;
};

/// Shares of the teams of a launch in a matrix whose chunks fill a warp, and
/// where they are in scratch.
struct ResidentShare {
  int chunks_of_team = 0;
  unsigned chunks_at = 0;
  /// For values and columns of as many chunks as there is room for: values from
  /// the beginning on, columns from the end back.
  unsigned room_at = 0, room = 0;
};

/// The chunks of one team.
template <class Scalar>
class ResidentRows {
 public:
  static constexpr int width = 32;

  KOKKOS_INLINE_FUNCTION ResidentRows(const SellRef<Scalar>& A,
                                      const ResidentShare& share,
                                      unsigned char* scratch, int team)
      : A_(A),
        chunk_(reinterpret_cast<ResidentChunk<Scalar>*>(scratch +
                                                        share.chunks_at)),
        first_(std::int64_t{team} * share.chunks_of_team) {
    const std::int64_t left = A.num_chunks - first_;
    count_ =
        static_cast<int>(left < share.chunks_of_team ? (left > 0 ? left : 0)
                                                     : share.chunks_of_team);
  }
  KOKKOS_INLINE_FUNCTION int chunks() const { return count_; }
  /// Rows, those past the end of the matrix included.
  KOKKOS_INLINE_FUNCTION int rows() const { return count_ * A_.chunk_rows; }
  /// Row number i of the team, -1 past the end.
  KOKKOS_INLINE_FUNCTION int row(int i) const {
    return A_.row_at(first_ * A_.chunk_rows + i);
  }

  /// The first row, and how many follow each other from there on: none where
  /// rows are permuted.
  KOKKOS_INLINE_FUNCTION unsigned first_row() const {
    return static_cast<unsigned>(first_ * A_.chunk_rows);
  }
  KOKKOS_INLINE_FUNCTION unsigned rows_in_order() const {
    return A_.order ? 0u : static_cast<unsigned>(rows());
  }

  /// Copies chunks to scratch, as many as fit. Each warp copies the chunks that
  /// it multiplies with: those whose number is its own modulo `warps`.
  KOKKOS_INLINE_FUNCTION void fetch(const ResidentShare& share,
                                    unsigned char* scratch, int warp, int warps,
                                    int lane) const {
    if (count_ == 0) return;
    const SellChunk begin = A_.chunk_at(first_);
    for (int c = warp; c < count_; c += warps) {
      const SellChunk from = A_.chunk_at(first_ + c);
      const std::int64_t slots = std::int64_t{from.steps} * width;
      const std::int64_t columns = from.on_diagonals ? 2 * from.steps : slots;
      const std::int64_t values_at =
          (from.first_slot - begin.first_slot) * sizeof(Scalar);
      const std::int64_t columns_end =
          (from.first_column - begin.first_column +
           sell_columns(slots, from.steps, from.on_diagonals)) *
          sizeof(int);
      ResidentChunk<Scalar> to{A_.value + from.first_slot,
                               A_.column + from.first_column, from.steps,
                               from.on_diagonals};
      if (values_at + slots * static_cast<std::int64_t>(sizeof(Scalar)) +
              columns_end <=
          static_cast<std::int64_t>(share.room)) {
        auto* const value =
            reinterpret_cast<Scalar*>(scratch + share.room_at + values_at);
        auto* const column = reinterpret_cast<int*>(scratch + share.room_at +
                                                    share.room - columns_end);
        for (std::int64_t i = lane; i < slots; i += width)
          value[i] = load_once(to.value + i);
        for (std::int64_t i = lane; i < columns; i += width)
          column[i] = to.column[i];
        to.value = value;
        to.column = column;
      }
      if (lane == 0) chunk_[c] = to;
    }
    lane_barrier();
  }

  /// For each of the warp's chunks: finish(i, row, product) by the first lane
  /// of each row, number i of the team.
  template <class Source, class Finish>
  KOKKOS_INLINE_FUNCTION void multiply(const Source& source, int warp,
                                       int warps, int lane,
                                       const Finish& finish) const {
    // The loads of as many slots under way as registers have room for.
    using Lane =
        SellLane<Scalar, 1, sizeof(Scalar) < 16 ? 8 : 4, SlotsAnywhere>;
    const int lanes = 1 << A_.log_lanes;
    for (int c = warp; c < count_; c += warps) {
      const ResidentChunk<Scalar> chunk = chunk_[c];
      const int i = c * A_.chunk_rows + (lane >> A_.log_lanes);
      const int row = this->row(i);
      Scalar sum[1] = {Scalar(0)};
      if (chunk.on_diagonals)
        Lane::add_diagonals(source, chunk.value + lane,
                            reinterpret_cast<const DiagonalStep*>(chunk.column),
                            chunk.steps, width, lane, row, sum);
      else
        Lane::add_columns(source, chunk.value + lane, chunk.column + lane,
                          chunk.steps, width, sum);
      if (lanes > 1) sum[0] = lane_group_sum(sum[0], lanes);
      if (row >= 0 && (lane & (lanes - 1)) == 0) finish(i, row, sum[0]);
    }
  }

 private:
  const SellRef<Scalar>& A_;
  ResidentChunk<Scalar>* chunk_;
  std::int64_t first_;
  int count_;
};

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

/// Elements of a vector of which a team has its own rows in scratch.
template <class Scalar>
struct ResidentSource {
  using Item = Scalar;
  const Scalar* own;
  unsigned first_row, rows;
  const Scalar* all;
  KOKKOS_INLINE_FUNCTION Item fetch(int row) const {
    const unsigned i = static_cast<unsigned>(row) - first_row;
    const Scalar* const at = i < rows ? own + i : all + row;
    return row >= 0 ? *at : Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION Scalar value(const Item& item) const { return item; }
};
/// The same of p = z + beta p, of which there are z and the old p: both are
/// fetched before either is used, for several elements together.
template <class Scalar>
struct ResidentDirection {
  struct Item {
    Scalar first, old_p;
    bool own;
  };
  const Scalar* own;
  unsigned first_row, rows;
  const Scalar *z, *old_p;
  RealOf<Scalar> beta;
  KOKKOS_INLINE_FUNCTION Item fetch(int row) const {
    const unsigned i = static_cast<unsigned>(row) - first_row;
    const bool is_own = row < 0 || i < rows;
    const Scalar* const at = i < rows ? own + i : z + row;
    return {row >= 0 ? *at : Scalar(0), is_own ? Scalar(0) : old_p[row],
            is_own};
  }
  KOKKOS_INLINE_FUNCTION Scalar value(const Item& item) const {
    const Scalar made = next(item.first, beta, item.old_p);
    return item.own ? item.first : made;
  }
  /// The same bits wherever it is worked out.
  KOKKOS_INLINE_FUNCTION static Scalar next(const Scalar& z,
                                            RealOf<Scalar> beta,
                                            const Scalar& old_p) {
    return z + beta * old_p;
  }
};

/// `count` iterations from number `iteration` on, or up to the one that ends
/// the solve.
///
/// An iteration is
///
///     p = z + beta p,  w = A p,  p^H w                 the first sum
///     x += alpha p,  r -= alpha w,  z = D^-1 r,
///     r^H r and r^H z                                  the second sum
///
/// A team multiplies with elements of p that other teams have. It works them
/// out from their z and p of the iteration before, so that p needs no barrier
/// of its own: only the second sum is a barrier. Of z and p there are two
/// vectors in turn. Iteration i stores number i % 2 behind its first sum, and
/// others read it before the first sum of iteration i + 1, and between these
/// and iteration i + 2 lies the second sum of i + 1.
///
/// @tparam reduced the operator is D2 - G F (TwoColourBlocks): the rows of F
/// give
///   t = F p, and a barrier lies between them and the rows of G
template <class Scalar, class ExecutionSpace, bool reduced>
struct CgResident {
  static constexpr int max_team_size = 1024;
  static constexpr int width = 32;

  ResidentPlan plan;
  SellRef<Scalar> A;      // G where `reduced`
  SellRef<Scalar> first;  // F; else not used
  const Scalar* diagonal;
  Scalar* t;
  const RealOf<Scalar>* inverse_diagonal;  // null: 1
  Scalar* r;
  Scalar *z[2], *p[2];  // those of iteration i are number i % 2
  MultiVectorRef<Scalar> x;
  CgShared shared;
  ResidentSumRef<width> sum;
  int iteration, count, max_iterations;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (shared.state->status == krylov_running) {
      run(team);
    } else if (team.league_rank() == 0 && team.team_rank() == 0) {
      shared.store(*shared.state, shared.next);
    }
  }

 private:
  template <class T>
  KOKKOS_INLINE_FUNCTION static T* place(unsigned char* scratch, unsigned at) {
    return reinterpret_cast<T*>(scratch + at);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void run(const Team& team) const {
    using Real = RealOf<Scalar>;
    auto* const scratch = static_cast<unsigned char*>(
        team.team_scratch(0).get_shmem(plan.scratch_bytes));
    auto* const state = place<CgScalars>(scratch, 0);
    auto* const sums = place<double>(scratch, plan.at.sums);
    auto* const norms = place<double>(scratch, plan.at.norms);
    auto* const own_r = place<Scalar>(scratch, plan.at.r);
    auto* const own_w = place<Scalar>(scratch, plan.at.w);
    auto* const own_p = place<Scalar>(scratch, plan.at.p);
    auto* const own_x = place<Scalar>(scratch, plan.at.x);
    auto* const own_inverse = place<Real>(scratch, plan.at.inverse_diagonal);
    auto* const own_diagonal = place<Scalar>(scratch, plan.at.diagonal);
    auto* const own_t = place<Scalar>(scratch, plan.at.t);
    const int rank = team.team_rank(), size = team.team_size();
    const int lane = rank % width, warp = rank / width, warps = size / width;
    const bool leads = rank == 0;
    const bool scaled = inverse_diagonal != nullptr;

    ResidentTurn turn = sum.begin();
    const ResidentRows<Scalar> rows(A, plan.share, scratch, team.league_rank());
    const ResidentRows<Scalar> first_rows(first, plan.first, scratch,
                                          team.league_rank());
    rows.fetch(plan.share, scratch, warp, warps, lane);
    if constexpr (reduced) {
      first_rows.fetch(plan.first, scratch, warp, warps, lane);
    }
    for (int i = rank; i < rows.rows(); i += size) {
      const int row = rows.row(i);
      const bool there = row >= 0;
      const Scalar residual = there ? r[row] : Scalar(0);
      own_r[i] = residual;
      own_p[i] = there ? p[(iteration - 1) & 1][row] : Scalar(0);
      own_x[i] = there ? x(row, 0) : Scalar(0);
      own_w[i] = Scalar(0);
      if constexpr (reduced) {
        own_diagonal[i] = there ? diagonal[row] : Scalar(0);
      }
      const Real inverse = there && scaled ? inverse_diagonal[row] : Real(1);
      if (scaled) own_inverse[i] = inverse;
      if (there) z[(iteration - 1) & 1][row] = inverse * residual;
    }
    if (leads) *state = *shared.state;
    turn.barrier.meet(team);

    int done = 0;
    while (done < count) {
      const int it = iteration + done;
      const auto beta = static_cast<Real>(state->beta);
      for (int i = rank; i < rows.rows(); i += size)
        own_p[i] = ResidentDirection<Scalar>::next(
            scaled ? own_inverse[i] * own_r[i] : own_r[i], beta, own_p[i]);
      team.team_barrier();
      const ResidentDirection<Scalar> source{
          own_p,           rows.first_row(), rows.rows_in_order(),
          z[(it - 1) & 1], p[(it - 1) & 1],  beta};
      double value[2] = {0, 0};
      const auto finish = [&](int i, int, const Scalar& product) {
        const Scalar own = own_p[i];
        Scalar w = product;
        if constexpr (reduced) {
          w = own_diagonal[i] * own - product;
        }
        own_w[i] = w;
        value[0] += real_product(own, w);
      };
      if constexpr (reduced) {
        first_rows.multiply(source, warp, warps, lane,
                            [&](int i, int row, const Scalar& product) {
                              own_t[i] = product;
                              t[row] = product;
                            });
        turn.barrier.meet(team);
        rows.multiply(ResidentSource<Scalar>{own_t, first_rows.first_row(),
                                             first_rows.rows_in_order(), t},
                      warp, warps, lane, finish);
      } else {
        rows.multiply(source, warp, warps, lane, finish);
      }
      sum.template operator()<false>(team, sums, turn, value);
      if (leads) state->take_curvature(value[0]);
      team.team_barrier();
      if (state->status != krylov_running) break;

      const auto alpha = static_cast<Real>(state->alpha);
      Scalar* const new_z = z[it & 1];
      Scalar* const new_p = p[it & 1];
      value[0] = value[1] = 0;
      for (int i = rank; i < rows.rows(); i += size) {
        const int row = rows.row(i);
        const Scalar direction = own_p[i];
        const Scalar residual = own_r[i] - alpha * own_w[i];
        const Real inverse = scaled ? own_inverse[i] : Real(1);
        if (row >= 0) {
          new_z[row] = scaled ? inverse * residual : residual;
          new_p[row] = direction;
        }
        own_x[i] = own_x[i] + alpha * direction;
        own_r[i] = residual;
        const double squared = real_product(residual, residual);
        value[0] += squared;
        value[1] += static_cast<double>(inverse) * squared;
      }
      sum.template operator()<true>(team, sums, turn, value);
      if (leads) {
        CgTakeResidual residual;
        residual.mode = CgTakeResidual::residual;
        residual.sums_rho = true;
        residual.iteration = it;
        residual.max_iterations = max_iterations;
        residual.take(*state, value);
        norms[done] = sqrt(value[0]);
      }
      ++done;
      team.team_barrier();
      if (state->status != krylov_running) break;
    }

    // Others may read r as their z, up to here.
    turn.barrier.meet(team);
    for (int i = rank; i < rows.rows(); i += size) {
      const int row = rows.row(i);
      if (row < 0) continue;
      x(row, 0) = own_x[i];
      r[row] = own_r[i];
    }
    if (team.league_rank() == 0 && leads) {
      sum.end(turn);
      for (int i = 0; i < done; ++i)
        shared.signals.tell_norm(iteration + i, norms[i]);
      shared.store(*state, shared.next);
    }
  }
};

/// Shares out a system, where it fits: matrices whose chunks fill a warp and
/// which have no long rows, and vectors that the scratch of all multiprocessors
/// holds. `first` may be null.
/// @param scaled whether there is a diagonal preconditioner
template <class Kernel, class Scalar, class ExecutionSpace>
ResidentPlan plan_resident(
    const ExecutionSpace& exec,
    const SellStorage<Scalar, typename ExecutionSpace::memory_space>& A,
    const SellStorage<Scalar, typename ExecutionSpace::memory_space>* first,
    bool scaled) {
  using Storage = SellStorage<Scalar, typename ExecutionSpace::memory_space>;
  constexpr int width = Kernel::width;
  /// Chunks that keep a team from being smaller than a barrier is worth.
  constexpr int least_chunks = 8;
  ResidentPlan plan;
  const auto fits = [](const Storage& matrix) {
    return matrix.chunk_lanes() == width && matrix.num_pieces() == 0;
  };
  if (!has_resident_teams<ExecutionSpace> ||
      lane_width<ExecutionSpace> != width || A.num_chunks() == 0 || !fits(A) ||
      (first && !fits(*first)))
    return plan;
  const std::int64_t most_teams = num_multiprocessors(exec);
  const auto over = [](std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
  };
  const std::int64_t wanted =
      std::min(most_teams, over(A.num_chunks(), least_chunks));
  const std::int64_t chunks = over(A.num_chunks(), wanted);
  const std::int64_t teams = over(A.num_chunks(), chunks);
  const std::int64_t first_chunks =
      first ? over(first->num_chunks(), teams) : 0;
  if (chunks > (1 << 20) || first_chunks > (1 << 20)) return plan;
  const std::size_t most_bytes = native_scratch_bytes(exec);
  std::size_t at = 0;
  const auto take = [&](std::size_t count, std::size_t size) {
    const std::size_t begin = at;
    at += (count * size + 15) / 16 * 16;
    return static_cast<unsigned>(begin);
  };
  const auto rows =
      static_cast<std::size_t>(chunks) * static_cast<std::size_t>(A.chunk_rows);
  take(1, sizeof(CgScalars));
  plan.at.rows = static_cast<int>(rows);
  plan.at.sums = take(ResidentSumRef<width>::scratch_size, sizeof(double));
  plan.at.norms = take(most_resident_iterations, sizeof(double));
  for (unsigned* vector : {&plan.at.r, &plan.at.w, &plan.at.p, &plan.at.x})
    *vector = take(rows, sizeof(Scalar));
  if (scaled) plan.at.inverse_diagonal = take(rows, sizeof(RealOf<Scalar>));
  if (first) {
    plan.at.diagonal = take(rows, sizeof(Scalar));
    plan.at.t = take(static_cast<std::size_t>(first_chunks) *
                         static_cast<std::size_t>(first->chunk_rows),
                     sizeof(Scalar));
  }
  const auto place = [&](ResidentShare& share, std::int64_t count) {
    share.chunks_of_team = static_cast<int>(count);
    share.chunks_at =
        take(static_cast<std::size_t>(count), sizeof(ResidentChunk<Scalar>));
  };
  place(plan.share, chunks);
  place(plan.first, first_chunks);
  if (at > most_bytes) return plan;
  const auto align = [](std::size_t bytes) { return (bytes + 15) / 16 * 16; };

  // What is left holds the matrices, as far as it does: what a team's share
  // takes, with a quarter more where chunks differ.
  const auto share_bytes = [&](const Storage* matrix) {
    if (!matrix) return std::size_t{0};
    const std::size_t bytes = matrix->value.extent(0) * sizeof(Scalar) +
                              matrix->column.extent(0) * sizeof(int);
    const std::size_t of_team = bytes / static_cast<std::size_t>(teams);
    const std::size_t count = std::max<std::size_t>(
        1, static_cast<std::size_t>(over(matrix->num_chunks(), teams)));
    return align(
        of_team +
        of_team / (matrix->uniform_steps > 0 ? count : std::size_t{4}) + 64);
  };
  const std::size_t left = (most_bytes - at) / 16 * 16;
  const std::size_t own = share_bytes(&A), other = share_bytes(first);
  const double part =
      own + other <= left
          ? 1.0
          : static_cast<double>(left) / static_cast<double>(own + other);
  const auto give = [&](ResidentShare& share, std::size_t bytes) {
    share.room_at = static_cast<unsigned>(at);
    share.room = static_cast<unsigned>(
        static_cast<std::size_t>(part * static_cast<double>(bytes)) / 16 * 16);
    at += share.room;
  };
  give(plan.share, own);
  give(plan.first, other);
  const std::int64_t most_warps = Kernel::max_team_size / width;
  const int team_size =
      width *
      static_cast<int>(std::min(most_warps, std::max<std::int64_t>(4, chunks)));
  if (max_resident_teams<Kernel>(exec, team_size, at) < teams) return plan;
  plan.teams = static_cast<int>(teams);
  plan.team_size = team_size;
  plan.scratch_bytes = at;
  return plan;
}

}  // namespace Detail
}  // namespace Strata

#endif
