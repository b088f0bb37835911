// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/stl/vector.h>

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gmres.hpp>
#include <memory>
#include <string>

#include "Bindings.hpp"
#include "Factorization.hpp"
#include "Preconditioner.hpp"
#include "SellMatrix.hpp"

namespace StrataPython {

namespace {

/// What a callback has raised: the solve stops, and then raises it.
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

/// The methods: their names in Python, options and results.
template <class Scalar, class Space>
struct CgMethod {
  using Solver = Strata::ConjugateGradient<Scalar, Space>;
  using Options = Strata::CgOptions;
  using Result = Strata::CgResult;
  static constexpr const char* name = "ConjugateGradient";
  static void take(const nb::dict& given, Options& options) {
    options.launches = option(given, "launches", options.launches);
  }
};
template <class Scalar, class Space>
struct GmresMethod {
  using Solver = Strata::Gmres<Scalar, Space>;
  using Options = Strata::GmresOptions;
  using Result = Strata::KrylovResult;
  static constexpr const char* name = "Gmres";
  static void take(const nb::dict& given, Options& options) {
    options.restart = option(given, "restart", options.restart);
  }
};
template <class Scalar, class Space>
struct BiCgStabMethod {
  using Solver = Strata::BiCgStab<Scalar, Space>;
  using Options = Strata::BiCgStabOptions;
  using Result = Strata::KrylovResult;
  static constexpr const char* name = "BiCgStab";
  static void take(const nb::dict& given, Options& options) {
    options.max_new_starts =
        option(given, "max_new_starts", options.max_new_starts);
  }
};

template <class Method, class Scalar, class Space>
class Krylov : public Held<typename Method::Solver> {
 public:
  using Matrix = Sell<Scalar, Space>;
  using Result = typename Method::Result;

  Krylov(std::int64_t rows, const nb::dict& given, std::uintptr_t stream) {
    typename Method::Options options;
    options.relative_tolerance =
        option(given, "relative_tolerance", options.relative_tolerance);
    options.absolute_tolerance =
        option(given, "absolute_tolerance", options.absolute_tolerance);
    options.max_iterations =
        option(given, "max_iterations", options.max_iterations);
    options.iterations_ahead =
        option(given, "iterations_ahead", options.iterations_ahead);
    Method::take(given, options);
    if (given.contains("progress"))
      options.progress = Progress{nb::object(given["progress"]), raised_};
    const Work work;
    this->object = typename Method::Solver(SpaceFacts<Space>::on_stream(stream),
                                           rows, options);
  }

  template <class M>
  Result solve(const Matrix& A, const M& preconditioner,
               const Read<Scalar, Space>& b, const Written<Scalar, Space>& x,
               std::uintptr_t stream) {
    const auto from = strided_vector<Scalar, Space>("b", b);
    const auto to = strided_vector<Scalar, Space>("x", x);
    Result result;
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

  Result solve_plain(const Matrix& A, const Read<Scalar, Space>& b,
                     const Written<Scalar, Space>& x, std::uintptr_t stream) {
    return solve(A, Strata::NoPreconditioner(), b, x, stream);
  }
  Result solve_factorization(const Matrix& A,
                             const Factorization<Scalar, Space>& M,
                             const Read<Scalar, Space>& b,
                             const Written<Scalar, Space>& x,
                             std::uintptr_t stream) {
    return solve(A, M.object, b, x, stream);
  }
  Result solve_preconditioner(const Matrix& A,
                              const Preconditioner<Scalar, Space>& M,
                              const Read<Scalar, Space>& b,
                              const Written<Scalar, Space>& x,
                              std::uintptr_t stream) {
    return solve(A, M.object, b, x, stream);
  }
  Result solve_jacobi(const Matrix& A, const Indices<Space>& row_map,
                      const Indices<Space>& entries,
                      const Values<Scalar, Space>& values,
                      const Read<Scalar, Space>& b,
                      const Written<Scalar, Space>& x, std::uintptr_t stream) {
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
  Raised raised_ = std::make_shared<std::exception_ptr>();
};

template <template <class, class> class Method>
struct BindMethod {
  template <class Scalar, class Space>
  struct For {
    static void define(nb::module_& module) {
      using Of = Method<Scalar, Space>;
      using Class = Krylov<Of, Scalar, Space>;
      nb::class_<Class>(module, class_name<Scalar, Space>(Of::name).c_str())
          .def(nb::init<std::int64_t, const nb::dict&, std::uintptr_t>(),
               nb::arg("rows"), nb::arg("options"), nb::arg("stream"))
          .def("solve", &Class::solve_plain, nb::arg("A"),
               nb::arg("b").noconvert(), nb::arg("x").noconvert(),
               nb::arg("stream"))
          .def("solve", &Class::solve_factorization, nb::arg("A"), nb::arg("M"),
               nb::arg("b").noconvert(), nb::arg("x").noconvert(),
               nb::arg("stream"))
          .def("solve", &Class::solve_preconditioner, nb::arg("A"),
               nb::arg("M"), nb::arg("b").noconvert(), nb::arg("x").noconvert(),
               nb::arg("stream"))
          .def("solve_jacobi", &Class::solve_jacobi, nb::arg("A"),
               nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
               nb::arg("data").noconvert(), nb::arg("b").noconvert(),
               nb::arg("x").noconvert(), nb::arg("stream"));
    }
  };
};

template <class Result>
void bind_result(nb::module_& module, const char* name, const char* text) {
  nb::class_<Result>(module, name, text)
      .def_prop_ro("status",
                   [](const Result& r) { return Strata::to_string(r.status); })
      .def_ro("iterations", &Result::iterations)
      .def_ro("rhs_norm", &Result::rhs_norm)
      .def_ro("residual_norm", &Result::residual_norm)
      .def_ro("history", &Result::history)
      .def_ro("restarts", &Result::restarts);
}

}  // namespace

void bind_krylov(nb::module_& module) {
  bind_result<Strata::CgResult>(module, "CgResult",
                                "How conjugate gradients ended.");
  bind_result<Strata::KrylovResult>(module, "KrylovResult",
                                    "How GMRES or BiCGStab ended.");
  for_each_type<BindMethod<CgMethod>::For>(module);
  for_each_type<BindMethod<GmresMethod>::For>(module);
  for_each_type<BindMethod<BiCgStabMethod>::For>(module);
}

}  // namespace StrataPython
