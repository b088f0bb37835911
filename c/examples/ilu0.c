/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Conjugate gradients with ILU(0), for programs that call cuSPARSE's csrilu02
 * and csrsv2: the comments name the calls that each of Strata replaces.
 *
 * The matrix is the 5-point stencil of a square, and the right-hand side makes
 * every unknown 1. Arrays are on the host; with a library for CUDA, pass
 * device pointers, STRATA_DEVICE, and a stream instead of NULL. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strata.h>

/* csrsv2's users check a status after each call. Here it comes with a text. */
static void check(strata_status status) {
  if (status == STRATA_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", strata_status_name(status), strata_last_error());
  exit(1);
}

static void* allocate(size_t count, size_t size) {
  void* const memory = calloc(count, size);
  if (!memory) exit(1);
  return memory;
}

static double dot(int n, const double* x, const double* y) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

typedef struct {
  int n, entries;
  int *row_map, *columns;
  double* values;
} csr;

static csr make_grid(int side) {
  csr A = {side * side, 0, NULL, NULL, NULL};
  A.row_map = allocate((size_t)A.n + 1, sizeof(int));
  A.columns = allocate((size_t)A.n * 5, sizeof(int));
  A.values = allocate((size_t)A.n * 5, sizeof(double));
  for (int i = 0; i < A.n; ++i) {
    const int at_side[] = {i >= side, i % side > 0, 1, i % side < side - 1,
                           i + side < A.n};
    const int offset[] = {-side, -1, 0, 1, side};
    for (int k = 0; k < 5; ++k) {
      if (!at_side[k]) continue;
      A.columns[A.entries] = i + offset[k];
      A.values[A.entries++] = offset[k] == 0 ? 4 : -1;
    }
    A.row_map[i + 1] = A.entries;
  }
  return A;
}

static void multiply(const csr* A, const double* x, double* y) {
  for (int i = 0; i < A->n; ++i) {
    y[i] = 0;
    for (int k = A->row_map[i]; k < A->row_map[i + 1]; ++k)
      y[i] += A->values[k] * x[A->columns[k]];
  }
}

/* A factor as a triangular solver, as one csrsv2Info_t and its analysis. */
static strata_triangular solver_with(strata_factorization ilu, strata_uplo uplo,
                                     int n) {
  int64_t entries;
  check(strata_factorization_entries(ilu, uplo, &entries));
  int* const row_map = allocate((size_t)n + 1, sizeof(int));
  int* const columns = allocate((size_t)entries, sizeof(int));
  double* const values = allocate((size_t)entries, sizeof(double));
  check(strata_factorization_copy(ilu, uplo, row_map, columns, values,
                                  STRATA_INT32, 0, STRATA_HOST, NULL));

  /* cusparseCreateMatDescr, cusparseSetMatFillMode, cusparseSetMatDiagType */
  strata_matrix factor;
  check(strata_matrix_create(&factor, n, entries, row_map, columns, values,
                             STRATA_INT32, STRATA_INT32, 0, STRATA_DOUBLE,
                             STRATA_HOST));
  /* cusparseCreateCsrsv2Info, _bufferSize, cudaMalloc, _analysis */
  strata_triangular solver;
  check(strata_triangular_create(
      &solver, factor, uplo,
      uplo == STRATA_LOWER ? STRATA_UNIT : STRATA_NON_UNIT, NULL, NULL));
  /* The solver has copies. */
  check(strata_matrix_destroy(factor));
  free(row_map);
  free(columns);
  free(values);
  return solver;
}

int main(void) {
  csr A = make_grid(60);
  const int n = A.n;
  double* const x = allocate((size_t)n, sizeof(double));
  double* const r = allocate((size_t)n, sizeof(double));
  double* const y = allocate((size_t)n, sizeof(double));
  double* const z = allocate((size_t)n, sizeof(double));
  double* const p = allocate((size_t)n, sizeof(double));
  double* const w = allocate((size_t)n, sizeof(double));

  /* cusparseCreateCsrilu02Info, _bufferSize, cudaMalloc, _analysis, csrilu02,
   * and csrsv2's for both triangles. A keeps its values. A zero pivot is an
   * error, and strata_last_error_row() its row: cusparseXcsrilu02_zeroPivot. */
  strata_matrix matrix;
  check(strata_matrix_create(&matrix, n, A.entries, A.row_map, A.columns,
                             A.values, STRATA_INT32, STRATA_INT32, 0,
                             STRATA_DOUBLE, STRATA_HOST));
  strata_factorization ilu;
  check(strata_factorization_create(&ilu, matrix, STRATA_INCOMPLETE_LU, NULL,
                                    NULL));

  /* New values on the same pattern: csrilu02 again, after a copy of A. */
  for (int k = 0; k < A.entries; ++k) A.values[k] *= 0.25;
  check(strata_factorization_update_values(ilu, matrix, NULL));

  /* One call solves with both factors, below. If a program needs them apart,
   * these are csrsv2's two solves. */
  const strata_triangular L = solver_with(ilu, STRATA_LOWER, n);
  const strata_triangular U = solver_with(ilu, STRATA_UPPER, n);

  /* b = A (1, ..., 1), x = 0, so r = b. */
  for (int i = 0; i < n; ++i) p[i] = 1;
  multiply(&A, p, r);
  const double first = sqrt(dot(n, r, r));
  double rho = 0, apart = 0;
  int iterations = 0;
  while (sqrt(dot(n, r, r)) > 1e-10 * first && iterations < 1000) {
    /* z = U^-1 L^-1 r: two calls of cusparseDcsrsv2_solve ... */
    check(strata_triangular_solve(L, r, n, y, n, 1, STRATA_COLUMN_MAJOR, NULL));
    check(strata_triangular_solve(U, y, n, y, n, 1, STRATA_COLUMN_MAJOR, NULL));
    /* ... or one of Strata. */
    check(strata_factorization_solve(ilu, STRATA_NO_TRANSPOSE, r, n, z, n, 1,
                                     STRATA_COLUMN_MAJOR, NULL));
    for (int i = 0; i < n; ++i) apart = fmax(apart, fabs(y[i] - z[i]));

    const double new_rho = dot(n, r, z);
    const double beta = iterations == 0 ? 0 : new_rho / rho;
    rho = new_rho;
    for (int i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
    multiply(&A, p, w);
    const double alpha = rho / dot(n, p, w);
    for (int i = 0; i < n; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * w[i];
    }
    ++iterations;
  }
  double error = 0;
  for (int i = 0; i < n; ++i) error = fmax(error, fabs(x[i] - 1));

  const char* report;
  check(strata_triangular_report(L, &report));
  printf("L is solved with by:\n%s\n", report);
  printf("%d rows, %d iterations, largest error %.1e\n", n, iterations, error);
  printf("one call and two differ by %.1e at most\n", apart);

  /* cusparseDestroyCsrilu02Info, cusparseDestroyCsrsv2Info, cudaFree */
  check(strata_triangular_destroy(L));
  check(strata_triangular_destroy(U));
  check(strata_factorization_destroy(ilu));
  check(strata_matrix_destroy(matrix));
  check(strata_finalize());
  free(A.row_map);
  free(A.columns);
  free(A.values);
  free(x);
  free(r);
  free(y);
  free(z);
  free(p);
  free(w);
  return iterations < 100 && error < 1e-8 && apart < 1e-12 ? 0 : 1;
}
