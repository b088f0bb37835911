// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_BAND_ALGORITHM_HPP
#define STRATA_KERNELS_BAND_BAND_ALGORITHM_HPP

#include <core/device/DeviceInfo.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/band/BandInput.hpp>
#include <kernels/band/TileSolvePlan.hpp>
#include <kernels/band/TileVectorTask.hpp>
#include <memory>
#include <vector>

namespace Strata {
namespace Detail {

/// Factors of band matrices and their use. Everything is enqueued on `exec`.
template <class Scalar, class ExecutionSpace>
class BandAlgorithm {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Real = RealOf<Scalar>;
  using Scale = Kokkos::View<Real*, Memory>;
  using Fault = Kokkos::View<unsigned long long*, Memory>;

  virtual ~BandAlgorithm() = default;
  /// @param scale what a pivot of each row is measured by
  virtual void factor(const ExecutionSpace& exec, const BandRef<Scalar>& A,
                      const Scale& scale, const Fault& fault, Real small) = 0;
  /// Checks a matrix and factorises it in fewer passes than check_band and
  /// `factor`, if the algorithm has such a way. Writes into `scale`.
  /// @returns whether there are factors, of a matrix without fault; else the
  ///   former two have to find out what is wrong with it
  virtual bool factor_checked(const ExecutionSpace&, const BandRef<Scalar>&,
                              const Scale&, Real) {
    return false;
  }
  virtual void solve(const ExecutionSpace& exec,
                     const BatchVectorRef<const Scalar>& b,
                     const BatchVectorRef<Scalar>& x,
                     std::int64_t columns) const = 0;
  /// Makes what room solves of up to `columns` right-hand sides need beyond
  /// that there is, if the algorithm was told to; true if it made some.
  virtual bool reserve(const ExecutionSpace&, std::int64_t) { return false; }
  /// @throws FailedAllocation where memory does not hold what `reserve` would
  ///   allocate
  virtual void require_room(const ExecutionSpace&, std::int64_t) const {}
  /// The place, system * size + row, of a pivot that a factorisation noted by
  /// its number in the order of elimination. Waits.
  virtual std::int64_t place_of_pivot(const ExecutionSpace&,
                                      std::int64_t pivot) const {
    return pivot;
  }
  virtual std::size_t bytes() const = 0;
  /// Row that each row was exchanged with, system after system; empty where
  /// none is.
  virtual Kokkos::View<const std::int64_t*, Memory> pivots() const {
    return {};
  }
};

struct NoPivots {
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t, const Scalar&) const {}
};

/// Block factors in B x B tiles (LuTiles or DissectedTiles), made
/// by one launch and used by one launch for each max_right_hand_sides.
template <class Scalar, class ExecutionSpace, int B,
          template <class, int> class FactorsOf>
class TileAlgorithm : public BandAlgorithm<Scalar, ExecutionSpace> {
  using Base = BandAlgorithm<Scalar, ExecutionSpace>;
  using Memory = typename Base::Memory;
  using Real = typename Base::Real;
  using Factors = FactorsOf<Scalar, B>;
  using State = Kokkos::View<unsigned*, Memory>;

 public:
  /// Right-hand sides of one vector task. Up to 16 such tasks a block row are
  /// faster than whole tiles, of which one takes more time to pass on: beyond,
  /// reading the factors once for each task costs more.
  static constexpr int block_width = sizeof(Scalar) > 8 ? 4 : 8;
  static constexpr int most_blocks = 16;
  /// Right-hand sides of one launch where the options set no number: the
  /// workspace for them is as large as they and the solutions.
  static constexpr int most_columns = 1024;

  /// @param max_right_hand_sides of one launch; 0: room is made as solves need
  /// it
  TileAlgorithm(const ExecutionSpace& exec, std::int64_t size,
                std::int64_t lower, std::int64_t upper, int batch,
                int max_right_hand_sides)
      : size_(size),
        multiprocessors_(num_multiprocessors(exec)),
        below_(static_cast<int>((lower + B - 1) / B)),
        above_(static_cast<int>((upper + B - 1) / B)),
        factors_(Factors::make((size + B - 1) / B, below_, above_, batch,
                               Storage{exec, *this})),
        grows_(max_right_hand_sides == 0) {
    one_ = allocate(exec, "Strata::Band::vector", 4 * rows());
    reset(exec, one_);
    make_zeroed(factor_flag_, "Strata::Band::factor_flag",
                factors_.num_tiles());
    for (auto* state :
         {&factor_state_, &one_state_, &several_state_, &many_state_})
      make_zeroed(*state, "Strata::Band::state", TaskState::size);
    make_room(exec, max_right_hand_sides);
  }

