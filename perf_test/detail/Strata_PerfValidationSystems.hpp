// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_VALIDATION_SYSTEMS_HPP
#define STRATA_PERF_VALIDATION_SYSTEMS_HPP

#include <Strata_Gallery.hpp>
#include <Strata_GalleryOrders.hpp>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <detail/Strata_PerfOptions.hpp>
#include <initializer_list>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// A triangular system of the validation set: a matrix of the gallery, an order
/// of its rows and columns, and a triangle or factor.
struct ValidationSystem {
  std::string family;
  std::string matrix;
  std::int64_t rows;
  std::uint64_t seed;
  GalleryOrder order = GalleryOrder::natural;
  Factor factor = Factor::lower;
  int fill = 0;  ///< of the incomplete factors: ILU(fill)

  std::string name() const {
    std::string text = matrix;
    if (order != GalleryOrder::natural)
      text += std::string("/") + to_string(order);
    const std::string level = std::to_string(fill);
    if (factor == Factor::upper) text += "/upper";
    if (factor == Factor::ilu0_l) text += "/ilu" + level + "-l";
    if (factor == Factor::ilu0_u) text += "/ilu" + level + "-u";
    return text;
  }
};

/// A gallery matrix of `factor` times the size: the first number of its name is
/// the nearest whole number, the even one of two, and one at least. A sphere of
/// one refinement more has twice as many cells along its edges.
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
          : std::max(1, static_cast<int>(std::nearbyint(number * factor)));
  return spec.substr(0, first) + std::to_string(other) + spec.substr(end);
}

/// The validation set: none of its systems is one that the performance model
/// was fitted to. Those were gallery matrices with the seed 1, nearly all in
/// natural order, and matrices of the SuiteSparse collection.
class ValidationSet {
 public:
  using Orders = std::initializer_list<GalleryOrder>;

  /// @param scale  of the first number in a name. With another scale than 1,
  ///               systems whose number stays the same are left out
  /// @param seed   sets with different seeds have no random numbers in common
  explicit ValidationSet(double scale = 1, std::uint64_t seed = 1)
      : scale_(scale), seed_(1000 * seed) {
    grids();
    bands_and_blocks();
    random_matrices();
    graphs();
    factors();
    complete_factors();
  }

  std::vector<ValidationSystem> systems;

 private:
  static constexpr auto natural = GalleryOrder::natural,
                        reverse = GalleryOrder::reverse,
                        random = GalleryOrder::random,
                        rcm = GalleryOrder::cuthill_mckee,
                        dissection = GalleryOrder::nested_dissection,
                        level = GalleryOrder::level,
                        colours = GalleryOrder::colours;

  double scale_;
  std::uint64_t seed_;  // of the next system

  /// Matrices, each in each order. The random numbers of a system depend on its
  /// place in the set, whether those before it are left out or not.
  void add(const char* family, std::initializer_list<const char*> specs,
           Orders orders, Factor factor = Factor::lower, int fill = 0) {
    for (const char* const spec : specs) {
      const std::string name = scale_ == 1 ? spec : scaled(spec, scale_);
      const auto rows =
          static_cast<std::int64_t>(Detail::GalleryParser(name).parse().rows);
      if (scale_ == 1 || name != spec)
        for (const GalleryOrder order : orders)
          systems.push_back({family, name, rows, seed_, order, factor, fill});
      seed_ += orders.size();
    }
  }

