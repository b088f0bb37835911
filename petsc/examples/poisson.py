# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Poisson's equation on a square by petsc4py, with the factors of strata:

    mpiexec -n 2 python3 poisson.py -dll_append /path/to/libpetscstrata.so -ksp_view
"""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # after init, which reads the options

options = PETSc.Options()
for name, value in (("mat_type", "aijkokkos"), ("pc_type", "bjacobi"), ("sub_pc_type", "ilu"),
                    ("sub_pc_factor_mat_solver_type", "strata")):
    if name not in options:
        options[name] = value
n = options.getInt("n", 100)

A = PETSc.Mat().create()
A.setSizes(n * n)
A.setFromOptions()
A.setPreallocationNNZ(5)
for row in range(*A.getOwnershipRange()):
    A[row, row] = 4
    for column, inside in ((row - n, row >= n), (row + n, row + n < n * n),
                           (row - 1, row % n > 0), (row + 1, row % n < n - 1)):
        if inside:
            A[row, column] = -1
A.assemble()

x, b = A.createVecs()
b.set(1)
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setFromOptions()
for scale in (1, 2):  # the second time, new values: no analysis
    A.scale(scale)
    ksp.solve(b, x)
    residual = (b - A * x).norm() / b.norm()
    PETSc.Sys.Print("%d iterations, ||b - A x|| / ||b|| = %.1e" % (ksp.its, residual))
sys.exit(0 if ksp.reason > 0 else 1)
