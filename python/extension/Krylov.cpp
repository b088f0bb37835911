// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/stl/vector.h>

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gmres.hpp>
#include <functional>
#include <memory>
#include <string>

#include "Bindings.hpp"
#include "FactorSolver.hpp"
#include "Factorization.hpp"
#include "SellMatrix.hpp"

namespace StrataPython {

namespace {

/// What has the objects of this thread's solve on its stream again, after code
/// of Python, in which other threads may have used them on others.
thread_local const std::function<void()>* return_to_stream = nullptr;

class ReturnToStream {
 public:
  explicit ReturnToStream(const std::function<void()>& then)
      : outer_(return_to_stream) {
    return_to_stream = &then;
  }
  ReturnToStream(const ReturnToStream&) = delete;
  ReturnToStream& operator=(const ReturnToStream&) = delete;
  ~ReturnToStream() { return_to_stream = outer_; }

 private:
  const std::function<void()>* outer_;
};

/// A function of Python that a solve calls. Copies share it, with or without
/// the interpreter's lock.
class Function {
 public:
  explicit Function(nb::object function)
      : function_(new nb::object(std::move(function)), [](nb::object* object) {
          const nb::gil_scoped_acquire acquire;
          delete object;
        }) {}
  /// use(function), with the interpreter's lock.
  template <class Use>
  void call(const Use& use) const {
    {
      const Callback callback;
      use(*function_);
    }
    expect_running();
    if (return_to_stream) (*return_to_stream)();
  }

 private:
  std::shared_ptr<nb::object> function_;
};

/// What a callback has raised: the solve stops, and then raises it.
using Raised = std::shared_ptr<std::exception_ptr>;

struct Progress {
  Function callback;
  Raised raised;

  bool operator()(int iteration, double residual_norm) const {
    bool goes_on = false;
    callback.call([&](const nb::object& function) {
      try {
        const nb::object answer = function(iteration, residual_norm);
        goes_on = answer.is_none() || nb::cast<bool>(nb::bool_(answer));
      } catch (...) {
        *raised = std::current_exception();
      }
    });
    return goes_on;
  }
};

/// A linear operator that is a function of Python, called with the address of
/// the vector p; it returns an array, w = A p or z = M^-1 p, that is copied.
template <class Scalar, class Space>
class Called {
 public:
  explicit Called(nb::object function) : function_(std::move(function)) {}

  template <class Vector>
  void apply(const Space& exec, const Vector& from, const Vector& to) const {
    Read<Scalar, Space> made;
    function_.call([&](const nb::object& function) {
      made = nb::cast<Read<Scalar, Space>>(
          function(reinterpret_cast<std::uintptr_t>(from.data())));
    });
    const auto source = strided_vector<Scalar, Space>("the result", made);
    if (source.extent(0) != to.extent(0))
      throw Strata::SizeMismatchError(
          "the result", "has " + std::to_string(source.extent(0)) + " elements",
          "return one for each row");
    Kokkos::deep_copy(exec, to, source);
  }
  void on(std::uintptr_t) const {}

 private:
  Function function_;
};

/// What a method is passed for an object of Python.
template <class Scalar, class Space>
const Called<Scalar, Space>& operator_of(const Called<Scalar, Space>& A) {
  return A;
}
template <class Of>
const auto& operator_of(const Held<Of>& A) {
  return A.object;
}

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
      options.progress =
          Progress{Function(nb::object(given["progress"])), raised_};
    const Work work;
    this->object = typename Of::template Solver<Scalar, Space>(this->on(stream),
                                                               rows, options);
  }

  template <class Operator>
  Result solve_plain(const Operator& A, const Read<Scalar, Space>& b,
                     const Written<Scalar, Space>& x, std::uintptr_t stream) {
    return solve(
        A, b, x, stream, [] {},
        [](const auto&, const auto& run) {
          return run(Strata::NoPreconditioner());
        });
  }
  template <class Operator, class M>
  Result solve_with(const Operator& A, const M& preconditioner,
                    const Read<Scalar, Space>& b,
                    const Written<Scalar, Space>& x, std::uintptr_t stream) {
    return solve(
        A, b, x, stream, [&] { preconditioner.on(stream); },
        [&](const auto&, const auto& run) {
          return run(operator_of(preconditioner));
        });
  }
  Result solve_jacobi(const Matrix& A, const Indices<Space>& row_map,
                      const Indices<Space>& entries,
                      const Values<Scalar, Space>& values,
                      const Read<Scalar, Space>& b,
                      const Written<Scalar, Space>& x, std::uintptr_t stream) {
    return solve(
        A, b, x, stream, [] {},
        [&](const auto& exec, const auto& run) {
          return with_indices<Space>(
              row_map, entries, [&](auto offsets, auto columns) {
                return run(Strata::JacobiPreconditioner<Scalar, Space>(
                    exec,
                    borrowed_matrix<Scalar, Space>(
                        offsets, columns, view_of<Scalar, Space>(values))));
              });
        });
  }

