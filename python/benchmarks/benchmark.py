#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the package beside SciPy and, where there is a GPU with CuPy, beside CuPy.

    python benchmark.py [--peer scipy|cupy] [--what WHAT ...] [--repeats N] [--limit SECONDS]
                        [--total SECONDS] [--output FILE.json|FILE.csv] [MATRIX ...]

WHAT, all by default:

  krylov    factorisation and solve to 1e-8 by the peer's own Krylov method, with
            strata.ilu0, the peer's spilu(A, fill_factor=1) and its default spilu
  call      one call of TriangularSolver.solve, and one of the C++ library's solve
            without Python: the difference is what Python costs
  once      strata.spsolve_triangular beside SciPy's, on host arrays; no plan is reused

MATRIX is a Matrix Market file (.mtx or .mtx.gz), or square:K, cube:K or windy_cube:K: a
Laplacian on K x K or K x K x K points, in a wind or not.  A file of a graph, without
values, stands for its Laplacian plus one on the diagonal.

A time is the median of the repeats, of the processor's time of the calling process for
`once` and of elapsed time otherwise.  Iterations are applications of M.  Each case has --limit seconds, and all of them have
--total; what takes longer is ended, and says so.  Answers are checked: a wrong one ends the
program with code 2.  The last lines are geometric means of the ratios peer / Strata, over
the matrices that both solve.
"""

from __future__ import annotations

import argparse
import csv
import functools
import gzip
import inspect
import json
import multiprocessing
import pathlib
import statistics
import sys
import time
import warnings

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.linalg as spla

import strata_solvers as strata

MOST_ITERATIONS = 2000
RESTART = 30


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


def from_file(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        is_graph = " pattern " in file.readline()
    A = sp.csr_array(scipy.io.mmread(path)).astype("float64")
    if is_graph:
        A.setdiag(0)
        A.eliminate_zeros()
        A = sp.csr_array(sp.diags_array(A.sum(axis=1) + 1) - A)
    # Zeros on the diagonal are stored: factorisations want it complete.
    A = sp.csr_array(A + sp.diags_array(np.zeros(A.shape[0])))
    A.sort_indices()
    return A


@functools.lru_cache(maxsize=1)
def matrix(name):
    """In CSR format, with indices of 32 bits."""
    kind, _, size = name.partition(":")
    if size and kind in ("square", "cube", "windy_cube"):
        A = laplacian([int(size)] * (2 if kind == "square" else 3),
                      0.5 if kind == "windy_cube" else 0.0)
    else:
        A = from_file(name)
    A.indptr, A.indices = A.indptr.astype("int32"), A.indices.astype("int32")
    return A


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

    def tolerances(self, rtol):
        # CuPy 13 and older call it tol.
        known = inspect.signature(self.linalg.gmres).parameters
        return {"rtol" if "rtol" in known else "tol": rtol}


def median(function, repeats, clock=time.perf_counter, wait=lambda: None, limit=np.inf):
    """Of the seconds that a call takes, and what the last one returned; fewer repeats where
    they would take longer than `limit`."""
    times, made = [], None
    end = time.perf_counter() + limit
    for _ in range(repeats):
        wait()
        begin = clock()
        made = function()
        wait()
        times.append(clock() - begin)
        if time.perf_counter() + times[-1] > end:
            break
    return statistics.median(times), made


KRYLOV_CASES = {
    "strata.ilu0": None,
    "spilu(fill_factor=1)": {"fill_factor": 1},
    "spilu()": {},
}


def krylov(peer, name, label, repeats, limit):
    A = matrix(name)
    n = A.shape[0]
    of = peer.matrix(A)
    wanted = np.random.default_rng(1).random(n)
    b_host = A @ wanted
    b = peer.array(b_host)
    method = "cg" if abs(A - A.T).max() <= 1e-12 * abs(A).max() else "gmres"
    options = KRYLOV_CASES[label]

    def make():
        if options is None:
            return strata.ilu0(of)
        # The peers' factorisations are of CSC; CuPy's converts a CSR matrix itself.
        factors = peer.linalg.spilu(of if peer.name == "cupy" else of.tocsc(), **options)
        return peer.linalg.LinearOperator((n, n), factors.solve, dtype=of.dtype)

    def solve(M):
        return getattr(peer.linalg, method)(
            of, b, M=M, maxiter=most, **peer.tolerances(1e-8),
            **({"restart": RESTART} if method == "gmres" else {}))

    def iterations(M):
        """Of the methods, in terms of how often they apply M: CuPy's call back once a
        cycle."""
        calls = [0]

        def apply(r):
            calls[0] += 1
            return M.matvec(r)

        solve(peer.linalg.LinearOperator((n, n), apply, dtype=of.dtype))
        return calls[0]

    # SciPy's GMRES counts cycles.
    most = MOST_ITERATIONS
    if method == "gmres" and peer.name == "scipy":
        most //= RESTART
    row = {"what": "krylov", "matrix": name, "rows": n, "entries": A.nnz,
           "peer": peer.name, "method": method, "case": label}
    quarter = limit / 4
    first, M = median(make, 1, wait=peer.wait)
    factor = first
    if first < quarter:
        factor, M = median(make, repeats, wait=peer.wait, limit=quarter)
    # This one compiles kernels, too.
    applications = iterations(M)
    solution, (x, info) = median(lambda: solve(M), repeats, wait=peer.wait, limit=quarter)
    residual = float(np.linalg.norm(A @ peer.host(x) - b_host) / np.linalg.norm(b_host))
    return [{**row, "first_factor_s": first, "factor_s": factor, "solve_s": solution,
             "total_s": factor + solution, "iterations": applications,
             "converged": int(info) == 0, "residual": residual}]


def call(peer, name, case, repeats, limit):
    """What a call costs over the library's, on a triangle and on a single row."""
    L = sp.csr_array(sp.tril(matrix(name))) if case == "triangle" else sp.eye_array(1).tocsr()
    L.indptr, L.indices = L.indptr.astype("int32"), L.indices.astype("int32")
    solver = strata.TriangularSolver(peer.matrix(L))
    b = peer.array(np.ones(L.shape[0]))
    out = b.copy()
    stream = strata._arrays.stream_of(b)
    many = 200 if L.shape[0] == 1 else 20

    def ours():
        for _ in range(many):
            solver.solve(b, out)

    # Enqueued, not waited for: what is measured is the caller's time.
    pairs = []
    for _ in range(3 * repeats):
        peer.wait()
        begin = time.perf_counter()
        ours()
        python = (time.perf_counter() - begin) / many
        peer.wait()
        pairs.append((python, solver._core.seconds_of_solve(b, out, many, stream)))
    python, library = (statistics.median(times) for times in zip(*pairs))
    return [{"what": "call", "matrix": name, "rows": L.shape[0], "peer": peer.name,
             "case": f"TriangularSolver.solve, {case}", "solve_us": 1e6 * python,
             "library_us": 1e6 * library,
             "overhead_us": 1e6 * statistics.median(p - c for p, c in pairs)}]


