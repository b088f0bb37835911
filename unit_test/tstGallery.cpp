// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_GalleryOrders.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <gallery/GalleryRandom.hpp>
#include <gallery/GallerySphere.hpp>
#include <set>

#include "HostMatrix.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Host = Kokkos::DefaultHostExecutionSpace;
template <class Execution, class Scalar = double, class Ordinal = int,
          class Offset = int>
using Crs = KokkosSparse::CrsMatrix<Scalar, Ordinal, Execution, void, Offset>;

template <class Matrix = Crs<Device>>
HostMatrix<typename Matrix::value_type> make(const std::string& spec,
                                             std::uint64_t seed = 1) {
  return HostMatrix<typename Matrix::value_type>(
      Strata::gallery<Matrix>(typename Matrix::execution_space(), spec, seed));
}

template <class Scalar>
std::int64_t lower_entries(const HostMatrix<Scalar>& A) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      count += A.entries[k] <= i;
  return count;
}

/// Order-dependent digest of pattern and value bits.
template <class Scalar>
std::uint64_t digest(const HostMatrix<Scalar>& A) {
  std::uint64_t h = 0xcbf29ce484222325ull;
  const auto add = [&](std::uint64_t word) {
    // The output function of splitmix64.
    h = (h ^ word) + 0x9e3779b97f4a7c15ull;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    h ^= h >> 31;
  };
  for (const auto v : A.row_map) add(v);
  for (const auto v : A.entries) add(v);
  for (const auto& v : A.values) {
    std::uint64_t words[2] = {0, 0};
    std::memcpy(words, &v, sizeof v);
    add(words[0]);
    add(words[1]);
  }
  return h;
}

const std::vector<std::string> small_specs = {"grid2d:1",
                                              "grid2d:13",
                                              "grid2d9:9",
                                              "grid3d:7",
                                              "grid3d27:5",
                                              "triangulated:11x6",
                                              "triangulated:1x4",
                                              "lattice:1",
                                              "lattice:19",
                                              "cubed_sphere:0",
                                              "cubed_sphere:1",
                                              "cubed_sphere:3",
                                              "diagonal:17",
                                              "band:300",
                                              "band:200:7:0.25",
                                              "band:5:35:1",
                                              "circuit:1",
                                              "circuit:3000",
                                              "gene:1",
                                              "gene:400",
                                              "chain:50",
                                              "chain:1",
                                              "arrow:1",
                                              "arrow:40",
                                              "random:500x4",
                                              "random:3x9",
                                              "block_diagonal:5x40:0.1",
                                              "block_diagonal:3x7:1",
                                              "block_diagonal:4x1:0.5",
                                              "poisson:1",
                                              "poisson:6",
                                              "box:1x1x1",
                                              "box:7x4x3:2",
                                              "elements:3x2x4:2",
                                              "shuffled:5x4x1:3",
                                              "holed_band:90x6:20x4:0.5",
                                              "deep:300x4:30x3:50",
                                              "deep:1x2:1x1:1",
                                              "long_rows:200x3:2x40:20",
                                              "long_last:200x3:2x40:20",
                                              "power_law:150x3",
                                              "mesh2d:200x6",
                                              "mesh3d:200x9",
                                              "mesh3d:1x1",
                                              "paths:200x9:30x20",
                                              "paths:9x1:9x0"};

template <class Scalar>
void expect_sound(const HostMatrix<Scalar>& A, const std::string& spec) {
  ASSERT_EQ(A.rows, A.columns) << spec;
  ASSERT_EQ(A.row_map.size(), static_cast<std::size_t>(A.rows) + 1) << spec;
  ASSERT_EQ(A.row_map.front(), 0) << spec;
  ASSERT_EQ(A.row_map.back(), static_cast<std::int64_t>(A.entries.size()));
  const bool symmetric = spec.compare(0, 7, "lattice") != 0;
  const bool poisson = spec.compare(0, 7, "poisson") == 0;
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double others = 0;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const auto j = A.entries[k];
      ASSERT_TRUE(j >= 0 && j < A.rows) << spec << " row " << i;
      if (k > A.row_map[i]) {
        ASSERT_GT(j, A.entries[k - 1]) << spec << " row " << i;
      }
      ASSERT_NE(A.values[k], Scalar(0)) << spec << " row " << i;
      if (j == i) continue;
      others +=
          std::abs(std::complex<double>(Kokkos::complex<double>(A.values[k])));
      if (!symmetric) continue;
      const Scalar* mirrored = A.find(j, i);
      ASSERT_TRUE(mirrored) << spec << " entry " << i << ", " << j;
      different += *mirrored != A.values[k];
    }
    ASSERT_TRUE(A.find(i, i)) << spec << " row " << i;
    const double diagonal =
        std::abs(std::complex<double>(Kokkos::complex<double>(*A.find(i, i))));
    ASSERT_TRUE(diagonal > others || (poisson && diagonal == others))
        << spec << " row " << i;
  }
  if (symmetric && static_cast<std::int64_t>(A.entries.size()) > A.rows) {
    EXPECT_EQ(different == 0, poisson) << spec;
  }
}

