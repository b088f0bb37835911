// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_IMPLEMENTATION_HPP
#define STRATA_GALLERY_GALLERY_IMPLEMENTATION_HPP

#include <Strata_Gallery.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <cstdlib>
#include <gallery/GalleryEdges.hpp>
#include <gallery/GalleryGraphs.hpp>
#include <gallery/GalleryRandom.hpp>
#include <gallery/GallerySphere.hpp>
#include <gallery/GalleryStencils.hpp>
#include <gallery/HostMemory.hpp>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<Gallery> : std::true_type {};

/// That the columns of so many entries, which all families hold, fit the memory
/// of the host or the device: before any is drawn, which may take for ever.
template <class MemorySpace>
void require_memory_for(double entries) {
  const auto total = static_cast<double>(memory_info<MemorySpace>().total);
  if (entries * sizeof(int) > (total > 0 ? total : host_memory_bytes()))
    throw FailedAllocation("Strata::Gallery::entries", MemorySpace::name(), 0,
                           0, 0);
}

/// See gallery.
template <class Scalar, class ExecutionSpace>
void fill_gallery_matrix(const ExecutionSpace& exec, const std::string& spec,
                         std::uint64_t seed, NewMatrix<Scalar>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  const GallerySpec s = GalleryParser(spec).parse();
  const std::string argument = "gallery specification '" + spec + "'";
  require_index_types_hold(argument, made, s.rows, s.entries);
  require_memory_for<Memory>(s.entries);
  const auto rows = static_cast<std::int64_t>(s.rows);

  const auto from_pattern = [&](const auto& pattern) {
    build_from_pattern(exec, rows, pattern,
                       GalleryValues{seed, pattern.degree, false}, made);
  };
  const auto from_edges = [&](const auto& edges) {
    build_from_edges(exec, argument, rows, edges, GalleryValues{seed, 0, true},
                     made);
  };

  const auto cross = [&] {
    return make_grid(s.n, s.n, s.n, [](int dx, int dy, int dz) {
      return std::abs(dx) + std::abs(dy) + std::abs(dz) <= 1;
    });
  };

  switch (s.family) {
    case Family::grid2d:
      return from_pattern(make_grid(s.n, s.n, 1, [](int dx, int dy, int dz) {
        return dz == 0 && dx * dy == 0;
      }));
    case Family::grid2d9:
      return from_pattern(
          make_grid(s.n, s.n, 1, [](int, int, int dz) { return dz == 0; }));
    case Family::grid3d:
      return from_pattern(cross());
    case Family::poisson:
      return build_from_pattern(exec, rows, cross(), PoissonValues(), made);
    case Family::grid3d27:
      return from_pattern(
          make_grid(s.n, s.n, s.n, [](int, int, int) { return true; }));
    case Family::triangulated:
      return from_pattern(make_grid(s.n, s.m, 1, [](int dx, int dy, int dz) {
        return dz == 0 && dx * dy != -1;
      }));
    case Family::lattice:
      return from_pattern(EpidemicLattice{s.n});
    case Family::cubed_sphere:
      return from_pattern(SphereCells(static_cast<int>(s.n)));
    case Family::diagonal:
      return from_pattern(Diagonals{s.n, 0, 1});
    case Family::chain:
      return from_pattern(Diagonals{s.n, 1, 2});
    case Family::arrow:
      return build_arrow(exec, s.n, GalleryValues{seed, 0, true}, made);
    case Family::band:
      return from_edges(
          BandEdges<Memory>{seed, rows, s.m, Trials<Memory>(s.density)});
    case Family::circuit:
      return from_edges(CircuitEdges(seed, rows));
    case Family::gene:
      return from_edges(GeneEdges<Memory>{seed, rows, Trials<Memory>(0.5),
                                          Trials<Memory>(0.031)});
    case Family::random:
      return from_edges(UniformEdges{seed, rows, s.m});
    case Family::block_diagonal:
      return from_edges(
          BlockEdges<Memory>{seed, rows, s.m, Trials<Memory>(s.density)});
    default:
      return from_edges(ListedEdges<Memory>(gallery_graph(s, seed)));
  }
}

template <class Scalar, class ExecutionSpace>
void make_gallery_matrix(const ExecutionSpace& exec, const std::string& spec,
                         std::uint64_t seed, NewMatrix<Scalar>& made) {
  with_memory_errors("a matrix of the gallery",
                     [&] { fill_gallery_matrix(exec, spec, seed, made); });
}

}  // namespace Detail
}  // namespace Strata

#endif
