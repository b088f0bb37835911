# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds PETSc, Strata and libpetscstrata, and runs the plug-in's tests.
#
#   scripts/test petsc [options]
#
#   --kokkos-source DIR           build these sources (both must be named); default:
#   --kokkos-kernels-source DIR   what scripts/get_dependencies obtains
#   --petsc-dir DIR               a PETSc 3.24 that is built already, with a shared
#                                 Kokkos: nothing of the two is built, and backend,
#                                 scalar and index are theirs, CUDA included
#   --petsc-arch NAME             its PETSC_ARCH, where it is used in its sources' folder
#   --backend serial|openmp       of Kokkos; default: serial, since ranks share cores
#   --scalar real|complex         PETSc's; default: real
#   --index 32|64                 bits of PETSc's indices; default: 32
#   --prefix DIR                  install Kokkos, Strata's headers and libpetscstrata
#                                 here; default: build/petsc/install-<choices above>
#
# The tests run on 1, 2 and 4 ranks, whatever cores there are. What an earlier run has
# built is used again. PETSc wants Kokkos and Kokkos Kernels from 3.7.01: Debian 12's
# 3.4 won't do, so if GitHub is out of reach their sources have to be named. MPI and
# OpenBLAS are Debian's, the sources of PETSc and petsc4py PyPI's.
#
# Progress goes to stderr, the folder of the installation to stdout.

version=3.24.6
work=$root/build/petsc
parse_options kokkos-source= kokkos-kernels-source= petsc-dir= petsc-arch= backend=serial \
  scalar=real index=32 prefix= -- "$@"
no_words
given kokkos-source kokkos-kernels-source
for path in petsc_dir prefix; do
  [ -z "${!path}" ] || printf -v "$path" %s "$(realpath -m "${!path}")"
done
arch=$petsc_arch
one_of --backend "$backend" serial openmp
one_of --scalar "$scalar" real complex
one_of --index "$index" 32 64

# What a PETSc that is built says of itself.
petsc_says() { sed -nE "s/^$1 = //p" "$petsc_dir/$arch/lib/petsc/conf/petscvariables"; }
# The devices of the Kokkos in the folder $kokkos, such as OPENMP;SERIAL.
kokkos_devices() {
  sed -nE 's/^set\(Kokkos_DEVICES "?([A-Z_;]*)"?\)/\1/p' \
    "$kokkos"/lib/cmake/Kokkos/KokkosConfigCommon.cmake
}

kokkos=""
if [ -n "$petsc_dir" ]; then
  compgen -G "$petsc_dir/$arch/lib/libpetsc.*" >/dev/null ||
    die "--petsc-dir $petsc_dir holds no PETSc that is built${arch:+ as $arch}; name its" \
      "PETSC_ARCH with --petsc-arch where it is used in its sources' folder"
  kokkos=$(petsc_says KOKKOS_INCLUDE | tr ' ' '\n' | sed -nE 's|^-I(.*)/include$|\1|p' | head -n 1)
  if [ -z "$kokkos" ] || [ ! -d "$kokkos/lib/cmake/KokkosKernels" ]; then
    die "the PETSc in $petsc_dir was built without Kokkos and Kokkos Kernels: configure" \
      "it with --with-kokkos-dir and --with-kokkos-kernels-dir"
  fi
  scalar=$(petsc_says PETSC_SCALAR) index=$(petsc_says PETSC_INDEX_SIZE)
  backend=$(kokkos_devices | tr 'A-Z;' 'a-z-')
elif [ -n "$arch" ]; then
  die "--petsc-arch goes with --petsc-dir"
fi
name=$backend-$scalar-$index
[ -z "$petsc_dir" ] || name=$name-$(sha256sum <<<"$petsc_dir/$arch" | head -c 8)
[ -n "$prefix" ] || prefix=$work/install-$name
logs=$work/log-$name
mkdir -p "$work" "$logs" "$prefix"

need_debian "$logs/packages.log" "python3 /usr/bin/python3" "python3-pip python:pip" \
  "make make" "pkg-config pkg-config" "libopenmpi-dev mpicxx" "openmpi-bin mpiexec" \
  "libopenblas-dev library:openblas" "python3-venv python:ensurepip" \
  "python3-dev /usr/include/python3*/Python.h"

# --- Kokkos, shared: PETSc and the plug-in use one copy ------------------------

[ -n "$kokkos" ] ||
  kokkos=$("$root/scripts/get_dependencies" --backend "$backend" --shared --library-only \
    --no-debian-kokkos --prefix "$prefix/kokkos" "${given[@]}")
kokkos_version=$(sed -nE 's/^set\(PACKAGE_VERSION "([^"]*)"\)/\1/p' \
  "$kokkos"/lib/cmake/Kokkos/KokkosConfigVersion.cmake)
if [ "$(printf '%s\n' 3.7.01 "$kokkos_version" | sort -V | head -n 1)" != 3.7.01 ]; then
  die "PETSc $version wants Kokkos from 3.7.01, and this is $kokkos_version; name" \
    "newer sources with --kokkos-source and --kokkos-kernels-source"
fi

# --- PETSc ---------------------------------------------------------------------

