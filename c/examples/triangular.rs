// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A triangular solve from Rust: declare what you call of strata.h. Enumerations
// are i32, handles pointers that are never followed. To build, with a shared
// library (docs/c.md):
//   rustc triangular.rs -L PREFIX/lib -l strata_c
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::ptr::null_mut;

type Handle = *mut c_void;

extern "C" {
    fn strata_matrix_create(
        matrix: *mut Handle, rows: i64, entries: i64, row_map: *const c_void,
        columns: *const c_void, values: *const c_void, row_map_type: i32, columns_type: i32,
        index_base: i32, scalar: i32, memory: i32,
    ) -> i32;
    fn strata_matrix_destroy(matrix: Handle) -> i32;
    fn strata_triangular_create(
        solver: *mut Handle, matrix: Handle, uplo: i32, diag: i32, options: Handle,
        stream: *mut c_void,
    ) -> i32;
    fn strata_triangular_solve(
        solver: Handle, b: *const c_void, ldb: i64, x: *mut c_void, ldx: i64, nrhs: i64,
        layout: i32, stream: *mut c_void,
    ) -> i32;
    fn strata_last_error() -> *const c_char;
    fn strata_finalize() -> i32;
}
const INT64: i32 = 1; // STRATA_INT64
const DOUBLE: i32 = 1; // STRATA_DOUBLE
const HOST: i32 = 0; // STRATA_HOST
const LOWER: i32 = 0; // STRATA_LOWER
const NON_UNIT: i32 = 0; // STRATA_NON_UNIT
const COLUMN_MAJOR: i32 = 0; // STRATA_COLUMN_MAJOR

fn check(status: i32) {
    if status != 0 {
        panic!("{}", unsafe { CStr::from_ptr(strata_last_error()) }.to_string_lossy());
    }
}

fn main() {
    // [2 0; -1 2] x = (2, 1)
    let (row_map, columns) = ([0i64, 1, 3], [0i64, 0, 1]);
    let (values, b, mut x) = ([2.0f64, -1.0, 2.0], [2.0f64, 1.0], [0.0f64; 2]);
    let (mut matrix, mut solver): (Handle, Handle) = (null_mut(), null_mut());
    // The library reads and writes the arrays during these calls alone.
    unsafe {
        check(strata_matrix_create(
            &mut matrix, 2, 3, row_map.as_ptr().cast(), columns.as_ptr().cast(),
            values.as_ptr().cast(), INT64, INT64, 0, DOUBLE, HOST,
        ));
        check(strata_triangular_create(
            &mut solver, matrix, LOWER, NON_UNIT, null_mut(), null_mut(),
        ));
        check(strata_matrix_destroy(matrix));
        check(strata_triangular_solve(
            solver, b.as_ptr().cast(), 2, x.as_mut_ptr().cast(), 2, 1, COLUMN_MAJOR, null_mut(),
        ));
        check(strata_finalize());
    }
    assert_eq!(x, [1.0, 1.0]);
    println!("x = {:?}", x);
}
