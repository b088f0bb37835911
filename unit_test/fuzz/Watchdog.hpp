// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_WATCHDOG_HPP
#define STRATA_FUZZ_WATCHDOG_HPP

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <string>

namespace Strata {
namespace Fuzz {

/// Makes a case that takes too long, or ends the program, a failure that is
/// told with its seed.
class Watchdog {
 public:
  /// @param seconds that a case may take; 0: as long as it likes
  static void install(unsigned seconds) {
    state().seconds = seconds;
    ::signal(SIGALRM, &Watchdog::bark);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      ::signal(fault, &Watchdog::bark);
  }
  /// A case begins; `repeat` is the command that runs it again.
  static void begin(const std::string& repeat) {
    copy(repeat, state().repeat);
    state().description[0] = 0;
    ::alarm(state().seconds);
  }
  static void describe(const std::string& text) {
    copy(text, state().description);
  }
  static void end() { ::alarm(0); }

 private:
  struct State {
    unsigned seconds;
    char repeat[512], description[2048];
  };
  static State& state() {
    static State instance;
    return instance;
  }

  template <std::size_t size>
  static void copy(const std::string& from, char (&to)[size]) {
    to[from.copy(to, size - 1)] = 0;
  }
  /// Nothing here may allocate: it runs at any moment.
  static void say(const char* text) {
    std::size_t length = 0;
    while (text[length] != 0) ++length;
    if (::write(STDERR_FILENO, text, length) < 0) return;
  }
  static void bark(int number) {
    say(number == SIGALRM ? "FAILURE: takes too long (--case-seconds)\n  "
                          : "FAILURE: the program was ended by a signal\n  ");
    say(state().description);
    say("\n  repeat: ");
    say(state().repeat);
    say("\n");
    if (number == SIGALRM) ::_exit(1);
    ::signal(number, SIG_DFL);
    ::raise(number);
  }
};

}  // namespace Fuzz
}  // namespace Strata

#endif
