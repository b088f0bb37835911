// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_HPP
#define STRATA_HPP

// Every public header of the library, but
// Strata_KokkosKernelsPreconditioner.hpp, which is for callers of Kokkos
// Kernels' gmres. Matrices to try solvers on, generated or read from files, are
// a library of their own: Strata_Gallery.hpp, Strata_MatrixMarket.hpp and
// Strata_MatrixMarketArray.hpp, with CMake's target Strata::gallery. A program
// that uses one solver compiles faster with that solver's header alone.

#include <Strata_BandMatrix.hpp>
#include <Strata_BandOptions.hpp>
#include <Strata_BandSolver.hpp>
#include <Strata_BiCgStab.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_ConjugateGradientOptions.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_DiagonalBlocks.hpp>
#include <Strata_Error.hpp>
#include <Strata_FactorPrecision.hpp>
#include <Strata_FactorSolver.hpp>
#include <Strata_FactorSolverOptions.hpp>
#include <Strata_FactorTransformation.hpp>
#include <Strata_GaussJordan.hpp>
#include <Strata_GaussJordanOptions.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_IlutPattern.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_IncompletePattern.hpp>
#include <Strata_KrylovOptions.hpp>
#include <Strata_KrylovSolver.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_MemoryPool.hpp>
#include <Strata_Partition.hpp>
#include <Strata_PerformanceModel.hpp>
#include <Strata_PermuteRows.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_RegisterAlgorithm.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_SellMatrix.hpp>
#include <Strata_SellOptions.hpp>
#include <Strata_Spiluk.hpp>
#include <Strata_SpilukHandle.hpp>
#include <Strata_Sptrsv.hpp>
#include <Strata_SptrsvHandle.hpp>
#include <Strata_Subgraphs.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangleGraph.hpp>
#include <Strata_TriangularOptions.hpp>
#include <Strata_TriangularReport.hpp>
#include <Strata_TriangularSolver.hpp>
#include <Strata_Types.hpp>
#include <Strata_UpdateStatus.hpp>

#endif
