# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds and tests Strata with other releases of Kokkos and Kokkos Kernels.
#
#   scripts/test versions [options] WITH...
#
# WITH is one or more of these, each of which is tested:
#
#   --kokkos-source DIR --kokkos-kernels-source DIR
#                        sources to build first, into dependencies/versions
#   --prefix DIRS        what is installed there; several folders have
#                        semicolons between them
#
#   --in-tree            sources after this are not built first: they, Strata and its
#                        tests are parts of one build
#   --backend serial|openmp   default: openmp
#   --unit               unit tests only; the test that compiles each header alone
#                        is left out, too
#   --tests LIST         only these of the unit tests, with commas between them
#   --flags FLAGS        of the compiler instead of those of a release build, such
#                        as -O1, which takes less time
#
# Progress goes to stderr. Each of WITH ends with a line on stdout: the versions,
# the backend, the tests passed and the date. Fails where a test fails.

backend=openmp unit="" tests="" flags="" sources=sources with=() kokkos_source="" kernels_source=""
while [ $# -gt 0 ]; do
  case $1 in
    --kokkos-source) need_value "$1" $# && kokkos_source=$2 && shift 2 ;;
    --kokkos-kernels-source) need_value "$1" $# && kernels_source=$2 && shift 2 ;;
    --prefix) need_value "$1" $# && with+=(installed "$2" "") && shift 2 ;;
    --in-tree) sources=tree && shift ;;
    --backend) need_value "$1" $# && backend=$2 && shift 2 ;;
    --unit) unit=yes && shift ;;
    --tests) need_value "$1" $# && unit=yes && tests=$2 && shift 2 ;;
    --flags) need_value "$1" $# && flags=$2 && shift 2 ;;
    -h | --help) show_help && exit 0 ;;
    *) die "unknown option $1; see --help" ;;
  esac
  if [ -n "$kokkos_source" ] && [ -n "$kernels_source" ]; then
    with+=("$sources" "$kokkos_source" "$kernels_source")
    kokkos_source="" kernels_source=""
  fi
done
[ -z "$kokkos_source$kernels_source" ] ||
  die "--kokkos-source and --kokkos-kernels-source go together: name both"
[ ${#with[@]} -gt 0 ] || die "name what to test with; see --help"
case $backend in
  serial | openmp) ;;
  *) die "--backend $backend: serial or openmp is wanted (for CUDA: scripts/test)" ;;
esac

# --- Building and testing ----------------------------------------------------

# test_project FOLDER OPTION...: configures the project with CMake's options, builds,
# tests and prints the line.
test_project() {
  local project=$1 build configure=() only=() targets=() versions status=0 cases
  shift
  build=$root/build/versions/$(sha256sum <<<"$project $* $backend" | cut -c 1-12)
  configure=("$@" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="${flags:--O3 -DNDEBUG}")
  choose_compiler "" "$backend"
  configure+=("-DStrata_ENABLE_"{TESTS,PERF_TESTS,EXAMPLES}=ON)
  if [ -n "$unit" ]; then
    configure+=("-DStrata_ENABLE_"{PERF_TESTS,EXAMPLES}=OFF)
    only=(--label-regex '^unit$')
  fi
  if [ -n "$tests" ]; then
    only=(--tests-regex "^Strata_(${tests//,/|})\$")
    read -ra targets <<<"Strata_${tests//,/ Strata_}"
  fi
  quietly "$build/configure.log" cmake -S "$project" -B "$build" -G Ninja \
    "${configure[@]}" "${compiler_option[@]}"
  versions=$(sed -n 's/^-- \(Kokkos [0-9.]*, Kokkos Kernels [0-9.]*\)$/\1/p' "$build/configure.log")
  say "Building the tests with $versions"
  # Where a test does not compile, the others are tested all the same.
  cmake --build "$build" --parallel "$(jobs)" ${targets:+--target "${targets[@]}"} -- -k 0 >"$build/build.log" 2>&1 ||
    { status=1 && grep -E '^FAILED|error:' "$build/build.log" >&2; }
  say "Testing"
  rm -rf "$build/cases"
  mkdir "$build/cases"
  (cd "$build" && GTEST_OUTPUT=xml:$build/cases/ ctest "${only[@]}" --output-on-failure \
    --output-junit tests.xml >&2) || status=1
  cases=$(sed -nE 's/.*<testsuites tests="([0-9]+)" failures="([0-9]+)".*/\1 \2/p' "$build"/cases/*.xml |
    awk '{ all += $1; failed += $2 } END { print all - failed " of " all + 0 }')
  echo "$versions, $backend: $(count_tests "$build/tests.xml")" \
    "($cases cases of GoogleTest)${tests:+ of $tests only}, $(date +%F)"
  return "$status"
}

test_installed() { test_project "$root" -DCMAKE_PREFIX_PATH="$1"; }

# --- Sources -----------------------------------------------------------------

test_tree() {
  local options=(-DKokkos_ENABLE_SERIAL=ON)
  check_sources "$1" "$2"
  [ "$backend" = serial ] || options+=(-DKokkos_ENABLE_OPENMP=ON -Ddevices=SERIAL,OPENMP)
  # Nothing is instantiated, as in scripts/get_dependencies.
  test_project "$root/unit_test/subproject_test/tree" -Dstrata="$root" -Dkokkos="$(realpath "$1")" \
    -Dkokkos_kernels="$(realpath "$2")" -DKokkosKernels_ADD_DEFAULT_ETI=OFF "${options[@]}"
}

test_sources() {
  local prefix
  check_sources "$1" "$2"
  prefix=$root/dependencies/versions/$(source_version "$1")-$(source_version "$2")-$backend
  "$root/scripts/get_dependencies" --backend "$backend" --prefix "$prefix" \
    --kokkos-source "$1" --kokkos-kernels-source "$2" >/dev/null ||
    die "Kokkos of $1 and Kokkos Kernels of $2 can't be built"
  test_installed "$prefix"
}

# --- The whole ---------------------------------------------------------------

status=0
for ((i = 0; i < ${#with[@]}; i += 3)); do
  case ${with[i]} in
    installed) test_installed "${with[i + 1]}" || status=1 ;;
    sources) test_sources "${with[i + 1]}" "${with[i + 2]}" || status=1 ;;
    tree) test_tree "${with[i + 1]}" "${with[i + 2]}" || status=1 ;;
  esac
done
exit "$status"
