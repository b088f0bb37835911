# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds Strata (double, Serial) with the Kokkos of a Trilinos, and tests the headers for
# Ifpack2 on 1, 2 and 4 ranks.
#
#   scripts/test trilinos
#
# Trilinos is Debian's 13.2, or in the folders that CMAKE_PREFIX_PATH names.

parse_options -- "$@"
no_words
work=$root/build/trilinos headers=/usr/include/trilinos
wanted=("g++ ${CXX:-g++}" "cmake cmake" "ninja-build ninja" "zlib1g-dev /usr/*include/zlib.h"
  "libopenmpi-dev mpicxx" "openmpi-bin mpiexec")
[ -n "${CMAKE_PREFIX_PATH:-}" ] || for name in belos:BelosConfigDefs kokkos:Kokkos_Core \
  ifpack2:Ifpack2_Preconditioner kokkos-kernels:KokkosSparse_CrsMatrix rtop:RTOpPack_RTOpT \
  teuchos:Teuchos_RCP thyra:Thyra_MultiVectorBase tpetra:Tpetra_CrsMatrix; do
  wanted+=("libtrilinos-${name%:*}-dev $headers/${name#*:}.hpp")
done
need_debian "$work/packages.log" "${wanted[@]}"
mpi_flags=--oversubscribe
[ "$(id -u)" -ne 0 ] || mpi_flags="--allow-run-as-root $mpi_flags"

compiler_option=()
say "Building Strata and the tests with Trilinos"
compile "$work/strata.log" "$work/strata" "$root" -DCMAKE_INSTALL_{PREFIX="$work/install",LIBDIR=lib} -DStrata_SCALARS=double \
  -DStrata_SPACES=Serial -DStrata_ENABLE_{LAPACK,TESTS,PERF_TESTS,EXAMPLES,C}=OFF
quietly "$work/install.log" cmake --install "$work/strata"
compile "$work/ifpack2strata.log" "$work/ifpack2strata" "$root/trilinos" \
  -DStrata_DIR="$work/install/lib/cmake/Strata" -DIfpack2Strata_MPIEXEC_FLAGS="$mpi_flags"
say "Testing on 1, 2 and 4 ranks"
cd "$work/ifpack2strata"
quietly "$work/tests.log" ctest --output-on-failure
say "$(grep 'tests passed' "$work/tests.log")"
