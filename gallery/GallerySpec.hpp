// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_SPEC_HPP
#define STRATA_GALLERY_GALLERY_SPEC_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <locale>
#include <sstream>
#include <string>
#include <vector>

namespace Strata {

/// A gallery name that can't be understood.
struct GalleryError : Error {
  using Error::Error;
};

namespace Detail {

inline constexpr char gallery_grammar[] =
    "a gallery matrix is one of\n"
    "  grid2d:N                5-point grid of N x N points\n"
    "  grid2d9:N               9-point grid of N x N points\n"
    "  grid3d:N                7-point grid of N x N x N points\n"
    "  grid3d27:N              27-point grid of N x N x N points\n"
    "  triangulated:NXxNY      grid of NX x NY points, each cell cut in two\n"
    "  lattice:N               epidemic chain on a triangle of N states a "
    "side\n"
    "  cubed_sphere:L          20*4^L cells of a sphere, 3 neighbours each\n"
    "  diagonal:N              the diagonal alone\n"
    "  band:N[:HALF:DENSITY]   random band, HALF diagonals a side (35, 0.5)\n"
    "  circuit:N               power-law circuit, a few very long rows\n"
    "  gene:N                  dense clusters, 9 % of all entries\n"
    "  chain:N                 tridiagonal\n"
    "  arrow:N                 diagonal, last row and last column\n"
    "  random:NxK              K random columns a row below the diagonal\n"
    "  block_diagonal:CxS:D    C random blocks of S rows, density D\n"
    "  poisson:N               7-point finite differences of -Laplace u, which "
    "are\n"
    "                          symmetric: N x N x N points\n"
    "  box:NXxNYxNZ[:R]        each point with its R (1) nearest along each "
    "axis\n"
    "  elements:NXxNYxNZ:U     27-point grid of nodes with U unknowns each\n"
    "  shuffled:NXxNYxNZ:U     the same, nodes in random order\n"
    "  holed_band:NxH:PxM:D    band of H diagonals a side, density D, without "
    "the first\n"
    "                          M of each P rows\n"
    "  deep:NxK:SxT:W          S level sets, T of them under way at a time, "
    "about K\n"
    "                          entries a row among the W rows before it\n"
    "  long_rows:NxK:CxS:W     about K entries a row among the W rows before "
    "it, and\n"
    "                          C rows of S entries; long_last: those are the "
    "last\n"
    "  power_law:NxK           each row with K earlier ones, mostly those with "
    "many\n"
    "  mesh2d:NxK, mesh3d:NxK  N points of a square or cube, each with those "
    "near it,\n"
    "                          K on the average\n"
    "  paths:NxS:WxC           paths of S rows that begin at earlier ones, W "
    "rows back\n"
    "                          at most; C % of the rows with one more\n"
    "with whole numbers N, NX, NY, NZ, HALF, H, K, C, S, ... >= 1 (deep: K >= "
    "2, paths:\n"
    "C >= 0), L >= 0, and densities in (0, 1]";

enum class Family {
  grid2d,
  grid2d9,
  grid3d,
  grid3d27,
  triangulated,
  lattice,
  cubed_sphere,
  diagonal,
  band,
  circuit,
  gene,
  chain,
  arrow,
  random,
  block_diagonal,
  poisson,
  // Of GalleryGraphs.hpp.
  box,
  elements,
  shuffled,
  holed_band,
  deep,
  long_rows,
  long_last,
  power_law,
  mesh2d,
  mesh3d,
  paths
};

/// A gallery name, understood. `n` is N, NX, L or C of the grammar; `m` is NY,
/// HALF, K or S. Of graphs, `numbers` has all whole numbers in their order.
struct GallerySpec {
  Family family;
  std::int64_t n = 0, m = 0;
  std::vector<int> numbers;
  double density = 1;
  /// Exact number of rows and (for random families) expected number of
  /// entries; both may exceed what an index type holds.
  double rows = 0, entries = 0;
};

/// Reads the pieces of one specification; every complaint quotes it.
class GalleryParser {
 public:
  explicit GalleryParser(const std::string& spec) : spec_(spec) {
    std::string part;
    for (const char c : spec + ":") {
      if (c != ':') {
        part += c;
        continue;
      }
      parts_.push_back(part);
      part.clear();
    }
  }

