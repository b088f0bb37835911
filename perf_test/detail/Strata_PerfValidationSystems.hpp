// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_VALIDATION_SYSTEMS_HPP
#define STRATA_PERF_VALIDATION_SYSTEMS_HPP

#include <Strata_Gallery.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <detail/Strata_PerfGraphs.hpp>
#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfOrders.hpp>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

/// A triangular system of the validation set: a matrix, an order of its rows
/// and columns, and a triangle or factor.
struct ValidationSystem {
  std::string family;
  std::string matrix;  ///< a gallery name where `make` is empty
  std::int64_t rows;
  std::uint64_t seed;
  std::function<EdgeList()> make;
  Order order = Order::natural;
  Factor factor = Factor::lower;
  int fill = 0;  ///< of the incomplete factors: ILU(fill)

  std::string name() const {
    std::string text = matrix;
    if (order != Order::natural) text += std::string("/") + to_string(order);
    const std::string level = std::to_string(fill);
    if (factor == Factor::upper) text += "/upper";
    if (factor == Factor::ilu0_l) text += "/ilu" + level + "-l";
    if (factor == Factor::ilu0_u) text += "/ilu" + level + "-u";
    return text;
  }
};

/// The first number of a system's name, `factor` times as large: the nearest
/// whole number, the even one of two, and one at least.
inline int scaled(int number, double factor) {
  return std::max(1, static_cast<int>(std::nearbyint(number * factor)));
}
/// A gallery matrix of `factor` times the size, see `scaled`. A sphere of one
/// refinement more has twice as many cells along its edges.
inline std::string scaled(const std::string& spec, double factor) {
  const std::size_t first = spec.find(':') + 1;
  std::size_t end = first;
  while (end < spec.size() &&
         std::isdigit(static_cast<unsigned char>(spec[end])))
    ++end;
  const int number = std::stoi(spec.substr(first, end - first));
  const int other =
      spec.compare(0, first, "cubed_sphere:") == 0
          ? std::max(0,
                     number + static_cast<int>(std::lround(std::log2(factor))))
          : scaled(number, factor);
  return spec.substr(0, first) + std::to_string(other) + spec.substr(end);
}

/// The validation set: none of its systems is one that the performance model
/// was fitted to. Those were gallery matrices with the seed 1, nearly all in
/// natural order, and matrices of the SuiteSparse collection.
class ValidationSet {
 public:
  using Orders = std::initializer_list<Order>;

  /// @param scale  of the first number in a name. With another scale than 1,
  ///               systems whose number stays the same are left out
  /// @param seed   sets with different seeds have no random numbers in common
  explicit ValidationSet(double scale = 1, std::uint64_t seed = 1)
      : scale_(scale), seed_(1000 * seed) {
    grids();
    bands_and_blocks();
    random_matrices();
    own_graphs();
    factors();
  }

  std::vector<ValidationSystem> systems;

 private:
  static constexpr Order natural = Order::natural, reverse = Order::reverse,
                         random = Order::random, rcm = Order::cuthill_mckee,
                         dissection = Order::nested_dissection,
                         level = Order::level, colours = Order::colours;

  double scale_;
  std::uint64_t seed_;  // of the next system

