// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Strata_TriangularSolver.hpp>

#include "Arrays.hpp"

namespace StrataC {

/// A solver of any types.
class Triangular : public Object {
 public:
  static constexpr const char* kind = "one of strata_triangular_create";
  virtual void solve(const Vectors& vectors, void* stream) const = 0;
  virtual void update_values(const Matrix& matrix, void* stream) = 0;
  virtual void update_pattern(const Matrix& matrix, void* stream) = 0;
  virtual void enqueue_values(const void* values, void* stream) = 0;
  virtual Strata::UpdateStatus fault(void* stream) const = 0;
  virtual std::unique_ptr<Object> share(void* stream) const = 0;
  virtual const char* report() = 0;
};

namespace {

template <class Scalar, class Space>
class TriangularOf final : public Triangular {
  using Solver = Strata::TriangularSolver<Scalar, Space>;

 public:
  TriangularOf(const Matrix& matrix, Strata::Uplo uplo, Strata::Diag diag,
               const Strata::TriangularOptions& options, void* stream)
      : entries_(std::make_shared<std::int64_t>(matrix.entries)) {
    const auto exec = on_stream<Space>(stream);
    with_arrays<Scalar>(exec, matrix, [&](const auto&... arrays) {
      solver_ = Solver(exec, arrays..., uplo, diag, options);
    });
  }
  TriangularOf(Solver solver, std::shared_ptr<std::int64_t> entries)
      : solver_(std::move(solver)), entries_(std::move(entries)) {}

  void solve(const Vectors& vectors, void* stream) const override {
    with_vectors<Scalar, Space>(vectors, solver_.report().rows,
                                [&](const auto& b, const auto& x) {
                                  solver_.solve(on_stream<Space>(stream), b, x);
                                });
  }
  void update_values(const Matrix& matrix, void* stream) override {
    const auto exec = on_stream<Space>(stream);
    with_arrays<Scalar>(exec, matrix, [&](const auto&... arrays) {
      solver_.update_values(exec, arrays...);
    });
  }
  void update_pattern(const Matrix& matrix, void* stream) override {
    const auto exec = on_stream<Space>(stream);
    with_arrays<Scalar>(exec, matrix, [&](const auto&... arrays) {
      solver_.update_pattern(exec, arrays...);
    });
    *entries_ = matrix.entries;
  }
  void enqueue_values(const void* values, void* stream) override {
    solver_.enqueue_update_values(
        on_stream<Space>(stream),
        values_view<Scalar, Space>(values, *entries_));
  }
  Strata::UpdateStatus fault(void* stream) const override {
    return fetch_status(on_stream<Space>(stream), solver_.update_status());
  }
  std::unique_ptr<Object> share(void* stream) const override {
    return std::make_unique<TriangularOf>(
        solver_.share_plan(on_stream<Space>(stream)), entries_);
  }
  const char* report() override {
    report_ = to_string(solver_.report());
    return report_.c_str();
  }

 private:
  Solver solver_;
  /// Of all that share the plan.
  std::shared_ptr<std::int64_t> entries_;
  std::string report_;
};

}  // namespace
}  // namespace StrataC

using StrataC::guarded;
using StrataC::object_of;
using StrataC::Triangular;

namespace {
Triangular& triangular(strata_triangular solver) {
  return object_of<Triangular>("solver", solver);
}
}  // namespace

strata_status strata_triangular_create(strata_triangular* solver,
                                       strata_matrix matrix, strata_uplo uplo,
                                       strata_diag diag, strata_options options,
                                       void* stream) {
  return guarded([&] {
    StrataC::require_place("solver", solver);
    const auto& of = object_of<StrataC::Matrix>("matrix", matrix);
    const auto which = StrataC::enumerator<Strata::Uplo>("uplo", uplo);
    const auto diagonal = StrataC::enumerator<Strata::Diag>("diag", diag);
    StrataC::OptionReader reader(options);
    auto place = StrataC::Place::automatic;
    Strata::TriangularOptions given;
    StrataC::read_plan_options(reader, given);
    reader.read("op", given.op);
    reader.read("take_triangle", given.take_triangle);
    reader.read("enqueue_updates", given.enqueue_updates);
    reader.read("space", place);
    reader.finish("a triangular solver");
    const bool on_device = is_on_device(of, place);
    StrataC::initialize();
    StrataC::with_types(of.scalar, on_device, [&](auto zero, auto space) {
      using Made = StrataC::TriangularOf<decltype(zero), decltype(space)>;
      give_handle(solver,
                  std::make_unique<Made>(of, which, diagonal, given, stream));
    });
  });
}

strata_status strata_triangular_solve(strata_triangular solver, const void* b,
                                      int64_t ldb, void* x, int64_t ldx,
                                      int64_t nrhs, strata_layout layout,
                                      void* stream) {
  return guarded([&] {
    triangular(solver).solve({b, ldb, x, ldx, nrhs, layout}, stream);
  });
}

strata_status strata_triangular_update_values(strata_triangular solver,
                                              strata_matrix matrix,
                                              void* stream) {
  return guarded([&] {
    auto& of = triangular(solver);
    of.update_values(object_of<StrataC::Matrix>("matrix", matrix), stream);
  });
}

strata_status strata_triangular_update_pattern(strata_triangular solver,
                                               strata_matrix matrix,
                                               void* stream) {
  return guarded([&] {
    auto& of = triangular(solver);
    of.update_pattern(object_of<StrataC::Matrix>("matrix", matrix), stream);
  });
}

strata_status strata_triangular_enqueue_values(strata_triangular solver,
                                               const void* values,
                                               void* stream) {
  return guarded([&] { triangular(solver).enqueue_values(values, stream); });
}

strata_status strata_triangular_fault(strata_triangular solver,
                                      strata_fault* fault, int64_t* row,
                                      void* stream) {
  return guarded([&] {
    StrataC::give_fault(triangular(solver).fault(stream), fault, row);
  });
}

strata_status strata_triangular_share(strata_triangular solver,
                                      strata_triangular* shared, void* stream) {
  return guarded([&] {
    StrataC::require_place("shared", shared);
    StrataC::give_handle(shared, triangular(solver).share(stream));
  });
}

strata_status strata_triangular_report(strata_triangular solver,
                                       const char** text) {
  return guarded([&] {
    StrataC::require_pointer("text", text);
    *text = triangular(solver).report();
  });
}

strata_status strata_triangular_destroy(strata_triangular solver) {
  return StrataC::destroy<Triangular>("solver", solver);
}
