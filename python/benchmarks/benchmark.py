#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the package beside SciPy and, where there is a GPU with CuPy, beside CuPy.

    python benchmark.py [--peer scipy|cupy] [--what WHAT ...] [--repeats N]
                        [--output FILE.json|FILE.csv] [MATRIX.mtx[.gz] ...]

WHAT, all by default:

  krylov    factorisation and solve to 1e-8 by the peer's own Krylov method, with
            strata.ilu0, the peer's spilu(A, fill_factor=1) and its default spilu
  call      one call of TriangularSolver.solve, and the same of the extension's method:
            the difference is what Python costs
  once      strata.spsolve_triangular beside SciPy's, on host arrays; no plan is reused

Without matrices it takes Laplacians of squares and cubes, and one with a wind.  A time is
the median of the repeats, of the processor's time of the calling process for `once` and
of elapsed time otherwise.  Answers are checked: a wrong one ends the program with code 2.
The last lines are geometric means of the ratios peer / Strata.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import statistics
import sys
import time

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import strata_solvers as strata


def laplacian(sizes, wind=0.0):
    """-Laplace with a first derivative along the first axis, on a grid."""
    A = sp.csr_array((1, 1), dtype="float64")
    for axis, k in enumerate(sizes):
        w = wind if axis == 0 else 0.0
        T = sp.diags_array([-1.0 - w, 2.0 + w, -1.0], offsets=[-1, 0, 1], shape=(k, k))
        A = sp.kron(A, sp.eye_array(k)) + sp.kron(sp.eye_array(A.shape[0]), T)
    A = sp.csr_array(A)
    A.eliminate_zeros()
    A.sort_indices()
    return A


