// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_TRIANGULAR_HPP
#define STRATA_PYTHON_TRIANGULAR_HPP

#include <Strata_TriangularSolver.hpp>
#include <chrono>
#include <core/matrix/PackValues.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <string>

#include "Arrays.hpp"
#include "Options.hpp"
#include "Runtime.hpp"
#include "UpdateStatus.hpp"

namespace StrataPython {

template <class From, class To>
struct Conjugate {
  From from;
  To to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t c = 0; c < to.extent(1); ++c)
      to(i, c) = Strata::Detail::conjugate(from(i, c));
  }
};
/// to = conj(from), which may be `to`; enqueued.
template <class Space, class From, class To>
void conjugate(const Space& exec, const From& from, const To& to) {
  Kokkos::parallel_for(
      "Strata::Python::conjugate",
      Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(
          exec, 0, static_cast<std::int64_t>(to.extent(0))),
      Conjugate<From, To>{from, to});
}

template <class Scalar, class Space>
class Triangular : public Held<Strata::TriangularSolver<Scalar, Space>> {
 public:
  Triangular() = default;
  Triangular(const Indices<Space>& row_map, const Indices<Space>& entries,
             const Values<Scalar, Space>& values, bool lower,
             bool unit_diagonal, const nb::dict& given, std::uintptr_t stream) {
    const auto options = triangular_options(given);
    const Work work;
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      this->object = Strata::TriangularSolver<Scalar, Space>(
          this->on(stream), offsets, columns, view_of<Scalar, Space>(values),
          lower ? Strata::Uplo::lower : Strata::Uplo::upper,
          unit_diagonal ? Strata::Diag::unit : Strata::Diag::non_unit, options);
    });
  }

  void solve(const Read<Scalar, Space>& b, const Written<Scalar, Space>& x,
             std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("b", b);
    const auto to = strided_view<Scalar, Space>("out", x);
    const Work work;
    this->object.solve(this->on(stream), from, to);
  }

  /// x = conj(op(A))^-1 b.
  void solve_conjugated(const Read<Scalar, Space>& b,
                        const Written<Scalar, Space>& x,
                        std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("b", b);
    const auto to = strided_view<Scalar, Space>("out", x);
    const Work work;
    const auto exec = this->on(stream);
    Strata::Detail::check_vectors(this->object.report().rows,
                                  Strata::Detail::strided_block(from),
                                  Strata::Detail::strided_block(to));
    conjugate(exec, from, to);
    this->object.solve(exec, to, to);
    conjugate(exec, to, to);
  }

  void solve_at(const PlaceTuple& b, const PlaceTuple& x,
                std::uintptr_t stream) const {
    const auto from = view_at<const Scalar, Space>(place_of(b));
    const auto to = view_at<Scalar, Space>(place_of(x));
    const Work work;
    this->object.solve(this->on(stream), from, to);
  }

  /// Seconds that each of `times` solves takes the calling thread, without
  /// Python: for benchmarks.
  double seconds_of_solve(const Read<Scalar, Space>& b,
                          const Written<Scalar, Space>& x, int times,
                          std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("b", b);
    const auto to = strided_view<Scalar, Space>("out", x);
    const Work work;
    const auto exec = this->on(stream);
    exec.fence();
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < times; ++k) this->object.solve(exec, from, to);
    const std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - begin;
    exec.fence();
    return taken.count() / times;
  }

  void update_values(const Values<Scalar, Space>& values,
                     const Kept<Scalar, Space>& kept, std::uintptr_t stream) {
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    const auto exec = this->on(stream);
    this->object.update_values(exec, from);
    keep<Scalar>(exec, kept, from);
    // The array may be freed once we return.
    exec.fence();
  }
  void update(const Indices<Space>& row_map, const Indices<Space>& entries,
              const Values<Scalar, Space>& values,
              const Kept<Scalar, Space>& kept, std::uintptr_t stream) {
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    const auto exec = this->on(stream);
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      this->object.update_values(exec, offsets, columns, from);
    });
    keep<Scalar>(exec, kept, from);
    exec.fence();
  }

  void enqueue_values(const Values<Scalar, Space>& values,
                      const Kept<Scalar, Space>& kept, std::uintptr_t stream) {
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    const auto exec = this->on(stream);
    this->object.enqueue_update_values(exec, from);
    keep<Scalar>(exec, kept, from);
  }
  FoundStatus status(std::uintptr_t stream) const {
    const Work work;
    return found_status(this->on(stream), this->object.update_status());
  }

  /// Becomes one with the plan of `other`.
  void share(const Triangular& other, std::uintptr_t stream) {
    const Work work;
    this->object = other.object.share_plan(other.on(stream));
  }

  Strata::TriangularReport report() const { return this->object.report(); }
};

}  // namespace StrataPython

#endif