TEST(Gallery, RowsAreSortedDominantAndThePatternSymmetric) {
  for (const auto& spec : small_specs) expect_sound(make(spec), spec);
}

TEST(Gallery, EveryTypeOfMatrixIsMade) {
  const std::string spec = "circuit:400";
  const auto wide = make(spec);
  const auto same_pattern = [&](const auto& A) {
    EXPECT_EQ(A.row_map, wide.row_map);
    EXPECT_EQ(A.entries, wide.entries);
    expect_sound(A, spec);
  };
  same_pattern(make<Crs<Device, float>>(spec));
  same_pattern(make<Crs<Device, double, std::int64_t, std::size_t>>(spec));
  same_pattern(
      make<Crs<Device, Kokkos::complex<double>, int, std::int64_t>>(spec));
}

TEST(Gallery, HostAndDeviceMakeTheSameBits) {
  for (const auto& spec : small_specs)
    EXPECT_EQ(digest(make(spec)), digest(make<Crs<Host>>(spec))) << spec;
}

// The digests pin the matrices down over backends, compilers and releases.
TEST(Gallery, MatricesNeverChange) {
  const std::pair<const char*, std::uint64_t> known[] = {
      {"grid2d:13", 0x838525833adc6341ull},
      {"grid2d9:9", 0x21463b53446d39f7ull},
      {"grid3d:7", 0x38be5d52a696392cull},
      {"grid3d27:5", 0x82ea1b03b5e22ea0ull},
      {"triangulated:11x6", 0x5a3caf948abfd6ddull},
      {"lattice:19", 0xdbb5fc01aad2177dull},
      {"cubed_sphere:3", 0x0ba72d0da31ca390ull},
      {"diagonal:17", 0x18aaa5b2971436adull},
      {"band:300", 0x0a042c74de66baffull},
      {"circuit:3000", 0x23950d3859079d31ull},
      {"gene:400", 0xe3b6f8997356179aull},
      {"chain:50", 0xd5384424a6bd09a0ull},
      {"arrow:40", 0x3cd93563e82f80a1ull},
      {"random:500x4", 0xf1ba0a960deed985ull},
      {"block_diagonal:5x40:0.1", 0xef8cbc6d832d5cdaull},
      {"poisson:6", 0xcbddb0d7b2ac3529ull},
      {"box:7x4x3:2", 0xded4445cd12ce9c3ull},
      {"elements:3x2x4:2", 0x6f3c603936591fc4ull},
      {"shuffled:5x4x1:3", 0xb8d5deb39d2d219bull},
      {"holed_band:90x6:20x4:0.5", 0x0ffedb64856b919eull},
      {"deep:300x4:30x3:50", 0x61a25ea754311e96ull},
      {"long_rows:200x3:2x40:20", 0xa45ddcbe15608f2full},
      {"long_last:200x3:2x40:20", 0x7fc10097066b0966ull},
      {"power_law:150x3", 0x148380daf5fdbfebull},
      {"mesh2d:200x6", 0x45889ede4b8544ceull},
      {"mesh3d:200x9", 0xb4e331d81bd2f41eull},
      {"paths:200x9:30x20", 0xa0f4b30811218fb3ull},
  };
  for (const auto& [spec, expected] : known)
    EXPECT_EQ(digest(make(spec)), expected) << spec;
}