  GallerySpec parse() const {
    struct Entry {
      const char* name;
      Family family;
    };
    static constexpr Entry families[] = {
        {"grid2d", Family::grid2d},
        {"grid2d9", Family::grid2d9},
        {"grid3d", Family::grid3d},
        {"grid3d27", Family::grid3d27},
        {"triangulated", Family::triangulated},
        {"lattice", Family::lattice},
        {"cubed_sphere", Family::cubed_sphere},
        {"diagonal", Family::diagonal},
        {"band", Family::band},
        {"circuit", Family::circuit},
        {"gene", Family::gene},
        {"chain", Family::chain},
        {"arrow", Family::arrow},
        {"random", Family::random},
        {"block_diagonal", Family::block_diagonal},
        {"poisson", Family::poisson},
        {"box", Family::box},
        {"elements", Family::elements},
        {"shuffled", Family::shuffled},
        {"holed_band", Family::holed_band},
        {"deep", Family::deep},
        {"long_rows", Family::long_rows},
        {"long_last", Family::long_last},
        {"power_law", Family::power_law},
        {"mesh2d", Family::mesh2d},
        {"mesh3d", Family::mesh3d},
        {"paths", Family::paths}};
    for (const Entry& entry : families)
      if (parts_[0] == entry.name) return arguments(entry.family);
    fail(parts_[0].empty() ? "no family is named"
                           : "there is no family '" + parts_[0] + "'");
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw GalleryError("gallery specification '" + spec_ + "'", problem,
                       gallery_grammar);
  }

  void expect_parts(std::size_t count) const {
    if (parts_.size() < count)
      fail("an argument is missing after '" + parts_.back() + "'");
    if (parts_.size() > count)
      fail("':" + parts_[count] + "' is one argument too many");
  }

  std::int64_t whole(const std::string& text, std::int64_t least) const {
    std::int64_t value = 0;
    if (text.empty()) fail("a whole number is missing");
    for (const char c : text) {
      if (!std::isdigit(static_cast<unsigned char>(c)))
        fail("'" + text + "' is not a whole number");
      value = value * 10 + (c - '0');
      // Well before the int64_t overflows, and far beyond any memory.
      if (value > (std::int64_t{1} << 50)) fail("'" + text + "' is too large");
    }
    if (value < least) fail("'" + text + "' is below " + std::to_string(least));
    return value;
  }

  void pair(const std::string& text, GallerySpec& spec) const {
    const std::size_t x = text.find('x');
    if (x == std::string::npos)
      fail("'" + text + "' is not two whole numbers joined by an x");
    spec.n = whole(text.substr(0, x), 1);
    spec.m = whole(text.substr(x + 1), 1);
  }

  /// The `count` numbers of a part of a graph's name.
  void numbers(std::size_t part, int count, GallerySpec& spec,
               std::int64_t least = 1) const {
    const std::string& text = parts_[part];
    std::size_t begin = 0;
    for (int k = 0; k < count; ++k) {
      const std::size_t end =
          k + 1 < count ? text.find('x', begin) : text.size();
      if (end == std::string::npos)
        fail("'" + text + "' is not " + std::to_string(count) +
             " whole numbers joined by an x");
      const std::int64_t number = whole(text.substr(begin, end - begin), least);
      if (number > INT32_MAX) fail("'" + text + "' is too large");
      spec.numbers.push_back(static_cast<int>(number));
      begin = end + 1;
    }
  }

  double density(const std::string& text) const {
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    double value = 0;
    if (!(in >> value) || in.peek() != std::istringstream::traits_type::eof())
      fail("'" + text + "' is not a number");
    // Below this, no matrix that fits a memory would get an entry.
    if (!(value >= 1e-12 && value <= 1))
      fail("density '" + text + "' is not in (0, 1]");
    return value;
  }

  GallerySpec arguments(Family family) const {
    GallerySpec spec;
    spec.family = family;
    switch (family) {
      case Family::triangulated:
      case Family::random:
        expect_parts(2);
        pair(parts_[1], spec);
        break;
      case Family::block_diagonal:
        expect_parts(3);
        pair(parts_[1], spec);
        spec.density = density(parts_[2]);
        break;
      case Family::band:
        spec.m = 35;
        spec.density = 0.5;
        if (parts_.size() != 2) {
          expect_parts(4);
          spec.m = whole(parts_[2], 1);
          spec.density = density(parts_[3]);
        }
        spec.n = whole(parts_[1], 1);
        break;
      case Family::cubed_sphere:
        expect_parts(2);
        spec.n = whole(parts_[1], 0);
        if (spec.n > 28) fail("'" + parts_[1] + "' is too large");
        break;
      case Family::box:
      case Family::elements:
      case Family::shuffled:
      case Family::holed_band:
      case Family::deep:
      case Family::long_rows:
      case Family::long_last:
      case Family::power_law:
      case Family::mesh2d:
      case Family::mesh3d:
      case Family::paths:
        graph_arguments(spec);
        graph_size(spec);
        return spec;
      default:
        expect_parts(2);
        spec.n = whole(parts_[1], 1);
    }
    size(spec);
    return spec;
  }

