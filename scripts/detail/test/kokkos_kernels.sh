# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Runs Kokkos Kernels' own unit tests of sptrsv and spiluk against Strata's functions.
#
#   scripts/test kokkos_kernels --kokkos-kernels-source DIR [options]
#
#   --kokkos-kernels-source DIR   the sources to take the tests from
#   --prefix DIR                  where Kokkos and Kokkos Kernels are installed,
#                                 of those sources' version; default: what
#                                 scripts/get_dependencies finds or builds
#   --build DIR                   a build folder of scripts/build, for that prefix,
#                                 whose library is tested; default: the library is
#                                 compiled for the test, for every execution space
#   --backend serial|openmp|cuda  default: openmp
#   --arch sm_XX                  CUDA architecture; default: of the GPU found
#
# Each scalar is tested with every ordinal and offset; spiluk with the real ones, as Kokkos
# Kernels itself does.
#
# The tests' sources are edited on their way into build/kokkos_kernels_<backend>: the
# names of Kokkos Kernels' handle, algorithms and functions become Strata's, and
# what Strata lacks is left out, each of which is named. The sources themselves
# stay as they are.
#
# Fails if a test fails, if the edits do not fit the source, or if not every test
# ran.

parse_options kokkos-kernels-source= prefix= build= backend=openmp arch= -- "$@"
no_words
source=$kokkos_kernels_source library_build=$build
given backend arch
check_backend "$backend"
[ -n "$source" ] || die "--kokkos-kernels-source is missing; see --help"
kernels=(sptrsv spiluk)
# Release 4 and later have the first of these folders, release 3 has the second.
for tests in "$source"/{sparse/unit_test,unit_test/sparse}; do
  [ ! -d "$tests" ] || break
done
tests=$(realpath -m "$tests")
fixtures=$tests
for kernel in "${kernels[@]}"; do
  [ -f "$tests/Test_Sparse_$kernel.hpp" ] ||
    die "$source has no Test_Sparse_$kernel.hpp in its folders of unit tests"
