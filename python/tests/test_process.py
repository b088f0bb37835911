# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package within a process: threads, exit, modules that are not there."""

import builtins
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import laplacian, random_triangle

import strata_solvers as strata


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_solvers_may_be_alive_at_exit():
    out = run("""
import atexit, sys
import numpy as np, scipy.sparse as sp
class Last:
    def __del__(self):
        print("still", type(self.solver).__name__)
last = Last()
# Called after our own, which was registered later.
def late():
    try:
        last.solver.solve(np.ones(9))
    except Exception as error:
        print(type(error).__name__)
    try:
        strata.TriangularSolver(A)
    except Exception as error:
        print(type(error).__name__)
atexit.register(late)
import strata_solvers as strata
A = sp.eye_array(9, format="csr")
objects = [strata.TriangularSolver(A), strata.ilu0(A), strata.SellMatrix(A),
           strata.BandSolver((0, 0), np.ones((1, 9)))]
M = strata.ilu0(A); M.H @ np.ones(9)
sys.modules["keeps"] = objects
last.solver = strata.TriangularSolver(A)
print(last.solver.solve(np.ones(9)).sum())
""")
    assert out.split() == ["9.0", "HandleError", "HandleError", "still", "TriangularSolver"]


def test_exit_while_a_thread_solves():
    run("""
import threading
import numpy as np, scipy.sparse as sp
import strata_solvers as strata
solver = strata.TriangularSolver(sp.eye_array(200000, format="csr"))
begun = threading.Event()
def work():
    try:
        while True:
            solver.solve(np.ones(200000)); begun.set()
    except strata.HandleError:
        pass
threading.Thread(target=work, daemon=True).start()
begun.wait()
""")


@pytest.mark.parametrize("work", ["time.sleep(1e-3)", "solver.solve(r)"])
def test_exit_while_a_thread_is_in_a_callback(work):
    run(f"""
import threading, time
import numpy as np, scipy.sparse as sp
import strata_solvers as strata
A = sp.eye_array(2000, format="csr") * 2 + sp.eye_array(2000, k=1) * 0.9
solver = strata.TriangularSolver(sp.eye_array(2000, format="csr"))
begun = threading.Event()
def M(r):
    begun.set()
    {work}
    return r
def solve():
    try:
        while True:
            strata.gmres(A, np.ones(2000), M=M, rtol=1e-15, callback=lambda norm: None)
    except strata.HandleError:
        pass
for _ in range(2):
    threading.Thread(target=solve, daemon=True).start()
begun.wait()
""")


def test_import_takes_no_optional_module():
    out = run("""
import sys
import strata_solvers
print([name for name in ("torch", "jax", "cupy", "matplotlib") if name in sys.modules])
""")
    assert out.strip() == "[]"


def test_threads_share_and_make_solvers(rng):
    A = random_triangle(rng, 400, 2000, "float64")
    shared = strata.TriangularSolver(A)
    b = rng.random((400, 3))
    wanted = shared.solve(b)
    faults = []

    def work():
        try:
            own = strata.TriangularSolver(A, algorithm="level_sets")
            for _ in range(10):
                np.testing.assert_allclose(shared.solve(b), wanted, rtol=1e-12)
                np.testing.assert_allclose(own.solve(b), wanted, rtol=1e-12)
                strata.ilu0(laplacian(8)) @ np.ones(64)
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_other_threads_run_during_a_solve(rng):
    """A thread that counts gets on while another one solves."""
    n = 200000
    A = random_triangle(rng, n, 4 * n, "float64")
    solver = strata.TriangularSolver(A, algorithm="substitution")
    b = np.ones((n, 20))
    ticks, over = [], threading.Event()

    def count():
        while not over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    switch = sys.getswitchinterval()
    thread = threading.Thread(target=count)
    thread.start()
    try:
        # With the lock held, nothing would tick between these two.
        begin = time.perf_counter()
        solver.solve(b)
        end = time.perf_counter()
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(switch)
    inside = [tick for tick in ticks if begin < tick < end]
    assert len(inside) >= 2, f"{len(inside)} ticks in {end - begin} s"


def test_a_star_hides_nothing_of_pythons():
    names = {}
    exec("from strata_solvers import *", names)
    assert not set(names) & set(dir(builtins))
    assert {"TriangularSolver", "Error", "PlanMemoryError", "cg"} <= set(names)
    # They are there by name.
    for name in strata._errors.__all__:
        assert issubclass(getattr(strata, name), strata.Error)
    assert issubclass(strata.MemoryError, MemoryError)
    assert strata.MemoryError is not MemoryError


def test_version():
    assert strata.__version__ == strata._core.version
    assert strata._core.concurrency() >= 1
    strata.release_memory_pool()


def test_a_gpus_arrays_are_refused_by_a_build_for_hosts():
    if strata._core.has_cuda:
        pytest.skip("this build has CUDA")

    class OnDevice:
        dtype, ndim, shape = "float64", 1, (3,)

        def __dlpack_device__(self):
            return 2, 0

    solver = strata.TriangularSolver(laplacian(1))
    with pytest.raises(strata.TypeMismatchError, match="host"):
        solver.solve(OnDevice())


def test_types_are_shipped():
    import pathlib

    folder = pathlib.Path(strata.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_core.pyi").read_text()
    for name in ("TriangularSolver_float64_host", "TriangularReport", "BandReport"):
        assert f"class {name}" in stub
