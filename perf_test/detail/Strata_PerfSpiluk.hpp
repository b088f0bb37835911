// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SPILUK_HPP
#define STRATA_PERF_SPILUK_HPP

#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_spiluk.hpp>
#include <detail/Strata_PerfFactorCheck.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <detail/Strata_PerfKokkosKernels.hpp>
#include <optional>

namespace Strata {
namespace PerfTest {

// Where releases of Kokkos Kernels have spiluk's functions.
#if defined(KOKKOSKERNELS_VERSION) && KOKKOSKERNELS_VERSION >= 40600
namespace SpilukFunctions = ::KokkosSparse;
#else
namespace SpilukFunctions = ::KokkosSparse::Experimental;
#endif

/// Kokkos Kernels' spiluk with no fill, as its examples call it, and its
/// sptrsv. The latter reads the values at every solve, so that new ones cost
/// nothing there.
template <class Scalar>
class SpilukFactorizer : public Factorizer<Scalar> {
  using Matrix = typename Factorizer<Scalar>::Matrix;
  using Space = typename Factorizer<Scalar>::ExecutionSpace;
  using Vector = typename Factorizer<Scalar>::Vector;
  using Memory = typename Space::memory_space;
  using Solver = KokkosKernelsSptrsv<Scalar>;
  using Handle =
      KokkosKernels::Experimental::KokkosKernelsHandle<int, int, Scalar, Space,
                                                       Memory, Memory>;
  using Algorithm = KokkosSparse::Experimental::SPILUKAlgorithm;
  using Device = typename PerfTest::Problem<Scalar>::Device;
  using Indices = Kokkos::View<int*, Device>;
  using Values = Kokkos::View<Scalar*, Device>;

 public:
  explicit SpilukFactorizer(const FactorProblem<Scalar>& problem)
      : problem_(problem) {
    lower_.system.uplo = Uplo::lower;
    upper_.system.uplo = Uplo::upper;
    lower_.system.b = problem.b;
    lower_.system.x = upper_.system.b = typename FactorProblem<Scalar>::Vectors(
        "y", static_cast<std::size_t>(problem.rows()), 1);
    upper_.system.x = problem.x;
    for (int i = 0; i < problem.rows(); ++i) {
      lower_.room += problem.diagonal[i] + 1 - problem.row_map(i);
      upper_.room += problem.row_map(i + 1) - problem.diagonal[i];
    }
    for (Factor* factor : {&lower_, &upper_})
      factor->solver.emplace(factor->system, Solver::Method::SEQLVLSCHD_TP1);
  }
  ~SpilukFactorizer() override {
    if (has_handle_) handle_.destroy_spiluk_handle();
  }

  void analyse() override {
    const int n = problem_.rows();
    for (Factor* factor : {&lower_, &upper_}) {
      factor->row_map = Indices("row map", static_cast<std::size_t>(n) + 1);
      factor->entries =
          Indices("entries", static_cast<std::size_t>(factor->room));
    }
    if (has_handle_) handle_.destroy_spiluk_handle();
    has_handle_ = true;
    handle_.create_spiluk_handle(Algorithm::SEQLVLSCHD_TP1, n, lower_.room,
                                 upper_.room);
    auto row_map = problem_.matrix.graph.row_map;
    auto entries = problem_.matrix.graph.entries;
    SpilukFunctions::spiluk_symbolic(&handle_, 0, row_map, entries,
                                     lower_.row_map, lower_.entries,
                                     upper_.row_map, upper_.entries);
    Space().fence();
    auto& found = *handle_.get_spiluk_handle();
    for (Factor* factor : {&lower_, &upper_}) {
      const auto size = static_cast<std::size_t>(
          factor == &lower_ ? found.get_nnzL() : found.get_nnzU());
      Kokkos::resize(factor->entries, size);
      factor->values = Values("values", size);
      factor->system.matrix =
          Matrix("factor", n, n, static_cast<int>(size), factor->values,
                 factor->row_map, factor->entries);
    }
  }
  void compute(const Matrix& A) override {
    auto row_map = A.graph.row_map;
    auto entries = A.graph.entries;
    auto values = A.values;
    SpilukFunctions::spiluk_numeric(
        &handle_, 0, row_map, entries, values, lower_.row_map, lower_.entries,
        lower_.values, upper_.row_map, upper_.entries, upper_.values);
  }
  void make_ready() override {
    analyse();
    compute(problem_.matrix);
    lower_.solver->analyse();
    upper_.solver->analyse();
  }
  void update_values(const Matrix& A) override {
    compute(A);
    lower_.solver->update();
    upper_.solver->update();
  }
  void apply(const Vector& b, const Vector& x) override {
    const Vector y(lower_.system.x.data(), lower_.system.x.extent(0));
    lower_.solver->solve_with(b, y);
    upper_.solver->solve_with(y, x);
  }
  std::vector<Scalar> factors() override {
    return on_pattern(problem_, lower_.system.matrix, upper_.system.matrix);
  }

 private:
  struct Factor {
    int room = 0;  ///< entries that the symbolic phase asks for
    Indices row_map, entries;
    Values values;
    PerfTest::Problem<Scalar> system;
    std::optional<Solver> solver;
  };

  const FactorProblem<Scalar>& problem_;
  Handle handle_;
  bool has_handle_ = false;
  Factor lower_, upper_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
