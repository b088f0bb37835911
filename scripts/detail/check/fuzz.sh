# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Builds the fuzz drivers and runs them on fresh seeds; see docs/developer/testing.md.
#
#   scripts/check fuzz [options] [WHAT ...]
#
#   WHAT                          triangular, matrix_market, band, dense, sell or
#                                 cg; default: all of them
#   --minutes M                   for each of them; default: 1
#   --seed-from N                 first seed; default: a number by chance
#   --backend serial|openmp|cuda, --arch sm_XX, --debug,
#   --kokkos-source DIR, --kokkos-kernels-source DIR
#                                 as for scripts/build

parse_options minutes=1 seed-from= backend= arch= debug kokkos-source= kokkos-kernels-source= \
  -- "$@"
seed=$seed_from what=("${words[@]}")
given backend arch debug kokkos-source kokkos-kernels-source
for one in "${what[@]}"; do
  one_of WHAT "$one" "${fuzz_drivers[@]}"
done
[ ${#what[@]} -gt 0 ] || what=("${fuzz_drivers[@]}")
seconds=$(awk -v m="$minutes" 'BEGIN { if (m ~ /^[0-9.]+$/ && m > 0) print m * 60 }')
[ -n "$seconds" ] || die "--minutes $minutes: a positive number is wanted"
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')

programs=("${what[@]/#/strata_fuzz_}")
build=$("$root/scripts/build" "${given[@]}" "${programs[@]}")

# Cases are small: threads that spin at barriers cost more than they save.
export OMP_PROC_BIND=${OMP_PROC_BIND:-false} OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
status=0
for program in "${programs[@]}"; do
  say "$program, seeds from $seed, $minutes minutes"
  "$build/unit_test/fuzz/$program" --seed-from "$seed" --seconds "$seconds" ||
    status=1
done
exit "$status"