build_petsc() {
  local petsc_source=$work/petsc-$version
  if [ ! -f "$petsc_source/configure" ]; then
    say "Downloading PETSc $version from PyPI"
    # PyPI's package builds PETSc with what it finds; here its sources are wanted.
    quietly "$logs/download.log" /usr/bin/python3 -m pip download --no-deps \
      --no-binary petsc --dest "$work" "petsc==$version"
    tar -xzf "$work/petsc-$version.tar.gz" -C "$work"
  fi
  arch=arch-strata-$name petsc_dir=$petsc_source
  local stamp=$petsc_source/$arch/strata-stamp line="recipe 1, $kokkos"
  if [ "$(cat "$stamp" 2>/dev/null)" != "$line" ]; then
    say "Building PETSc for $name: about eight minutes of one core"
    local flags=-O2 openmp=()
    [ "$backend" = serial ] || openmp=(--with-openmp=1)
    (cd "$petsc_source" && unset PETSC_DIR PETSC_ARCH &&
      quietly "$logs/petsc-configure.log" /usr/bin/python3 ./configure \
        PETSC_ARCH="$arch" --with-debugging=0 --with-shared-libraries=1 --with-fc=0 \
        --with-cc=mpicc --with-cxx=mpicxx --with-x=0 --with-blaslapack-lib=-lopenblas \
        --with-scalar-type="$scalar" --with-64-bit-indices="$((index == 64))" \
        --with-kokkos-dir="$kokkos" --with-kokkos-kernels-dir="$kokkos" \
        "${openmp[@]}" COPTFLAGS=$flags CXXOPTFLAGS=$flags &&
      quietly "$logs/petsc-make.log" make PETSC_DIR="$petsc_source" PETSC_ARCH="$arch" \
        MAKE_NP="$(jobs)" all)
    echo "$line" >"$stamp"
  fi
}
[ -n "$petsc_dir" ] || build_petsc

# --- Strata and the plug-in ------------------------------------------------------

# The plug-in compiles what it uses of Strata: the whole library takes longer.
compiler_option=()
if [[ $(kokkos_devices) == *CUDA* ]]; then
  choose_compiler "$kokkos" cuda
fi
quietly "$logs/strata-configure.log" cmake -S "$root" -B "$work/strata-$name" -G Ninja \
  "${compiler_option[@]}" -DStrata_ENABLE_HEADER_ONLY=ON -DCMAKE_PREFIX_PATH="$kokkos" \
  -DCMAKE_INSTALL_{PREFIX="$prefix",LIBDIR=lib} \
  -DStrata_ENABLE_{LAPACK,TESTS,PERF_TESTS,EXAMPLES}=OFF
quietly "$logs/strata-install.log" cmake --install "$work/strata-$name"

say "Building libpetscstrata for $name"
mpi_flags=--oversubscribe
[ "$(id -u)" -ne 0 ] || mpi_flags="--allow-run-as-root $mpi_flags"
compile "$logs/plugin.log" "$work/plugin-$name" "$root/petsc" \
  -DCMAKE_PREFIX_PATH="$prefix;$kokkos" -DCMAKE_INSTALL_{PREFIX="$prefix",LIBDIR=lib} \
  -DPETSC_DIR="$petsc_dir" -DPETSC_ARCH="$arch" -DPetscStrata_MPIEXEC_FLAGS="$mpi_flags"
quietly "$logs/plugin-install.log" cmake --install "$work/plugin-$name"

say "Testing it on 1, 2 and 4 ranks"
(cd "$work/plugin-$name" && OMP_WAIT_POLICY=passive \
  quietly "$logs/tests.log" ctest --output-on-failure)
say "$(grep 'tests passed' "$logs/tests.log")"

# As users do: by the CMake package in C and in C++ alone, by pkg-config, by petsc4py.
say "Building and running the examples against the installation"
compiler_option=()
compile "$logs/example.log" "$work/example-$name" "$root/petsc/examples" \
  -DCMAKE_PREFIX_PATH="$prefix"
compile "$logs/consumer.log" "$work/consumer-$name" "$root/petsc/tests/consumer" \
  -DCMAKE_PREFIX_PATH="$prefix"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig:$petsc_dir/$arch/lib/pkgconfig quietly \
  "$logs/example-line.log" bash -c "mpicc '$root/petsc/examples/poisson.c' \
  -o '$work/example-$name/by_line' \$(pkg-config --cflags --libs petscstrata)"
for program in example-$name/poisson example-$name/by_line consumer-$name/consumer; do
  # shellcheck disable=SC2086
  quietly "$logs/example-${program##*/}.log" mpiexec $mpi_flags -n 2 "$work/$program"
done
echo "petsc4py==$version" >"$work/petsc4py.txt"
PETSC_DIR=$petsc_dir PETSC_ARCH=$arch environment /usr/bin/python3 "$work/petsc4py-$name" \
  "$work/petsc4py.txt"
# shellcheck disable=SC2086
quietly "$logs/petsc4py.log" mpiexec $mpi_flags -n 2 "$work/petsc4py-$name/bin/python" \
  "$root/petsc/examples/poisson.py" -dll_append "$prefix/lib/libpetscstrata.so"
echo "$prefix"
