# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash disable=SC2154
# Sourced by scripts/check sanitize, which sets its variables, for host backends:
# AddressSanitizer, LeakSanitizer, UndefinedBehaviorSanitizer and the assertions of
# the preset <backend>-sanitize.

# Files in and out, faulty input, memory, the sptrsv handle, factorisations in temporary
# memory. Each of these programs compiles for a minute or less.
quick_tests=(tstMatrixMarket tstBadMatrices tstTriangularSolverMemory tstSptrsv tstError
  tstShiftTries)

targets=() choice=(-L unit)
if [ -n "$quick" ]; then
  targets=(strata_sanitizer_faults "${fuzz_drivers[@]/#/strata_fuzz_}" "${quick_tests[@]/#/Strata_}")
  choice=(-R "^Strata_(sanitizer_finds_.*|$(IFS='|' && echo "${quick_tests[*]}"))\$")
fi
build=$("$root/scripts/build" --backend "$backend" --sanitize "${given[@]}" "${targets[@]}")

# A test that passes may have had a report in its output, and a program that another
# one starts may have written some. AddressSanitizer writes its own to files;
# UndefinedBehaviorSanitizer, beside it, does not.
cd "$build"
reports=$build/sanitizer_reports
rm -rf "$reports"
mkdir "$reports"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}log_path=$reports/address:log_exe_name=1"
export STRATA_TEST_LIMIT=${STRATA_TEST_LIMIT:-1500}
export OMP_PROC_BIND=false OMP_WAIT_POLICY=passive

say "Testing"
failed=()
ctest "${choice[@]}" --no-tests=error --output-on-failure >&2 || failed+=("tests")
logs=(Testing/Temporary/LastTest.log) seeds=0
programs=$(grep -cE '^[0-9]+/[0-9]+ Testing: ' "${logs[@]}")

for driver in "${fuzz_drivers[@]}"; do
  say "strata_fuzz_$driver, $seconds s of seeds from $seed_from"
  log=fuzz_$driver.log logs+=("fuzz_$driver.log")
  "unit_test/fuzz/strata_fuzz_$driver" --seed-from "$seed_from" --seconds "$seconds" 2>&1 |
    tee "$log" >&2 || failed+=("strata_fuzz_$driver")
  programs=$((programs + 1))
  # Seeds of scalars that are not compiled are left out.
  run=$(sed -nE 's/^[a-z_]+: ([0-9]+) seeds from .*/\1/p' "$log")
  left_out=$(sed -nE 's/.* left out ([0-9]+),.*/\1/p' "$log")
  seeds=$((seeds + ${run:-0} - ${left_out:-0}))
done

# Faults on purpose are reported on purpose.
awk 'FNR == 1 { test = FILENAME }
  /^[0-9]+\/[0-9]+ Testing: / { test = $3 }
  test !~ /^Strata_sanitizer_finds_/ && /runtime error: |ERROR: [A-Za-z]+Sanitizer/ {
    print test ": " $0
  }' "${logs[@]}" >"$reports/outputs"
mapfile -t found < <(find "$reports" -type f -size +0)
if [ ${#found[@]} -gt 0 ]; then
  head -n 60 "${found[@]}" >&2
  failed+=("reports in $reports")
fi
ran="$programs programs ran, $seeds seeds"
