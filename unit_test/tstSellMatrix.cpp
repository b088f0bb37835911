// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosSparse_spmv.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_SellMatrix.hpp>
#include <complex>
#include <limits>
#include <random>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"
#include "VectorBlock.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Strata::generator;
using Strata::SolverTest::Storage;
using Strata::SolverTest::VectorBlock;
template <class Scalar, class Ordinal, class Offset>
using Crs = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, void, Offset>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Scalar>
struct Random {
  static Scalar make() {
    return Scalar(std::uniform_real_distribution<double>(-1, 1)(generator()));
  }
};
template <class Real>
struct Random<Kokkos::complex<Real>> {
  static Kokkos::complex<Real> make() {
    return {Random<Real>::make(), Random<Real>::make()};
  }
};
template <class Scalar>
std::vector<Scalar> random_vector(std::int64_t n) {
  std::vector<Scalar> v(n);
  for (auto& a : v) a = Random<Scalar>::make();
  return v;
}
template <class Real>
long double wide(Real v) {
  return v;
}
template <class Real>
std::complex<long double> wide(const Kokkos::complex<Real>& v) {
  return {v.real(), v.imag()};
}
template <class Scalar>
double unit_roundoff() {
  return std::is_same<Scalar, float>::value ||
                 std::is_same<Scalar, Kokkos::complex<float>>::value
             ? 6e-8
             : 1.2e-16;
}

/// Rows of random length up to `longest`, in random order, columns repeated.
template <class Scalar>
HostMatrix<Scalar> ragged(std::int64_t rows, std::int64_t columns,
                          int longest) {
  HostMatrix<Scalar> A;
  A.rows = rows;
  A.columns = columns;
  for (std::int64_t i = 0; i < rows; ++i) {
    const unsigned draw = generator()() % 16;
    const int length = draw == 0  ? longest
                       : draw < 4 ? 0
                                  : static_cast<int>(draw) % 7;
    for (int k = 0; k < length; ++k) {
      A.entries.push_back(generator()() % columns);
      A.values.push_back(Random<Scalar>::make());
    }
    A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
  }
  return A;
}

template <class X, class Y>
constexpr bool same_rank = static_cast<int>(std::decay_t<X>::rank) ==
                           static_cast<int>(std::decay_t<Y>::rank);

/// Random vectors x, column by column, with A x and the sums of the moduli of
/// its terms in long double.
template <class Scalar>
struct Product {
  using Wide = decltype(wide(Scalar()));

  Product(const HostMatrix<Scalar>& A, std::int64_t vectors)
      : x(random_vector<Scalar>(A.columns * vectors)) {
    for (std::int64_t c = 0; c < vectors; ++c)
      for (std::int64_t i = 0; i < A.rows; ++i) {
        Wide row_sum = 0;
        long double row_size = 0;
        for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
          const auto term =
              wide(A.values[k]) * wide(x[c * A.columns + A.entries[k]]);
          row_sum += term;
          row_size += std::abs(term);
        }
        sum.push_back(row_sum);
        size.push_back(row_size);
      }
  }

  std::vector<Scalar> x;
  std::vector<Wide> sum;
  std::vector<long double> size;
};

/// |y - (alpha A x + beta y0)| against a bound on the rounding of each row, for
/// the first columns of the product.
template <class Scalar>
void expect_product(const HostMatrix<Scalar>& A, Scalar alpha,
                    const Product<Scalar>& product, Scalar beta,
                    const std::vector<Scalar>& y0, const std::vector<Scalar>& y,
                    std::int64_t vectors) {
  for (std::int64_t c = 0; c < vectors; ++c)
    for (std::int64_t i = 0; i < A.rows; ++i) {
      auto sum = product.sum[c * A.rows + i] * wide(alpha);
      auto size = product.size[c * A.rows + i] * std::abs(wide(alpha));
      if (beta != Scalar(0)) {
        const auto term = wide(beta) * wide(y0[c * A.rows + i]);
        sum += term;
        size += std::abs(term);
      }
      const double steps =
          static_cast<double>(A.row_map[i + 1] - A.row_map[i]) + 4;
      ASSERT_LE(std::abs(wide(y[c * A.rows + i]) - sum),
                4 * steps * unit_roundoff<Scalar>() * size)
          << "row " << i << " vector " << c;
    }
}

