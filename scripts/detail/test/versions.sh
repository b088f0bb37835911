# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds and tests Strata with another release of Kokkos and Kokkos Kernels.
#
#   scripts/test versions [options]
#
#   --kokkos-source DIR --kokkos-kernels-source DIR
#                        sources to build first, into dependencies/versions
#   --prefix DIRS        or what is installed there; several folders have
#                        semicolons between them
#   --backend serial|openmp|threads   default: openmp
#   --unit               unit tests only; the test that compiles each header alone
#                        is left out, too
#
# Progress goes to stderr. The line on stdout has the versions, the backend, how many
# tests passed and the date. Fails where a test fails.

parse_options backend=openmp kokkos-source= kokkos-kernels-source= prefix= unit -- "$@"
no_words
given backend kokkos-source kokkos-kernels-source
one_of --backend "$backend" serial openmp threads
if [ -z "$prefix" ]; then
  [[ -n $kokkos_source && -n $kokkos_kernels_source ]] ||
    die "name --prefix, or --kokkos-source and --kokkos-kernels-source; see --help"
  check_sources "$kokkos_source" "$kokkos_kernels_source"
  version=$(source_version "$kokkos_source")-$(source_version "$kokkos_kernels_source")
  prefix=$("$root/scripts/get_dependencies" "${given[@]}" \
    --prefix "$root/dependencies/versions/$version-$backend")
fi

build=$root/build/versions/$(sha256sum <<<"$prefix $backend $unit" | cut -c 1-12)
configure=() only=()
if [ -n "$unit" ]; then
  configure=(-DStrata_ENABLE_PERF_TESTS=OFF -DStrata_ENABLE_EXAMPLES=OFF)
  only=(--label-regex '^unit$')
fi
choose_compiler "" "$backend"
# Where a test does not compile, the others are tested all the same.
build_all "$build" -DCMAKE_PREFIX_PATH="$prefix" "${configure[@]}"
say "Testing"
(cd "$build" && ctest "${only[@]}" --output-on-failure | tee tests.log >&2) || status=1
echo "$versions, $backend: $(grep 'tests passed' "$build/tests.log"), $(date +%F)"
exit "$status"
