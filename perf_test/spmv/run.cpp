// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products for one scalar type, STRATA_PERF_SCALAR: ours, Kokkos Kernels',
// cuSPARSE's.
// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosSparse_spmv.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_SellMatrix.hpp>
#include <complex>
#include <cstdlib>
#include <detail/Strata_PerfPoisson.hpp>
#include <detail/Strata_PerfSpmv.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <functional>
#include <limits>
#include <stdexcept>
#ifdef KOKKOS_ENABLE_CUDA
#include <detail/Strata_PerfCusparseSpmv.hpp>
#endif

namespace Strata {
namespace PerfTest {
namespace {

template <class Scalar>
std::complex<double> wide(const Scalar& v) {
  if constexpr (std::is_floating_point<Scalar>::value) {
    return {static_cast<double>(v), 0};
  } else {
    return {static_cast<double>(v.real()), static_cast<double>(v.imag())};
  }
}
template <class Scalar>
Scalar narrow(double real, double imaginary) {
  if constexpr (std::is_floating_point<Scalar>::value) {
    return static_cast<Scalar>(real);
  } else {
    return Scalar(real, imaginary);
  }
}

template <class Scalar>
class Runner : public SpmvRunner {
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = KokkosSparse::CrsMatrix<Scalar, int, Space, void, int>;
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Space>;

 public:
  explicit Runner(int vectors) : vectors_(vectors) {}

  void run(benchmark::State& state, const MatrixSource& source,
           const std::string& algorithm, SpmvResult& result) override {
    try {
      load(source);
      result.rows = A_.numRows();
      result.entries = static_cast<std::int64_t>(A_.nnz());
      result.useful_bytes =
          static_cast<double>(result.entries) * (sizeof(Scalar) + sizeof(int)) +
          static_cast<double>(result.rows + A_.numCols()) * vectors_ *
              sizeof(Scalar);
      const auto multiply = make(algorithm, result);
      Kokkos::deep_copy(y_, Scalar(std::numeric_limits<double>::quiet_NaN()));
      multiply();
      exec_.fence();
      result.error = error();
      result.right = result.error <= 1;
      const int batch = calls_per_batch(exec_, multiply);
      result.product_us = 1e6 * timing_loop(state, exec_, batch, multiply);
      result.measured = true;
    } catch (const std::exception& error) {
      result.message = error.what();
      state.SkipWithError(error.what());
      return;
    }
    if (!result.right) state.SetLabel("WRONG");
    auto& counters = state.counters;
    counters["rows"] = static_cast<double>(result.rows);
    counters["nnz"] = static_cast<double>(result.entries);
    counters["build_us"] = result.build_us;
    counters["update_us"] = result.update_us;
    counters["gbytes_per_second"] =
        result.useful_bytes / result.product_us * 1e-3;
    counters["padding"] = result.padding;
    counters["wrong"] = result.right ? 0 : 1;
  }

 private:
  void load(const MatrixSource& source) {
    if (source_ == &source) {
      if (A_.numRows() == 0) throw std::runtime_error("no matrix");
      return;
    }
    source_ = &source;
    A_ = Matrix();
    if (source.is_file)
      A_ = read_matrix_market<Matrix>(source.spec);
    else if (starts_with(source.spec, "poisson:"))
      A_ = poisson_cube<Matrix>(exec_, std::atoll(source.spec.c_str() + 8));
    else
      A_ = gallery<Matrix>(exec_, source.spec);
    x_ = Vectors("x", A_.numCols(), vectors_);
    y_ = Vectors("y", A_.numRows(), vectors_);
    const auto x = Kokkos::create_mirror_view(x_);
    std::uint64_t bits = 12345;
    const auto draw = [&] {
      bits = bits * 6364136223846793005ULL + 1442695040888963407ULL;
      return static_cast<double>(bits >> 40) * 0x1p-24 - 0.5;
    };
    for (int c = 0; c < vectors_; ++c)
      for (std::size_t i = 0; i < x.extent(0); ++i) {
        const double real = draw();
        x(i, c) = narrow<Scalar>(real, draw());
      }
    Kokkos::deep_copy(x_, x);
    host_x_ = x;
  }