def matrices(files, small):
    if files:
        for path in files:
            A = sp.csr_array(scipy.io.mmread(path)).astype("float64")
            A.sort_indices()
            yield pathlib.Path(path).name, A
        return
    k = 4 if small else 1
    yield "square", laplacian([400 // k, 400 // k])
    yield "cube", laplacian([60 // k] * 3)
    yield "cube with wind", laplacian([60 // k] * 3, wind=0.5)


class Scipy:
    name, module, linalg = "scipy", sp, spla

    matrix = staticmethod(lambda A: sp.csr_matrix(A))
    array = host = staticmethod(lambda x: x)
    wait = staticmethod(lambda: None)

    @staticmethod
    def tolerances(rtol):
        return {"rtol": rtol}


class Cupy:
    name = "cupy"

    def __init__(self):
        import cupy
        import cupyx.scipy.sparse
        import cupyx.scipy.sparse.linalg

        self._cupy, self.module = cupy, cupyx.scipy.sparse
        self.linalg = cupyx.scipy.sparse.linalg

    def matrix(self, A):
        return self.module.csr_matrix(sp.csr_matrix(A))

    def array(self, x):
        return self._cupy.asarray(x)

    def host(self, x):
        return self._cupy.asnumpy(x)

    def wait(self):
        self._cupy.cuda.get_current_stream().synchronize()

    @staticmethod
    def tolerances(rtol):
        return {"tol": rtol}


def median(function, repeats, clock=time.perf_counter, wait=lambda: None):
    """Of the seconds that a call takes, and what the last one returned."""
    times, made = [], None
    for _ in range(repeats):
        wait()
        begin = clock()
        made = function()
        wait()
        times.append(clock() - begin)
    return statistics.median(times), made


def krylov(peer, name, A, repeats, rows):
    n = A.shape[0]
    of = peer.matrix(A)
    wanted = np.random.default_rng(1).random(n)
    b_host = A @ wanted
    b = peer.array(b_host)
    hermitian = abs(A - A.T).max() == 0
    method = "cg" if hermitian else "gmres"

    def operator(solve):
        return peer.linalg.LinearOperator((n, n), solve, dtype=of.dtype)

    def with_spilu(**options):
        # The peers' factorisations are of CSC; theirs convert a CSR matrix themselves.
        def make():
            csc = of if peer.name == "cupy" else of.tocsc()
            return operator(peer.linalg.spilu(csc, **options).solve)

        return make

    makers = {
        "strata.ilu0": lambda: strata.ilu0(of),
        "spilu(fill_factor=1)": with_spilu(fill_factor=1),
        "spilu()": with_spilu(),
    }
    for label, make in makers.items():
        calls = [0]

        def solve(M, calls=calls):
            calls[0] = 0

            def count(_):
                calls[0] += 1

            more = {"restart": 30} if method == "gmres" else {}
            if method == "gmres":
                more["callback_type"] = "pr_norm"
            return getattr(peer.linalg, method)(
                of, b, M=M, maxiter=2000, callback=count, **peer.tolerances(1e-8), **more)

        row = {"what": "krylov", "matrix": name, "rows": n, "entries": A.nnz,
               "peer": peer.name, "method": method, "case": label}
        try:
            first, M = median(make, 1, wait=peer.wait)
            factor, M = median(make, repeats, wait=peer.wait)
            solution, (x, info) = median(lambda: solve(M), repeats, wait=peer.wait)
        except Exception as error:
            rows.append({**row, "failed": f"{type(error).__name__}: {error}"})
            continue
        residual = float(np.linalg.norm(A @ peer.host(x) - b_host) / np.linalg.norm(b_host))
        rows.append({**row, "first_factor_s": first, "factor_s": factor, "solve_s": solution,
                     "total_s": factor + solution, "iterations": calls[0],
                     "converged": int(info) == 0, "residual": residual})


def call(peer, name, A, repeats, rows):
    """What a call costs over the extension's, on a triangle and on a single row."""
    for case, L in ((name, sp.csr_array(sp.tril(A))), ("one row", sp.eye_array(1).tocsr())):
        solver = strata.TriangularSolver(peer.matrix(L), algorithm="automatic")
        b = peer.array(np.ones(L.shape[0]))
        out = b.copy()
        stream = strata._arrays.stream_of(b)
        many = 200 if L.shape[0] == 1 else 20

        def ours():
            for _ in range(many):
                solver.solve(b, out)

        def inner():
            for _ in range(many):
                solver._core.solve(b, out, stream)

        # Enqueued, not waited for: what is measured is the caller's time.
        pairs = [(median(ours, 1, wait=peer.wait)[0], median(inner, 1, wait=peer.wait)[0])
                 for _ in range(3 * repeats)]
        python = statistics.median(a for a, _ in pairs) / many
        extension = statistics.median(c for _, c in pairs) / many
        rows.append({"what": "call", "matrix": case, "rows": L.shape[0], "peer": peer.name,
                     "case": "TriangularSolver.solve", "solve_us": 1e6 * python,
                     "extension_us": 1e6 * extension,
                     "overhead_us": 1e6 * (python - extension)})


def once(name, A, repeats, rows):
    import warnings

    for form in ("csr", "csc"):
        for columns in (None, 8):
            for lower in (True, False):
                L = (sp.tril(A) if lower else sp.triu(A)).asformat(form)
                L = getattr(sp, form + "_array")(L)
                L.sort_indices()
                shape = (A.shape[0],) if columns is None else (A.shape[0], columns)
                b = np.random.default_rng(1).random(shape)
                times = {}
                for label, function in (("strata", strata.spsolve_triangular),
                                        ("scipy", spla.spsolve_triangular)):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        times[label], x = median(lambda: function(L, b, lower=lower),
                                                 repeats, time.process_time)
                    error = abs(L @ x - b).max()
                    if not error <= 1e-8 * abs(b).max():
                        rows.append({"what": "once", "matrix": name, "case": label,
                                     "wrong": float(error)})
                rows.append({"what": "once", "matrix": name, "rows": A.shape[0],
                             "entries": L.nnz, "peer": "scipy",
                             "case": f"{form}, {'lower' if lower else 'upper'}, "
                                     f"{columns or 1} right-hand sides",
                             "strata_s": times["strata"], "scipy_s": times["scipy"],
                             "ratio": times["scipy"] / times["strata"]})


def geometric_mean(numbers):
    return float(np.exp(np.mean(np.log(numbers)))) if numbers else float("nan")


def summary(rows):
    lines = []
    cases = [row for row in rows if row["what"] == "krylov" and row.get("converged")]
    ours = {row["matrix"]: row for row in cases if row["case"] == "strata.ilu0"}
    for label in ("spilu(fill_factor=1)", "spilu()"):
        theirs = [row for row in cases if row["case"] == label and row["matrix"] in ours]
        ratios = [row["total_s"] / ours[row["matrix"]]["total_s"] for row in theirs]
        lines.append(f"total time, {label} / strata.ilu0: {geometric_mean(ratios):.2f} "
                     f"({len(ratios)} matrices that both solve)")
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        lines.append(f"spsolve_triangular, scipy / strata: {geometric_mean(ratios):.2f}, "
                     f"least {min(ratios):.2f}")
    overheads = [row["overhead_us"] for row in rows if "overhead_us" in row]
    if overheads:
        lines.append(f"a call of solve over the extension's: at most {max(overheads):.1f} us")
    return lines


def write(path, rows):
    if path.suffix == ".json":
        path.write_text(json.dumps(rows, indent=1) + "\n")
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=["scipy", "cupy"], default="scipy")
    parser.add_argument("--what", nargs="+", choices=["krylov", "call", "once"],
                        default=["krylov", "call", "once"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="small matrices, for a test")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("matrix", nargs="*")
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats has to be 1 at least")
    peer = Cupy() if arguments.peer == "cupy" else Scipy()
    rows = []
    for name, A in matrices(arguments.matrix, arguments.small):
        before = len(rows)
        if "krylov" in arguments.what:
            krylov(peer, name, A, arguments.repeats, rows)
        if "call" in arguments.what:
            call(peer, name, A, arguments.repeats, rows)
        if "once" in arguments.what:
            once(name, A, arguments.repeats, rows)
        for row in rows[before:]:
            print("  ".join(f"{key} {value:.4g}" if isinstance(value, float) else
                            f"{key} {value}" for key, value in row.items()), flush=True)
    print("\n".join(summary(rows)))
    if arguments.output:
        write(arguments.output, rows)
    wrong = [row for row in rows if "wrong" in row or
             (row.get("converged") and not row["residual"] < 1e-6)]
    if wrong:
        sys.exit(2)


if __name__ == "__main__":
    main()