  void graph_arguments(GallerySpec& spec) const {
    switch (spec.family) {
      case Family::box:
        expect_parts(parts_.size() == 2 ? 2 : 3);
        numbers(1, 3, spec);
        if (parts_.size() == 3)
          numbers(2, 1, spec);
        else
          spec.numbers.push_back(1);
        return;
      case Family::elements:
      case Family::shuffled:
        expect_parts(3);
        numbers(1, 3, spec);
        return numbers(2, 1, spec);
      case Family::power_law:
      case Family::mesh2d:
      case Family::mesh3d:
        expect_parts(2);
        return numbers(1, 2, spec);
      case Family::paths:
        expect_parts(3);
        numbers(1, 2, spec);
        return numbers(2, 2, spec, 0);
      default:
        expect_parts(4);
        numbers(1, 2, spec);
        numbers(2, 2, spec);
        if (spec.family == Family::holed_band)
          spec.density = density(parts_[3]);
        else
          numbers(3, 1, spec);
    }
  }

  void graph_size(GallerySpec& spec) const {
    const auto& at = spec.numbers;
    const double n = at[0];
    spec.rows = n;
    switch (spec.family) {
      case Family::box: {
        const double ny = at[1], nz = at[2];
        spec.rows = n * ny * nz;
        spec.entries = spec.rows;
        // Neighbours on one side of the points of a line.
        const auto couplings = [&](double points) {
          const double reach = std::min(points - 1, double(at[3]));
          return reach * points - reach * (reach + 1) / 2;
        };
        spec.entries += 2 * (couplings(n) * ny * nz + n * couplings(ny) * nz +
                             n * ny * couplings(nz));
        break;
      }
      case Family::elements:
      case Family::shuffled: {
        const double ny = at[1], nz = at[2], unknowns = at[3];
        spec.rows = n * ny * nz * unknowns;
        spec.entries =
            (3 * n - 2) * (3 * ny - 2) * (3 * nz - 2) * unknowns * unknowns;
        break;
      }
      case Family::holed_band: {
        const double half = std::min(n - 1, double(at[1]));
        spec.entries = n * (1 + 2 * spec.density * half *
                                    std::max(1 - double(at[3]) / at[2], 0.));
        // A number is drawn for each place of the band.
        if (n * half > 1e12) fail("its band has more than 10^12 places");
        break;
      }
      case Family::deep:
        if (at[1] < 2) fail("a row of deep has two entries at least");
        spec.entries = n * (2. * at[1] - 1);
        break;
      case Family::long_rows:
      case Family::long_last:
        if (at[2] >= at[0]) fail("there are more long rows than rows");
        spec.entries = n * (2. * at[1] - 1) + 2. * at[2] * at[3];
        break;
      case Family::power_law:
        spec.entries = n * (2. * at[1] + 1);
        break;
      case Family::mesh2d:
      case Family::mesh3d:
        spec.entries = n * (1. + at[1]);
        break;
      default:
        if (at[2] < 1) fail("a path begins one row back at least");
        spec.entries = n * (3 + 0.02 * std::min(at[3], 100));
    }
    if (spec.rows > INT32_MAX) fail("has more than 2147483647 rows");
  }

  void size(GallerySpec& spec) const {
    const auto n = static_cast<double>(spec.n), m = static_cast<double>(spec.m);
    const auto grid = [&](double rows, double entries) {
      spec.rows = rows;
      spec.entries = entries;
    };
    switch (spec.family) {
      case Family::grid2d:
        return grid(n * n, n * n + 4 * n * (n - 1));
      case Family::grid2d9:
        return grid(n * n, (3 * n - 2) * (3 * n - 2));
      case Family::grid3d:
      case Family::poisson:
        return grid(n * n * n, n * n * n + 6 * n * n * (n - 1));
      case Family::grid3d27:
        return grid(n * n * n, (3 * n - 2) * (3 * n - 2) * (3 * n - 2));
      case Family::triangulated:
        return grid(n * m, (n * m) + 2 * ((n - 1) * m + n * (m - 1) +
                                          (n - 1) * (m - 1)));
      case Family::lattice:
        return grid(n * (n + 1) / 2, n * (n + 1) / 2 + 3 * n * (n - 1) / 2);
      case Family::cubed_sphere:
        return grid(20 * std::ldexp(1., 2 * static_cast<int>(spec.n)),
                    80 * std::ldexp(1., 2 * static_cast<int>(spec.n)));
      case Family::diagonal:
        return grid(n, n);
      case Family::band:
        return grid(n, n + 2 * n * (1 + spec.density * (m - 1)));
      case Family::circuit:
        return grid(n, 5 * n);
      case Family::gene:
        return grid(n, n + 0.087 * n * n);
      case Family::chain:
        return grid(n, 3 * n - 2);
      case Family::arrow:
        return grid(n, 3 * n - 2);
      case Family::random:
        return grid(n, n + 2 * n * m);
      case Family::block_diagonal:
        return grid(n * m, n * m + n * m * (m - 1) * spec.density);
      default:
        fail("its size is not known");
    }
  }

  std::string spec_;
  std::vector<std::string> parts_;
};

}  // namespace Detail
}  // namespace Strata

#endif
