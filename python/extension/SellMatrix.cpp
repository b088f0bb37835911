// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SellMatrix.hpp"

#include "Bindings.hpp"

namespace StrataPython {

namespace {

template <class Scalar, class Space>
struct BindSellMatrix {
  static void define(nb::module_& module) {
    using Matrix = Sell<Scalar, Space>;
    using Row = Indices<Space>;
    using Of = Values<Scalar, Space>;
    using In = InterfaceOf<Scalar>;
    nb::class_<Matrix>(module, class_name<Scalar, Space>("SellMatrix").c_str())
        .def(nb::init<const Row&, const Row&, const Of&, std::int64_t,
                      const nb::dict&, std::uintptr_t>(),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("columns"),
             nb::arg("options"), nb::arg("stream"))
        .def("update_values", &Matrix::update_values,
             nb::arg("data").noconvert(), nb::arg("keep").noconvert().none(),
             nb::arg("stream"))
        .def("update", &Matrix::update, nb::arg("indptr").noconvert(),
             nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
             nb::arg("keep").noconvert().none(), nb::arg("stream"))
        .def("apply", &Matrix::apply, nb::arg("x").noconvert(),
             nb::arg("out").noconvert(), nb::arg("alpha") = In(1),
             nb::arg("beta") = In(0), nb::arg("stream") = 0)
        .def("report", &Matrix::report);
  }
};

}  // namespace

void bind_sell_matrix(nb::module_& module) {
  using Report = Strata::SellReport;
  nb::class_<Report> bound(module, "SellReport", "What was made of a matrix.",
                           nb::dynamic_attr());
  with_conversion(bound)
      .def_ro("rows", &Report::rows)
      .def_ro("columns", &Report::columns)
      .def_ro("entries", &Report::entries)
      .def_ro("slots", &Report::slots, "Stored slots, padding included.")
      .def_ro("chunk_rows", &Report::chunk_rows, "C of SELL-C-sigma.")
      .def_ro("sigma", &Report::sigma, "Rows sorted together; 1: not sorted.")
      .def_ro("lanes_per_row", &Report::lanes_per_row)
      .def_ro("chunks", &Report::chunks)
      .def_ro("diagonal_chunks", &Report::diagonal_chunks,
              "Chunks that store diagonals in place of columns.")
      .def_ro("long_rows", &Report::long_rows)
      .def_ro("longest_row", &Report::longest_row)
      .def_ro("bytes_read", &Report::bytes_read,
              "Bytes of the matrix that a product reads.")
      .def_ro("bytes", &Report::bytes, "Bytes that are held.")
      .def_ro("build_us", &Report::build_us,
              "Time of the constructor in microseconds.")
      .def_prop_ro("padding", &Report::padding,
                   "Share of the slots without an entry, 0 to 1.");

  for_each_type<BindSellMatrix>(module);
}

}  // namespace StrataPython