template <class Scalar>
void check(const HostMatrix<Scalar>& host,
           const Strata::SellMatrix<Scalar, Device>& A,
           const Product<Scalar>& product, Storage of_x, Storage of_y,
           std::int64_t vectors) {
  const Device exec;
  const auto y0 = random_vector<Scalar>(host.rows * vectors);
  const VectorBlock<Scalar, Device> x(of_x, host.columns, vectors, 1),
      y(of_y, host.rows, vectors, 3);
  x.set(product.x);
  for (const Scalar beta : {Scalar(0), Random<Scalar>::make()}) {
    const Scalar alpha = Random<Scalar>::make();
    std::vector<Scalar> first;
    for (int run = 0; run < 2; ++run) {
      // With beta = 0, y is not to be read.
      y.set(beta == Scalar(0)
                ? std::vector<Scalar>(host.rows * vectors, Scalar(nan))
                : y0);
      x.with_view([&](const auto& xv) {
        y.with_view([&](const auto& yv) {
          if constexpr (same_rank<decltype(xv), decltype(yv)>) {
            A.apply(exec, alpha, xv, beta, yv);
          }
        });
      });
      const auto result = y.get();
      if (run == 0) {
        expect_product(host, alpha, product, beta, y0, result, vectors);
        first = result;
      } else {
        ASSERT_EQ(result, first) << "not the same bits";
      }
    }
    ASSERT_TRUE(y.surroundings_intact());
  }
}

template <class Scalar>
void check(const HostMatrix<Scalar>& host,
           const Strata::SellMatrix<Scalar, Device>& A, Storage storage,
           std::int64_t vectors) {
  check<Scalar>(host, A, Product<Scalar>(host, vectors), storage, storage,
                vectors);
}

template <class Matrix>
void check_shapes() {
  using Scalar = typename Matrix::non_const_value_type;
  const Device exec;
  const Storage storages[] = {Storage::rank1, Storage::rank1_strided,
                              Storage::left, Storage::right, Storage::strided};
  const std::int64_t vectors[] = {1, 1, 3, 9, 2};
  int turn = 0;
  for (const std::int64_t rows : {1, 31, 97, 700})
    for (const int chunk_rows : {0, 1, 7, 32, 100})
      for (const std::int64_t sigma : {0, 1, 50, 100000}) {
        const auto host = ragged<Scalar>(rows, 1 + generator()() % 300, 150);
        Strata::SellOptions options;
        options.chunk_rows = chunk_rows;
        options.sigma = sigma;
        options.long_row = turn % 3 == 0 ? 0 : 10 * (turn % 3);
        if (on_gpu<Device>)
          options.lanes_per_row =
              turn % 4 == 0 ? 0
                            : 1 << turn % (Strata::Detail::gpu_log_lanes + 1);
        const Strata::SellMatrix<Scalar, Device> A(
            exec, host.template to_device<Matrix>(), options);
        const auto& report = A.report();
        ASSERT_EQ(report.entries, host.row_map.back());
        ASSERT_GE(report.slots, report.entries);
        ASSERT_LT(report.padding(), 1.0 + 1e-15);
        const int s = turn++ % 5;
        check<Scalar>(host, A, storages[s], vectors[s]);
        if (testing::Test::HasFatalFailure()) {
          ADD_FAILURE() << rows << " rows, C " << chunk_rows << ", sigma "
                        << sigma << ", turn " << turn;
          return;
        }
      }
}

TEST(SellMatrix, ProductsOfAnyShapeAreRightInDouble) {
  check_shapes<Crs<double, int, int>>();
}
TEST(SellMatrix, ProductsOfAnyShapeAreRightInFloat) {
  check_shapes<Crs<float, int, std::int64_t>>();
}
TEST(SellMatrix, ProductsOfAnyShapeAreRightInComplexDouble) {
  check_shapes<Crs<Kokkos::complex<double>, std::int64_t, std::size_t>>();
}
TEST(SellMatrix, ProductsOfAnyShapeAreRightInComplexFloat) {
  check_shapes<Crs<Kokkos::complex<float>, std::int64_t, std::int64_t>>();
}

