# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark ends, says what it could not do, and finds no wrong answers.  Its times are
not looked at."""

import csv
import pathlib
import subprocess
import sys

import pytest

here = pathlib.Path(__file__).parent
programs = [path for path in (here / "benchmark.py",
                              here.parent / "benchmarks" / "benchmark.py") if path.exists()]
if not programs:
    pytest.skip("benchmark.py is not here", allow_module_level=True)


def run(tmp_path, *arguments):
    """Rows of the table, and what was printed."""
    table = tmp_path / "table.csv"
    done = subprocess.run(
        [sys.executable, str(programs[0]), *arguments, "--repeats", "1", "--output", str(table)],
        capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return list(csv.DictReader(table.open())), done.stdout


def test_all_of_it(tmp_path):
    rows, printed = run(tmp_path, "--limit", "60", "square:12", "windy_cube:5")
    assert len(rows) == 2 * (3 + 2 + 8)
    assert not any(row.get("failed") or row.get("wrong") for row in rows)
    ours = [row for row in rows if row["case"] == "strata.ilu0"]
    assert len(ours) == 2
    assert all(row["converged"] == "True" and int(row["iterations"]) > 0 for row in ours)
    for line in ("total time, spilu()", "spsolve_triangular", "a call of solve"):
        assert line in printed


def test_files(tmp_path):
    graph = tmp_path / "graph.mtx"
    graph.write_text("%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n"
                     "2 1\n3 1\n4 3\n")
    rows, _ = run(tmp_path, "--what", "krylov", "once", "--limit", "60", str(graph))
    assert {row["matrix"] for row in rows} == {"graph.mtx"}
    # Three edges: four rows, six entries off the diagonal.
    assert {row["entries"] for row in rows if row["what"] == "krylov"} == {"10"}


def test_limits(tmp_path):
    # Each of these cases makes a matrix of a million rows, which takes longer than
    # this program may be held up.
    rows, printed = run(tmp_path, "--what", "krylov", "--limit", "0.001", "square:1000")
    assert all("no answer within" in row["failed"] for row in rows)
    assert "3 cases without an answer" in printed
    rows, _ = run(tmp_path, "--what", "call", "--total", "0", "square:30")
    assert all(row["failed"] == "no time was left" for row in rows)
    rows, _ = run(tmp_path, str(tmp_path / "missing.mtx"), "--what", "once")
    assert len(rows) == 8 and all("FileNotFoundError" in row["failed"] for row in rows)
