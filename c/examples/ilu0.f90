! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
! A fixed-point loop with ILU(0), x = x + (L U)^-1 (b - A x), for two right-hand
! sides at once. The matrix is that of 1-D diffusion with convection and
! reaction, and its indices count from 1. The right-hand sides make every unknown
! of the first system 1 and of the second its number.
program ilu0
  use strata
  implicit none
  integer, parameter :: n = 2000, most = 200
  integer(c_int), target :: row_map(n + 1), columns(5 * n)
  real(c_double), target :: values(5 * n), x(n, 2), b(n, 2), r(n, 2), z(n, 2)
  type(c_ptr) :: matrix, options, factors, report
  integer :: i, entries, iterations
  real(c_double) :: error, first

  ! Five diagonals, of which ILU(0) drops the fill.
  entries = 0
  row_map(1) = 1
  do i = 1, n
    if (i > 40) call add(i - 40, -1.0d0)
    if (i > 1) call add(i - 1, -1.25d0)
    call add(i, 5.0d0)
    if (i < n) call add(i + 1, -0.75d0)
    if (i <= n - 40) call add(i + 40, -1.0d0)
    row_map(i + 1) = entries + 1
  end do

  ! Options are set by name; c_null_ptr would stand for the defaults.
  call check(strata_options_create(options))
  call check(strata_options_set(options, 'max_right_hand_sides', 2))
  call check(strata_options_set(options, 'accuracy', 'componentwise'))

  ! cusparseXcsrilu02_bufferSize, _analysis and csrilu02, and the analyses of
  ! csrsv2 for both factors. NULL as the last argument is the default stream.
  call check(strata_matrix_create(matrix, int(n, c_int64_t), int(entries, c_int64_t), &
    c_loc(row_map), c_loc(columns), c_loc(values), STRATA_INT32, STRATA_INT32, 1, &
    STRATA_DOUBLE, STRATA_HOST))
  call check(strata_factorization_create(factors, matrix, STRATA_INCOMPLETE_LU, options, &
    c_null_ptr))
  call check(strata_options_destroy(options))

  x(:, 1) = 1
  x(:, 2) = [(real(i, c_double), i = 1, n)]
  call residual(0.0d0)
  b = -r
  x = 0
  first = norm2(b)
  do iterations = 0, most
    call residual(1.0d0)
    if (norm2(r) <= 1.0d-12 * first) exit
    ! csrsv2_solve with L, then with U.
    call check(strata_factorization_solve(factors, STRATA_NO_TRANSPOSE, c_loc(r), &
      int(n, c_int64_t), c_loc(z), int(n, c_int64_t), 2_c_int64_t, STRATA_COLUMN_MAJOR, &
      c_null_ptr))
    x = x + z
  end do

  error = max(maxval(abs(x(:, 1) - 1)), &
    maxval(abs(x(:, 2) - [(real(i, c_double), i = 1, n)])) / n)
  call check(strata_factorization_report(factors, report))
  print '(a)', strata_text(report)
  print '(i0, a, i0, a, es8.1)', n, ' rows, ', iterations, ' iterations, largest error ', error

  call check(strata_factorization_destroy(factors))
  call check(strata_matrix_destroy(matrix))
  call check(strata_finalize())
  if (iterations > 100 .or. error > 1.0d-9) error stop 'the answer is wrong'

contains

  subroutine add(column, value)
    integer, intent(in) :: column
    real(c_double), intent(in) :: value
    entries = entries + 1
    columns(entries) = column
    values(entries) = value
  end subroutine

  !> r = scale b - A x
  subroutine residual(scale)
    real(c_double), intent(in) :: scale
    integer :: j, k
    do j = 1, 2
      do k = 1, n
        r(k, j) = -dot_product(values(row_map(k):row_map(k + 1) - 1), &
          x(columns(row_map(k):row_map(k + 1) - 1), j))
      end do
    end do
    if (scale > 0) r = r + scale * b
  end subroutine

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status == STRATA_SUCCESS) return
    print '(3a)', strata_text(strata_status_name(status)), ': ', &
      strata_text(strata_last_error())
    error stop 1
  end subroutine
end program