ONCE_CASES = [(form, columns, side) for form in ("csr", "csc") for columns in (1, 8)
              for side in ("lower", "upper")]


def once(peer, name, case, repeats, limit):
    del peer
    form, columns, side = case
    A = matrix(name)
    L = (sp.tril if side == "lower" else sp.triu)(A, format=form)
    L.setdiag(np.where(L.diagonal() == 0, 1, L.diagonal()))
    L.sort_indices()
    # A b for an x of ones: what a triangle of a matrix does to a random b may overflow.
    b = L @ np.ones((A.shape[0], columns))
    b = b[:, 0].copy() if columns == 1 else b
    row = {"what": "once", "matrix": name, "rows": A.shape[0], "entries": L.nnz,
           "peer": "scipy", "case": f"{form}, {side}, {columns} right-hand sides"}
    times, rows = {"strata": [], "scipy": []}, []
    end = time.perf_counter() + limit / 2
    for _ in range(2 * repeats + 1):
        for label, function in (("strata", strata.spsolve_triangular),
                                ("scipy", spla.spsolve_triangular)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds, x = median(lambda: function(L, b, lower=side == "lower"), 1,
                                    time.process_time)
            times[label].append(seconds)
            scale = abs(L) @ abs(x) + abs(b)
            if not (abs(L @ x - b) <= 1e-10 * scale.max()).all():
                rows.append({**row, "case": f"{label}: {row['case']}",
                             "wrong": float(abs(L @ x - b).max())})
        if time.perf_counter() > end:
            break
    ours, theirs = (statistics.median(times[label]) for label in ("strata", "scipy"))
    return [*rows, {**row, "strata_s": ours, "scipy_s": theirs, "ratio": theirs / ours}]


WHAT = {
    "krylov": (krylov, KRYLOV_CASES),
    "call": (call, ["triangle", "one row"]),
    "once": (once, ONCE_CASES),
}

# --- Cases with a limit of time ------------------------------------------------


def work(connection, peer_name):
    """Answers cases until the connection ends: in a process of its own."""
    peer = Cupy() if peer_name == "cupy" else Scipy()
    connection.send("ready")
    while True:
        try:
            what, name, case, repeats, limit = connection.recv()
        except EOFError:
            return
        try:
            rows = WHAT[what][0](peer, name, case, repeats, limit)
        except Exception as error:
            rows = [{"what": what, "matrix": name, "peer": peer.name, "case": str(case),
                     "failed": f"{type(error).__name__}: {error}"}]
        connection.send(rows)


class Worker:
    """A process that answers cases, and is ended where it takes too long."""

    def __init__(self, peer_name):
        self._peer_name, self._process = peer_name, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._end()

    def _begin(self):
        """Imports take seconds, which are no case's."""
        context = multiprocessing.get_context("spawn")
        self._connection, there = context.Pipe()
        self._process = context.Process(target=work, args=(there, self._peer_name), daemon=True)
        self._process.start()
        there.close()
        if not self._connection.poll(120):
            raise EOFError
        self._connection.recv()

    def _end(self):
        if self._process is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._process = None

    def ask(self, what, name, case, repeats, limit):
        row = {"what": what, "matrix": name, "peer": self._peer_name, "case": str(case)}
        try:
            if self._process is None:
                self._begin()
            self._connection.send((what, name, case, repeats, limit))
            if self._connection.poll(limit):
                return self._connection.recv()
            row["failed"] = f"no answer within {limit:.0f} s"
        except (EOFError, OSError):
            row["failed"] = "the process ended"
        self._end()
        return [row]


def geometric_mean(numbers):
    return float(np.exp(np.mean(np.log(numbers)))) if numbers else float("nan")


def summary(rows):
    lines = []
    cases = [row for row in rows if row["what"] == "krylov" and row.get("converged")]
    ours = {row["matrix"]: row for row in cases if row["case"] == "strata.ilu0"}
    for label in ("spilu(fill_factor=1)", "spilu()"):
        theirs = [row for row in cases if row["case"] == label and row["matrix"] in ours]
        if not theirs:
            continue
        for part in ("total_s", "factor_s", "solve_s"):
            ratios = [row[part] / ours[row["matrix"]][part] for row in theirs]
            lines.append(f"{part.removesuffix('_s')} time, {label} / strata.ilu0: "
                         f"{geometric_mean(ratios):.2f}, least {min(ratios):.2f} "
                         f"({len(ratios)} matrices that both solve)")
        more = [100 * (ours[row["matrix"]]["iterations"] / max(1, row["iterations"]) - 1)
                for row in theirs]
        lines.append(f"iterations, strata.ilu0 over {label}: {min(more):+.1f} to "
                     f"{max(more):+.1f} %")
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        lines.append(f"spsolve_triangular, scipy / strata: {geometric_mean(ratios):.2f}, "
                     f"least {min(ratios):.2f}")
    overheads = [row["overhead_us"] for row in rows if "overhead_us" in row]
    if overheads:
        lines.append(f"a call of solve over the library's: at most {max(overheads):.1f} us")
    failed = [row for row in rows if "failed" in row]
    if failed:
        lines.append(f"{len(failed)} cases without an answer")
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
    parser.add_argument("--what", nargs="+", choices=list(WHAT), default=list(WHAT))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--limit", type=float, default=60, help="seconds for each case")
    parser.add_argument("--total", type=float, default=1800, help="seconds for all of them")
    parser.add_argument("--small", action="store_true", help="small matrices, for a test")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("matrix", nargs="*")
    arguments = parser.parse_args()
    if arguments.repeats < 1:
        parser.error("--repeats has to be 1 at least")
    names = arguments.matrix or (
        ["square:100", "cube:15", "windy_cube:15"] if arguments.small
        else ["square:400", "cube:60", "windy_cube:60"])
    rows, end = [], time.perf_counter() + arguments.total
    with Worker(arguments.peer) as worker:
        for what in arguments.what:
            for name in names:
                for case in WHAT[what][1]:
                    left = end - time.perf_counter()
                    if left <= 0:
                        found = [{"what": what, "matrix": name, "peer": arguments.peer,
                                  "case": str(case), "failed": "no time was left"}]
                    else:
                        found = worker.ask(what, name, case, arguments.repeats,
                                           min(arguments.limit, left))
                    for row in found:
                        row["matrix"] = pathlib.Path(row["matrix"]).name
                        print("  ".join(
                            f"{key} {value:.4g}" if isinstance(value, float) else
                            f"{key} {value}" for key, value in row.items()), flush=True)
                    rows += found
                    if arguments.output:
                        write(arguments.output, rows)
    print("\n".join(summary(rows)))
    wrong = [row for row in rows if "wrong" in row or
             (row.get("converged") and not row["residual"] < 1e-6)]
    if wrong:
        sys.exit(2)


if __name__ == "__main__":
    main()