TEST(Gallery, SeedsMakeDifferentMatrices) {
  for (const auto* spec :
       {"random:300x4", "circuit:900", "gene:200", "band:300",
        "block_diagonal:4x50:0.1", "shuffled:6x6x6:2",
        "holed_band:300x9:30x5:0.4", "deep:300x4:30x3:50",
        "long_rows:300x3:2x40:20", "power_law:300x3", "mesh2d:300x6",
        "paths:300x9:30x20"}) {
    EXPECT_EQ(digest(make(spec, 7)), digest(make(spec, 7))) << spec;
    EXPECT_NE(make(spec, 7).entries, make(spec, 8).entries) << spec;
  }
  EXPECT_NE(make("grid2d:5", 7).values, make("grid2d:5", 8).values);
}

/// Columns of every row of a grid, from the definition.
template <class Coupled>
std::vector<std::int64_t> grid_entries(int nx, int ny, int nz,
                                       const Coupled& coupled) {
  std::vector<std::int64_t> entries;
  for (int i = 0; i < nx * ny * nz; ++i)
    for (int j = 0; j < nx * ny * nz; ++j)
      if (coupled(j % nx - i % nx, j / nx % ny - i / nx % ny,
                  j / (nx * ny) - i / (nx * ny)))
        entries.push_back(j);
  return entries;
}

TEST(Gallery, GridsHaveTheirStencils) {
  const auto box = [](int dx, int dy, int dz) {
    return std::max({std::abs(dx), std::abs(dy), std::abs(dz)}) <= 1;
  };
  const auto star = [](int dx, int dy, int dz) {
    return std::abs(dx) + std::abs(dy) + std::abs(dz) <= 1;
  };
  EXPECT_EQ(make("grid2d:6").entries, grid_entries(6, 6, 1, star));
  EXPECT_EQ(make("grid2d9:6").entries, grid_entries(6, 6, 1, box));
  EXPECT_EQ(make("grid3d:4").entries, grid_entries(4, 4, 4, star));
  EXPECT_EQ(make("grid3d27:4").entries, grid_entries(4, 4, 4, box));
  EXPECT_EQ(make("triangulated:5x7").entries,
            grid_entries(5, 7, 1, [&](int dx, int dy, int dz) {
              return box(dx, dy, dz) && dx * dy != -1;
            }));
}

TEST(Gallery, LatticeHasTheTransitionsOfTheEpidemic) {
  const int side = 9;
  std::vector<std::pair<int, int>> states;
  for (int v = 0; v < side; ++v)
    for (int u = 0; u + v < side; ++u) states.emplace_back(u, v);
  std::vector<std::int64_t> expected;
  for (const auto& [u, v] : states)
    for (std::size_t j = 0; j < states.size(); ++j) {
      const int du = states[j].first - u, dv = states[j].second - v;
      if ((du == 0 && dv == 0) || (du == 0 && dv == -1) ||
          (du == 1 && dv == 0) || (du == -1 && dv == 1))
        expected.push_back(static_cast<std::int64_t>(j));
    }
  EXPECT_EQ(make("lattice:9").entries, expected);
}

TEST(Gallery, SphereIsOneClosedSurfaceOfTriangles) {
  const auto A = make("cubed_sphere:4");
  ASSERT_EQ(A.rows, 20 * 256);
  std::vector<bool> reached(A.rows);
  std::vector<std::int64_t> front{0};
  reached[0] = true;
  for (std::size_t at = 0; at < front.size(); ++at) {
    const auto i = front[at];
    ASSERT_EQ(A.row_map[i + 1] - A.row_map[i], 4);
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      if (reached[A.entries[k]]) continue;
      reached[A.entries[k]] = true;
      front.push_back(A.entries[k]);
    }
  }
  EXPECT_EQ(static_cast<std::int64_t>(front.size()), A.rows);

  // Walking round a corner closes after six cells, after five at the twelve
  // corners of the icosahedron: count the closed walks of five steps.
  const Strata::Detail::SphereCells cells(4);
  const auto across = [&](std::int64_t i) {
    return std::vector<std::int64_t>{
        cells.neighbour(i, 0), cells.neighbour(i, 1), cells.neighbour(i, 2)};
  };
  std::set<std::set<std::int64_t>> pentagons;
  for (std::int64_t a = 0; a < A.rows; ++a)
    for (const auto b : across(a))
      for (const auto c : across(b))
        for (const auto d : across(c))
          for (const auto e : across(d)) {
            const std::set<std::int64_t> cycle{a, b, c, d, e};
            if (cycle.size() == 5 && A.find(e, a)) pentagons.insert(cycle);
          }
  EXPECT_EQ(pentagons.size(), 12u);
}

