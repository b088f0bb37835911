/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef STRATA_H
#define STRATA_H

/**
 * @file strata.h
 * @brief Strata for programs in C, Fortran, Julia, Rust and other languages.
 *
 * Triangular solves, incomplete factors and Krylov methods behind handles. No
 * types of C++ or Kokkos appear here.
 *
 * **Matrices** are square and in CRS storage (CSR): `row_map` has rows + 1
 * offsets, and `columns` and `values` have an element per entry.
 *
 * **Errors.** Each function returns a ::strata_status, STRATA_SUCCESS or the
 * reason of the failure; no exception leaves the library. strata_last_error()
 * is a sentence that names the argument, the row and the remedy. After an error
 * nothing of the caller's is changed, and a handle is as it was, unless a
 * function says otherwise.
 *
 * **Handles** are names, not addresses, and none is used twice. A function that
 * gets NULL returns STRATA_ERROR_NULL_POINTER; one that gets a handle that was
 * destroyed, or of another kind, STRATA_ERROR_HANDLE. A function that fails to
 * create a handle sets it to NULL.
 *
 * **Enumerations** are passed as `int`, because the size of an `enum` differs
 * between compilers and languages.
 *
 * **Streams.** `stream` is a `cudaStream_t` (NULL: the default stream) for work
 * in device memory, and is ignored for work in host memory. What the library
 * keeps for a stream, some hundred bytes of device memory, stays until
 * strata_finalize(): use few streams, again and again.
 *
 * **Threads.** Any thread may call any function at any time: calls of one
 * process run one after the other. On a GPU, the work of several streams
 * overlaps, but a solver has one workspace: give each stream a solver of its
 * own, which strata_triangular_share() and strata_factorization_share() make.
 * With Kokkos before 3.5 and OpenMP, the thread that has initialised Kokkos has
 * to call strata_initialize() before other threads call.
 */

#include <stddef.h>
#include <stdint.h>

#define STRATA_VERSION_MAJOR 0
#define STRATA_VERSION_MINOR 1
#define STRATA_VERSION_PATCH 0
/** The version that this header belongs to, as major * 10000 + minor * 100 +
 * patch. Until 1.0, another minor version may change the interface. */
