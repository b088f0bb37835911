/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program without Kokkos of its own, from the first call to the last one:
 *   strata_c_lifetime own       strata_finalize() ends what it has begun
 *   strata_c_lifetime outlived  it exits with live handles and without it */
#include <stdio.h>
#include <strata.h>
#include <string.h>

static int failures = 0;
static void expect(int is_so, const char* what) {
  if (is_so) return;
  ++failures;
  printf("not so: %s (%s)\n", what, strata_last_error());
}
#define EXPECT(condition) expect(condition, #condition)

int main(int argc, char** argv) {
  /* The lower bidiagonal matrix with 2 on and -1 below the diagonal. */
  const int row_map[] = {0, 1, 3, 5}, columns[] = {0, 0, 1, 1, 2};
  const double values[] = {2, -1, 2, -1, 2}, b[] = {2, 1, 1};
  double x[] = {0, 0, 0};
  const char* report = NULL;
  strata_matrix matrix;
  strata_triangular solver, copy;
  int i;

  EXPECT(strata_version() == STRATA_VERSION);
  EXPECT(strcmp(strata_last_error(), "") == 0);
  EXPECT(strata_last_error_row() == -1);

  EXPECT(strata_matrix_create(&matrix, 3, 5, row_map, columns, values,
                              STRATA_INT32, STRATA_INT32, 0, STRATA_DOUBLE,
                              STRATA_HOST) == STRATA_SUCCESS);
  /* Kokkos begins here. */
  EXPECT(strata_triangular_create(&solver, matrix, STRATA_LOWER,
                                  STRATA_NON_UNIT, NULL,
                                  NULL) == STRATA_SUCCESS);
  EXPECT(strata_triangular_share(solver, &copy, NULL) == STRATA_SUCCESS);
  EXPECT(strata_triangular_solve(copy, b, 3, x, 3, 1, STRATA_COLUMN_MAJOR,
                                 NULL) == STRATA_SUCCESS);
  for (i = 0; i < 3; ++i) EXPECT(x[i] == 1);
  EXPECT(strata_triangular_report(solver, &report) == STRATA_SUCCESS);
  EXPECT(report && strstr(report, "rows: 3") != NULL);
  if (argc == 2 && strcmp(argv[1], "outlived") == 0) return failures;

  EXPECT(strata_triangular_destroy(copy) == STRATA_SUCCESS);
  EXPECT(strata_triangular_destroy(copy) == STRATA_ERROR_HANDLE);
  EXPECT(strata_finalize() == STRATA_SUCCESS);
  EXPECT(strata_finalize() == STRATA_SUCCESS);
  /* What is left are numbers that mean nothing. */
  EXPECT(strata_triangular_solve(solver, b, 3, x, 3, 1, STRATA_COLUMN_MAJOR,
                                 NULL) == STRATA_ERROR_HANDLE);
  EXPECT(strata_triangular_destroy(solver) == STRATA_ERROR_HANDLE);
  EXPECT(strata_matrix_destroy(matrix) == STRATA_ERROR_HANDLE);
  EXPECT(strata_initialize() == STRATA_ERROR_HANDLE);
  EXPECT(strata_matrix_create(&matrix, 3, 5, row_map, columns, values,
                              STRATA_INT32, STRATA_INT32, 0, STRATA_DOUBLE,
                              STRATA_HOST) == STRATA_SUCCESS);
  EXPECT(strata_triangular_create(&solver, matrix, STRATA_LOWER,
                                  STRATA_NON_UNIT, NULL,
                                  NULL) == STRATA_ERROR_HANDLE);
  EXPECT(solver == NULL);
  EXPECT(strata_matrix_destroy(matrix) == STRATA_SUCCESS);
  return failures;
}