  /// `is_meant`: the random numbers of a system depend on its place in the set,
  /// whether those before it are left out or not.
  void add(ValidationSystem system, Orders orders, bool is_meant) {
    system.seed = seed_;
    seed_ += orders.size();
    if (!is_meant) return;
    for (const Order order : orders) {
      system.order = order;
      systems.push_back(system);
    }
  }
  /// Gallery matrices, each in each order.
  void gallery(const char* family, std::initializer_list<const char*> specs,
               Orders orders, Factor factor = Factor::lower, int fill = 0) {
    for (const char* const spec : specs) {
      const std::string name = scale_ == 1 ? spec : scaled(spec, scale_);
      const auto parsed = Detail::GalleryParser(name).parse();
      add({family, name, static_cast<std::int64_t>(parsed.rows), 0, nullptr,
           natural, factor, fill},
          orders, scale_ == 1 || name != spec);
    }
  }
  /// A graph that is not of the gallery. `make(seed)` gives its edges.
  struct OwnGraph {
    std::string name;
    std::int64_t rows;
    std::function<EdgeList(std::uint64_t)> make;
  };
  /// `describe(n)` is the graph whose first number is `n`.
  template <class Describe>
  void graph(const char* family, int n, Orders orders,
             const Describe& describe) {
    const int other = scaled(n, scale_);
    const OwnGraph made = describe(other);
    add({family, made.name, made.rows, 0,
         [make = made.make, seed = seed_] { return make(seed); }},
        orders, scale_ == 1 || other != n);
  }

  static std::string times(int a, int b) {
    return std::to_string(a) + "x" + std::to_string(b);
  }

  void grids() {
    gallery("grid2d", {"grid2d:45", "grid2d:110", "grid2d:230", "grid2d:450"},
            {natural, random, rcm, dissection, level, colours});
    gallery("grid2d", {"grid2d:830"}, {natural, random, rcm, level, colours});
    gallery("grid2d", {"grid2d:1700"}, {natural, colours});
    gallery("grid2d9", {"grid2d9:53", "grid2d9:140", "grid2d9:330"},
            {natural, random, rcm, dissection, colours});
    gallery("grid2d9", {"grid2d9:610"}, {natural, random, colours});
    gallery("grid3d", {"grid3d:14", "grid3d:27", "grid3d:43"},
            {natural, random, rcm, dissection, level, colours});
    gallery("grid3d", {"grid3d:76"}, {natural, random, rcm, colours});
    gallery("grid3d", {"grid3d:118", "grid3d:155"}, {natural, colours});
    gallery("grid3d27", {"grid3d27:11", "grid3d27:19", "grid3d27:31"},
            {natural, random, rcm, dissection, colours});
    gallery("grid3d27", {"grid3d27:48"}, {natural, random, colours});
    gallery("triangulated",
            {"triangulated:61x43", "triangulated:301x19", "triangulated:203x99",
             "triangulated:350x700"},
            {natural, random, rcm, colours});
    gallery("triangulated", {"triangulated:1203x811"}, {natural, colours});

    const auto box = [&](const char* family, int along_x, int ny, int nz,
                         int reach, Orders orders) {
      graph(family, along_x, orders, [=](int nx) -> OwnGraph {
        return {std::string(reach == 1 ? "box:" : "upwind:") + times(nx, ny) +
                    "x" + std::to_string(nz),
                std::int64_t(nx) * ny * nz,
                [=](std::uint64_t) { return box_graph(nx, ny, nz, reach); }};
      });
    };
    box("anisotropic", 400, 10, 1, 1, {natural, rcm});
    box("anisotropic", 9, 700, 1, 1, {natural, random});
    box("anisotropic", 1500, 40, 1, 1, {natural, rcm});
    box("anisotropic", 33, 4000, 1, 1, {natural, level});
    box("anisotropic", 300, 20, 5, 1, {natural, rcm});
    box("anisotropic", 6, 40, 250, 1, {natural, colours});
    box("anisotropic", 100, 100, 11, 1, {natural, random});
    box("anisotropic", 21, 130, 140, 1, {natural, rcm});
    box("anisotropic", 700, 70, 12, 1, {natural, level});
    box("upwind", 60, 55, 1, 2, {natural, rcm});
    box("upwind", 250, 18, 1, 2, {natural, reverse});
    box("upwind", 190, 210, 1, 2, {natural, colours});
    box("upwind", 520, 440, 1, 2, {natural, rcm});
    box("upwind", 19, 17, 15, 2, {natural, random});
    box("upwind", 36, 30, 33, 2, {natural, rcm});
    box("upwind", 90, 14, 61, 2, {natural, level});
    box("upwind", 88, 92, 79, 2, {natural, colours});
    box("upwind", 64, 64, 40, 3, {natural, random});
  }