TEST(SellMatrix, GalleryAgreesWithKokkosKernels) {
  using Matrix = Crs<double, int, int>;
  const Device exec;
  for (const auto* spec :
       {"grid3d:13", "grid2d9:40", "circuit:3000", "arrow:20000", "gene:300",
        "chain:1", "diagonal:100", "random:500x9", "cubed_sphere:3"}) {
    const auto crs = Strata::gallery<Matrix>(exec, spec);
    const auto x0 = random_vector<double>(crs.numCols());
    const VectorBlock<double, Device> x(Storage::rank1, crs.numCols(), 1);
    x.set(x0);
    const Kokkos::View<double*, Device> y("y", crs.numRows()),
        z("z", crs.numRows());
    const Kokkos::View<const double*, Device> xv = [&] {
      Kokkos::View<double*, Device> v("x", crs.numCols());
      const auto mirror = Kokkos::create_mirror_view(v);
      for (std::size_t i = 0; i < x0.size(); ++i) mirror(i) = x0[i];
      Kokkos::deep_copy(v, mirror);
      return v;
    }();
    Strata::SellMatrix A(exec, crs);
    A.apply(exec, xv, y);
    KokkosSparse::spmv("N", 1.0, crs, xv, 0.0, z);
    Kokkos::fence();
    const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), z);
    double largest = 0;
    for (std::size_t i = 0; i < b.extent(0); ++i)
      largest = std::max(largest, std::abs(b(i)));
    for (std::size_t i = 0; i < b.extent(0); ++i)
      ASSERT_NEAR(a(i), b(i), 1e-13 * largest) << spec << " row " << i;
  }
}

TEST(SellMatrix, GridsAreStoredByDiagonals) {
  using Matrix = Crs<double, int, int>;
  const Device exec;
  const auto crs = Strata::gallery<Matrix>(exec, "grid3d:32");
  // A device would share so few rows among lanes.
  Strata::SellOptions options;
  options.lanes_per_row = 1;
  const Strata::SellMatrix A(exec, crs, options);
  EXPECT_EQ(A.report().diagonal_chunks, A.report().chunks);
  options.use_diagonals = false;
  const Strata::SellMatrix B(exec, crs, options);
  EXPECT_EQ(B.report().diagonal_chunks, 0);
  EXPECT_LT(A.report().bytes_read, B.report().bytes_read);
  const HostMatrix<double> host(crs);
  check(host, A, Storage::right, 5);
  check(host, B, Storage::left, 5);
}

template <class Scalar>
void check_vectors(const char* spec, const Strata::SellOptions& options = {}) {
  const Device exec;
  const HostMatrix<Scalar> host(
      Strata::gallery<Crs<Scalar, int, int>>(exec, spec));
  const Strata::SellMatrix<Scalar, Device> A(
      exec, host.template to_device<Crs<Scalar, int, int>>(), options);
  const Product<Scalar> product(host, 37);
  using Pair = std::pair<Storage, Storage>;
  for (const auto& [of_x, of_y] :
       {Pair{Storage::left, Storage::left},
        Pair{Storage::right, Storage::right},
        Pair{Storage::strided, Storage::strided},
        Pair{Storage::strided_by_rows, Storage::strided_by_rows},
        Pair{Storage::left, Storage::right},
        Pair{Storage::right, Storage::left},
        Pair{Storage::left, Storage::strided}})
    for (const std::int64_t vectors :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 37}) {
      check<Scalar>(host, A, product, of_x, of_y, vectors);
      if (testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << spec << ", " << vectors << " vectors, storages "
                      << static_cast<int>(of_x) << " and "
                      << static_cast<int>(of_y);
        return;
      }
    }
}

TEST(SellMatrix, SeveralVectorsMayLieInAnyWay) {
  // Chunks on diagonals, the last one of one row; chunks with columns; either
  // with columns of x a multiple of 4 KiB apart; rows of dozens of entries; and
  // a row that is stored apart.
  for (const auto* spec : {"grid2d:21", "circuit:500", "grid2d:32",
                           "random:1024x6", "random:200x40", "arrow:5000"}) {
    check_vectors<double>(spec);
    check_vectors<float>(spec);
    check_vectors<Kokkos::complex<double>>(spec);
  }
  for (const auto* spec : {"grid2d:21", "circuit:500", "random:200x40"})
    check_vectors<Kokkos::complex<float>>(spec);
}

TEST(SellMatrix, SeveralVectorsServeChunksOfAnyForm) {
  Strata::SellOptions options;
  for (const int rows : {8, 32})
    for (const bool diagonals : {false, true})
      for (const std::int64_t sigma : {1, 64}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, sigma " +
                     std::to_string(sigma));
        options.chunk_rows = rows;
        options.use_diagonals = diagonals;
        options.sigma = sigma;
        check_vectors<double>("grid2d:21", options);
        check_vectors<float>("circuit:500", options);
        check_vectors<Kokkos::complex<double>>("grid2d:21", options);
      }
}