  void grids() {
    add("grid2d", {"grid2d:45", "grid2d:110", "grid2d:230", "grid2d:450"},
        {natural, random, rcm, dissection, level, colours});
    add("grid2d", {"grid2d:830"}, {natural, random, rcm, level, colours});
    add("grid2d", {"grid2d:1700"}, {natural, colours});
    add("grid2d9", {"grid2d9:53", "grid2d9:140", "grid2d9:330"},
        {natural, random, rcm, dissection, colours});
    add("grid2d9", {"grid2d9:610"}, {natural, random, colours});
    add("grid3d", {"grid3d:14", "grid3d:27", "grid3d:43"},
        {natural, random, rcm, dissection, level, colours});
    add("grid3d", {"grid3d:76"}, {natural, random, rcm, colours});
    add("grid3d", {"grid3d:118", "grid3d:155"}, {natural, colours});
    add("grid3d27", {"grid3d27:11", "grid3d27:19", "grid3d27:31"},
        {natural, random, rcm, dissection, colours});
    add("grid3d27", {"grid3d27:48"}, {natural, random, colours});
    add("triangulated",
        {"triangulated:61x43", "triangulated:301x19", "triangulated:203x99",
         "triangulated:350x700"},
        {natural, random, rcm, colours});
    add("triangulated", {"triangulated:1203x811"}, {natural, colours});

    add("anisotropic", {"box:400x10x1"}, {natural, rcm});
    add("anisotropic", {"box:9x700x1"}, {natural, random});
    add("anisotropic", {"box:1500x40x1"}, {natural, rcm});
    add("anisotropic", {"box:33x4000x1"}, {natural, level});
    add("anisotropic", {"box:300x20x5"}, {natural, rcm});
    add("anisotropic", {"box:6x40x250"}, {natural, colours});
    add("anisotropic", {"box:100x100x11"}, {natural, random});
    add("anisotropic", {"box:21x130x140"}, {natural, rcm});
    add("anisotropic", {"box:700x70x12"}, {natural, level});
    add("upwind", {"box:60x55x1:2"}, {natural, rcm});
    add("upwind", {"box:250x18x1:2"}, {natural, reverse});
    add("upwind", {"box:190x210x1:2"}, {natural, colours});
    add("upwind", {"box:520x440x1:2"}, {natural, rcm});
    add("upwind", {"box:19x17x15:2"}, {natural, random});
    add("upwind", {"box:36x30x33:2"}, {natural, rcm});
    add("upwind", {"box:90x14x61:2"}, {natural, level});
    add("upwind", {"box:88x92x79:2"}, {natural, colours});
    add("upwind", {"box:64x64x40:3"}, {natural, random});
  }

  void bands_and_blocks() {
    add("band",
        {"band:2100:12:0.4", "band:3600:150:0.05", "band:6500:40:0.25",
         "band:15000:6:1", "band:24000:90:0.03", "band:47000:25:0.1",
         "band:130000:16:0.5", "band:260000:60:0.05", "band:33000:2:0.5"},
        {natural});
    add("band",
        {"band:5200:30:0.3", "band:18000:200:0.02", "band:70000:10:0.3"},
        {random, rcm, colours});
    add("holed_band", {"holed_band:3100x12:100x12:0.5"}, {natural, level});
    add("holed_band", {"holed_band:4700x40:400x20:0.2"}, {natural, random});
    add("holed_band", {"holed_band:9400x8:37x3:0.9"}, {natural, rcm});
    add("holed_band", {"holed_band:16000x30:1000x30:0.1"}, {natural, level});
    add("holed_band", {"holed_band:28000x100:500x150:0.04"}, {natural, random});
    add("holed_band", {"holed_band:60000x20:64x8:0.15"}, {natural, rcm});
    add("holed_band", {"holed_band:150000x6:1500x6:0.6"}, {natural, level});
    add("holed_band", {"holed_band:420000x15:240x20:0.2"}, {natural, random});
    add("holed_band", {"holed_band:36000x300:900x60:0.02"}, {natural});
    add("block_diagonal",
        {"block_diagonal:8x350:0.05", "block_diagonal:40x70:0.3",
         "block_diagonal:32x200:0.1", "block_diagonal:4x5000:0.004",
         "block_diagonal:64x900:0.01", "block_diagonal:200x150:0.08",
         "block_diagonal:2x30000:0.0005", "block_diagonal:1000x300:0.02",
         "block_diagonal:24x20000:0.0004", "block_diagonal:6000x40:0.15",
         "block_diagonal:12x1400:0.03", "block_diagonal:90x9000:0.0007",
         "block_diagonal:30000x24:0.2"},
        {natural});
    add("block_diagonal",
        {"block_diagonal:16x500:0.04", "block_diagonal:300x120:0.05"},
        {random, rcm, level});
  }

