// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_sanitizer_faults FAULT does what a sanitizer has to report, so that a
// build without reports is known to be one that could have had them.
#include <Kokkos_Core.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "SanitizerOptions.hpp"

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Row = Kokkos::View<double*, Space>;

/// What the compiler can't know: `value`.
template <class T>
T hidden(T value) {
  volatile T copy = value;
  return copy;
}

/// Runs on a thread of the execution space, as a kernel does.
template <class Body>
void in_kernel(const Body& body) {
  Kokkos::parallel_for("Strata::Test::fault",
                       Kokkos::RangePolicy<Space>(Space(), 0, 64), [=](int i) {
                         if (i == 63) body();
                       });
  Space().fence();
}

void heap_overflow() {
  const Row x("x", 100);
  double* const first = x.data();
  // Kokkos 3.4 allocates up to 64 bytes more, to align.
  in_kernel([=] { first[hidden(112)] = 1; });
}

void use_after_free() {
  Row x("x", 100);
  double* const first = x.data();
  x = {};
  in_kernel([=] { first[hidden(50)] += 1; });
}

int* address_of_local() {
  int local = hidden(1);
  int* volatile address = &local;
  return address;
}
void use_after_return() { *address_of_local() += 1; }

void leak() { static_cast<void>(hidden(std::malloc(100))); }

void signed_overflow() {
  in_kernel([] { hidden(hidden(2147483647) + hidden(1)); });
}

void float_cast() {
  in_kernel([] { hidden(static_cast<int>(hidden(1e30))); });
}

void shift() {
  in_kernel([] { hidden(1 << hidden(40)); });
}

void vector_index() {
  std::vector<int> rows(3);
  rows.reserve(10);
  rows[hidden(5)] = 1;
}

/// Within the allocation, beyond the rows of the view.
void view_index() {
  const Row all("all", 100);
  const auto part = Kokkos::subview(all, Kokkos::make_pair(0, 50));
  in_kernel([=] { part(hidden(60)) = 1; });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, void (*)()> faults = {
      {"heap_overflow", heap_overflow},
      {"use_after_free", use_after_free},
      {"use_after_return", use_after_return},
      {"leak", leak},
      {"signed_overflow", signed_overflow},
      {"float_cast", float_cast},
      {"shift", shift},
      {"vector_index", vector_index},
      {"view_index", view_index}};
  const auto fault = faults.find(argc == 2 ? argv[1] : "");
  if (fault == faults.end()) {
    std::cerr << "usage: strata_sanitizer_faults FAULT, one of";
    for (const auto& entry : faults) std::cerr << ' ' << entry.first;
    std::cerr << '\n';
    return 2;
  }
  // Every report ends in abort; to CTest a signal is no expected end.
  std::signal(SIGABRT, [](int) { std::_Exit(3); });
  Kokkos::ScopeGuard kokkos(argc, argv);
  fault->second();
  // Leaks are looked for at the end.
  if (fault->second != leak) std::cout << "The program goes on\n";
  return 0;
}
