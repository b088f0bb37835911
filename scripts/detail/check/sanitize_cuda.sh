# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Sourced by scripts/check sanitize, which sets its variables, for CUDA: the fuzz drivers
# under each tool of compute-sanitizer, after a program with planted faults has
# shown that the tool finds them. With --quick memcheck and racecheck alone.

need_nvcc
command -v compute-sanitizer >/dev/null || die "compute-sanitizer is not on the PATH"
tools=(memcheck racecheck synccheck initcheck)
[ -z "$quick" ] || tools=(memcheck racecheck)
# Cases take seconds under a tool: each algorithm gets its own share of the time.
algorithms=(substitution level_sets subgraphs sync_free blocks tiles)

build=$("$root/scripts/build" --backend cuda --sanitize "${given[@]}" \
  strata_cuda_faults "${fuzz_drivers[@]/#/strata_fuzz_}")
logs=$build/sanitizer_reports
rm -rf "$logs"
mkdir -p "$logs"
export OMP_PROC_BIND=false OMP_WAIT_POLICY=passive

# judge TOOL LOG PROGRAM ARGUMENT...
judge() {
  local tool=$1 log=$logs/$1_$2
  shift 2
  python3 "$root/scripts/detail/check/compute_sanitizer.py" --tool "$tool" --log "$log" \
    --minutes 30 "$@" >&2
}

runs=0 failed=()
# fuzz TOOL LOG DRIVER OPTION...
fuzz() {
  local tool=$1 log=$2 driver=$3
  shift 3
  say "$tool, $log, $seconds s of seeds from $seed_from"
  judge "$tool" "$log" "$build/unit_test/fuzz/strata_fuzz_$driver" --backend Cuda \
    --seed-from "$seed_from" --seconds "$seconds" --case-seconds 0 "$@" ||
    failed+=("$tool, $log: see $logs")
  runs=$((runs + 1))
}

for tool in "${tools[@]}"; do
  # What the tool has to find, and what it must be content with.
  faults=$build/unit_test/sanitizers/strata_cuda_faults
  judge "$tool" planted_none "$faults" none ||
    failed+=("$tool reports on a program without faults")
  # The judge fails on that one: its words count here.
  said=$(judge "$tool" planted_fault "$faults" "$tool" 2>&1 || true)
  [[ $said =~ [1-9][0-9]*\ reports ]] || failed+=("$tool misses a planted fault")
  for driver in "${fuzz_drivers[@]}"; do
    if [ "$driver" != triangular ]; then
      fuzz "$tool" "$driver" "$driver"
      continue
    fi
    for algorithm in "${algorithms[@]}"; do
      fuzz "$tool" "triangular_$algorithm" "$driver" --only "; $algorithm,"
    done
  done
done
ran="${#tools[@]} tools, $runs runs"
