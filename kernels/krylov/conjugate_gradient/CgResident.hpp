// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_HPP

// Conjugate gradients of small systems: one launch does many iterations. Its
// teams, one a multiprocessor, run at the same time and keep their rows of the
// matrix and of the vectors in scratch, so that an iteration moves the elements
// of two vectors through the second-level cache and waits for two sums. After
// Zhang et al. 2023 (docs/references.md).

#include <core/device/ResidentSum.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/krylov/conjugate_gradient/CgKernels.hpp>
#include <kernels/krylov/conjugate_gradient/CgResidentPlan.hpp>
#include <kernels/krylov/conjugate_gradient/CgResidentRows.hpp>
#include <kernels/krylov/conjugate_gradient/CgState.hpp>

namespace Strata {
namespace Detail {

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
/// Why it can't deadlock: all teams are resident, and all leave the loop in the
/// same iteration, as each works out the state from the same bits of the same
/// sums. So all come to the same sums and barriers (ResidentSumRef,
/// GridBarrier).
///
/// @tparam reduced the operator is D2 - G F (TwoColourBlocks): the rows of F
/// give t = F p, and a barrier lies between them and the rows of G
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
  using Real = RealOf<Scalar>;
  using Rows = ResidentRows<Scalar>;
  /// What a team has in scratch: numbers, and its rows of vectors.
  struct Own {
    CgScalars* state;
    double *sums, *norms;
    Scalar *r, *w, *p, *x, *diagonal, *t;
    Real* inverse_diagonal;
  };
  /// A thread's place in its team.
  struct Thread {
    int rank, size, lane, warp, warps;
  };