#define STRATA_VERSION                                         \
  (STRATA_VERSION_MAJOR * 10000 + STRATA_VERSION_MINOR * 100 + \
   STRATA_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns. */
typedef int strata_status;
enum {
  STRATA_SUCCESS = 0,
  /** An exception that is none of Strata's. */
  STRATA_ERROR = 1,
  /** A pointer or handle is NULL. */
  STRATA_ERROR_NULL_POINTER = 2,
  /** A handle was destroyed or is of another kind; Kokkos was finalised; a
   * stream can't be used. */
  STRATA_ERROR_HANDLE = 3,
  /** An option, or a number that stands for a name, has no such value. */
  STRATA_ERROR_OPTION = 4,
  /** A size or a leading dimension does not fit. */
  STRATA_ERROR_SIZE_MISMATCH = 5,
  /** Arrays share memory in a way that has no meaning. */
  STRATA_ERROR_ALIAS = 6,
  /** A number does not fit the type that has to hold it. */
  STRATA_ERROR_INDEX_OVERFLOW = 7,
  /** Too little memory. */
  STRATA_ERROR_MEMORY = 8,
  /** A plan needs more memory than `max_plan_bytes`. */
  STRATA_ERROR_PLAN_MEMORY = 9,
  /** Faults of a matrix; strata_last_error_row() is the row. */
  STRATA_ERROR_MATRIX = 10,
  STRATA_ERROR_ROW_MAP = 11,
  STRATA_ERROR_COLUMN_RANGE = 12,
  STRATA_ERROR_UNSORTED_ROW = 13,
  STRATA_ERROR_DUPLICATE_ENTRY = 14,
  STRATA_ERROR_WRONG_TRIANGLE = 15,
  STRATA_ERROR_MISSING_DIAGONAL = 16,
  STRATA_ERROR_ZERO_DIAGONAL = 17,
  /** New values with which the plan would overflow or lose accuracy: create a
   * new solver. */
  STRATA_ERROR_SCALING = 18,
  /** A pivot became zero, or a value is not finite. */
  STRATA_ERROR_FACTORIZATION = 19,
  /** A value is beyond the range of `float` (option `precision`). */
  STRATA_ERROR_PRECISION = 20,
  STRATA_ERROR_NOT_HERMITIAN = 21,
  /** A pivot of incomplete Cholesky is not positive. */
  STRATA_ERROR_INDEFINITE = 22,
  STRATA_ERROR_PATTERN_MISMATCH = 23
};

/** Type of the elements of a matrix and of its vectors. A complex number is two
 * reals, as C's `double complex` and Fortran's `complex(c_double_complex)`. It
 * must be aligned as C aligns it, or, if Kokkos aligns complex numbers (its
 * default), to its whole size. */
typedef int strata_scalar;
enum {
  STRATA_FLOAT = 0,
  STRATA_DOUBLE = 1,
  STRATA_COMPLEX_FLOAT = 2,
  STRATA_COMPLEX_DOUBLE = 3
};

/** Type of offsets or columns. */
typedef int strata_index;
enum { STRATA_INT32 = 0, STRATA_INT64 = 1 };

/** Where arrays are. In a library without CUDA, device memory is host memory.
 */
typedef int strata_memory;
enum { STRATA_HOST = 0, STRATA_DEVICE = 1 };

/** The triangle that a matrix stores, before any transposition. */
typedef int strata_uplo;
enum { STRATA_LOWER = 0, STRATA_UPPER = 1 };

/** Whether the diagonal is stored, or is one whatever is stored. */
typedef int strata_diag;
enum { STRATA_NON_UNIT = 0, STRATA_UNIT = 1 };

/** op(A) in op(A) x = b. */
typedef int strata_op;
enum {
  STRATA_NO_TRANSPOSE = 0,
  STRATA_TRANSPOSE = 1,
  STRATA_CONJUGATE_TRANSPOSE = 2
};

/** How several vectors are stored: column j begins at `b + j * ldb` and ldb is
 * at least the number of rows; or row i begins at `b + i * ldb` and ldb is at
 * least the number of vectors. */
typedef int strata_layout;
enum { STRATA_COLUMN_MAJOR = 0, STRATA_ROW_MAJOR = 1 };

/** Which incomplete factorisation is made. */
typedef int strata_factors;
enum {
  /** A Hermitian matrix with positive pivots. Its upper triangle is read. */
  STRATA_INCOMPLETE_CHOLESKY = 0,
  STRATA_INCOMPLETE_LU = 1,
  /** L D L^H of a Hermitian matrix that need not be definite. */
  STRATA_INCOMPLETE_LDLH = 2,
  /** L D L^T of a complex symmetric matrix. */
  STRATA_INCOMPLETE_LDLT = 3
};

/** Krylov methods: the first for Hermitian positive definite matrices. */
typedef int strata_method;
enum { STRATA_CONJUGATE_GRADIENT = 0, STRATA_GMRES = 1, STRATA_BICGSTAB = 2 };

/** How a solve by a Krylov method ended. */
typedef int strata_krylov_status;
enum {
  STRATA_CONVERGED = 0,
  STRATA_MAX_ITERATIONS = 1,
  /** GMRES or BiCGStab: A is singular, or close to that. */
  STRATA_BREAKDOWN = 2,
  /** Conjugate gradients: A, or the preconditioner, is not positive definite.
   */
  STRATA_INDEFINITE_MATRIX = 3,
  STRATA_INDEFINITE_PRECONDITIONER = 4,
  STRATA_NOT_FINITE = 5,
  STRATA_STAGNATED = 6,
  /** Do not use x. */
  STRATA_DIVERGED = 7
};

/** What an enqueued update has found. */
typedef int strata_fault;
enum {
  /** The new values are in use. */
  STRATA_FAULT_NONE = 0,
  STRATA_FAULT_ZERO_DIAGONAL = 1,
  STRATA_FAULT_ZERO_PIVOT = 2,
  STRATA_FAULT_NOT_FINITE = 3,
  STRATA_FAULT_NOT_HERMITIAN = 4,
  STRATA_FAULT_NOT_POSITIVE = 5
};

/** Handles. */
typedef struct strata_options_s* strata_options;
typedef struct strata_matrix_s* strata_matrix;
typedef struct strata_triangular_s* strata_triangular;
typedef struct strata_factorization_s* strata_factorization;
typedef struct strata_krylov_s* strata_krylov;

/** @name The library */
/**@{*/

/** STRATA_VERSION of the library that is linked. */
int strata_version(void);

/** Initialises Kokkos unless the program has done so. The functions that create
 * solvers call it.
 * @returns STRATA_ERROR_HANDLE if Kokkos was finalised, which can't be undone;
 *   STRATA_ERROR if a library for CUDA finds no GPU */
strata_status strata_initialize(void);

/** Destroys all handles, and finalises Kokkos if strata_initialize() has
 * initialised it. Call it once, at the end of the program: at exit it would be
 * too late. A Kokkos that the program has initialised is left alone; if the
 * program finalises it first, all handles are destroyed then. More calls do no
 * harm. */
strata_status strata_finalize(void);

/** Name of a status, such as "STRATA_ERROR_ZERO_DIAGONAL"; "unknown" for other
 * numbers. */
const char* strata_status_name(strata_status status);

/** What was wrong in the last call of this thread that failed: "Strata:
 * argument: problem; remedy", and "" before any. Valid until the thread's next
 * call that fails. */
const char* strata_last_error(void);

/** The row at fault in that call, counted from 0 whatever the index base; -1 if
 * there is no single one. */
int64_t strata_last_error_row(void);
/**@}*/

/** @name Options
 *
 * A set of names and values. Each function that takes one uses the names that
 * it knows, and returns STRATA_ERROR_OPTION for others; NULL stands for the
 * defaults. Names, values and defaults are those of the C++ classes:
 *
 * - triangular solvers and factorisations: `algorithm`, `accuracy` (text),
 *   `merged_levels`, `max_right_hand_sides`, `max_plan_bytes` (integers), as in
 *   Strata::TriangularPlanOptions, and `enqueue_updates` (0 or 1);
 * - triangular solvers: `op` (text: none, transpose, conjugate_transpose),
 *   `take_triangle` (0 or 1), as in Strata::TriangularOptions;
 * - factorisations: `fill_level` (the k of ILU(k)), `shift_tries` (integers),
 *   `transpose` (0 or 1),
 *   `shift`, `small_pivot_threshold`, `symmetry_tolerance` (reals), `precision`
 *   (text: working, single), `order` (text: natural, rcm, amd,
 *   nested_dissection, level_sets, multicoloured, coloured, automatic),
 *   `scaling` (text: none, equilibration, matching), as in
 *   Strata::IncompleteFactorizationOptions;
 * - Krylov methods: `relative_tolerance`, `absolute_tolerance`,
 *   `divergence_tolerance` (reals), `max_iterations`, `iterations_ahead`,
 *   `restart` (GMRES), `max_new_starts` (BiCGStab), `launches` (conjugate
 *   gradients), as in Strata::KrylovOptions and what derives from it;
 * - all: `space` (text: automatic, host, device): where solves run. automatic:
 *   where the arrays of the matrix are. With device, arrays in host memory are
 *   copied; vectors must then be in device memory.
 */
/**@{*/
strata_status strata_options_create(strata_options* options);
/** Sets an option, or replaces its value. Reals may be given as integers. */
strata_status strata_options_set_integer(strata_options options,
                                         const char* name, int64_t value);
strata_status strata_options_set_real(strata_options options, const char* name,
                                      double value);
strata_status strata_options_set_text(strata_options options, const char* name,
                                      const char* value);
/** NULL is no error, and a handle that was destroyed is STRATA_ERROR_HANDLE
 * without an effect; here and below. */
strata_status strata_options_destroy(strata_options options);
/**@}*/

/** @name Matrices */
/**@{*/

/** Describes a matrix of `rows` x `rows`, as cusparseCreateCsr. Nothing is
 * copied or checked: the arrays belong to the caller, who may free them once
 * the functions that use them have returned.
 *
 * @param matrix the new handle
 * @param rows at most 2147483646
 * @param entries length of `columns` and `values`
 * @param row_map rows + 1 offsets, of row_map_type
 * @param columns of columns_type. Rows must be sorted for factorisations
 * @param values of type scalar; NULL if strata_matrix_set_values() follows
 * @param row_map_type,columns_type STRATA_INT32 or STRATA_INT64
 * @param index_base of offsets and columns: 0 or 1. With 1, each use makes
 *   copies that count from 0
 * @param scalar,memory of the arrays
 */
strata_status strata_matrix_create(strata_matrix* matrix, int64_t rows,
                                   int64_t entries, const void* row_map,
                                   const void* columns, const void* values,
                                   strata_index row_map_type,
                                   strata_index columns_type, int index_base,
                                   strata_scalar scalar, strata_memory memory);
/** Names other values for the same pattern. */
strata_status strata_matrix_set_values(strata_matrix matrix,
                                       const void* values);
strata_status strata_matrix_destroy(strata_matrix matrix);
/**@}*/

/** @name Triangular solvers: op(A) x = b */
/**@{*/

/** Checks and analyses a triangular matrix and copies its values, as
 * csrsv2_analysis. Waits.
 * @returns faults of the matrix, STRATA_ERROR_OPTION,
 *   STRATA_ERROR_INDEX_OVERFLOW, STRATA_ERROR_PLAN_MEMORY, STRATA_ERROR_MEMORY
 *
 * Cost: an analysis, as long as some to some hundred solves. */
strata_status strata_triangular_create(strata_triangular* solver,
                                       strata_matrix matrix, strata_uplo uplo,
                                       strata_diag diag, strata_options options,
                                       void* stream);

/** x = op(A)^-1 b for `nrhs` right-hand sides. On a GPU, only enqueues work:
 * no allocation and no wait, except in the first call on a stream; a CUDA graph
 * may record later ones.
 *
 * @param solver made for A
 * @param b,x of the matrix's scalar and in the memory where solves run; x may
 *   be b
 * @param ldb,ldx leading dimensions, see ::strata_layout
 * @param nrhs number of right-hand sides, from 0 on
 * @param layout of b and x
 * @param stream where the work is enqueued
 * @returns STRATA_ERROR_SIZE_MISMATCH, STRATA_ERROR_ALIAS before anything is
 *   enqueued */
strata_status strata_triangular_solve(strata_triangular solver, const void* b,
                                      int64_t ldb, void* x, int64_t ldx,
                                      int64_t nrhs, strata_layout layout,
                                      void* stream);

/** New values of a matrix with the analysed pattern. Waits.
 * @returns STRATA_ERROR_PATTERN_MISMATCH, STRATA_ERROR_ZERO_DIAGONAL,
 *   STRATA_ERROR_SCALING, STRATA_ERROR_MEMORY: the old values stay; if a launch
 *   fails later, none do, and solves return STRATA_ERROR_HANDLE until an update
 *   succeeds
 *
 * Cost: passes over pattern and values; no analysis. */
strata_status strata_triangular_update_values(strata_triangular solver,
                                              strata_matrix matrix,
                                              void* stream);

/** A matrix of as many rows with a slightly different pattern.
 * @returns what strata_triangular_create() returns: the old matrix stays
 *
 * Cost: an analysis without the choice of an algorithm. */
strata_status strata_triangular_update_pattern(strata_triangular solver,
                                               strata_matrix matrix,
                                               void* stream);

/** New values without a wait, in the order of the matrix that was analysed: for
 * solvers made with `enqueue_updates`. A CUDA graph may record it. With faulty
 * values, later solves give NaN.
 * @param solver made with the option `enqueue_updates`
 * @param values as many as the matrix has entries, where solves run: to be left
 *   alone until the work of the stream is done
 * @param stream where the work is enqueued */
strata_status strata_triangular_enqueue_values(strata_triangular solver,
                                               const void* values,
                                               void* stream);
/** Waits, and says what the last update has found, and in which row (from 0; -1
 * without a fault). Either pointer may be NULL. */
strata_status strata_triangular_fault(strata_triangular solver,
                                      strata_fault* fault, int64_t* row,
                                      void* stream);

/** A solver for another stream with the same plan and values, and with its own
 * workspace. An update of one is an update of both, and must not overlap with
 * solves of either. */
strata_status strata_triangular_share(strata_triangular solver,
                                      strata_triangular* shared, void* stream);

/** What was chosen and why, as lines "name: value". Valid until the next report
 * of this solver, or until it is destroyed. */
strata_status strata_triangular_report(strata_triangular solver,
                                       const char** text);
strata_status strata_triangular_destroy(strata_triangular solver);
/**@}*/

/** @name Incomplete factorisations: ILU(k) and IC(k) */
/**@{*/

/** Analyses a matrix with sorted rows and a complete diagonal, and factorises
 * it, as csrilu02_analysis with csrilu02 and two csrsv2_analysis. A is not
 * overwritten. Waits.
 * @returns faults of the matrix, STRATA_ERROR_FACTORIZATION,
 *   STRATA_ERROR_INDEFINITE, STRATA_ERROR_NOT_HERMITIAN, STRATA_ERROR_OPTION,
 *   STRATA_ERROR_PLAN_MEMORY, STRATA_ERROR_MEMORY
 *
 * Cost: the analyses of two triangles, of four with `transpose`, and the
 * elimination. */
strata_status strata_factorization_create(strata_factorization* factors,
                                          strata_matrix matrix,
                                          strata_factors kind,
                                          strata_options options, void* stream);

/** x = op(L U)^-1 b: two triangular solves in one call. Arguments and errors of
 * strata_triangular_solve(); op other than STRATA_NO_TRANSPOSE needs the option
 * `transpose`. */
strata_status strata_factorization_solve(strata_factorization factors,
                                         strata_op op, const void* b,
                                         int64_t ldb, void* x, int64_t ldx,
                                         int64_t nrhs, strata_layout layout,
                                         void* stream);

/** Factorises new values of a matrix with the analysed pattern. Waits.
 * @returns STRATA_ERROR_PATTERN_MISMATCH and what
 *   strata_factorization_create() returns of values: the old factors stay
 *
 * Cost: passes over A, and the elimination; no analysis. */
strata_status strata_factorization_update_values(strata_factorization factors,
                                                 strata_matrix matrix,
                                                 void* stream);

/** See strata_triangular_enqueue_values() and strata_triangular_fault(). */
strata_status strata_factorization_enqueue_values(strata_factorization factors,
                                                  const void* values,
                                                  void* stream);
strata_status strata_factorization_fault(strata_factorization factors,
                                         strata_fault* fault, int64_t* row,
                                         void* stream);

/** Entries of L (STRATA_LOWER) or U (STRATA_UPPER), the diagonal included. */
strata_status strata_factorization_entries(strata_factorization factors,
                                           strata_uplo factor,
                                           int64_t* entries);
/** Copies L, with the ones of its diagonal as the last entry of each row, or U,
 * with its diagonal as the first, to arrays of rows + 1,
 * strata_factorization_entries() and as many elements. Waits.
 * @param factors in the natural order
 * @param factor STRATA_LOWER or STRATA_UPPER
 * @param row_map,columns written, of type `index`, counted from `index_base`
 * @param values written, of the matrix's scalar
 * @param index,index_base,memory of the arrays
 * @param stream where the copies are made */
strata_status strata_factorization_copy(strata_factorization factors,
                                        strata_uplo factor, void* row_map,
                                        void* columns, void* values,
                                        strata_index index, int index_base,
                                        strata_memory memory, void* stream);

/** See strata_triangular_share(): for the natural order. */
strata_status strata_factorization_share(strata_factorization factors,
                                         strata_factorization* shared,
                                         void* stream);
/** See strata_triangular_report(). */
strata_status strata_factorization_report(strata_factorization factors,
                                          const char** text);
strata_status strata_factorization_destroy(strata_factorization factors);
/**@}*/

/** @name Krylov methods */
/**@{*/

/** Copies a matrix and makes the workspace of a method. Rows need not be
 * sorted. Waits. */
strata_status strata_krylov_create(strata_krylov* solver, strata_matrix matrix,
                                   strata_method method, strata_options options,
                                   void* stream);

/** Solves A x = b, for one right-hand side, from the x given. Waits.
 * @param solver made for A
 * @param preconditioner of the same scalar and memory, or NULL
 * @param b,x contiguous, in the memory where solves run, and apart
 * @param status how it ended: look at it, since STRATA_SUCCESS does not mean
 *   that the method has converged
 * @param iterations their number; may be NULL
 * @param residual_norm 2-norm of b - A x; may be NULL
 * @param stream where the work is enqueued
 * @returns STRATA_ERROR_OPTION for a preconditioner of other types,
 *   STRATA_ERROR_ALIAS before x is written; STRATA_ERROR_MEMORY, after which x
 *   is some iterate */
strata_status strata_krylov_solve(strata_krylov solver,
                                  strata_factorization preconditioner,
                                  const void* b, void* x,
                                  strata_krylov_status* status, int* iterations,
                                  double* residual_norm, void* stream);

/** New values on the same pattern. The preconditioner is a handle of its own.
 */
strata_status strata_krylov_update_values(strata_krylov solver,
                                          strata_matrix matrix, void* stream);
strata_status strata_krylov_destroy(strata_krylov solver);
/**@}*/

#ifdef __cplusplus
}
#endif

#endif
