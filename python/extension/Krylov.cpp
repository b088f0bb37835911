// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/stl/vector.h>

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gmres.hpp>
#include <memory>
#include <string>

#include "Bindings.hpp"
#include "FactorSolver.hpp"
#include "Factorization.hpp"
#include "SellMatrix.hpp"

namespace StrataPython {

namespace {

/// What a callback has raised: the solve stops, and then raises it.
using Raised = std::shared_ptr<std::exception_ptr>;

struct Progress {
  /// Copies of options share it, with or without the interpreter's lock.
  std::shared_ptr<nb::object> callback;
  Raised raised;

  Progress(nb::object called, Raised into)
      : callback(new nb::object(std::move(called)),
                 [](nb::object* object) {
                   const nb::gil_scoped_acquire acquire;
                   delete object;
                 }),
        raised(std::move(into)) {}
  bool operator()(int iteration, double residual_norm) const {
    const nb::gil_scoped_acquire acquire;
    try {
      const nb::object answer = (*callback)(iteration, residual_norm);
      return answer.is_none() || nb::cast<bool>(nb::bool_(answer));
    } catch (...) {
      *raised = std::current_exception();
      return false;
    }
  }
};

/// A method: its solver, options and result.
template <template <class, class> class SolverOf, class OptionsOf,
          class ResultOf>
struct Method {
  template <class Scalar, class Space>
  using Solver = SolverOf<Scalar, Space>;
  using Options = OptionsOf;
  using Result = ResultOf;
};
using Cg =
    Method<Strata::ConjugateGradient, Strata::CgOptions, Strata::CgResult>;
using Gmres = Method<Strata::Gmres, Strata::GmresOptions, Strata::KrylovResult>;
using BiCgStab =
    Method<Strata::BiCgStab, Strata::BiCgStabOptions, Strata::KrylovResult>;

/// The option that a method alone has.
void take_own(const nb::dict& given, Strata::CgOptions& options) {
  options.launches = option(given, "launches", options.launches);
}
void take_own(const nb::dict& given, Strata::GmresOptions& options) {
  options.restart = option(given, "restart", options.restart);
}
void take_own(const nb::dict& given, Strata::BiCgStabOptions& options) {
  options.max_new_starts =
      option(given, "max_new_starts", options.max_new_starts);
}

template <class Of, class Scalar, class Space>
class Krylov : public Held<typename Of::template Solver<Scalar, Space>> {
 public:
  using Matrix = Sell<Scalar, Space>;
  using Result = typename Of::Result;

  Krylov(std::int64_t rows, const nb::dict& given, std::uintptr_t stream) {
    typename Of::Options options;
    options.relative_tolerance =
        option(given, "relative_tolerance", options.relative_tolerance);
    options.absolute_tolerance =
        option(given, "absolute_tolerance", options.absolute_tolerance);
    options.divergence_tolerance =
        option(given, "divergence_tolerance", options.divergence_tolerance);
    options.max_iterations =
        option(given, "max_iterations", options.max_iterations);
    options.iterations_ahead =
        option(given, "iterations_ahead", options.iterations_ahead);
    take_own(given, options);
    if (given.contains("progress"))
      options.progress = Progress{nb::object(given["progress"]), raised_};
    const Work work;
    this->object = typename Of::template Solver<Scalar, Space>(this->on(stream),
                                                               rows, options);
  }

  Result solve_plain(const Matrix& A, const Read<Scalar, Space>& b,
                     const Written<Scalar, Space>& x, std::uintptr_t stream) {
    return solve(A, b, x, stream, [](const auto&, const auto& run) {
      return run(Strata::NoPreconditioner());
    });
  }
  template <class M>
  Result solve_with(const Matrix& A, const M& preconditioner,
                    const Read<Scalar, Space>& b,
                    const Written<Scalar, Space>& x, std::uintptr_t stream) {
    return solve(A, b, x, stream, [&](const auto&, const auto& run) {
      preconditioner.on(stream);
      return run(preconditioner.object);
    });
  }
  Result solve_jacobi(const Matrix& A, const Indices<Space>& row_map,
                      const Indices<Space>& entries,
                      const Values<Scalar, Space>& values,
                      const Read<Scalar, Space>& b,
                      const Written<Scalar, Space>& x, std::uintptr_t stream) {
    return solve(A, b, x, stream, [&](const auto& exec, const auto& run) {
      return with_indices<Space>(
          row_map, entries, [&](auto offsets, auto columns) {
            return run(Strata::JacobiPreconditioner<Scalar, Space>(
                exec, borrowed_matrix<Scalar, Space>(
                          offsets, columns, view_of<Scalar, Space>(values))));
          });
    });
  }

 private:
  /// `prepare` calls what it is passed with a preconditioner.
  template <class Prepare>
  Result solve(const Matrix& A, const Read<Scalar, Space>& b,
               const Written<Scalar, Space>& x, std::uintptr_t stream,
               const Prepare& prepare) {
    const auto from = strided_vector<Scalar, Space>("b", b);
    const auto to = strided_vector<Scalar, Space>("x", x);
    Result result;
    {
      const Work work;
      A.on(stream);
      const Space exec = this->on(stream);
      result = prepare(exec, [&](const auto& preconditioner) {
        return this->object.solve(exec, A.object, preconditioner, from, to);
      });
    }
    if (*raised_) {
      const std::exception_ptr raised = *raised_;
      *raised_ = nullptr;
      std::rethrow_exception(raised);
    }
    return result;
  }

  Raised raised_ = std::make_shared<std::exception_ptr>();
};

template <class Of>
void bind_method(nb::module_& module, const char* name) {
  const auto define = [&](auto scalar, auto space) {
    using Scalar = decltype(scalar);
    using Space = decltype(space);
    using Class = Krylov<Of, Scalar, Space>;
    nb::class_<Class> bound(module, class_name<Scalar, Space>(name).c_str());
    // A lambda, because nvcc takes no pointers to members that are templates.
    const auto define_with = [&](auto* any) {
      using M = std::remove_pointer_t<decltype(any)>;
      bound.def(
          "solve",
          [](Class& self, const typename Class::Matrix& A,
             const M& preconditioner, const Read<Scalar, Space>& b,
             const Written<Scalar, Space>& x, std::uintptr_t stream) {
            return self.solve_with(A, preconditioner, b, x, stream);
          },
          nb::arg("A"), nb::arg("M"), nb::arg("b").noconvert(),
          nb::arg("x").noconvert(), nb::arg("stream"));
    };
    bound
        .def(nb::init<std::int64_t, const nb::dict&, std::uintptr_t>(),
             nb::arg("rows"), nb::arg("options"), nb::arg("stream"))
        .def("solve", &Class::solve_plain, nb::arg("A"),
             nb::arg("b").noconvert(), nb::arg("x").noconvert(),
             nb::arg("stream"))
        .def("solve_jacobi", &Class::solve_jacobi, nb::arg("A"),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("b").noconvert(),
             nb::arg("x").noconvert(), nb::arg("stream"));
    define_with(static_cast<Factorization<Scalar, Space>*>(nullptr));
    define_with(static_cast<Factors<Scalar, Space>*>(nullptr));
  };
  for_each_scalar_and_space(define);
}

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
  bind_method<Cg>(module, "ConjugateGradient");
  bind_method<Gmres>(module, "Gmres");
  bind_method<BiCgStab>(module, "BiCgStab");
}

}  // namespace StrataPython
