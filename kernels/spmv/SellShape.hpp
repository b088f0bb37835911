// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_SHAPE_HPP
#define STRATA_KERNELS_SPMV_SELL_SHAPE_HPP

#include <Strata_Error.hpp>
#include <Strata_SellOptions.hpp>
#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Sort.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// C, T, the length of long rows and that of their pieces.
struct SellShape {
  int chunk_rows = 1, log_lanes = 0;
  std::int64_t long_row = 0;
  int piece_entries = 0;

  /// Slots a lane has of a row of `length` entries.
  KOKKOS_INLINE_FUNCTION int steps(int length) const {
    if (length > long_row) return 0;
    return static_cast<int>(
        (static_cast<std::int64_t>(length) + (1 << log_lanes) - 1) >>
        log_lanes);
  }
};

/// @throws OptionError
template <class ExecutionSpace>
void check_sell_options(const SellOptions& options) {
  constexpr int width = lane_width<ExecutionSpace>;
  const int lanes = options.lanes_per_row;
  if (options.chunk_rows < 0 || options.chunk_rows > 1048576)
    throw OptionError(
        "chunk_rows",
        std::to_string(options.chunk_rows) + " is not from 1 to 1048576",
        "choose C in that range, or 0 for the default");
  if (options.sigma < 0)
    throw OptionError("sigma", std::to_string(options.sigma) + " is negative",
                      "choose at least 1, or 0 for the default");
  if (lanes < 0 || lanes > width || (lanes & (lanes - 1)) != 0)
    throw OptionError("lanes_per_row",
                      std::to_string(lanes) +
                          " is not a power of two from 1 to " +
                          std::to_string(width),
                      "choose one, or 0 for the default");
  if (options.long_row < 0)
    throw OptionError("long_row",
                      std::to_string(options.long_row) + " is negative",
                      "choose at least 1, or 0 for the default");
}

/// Lanes on each multiprocessor that hide the latency of one step after the
/// other. Fewer do where rows have about as many entries each.
inline std::int64_t lanes_that_hide_steps(std::int64_t rows,
                                          std::int64_t entries,
                                          std::int64_t longest_row) {
  constexpr std::int64_t all = 1024, least = 160, of_an_entry = 20;
  rows = std::max<std::int64_t>(1, rows);
  if (longest_row * rows > 4 * entries) return all;
  return std::min(all, std::max(least, of_an_entry * entries / rows));
}

/// Rows of many entries get several lanes where there are too few rows to hide
/// the latency of one step after the other, or where one lane would have more
/// than some dozens of steps. A long row is one whose lanes, were it left in a
/// chunk, would still be busy when a quarter of the product's time is over (or
/// 32 steps, whatever the time): eight steps, whose loads are under way
/// together, are taken to cost 0.6 us, and the product that of its bytes at 4
/// TB/s.
template <class ExecutionSpace>
SellShape choose_sell_shape(const ExecutionSpace& exec, std::int64_t rows,
                            std::int64_t entries, std::int64_t longest_row,
                            std::size_t scalar_bytes,
                            const SellOptions& options) {
  constexpr int width = lane_width<ExecutionSpace>;
  SellShape shape;
  const std::int64_t mean = rows > 0 ? entries / rows : 0;
  const std::int64_t enough = num_multiprocessors(exec) *
                              lanes_that_hide_steps(rows, entries, longest_row);
  if (options.lanes_per_row > 0) {
    while ((1 << shape.log_lanes) < options.lanes_per_row) ++shape.log_lanes;
  } else if (width > 1) {
    const auto lanes = [&] { return std::int64_t{1} << shape.log_lanes; };
    while (lanes() < width && mean >= 4 * lanes() &&
           (rows * lanes() < enough || mean > 64 * lanes()))
      ++shape.log_lanes;
  }
  shape.chunk_rows =
      options.chunk_rows > 0
          ? options.chunk_rows
          : (width > 1 ? std::max(1, width >> shape.log_lanes) : 8);

  const double seconds = static_cast<double>(entries) *
                         static_cast<double>(scalar_bytes + 4) / 4e12;
  std::int64_t steps = 4096;
  if (width > 1)
    steps = std::min<std::int64_t>(
        2048, std::max<std::int64_t>(
                  32, static_cast<std::int64_t>(8 * 0.25 * seconds / 0.6e-6)));
  shape.long_row =
      options.long_row > 0 ? options.long_row : steps << shape.log_lanes;
  shape.piece_entries =
      static_cast<int>(std::min<std::int64_t>(steps, width > 1 ? 128 : 4096)) *
      width;
  return shape;
}

