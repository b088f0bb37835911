// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_SPEC_HPP
#define STRATA_GALLERY_GALLERY_SPEC_HPP

#include <Strata_Error.hpp>
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
    "with whole numbers N, NX, NY, HALF, K, C, S >= 1, L >= 0, and densities "
    "in (0, 1]";

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
  block_diagonal
};

/// A gallery name, understood. `n` is N, NX, L or C of the grammar; `m` is NY,
/// HALF, K or S.
struct GallerySpec {
  Family family;
  std::int64_t n = 0, m = 0;
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
        {"block_diagonal", Family::block_diagonal}};
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
      default:
        expect_parts(2);
        spec.n = whole(parts_[1], 1);
    }
    size(spec);
    return spec;
  }

  static void size(GallerySpec& spec) {
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
    }
  }

  std::string spec_;
  std::vector<std::string> parts_;
};

}  // namespace Detail
}  // namespace Strata

#endif