  /// What multiplies, ready to run; build and update times go to `result`.
  std::function<void()> make(const std::string& name, SpmvResult& result) {
    if (is_own_spmv(name)) {
      SellOptions options;
      options.use_diagonals = name == "strata";
      std::shared_ptr<SellMatrix<Scalar, Space>> A;
      result.build_us =
          1e6 * median_seconds(exec_, [&] {
            A = std::make_shared<SellMatrix<Scalar, Space>>(exec_, A_, options);
          });
      result.update_us =
          1e6 * median_seconds(exec_, [&] { A->update_values(exec_, A_); });
      result.padding = A->report().padding();
      if (vectors_ == 1) {
        const auto x = Kokkos::subview(x_, Kokkos::ALL(), 0);
        const auto y = Kokkos::subview(y_, Kokkos::ALL(), 0);
        return [this, A, x, y] { A->apply(exec_, x, y); };
      }
      return [this, A] { A->apply(exec_, x_, y_); };
    }
    if (name == "kokkos_kernels") {
      if (vectors_ == 1) {
        const auto x = Kokkos::subview(x_, Kokkos::ALL(), 0);
        const auto y = Kokkos::subview(y_, Kokkos::ALL(), 0);
        return [this, x, y] {
          KokkosSparse::spmv("N", Scalar(1), A_, x, Scalar(0), y);
        };
      }
      return
          [this] { KokkosSparse::spmv("N", Scalar(1), A_, x_, Scalar(0), y_); };
    }
#ifdef KOKKOS_ENABLE_CUDA
    std::shared_ptr<CusparseSpmv<Matrix>> peer;
    result.build_us = 1e6 * median_seconds(exec_, [&] {
                        peer = std::make_shared<CusparseSpmv<Matrix>>(
                            exec_, name, A_, x_, y_);
                      });
    return [peer] { peer->multiply(); };
#else
    throw std::runtime_error("this build has no " + name);
#endif
  }

  /// The largest difference of y from host sums in double (of float, exact
  /// products), over 8 (row length + 8) roundings of the sum of magnitudes.
  double error() const {
    const Kokkos::HostSpace host;
    const auto row_map =
        Kokkos::create_mirror_view_and_copy(host, A_.graph.row_map);
    const auto entries =
        Kokkos::create_mirror_view_and_copy(host, A_.graph.entries);
    const auto values = Kokkos::create_mirror_view_and_copy(host, A_.values);
    const auto y = Kokkos::create_mirror_view_and_copy(host, y_);
    const double roundoff =
        std::is_same<Scalar, float>::value ||
                std::is_same<Scalar, Kokkos::complex<float>>::value
            ? 6e-8
            : 1.2e-16;
    double worst = 0;
    for (int c = 0; c < vectors_; ++c)
      for (int i = 0; i < A_.numRows(); ++i) {
        std::complex<double> sum = 0;
        double size = 0;
        for (int k = row_map(i); k < row_map(i + 1); ++k) {
          const auto term = wide(values(k)) * wide(host_x_(entries(k), c));
          sum += term;
          size += std::abs(term.real()) + std::abs(term.imag());
        }
        const double off = std::abs(wide(y(i, c)) - sum);
        const double bound =
            8.0 * (row_map(i + 1) - row_map(i) + 8) * roundoff * size;
        if (off == 0) continue;
        // Not-a-number is the worst.
        if (!(off <= bound * worst))
          worst = std::isfinite(off) && bound > 0
                      ? off / bound
                      : std::numeric_limits<double>::max();
      }
    return worst;
  }

  Space exec_;
  int vectors_;
  const MatrixSource* source_ = nullptr;
  Matrix A_;
  Vectors x_, y_;
  typename Vectors::HostMirror host_x_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<SpmvRunner> make_spmv_runner(int vectors) {
  return std::make_unique<Runner<Scalar>>(vectors);
}
template std::unique_ptr<SpmvRunner> make_spmv_runner<STRATA_PERF_SCALAR>(int);

}  // namespace PerfTest
}  // namespace Strata