 private:
  /// `put_on_stream` is for the preconditioner, which `prepare` calls what it
  /// is passed with.
  template <class Operator, class PutOnStream, class Prepare>
  Result solve(const Operator& A, const Read<Scalar, Space>& b,
               const Written<Scalar, Space>& x, std::uintptr_t stream,
               const PutOnStream& put_on_stream, const Prepare& prepare) {
    const auto from = strided_vector<Scalar, Space>("b", b);
    const auto to = strided_vector<Scalar, Space>("x", x);
    Result result;
    {
      const Work work;
      const std::function<void()> put_all_on_stream = [&] {
        A.on(stream);
        put_on_stream();
      };
      put_all_on_stream();
      const ReturnToStream later(put_all_on_stream);
      const Space exec = this->on(stream);
      result = prepare(exec, [&](const auto& preconditioner) {
        return this->object.solve(exec, operator_of(A), preconditioner, from,
                                  to);
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
    bound.def(nb::init<std::int64_t, const nb::dict&, std::uintptr_t>(),
              nb::arg("rows"), nb::arg("options"), nb::arg("stream"));
    // Lambdas, because nvcc takes no pointers to members that are templates.
    const auto define_with = [&](auto* an_operator, auto* any) {
      using Operator = std::remove_pointer_t<decltype(an_operator)>;
      using M = std::remove_pointer_t<decltype(any)>;
      bound.def(
          "solve",
          [](Class& self, const Operator& A, const M& preconditioner,
             const Read<Scalar, Space>& b, const Written<Scalar, Space>& x,
             std::uintptr_t stream) {
            return self.solve_with(A, preconditioner, b, x, stream);
          },
          nb::arg("A"), nb::arg("M"), nb::arg("b").noconvert(),
          nb::arg("x").noconvert(), nb::arg("stream"));
    };
    const auto define_for = [&](auto* an_operator) {
      using Operator = std::remove_pointer_t<decltype(an_operator)>;
      bound.def(
          "solve",
          [](Class& self, const Operator& A, const Read<Scalar, Space>& b,
             const Written<Scalar, Space>& x, std::uintptr_t stream) {
            return self.solve_plain(A, b, x, stream);
          },
          nb::arg("A"), nb::arg("b").noconvert(), nb::arg("x").noconvert(),
          nb::arg("stream"));
      define_with(an_operator,
                  static_cast<Factorization<Scalar, Space>*>(nullptr));
      define_with(an_operator, static_cast<Factors<Scalar, Space>*>(nullptr));
      define_with(an_operator, static_cast<Called<Scalar, Space>*>(nullptr));
    };
    define_for(static_cast<Sell<Scalar, Space>*>(nullptr));
    define_for(static_cast<Called<Scalar, Space>*>(nullptr));
    bound.def("solve_jacobi", &Class::solve_jacobi, nb::arg("A"),
              nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
              nb::arg("data").noconvert(), nb::arg("b").noconvert(),
              nb::arg("x").noconvert(), nb::arg("stream"));
  };
  for_each_scalar_and_space(define);
}

template <class Scalar, class Space>
struct BindCalled {
  static void define(nb::module_& module) {
    using Class = Called<Scalar, Space>;
    nb::class_<Class>(module, class_name<Scalar, Space>("Called").c_str())
        .def(nb::init<nb::object>(), nb::arg("function"));
  }
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
  for_each_type<BindCalled>(module);
  bind_method<Cg>(module, "ConjugateGradient");
  bind_method<Gmres>(module, "Gmres");
  bind_method<BiCgStab>(module, "BiCgStab");
}

}  // namespace StrataPython
