# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds a wheel of the Python package, and tests it where nothing else is.
#
#   scripts/test python [options]
#
#   --python COMMAND        default: python3
#   --backend openmp|cuda   default: openmp
#   --arch sm_XX            of cuda; default: of the GPU found
#   --scalars LIST          as for scripts/build; default: all four
#   --strata DIR            an installed Strata, of position-independent code; default:
#                           compile the library, for which --scalars is
#   --optional              install PyTorch and JAX for the tests, too: about 3 GB
#
# A wheel for hosts is for processors of x86-64-v2. auditwheel gives it the tag of the
# oldest systems that it works on, and puts the OpenMP runtime into it. One for CUDA has
# CUDA's runtime and needs NVIDIA's driver, without which it is not tested. Tests with
# PyTorch and JAX are skipped without --optional.
#
# Packages come from PyPI, in the versions of python/requirements-*.txt; Kokkos from
# scripts/get_dependencies. Progress goes to stderr, the wheel's path, in
# build/python/wheel-BACKEND, to stdout.

work=$root/build/python
parse_options python=python3 backend=openmp arch= scalars= strata= optional -- "$@"
no_words
given backend arch
one_of --backend "$backend" openmp cuda
mkdir -p "$work"

need_debian "$work/packages.log" "python3 $python" "python3-venv python:ensurepip" \
  "python3-dev /usr/include/python3*/Python.h"

# --- The wheel ---------------------------------------------------------------

prefix=$("$root/scripts/get_dependencies" --library-only "${given[@]}")
environment "$python" "$work/tools" "$root/python/requirements-build.txt"
baseline=""
[ "$(uname -m)" != x86_64 ] || baseline=-march=x86-64-v2
define=--config-settings=cmake.define
options=() repair=() wheels=$work/wheel-$backend
[ -z "$scalars" ] || options+=("$define.Strata_SCALARS=$scalars")
[ -z "$strata" ] || options+=("$define.Strata_ROOT=$(realpath "$strata")")
if [ "$backend" = cuda ]; then
  choose_compiler "$prefix" cuda
  options+=("${compiler_option[@]/#-D/$define.}" --config-settings=wheel.build-tag=1cuda
    "--config-settings=build-dir=$work/cuda")
  # Stubs are made by importing the extension.
  nvidia-smi >/dev/null 2>&1 || options+=("$define.Strata_PYTHON_STUBS=OFF")
  repair=(--exclude libcuda.so.1)
fi
say "Building the wheel: some minutes the first time (all of its output: $work/wheel.log)"
rm -rf "$work/built" "$wheels"
seconds=$SECONDS
PATH=$work/tools/bin:$PATH \
  CMAKE_PREFIX_PATH=$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH} \
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) \
  quietly "$work/wheel.log" "$work/tools/bin/pip" wheel --disable-pip-version-check \
  --no-deps --no-build-isolation --verbose --wheel-dir "$work/built" \
  $define.CMAKE_CXX_FLAGS="$baseline" "${options[@]}" \
  $define.Strata_ENABLE_PRECOMPILED_HEADERS="$(precompiled_headers)" "$root/python"
PATH=$work/tools/bin:$PATH quietly "$work/auditwheel.log" \
  auditwheel repair "${repair[@]}" --wheel-dir "$wheels" "$work"/built/*.whl
wheel=$(compgen -G "$wheels/*.whl")
say "$(basename "$wheel"), $(($(stat -c %s "$wheel") / 1000)) kB, took $((SECONDS - seconds)) s"
if [ "$backend" = cuda ] && ! nvidia-smi >/dev/null 2>&1; then
  say "No GPU here: the wheel is not tested"
  echo "$wheel"
  exit
fi

# --- The tests, away from the sources ----------------------------------------

# `pip install` would leave a package of the same version alone.
rm -rf "$work/clean"
cp "$root/python/requirements-test.txt" "$work/requirements-test.txt"
[ -z "$optional" ] || printf '%s\n' torch jax >>"$work/requirements-test.txt"
environment "$python" "$work/clean" "$work/requirements-test.txt"
quietly "$work/install.log" "$work/clean/bin/pip" install --disable-pip-version-check "$wheel"
rm -rf "$work/tests"
cp -R "$root/python/tests" "$work/tests"
cp "$root/docs/python.md" "$root/README.md" "$root/python/examples/preconditioned_solve.ipynb" \
  "$root/python/benchmarks/benchmark.py" "$work/tests"
say "Testing it in $work/clean"
seconds=$SECONDS
(cd "$work/tests" && env -u PYTHONPATH -u LD_LIBRARY_PATH OMP_PROC_BIND=false \
  OMP_WAIT_POLICY=passive "$work/clean/bin/python" -m pytest -q -ra \
  -p no:cacheprovider . >&2) || die "the wheel does not pass its tests"
say "The tests took $((SECONDS - seconds)) s"
echo "$wheel"
