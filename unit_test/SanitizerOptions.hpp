// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_SANITIZER_OPTIONS_HPP
#define STRATA_TEST_SANITIZER_OPTIONS_HPP

// What a program that is built with sanitizers (docs/developer/testing.md) asks of them.
// The environment variables ASAN_OPTIONS and UBSAN_OPTIONS have the last word.
// A program includes this once, where its main function is.
#ifdef __SANITIZE_ADDRESS__

#define STRATA_SANITIZER_HOOK \
  __attribute__((used, no_sanitize("address"), no_sanitize("undefined")))

extern "C" {

/// - A report ends the program by SIGABRT, upon which a fuzz driver prints its
///   seed; faults of memory come to the sanitizer before they come to the
///   driver.
/// - malloc returns null where memory runs out, which tests provoke.
/// - Strings are checked to their end; locals are checked after their function
///   has returned, and globals before they are initialised.
STRATA_SANITIZER_HOOK inline const char* __asan_default_options() {
  return "abort_on_error=1:handle_segv=2:handle_sigbus=2:handle_sigfpe=2:"
         "handle_sigill=2:allocator_may_return_null=1:strict_string_checks=1:"
         "detect_stack_use_after_return=1:check_initialization_order=1:"
         "strict_init_order=1:detect_leaks=1";
}

/// The first report ends the program here as well; halt_on_error=0 lists them
/// all. Code compiled with -fno-sanitize-recover could neither list them nor
/// leave out what a file of suppressions names.
STRATA_SANITIZER_HOOK inline const char* __ubsan_default_options() {
  return "halt_on_error=1:abort_on_error=1:print_stacktrace=1";
}
}

#undef STRATA_SANITIZER_HOOK

#endif

#endif