/// Key that sorts rows by window, then by falling length.
template <class MemorySpace>
struct SellSortKeys {
  Kokkos::View<const int*, MemorySpace> length;
  Kokkos::View<std::uint64_t*, MemorySpace> key;
  Kokkos::View<int*, MemorySpace> row;
  SellShape shape;
  std::int64_t sigma;
  int most_steps, step_bits;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    key(i) = (static_cast<std::uint64_t>(i / sigma) << step_bits) |
             static_cast<std::uint64_t>(most_steps - shape.steps(length(i)));
    row(i) = static_cast<int>(i);
  }
};

/// Steps of chunk c: those of its longest row, long ones aside.
template <class MemorySpace>
struct SellChunkSteps {
  Kokkos::View<const int*, MemorySpace> length;
  Kokkos::View<const int*, MemorySpace> order;  // may be empty
  SellShape shape;
  std::int64_t rows;
  KOKKOS_INLINE_FUNCTION int operator()(std::int64_t c) const {
    const std::int64_t begin = c * shape.chunk_rows;
    const std::int64_t end =
        begin + shape.chunk_rows < rows ? begin + shape.chunk_rows : rows;
    int most = 0;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t row = order.extent(0) ? order(p) : p;
      const int steps = row < 0 ? 0 : shape.steps(length(row));
      most = steps > most ? steps : most;
    }
    return most;
  }
};

template <class MemorySpace>
struct SumChunkSteps {
  SellChunkSteps<MemorySpace> steps;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c,
                                         std::int64_t& sum) const {
    sum += steps(c);
  }
};

/// Order of rows within the chunks.
template <class MemorySpace>
struct SellOrder {
  Kokkos::View<int*, MemorySpace> row;  // by permuted row; empty: unchanged
  std::int64_t sigma = 1;
  std::int64_t chunk_slots = 0;
};

/// Sorts as options.sigma says, or tries what sorting gains.
/// Cost: for each sigma tried above 1, a radix sort of the rows and a pass over
/// their lengths. Waits for `exec`.
template <class ExecutionSpace>
SellOrder<typename ExecutionSpace::memory_space> find_sell_order(
    const ExecutionSpace& exec,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& length,
    const SellShape& shape, std::int64_t longest, std::int64_t chunk_entries,
    std::int64_t wanted_sigma) {
  using Memory = typename ExecutionSpace::memory_space;
  const auto rows = static_cast<std::int64_t>(length.extent(0));
  const std::int64_t chunks = (rows + shape.chunk_rows - 1) / shape.chunk_rows;
  const std::int64_t lanes = std::int64_t{shape.chunk_rows} << shape.log_lanes;
  const int most_steps = shape.steps(
      static_cast<int>(std::min<std::int64_t>(longest, shape.long_row)));

  const auto try_sigma = [&](std::int64_t sigma) {
    SellOrder<Memory> order;
    order.sigma = std::min(sigma, rows);
    if (order.sigma > 1) {
      const auto make = [&](auto view, const char* label) {
        return make_unfilled<decltype(view)>(exec, label, rows);
      };
      const auto key = make(Kokkos::View<std::uint64_t*, Memory>(),
                            "Strata::SellMatrix::key");
      order.row = make(order.row, "Strata::SellMatrix::order");
      const int step_bits = bits_for(static_cast<std::uint64_t>(most_steps));
      for_each_index("Strata::SellMatrix::sort_keys", exec, rows,
                     SellSortKeys<Memory>{length, key, order.row, shape,
                                          order.sigma, most_steps, step_bits});
      sort_by_key(exec, key, order.row,
                  step_bits + bits_for(static_cast<std::uint64_t>(
                                  (rows - 1) / order.sigma)));
    }
    std::int64_t steps = 0;
    Kokkos::parallel_reduce(
        "Strata::SellMatrix::padding", RangeOf<ExecutionSpace>(exec, 0, chunks),
        SumChunkSteps<Memory>{{length, order.row, shape, rows}}, steps);
    exec.fence();
    order.chunk_slots = steps * lanes;
    return order;
  };

  if (wanted_sigma > 0) return try_sigma(wanted_sigma);
  SellOrder<Memory> best = try_sigma(1);
  for (const std::int64_t sigma : {std::int64_t{1024}, std::int64_t{16384}}) {
    if (best.chunk_slots <= chunk_entries + chunk_entries / 10) break;
    const auto other = try_sigma(sigma);
    if (other.chunk_slots < best.chunk_slots) best = other;
  }
  return best;
}

}  // namespace Detail
}  // namespace Strata

#endif