  void bands_and_blocks() {
    gallery("band",
            {"band:2100:12:0.4", "band:3600:150:0.05", "band:6500:40:0.25",
             "band:15000:6:1", "band:24000:90:0.03", "band:47000:25:0.1",
             "band:130000:16:0.5", "band:260000:60:0.05", "band:33000:2:0.5"},
            {natural});
    gallery("band",
            {"band:5200:30:0.3", "band:18000:200:0.02", "band:70000:10:0.3"},
            {random, rcm, colours});
    const auto holed = [&](int n, int half, double density, int period,
                           int hole, Orders orders) {
      graph("holed_band", n, orders, [=](int rows) -> OwnGraph {
        return {"holed_band:" + times(rows, half) + ":" + times(period, hole),
                rows, [=](std::uint64_t seed) {
                  return holed_band_graph(rows, half, density, period, hole,
                                          seed);
                }};
      });
    };
    holed(3100, 12, 0.5, 100, 12, {natural, level});
    holed(4700, 40, 0.2, 400, 20, {natural, random});
    holed(9400, 8, 0.9, 37, 3, {natural, rcm});
    holed(16000, 30, 0.1, 1000, 30, {natural, level});
    holed(28000, 100, 0.04, 500, 150, {natural, random});
    holed(60000, 20, 0.15, 64, 8, {natural, rcm});
    holed(150000, 6, 0.6, 1500, 6, {natural, level});
    holed(420000, 15, 0.2, 240, 20, {natural, random});
    holed(36000, 300, 0.02, 900, 60, {natural});
    gallery("block_diagonal",
            {"block_diagonal:8x350:0.05", "block_diagonal:40x70:0.3",
             "block_diagonal:32x200:0.1", "block_diagonal:4x5000:0.004",
             "block_diagonal:64x900:0.01", "block_diagonal:200x150:0.08",
             "block_diagonal:2x30000:0.0005", "block_diagonal:1000x300:0.02",
             "block_diagonal:24x20000:0.0004", "block_diagonal:6000x40:0.15",
             "block_diagonal:12x1400:0.03", "block_diagonal:90x9000:0.0007",
             "block_diagonal:30000x24:0.2"},
            {natural});
    gallery("block_diagonal",
            {"block_diagonal:16x500:0.04", "block_diagonal:300x120:0.05"},
            {random, rcm, level});
  }

  void random_matrices() {
    gallery("random",
            {"random:1400x3", "random:2500x2", "random:4300x16",
             "random:6000x8", "random:11000x1", "random:18000x4",
             "random:29000x30", "random:50000x12", "random:86000x2",
             "random:130000x3", "random:220000x1", "random:350000x7",
             "random:600000x4", "random:1100000x2", "random:2700000x4"},
            {natural});
    gallery("random", {"random:7700x5", "random:64000x6"},
            {level, rcm, colours});
    gallery("circuit", {"circuit:3300", "circuit:9100", "circuit:21000"},
            {natural, random, rcm, level});
    gallery("circuit", {"circuit:64000", "circuit:177000"},
            {natural, reverse, rcm});
    gallery("circuit", {"circuit:620000", "circuit:1300000"}, {natural});
    gallery("circuit", {"circuit:14000", "circuit:90000"}, {natural, colours},
            Factor::upper);
    gallery("gene",
            {"gene:900", "gene:1500", "gene:2300", "gene:3400", "gene:5200"},
            {natural});
    gallery("gene", {"gene:1200", "gene:2700"}, {random, rcm});
    gallery("mesh", {"cubed_sphere:3", "cubed_sphere:7"}, {random, rcm});
    gallery("mesh", {"lattice:120", "lattice:370"}, {natural, rcm});
    gallery("mesh", {"cubed_sphere:8"}, {rcm});
    gallery("mesh", {"lattice:1430"}, {natural});
    const auto mesh = [&](int n, int dimensions, double degree, Orders orders) {
      graph("mesh", n, orders, [=](int rows) -> OwnGraph {
        return {"mesh" + std::to_string(dimensions) +
                    "d:" + times(rows, static_cast<int>(degree)),
                rows, [=](std::uint64_t seed) {
                  return mesh_graph(rows, dimensions, degree, seed);
                }};
      });
    };
    mesh(2600, 2, 6, {natural, random, rcm});
    mesh(9000, 2, 9, {natural, rcm, dissection});
    mesh(41000, 2, 6, {natural, random, rcm});
    mesh(190000, 2, 7, {natural, rcm, dissection});
    mesh(6100, 3, 13, {natural, rcm, colours});
    mesh(33000, 3, 20, {natural, random, rcm});
    mesh(210000, 3, 14, {natural, colours});
    mesh(800000, 2, 6, {natural});
  }