  void random_matrices() {
    add("random",
        {"random:1400x3", "random:2500x2", "random:4300x16", "random:6000x8",
         "random:11000x1", "random:18000x4", "random:29000x30",
         "random:50000x12", "random:86000x2", "random:130000x3",
         "random:220000x1", "random:350000x7", "random:600000x4",
         "random:1100000x2", "random:2700000x4"},
        {natural});
    add("random", {"random:7700x5", "random:64000x6"}, {level, rcm, colours});
    add("circuit", {"circuit:3300", "circuit:9100", "circuit:21000"},
        {natural, random, rcm, level});
    add("circuit", {"circuit:64000", "circuit:177000"},
        {natural, reverse, rcm});
    add("circuit", {"circuit:620000", "circuit:1300000"}, {natural});
    add("circuit", {"circuit:14000", "circuit:90000"}, {natural, colours},
        Factor::upper);
    add("gene",
        {"gene:900", "gene:1500", "gene:2300", "gene:3400", "gene:5200"},
        {natural});
    add("gene", {"gene:1200", "gene:2700"}, {random, rcm});
    add("mesh", {"cubed_sphere:3", "cubed_sphere:7"}, {random, rcm});
    add("mesh", {"lattice:120", "lattice:370"}, {natural, rcm});
    add("mesh", {"cubed_sphere:8"}, {rcm});
    add("mesh", {"lattice:1430"}, {natural});
    add("mesh", {"mesh2d:2600x6"}, {natural, random, rcm});
    add("mesh", {"mesh2d:9000x9"}, {natural, rcm, dissection});
    add("mesh", {"mesh2d:41000x6"}, {natural, random, rcm});
    add("mesh", {"mesh2d:190000x7"}, {natural, rcm, dissection});
    add("mesh", {"mesh3d:6100x13"}, {natural, rcm, colours});
    add("mesh", {"mesh3d:33000x20"}, {natural, random, rcm});
    add("mesh", {"mesh3d:210000x14"}, {natural, colours});
    add("mesh", {"mesh2d:800000x6"}, {natural});
  }

