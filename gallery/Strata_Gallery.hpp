// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_HPP
#define STRATA_GALLERY_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <gallery/GallerySpec.hpp>

// Matrices to try solvers on, and to measure and test them with. Link
// Strata::gallery; a program without libstrata, Strata::gallery_header_only.

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

/// For expect_compiled.
struct Gallery;

/// See gallery. In gallery/GalleryImplementation.hpp.
template <class Scalar, class ExecutionSpace>
void make_gallery_matrix(const ExecutionSpace& exec, const std::string& spec,
                         std::uint64_t seed, NewMatrix<Scalar>& made);

}  // namespace Detail

/// Makes the square test matrix that `spec` names (see gallery_help()) in the
/// memory of CrsMatrix, with kernels on `exec`; returns when it is complete.
///
/// The diagonal is stored, rows are sorted and strictly diagonally dominant,
/// and the pattern is symmetric except for `lattice`, which is one-way like the
/// matrix it stands for. Values are not symmetric, so a transposed use shows;
/// `poisson` is symmetric, and only weakly dominant. Pattern and values depend
/// on `spec` and `seed` alone: every backend makes the same bits.
///
/// Raises GalleryError for a name that can't be understood and, before any
/// allocation, IndexOverflowError where the index types of CrsMatrix can't
/// count the rows or (expected) entries; MemoryError, before any allocation
/// where the columns of so many entries are more than all memory.
/// Cost: two to five passes over the entries; random families also sort each
/// row, and hold the entries' columns twice. One thread of the host draws the
/// graphs from `box` on.
template <class CrsMatrix>
CrsMatrix gallery(const typename CrsMatrix::execution_space& exec,
                  const std::string& spec, std::uint64_t seed = 1) {
  static_assert(Detail::owns_its_memory<CrsMatrix>,
                "Strata: a matrix that is made is not const-valued and has no "
                "memory traits: name CrsMatrix<Scalar, Ordinal, Device, void, "
                "Offset>");
  using Scalar = typename Detail::MatrixTypes<CrsMatrix>::Scalar;
  Detail::expect_compiled<Detail::Gallery, Scalar,
                          typename CrsMatrix::execution_space>();
  Detail::NewCrsMatrix<CrsMatrix> made;
  Detail::make_gallery_matrix<Scalar>(exec, spec, seed, made);
  return made.matrix("Strata::gallery");
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <gallery/GalleryImplementation.hpp>
#endif

#endif