TEST(Gallery, CountsAreThoseOfTheMatricesStoodFor) {
  const auto size = [](const std::string& spec) {
    const auto A = Strata::gallery<Crs<Device>>(Device(), spec);
    return std::pair<std::int64_t, std::int64_t>(A.numRows(), A.nnz());
  };
  using Size = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(size("triangulated:1025x513"), Size(525825, 3674625));
  EXPECT_EQ(size("lattice:1025"), Size(525825, 2100225));
  EXPECT_EQ(size("cubed_sphere:6"), Size(81920, 327680));
  EXPECT_EQ(size("diagonal:46772"), Size(46772, 46772));
  EXPECT_EQ(size("grid2d:100"), Size(10000, 49600));
  EXPECT_EQ(size("grid3d:30"), Size(27000, 183600));
  EXPECT_EQ(size("chain:1000"), Size(1000, 2998));
  EXPECT_EQ(size("arrow:1000"), Size(1000, 2998));
}

TEST(Gallery, RandomFamiliesHaveTheDensityAskedFor) {
  const auto near = [](double value, double expected, double share) {
    EXPECT_NEAR(value, expected, share * expected);
  };
  const auto band = make("band:10000:35:0.5");
  near(lower_entries(band), 189842, 0.01);
  for (std::int64_t i = 1; i < band.rows; ++i) {
    ASSERT_TRUE(band.find(i, i - 1)) << i;
    ASSERT_GE(band.entries[band.row_map[i]], i - 35);
  }
  near(lower_entries(make("random:20000x5")), 6. * 20000, 0.01);
  near(lower_entries(make("block_diagonal:4x1500:0.04")),
       6000 + 4 * 0.04 * 1500 * 1499 / 2, 0.01);
  // Runs of failures longer than the table of chances.
  near(lower_entries(make("block_diagonal:1x30000:0.00005")),
       30000 + 0.00005 * 30000. * 29999 / 2, 0.03);
  near(make("gene:2000").entries.size(), 0.087 * 2000 * 2000, 0.05);
}

TEST(Gallery, BlocksStayApart) {
  const auto A = make("block_diagonal:7x30:0.3");
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      ASSERT_EQ(A.entries[k] / 30, i / 30);
}

TEST(Gallery, CircuitHasFewVeryLongRows) {
  const auto A = make("circuit:40000");
  int thousands = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    thousands += A.row_map[i + 1] - A.row_map[i] >= 1000;
  EXPECT_GE(thousands, 3);
  EXPECT_LE(thousands, 10);
  EXPECT_NEAR(static_cast<double>(A.entries.size()) / A.rows, 5, 1);
}

TEST(Gallery, NamesThatMeanNothingAreErrors) {
  for (const auto* spec : {"",
                           ":",
                           "grid",
                           "Grid2d:3",
                           "grid2d",
                           "grid2d:",
                           "grid2d:0",
                           "grid2d:-3",
                           "grid2d:3.5",
                           "grid2d:3x3",
                           "grid2d:3:4",
                           "grid2d: 3",
                           "grid2d:99999999999999999999",
                           "triangulated:7",
                           "triangulated:7x",
                           "triangulated:x7",
                           "triangulated:7x8x9",
                           "cubed_sphere:29",
                           "cubed_sphere:-1",
                           "band:10:3",
                           "band:10:0:0.5",
                           "band:10:3:0",
                           "band:10:3:1.5",
                           "band:10:3:nan",
                           "band:10:3:0.5:1",
                           "random:10",
                           "random:10x0",
                           "block_diagonal:3x4",
                           "block_diagonal:3x4:x",
                           "block_diagonal:3x4:-0.1",
                           "box:3x4",
                           "box:3x4x5x6",
                           "box:3x4x5:0",
                           "box:2000x2000x2000",
                           "deep:9x1:2x1:3",
                           "deep:9x3:2x1",
                           "holed_band:9x3:2x1:2",
                           "long_rows:4x3:4x1:3",
                           "mesh2d:9",
                           "paths:9x3:0x1",
                           "power_law:2147483648x1"}) {
    try {
      Strata::gallery_name(spec);
      ADD_FAILURE() << "'" << spec << "' was taken";
    } catch (const Strata::GalleryError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(std::string("'") + spec + "'"), std::string::npos);
      EXPECT_NE(text.find(Strata::gallery_help()), std::string::npos);
    }
    EXPECT_THROW(make(spec), Strata::GalleryError) << spec;
  }
}