done
# Helpers that all tests of a release share.
for file in "$source"/{test_common,unit_test}/KokkosKernels_TestUtils.hpp; do
  [ ! -f "$file" ] || fixtures+=";$(realpath "${file%/*}")"
done
version=$(source_version "$source")

if [ -z "$prefix" ]; then
  prefix=$("$root/scripts/get_dependencies" "${given[@]}")
fi
if [ -n "$library_build" ] && [ "$(cat "$library_build/prefix" 2>/dev/null)" != "$prefix" ]; then
  die "--build $library_build is no build folder of scripts/build with the prefix $prefix"
fi

# --- The edits ---------------------------------------------------------------

folder=$root/build/kokkos_kernels_$backend
mkdir -p "$folder/edited"

# begin KERNEL: its test is what is edited next.
begin() {
  kernel=$1
  test_source=$tests/Test_Sparse_$kernel.hpp
  edited=$folder/edited/edited_$kernel.hpp
  cp "$test_source" "$edited.new"
}

matches() { grep -cE "$1" "$edited.new" || true; }

# replace WHAT PATTERN REPLACEMENT: every place of an extended regular expression;
# there has to be one.
replace() {
  [ "$(matches "$2")" -gt 0 ] ||
    die "the edits do not fit $test_source: it has no $1"
  sed -E -i "s!$2!$3!g" "$edited.new"
}

# leave_out WHAT PATTERN: deletes the lines, if there are any, and says so.
leave_out() {
  local lines
  lines=$(matches "$2")
  if [ "$lines" -eq 0 ]; then
    say "Kokkos Kernels $version has no $1"
    return
  fi
  say "Left out: $1"
  sed -E -i "\\!$2!d" "$edited.new"
}

# rename_kernel ENUMERATION PHASE...: the names of Kokkos Kernels' handle, algorithms
# and functions become Strata's.
rename_kernel() {
  local phase enumeration=$1
  shift
  replace "include of $kernel" "^#include \"KokkosSparse_$kernel\\.hpp\"" \
    "#include <Strata_${kernel^}.hpp>"
  replace "handle" 'KokkosKernels::Experimental::KokkosKernelsHandle' \
    'Strata::Experimental::KokkosKernelsHandle'
  replace "algorithms" "([^:[:alnum:]_])$enumeration" "\\1Strata::Experimental::$enumeration"
  for phase in "$@"; do
    replace "${kernel}_$phase" \
      "([^:[:alnum:]_])(KokkosSparse::)?(Experimental::)?${kernel}_$phase *\\(" \
      "\\1Strata::Experimental::${kernel}_$phase("
    # Not all releases have the one with streams.
    sed -E -i "s!([^:[:alnum:]_])(KokkosSparse::)?(Experimental::)?${kernel}_${phase}_streams *\\(!\\1Strata::Experimental::${kernel}_${phase}_streams(!g" \
      "$edited.new"
  done
  # The instances are the driver's.
  sed -E -i '/^#include <Test_Common_Test_All_Type_Combos\.hpp>/d; /^#undef (KOKKOSKERNELS_)?EXECUTE_TEST/d
    /^ *(KOKKOSKERNELS_)?EXECUTE_TEST *\([^S]/d' "$edited.new"
  replace "macro for the instances" '^#define (KOKKOSKERNELS_)?EXECUTE_TEST *\(' \
    '#define STRATA_TEST_MACRO('
}

# finish: what is left of the old names would be tested instead of Strata's functions.
finish() {
  local left
  left=$(grep -nE "^[^/]*(KokkosSparse_$kernel\\.hpp|KokkosSparse::(Experimental::)?$kernel)" "$edited.new" || true)
  [ -z "$left" ] || die "the edits do not fit $test_source: these are left of it" "$left"
  # A folder with the same text need not be compiled anew.
  if cmp -s "$edited.new" "$edited"; then rm "$edited.new"; else mv "$edited.new" "$edited"; fi
}

begin sptrsv
rename_kernel SPTRSVAlgorithm symbolic solve
replace "supernodal cases" 'defined *\(KOKKOSKERNELS_ENABLE_SUPERNODAL_SPTRSV\)' '0'
say "Left out: supernodal cases (KOKKOSKERNELS_ENABLE_SUPERNODAL_SPTRSV: the handles khL, khU, khLd and khUd)"
leave_out "Block-CRS cases (the call of run_test_sptrsv_blocks)" \
  '^ *TestStruct::run_test_sptrsv_blocks\(\);'
leave_out "Block-CRS cases with streams (run_test_sptrsv_streams<true>)" \
  '^ *TestStruct::template run_test_sptrsv_streams<true>\(.*\);'
leave_out "the threshold of chains (reset_chain_threshold), which Strata has not" \
  '^.*reset_chain_threshold\(.*\);'
finish

begin spiluk
rename_kernel SPILUKAlgorithm symbolic numeric
leave_out "Block-CRS cases of spiluk (run_test_spiluk_blocks, run_test_spiluk_scale_blocks)" \
  '^ *TestStruct::run_test_spiluk(_scale)?_blocks\(\);'
leave_out "Block-CRS cases of spiluk as preconditioner (run_test_spiluk_precond<true>)" \
  '^ *TestStruct::template run_test_spiluk_precond<true>\(\);'
leave_out "Block-CRS cases of spiluk with streams (run_test_spiluk_streams_blocks)" \
  '^ *TestStruct::run_test_spiluk_streams_blocks\(.*\);'
# Kokkos Kernels' own gmres keeps a handle of Kokkos Kernels.
if [ "$(matches 'create_gmres_handle')" -gt 0 ]; then
  own='KokkosKernels::Experimental::KokkosKernelsHandle<size_type, lno_t, scalar_t, execution_space, memory_space, memory_space>'
  replace "gmres handle" '^( *)kh\.create_gmres_handle\(' \
    "\\1using GmresKernelHandle = $own;\\n\\1GmresKernelHandle gmres_kh;\\n\\1gmres_kh.create_gmres_handle("
  replace "use of the gmres handle" '([^_])kh\.get_gmres_handle\(' '\1gmres_kh.get_gmres_handle('
  replace "call of gmres" 'gmres\(&kh,' 'gmres(\&gmres_kh,'
  replace "preconditioner" 'LUPrec<sp_matrix_type, KernelHandle>' 'LUPrec<sp_matrix_type, GmresKernelHandle>'
fi
finish

# --- Building and running ----------------------------------------------------

say "Building the tests of Kokkos Kernels $version for each scalar, ordinal and offset"
choose_compiler "$prefix" "$backend"
keep_prefix "$folder/prefix" "$prefix" "$folder/build"
library=""
if [ -n "$library_build" ]; then
  library=$folder/library
  quietly "$folder/library.log" cmake --install "$library_build" --prefix "$library"
fi
# Systems this small need no optimised code, which takes twice as long to make.
compile "$folder/build.log" "$folder/build" "$root/cmake/test_kokkos_kernels" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
  -Dversion="$version" -Dedited="$folder/edited" -Dfixtures="$fixtures" \
  -Dscalars="double;float;kokkos_complex_double;kokkos_complex_float" -Dlibrary="$library" \
  -DCMAKE_PREFIX_PATH="$prefix"

# The cases with streams want a thread for each of up to four.
say "Running"
for kernel in "${kernels[@]}"; do
  wanted=16
  [ "$kernel" = sptrsv ] || wanted=8
  results=$folder/results_$kernel.xml log=$folder/run_$kernel.log
  rm -f "$results"
  status=0
  OMP_PROC_BIND=false OMP_NUM_THREADS=4 "$folder/build/$kernel" \
    --gtest_output="xml:$results" >"$log" 2>&1 || status=$?
  if [ "$status" -ne 0 ] || grep -q 'Skip stream test' "$log"; then
    tail -n 60 "$log" >&2
  fi
  [ "$status" -eq 0 ] || die "Kokkos Kernels' test of $kernel ended with $status: see $log"
  ! grep -q 'Skip stream test' "$log" || die "a case of $kernel with streams was skipped"
  ran=$(grep -c '<testcase .*status="run" result="completed"' "$results" || true)
  [ "$ran" -eq "$wanted" ] || die "$ran tests of $kernel ran, $wanted were wanted: see $log"
  echo "Kokkos Kernels $version, $backend: $ran of $wanted $kernel tests pass with Strata's functions"
done