/// Products with a factor, or with an entry of A alone, may leave the range of
/// numbers where those of A and x do not.
TEST(SellMatrix, TheFactorComesLast) {
  const Device exec;
  struct Numbers {
    float of_A, of_x, factor;
  };
  for (const auto& [of_A, of_x, factor] :
       {Numbers{1e20f, 1e-20f, 1e20f}, Numbers{1e-20f, 1e20f, 1e-26f}})
    for (const auto storage : {Storage::left, Storage::right})
      for (const std::int64_t vectors : {1, 2, 3, 5}) {
        HostMatrix<float> host(
            Strata::gallery<Crs<float, int, int>>(exec, "grid2d:9"));
        std::fill(host.values.begin(), host.values.end(), of_A);
        const Strata::SellMatrix<float, Device> A(
            exec, host.to_device<Crs<float, int, int>>());
        const VectorBlock<float, Device> x(storage, host.columns, vectors, 0),
            y(storage, host.rows, vectors, 0);
        x.set(std::vector<float>(host.columns * vectors, of_x));
        x.with_view([&](const auto& xv) {
          y.with_view([&](const auto& yv) {
            if constexpr (same_rank<decltype(xv), decltype(yv)>) {
              A.apply(exec, factor, xv, 0.f, yv);
            }
          });
        });
        const auto result = y.get();
        for (std::int64_t i = 0; i < host.rows; ++i) {
          const auto entries =
              static_cast<float>(host.row_map[i + 1] - host.row_map[i]);
          for (std::int64_t c = 0; c < vectors; ++c)
            ASSERT_NEAR(result[c * host.rows + i] / factor, entries, 1e-5)
                << "row " << i << " of " << vectors << " vectors";
        }
      }
}

TEST(SellMatrix, SortingLessensPadding) {
  const Device exec;
  const auto crs =
      ragged<double>(5000, 400, 60).to_device<Crs<double, int, int>>();
  double before = 1;
  for (const std::int64_t sigma : {1, 256, 5000}) {
    Strata::SellOptions options;
    options.sigma = sigma;
    options.chunk_rows = 32;
    options.long_row = 1000;
    const Strata::SellMatrix A(exec, crs, options);
    EXPECT_EQ(A.report().sigma, sigma);
    EXPECT_LT(A.report().padding(), before);
    before = A.report().padding();
  }
  EXPECT_LT(before, 0.1);
}

TEST(SellMatrix, PaddingDoesNotSpreadWhatIsNotFinite) {
  using Matrix = Crs<double, int, int>;
  const Device exec;
  for (const auto* spec : {"grid2d:20", "circuit:500"}) {
    const HostMatrix<double> host(Strata::gallery<Matrix>(exec, spec));
    const Strata::SellMatrix A(exec, host.to_device<Matrix>());
    for (int trial = 0; trial < 5; ++trial) {
      const auto at = static_cast<std::int64_t>(generator()() % host.columns);
      auto x0 = random_vector<double>(host.columns);
      x0[at] = trial % 2 ? nan : std::numeric_limits<double>::infinity();
      const VectorBlock<double, Device> x(Storage::rank1, host.columns, 1),
          y(Storage::rank1, host.rows, 1);
      x.set(x0);
      x.with_view([&](const auto& xv) {
        y.with_view([&](const auto& yv) {
          if constexpr (same_rank<decltype(xv), decltype(yv)>) {
            A.apply(exec, xv, yv);
          }
        });
      });
      const auto result = y.get();
      for (std::int64_t i = 0; i < host.rows; ++i)
        ASSERT_EQ(std::isfinite(result[i]), host.find(i, at) == nullptr)
            << spec << " row " << i;
    }
  }
}

