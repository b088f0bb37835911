! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
!> The functions of strata.h for Fortran 2003: its comments describe them.
!!
!! Handles, arrays and streams are type(c_ptr): pass c_loc(x) of a contiguous
!! array with the attribute target, a device pointer, or c_null_ptr. Matrices
!! whose indices count from 1 need index_base = 1.
module strata
  use, intrinsic :: iso_c_binding
  implicit none
  public

  enum, bind(c)
    enumerator :: strata_success = 0
    enumerator :: strata_error = 1
    enumerator :: strata_error_null_pointer = 2
    enumerator :: strata_error_handle = 3
    enumerator :: strata_error_option = 4
    enumerator :: strata_error_size_mismatch = 5
    enumerator :: strata_error_alias = 6
    enumerator :: strata_error_index_overflow = 7
    enumerator :: strata_error_memory = 8
    enumerator :: strata_error_plan_memory = 9
    enumerator :: strata_error_matrix = 10
    enumerator :: strata_error_row_map = 11
    enumerator :: strata_error_column_range = 12
    enumerator :: strata_error_unsorted_row = 13
    enumerator :: strata_error_duplicate_entry = 14
    enumerator :: strata_error_wrong_triangle = 15
    enumerator :: strata_error_missing_diagonal = 16
    enumerator :: strata_error_zero_diagonal = 17
    enumerator :: strata_error_scaling = 18
    enumerator :: strata_error_factorization = 19
    enumerator :: strata_error_precision = 20
    enumerator :: strata_error_not_hermitian = 21
    enumerator :: strata_error_indefinite = 22
    enumerator :: strata_error_pattern_mismatch = 23
    enumerator :: strata_float = 0
    enumerator :: strata_double = 1
    enumerator :: strata_complex_float = 2
    enumerator :: strata_complex_double = 3
    enumerator :: strata_int32 = 0
    enumerator :: strata_int64 = 1
    enumerator :: strata_host = 0
    enumerator :: strata_device = 1
    enumerator :: strata_lower = 0
    enumerator :: strata_upper = 1
    enumerator :: strata_non_unit = 0
    enumerator :: strata_unit = 1
    enumerator :: strata_no_transpose = 0
    enumerator :: strata_transpose = 1
    enumerator :: strata_conjugate_transpose = 2
    enumerator :: strata_column_major = 0
    enumerator :: strata_row_major = 1
    enumerator :: strata_incomplete_cholesky = 0
    enumerator :: strata_incomplete_lu = 1
    enumerator :: strata_incomplete_ldlh = 2
    enumerator :: strata_incomplete_ldlt = 3
    enumerator :: strata_conjugate_gradient = 0
    enumerator :: strata_gmres = 1
    enumerator :: strata_bicgstab = 2
    enumerator :: strata_converged = 0
    enumerator :: strata_max_iterations = 1
    enumerator :: strata_breakdown = 2
    enumerator :: strata_indefinite_matrix = 3
    enumerator :: strata_indefinite_preconditioner = 4
    enumerator :: strata_not_finite = 5
    enumerator :: strata_stagnated = 6
    enumerator :: strata_diverged = 7
    enumerator :: strata_fault_none = 0
    enumerator :: strata_fault_zero_diagonal = 1
    enumerator :: strata_fault_zero_pivot = 2
    enumerator :: strata_fault_not_finite = 3
    enumerator :: strata_fault_not_hermitian = 4
    enumerator :: strata_fault_not_positive = 5
  end enum

  !> Sets an option from text or numbers of any kind.
  interface strata_options_set
    module procedure set_text, set_real, set_integer, set_integer64
  end interface
  private :: set_text, set_real, set_integer, set_integer64

  interface
    function strata_version() bind(c) result(found)
      import :: c_int
      integer(c_int) :: found
    end function
    function strata_initialize() bind(c) result(status)
      import :: c_int
      integer(c_int) :: status
    end function
    function strata_finalize() bind(c) result(status)
      import :: c_int
      integer(c_int) :: status
    end function
    function strata_status_name(status) bind(c) result(found)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: found
    end function
    function strata_last_error() bind(c) result(found)
      import :: c_ptr
      type(c_ptr) :: found
    end function
    function strata_last_error_row() bind(c) result(found)
      import :: c_int64_t
      integer(c_int64_t) :: found
    end function
    function strata_options_create(options) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: options
      integer(c_int) :: status
    end function
    function strata_options_set_integer(options, name, value) bind(c) result(status)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: value
      integer(c_int) :: status
    end function
    function strata_options_set_real(options, name, value) bind(c) result(status)
      import :: c_char, c_double, c_int, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: value
      integer(c_int) :: status
    end function
    function strata_options_set_text(options, name, value) bind(c) result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in) :: value(*)
      integer(c_int) :: status
    end function
    function strata_options_destroy(options) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: options
      integer(c_int) :: status
    end function
    function strata_matrix_create(matrix, rows, entries, row_map, columns, values, &
        row_map_type, columns_type, index_base, scalar, memory) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), intent(out) :: matrix
      integer(c_int64_t), value :: rows, entries
      type(c_ptr), value :: row_map, columns, values
      integer(c_int), value :: row_map_type, columns_type, index_base, scalar, memory
      integer(c_int) :: status
    end function
    function strata_matrix_set_values(matrix, values) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: matrix, values
      integer(c_int) :: status
    end function
    function strata_matrix_destroy(matrix) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: matrix
      integer(c_int) :: status
    end function
    function strata_triangular_create(solver, matrix, uplo, diag, options, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: solver
      type(c_ptr), value :: matrix
      integer(c_int), value :: uplo, diag
      type(c_ptr), value :: options, stream
      integer(c_int) :: status
    end function
    function strata_triangular_solve(solver, b, ldb, x, ldx, nrhs, layout, &
        stream) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: solver, b
      integer(c_int64_t), value :: ldb
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx, nrhs
      integer(c_int), value :: layout
      type(c_ptr), value :: stream
      integer(c_int) :: status
    end function
    function strata_triangular_update_values(solver, matrix, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver, matrix, stream
      integer(c_int) :: status
    end function
    function strata_triangular_update_pattern(solver, matrix, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver, matrix, stream
      integer(c_int) :: status
    end function
    function strata_triangular_enqueue_values(solver, values, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver, values, stream
      integer(c_int) :: status
    end function
    function strata_triangular_fault(solver, fault, row, stream) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: solver
      integer(c_int), intent(out) :: fault
      integer(c_int64_t), intent(out) :: row
      type(c_ptr), value :: stream
      integer(c_int) :: status
    end function
    function strata_triangular_share(solver, shared, stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      type(c_ptr), intent(out) :: shared
      type(c_ptr), value :: stream
      integer(c_int) :: status
    end function
    function strata_triangular_report(solver, text) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    function strata_triangular_destroy(solver) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      integer(c_int) :: status
    end function
    function strata_factorization_create(factors, matrix, kind, options, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: factors
      type(c_ptr), value :: matrix
      integer(c_int), value :: kind
      type(c_ptr), value :: options, stream
      integer(c_int) :: status
    end function
    function strata_factorization_solve(factors, op, b, ldb, x, ldx, nrhs, layout, &
        stream) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: factors
      integer(c_int), value :: op
      type(c_ptr), value :: b
      integer(c_int64_t), value :: ldb
      type(c_ptr), value :: x
      integer(c_int64_t), value :: ldx, nrhs
      integer(c_int), value :: layout
      type(c_ptr), value :: stream
      integer(c_int) :: status
    end function
    function strata_factorization_update_values(factors, matrix, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: factors, matrix, stream
      integer(c_int) :: status
    end function
    function strata_factorization_enqueue_values(factors, values, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: factors, values, stream
      integer(c_int) :: status
    end function
    function strata_factorization_fault(factors, fault, row, &
        stream) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: factors
      integer(c_int), intent(out) :: fault
      integer(c_int64_t), intent(out) :: row
      type(c_ptr), value :: stream
      integer(c_int) :: status
    end function
    function strata_factorization_entries(factors, factor, &
        entries) bind(c) result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: factors
      integer(c_int), value :: factor
      integer(c_int64_t), intent(out) :: entries
      integer(c_int) :: status
    end function
    function strata_factorization_copy(factors, factor, row_map, columns, values, &
        index, index_base, memory, stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: factors
      integer(c_int), value :: factor
      type(c_ptr), value :: row_map, columns, values
      integer(c_int), value :: index, index_base, memory
      type(c_ptr), value :: stream
      integer(c_int) :: status
    end function
    function strata_factorization_share(factors, shared, stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: factors
      type(c_ptr), intent(out) :: shared
      type(c_ptr), value :: stream
      integer(c_int) :: status
    end function
    function strata_factorization_report(factors, text) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: factors
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    function strata_factorization_destroy(factors) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: factors
      integer(c_int) :: status
    end function
    function strata_krylov_create(solver, matrix, method, options, &
        stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: solver
      type(c_ptr), value :: matrix
      integer(c_int), value :: method
      type(c_ptr), value :: options, stream
      integer(c_int) :: status
    end function
    function strata_krylov_solve(solver, preconditioner, b, x, status, iterations, &
        residual_norm, stream) bind(c) result(returned)
      import :: c_double, c_int, c_ptr
      type(c_ptr), value :: solver, preconditioner, b, x
      integer(c_int), intent(out) :: status, iterations
      real(c_double), intent(out) :: residual_norm
      type(c_ptr), value :: stream
      integer(c_int) :: returned
    end function
    function strata_krylov_update_values(solver, matrix, stream) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver, matrix, stream
      integer(c_int) :: status
    end function
    function strata_krylov_destroy(solver) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: solver
      integer(c_int) :: status
    end function
  end interface

contains

  !> A text of C, such as that of a report, as one of Fortran.
  function strata_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(:), allocatable :: copy
    character(kind=c_char), pointer :: characters(:)
    interface
      function strlen(text) bind(c) result(length)
        import :: c_ptr, c_size_t
        type(c_ptr), value :: text
        integer(c_size_t) :: length
      end function
    end interface
    integer :: k
    call c_f_pointer(text, characters, [strlen(text)])
    allocate (character(size(characters)) :: copy)
    do k = 1, size(characters)
      copy(k:k) = characters(k)
    end do
  end function

  function set_text(options, name, value) result(status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name, value
    integer(c_int) :: status
    status = strata_options_set_text(options, trim(name)//c_null_char, trim(value)//c_null_char)
  end function

  function set_real(options, name, value) result(status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer(c_int) :: status
    status = strata_options_set_real(options, trim(name)//c_null_char, value)
  end function

  function set_integer(options, name, value) result(status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: value
    integer(c_int) :: status
    status = set_integer64(options, name, int(value, c_int64_t))
  end function

  function set_integer64(options, name, value) result(status)
    type(c_ptr), intent(in) :: options
    character(*), intent(in) :: name
    integer(c_int64_t), intent(in) :: value
    integer(c_int) :: status
    status = strata_options_set_integer(options, trim(name)//c_null_char, value)
  end function

end module
