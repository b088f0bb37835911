// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_SELL_MATRIX_HPP
#define STRATA_PYTHON_SELL_MATRIX_HPP

#include <Strata_SellMatrix.hpp>

#include "Arrays.hpp"
#include "Options.hpp"
#include "Runtime.hpp"

namespace StrataPython {

template <class Scalar, class Space>
class Sell : public Held<Strata::SellMatrix<Scalar, Space>> {
 public:
  Sell(const Indices<Space>& row_map, const Indices<Space>& entries,
       const Values<Scalar, Space>& values, std::int64_t columns,
       const nb::dict& given, std::uintptr_t stream) {
    Strata::SellOptions options;
    options.chunk_rows = option(given, "chunk_rows", options.chunk_rows);
    options.sigma = option(given, "sigma", options.sigma);
    options.lanes_per_row =
        option(given, "lanes_per_row", options.lanes_per_row);
    options.long_row = option(given, "long_row", options.long_row);
    options.use_diagonals =
        option(given, "use_diagonals", options.use_diagonals);
    const Work work;
    with_indices<Space>(row_map, entries, [&](auto offsets, auto of_columns) {
      this->object = Strata::SellMatrix<Scalar, Space>(
          this->on(stream), offsets, of_columns, view_of<Scalar, Space>(values),
          columns, options);
    });
  }

  void update_values(const Values<Scalar, Space>& values,
                     const Kept<Scalar, Space>& kept, std::uintptr_t stream) {
    const auto from = view_of<Scalar, Space>(values);
    const Work work;
    const auto exec = this->on(stream);
    this->object.update_values(exec, from);
    keep<Scalar>(exec, kept, from);
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

  void apply(const Read<Scalar, Space>& x, const Written<Scalar, Space>& y,
             InterfaceOf<Scalar> alpha, InterfaceOf<Scalar> beta,
             std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("x", x);
    const auto to = strided_view<Scalar, Space>("out", y);
    const Work work;
    this->object.apply(this->on(stream), Scalar(alpha), from, Scalar(beta), to);
  }

  Strata::SellReport report() const { return this->object.report(); }
};

}  // namespace StrataPython

#endif