TEST(Gallery, NamesSuitBenchmarksAndTheHelpNamesEveryFamily) {
  for (const auto& spec : small_specs) {
    EXPECT_EQ(Strata::gallery_name(spec), spec);
    EXPECT_EQ(spec.find_first_of(" /\t\\"), std::string::npos);
    const auto family = spec.substr(0, spec.find(':') + 1);
    EXPECT_NE(Strata::gallery_help().find(" " + family), std::string::npos);
  }
}

TEST(Gallery, PoissonHasTheNumbersOfFiniteDifferences) {
  const auto A = make("poisson:4");
  EXPECT_EQ(A.entries, make("grid3d:4").entries);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      ASSERT_EQ(A.values[k], A.entries[k] == i ? 6 : -1);
}

TEST(Gallery, GraphsHaveTheSizesThatTheirNamesSay) {
  for (const auto* spec :
       {"box:7x4x3:2", "box:1x9x1:3", "elements:3x2x4:2", "shuffled:5x4x1:3"}) {
    const auto sizes = Strata::Detail::GalleryParser(spec).parse();
    const auto A = make(spec);
    EXPECT_EQ(A.rows, sizes.rows) << spec;
    EXPECT_EQ(A.entries.size(), sizes.entries) << spec;
  }
  // The same nodes in another order.
  EXPECT_NE(make("shuffled:5x4x1:3").entries, make("elements:5x4x1:3").entries);
}

/// Number of entries, and the largest distance of one from the diagonal.
std::pair<std::size_t, std::int64_t> width_of(const HostMatrix<double>& A) {
  std::int64_t width = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      width = std::max(width, std::abs(A.entries[k] - i));
  return {A.entries.size(), width};
}

TEST(Gallery, OrdersKeepAllEntries) {
  using Matrix = Crs<Device, double, std::int64_t, std::size_t>;
  const Device exec;
  const auto A = Strata::gallery<Matrix>(exec, "shuffled:9x8x1:1");
  const HostMatrix<double> before(A);
  auto sorted = before.values;
  std::sort(sorted.begin(), sorted.end());
  for (const auto order : Strata::gallery_orders) {
    const HostMatrix<double> after(Strata::reordered(exec, A, order, 3));
    auto values = after.values;
    std::sort(values.begin(), values.end());
    EXPECT_EQ(values, sorted) << to_string(order);
    EXPECT_EQ(after.entries == before.entries,
              order == Strata::GalleryOrder::natural)
        << to_string(order);
  }
  const auto cuthill_mckee = Strata::GalleryOrder::cuthill_mckee;
  EXPECT_LT(2 * width_of(HostMatrix<double>(
                             Strata::reordered(exec, A, cuthill_mckee)))
                    .second,
            width_of(before).second);
}

/// Searches from a row of a triangle do not reach the rows that lead to it.
TEST(Gallery, OrdersTakePatternsThatAreNotSymmetric) {
  using Matrix = Crs<Device>;
  const Device exec;
  for (const auto* spec : {"mesh2d:500x6", "chain:300", "box:9x7x5:2"})
    for (const bool upper : {false, true}) {
      const auto whole = make(spec);
      HostMatrix<double> half;
      half.rows = half.columns = whole.rows;
      for (std::int64_t i = 0; i < whole.rows; ++i) {
        for (auto k = whole.row_map[i]; k < whole.row_map[i + 1]; ++k)
          if (upper ? whole.entries[k] >= i : whole.entries[k] <= i) {
            half.entries.push_back(whole.entries[k]);
            half.values.push_back(whole.values[k]);
          }
        half.row_map.push_back(static_cast<std::int64_t>(half.entries.size()));
      }
      auto sorted = half.values;
      std::sort(sorted.begin(), sorted.end());
      for (const auto order : {Strata::GalleryOrder::cuthill_mckee,
                               Strata::GalleryOrder::nested_dissection,
                               Strata::GalleryOrder::reverse}) {
        const HostMatrix<double> after(
            Strata::reordered(exec, half.to_device<Matrix>(), order));
        auto values = after.values;
        std::sort(values.begin(), values.end());
        EXPECT_EQ(values, sorted) << spec << ' ' << to_string(order);
      }
    }
  const HostMatrix<double> wide(2, 3, {1, 0, 1, 0, 1, 1});
  EXPECT_THROW(Strata::reordered(exec, wide.to_device<Matrix>(),
                                 Strata::GalleryOrder::cuthill_mckee),
               Strata::NotSquareError);
}

