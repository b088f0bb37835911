// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_EYVAZOV_HPP
#define STRATA_PERF_EYVAZOV_HPP

#include <algorithm>
#include <detail/Strata_PerfDenseProblem.hpp>
#include <stdexcept>

namespace Strata {
namespace PerfTest {

/// One step of a kernel of Eyvazov (2021): rows lose their multiples of the
/// pivot's row in some columns of [A | b], n x (n + 1). A team does a tile of
/// 32 x 32 numbers, a thread of a GPU one of them.
///
/// Tiles II and JI hold the pivot's column: they work out the multipliers of
/// their rows and also update b. Tiles IK and JK, launched after them, read the
/// multipliers. A team keeps those that it needs in scratch.
template <class Scalar, class ExecutionSpace>
struct EyvazovStep {
  static constexpr int tile = 32;
  static constexpr int threads =
      Detail::is_gpu<ExecutionSpace> ? tile * tile : 1;
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<tile * tile, 1>>;
  using Team = typename Policy::member_type;

  struct Range {
    int begin, end;
    KOKKOS_FUNCTION int tiles() const {
      return (end - begin + tile - 1) / tile;
    }
    /// The `index`-th tile's part.
    KOKKOS_FUNCTION Range part(int index) const {
      const int first = begin + index * tile;
      return {first, first + tile < end ? first + tile : end};
    }
    KOKKOS_FUNCTION int size() const { return end - begin; }
  };

  Detail::DenseRef<Scalar> a;
  Scalar* multipliers;  ///< one for each row
  int n, pivot;
  bool has_pivot_column;
  Range rows, columns;

  static constexpr int scratch_bytes() {
    return tile * static_cast<int>(sizeof(Scalar));
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Range mine = rows.part(team.league_rank() % rows.tiles());
    const Range across = columns.part(team.league_rank() / rows.tiles());
    Scalar* const factors =
        static_cast<Scalar*>(team.team_shmem().get_shmem(scratch_bytes()));
    const auto range = [&](int count) {
      return Kokkos::TeamThreadRange(team, count);
    };
    Kokkos::parallel_for(range(mine.size()), [&](int r) {
      const int i = mine.begin + r;
      if (has_pivot_column) multipliers[i] = a(i, pivot) / a(pivot, pivot);
      factors[r] = multipliers[i];
    });
    team.team_barrier();
    Kokkos::parallel_for(range(tile * across.size()), [&](int k) {
      const int r = k % tile, i = mine.begin + r, j = across.begin + k / tile;
      if (i >= mine.end || factors[r] == Scalar(0)) return;
      a(i, j) = j == pivot ? Scalar(0) : a(i, j) - factors[r] * a(pivot, j);
    });
    if (!has_pivot_column) return;
    Kokkos::parallel_for(range(mine.size()), [&](int r) {
      a(mine.begin + r, n) -= factors[r] * a(pivot, n);
    });
  }
};

/// x_i = b_i / a_ii, and ones for the pivots.
template <class Scalar>
struct EyvazovDivide {
  Detail::DenseRef<Scalar> a;
  std::int64_t n;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    a(i, n) /= a(i, i);
    a(i, i) = Scalar(1);
  }
};

/// The GPU program of Eyvazov (2021), sections 5 to 7 and Listings 10 to 38:
/// [A | b] is brought to its reduced row echelon form in stripes of 32 rows, by
/// a sweep down and a sweep up, without pivoting. A stripe's pivots eliminate
/// in the rows of their own stripe first, then in those of the others.
///
/// Two things are not the thesis's. It launches the kernels of each stripe on a
/// stream of its own; here the stripes are teams of one launch. It replaces a
/// row by the pivot's row less a_pp / a_ip times it; rows that a dominant
/// diagonal leads grow by that so fast that they overflow after some hundred
/// steps. Here rows keep their scale, as in its Listing 7. The sweep up still
/// updates the columns left of the pivot's stripe, as the thesis has to.
template <class Scalar>
class EyvazovElimination : public DenseAlgorithm<Scalar> {
  using Problem = DenseProblem<Scalar>;
  using Space = typename Problem::ExecutionSpace;
  using Step = EyvazovStep<Scalar, Space>;
  using Range = typename Step::Range;

 public:
  /// @throws std::runtime_error where there is not one right-hand side
  explicit EyvazovElimination(const Problem& problem)
      : problem_(problem),
        n_(static_cast<int>(problem.n())),
        augmented_("[A | b]", n_, n_ + 1),
        multipliers_("multipliers", n_) {
    if (problem.columns() != 1)
      throw std::runtime_error("eyvazov_2021 takes one right-hand side");
  }

  void run() override {
    Kokkos::deep_copy(exec_, problem_.left_of(augmented_), problem_.A);
    Kokkos::deep_copy(exec_, problem_.right_of(augmented_), problem_.B);
    const int last = (n_ - 1) / Step::tile * Step::tile;
    for (int begin = 0; begin <= last; begin += Step::tile) sweep_down(begin);
    for (int begin = last; begin >= 0; begin -= Step::tile) sweep_up(begin);
    Kokkos::parallel_for("eyvazov_divide",
                         Kokkos::RangePolicy<Space>(exec_, 0, n_),
                         EyvazovDivide<Scalar>{matrix(), n_});
  }
  void publish() override { problem_.take_reduced(augmented_); }

 private:
  Detail::DenseRef<Scalar> matrix() const { return {augmented_.data(), n_}; }
  /// Kernel of tiles II or JI, then that of IK or JK.
  void eliminate(int pivot, const Range& rows, const Range& stripe,
                 const Range& others) const {
    for (const bool first : {true, false}) {
      const Step step{matrix(), multipliers_.data(),    n_, pivot, first,
                      rows,     first ? stripe : others};
      const int tiles = step.rows.tiles() * step.columns.tiles();
      if (tiles <= 0) continue;
      typename Step::Policy policy(exec_, tiles, Step::threads);
      policy.set_scratch_size(0, Kokkos::PerTeam(Step::scratch_bytes()));
      // Light: else the host would wait for the kernel before.
      Kokkos::parallel_for(
          "eyvazov_step",
          Kokkos::Experimental::require(
              policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
          step);
    }
  }
  void sweep_down(int begin) const {
    const int end = std::min(begin + Step::tile, n_);
    for (int p = begin; p + 1 < end; ++p)
      eliminate(p, {p + 1, end}, {p, end}, {end, n_});
    for (int p = begin; p < end; ++p)
      eliminate(p, {end, n_}, {p, end}, {end, n_});
  }
  void sweep_up(int begin) const {
    const int end = std::min(begin + Step::tile, n_);
    for (int p = end - 1; p > begin; --p)
      eliminate(p, {begin, p}, {begin, p + 1}, {0, begin});
    for (int p = end - 1; p >= begin; --p)
      eliminate(p, {0, begin}, {begin, p + 1}, {0, begin});
  }

  const Problem& problem_;
  int n_;
  Space exec_;
  typename Problem::Matrix augmented_;
  Kokkos::View<Scalar*, typename Problem::Memory> multipliers_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