  template <class T>
  KOKKOS_INLINE_FUNCTION static T* place(unsigned char* scratch, unsigned at) {
    return reinterpret_cast<T*>(scratch + at);
  }
  KOKKOS_INLINE_FUNCTION Own own_in(unsigned char* scratch) const {
    const auto vector = [&](unsigned at) { return place<Scalar>(scratch, at); };
    return {place<CgScalars>(scratch, 0),
            place<double>(scratch, plan.at.sums),
            place<double>(scratch, plan.at.norms),
            vector(plan.at.r),
            vector(plan.at.w),
            vector(plan.at.p),
            vector(plan.at.x),
            vector(plan.at.diagonal),
            vector(plan.at.t),
            place<Real>(scratch, plan.at.inverse_diagonal)};
  }
  KOKKOS_INLINE_FUNCTION bool scaled() const {
    return inverse_diagonal != nullptr;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void run(const Team& team) const {
    auto* const scratch = static_cast<unsigned char*>(
        team.team_scratch(0).get_shmem(plan.scratch_bytes));
    const Own own = own_in(scratch);
    const int rank = team.team_rank(), size = team.team_size();
    const Thread thread{rank, size, rank % width, rank / width, size / width};
    const bool leads = rank == 0;

    ResidentTurn turn = sum.begin();
    const Rows rows(A, plan.share, scratch, team.league_rank());
    const Rows first_rows(first, plan.first, scratch, team.league_rank());
    rows.fetch(plan.share, scratch, thread.warp, thread.warps, thread.lane);
    if constexpr (reduced) {
      first_rows.fetch(plan.first, scratch, thread.warp, thread.warps,
                       thread.lane);
    }
    fetch_vectors(rows, own, thread);
    if (leads) *own.state = *shared.state;
    turn.barrier.meet(team);

    int done = 0;
    while (done < count) {
      const int it = iteration + done;
      double value[2] = {0, 0};
      value[0] = multiply(team, rows, first_rows, own, thread, turn, it);
      sum.template operator()<false>(team, own.sums, turn, value);
      if (leads) own.state->take_curvature(value[0]);
      team.team_barrier();
      if (own.state->status != krylov_running) break;

      update(rows, own, thread, it, value);
      sum.template operator()<true>(team, own.sums, turn, value);
      if (leads) {
        CgTakeResidual residual;
        residual.mode = CgTakeResidual::residual;
        residual.sums_rho = true;
        residual.iteration = it;
        residual.max_iterations = max_iterations;
        residual.take(*own.state, value);
        own.norms[done] = sqrt(value[0]);
      }
      ++done;
      team.team_barrier();
      if (own.state->status != krylov_running) break;
    }

    // Others may read r as their z, up to here.
    turn.barrier.meet(team);
    for (int i = rank; i < rows.rows(); i += size) {
      const int row = rows.row(i);
      if (row < 0) continue;
      x(row, 0) = own.x[i];
      r[row] = own.r[i];
    }
    if (team.league_rank() == 0 && leads) {
      sum.end(turn);
      for (int i = 0; i < done; ++i)
        shared.signals.tell_norm(iteration + i, own.norms[i]);
      shared.store(*own.state, shared.next);
    }
  }

  /// The team's rows of vectors, and of the z that others read first.
  KOKKOS_INLINE_FUNCTION void fetch_vectors(const Rows& rows, const Own& own,
                                            const Thread& thread) const {
    for (int i = thread.rank; i < rows.rows(); i += thread.size) {
      const int row = rows.row(i);
      const bool there = row >= 0;
      const Scalar residual = there ? r[row] : Scalar(0);
      own.r[i] = residual;
      own.p[i] = there ? p[(iteration - 1) & 1][row] : Scalar(0);
      own.x[i] = there ? x(row, 0) : Scalar(0);
      own.w[i] = Scalar(0);
      if constexpr (reduced) {
        own.diagonal[i] = there ? diagonal[row] : Scalar(0);
      }
      const Real inverse = there && scaled() ? inverse_diagonal[row] : Real(1);
      if (scaled()) own.inverse_diagonal[i] = inverse;
      if (there) z[(iteration - 1) & 1][row] = inverse * residual;
    }
  }

  /// p and w of iteration `it`. Returns the thread's part of p^H w.
  template <class Team>
  KOKKOS_INLINE_FUNCTION double multiply(const Team& team, const Rows& rows,
                                         const Rows& first_rows, const Own& own,
                                         const Thread& thread,
                                         ResidentTurn& turn, int it) const {
    const auto beta = static_cast<Real>(own.state->beta);
    for (int i = thread.rank; i < rows.rows(); i += thread.size)
      own.p[i] = ResidentDirection<Scalar>::next(
          scaled() ? own.inverse_diagonal[i] * own.r[i] : own.r[i], beta,
          own.p[i]);
    team.team_barrier();
    const ResidentDirection<Scalar> source{
        own.p,           rows.first_row(), rows.rows_in_order(),
        z[(it - 1) & 1], p[(it - 1) & 1],  beta};
    double curvature = 0;
    const auto finish = [&](int i, int, const Scalar& product) {
      const Scalar direction = own.p[i];
      Scalar w = product;
      if constexpr (reduced) {
        w = own.diagonal[i] * direction - product;
      }
      own.w[i] = w;
      curvature += real_product(direction, w);
    };
    if constexpr (reduced) {
      first_rows.multiply(source, thread.warp, thread.warps, thread.lane,
                          [&](int i, int row, const Scalar& product) {
                            own.t[i] = product;
                            t[row] = product;
                          });
      turn.barrier.meet(team);
      rows.multiply(ResidentSource<Scalar>{own.t, first_rows.first_row(),
                                           first_rows.rows_in_order(), t},
                    thread.warp, thread.warps, thread.lane, finish);
    } else {
      rows.multiply(source, thread.warp, thread.warps, thread.lane, finish);
    }
    return curvature;
  }

  /// x, r, z and the p that others read in iteration `it`.
  /// @param value  gets the thread's parts of r^H r and r^H z
  KOKKOS_INLINE_FUNCTION void update(const Rows& rows, const Own& own,
                                     const Thread& thread, int it,
                                     double (&value)[2]) const {
    const auto alpha = static_cast<Real>(own.state->alpha);
    Scalar* const new_z = z[it & 1];
    Scalar* const new_p = p[it & 1];
    value[0] = value[1] = 0;
    for (int i = thread.rank; i < rows.rows(); i += thread.size) {
      const int row = rows.row(i);
      const Scalar direction = own.p[i];
      const Scalar residual = own.r[i] - alpha * own.w[i];
      const Real inverse = scaled() ? own.inverse_diagonal[i] : Real(1);
      if (row >= 0) {
        new_z[row] = scaled() ? inverse * residual : residual;
        new_p[row] = direction;
      }
      own.x[i] = own.x[i] + alpha * direction;
      own.r[i] = residual;
      const double squared = real_product(residual, residual);
      value[0] += squared;
      value[1] += static_cast<double>(inverse) * squared;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
