// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_SellMatrix.hpp>

#include "Factorization.hpp"

namespace StrataC {

/// How a solve by any method ended.
struct KrylovEnd {
  strata_krylov_status status;
  int iterations;
  double residual_norm;
};

class Krylov : public Object {
 public:
  static constexpr const char* kind = "one of strata_krylov_create";
  virtual KrylovEnd solve(const Factorization* preconditioner, const void* b,
                          void* x, void* stream) = 0;
  virtual void update_values(const Matrix& matrix, void* stream) = 0;
};

namespace {

enum class Method { conjugate_gradient, gmres, bicgstab };

strata_krylov_status status_of(Strata::CgStatus status) {
  using Status = Strata::CgStatus;
  switch (status) {
    case Status::converged:
      return STRATA_CONVERGED;
    case Status::max_iterations:
    case Status::stopped:  // no function of strata.h stops a solve
      return STRATA_MAX_ITERATIONS;
    case Status::indefinite_matrix:
      return STRATA_INDEFINITE_MATRIX;
    case Status::indefinite_preconditioner:
      return STRATA_INDEFINITE_PRECONDITIONER;
    case Status::not_finite:
      return STRATA_NOT_FINITE;
    case Status::stagnated:
      return STRATA_STAGNATED;
    case Status::diverged:
      break;
  }
  return STRATA_DIVERGED;
}
strata_krylov_status status_of(Strata::KrylovStatus status) {
  using Status = Strata::KrylovStatus;
  switch (status) {
    case Status::converged:
      return STRATA_CONVERGED;
    case Status::max_iterations:
    case Status::stopped:
      return STRATA_MAX_ITERATIONS;
    case Status::breakdown:
      return STRATA_BREAKDOWN;
    case Status::not_finite:
      return STRATA_NOT_FINITE;
    case Status::stagnated:
      return STRATA_STAGNATED;
    case Status::diverged:
      break;
  }
  return STRATA_DIVERGED;
}

/// The option that a method alone has.
void read_own(OptionReader& reader, Strata::CgOptions& options) {
  reader.read("launches", options.launches);
}
void read_own(OptionReader& reader, Strata::GmresOptions& options) {
  reader.read("restart", options.restart);
}
void read_own(OptionReader& reader, Strata::BiCgStabOptions& options) {
  reader.read("max_new_starts", options.max_new_starts);
}

template <template <class, class> class SolverOf, class Scalar, class Space>
class KrylovOf final : public Krylov {
  using Solver = SolverOf<Scalar, Space>;

 public:
  KrylovOf(const Matrix& matrix, const typename Solver::Options& options,
           void* stream) {
    const auto exec = on_stream<Space>(stream);
    with_arrays<Scalar>(exec, matrix, [&](const auto&... arrays) {
      matrix_ = Strata::SellMatrix<Scalar, Space>(exec, arrays..., matrix.rows);
    });
    solver_ = Solver(exec, matrix.rows, options);
  }

  KrylovEnd solve(const Factorization* preconditioner, const void* b, void* x,
                  void* stream) override {
    const std::int64_t rows = solver_.rows();
    require_array<Scalar>("b", b, rows);
    require_array<Scalar>("x", x, rows);
    const auto n = static_cast<std::size_t>(rows);
    const BorrowedArray<const Scalar, Space> from(static_cast<const Scalar*>(b),
                                                  n);
    const BorrowedArray<Scalar, Space> to(static_cast<Scalar*>(x), n);
    const auto exec = on_stream<Space>(stream);
    if (!preconditioner) return end_of(solver_.solve(exec, matrix_, from, to));
    const auto* const factors =
        dynamic_cast<const FactorizationOf<Scalar, Space>*>(preconditioner);
    if (!factors)
      throw Strata::OptionError("preconditioner",
                                "has another scalar type or memory than A",
                                "create it from a matrix of the same types");
    return end_of(solver_.solve(exec, matrix_, factors->factors(), from, to));
  }

