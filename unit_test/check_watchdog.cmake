# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A test that takes longer than STRATA_TEST_LIMIT ends its program with a message
# that names it, and no other test does. `program` is Strata_tstWatchdog.

# expect(STATUS LIMIT TEST EXPRESSION [OPTION...]): TEST, run with that limit, ends
# with that status, and what it prints matches the expression.
function(expect status limit test expression)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env STRATA_TEST_LIMIT=${limit} ${program}
      --gtest_also_run_disabled_tests --gtest_filter=Watchdog.${test} ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 50)
  if(NOT result STREQUAL status OR NOT output MATCHES "${expression}")
    message(FATAL_ERROR "${test} with a limit of '${limit}' s ended with ${result}, where "
      "${status} and '${expression}' are expected:\n${output}")
  endif()
endfunction()

expect(1 1 DISABLED_WaitsInAKernel
  "FAILURE: Watchdog\\.DISABLED_WaitsInAKernel takes over 1 s")
expect(1 1 DISABLED_TakesTwoSeconds
  "FAILURE: Watchdog\\.DISABLED_TakesTwoSeconds takes over 1 s")
# Each test has the whole limit.
expect(0 3 DISABLED_TakesTwoSeconds "PASSED" --gtest_repeat=2)
expect(0 0 DISABLED_TakesTwoSeconds "PASSED")
expect(1 never ReadsTheLimit "STRATA_TEST_LIMIT is 'never'")