  void graphs() {
    add("deep", {"deep:3120x3:300x1:60"}, {natural});
    add("deep", {"deep:3640x3:440x30:300"}, {natural});
    add("deep", {"deep:4150x3:560x6:150"}, {natural, level});
    add("deep", {"deep:4690x3:780x100:1500"}, {natural});
    add("deep", {"deep:3200x5:300x1:60"}, {natural});
    add("deep", {"deep:3600x5:440x30:300"}, {natural});
    add("deep", {"deep:4250x5:560x6:150"}, {natural, level});
    add("deep", {"deep:4750x5:780x100:1500"}, {natural});
    add("deep", {"deep:3320x8:300x1:60"}, {natural});
    add("deep", {"deep:3540x8:440x30:300"}, {natural});
    add("deep", {"deep:4400x8:560x6:150"}, {natural, level});
    add("deep", {"deep:4840x8:780x100:1500"}, {natural});
    add("deep", {"deep:3480x12:300x1:60"}, {natural});
    add("deep", {"deep:3460x12:440x30:300"}, {natural});
    add("deep", {"deep:4600x12:560x6:150"}, {natural, level});
    add("deep", {"deep:4960x12:780x100:1500"}, {natural});
    add("deep", {"deep:3300x4:650x3:40"}, {natural, random});
    add("deep", {"deep:4900x6:320x200:4900"}, {natural, rcm});
    add("deep", {"deep:4200x10:700x12:600"}, {natural, reverse});
    add("deep", {"deep:3900x7:500x60:200"}, {natural, random});
    add("deep", {"deep:11000x6:900x8:300"}, {natural, level});
    add("deep", {"deep:26000x4:1300x40:2000"}, {natural});

    add("long_rows", {"long_rows:7200x3:4x500:100"}, {natural, random});
    add("long_rows", {"long_rows:8100x5:12x350:7000"}, {natural, rcm});
    add("long_rows", {"long_last:9300x2:3x900:400"}, {natural});
    add("long_rows", {"long_rows:10700x4:25x300:60"}, {natural, random});
    add("long_rows", {"long_last:12500x3:6x700:3000"}, {natural});
    add("long_rows", {"long_rows:13800x6:2x800:500"}, {natural, level});
    add("long_rows", {"long_rows:15400x2:40x250:30"}, {natural, rcm});
    add("long_rows", {"long_rows:17700x3:5x600:256"}, {natural, random});
    add("long_rows", {"long_last:19600x7:10x400:2000"}, {natural});
    add("long_rows", {"long_rows:21000x4:3x950:20000"}, {natural, reverse});
    add("long_rows", {"long_last:22900x2:16x450:150"}, {natural, level});
    add("long_rows", {"long_rows:52000x4:8x2500:800"}, {natural, random});
    add("long_rows", {"long_rows:160000x3:5x7000:5000"}, {natural});
    add("long_rows", {"long_last:430000x2:12x3000:1000"}, {natural});

    add("power_law", {"power_law:2200x2"}, {natural, reverse, random});
    add("power_law", {"power_law:7400x4"}, {natural, reverse, rcm});
    add("power_law", {"power_law:23000x1"}, {natural, reverse, random});
    add("power_law", {"power_law:31000x8"}, {natural, reverse});
    add("power_law", {"power_law:95000x3"}, {natural, reverse, random});
    add("power_law", {"power_law:280000x2"}, {natural, reverse, rcm});
    add("power_law", {"power_law:700000x4"}, {natural});

    add("elements", {"elements:31x27x1:3"}, {natural, rcm});
    add("elements", {"elements:24x22x1:6"}, {natural, dissection});
    add("elements", {"elements:110x23x1:3"}, {natural, level});
    add("elements", {"elements:75x81x1:6"}, {natural, rcm});
    add("elements", {"elements:170x140x1:3"}, {natural, dissection});
    add("elements", {"elements:8x9x10:3"}, {natural, colours});
    add("elements", {"elements:7x8x9:6"}, {natural, rcm});
    add("elements", {"elements:16x17x15:3"}, {natural, dissection});
    add("elements", {"elements:13x12x14:6"}, {natural});
    add("elements", {"elements:26x24x29:3"}, {natural, rcm});
    add("elements", {"shuffled:40x33x1:3"}, {natural});
    add("elements", {"shuffled:60x44x1:6"}, {natural});
    add("elements", {"shuffled:11x12x13:3"}, {natural});
    add("elements", {"shuffled:15x15x16:6"}, {natural});

    add("paths", {"paths:1900x8:1900x20"}, {natural, random});
    add("paths", {"paths:8800x20:500x10"}, {natural, rcm});
    add("paths", {"paths:35000x3:35000x5"}, {natural, level});
    add("paths", {"paths:58000x60:4000x30"}, {natural, dissection});
    add("paths", {"paths:230000x12:20000x15"}, {natural, random});
    add("paths", {"paths:900000x30:900000x8"}, {natural, rcm});
    add("paths", {"paths:44000x1:44000x0"}, {natural, reverse});
    add("paths", {"paths:310000x1:200x40"}, {natural});
    add("paths", {"chain:3300"}, {natural, random});
    add("paths", {"arrow:41000"}, {natural, reverse});
    add("paths", {"chain:61000", "diagonal:730000"}, {natural});
  }

  /// L and U of ILU(0) and ILU(1).
  void factors() {
    const auto both = [&](std::initializer_list<const char*> specs, int fill,
                          Orders orders) {
      add("factors", specs, orders, Factor::ilu0_l, fill);
      add("factors", specs, {*orders.begin()}, Factor::ilu0_u, fill);
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
  /// L and U of complete factorisations: of ILU(k) that keeps all fill.
  void complete_factors() {
    constexpr int all = 100000;
    for (const Factor factor : {Factor::ilu0_l, Factor::ilu0_u}) {
      add("complete",
          {"grid2d:45", "grid2d:110", "grid2d:190", "grid2d9:70",
           "triangulated:90x70", "box:60x55x1:2", "grid3d:10", "grid3d:16",
           "grid3d27:12", "elements:31x27x1:3", "elements:7x8x9:3",
           "circuit:3300", "mesh2d:9000x9", "power_law:2200x2"},
          {dissection}, factor, all);
      add("complete", {"grid2d:37", "circuit:2100"}, {rcm}, factor, all);
    }
  }
};

}  // namespace PerfTest
}  // namespace Strata

#endif
