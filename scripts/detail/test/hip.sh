# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Compiles the library, the tests and the examples for AMD GPUs, and runs none of them:
# no device is needed. Needs Debian's hipcc, which is installed if need be.
#
#   scripts/test hip [options]
#
#   --kokkos-source DIR --kokkos-kernels-source DIR
#                        as for scripts/get_dependencies
#   --arch gfxXXX        default: gfx90a
#   --scalars LIST       default: all four
#   --examples           the library and the examples alone
#
# Progress goes to stderr. The line on stdout has the versions, the compiler, how many
# programs there are and the date. Fails where one does not compile or link.

parse_options kokkos-source= kokkos-kernels-source= arch=gfx90a \
  scalars="float;double;complex_float;complex_double" examples -- "$@"
no_words
given kokkos-source kokkos-kernels-source arch
prefix=$("$root/scripts/get_dependencies" --backend hip "${given[@]}" \
  --prefix "$root/dependencies/hip-$arch")
build=$root/build/hip-$arch tests=ON spaces="Serial;HIP"
[ -z "$examples" ] || tests=OFF spaces=HIP
choose_compiler "" hip
build_all "$build" -DCMAKE_PREFIX_PATH="$prefix" -DStrata_SPACES="$spaces" \
  -DStrata_SCALARS="$scalars" -DStrata_ENABLE_PERF_TESTS=OFF -DStrata_ENABLE_TESTS=$tests
folders=("$build/examples")
[ -n "$examples" ] || folders+=("$build/unit_test")
programs=$(find "${folders[@]}" -type f -executable -iname 'strata_*' | wc -l)
echo "$versions, hipcc for $arch: $programs programs linked, none run, $(date +%F)"
exit "$status"