  void own_graphs() {
    const auto deep = [&](int n, int entries, int levels, int spread,
                          int window, Orders orders) {
      graph("deep", n, orders, [=](int rows) -> OwnGraph {
        return {"deep:" + times(rows, entries) + ":" + times(levels, spread) +
                    ":" + std::to_string(window),
                rows, [=](std::uint64_t seed) {
                  return deep_graph(rows, entries, levels, spread, window,
                                    seed);
                }};
      });
    };
    for (const int entries : {3, 5, 8, 12}) {
      deep(3000 + 40 * entries, entries, 300, 1, 60, {natural});
      deep(3700 - 20 * entries, entries, 440, 30, 300, {natural});
      deep(4000 + 50 * entries, entries, 560, 6, 150, {natural, level});
      deep(4600 + 30 * entries, entries, 780, 100, 1500, {natural});
    }
    deep(3300, 4, 650, 3, 40, {natural, random});
    deep(4900, 6, 320, 200, 4900, {natural, rcm});
    deep(4200, 10, 700, 12, 600, {natural, reverse});
    deep(3900, 7, 500, 60, 200, {natural, random});
    deep(11000, 6, 900, 8, 300, {natural, level});
    deep(26000, 4, 1300, 40, 2000, {natural});

    const auto long_rows = [&](int n, int entries, int window, int hubs,
                               int length, bool last, Orders orders) {
      graph("long_rows", n, orders, [=](int rows) -> OwnGraph {
        return {std::string(last ? "long_last:" : "long_rows:") +
                    times(rows, entries) + ":" + times(hubs, length) + ":" +
                    std::to_string(window),
                rows, [=](std::uint64_t seed) {
                  return long_row_graph(rows, entries, window, hubs, length,
                                        last, seed);
                }};
      });
    };
    long_rows(7200, 3, 100, 4, 500, false, {natural, random});
    long_rows(8100, 5, 7000, 12, 350, false, {natural, rcm});
    long_rows(9300, 2, 400, 3, 900, true, {natural});
    long_rows(10700, 4, 60, 25, 300, false, {natural, random});
    long_rows(12500, 3, 3000, 6, 700, true, {natural});
    long_rows(13800, 6, 500, 2, 800, false, {natural, level});
    long_rows(15400, 2, 30, 40, 250, false, {natural, rcm});
    long_rows(17700, 3, 256, 5, 600, false, {natural, random});
    long_rows(19600, 7, 2000, 10, 400, true, {natural});
    long_rows(21000, 4, 20000, 3, 950, false, {natural, reverse});
    long_rows(22900, 2, 150, 16, 450, true, {natural, level});
    long_rows(52000, 4, 800, 8, 2500, false, {natural, random});
    long_rows(160000, 3, 5000, 5, 7000, false, {natural});
    long_rows(430000, 2, 1000, 12, 3000, true, {natural});

    const auto power_law = [&](int n, int links, Orders orders) {
      graph("power_law", n, orders, [=](int rows) -> OwnGraph {
        return {"power_law:" + times(rows, links), rows,
                [=](std::uint64_t seed) {
                  return power_law_graph(rows, links, seed);
                }};
      });
    };
    power_law(2200, 2, {natural, reverse, random});
    power_law(7400, 4, {natural, reverse, rcm});
    power_law(23000, 1, {natural, reverse, random});
    power_law(31000, 8, {natural, reverse});
    power_law(95000, 3, {natural, reverse, random});
    power_law(280000, 2, {natural, reverse, rcm});
    power_law(700000, 4, {natural});

    const auto elements = [&](int along_x, int ny, int nz, int unknowns,
                              Orders orders, bool shuffled = false) {
      graph("elements", along_x, orders, [=](int nx) -> OwnGraph {
        return {std::string(shuffled ? "shuffled:" : "elements:") +
                    times(nx, ny) + "x" + std::to_string(nz) + ":" +
                    std::to_string(unknowns),
                std::int64_t(nx) * ny * nz * unknowns, [=](std::uint64_t seed) {
                  return element_graph(nx, ny, nz, unknowns, shuffled, seed);
                }};
      });
    };
    elements(31, 27, 1, 3, {natural, rcm});
    elements(24, 22, 1, 6, {natural, dissection});
    elements(110, 23, 1, 3, {natural, level});
    elements(75, 81, 1, 6, {natural, rcm});
    elements(170, 140, 1, 3, {natural, dissection});
    elements(8, 9, 10, 3, {natural, colours});
    elements(7, 8, 9, 6, {natural, rcm});
    elements(16, 17, 15, 3, {natural, dissection});
    elements(13, 12, 14, 6, {natural});
    elements(26, 24, 29, 3, {natural, rcm});
    elements(40, 33, 1, 3, {natural}, true);
    elements(60, 44, 1, 6, {natural}, true);
    elements(11, 12, 13, 3, {natural}, true);
    elements(15, 15, 16, 6, {natural}, true);

    const auto paths = [&](int n, int path, int window, int crossings,
                           Orders orders) {
      graph("paths", n, orders, [=](int rows) -> OwnGraph {
        return {"paths:" + times(rows, path) + ":" + times(window, crossings),
                rows, [=](std::uint64_t seed) {
                  return path_graph(rows, path, window, crossings, seed);
                }};
      });
    };
    paths(1900, 8, 1900, 20, {natural, random});
    paths(8800, 20, 500, 10, {natural, rcm});
    paths(35000, 3, 35000, 5, {natural, level});
    paths(58000, 60, 4000, 30, {natural, dissection});
    paths(230000, 12, 20000, 15, {natural, random});
    paths(900000, 30, 900000, 8, {natural, rcm});
    paths(44000, 1, 44000, 0, {natural, reverse});
    paths(310000, 1, 200, 40, {natural});
    gallery("paths", {"chain:3300"}, {natural, random});
    gallery("paths", {"arrow:41000"}, {natural, reverse});
    gallery("paths", {"chain:61000", "diagonal:730000"}, {natural});
  }

  /// L and U of ILU(0) and ILU(1).
  void factors() {
    const auto both = [&](std::initializer_list<const char*> specs, int fill,
                          Orders orders) {
      gallery("factors", specs, orders, Factor::ilu0_l, fill);
      gallery("factors", specs, {*orders.begin()}, Factor::ilu0_u, fill);
    };
    both({"grid2d:95", "grid2d:370", "grid3d:22", "grid3d:52"}, 1,
         {natural, rcm});
    both({"grid2d9:77", "triangulated:160x120"}, 1, {natural, dissection});
    both({"grid3d:34", "grid3d27:17", "triangulated:90x400"}, 0,
         {natural, colours});
    both({"circuit:5600", "circuit:33000"}, 0, {natural, rcm});
    both({"random:3800x2", "cubed_sphere:5"}, 1, {rcm, level});
    both({"band:4400:20:0.2"}, 1, {natural, random});
  }
};

}  // namespace PerfTest
}  // namespace Strata

#endif