TEST(SellMatrix, TakesNewValues) {
  using Matrix = Crs<double, int, int>;
  const Device exec;
  for (const auto* spec : {"grid3d:9", "circuit:900", "arrow:30000"}) {
    HostMatrix<double> host(Strata::gallery<Matrix>(exec, spec));
    Strata::SellMatrix A(exec, host.to_device<Matrix>());
    for (auto& v : host.values) v = Random<double>::make();
    const auto crs = host.to_device<Matrix>();
    A.update_values(exec, crs);
    check(host, A, Storage::rank1, 1);
    for (auto& v : host.values) v = Random<double>::make();
    A.update_values(exec, host.to_device<Matrix>().values);
    exec.fence();
    check(host, A, Storage::rank1, 1);

    HostMatrix<double> other = host;
    other.entries.back() = other.entries.back() == 0 ? 1 : 0;
    EXPECT_THROW(A.update_values(exec, other.to_device<Matrix>()),
                 Strata::PatternMismatchError);
    EXPECT_THROW(A.update_values(exec, Kokkos::View<double*, Device>("v", 3)),
                 Strata::SizeMismatchError);
    check(host, A, Storage::rank1, 1);
  }
}

TEST(SellMatrix, MultipliesWithoutRowsAndEntries) {
  const Device exec;
  using Matrix = Crs<double, int, int>;
  const Strata::SellMatrix none(exec, Matrix());
  EXPECT_EQ(none.rows(), 0);
  HostMatrix<double> empty_rows;
  empty_rows.rows = 70;
  empty_rows.columns = 4;
  empty_rows.row_map.assign(71, 0);
  const Strata::SellMatrix A(exec, empty_rows.to_device<Matrix>());
  EXPECT_EQ(A.report().padding(), 0);
  check(empty_rows, A, Storage::left, 2);
}

TEST(SellMatrix, RefusesBadInput) {
  const Device exec;
  using Matrix = Crs<double, int, int>;
  const HostMatrix<double> good(3, 4, {1, 0, 0, 2, 0, 3, 0, 0, 4, 5, 0, 6});
  auto make = [&](const HostMatrix<double>& host,
                  const Strata::SellOptions& options = {}) {
    return Strata::SellMatrix<double, Device>(exec, host.to_device<Matrix>(),
                                              options);
  };
  for (const std::int64_t column : {-1, 4}) {
    auto bad = good;
    bad.entries[2] = column;
    try {
      make(bad);
      FAIL() << column;
    } catch (const Strata::ColumnRangeError& error) {
      EXPECT_EQ(error.row(), 1);
      EXPECT_EQ(error.value(), std::to_string(column));
    }
  }
  for (const std::int64_t offset : {-2, 1, 7}) {
    auto bad = good;
    bad.row_map[2] = offset;
    try {
      make(bad);
      FAIL() << offset;
    } catch (const Strata::RowMapError& error) {
      EXPECT_GE(error.row(), 1);
    }
  }
  for (int which = 0; which < 4; ++which) {
    Strata::SellOptions options;
    if (which == 0) options.chunk_rows = -1;
    if (which == 1) options.sigma = -1;
    if (which == 2) options.lanes_per_row = 3;
    if (which == 3) options.long_row = -5;
    EXPECT_THROW(make(good, options), Strata::OptionError);
  }

  const auto A = make(good);
  using Vector = Kokkos::View<double*, Device>;
  const Vector x("x", 4), y("y", 3), both("both", 7);
  Kokkos::deep_copy(both, 7.0);
  const auto refused = [&](const auto& a, const auto& b) {
    A.apply(exec, a, b);
  };
  EXPECT_THROW(refused(y, y), Strata::SizeMismatchError);
  EXPECT_THROW(refused(x, x), Strata::SizeMismatchError);
  using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Device>;
  EXPECT_THROW(refused(Block("x", 4, 2), Block("y", 3, 3)),
               Strata::SizeMismatchError);
  EXPECT_THROW(refused(Kokkos::subview(both, Kokkos::make_pair(0, 4)),
                       Kokkos::subview(both, Kokkos::make_pair(3, 6))),
               Strata::AliasError);
  const auto untouched =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), both);
  for (int i = 0; i < 7; ++i) EXPECT_EQ(untouched(i), 7.0);
  // Apart in one allocation is apart.
  refused(Kokkos::subview(both, Kokkos::make_pair(0, 4)),
          Kokkos::subview(both, Kokkos::make_pair(4, 7)));
  EXPECT_THROW((Strata::SellMatrix<double, Device>(
                   exec, Kokkos::View<int*, Device>("row_map", 4),
                   Kokkos::View<int*, Device>("entries", 2),
                   Kokkos::View<double*, Device>("values", 3), 5)),
               Strata::SizeMismatchError);
}

}  // namespace