  void update_values(const Matrix& matrix, void* stream) override {
    const auto exec = on_stream<Space>(stream);
    with_arrays<Scalar>(exec, matrix, [&](const auto&... arrays) {
      matrix_.update_values(exec, arrays...);
    });
  }

 private:
  static KrylovEnd end_of(const typename Solver::Result& result) {
    return {status_of(result.status), result.iterations, result.residual_norm};
  }

  Strata::SellMatrix<Scalar, Space> matrix_;
  Solver solver_;
};

template <template <class, class> class SolverOf>
void create(strata_krylov* solver, const Matrix& matrix, OptionReader& reader,
            const char* name, void* stream) {
  typename SolverOf<double, Host>::Options given;
  auto place = Place::automatic;
  reader.read("relative_tolerance", given.relative_tolerance);
  reader.read("absolute_tolerance", given.absolute_tolerance);
  reader.read("divergence_tolerance", given.divergence_tolerance);
  reader.read("max_iterations", given.max_iterations);
  reader.read("iterations_ahead", given.iterations_ahead);
  read_own(reader, given);
  reader.read("space", place);
  reader.finish(name);
  const bool on_device = is_on_device(matrix, place);
  initialize();
  with_types(matrix.scalar, on_device, [&](auto zero, auto space) {
    using Made = KrylovOf<SolverOf, decltype(zero), decltype(space)>;
    give_handle(solver, std::make_unique<Made>(matrix, given, stream));
  });
}

}  // namespace
}  // namespace StrataC

template <>
struct Strata::Detail::EnumeratorNames<StrataC::Method> {
  static constexpr const char* list[] = {"STRATA_CONJUGATE_GRADIENT",
                                         "STRATA_GMRES", "STRATA_BICGSTAB"};
};

using StrataC::guarded;
using StrataC::object_of;

strata_status strata_krylov_create(strata_krylov* solver, strata_matrix matrix,
                                   strata_method method, strata_options options,
                                   void* stream) {
  return guarded([&] {
    StrataC::require_place("solver", solver);
    const auto& of = object_of<StrataC::Matrix>("matrix", matrix);
    StrataC::OptionReader reader(options);
    switch (StrataC::enumerator<StrataC::Method>("method", method)) {
      case StrataC::Method::conjugate_gradient:
        return StrataC::create<Strata::ConjugateGradient>(
            solver, of, reader, "conjugate gradients", stream);
      case StrataC::Method::gmres:
        return StrataC::create<Strata::Gmres>(solver, of, reader, "GMRES",
                                              stream);
      case StrataC::Method::bicgstab:
        return StrataC::create<Strata::BiCgStab>(solver, of, reader, "BiCGStab",
                                                 stream);
    }
  });
}

strata_status strata_krylov_solve(strata_krylov solver,
                                  strata_factorization preconditioner,
                                  const void* b, void* x,
                                  strata_krylov_status* status, int* iterations,
                                  double* residual_norm, void* stream) {
  return guarded([&] {
    auto& of = object_of<StrataC::Krylov>("solver", solver);
    StrataC::require_pointer("status", status);
    const StrataC::Factorization* M = nullptr;
    if (preconditioner)
      M = &object_of<StrataC::Factorization>("preconditioner", preconditioner);
    const StrataC::KrylovEnd end = of.solve(M, b, x, stream);
    *status = end.status;
    if (iterations) *iterations = end.iterations;
    if (residual_norm) *residual_norm = end.residual_norm;
  });
}

strata_status strata_krylov_update_values(strata_krylov solver,
                                          strata_matrix matrix, void* stream) {
  return guarded([&] {
    auto& of = object_of<StrataC::Krylov>("solver", solver);
    of.update_values(object_of<StrataC::Matrix>("matrix", matrix), stream);
  });
}

strata_status strata_krylov_destroy(strata_krylov solver) {
  return StrataC::destroy<StrataC::Krylov>("solver", solver);
}