  void factor(const ExecutionSpace& exec, const BandRef<Scalar>& A,
              const typename Base::Scale& scale,
              const typename Base::Fault& fault, Real small) override {
    const int width = below_ + 1 + above_;
    for_each_index("Strata::Band::pack", exec,
                   factors_.blocks * width * A.batch * B * B,
                   PackTiles<Scalar, ExecutionSpace, B, Factors>{
                       A, factors_, below_, above_});
    const Pivots pivots{scale, fault, small, size_, factors_};
    launch_tile_tasks<B == 64 ? 2 : 4>(
        exec, "Strata::Band::factor",
        RunTileTasks<Scalar, ExecutionSpace, B, Factors, Pivots>{
            factors_, pivots, factor_flag_, factor_state_},
        factors_.useful(), multiprocessors_);
  }

  void solve(const ExecutionSpace& exec, const BatchVectorRef<const Scalar>& b,
             const BatchVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    const std::int64_t capacity =
        grows_            ? most_columns
        : max_groups_ > 0 ? std::int64_t{max_groups_} * B
        : max_blocks_ > 0 ? std::int64_t{max_blocks_} * block_width
                          : 1;
    for (std::int64_t first = 0; first < columns;) {
      const int now =
          static_cast<int>(std::min<std::int64_t>(columns - first, capacity));
      if (now == 1)
        solve_vectors<1>(exec, b.from(first), x.from(first), now, one_, 1,
                         one_state_);
      else if (now <= max_blocks_ * block_width)
        solve_vectors<block_width>(exec, b.from(first), x.from(first), now,
                                   several_, max_blocks_, several_state_);
      else
        solve_tiles(exec, b.from(first), x.from(first), now);
      first += now;
    }
  }

  bool reserve(const ExecutionSpace& exec, std::int64_t columns) override {
    if (!grows_ || !needs_room(std::min<std::int64_t>(columns, most_columns)))
      return false;
    // Solves may be under way that use what is given back here.
    Kokkos::fence();
    make_room(exec, std::min<std::int64_t>(columns, most_columns));
    exec.fence();
    return true;
  }

  void require_room(const ExecutionSpace& exec,
                    std::int64_t columns) const override {
    columns = std::min<std::int64_t>(columns, most_columns);
    if (!grows_ || !needs_room(columns)) return;
    const std::int64_t scalars = scalars_of_blocks(blocks_for(columns)) +
                                 scalars_of_groups(groups_for(columns));
    // Memory that was freed may be there without being told as free.
    if (memory_info<Memory>().free <=
        static_cast<std::size_t>(scalars) * sizeof(Scalar))
      allocate(exec, "Strata::Band::room", scalars);
  }

  std::int64_t place_of_pivot(const ExecutionSpace& exec,
                              std::int64_t pivot) const override {
    const Pivots pivots{{}, {}, Real(0), size_, factors_};
    std::int64_t place = 0;
    Kokkos::parallel_reduce("Strata::Band::place_of_pivot",
                            RangeOf<ExecutionSpace>(exec, pivot, pivot + 1),
                            FindPlaceOfPivot<Pivots>{pivots}, place);
    return place;
  }

  std::size_t bytes() const override {
    return list_bytes_ +
           (tiles_.extent(0) + one_.extent(0) + several_.extent(0) +
            many_.extent(0)) *
               sizeof(Scalar) +
           (factor_flag_.extent(0) + solve_flag_.extent(0)) * sizeof(unsigned);
  }

 private:
  using Vector = Kokkos::View<Scalar*, Memory>;
  using Pivots = NotePivots<Scalar, ExecutionSpace, B, Factors>;

  /// Of the factors, which have pointers to it.
  struct Storage {
    const ExecutionSpace& exec;
    TileAlgorithm& owner;

    Scalar* make_tiles(std::int64_t tiles) const {
      owner.tiles_ = allocate(exec, "Strata::Band::tiles", tiles * B * B);
      return owner.tiles_.data();
    }
    template <class T>
    const T* keep(const std::vector<T>& list) const {
      return owner.keep(list);
    }
  };

  template <class T>
  const T* keep(const std::vector<T>& list) {
    using List = Kokkos::View<T*, Memory>;
    const auto kept = std::make_shared<const List>(
        to_device<T, Memory>("Strata::Band::list", list));
    lists_.push_back(kept);
    list_bytes_ += list.size() * sizeof(T);
    return kept->data();
  }