template <class Matrix>
void expect_refused_at_once(const std::string& spec) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(make<Matrix>(spec), Strata::Error) << spec;
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  EXPECT_LT(seconds.count(), 2) << spec;
}

TEST(Gallery, NumbersThatLeadBeyondAllMemoryAreErrors) {
  using Wide = Crs<Device, double, std::int64_t, std::int64_t>;
  for (const auto* spec :
       {"box:2147483647x1x1:2147483647", "box:46341x46341x1:2147483647",
        "box:2147483647x2147483647x2147483647:2147483647",
        "elements:1x1x1:2147483647", "elements:1x2147483647x1:2147483647",
        "shuffled:1x1x1:2147483647", "holed_band:2147483647x2147483647:1x1:0.5",
        "holed_band:2147483647x2147483647:2147483647x1:1e-12",
        "holed_band:2000000000x2000000000:2147483647x2147483647:1e-12",
        "deep:2147483647x2147483647:2147483647x2147483647:2147483647",
        "deep:2000000000x2147483647:1x1:1",
        "long_rows:2147483647x2147483647:1x1:1",
        "long_rows:2147483647x1:2147483646x2147483647:1",
        "long_last:2147483647x2147483647:2147483646x2147483647:2147483647",
        "power_law:2147483647x2147483647", "mesh2d:2147483647x2147483647",
        "mesh3d:2147483647x2147483647", "random:2x1125899906842624"}) {
    expect_refused_at_once<Crs<Device>>(spec);
    expect_refused_at_once<Wide>(spec);
  }
  for (const auto* spec :
       {"box:2147483647x1x1", "elements:2147483647x1x1:1",
        "deep:2147483647x2:1x1:1", "long_rows:2147483647x1:1x1:1",
        "power_law:2147483647x1", "mesh2d:2147483647x1", "mesh3d:2147483647x1",
        "paths:2147483647x1:1x0", "paths:2147483647x1:1x2147483647"})
    expect_refused_at_once<Crs<Device>>(spec);
  for (const auto* spec : {"lattice:4000000000", "chain:1125899906842624",
                           "block_diagonal:1x1125899906842624:1e-12"})
    expect_refused_at_once<Wide>(spec);
}

TEST(Gallery, NumbersNearTheLimitOfAnIntAreUnderstood) {
  for (const auto* spec :
       {"box:3x2x1:2147483647", "holed_band:9x2147483647:2147483647x1:0.5",
        "holed_band:9x3:1x2147483647:1", "deep:9x3:2147483647x1:3",
        "deep:9x3:1x2147483647:3", "deep:9x3:2147483647x2147483647:2147483647",
        "long_rows:9x3:2x4:2147483647", "long_last:9x3:2x4:2147483647",
        "paths:9x2147483647:2147483647x2147483647"})
    expect_sound(make(spec), spec);
  // Nothing is farther away than the other end.
  EXPECT_EQ(digest(make("box:3x4x1:2147483647")), digest(make("box:3x4x1:3")));
  EXPECT_EQ(digest(make("deep:9x3:2147483647x1:3")),
            digest(make("deep:9x3:1000x1:3")));
  for (const auto* spec : {"box:1x1x1", "box:5x4x3", "box:5x4x3:2",
                           "box:5x4x3:3", "box:2x9x1:2147483647"})
    EXPECT_EQ(Strata::Detail::GalleryParser(spec).parse().entries,
              make(spec).entries.size())
        << spec;
}

TEST(Gallery, IndexTypesTooNarrowAreErrors) {
  // More rows than an int counts, and few enough rows but too many entries.
  for (const auto* spec :
       {"grid3d:1300", "cubed_sphere:28", "chain:2147483648", "grid3d27:500",
        "gene:200000", "random:1000000x2000", "grid3d:1000000000000000"})
    EXPECT_THROW(make(spec), Strata::IndexOverflowError) << spec;
  EXPECT_THROW(
      (make<Crs<Device, double, std::int64_t, int>>("chain:900000000")),
      Strata::IndexOverflowError);
}

}  // namespace
