# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds the wheel of the Python package for hosts, and tests it where nothing else is.
#
#   scripts/test python [options]
#
#   --python COMMAND  default: python3
#   --optional        install PyTorch and JAX for the tests, too: about 3 GB
#
# The wheel has the OpenMP backend and is for processors of x86-64-v2. auditwheel gives
# it the tag of the oldest systems that it works on, and puts the OpenMP runtime into
# it. The tests run in a virtual environment with the wheel, what it asks for, pytest,
# Hypothesis and a kernel of Jupyter: those with PyTorch and JAX are skipped without
# --optional.
#
# Packages come from PyPI, in the versions of python/requirements-*.txt; Kokkos from
# scripts/get_dependencies. Progress goes to stderr, the wheel's path, in build/python/wheel,
# to stdout.

work=$root/build/python
parse_options python=python3 optional -- "$@"
no_words
mkdir -p "$work"

need_debian "$work/packages.log" "python3 $python" "python3-venv python:ensurepip" \
  "python3-dev /usr/include/python3*/Python.h"

# --- The wheel ---------------------------------------------------------------

prefix=$("$root/scripts/get_dependencies" --library-only)
environment "$python" "$work/tools" "$root/python/requirements-build.txt"
case $(uname -m) in
  x86_64) baseline=-march=x86-64-v2 ;;
  *) baseline="" ;;
esac
# A compiler cache has no use for precompiled headers.
precompile=ON
[ -z "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ] || precompile=OFF
say "Building the wheel: some minutes the first time (all of its output: $work/wheel.log)"
rm -rf "$work/built" "$work/wheel"
seconds=$SECONDS
PATH=$work/tools/bin:$PATH \
  CMAKE_PREFIX_PATH=$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH} \
  CMAKE_BUILD_PARALLEL_LEVEL=$(jobs) \
  quietly "$work/wheel.log" "$work/tools/bin/pip" wheel --disable-pip-version-check \
  --no-deps --no-build-isolation --verbose --wheel-dir "$work/built" \
  --config-settings=cmake.define.CMAKE_CXX_FLAGS="$baseline" \
  --config-settings=cmake.define.Strata_ENABLE_PRECOMPILED_HEADERS=$precompile "$root/python"
PATH=$work/tools/bin:$PATH quietly "$work/auditwheel.log" \
  auditwheel repair --wheel-dir "$work/wheel" "$work"/built/*.whl
wheel=$(compgen -G "$work/wheel/*.whl")
say "$(basename "$wheel"), $(($(stat -c %s "$wheel") / 1000)) kB, took $((SECONDS - seconds)) s"

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
