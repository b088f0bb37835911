// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products for one scalar type, STRATA_PERF_SCALAR: ours, Kokkos Kernels',
// cuSPARSE's.
// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosSparse_spmv.hpp>
#include <Strata_SellMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <detail/Strata_PerfBlockEll.hpp>
#include <detail/Strata_PerfParts.hpp>
#include <detail/Strata_PerfRandomVectors.hpp>
#include <detail/Strata_PerfSpmv.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <detail/Strata_PerfTriangle.hpp>
#include <functional>
#include <limits>
#include <stdexcept>
#include <type_traits>
#ifdef KOKKOS_ENABLE_CUDA
#include <detail/Strata_PerfCusparseSpmv.hpp>
#endif

namespace Strata {
namespace PerfTest {
namespace {

/// How far each element of y is from its row's sum in double (of float, exact
/// products), over 8 (row length + 8) roundings of the sum of magnitudes. What
/// is not finite is the worst.
template <class Matrix, class Vectors>
struct ProductError {
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;
  typename Matrix::values_type values;
  Vectors x, y;
  double roundoff;
  std::int64_t rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double& worst) const {
    const std::int64_t row = i % rows, column = i / rows;
    const auto begin = row_map(row), end = row_map(row + 1);
    Kokkos::complex<double> sum(0);
    double size = 0;
    for (auto k = begin; k < end; ++k) {
      const auto term = in_double(values(k)) * in_double(x(entries(k), column));
      sum += term;
      size += sum_of_parts(term);
    }
    const double off = sum_of_parts(in_double(y(row, column)) - sum);
    if (off == 0) return;
    const double bound =
        8.0 * (static_cast<double>(end - begin) + 8) * roundoff * size;
    const double error = off <= 1e300 && bound > 0 ? off / bound : 1e300;
    worst = error > worst ? error : worst;
  }
};

/// A row for each thread, as one writes it first: in CRS, neighbouring threads
/// read far apart (Gao 2023, section 1.1).
template <class Matrix, class Vectors>
struct CrsRow {
  using Scalar = typename Matrix::non_const_value_type;
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;
  typename Matrix::values_type values;
  Vectors x, y;
  std::int64_t rows;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i % rows, column = i / rows;
    Scalar sum(0);
    for (auto k = row_map(row); k < row_map(row + 1); ++k)
      sum += values(k) * x(entries(k), column);
    y(row, column) = sum;
  }
};

template <class Scalar>
using SpmvMatrix =
    KokkosSparse::CrsMatrix<Scalar, int, Kokkos::DefaultExecutionSpace, void,
                            int>;

template <class Scalar>
class Runner : public MatrixRunner<SpmvResult, SpmvMatrix<Scalar>> {
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = SpmvMatrix<Scalar>;
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Space>;

 public:
  explicit Runner(const SpmvSettings& settings) : settings_(settings) {}

 private:
  std::unique_ptr<Matrix> load(const MatrixSource& source) override {
    x_ = y_ = Vectors();
    auto A = std::make_unique<Matrix>(
        settings_.factor ? load_triangle<Matrix>(source, *settings_.factor,
                                                 settings_.reorder)
                         : load_whole_matrix<Matrix>(exec_, source));
    if (A->numRows() == 0) throw std::runtime_error("no rows");
    return A;
  }
  const Matrix& A() const { return *this->problem_; }

  void measure(benchmark::State& state, SpmvResult& result) override {
    make_vectors(result.vectors);
    result.rows = A().numRows();
    result.entries = static_cast<std::int64_t>(A().nnz());
    result.useful_bytes =
        static_cast<double>(result.entries) * (sizeof(Scalar) + sizeof(int)) +
        static_cast<double>(result.rows + A().numCols()) * result.vectors *
            sizeof(Scalar);
    const auto multiply = make_if_allowed(result);
    Kokkos::deep_copy(y_, Scalar(std::numeric_limits<double>::quiet_NaN()));
    multiply();
    exec_.fence();
    result.relative_error = error();
    const int batch = calls_per_batch(exec_, multiply);
    result.product_us = 1e6 * timing_loop(state, exec_, batch, multiply);
    result.outcome =
        result.relative_error <= 1 ? Outcome::right : Outcome::wrong;
  }

  /// Options that the library refuses are the command line's fault.
  std::function<void()> make_if_allowed(SpmvResult& result) {
    try {
      return make(result);
    } catch (const OptionError& error) {
      throw EndedBadly(error.what(), Outcome::bad_input);
    }
  }

  void make_vectors(int vectors) {
    if (static_cast<int>(x_.extent(1)) == vectors) return;
    x_ = y_ = Vectors();
    y_ = Vectors("y", A().numRows(), vectors);
    x_ = Vectors("x", A().numCols(), vectors);
    draw_vectors(exec_, x_, 12345, 0);
  }

