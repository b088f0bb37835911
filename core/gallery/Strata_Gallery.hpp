// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_HPP
#define STRATA_GALLERY_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/gallery/GalleryEdges.hpp>
#include <core/gallery/GalleryRandom.hpp>
#include <core/gallery/GallerySpec.hpp>
#include <core/gallery/GallerySphere.hpp>
#include <core/gallery/GalleryStencils.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <cstdlib>

namespace Strata {

/// The names that gallery() understands, a line each.
inline std::string gallery_help() { return Detail::gallery_grammar; }

/// `spec` itself after checking it: the grammar has no character that a
/// benchmark's name or a file name's stem could not hold.
/// Raises GalleryError for a name that is not in the grammar.
inline std::string gallery_name(const std::string& spec) {
  Detail::GalleryParser(spec).parse();
  return spec;
}

namespace Detail {

/// See gallery.
template <class CrsMatrix>
CrsMatrix make_gallery_matrix(const typename CrsMatrix::execution_space& exec,
                              const std::string& spec, std::uint64_t seed) {
  using Memory = typename CrsMatrix::memory_space;
  using Detail::Family;
  const Detail::GallerySpec s = Detail::GalleryParser(spec).parse();
  const std::string argument = "gallery specification '" + spec + "'";
  Detail::require_index_types_hold<
      typename Detail::MatrixTypes<CrsMatrix>::Ordinal,
      typename Detail::MatrixTypes<CrsMatrix>::Offset>(argument, s.rows,
                                                       s.entries);
  const auto rows = static_cast<std::int64_t>(s.rows);

  const auto from_pattern = [&](const auto& pattern) {
    return Detail::build_from_pattern<CrsMatrix>(
        exec, rows, pattern,
        Detail::GalleryValues{seed, pattern.degree, false});
  };
  const auto from_edges = [&](const auto& edges) {
    return Detail::build_from_edges<CrsMatrix>(
        exec, argument, rows, edges, Detail::GalleryValues{seed, 0, true});
  };

  switch (s.family) {
    case Family::grid2d:
      return from_pattern(Detail::make_grid(
          s.n, s.n, 1,
          [](int dx, int dy, int dz) { return dz == 0 && dx * dy == 0; }));
    case Family::grid2d9:
      return from_pattern(Detail::make_grid(
          s.n, s.n, 1, [](int, int, int dz) { return dz == 0; }));
    case Family::grid3d:
      return from_pattern(
          Detail::make_grid(s.n, s.n, s.n, [](int dx, int dy, int dz) {
            return std::abs(dx) + std::abs(dy) + std::abs(dz) <= 1;
          }));
    case Family::grid3d27:
      return from_pattern(
          Detail::make_grid(s.n, s.n, s.n, [](int, int, int) { return true; }));
    case Family::triangulated:
      return from_pattern(Detail::make_grid(
          s.n, s.m, 1,
          [](int dx, int dy, int dz) { return dz == 0 && dx * dy != -1; }));
    case Family::lattice:
      return from_pattern(Detail::EpidemicLattice{s.n});
    case Family::cubed_sphere:
      return from_pattern(Detail::SphereCells(static_cast<int>(s.n)));
    case Family::diagonal:
      return from_pattern(Detail::Diagonals{s.n, 0, 1});
    case Family::chain:
      return from_pattern(Detail::Diagonals{s.n, 1, 2});
    case Family::arrow:
      return Detail::build_arrow<CrsMatrix>(
          exec, s.n, Detail::GalleryValues{seed, 0, true});
    case Family::band:
      return from_edges(Detail::BandEdges<Memory>{
          seed, rows, s.m, Detail::Trials<Memory>(s.density)});
    case Family::circuit:
      return from_edges(Detail::CircuitEdges(seed, rows));
    case Family::gene:
      return from_edges(
          Detail::GeneEdges<Memory>{seed, rows, Detail::Trials<Memory>(0.5),
                                    Detail::Trials<Memory>(0.031)});
    case Family::random:
      return from_edges(Detail::UniformEdges{seed, rows, s.m});
    case Family::block_diagonal:
      return from_edges(Detail::BlockEdges<Memory>{
          seed, rows, s.m, Detail::Trials<Memory>(s.density)});
  }
  throw GalleryError(argument, "has no maker", "report this as a defect");
}

}  // namespace Detail

/// Makes the square test matrix that `spec` names (see gallery_help()) in the
/// memory of CrsMatrix, with kernels on `exec`; returns when it is complete.
///
/// The diagonal is stored, rows are sorted and strictly diagonally dominant,
/// and the pattern is symmetric except for `lattice`, which is one-way like the
/// matrix it stands for. Values are not symmetric, so a transposed use shows.
/// Pattern and values depend on `spec` and `seed` alone: every backend makes
/// the same bits.
///
/// Raises GalleryError for a name that can't be understood and, before any
/// allocation, IndexOverflowError where the index types of CrsMatrix can't
/// count the rows or (expected) entries; MemoryError.
/// Cost: two to five passes over the entries; random families also sort each
/// row, and hold the entries' columns twice while repeated ones are merged.
template <class CrsMatrix>
CrsMatrix gallery(const typename CrsMatrix::execution_space& exec,
                  const std::string& spec, std::uint64_t seed = 1) {
  static_assert(Detail::owns_its_memory<CrsMatrix>,
                "Strata: a matrix that is made is not const-valued and has no "
                "memory traits: name CrsMatrix<Scalar, Ordinal, Device, void, "
                "Offset>");
  return Detail::with_memory_errors("a matrix of the gallery", [&] {
    return Detail::make_gallery_matrix<CrsMatrix>(exec, spec, seed);
  });
}

}  // namespace Strata

#endif