  static Vector allocate(const ExecutionSpace& exec, const char* label,
                         std::int64_t size) {
    return make_unfilled<Vector>(exec, label, static_cast<std::size_t>(size));
  }
  static void reset(const ExecutionSpace& exec, const Vector& buffer) {
    for_each_index("Strata::Band::reset", exec, buffer.extent(0),
                   ResetNotReady<Scalar, Memory>{buffer});
  }

  std::int64_t rows() const { return factors_.blocks * B * factors_.batch; }
  /// Vector tasks and tiles of a block row that `columns` right-hand sides
  /// need.
  static int blocks_for(std::int64_t columns) {
    const std::int64_t blocks = (columns + block_width - 1) / block_width;
    return columns > 1
               ? static_cast<int>(std::min<std::int64_t>(most_blocks, blocks))
               : 0;
  }
  static int groups_for(std::int64_t columns) {
    return columns > most_blocks * block_width
               ? static_cast<int>((columns + B - 1) / B)
               : 0;
  }
  std::int64_t scalars_of_blocks(int blocks) const {
    return 4 * rows() * blocks * block_width;
  }
  std::int64_t scalars_of_groups(int groups) const {
    return 2 * rows() * B * groups;
  }
  bool needs_room(std::int64_t columns) const {
    return blocks_for(columns) > max_blocks_ ||
           groups_for(columns) > max_groups_;
  }
  /// Frees the old workspace first, as memory may not hold both.
  void make_room(const ExecutionSpace& exec, std::int64_t columns) {
    if (const int blocks = blocks_for(columns); blocks > max_blocks_) {
      several_ = Vector();
      max_blocks_ = 0;
      several_ =
          allocate(exec, "Strata::Band::vectors", scalars_of_blocks(blocks));
      reset(exec, several_);
      max_blocks_ = blocks;
    }
    if (const int groups = groups_for(columns); groups > max_groups_) {
      many_ = Vector();
      solve_flag_ = State();
      max_groups_ = 0;
      many_ = allocate(exec, "Strata::Band::right_hand_sides",
                       scalars_of_groups(groups));
      make_zeroed(solve_flag_, "Strata::Band::solve_flag",
                  2 * factors_.blocks * factors_.batch * groups);
      max_groups_ = groups;
    }
  }

  template <int width>
  auto plan(const BatchVectorRef<const Scalar>& b,
            const BatchVectorRef<Scalar>& x, int columns, const Vector& results,
            int max_groups) const {
    TileSolvePlan<Scalar, B, width, Factors> plan;
    plan.factors = factors_;
    plan.b = b;
    plan.x = x;
    plan.rows = size_;
    plan.columns = columns;
    plan.max_groups = max_groups;
    const std::int64_t one_way = plan.tiles_of_one_direction() * B * width;
    plan.forward = results.data();
    plan.backward = results.data() + one_way;
    plan.set_size = 2 * one_way;
    return plan;
  }
  template <int width>
  void solve_vectors(const ExecutionSpace& exec,
                     const BatchVectorRef<const Scalar>& b,
                     const BatchVectorRef<Scalar>& x, int columns,
                     const Vector& results, int max_groups,
                     const State& state) const {
    const auto p = plan<width>(b, x, columns, results, max_groups);
    using Plan = TileSolvePlan<Scalar, B, width, Factors>;
    launch_tile_tasks<B == 64 ? 2 : 4>(
        exec, "Strata::Band::solve",
        RunVectorTasks<Scalar, ExecutionSpace, B, width, Plan>{p, state},
        p.useful(), multiprocessors_);
  }
  void solve_tiles(const ExecutionSpace& exec,
                   const BatchVectorRef<const Scalar>& b,
                   const BatchVectorRef<Scalar>& x, int columns) const {
    const auto p = plan<B>(b, x, columns, many_, max_groups_);
    using Plan = TileSolvePlan<Scalar, B, B, Factors>;
    launch_tile_tasks<B == 64 ? 2 : 4>(
        exec, "Strata::Band::solve",
        RunTileTasks<Scalar, ExecutionSpace, B, Plan, NoPivots>{
            p, {}, solve_flag_, many_state_},
        p.useful(), multiprocessors_);
  }

  std::int64_t size_;
  int multiprocessors_, below_, above_;
  // What factors_ points to.
  Vector tiles_;
  std::vector<std::shared_ptr<const void>> lists_;
  std::size_t list_bytes_ = 0;
  Factors factors_;
  bool grows_;
  int max_blocks_ = 0, max_groups_ = 0;  ///< that there is room for
  Vector one_, several_, many_;
  State factor_flag_, solve_flag_;
  State factor_state_, one_state_, several_state_, many_state_;
};

}  // namespace Detail
}  // namespace Strata

#endif
