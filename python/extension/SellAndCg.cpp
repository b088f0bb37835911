// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/stl/vector.h>

#include <Strata_ConjugateGradient.hpp>
#include <Strata_SellMatrix.hpp>

#include "Bindings.hpp"
#include "Preconditioner.hpp"

namespace StrataPython {

namespace {

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
          SpaceFacts<Space>::on_stream(stream), offsets, of_columns,
          view_of<Scalar, Space>(values), columns, options);
    });
  }

  void update_values(const Values<Scalar, Space>& values,
                     std::uintptr_t stream) {
    const Work work;
    const auto exec = SpaceFacts<Space>::on_stream(stream);
    this->object.update_values(exec, view_of<Scalar, Space>(values));
    exec.fence();
  }
  void update(const Indices<Space>& row_map, const Indices<Space>& entries,
              const Values<Scalar, Space>& values, std::uintptr_t stream) {
    const Work work;
    const auto exec = SpaceFacts<Space>::on_stream(stream);
    with_indices<Space>(row_map, entries, [&](auto offsets, auto columns) {
      this->object.update_values(exec, offsets, columns,
                                 view_of<Scalar, Space>(values));
    });
    exec.fence();
  }

  void apply(const Read<Scalar, Space>& x, const Written<Scalar, Space>& y,
             InterfaceOf<Scalar> alpha, InterfaceOf<Scalar> beta,
             std::uintptr_t stream) const {
    const auto from = strided_view<Scalar, Space>("x", x);
    const auto to = strided_view<Scalar, Space>("out", y);
    const Work work;
    this->object.apply(SpaceFacts<Space>::on_stream(stream), Scalar(alpha),
                       from, Scalar(beta), to);
  }

  Strata::SellReport report() const { return this->object.report(); }
};

template <class Scalar, class Space>
class ConjugateGradient
    : public Held<Strata::ConjugateGradient<Scalar, Space>> {
 public:
  ConjugateGradient(std::int64_t rows, const nb::dict& given,
                    std::uintptr_t stream) {
    Strata::CgOptions options;
    options.relative_tolerance =
        option(given, "relative_tolerance", options.relative_tolerance);
    options.absolute_tolerance =
        option(given, "absolute_tolerance", options.absolute_tolerance);
    options.max_iterations =
        option(given, "max_iterations", options.max_iterations);
    options.iterations_ahead =
        option(given, "iterations_ahead", options.iterations_ahead);
    options.launches = option(given, "launches", options.launches);
    if (given.contains("progress"))
      options.progress = Progress{nb::object(given["progress"]), raised_};
    const Work work;
    this->object = Strata::ConjugateGradient<Scalar, Space>(
        SpaceFacts<Space>::on_stream(stream), rows, options);
  }

  template <class M>
  Strata::CgResult solve(const Sell<Scalar, Space>& A, const M& preconditioner,
                         const Read<Scalar, Space>& b,
                         const Written<Scalar, Space>& x,
                         std::uintptr_t stream) {
    const auto from = strided_vector<Scalar, Space>("b", b);
    const auto to = strided_vector<Scalar, Space>("x", x);
    Strata::CgResult result;
    {
      const Work work;
      result = this->object.solve(SpaceFacts<Space>::on_stream(stream),
                                  A.object, preconditioner, from, to);
    }
    if (*raised_) {
      const std::exception_ptr raised = *raised_;
      *raised_ = nullptr;
      std::rethrow_exception(raised);
    }
    return result;
  }

  Strata::CgResult solve_plain(const Sell<Scalar, Space>& A,
                               const Read<Scalar, Space>& b,
                               const Written<Scalar, Space>& x,
                               std::uintptr_t stream) {
    return solve(A, Strata::NoPreconditioner(), b, x, stream);
  }
  Strata::CgResult solve_preconditioned(const Sell<Scalar, Space>& A,
                                        const Preconditioner<Scalar, Space>& M,
                                        const Read<Scalar, Space>& b,
                                        const Written<Scalar, Space>& x,
                                        std::uintptr_t stream) {
    return solve(A, M.object, b, x, stream);
  }
  Strata::CgResult solve_jacobi(const Sell<Scalar, Space>& A,
                                const Indices<Space>& row_map,
                                const Indices<Space>& entries,
                                const Values<Scalar, Space>& values,
                                const Read<Scalar, Space>& b,
                                const Written<Scalar, Space>& x,
                                std::uintptr_t stream) {
    const auto make = [&] {
      const Work work;
      return with_indices<Space>(
          row_map, entries, [&](auto offsets, auto columns) {
            return Strata::JacobiPreconditioner<Scalar, Space>(
                SpaceFacts<Space>::on_stream(stream),
                borrowed_matrix<Scalar, Space>(offsets, columns,
                                               view_of<Scalar, Space>(values)));
          });
    };
    return solve(A, make(), b, x, stream);
  }

 private:
  /// What the callback has raised: the solve stops, and then raises it.
  using Raised = std::shared_ptr<std::exception_ptr>;

  struct Progress {
    nb::object callback;
    Raised raised;
    bool operator()(int iteration, double residual_norm) const {
      const nb::gil_scoped_acquire acquire;
      try {
        const nb::object answer = callback(iteration, residual_norm);
        return answer.is_none() || nb::cast<bool>(nb::bool_(answer));
      } catch (...) {
        *raised = std::current_exception();
        return false;
      }
    }
  };

  Raised raised_ = std::make_shared<std::exception_ptr>();
};

template <class Scalar, class Space>
struct BindSellAndCg {
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
             nb::arg("data").noconvert(), nb::arg("stream"))
        .def("update", &Matrix::update, nb::arg("indptr").noconvert(),
             nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
             nb::arg("stream"))
        .def("apply", &Matrix::apply, nb::arg("x").noconvert(),
             nb::arg("out").noconvert(), nb::arg("alpha") = In(1),
             nb::arg("beta") = In(0), nb::arg("stream") = 0)
        .def("report", &Matrix::report);

    using Cg = ConjugateGradient<Scalar, Space>;
    nb::class_<Cg>(module,
                   class_name<Scalar, Space>("ConjugateGradient").c_str())
        .def(nb::init<std::int64_t, const nb::dict&, std::uintptr_t>(),
             nb::arg("rows"), nb::arg("options"), nb::arg("stream"))
        .def("solve", &Cg::solve_plain, nb::arg("A"), nb::arg("b").noconvert(),
             nb::arg("x").noconvert(), nb::arg("stream"))
        .def("solve_preconditioned", &Cg::solve_preconditioned, nb::arg("A"),
             nb::arg("M"), nb::arg("b").noconvert(), nb::arg("x").noconvert(),
             nb::arg("stream"))
        .def("solve_jacobi", &Cg::solve_jacobi, nb::arg("A"),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("b").noconvert(),
             nb::arg("x").noconvert(), nb::arg("stream"));
  }
};

}  // namespace

void bind_sell_and_cg(nb::module_& module) {
  using Report = Strata::SellReport;
  nb::class_<Report>(module, "SellReport", "What was made of a matrix.")
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

  using Result = Strata::CgResult;
  nb::class_<Result>(module, "CgResult", "How conjugate gradients ended.")
      .def_prop_ro("status",
                   [](const Result& r) { return Strata::to_string(r.status); })
      .def_ro("iterations", &Result::iterations)
      .def_ro("rhs_norm", &Result::rhs_norm)
      .def_ro("residual_norm", &Result::residual_norm)
      .def_ro("history", &Result::history)
      .def_ro("restarts", &Result::restarts);

  for_each_type<BindSellAndCg>(module);
}

}  // namespace StrataPython