  /// What multiplies, ready to run; build and update times go to `result`.
  std::function<void()> make(SpmvResult& result) {
    const std::string& name = result.algorithm;
    const bool single = result.vectors == 1;
    if (name == "strata_blocks") return make_blocks(result);
    if (is_stratas(name)) {
      SellOptions options = settings_.sell;
      options.use_diagonals = name == "strata";
      std::shared_ptr<SellMatrix<Scalar, Space>> sell;
      result.build_us = 1e6 * median_seconds(exec_, [&] {
                          sell = std::make_shared<SellMatrix<Scalar, Space>>(
                              exec_, A(), options);
                        });
      result.update_us =
          1e6 * median_seconds(exec_, [&] { sell->update_values(exec_, A()); });
      result.padding = sell->report().padding();
      result.chunk_rows = sell->report().chunk_rows;
      result.sigma = sell->report().sigma;
      result.lanes = sell->report().lanes_per_row;
      if (single) {
        const auto x = Kokkos::subview(x_, Kokkos::ALL(), 0);
        const auto y = Kokkos::subview(y_, Kokkos::ALL(), 0);
        return [this, sell, x, y] { sell->apply(exec_, x, y); };
      }
      return [this, sell] { sell->apply(exec_, x_, y_); };
    }
    if (name == "crs") {
      const auto rows = static_cast<std::int64_t>(A().numRows());
      const CrsRow<Matrix, Vectors> row{
          A().graph.row_map, A().graph.entries, A().values, x_, y_, rows};
      const std::int64_t all = rows * static_cast<std::int64_t>(y_.extent(1));
      return [this, row, all] {
        Kokkos::parallel_for("crs", Detail::RangeOf<Space>(exec_, 0, all), row);
      };
    }
    if (name == "kokkos_kernels") {
      if (single) {
        const auto x = Kokkos::subview(x_, Kokkos::ALL(), 0);
        const auto y = Kokkos::subview(y_, Kokkos::ALL(), 0);
        return [this, x, y] {
          KokkosSparse::spmv("N", Scalar(1), A(), x, Scalar(0), y);
        };
      }
      // Its product with several complex vectors takes minutes to compile.
      if constexpr (!std::is_floating_point<Scalar>::value) {
        return [this] {
          for (std::size_t c = 0; c < x_.extent(1); ++c)
            KokkosSparse::spmv("N", Scalar(1), A(),
                               Kokkos::subview(x_, Kokkos::ALL(), c), Scalar(0),
                               Kokkos::subview(y_, Kokkos::ALL(), c));
        };
      } else {
        return [this] {
          KokkosSparse::spmv("N", Scalar(1), A(), x_, Scalar(0), y_);
        };
      }
    }
#ifdef KOKKOS_ENABLE_CUDA
    if (starts_with(name, "cusparse_spmm"))
      return make_peer<CusparseSpmm<Matrix>>(name, result);
    return make_peer<CusparseSpmv<Matrix>>(name, result);
#else
    throw std::runtime_error("this build has no " + name);
#endif
  }

  std::function<void()> make_blocks(SpmvResult& result) {
    using Product = BlockEllProduct<Matrix>;
    std::shared_ptr<Product> blocks;
    const Uplo uplo = uplo_of(*settings_.factor);
    result.build_us = 1e6 * median_seconds(exec_, [&] {
                        blocks = std::make_shared<Product>(exec_, A(), uplo);
                      });
    result.update_us = std::numeric_limits<double>::quiet_NaN();
    result.padding = 1 - static_cast<double>(A().nnz()) /
                             static_cast<double>(blocks->num_slots());
    result.chunk_rows = A().numRows() / std::max(1, blocks->num_blocks());
    result.sigma = result.lanes = 1;
    return [this, blocks] { blocks->multiply(exec_, x_, y_); };
  }

#ifdef KOKKOS_ENABLE_CUDA
  template <class Peer>
  std::function<void()> make_peer(const std::string& name, SpmvResult& result) {
    std::shared_ptr<Peer> peer;
    result.build_us = 1e6 * median_seconds(exec_, [&] {
                        peer = std::make_shared<Peer>(exec_, name, A(), x_, y_);
                      });
    return [peer] { peer->multiply(); };
  }
#endif

  double error() const {
    constexpr bool short_digits =
        std::is_same<Scalar, float>::value ||
        std::is_same<Scalar, Kokkos::complex<float>>::value;
    double worst = 0;
    const auto rows = static_cast<std::int64_t>(A().numRows());
    Kokkos::parallel_reduce(
        "spmv::error",
        Detail::RangeOf<Space>(exec_, 0,
                               rows * static_cast<std::int64_t>(y_.extent(1))),
        ProductError<Matrix, Vectors>{A().graph.row_map, A().graph.entries,
                                      A().values, x_, y_,
                                      short_digits ? 6e-8 : 1.2e-16, rows},
        Kokkos::Max<double>(worst));
    exec_.fence();
    return std::max(worst, 0.0);
  }

  Space exec_;
  SpmvSettings settings_;
  Vectors x_, y_;
};

const SpmvRunners::Added<Runner<STRATA_PERF_SCALAR>> added(
    STRATA_PERF_SCALAR_NAME);

}  // namespace
}  // namespace PerfTest
}  // namespace Strata
