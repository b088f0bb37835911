# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A triangular solve from Julia with ccall. Handles are Ptr{Cvoid}, enumerations
# Cint. SparseMatrixCSC stores columns: as rows, its arrays are the transpose, so
# that A's lower triangle is passed as an upper one with op = "transpose". Its
# indices count from 1. libstrata_c has to be a shared library (docs/c.md).
using SparseArrays, Test

const lib = "libstrata_c"
const STRATA_INT64, STRATA_DOUBLE, STRATA_HOST = Cint(1), Cint(1), Cint(0)
const STRATA_UPPER, STRATA_NON_UNIT, STRATA_COLUMN_MAJOR = Cint(1), Cint(0), Cint(0)

check(status::Cint) = status == 0 ||
    error(unsafe_string(ccall((:strata_last_error, lib), Cstring, ())))

A = sparse([1, 2, 2], [1, 1, 2], [2.0, -1.0, 2.0])
b, x = [2.0, 1.0], zeros(2)
matrix, options, solver = Ref(C_NULL), Ref(C_NULL), Ref(C_NULL)

GC.@preserve A begin
    check(ccall((:strata_matrix_create, lib), Cint,
        (Ref{Ptr{Cvoid}}, Int64, Int64, Ptr{Int64}, Ptr{Int64}, Ptr{Float64},
         Cint, Cint, Cint, Cint, Cint),
        matrix, size(A, 1), nnz(A), A.colptr, A.rowval, A.nzval,
        STRATA_INT64, STRATA_INT64, 1, STRATA_DOUBLE, STRATA_HOST))
    check(ccall((:strata_options_create, lib), Cint, (Ref{Ptr{Cvoid}},), options))
    check(ccall((:strata_options_set_text, lib), Cint, (Ptr{Cvoid}, Cstring, Cstring),
        options[], "op", "transpose"))
    check(ccall((:strata_triangular_create, lib), Cint,
        (Ref{Ptr{Cvoid}}, Ptr{Cvoid}, Cint, Cint, Ptr{Cvoid}, Ptr{Cvoid}),
        solver, matrix[], STRATA_UPPER, STRATA_NON_UNIT, options[], C_NULL))
end
# As often as you like.
check(ccall((:strata_triangular_solve, lib), Cint,
    (Ptr{Cvoid}, Ptr{Float64}, Int64, Ptr{Float64}, Int64, Int64, Cint, Ptr{Cvoid}),
    solver[], b, length(b), x, length(x), 1, STRATA_COLUMN_MAJOR, C_NULL))
@test x == [1.0, 1.0]
check(ccall((:strata_finalize, lib), Cint, ()))
