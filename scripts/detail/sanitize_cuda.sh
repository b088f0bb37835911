# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Sourced by scripts/sanitize, which sets its variables, for CUDA: the fuzz drivers
# under each tool of compute-sanitizer, after a program with planted faults has
# shown that the tool finds them.

find_nvcc || die "--backend cuda needs the CUDA toolkit"
command -v compute-sanitizer >/dev/null || die "compute-sanitizer is not on the PATH"
tools=(memcheck racecheck synccheck initcheck)
drivers=(triangular matrix_market band dense sell cg)
[ -z "$quick" ] || tools=(memcheck racecheck)

build=$("$root/scripts/build" --backend cuda --sanitize "${build_options[@]}" \
  strata_cuda_faults "${drivers[@]/#/strata_fuzz_}")
logs=$build/sanitizer_reports
rm -rf "$logs"
mkdir -p "$logs"
export OMP_PROC_BIND=false OMP_WAIT_POLICY=passive

# judge TOOL LOG PROGRAM ARGUMENT...
judge() {
  local tool=$1 log=$2
  shift 2
  python3 "$root/scripts/detail/compute_sanitizer.py" --tool "$tool" --log "$log" \
    --suppressions "$root/unit_test/sanitizers/racecheck.txt" --minutes 30 "$@" >&2
}

programs=0 failed=()
for tool in "${tools[@]}"; do
  # What the tool has to find, and what it must be content with.
  judge "$tool" "$logs/planted_none" "$build/unit_test/sanitizers/strata_cuda_faults" none ||
    failed+=("$tool reports on a program without faults")
  ! judge "$tool" "$logs/planted_$tool" "$build/unit_test/sanitizers/strata_cuda_faults" "$tool" 2>/dev/null ||
    failed+=("$tool misses a planted fault")
  for driver in "${drivers[@]}"; do
    say "$tool, strata_fuzz_$driver, $seconds s of seeds from $seed"
    judge "$tool" "$logs/${tool}_$driver" "$build/unit_test/fuzz/strata_fuzz_$driver" \
      --backend Cuda --seed-from "$seed" --seconds "$seconds" --case-seconds 0 ||
      failed+=("$tool, $driver: $logs/${tool}_$driver")
    programs=$((programs + 1))
  done
done
verdict="nothing found"
[ ${#failed[@]} -eq 0 ] || verdict="FOUND: $(printf '%s; ' "${failed[@]}")"
echo "sanitizers, cuda: ${#tools[@]} tools, $programs programs ran, ${verdict%; }"
[ ${#failed[@]} -eq 0 ]
