// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that begins and ends Kokkos itself, with handles that are alive.
#include <strata.h>

#include <Kokkos_Core.hpp>
#include <cstdio>

int main() {
  Kokkos::initialize();
  const int row_map[] = {0, 1}, columns[] = {0};
  const double values[] = {2}, b[] = {6};
  double x[] = {0};
  strata_matrix matrix = nullptr;
  strata_triangular solver = nullptr;
  bool is_right =
      strata_matrix_create(&matrix, 1, 1, row_map, columns, values,
                           STRATA_INT32, STRATA_INT32, 0, STRATA_DOUBLE,
                           STRATA_HOST) == STRATA_SUCCESS &&
      strata_triangular_create(&solver, matrix, STRATA_LOWER, STRATA_NON_UNIT,
                               nullptr, nullptr) == STRATA_SUCCESS &&
      strata_triangular_solve(solver, b, 1, x, 1, 1, STRATA_COLUMN_MAJOR,
                              nullptr) == STRATA_SUCCESS &&
      x[0] == 3;
  // The solver's memory is freed before Kokkos ends.
  Kokkos::finalize();
  is_right = is_right &&
             strata_triangular_destroy(solver) == STRATA_ERROR_HANDLE &&
             strata_finalize() == STRATA_SUCCESS &&
             strata_initialize() == STRATA_ERROR_HANDLE;
  std::printf("%s: %s\n", is_right ? "right" : "wrong", strata_last_error());
  return is_right ? 0 : 1;
}
