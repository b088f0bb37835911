// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_PRECONDITIONER_HPP
#define STRATA_PYTHON_PRECONDITIONER_HPP

#include <Strata_Colouring.hpp>
#include <Strata_Preconditioner.hpp>
#include <string>

#include "Arrays.hpp"
#include "Options.hpp"
#include "Runtime.hpp"

namespace StrataPython {

/// In the order of two colours. The natural order's factorisation is a
/// Factorization: where `automatic` stands for that, this may be empty.
template <class Scalar, class Space>
class Preconditioner
    : public Held<Strata::IncompletePreconditioner<Scalar, Space>> {
 public:
  Preconditioner(const Indices<Space>& row_map, const Indices<Space>& entries,
                 const Values<Scalar, Space>& values, const std::string& kind,
                 const std::string& order, const nb::dict& options,
                 std::uintptr_t stream) {
    const auto factorization = enumerator<Strata::Factorization>("kind", kind);
    const auto of_rows = enumerator<Strata::FactorOrder>("order", order);
    const auto tolerance =
        option(options, "symmetry_tolerance", std::optional<double>());
    const Work work;
    const auto exec = this->on(stream);
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      const auto A = borrowed_matrix<Scalar, Space>(
          offsets, columns, view_of<Scalar, Space>(values));
      if (of_rows == Strata::FactorOrder::automatic &&
          Strata::colour_rows(exec, A).num_colours() != 2)
        return;
      this->object = Strata::IncompletePreconditioner<Scalar, Space>(
          exec, A, factorization, {}, of_rows, tolerance);
      order_ = Strata::to_string(this->object.order());
    });
  }

  void update(const Indices<Space>& row_map, const Indices<Space>& entries,
              const Values<Scalar, Space>& values,
              const Kept<Scalar, Space>& kept, std::uintptr_t stream) {
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    const auto exec = this->on(stream);
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      this->object.update_values(
          exec, borrowed_matrix<Scalar, Space>(offsets, columns, from));
    });
    keep<Scalar>(exec, kept, from);
    exec.fence();
  }

  void apply(const Read<Scalar, Space>& r, const Written<Scalar, Space>& z,
             std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("r", r);
    const auto to = strided_view<Scalar, Space>("out", z);
    if (from.extent(1) != to.extent(1))
      throw Strata::SizeMismatchError("out", "has not as many columns as r",
                                      "pass an array of the shape of r");
    const Work work;
    const auto exec = this->on(stream);
    for (std::size_t column = 0; column < from.extent(1); ++column)
      this->object.apply(exec, Kokkos::subview(from, Kokkos::ALL(), column),
                         Kokkos::subview(to, Kokkos::ALL(), column));
  }

  std::string order() const { return order_; }

 private:
  std::string order_ = Strata::to_string(Strata::FactorOrder::natural);
};

}  // namespace StrataPython

#endif
