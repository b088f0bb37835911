# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a benchmark on small systems, and checks its answers, tables and refusals.

  test_programs.py FOLDER WORK_DIR PROGRAM WHAT [SCALAR]

FOLDER has the benchmarks, PROGRAM is one of them without strata_perf_, and WHAT is
  run     all that it measures, in one scalar
  flags   bad flags, values, files and outputs: exit code 1 and a message that names
          the culprit, before anything is measured
  killed  a program that is killed while it measures its second system has left the
          lines of the first one in its table, and no others"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time

FOLDER, WORK, PROGRAM, WHAT, SCALAR = (*sys.argv[1:], "double")[:5]
# strata_perf_demo is strata_perf_sptrsv in double, with less of the library.
NAME = "sptrsv" if PROGRAM == "demo" else PROGRAM
BINARY = os.path.join(FOLDER, "strata_perf_" + PROGRAM)
TABLE = os.path.join(WORK, "table.csv")
OWN = ("automatic", "substitution", "level_sets", "subgraphs", "sync_free",
       "blocks", "tiles")
SHORT = "--benchmark_min_time=0.001"


class Ran:
    """A run of the program: its exit code, what it wrote, and the rows of its table."""

    def __init__(self, *arguments, code=0, table=True):
        if os.path.exists(TABLE):
            os.remove(TABLE)
        words = [BINARY, *map(str, arguments)] + ["--table", TABLE] * table
        done = subprocess.run(words, check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.out, self.err, self.rows = done.stdout, done.stderr, []
        if os.path.exists(TABLE):
            with open(TABLE, newline="", encoding="utf-8") as file:
                self.rows = list(csv.DictReader(file))
        assert done.returncode == code, "%s: exit code %d\n%s\n%s" % (
            words, done.returncode, self.out, self.err)

    def says(self, *texts):
        for text in texts:
            assert re.search(text, self.out + self.err), "%r is not in\n%s\n%s" % (
                text, self.out, self.err)

    def of(self, **wanted):
        """The rows with these values."""
        return [row for row in self.rows
                if all(row[key] == str(value) for key, value in wanted.items())]

    def one(self, **wanted):
        found = self.of(**wanted)
        assert len(found) == 1, "%s: %d rows of\n%s" % (wanted, len(found), self.rows)
        return found[0]


def measure(*arguments):
    """A run in SCALAR whose report in JSON has the numbers of its table."""
    report = os.path.join(WORK, "report.json")
    ran = Ran(*arguments, "--scalar", SCALAR, SHORT, "--benchmark_out=" + report,
              "--benchmark_out_format=json")
    with open(report, encoding="utf-8") as file:
        benchmarks = json.load(file)["benchmarks"]
    assert len(benchmarks) == len(ran.rows), (len(benchmarks), ran.rows)
    for benchmark, row in zip(benchmarks, ran.rows):
        name = benchmark["name"].split("/")
        assert name[0] == NAME and row["algorithm"] in name and SCALAR in name, name
        if "real_time" not in benchmark or benchmark.get("error_occurred"):
            continue
        assert benchmark["real_time"] > 0, benchmark
        for key in set(row) & set(benchmark) - {"name"}:
            assert float(row[key]) == float("%.9g" % benchmark[key]), (key, row, benchmark)
    return ran


def positive(row, *keys, zero=False):
    for key in keys:
        assert float(row[key]) > 0 or zero and float(row[key]) == 0, "%s of %s" % (key, row)


def all_right(rows):
    assert rows and all(row["outcome"] == "right" for row in rows), rows


def same(row, **numbers):
    for key, value in numbers.items():
        assert float(row[key]) == value, "%s is %s, not %s" % (key, row[key], value)


def write(name, text):
    path = os.path.join(WORK, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def matrix_file(name, body, kind="general"):
    return write(name + ".mtx",
                 "%%%%MatrixMarket matrix coordinate real %s\n%s" % (kind, body))


def small_matrix():
    """Two rows have no diagonal entry."""
    return matrix_file("small", "4 4 4\n3 3 4\n4 4 4\n3 1 -1\n4 3 1.5\n", "symmetric")


# --- What each program measures ---------------------------------------------------


def run_sptrsv():
    factor = {"float": "lower", "double": "upper", "complex_float": "ilu0-l",
              "complex_double": "ilu0-u"}[SCALAR]
    factor = "ilu0-l" if PROGRAM == "demo" else factor
    rhs, reorder = (3, "level") if "complex" in SCALAR else (1, "natural")
    ran = measure("--gallery", "grid2d:12", "--gallery=block_diagonal:4x60:0.1", "--matrix",
                  small_matrix(), "--factor", factor, "--rhs", rhs, "--reorder", reorder,
                  "--explain")
    peers = ("serial_substitution", "kokkos_kernels_rp", "kokkos_kernels_tp1",
             "kokkos_kernels_tp1chain")
    for matrix in ("grid2d:12", "block_diagonal:4x60:0.1", "small"):
        for algorithm in (*OWN, *peers):
            row = ran.one(matrix=matrix, algorithm=algorithm, rhs=rhs)
            all_right([row])
            positive(row, "solve_us")
            positive(row, "analysis_us", "update_us", "relative_error", zero=True)
            if matrix == "grid2d:12":  # a level set for each anti-diagonal
                same(row, rows=144, nnz=408, levels=23)
        positive(ran.one(matrix=matrix, algorithm="subgraphs"), "subgraphs",
                 "subgraph_levels", "plan_bytes")
    # What needs its full name is left out.
    assert len(ran.rows) == 3 * len((*OWN, *peers)), ran.rows
    # Kokkos Kernels' handle with the parameters that are fastest here.
    for row in ran.of(algorithm="kokkos_kernels_tp1"):
        assert re.fullmatch(r"team (auto|\d+)", row["parameters"]), row
    for row in ran.of(algorithm="kokkos_kernels_tp1chain"):
        assert re.fullmatch(r"threshold \d+ team (auto|\d+) vector (auto|\d+)",
                            row["parameters"]), row
    ran.says("pays after", "geometric mean speedup of automatic", "x serial",
             "x kokkos_kernels", "partition|reason")

    ran = measure("--gallery", "grid2d:12", "--factor", factor, "--rhs", rhs, "--algorithms",
                  "sptrsv_drop_in,sptrsv_drop_in_fixed,kokkos_kernels_tp1")
    for name in ("sptrsv_drop_in", "sptrsv_drop_in_fixed"):
        row = ran.one(algorithm=name, outcome="right", rhs=rhs)
        assert row["chosen"] in OWN[1:], row

    # Sub-graphs of as many rows as asked for, and solves that are timed one by one with
    # their copies. A grid has one starting vertex: its sub-graphs are a chain.
    ran = measure("--gallery", "grid2d:12", "--algorithms", "level_sets,subgraphs,serial",
                  "--max-subgraph-rows", 40, "--solves", 7, "--transfers")
    same(ran.one(algorithm="subgraphs", partition="natural"), subgraphs=4, subgraph_levels=4,
         max_subgraph_rows=40, transfers=1, solves=7)
    ran.says("natural", "means of 7", "copies of b and x")

    # Solves with and without the copies after one analysis. The serial peer has no
    # copies, and one time.
    ran = Ran("--gallery", "grid2d:12", "--scalar", SCALAR, "--algorithms",
              "level_sets,serial", "--solves", 7, "--compare-transfers",
              "--benchmark_min_time=0.05")
    ran.says("copies of b and x")
    for algorithm, times in (("level_sets", 2), ("serial_substitution", 1)):
        rows = [ran.one(algorithm=algorithm, transfers=way) for way in (1, 0)]
        all_right(rows)
        assert rows[0]["analysis_us"] == rows[1]["analysis_us"], rows
        assert len({row["solve_us"] for row in rows}) == times, rows

    # Pattern updates beside new analyses: of ours, and the answer is still right.
    ran = measure("--gallery", "grid2d:12", "--gallery", "block_diagonal:4x60:0.1",
                  "--factor", factor, "--changed-entries", 3)
    ran.says("update_pattern")
    for algorithm in OWN:
        row = ran.one(matrix="grid2d:12", algorithm=algorithm, outcome="right")
        positive(row, "pattern_update_us", "pattern_analysis_us")


def run_sptrsv_registered():
    """An algorithm from outside of the library, by its name and left to the choice."""
    ran = Ran("--gallery", "grid2d:12", "--scalar", SCALAR, "--algorithms",
              "automatic,row_by_row", "--explain", "--rhs", 2, SHORT)
    all_right(ran.rows)
    assert {row["algorithm"] for row in ran.rows} == {"automatic", "row_by_row"}, ran.rows


def run_gauss_jordan():
    ran = measure("--sizes", "1,40", "--matrices=random,positive")
    for matrix in ("random", "positive"):
        for n in (1, 40):
            for task in ("solve", "inverse", "reduce"):
                for algorithm in ("strata", "textbook"):
                    row = ran.one(matrix=matrix, n=n, task=task, algorithm=algorithm)
                    positive(row, "ms", "Gflop/s")
    all_right(ran.rows)
    # Backward errors alone, of every kind of matrix.
    ran = Ran("--sizes", 50, "--tasks", "solve", "--once", "--scalar", SCALAR, "--matrices",
              "random,positive,graded,nearly_singular", "--algorithms", "strata,textbook")
    assert len(ran.rows) == 8 and not re.search("WRONG|medians", ran.out), ran.out
    # The kernels of Eyvazov's thesis, in sizes about that of a tile.
    ran = Ran("--sizes", "1,31,32,33,70", "--tasks", "solve,augmented", "--once", "--matrices",
              "dominant", "--algorithms", "strata,eyvazov_2021", "--scalar", SCALAR)
    assert len(ran.of(algorithm="eyvazov_2021")) == 10 and "WRONG" not in ran.out, ran.out


def run_factorization():
    def check(ran, matrix, algorithms, **numbers):
        for algorithm in algorithms:
            row = ran.one(matrix=matrix, algorithm=algorithm, outcome="right")
            same(row, **numbers)
            positive(row, "numeric_us", "ready_us", "new_values_us")
            positive(row, "analysis_us", "apply_us", "relative_error", zero=True)

    ran = measure("--gallery", "grid2d:12", "--gallery=circuit:300", "--matrix", small_matrix())
    check(ran, "grid2d:12", ("strata", "serial"), rows=144, nnz=672, levels=23)
    check(ran, "small", ("strata", "serial"), rows=4, nnz=8, levels=3)
    ran.says("geometric mean speedup of strata over serial: ")
    for matrix in ("grid2d:12", "circuit:300", "small"):
        row = ran.one(matrix=matrix, algorithm="kokkos_kernels_spiluk")
        assert row["outcome"] in ("right", "wrong", "failed"), row
    check(measure("--gallery", "grid2d:12", "--diagonal", "as_is", "--algorithms", "strata"),
          "grid2d:12", ("strata",), rows=144, nnz=672, levels=23)
    # Matrices of the validation set, each once, and a limit that only the first one keeps.
    ran = measure("--families", "grid2d,circuit", "--per-family", 1, "--algorithms", "strata")
    all_right(ran.rows)
    assert [(row["family"], row["matrix"]) for row in ran.rows] == [
        ("grid2d", "grid2d:45"), ("circuit", "circuit:3300")], ran.rows
    ran = measure("--gallery", "grid2d:12", "--max-seconds", 0.001)
    assert {row["outcome"] for row in ran.rows} == {"left_out"}, ran.rows
    # Incomplete Cholesky. Levels of the cube are its diagonal planes.
    ran = measure("--gallery", "poisson:6", "--matrix", small_matrix(), "--factorisation", "ic0")
    check(ran, "poisson:6", ("strata", "serial"), rows=216, nnz=1296, levels=16)
    check(ran, "small", ("strata", "serial"), rows=4, nnz=8, levels=3)


def run_krylov():
    def check(matrix, algorithms, least, flags=(), **wanted):
        """A step takes one iteration at least. Returns the iterations."""
        ran = measure("--matrix" if matrix == "small" else "--gallery",
                      small_matrix() if matrix == "small" else matrix, "--runs", 1, "--steps",
                      wanted["steps"], *flags)
        found = []
        for algorithm in algorithms:
            row = ran.one(matrix=matrix, algorithm=algorithm, outcome="right", **wanted)
            positive(row, "total_us", "ready_us")
            positive(row, "relative_error", zero=True)
            found.append(int(row["iterations"]))
            assert found[-1] >= least, row
        if len(algorithms) > 1:
            ran.says("geometric mean speedup of strata over kokkos_kernels: ")
        return found

    both = ("strata", "kokkos_kernels")
    plain = {"method": "bicgstab", "factorisation": "ilu0", "values": "dominant"}
    check("grid2d:12", both, 3, **plain, rows=144, nnz=672, steps=3)
    check("small", ("strata",), 1, **plain, rows=4, nnz=8, steps=3)
    check("circuit:300", both, 2, ["--method", "gmres", "--restart", 5],
          **{**plain, "method": "gmres"}, rows=300, nnz=1620, steps=2)
    # Hermitian values: both factorisations have one product, and so all take as many
    # iterations, but for what rounding makes of the last one.
    for kind in ("ilu0", "ic0"):
        ours, theirs = check(
            "grid2d:20", both, 10,
            ["--method", "cg", "--factorisation", kind, "--values", "laplacian"], method="cg",
            factorisation=kind, values="laplacian", rows=400, nnz=1920, steps=2)
        assert abs(ours - theirs) <= 2, (ours, theirs)
    check("poisson:6", ("strata",), 4,
          ["--method", "cg", "--factorisation", "ic0", "--values", "as_is",
           "--preconditioners", "strata"], method="cg", factorisation="ic0", values="as_is",
          rows=216, nnz=1296, steps=2)


def run_spmv():
    ran = measure("--gallery", "grid3d:9", "--gallery", "circuit:700", "--gallery", "poisson:6",
                  "--vectors", "1,3,9")
    all_right(ran.rows)
    for vectors in (1, 3, 9):
        assert len(ran.of(vectors=vectors, algorithm="strata")) == 3, ran.rows
    # C and sigma are those of the flags, and a triangle's blocks multiply, too.
    ran = measure("--gallery", "grid2d:9", "--factor", "ilu0-u", "--reorder", "level",
                  "--algorithms", "strata_columns,strata_blocks,crs", "--vectors", "1,3",
                  "--chunk-rows", 32, "--sigma", 1, "--lanes", 1)
    all_right(ran.rows)
    for vectors in (1, 3):
        same(ran.one(algorithm="strata_columns", vectors=vectors), rows=81,
             chunk_rows=32, sigma=1, lanes=1)
        for algorithm in ("strata_blocks", "crs"):
            ran.one(algorithm=algorithm, vectors=vectors)


def run_cg():
    ran = measure("--sizes", "7,12", "--solves", 2)
    all_right(ran.rows)
    assert len(ran.rows) == 10, ran.rows
    # A cap on iterations, which a solve keeps and tells of; SELL-32-1.
    ran = measure("--sizes", 14, "--algorithms", "strata,strata_columns,kokkos_kernels", "--b",
                  "ones", "--max-iterations", 4, "--solves", 1, "--chunk-rows", 32, "--sigma",
                  1, "--lanes", 1)
    assert len(ran.of(status="max_iterations", iterations=4, rows=2744)) == 3, ran.rows


def run_band():
    letter = {"float": "s", "double": "d", "complex_float": "c", "complex_double": "z"}[SCALAR]

    def check(count, *arguments):
        ran = measure(*arguments)
        assert len(ran.rows) == count and not re.search("WRONG|failed", ran.out), ran.out
        return ran

    check(36, "--size", "40,90", "--bandwidth", "1,10%,3/20", "--rhs", "1,9", "--algorithms",
          "strata,strata_pivoting,%sgbsv" % letter)
    # The reference, in its three forms.
    ran = check(16, "--size", 90, "--bandwidth", "9,3/20", "--rhs", "1,9", "--algorithms",
                "strata,row_by_row,row_by_row_rhs,row_by_row_parallel")
    for row in ran.rows:
        positive(row, "total us", "error", zero=True)
    # Too little time for LAPACK.
    ran = Ran("--size", 300, "--bandwidth", 31, "--rhs", "1,10", "--max-host-seconds", "1e-5",
              "--algorithms", "strata,%sgbsv" % letter, "--scalar", SCALAR)
    ran.says("gbsv is left out: (too long|no LAPACK)")


def systems(*flags):
    """(family, name, rows) of --list, sorted."""
    ran = Ran("--list", *flags, table=False)
    found = sorted(re.findall(r"(?m)^(\w+) (\S+) (\d+)$", ran.out))
    assert len({name for _, name, _ in found}) == len(found), "a name is there twice"
    return found


def run_validation():
    families = sorted({family for family, _, _ in systems()})
    flags = []
    if SCALAR != "double":  # all of them in one scalar is enough
        families = ["deep", "factors", "gene"]
        flags = ["--families", ",".join(families)]

    def rows_of(*flags):
        ran = Ran(*flags, "--scalar", SCALAR, "--milliseconds", 1)
        all_right(ran.rows)
        return ran.rows

    rows = rows_of("--per-family", 1, *flags)
    assert sorted(row["family"] for row in rows) == families, rows
    for row in rows:
        assert row["chosen"] in OWN[1:] and float(row["rowwise_error"]) < 1000, row
        positive(row, "rows", "nnz", "levels", "longest_row", "merged_levels", "solve_us",
                 "analysis_us", "bytes_us", "floor_us")
        for candidate in OWN[1:]:
            timing = row[candidate + "_timing"]
            assert timing in ("full", "once", "refused"), row
            if timing != "refused":
                positive(row, candidate + "_us", candidate + "_merged_levels")
    if SCALAR != "double":
        return

    # What is promised: no level sets are merged for the accuracy of components.
    row, = rows_of("--families", "upwind", "--per-family", 1, "--accuracy", "componentwise")
    assert (row["accuracy"], row["merged_levels"]) == ("componentwise", "1"), row
    # Other random numbers: other entries of a random matrix.
    for system in ("gene:900", "circuit:3300/random"):
        first, second, third = (
            [rows_of("--systems", system, *seed)[0][key]
             for key in ("rows", "nnz", "levels", "longest_row")]
            for seed in (["--seed", 1], ["--seed", 2], ["--scale", 1, "--seed", 2]))
        assert first != second and second == third, (first, second, third)
    assert len(rows_of("--per-family", 1, "--scale", 0.6, "--seed", 3)) == len(families)
    # Sizes that are known: points, couplings with the points before, diagonals of the grid;
    # two colours; the three diagonals below the main one and three more of ILU(1).
    same(rows_of("--systems", "box:400x10x1")[0], rows=4000, nnz=11590, levels=409)
    same(rows_of("--systems", "grid2d:45/colours")[0], levels=2)
    same(rows_of("--systems", "grid3d:22/ilu1-l")[0],
         nnz=22**3 + 3 * 22 * 22 * 21 + 3 * 22 * 21 * 21)


# --- What each program refuses ----------------------------------------------------

CHAIN = ["--gallery", "chain:20"]
MATRICES = [("no matrix",), ("no family 'nonsense'", *CHAIN, "--gallery", "nonsense:3"),
            ("absent.mtx", *CHAIN, "--matrix", "absent.mtx")]
CUT = ("cut.mtx", "cut", "3 3 3\n1 1 1\n2 2 1\n")
# Program: (flags of a short run, refusals: the culprit and the flags instead or, where `+`
# comes first, besides, and matrices that are bad: the culprit, a name, its file and flags).
REFUSED = {
    "sptrsv": ([*CHAIN, "--algorithms", "serial", SHORT], MATRICES + [
        *(("--rhs", "+", "--rhs", bad) for bad in ("0", "2x")), ("--rhs", "+", "--rhs"),
        *(("--max-plan-bytes", "+", "--max-plan-bytes", bad) for bad in ("1.5", "-3")),
        ("--factor", "+", "--factor", "lu"), ("--reorder", "+", "--reorder", "colour"),
        ("fastest", "+", "--algorithms", "fastest"),
        ("''", "+", "--algorithms", "automatic,,serial"),
        *(("--max-subgraph-rows", "+", "--max-subgraph-rows", bad) for bad in ("-1", "48kB")),
        ("--solves", "+", "--solves", "0"), ("--transfers", "+", "--transfers=yes"),
        ("exact", "+", "--accuracy", "exact"),
        ("--compare-transfers", "+", "--compare-transfers=no"),
        *(("--changed-entries", "+", "--changed-entries", bad) for bad in ("0", "101"))],
        [CUT]),
    "factorization": ([*CHAIN, "--algorithms", "strata", SHORT], MATRICES + [
        ("fastest", "+", "--algorithms", "fastest"), ("''", "+", "--algorithms", "strata,,serial"),
        ("'lu' is none of its choices", "+", "--factorisation", "lu"),
        ("kokkos_kernels_spiluk", *CHAIN, "--factorisation", "ic0", "--algorithms",
         "kokkos_kernels_spiluk"), ("'large' is none of its choices", "+", "--diagonal", "large")],
        [CUT, ("is not square", "wide", "2 3 2\n1 1 1\n2 2 1\n"),
         ("row 1 has no diagonal entry", "hollow", "2 2 2\n1 1 1\n2 1 1\n", "--diagonal",
          "as_is"),
         ("elimination fails in row 1", "singular", "2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n",
          "--diagonal", "as_is")]),
    "krylov": ([*CHAIN, "--preconditioners", "strata", "--steps", "2", "--runs", "1"], MATRICES + [
        ("fastest", "+", "--preconditioners", "fastest"),
        ("''", "+", "--preconditioners", "strata,,kokkos_kernels"),
        *(("'nonsense' is none of its choices", "+", flag, "nonsense")
          for flag in ("--method", "--values", "--factorisation")),
        *((flag, "+", flag, bad) for bad in ("0", "1.5")
          for flag in ("--steps", "--runs", "--restart", "--max-iterations")),
        *(("--shift", "+", "--shift", bad) for bad in ("-1", "nan", "1e9", "x")),
        *(("--tolerance", "+", "--tolerance", bad) for bad in ("0", "1", "nan", "-1e-8"))],
        [CUT, ("is not square", "wide", "2 3 2\n1 1 1\n2 2 1\n"),
         ("row 1 has no diagonal entry", "hollow", "2 2 2\n1 1 1\n2 1 1\n", "--values",
          "as_is")]),
    "spmv": ([*CHAIN, "--algorithms", "strata", SHORT], MATRICES + [
        *(("--vectors", "+", "--vectors", bad) for bad in ("0", "1,,2")),
        ("fastest", "+", "--algorithms", "fastest"),
        ("strata_blocks is for triangles", *CHAIN, "--algorithms", "strata_blocks"),
        ("--reorder", "+", "--reorder", "level"), ("--factor", "+", "--factor", "middle"),
        ("--sigma", "+", "--sigma", "-1"), ("lanes_per_row", "+", "--lanes", "3")], [CUT]),
    "cg": (["--sizes", "5", "--algorithms", "strata", SHORT], [
        ("'0' is not a whole number", "--sizes", "8,0"),
        ("'0' is not a whole number", "--max-iterations", "0"),
        ("'zeros' is none of its choices", "--b", "zeros"),
        ("--chunk-rows", "--chunk-rows", "-1")], []),
    "gauss_jordan": (["--sizes", "8", "--tasks", "solve", "--algorithms", "strata", SHORT], [
        ("--sizes", "--tasks", "solve"), ("12x", "--sizes", "12x"),
        ("no_such_matrix", "+", "--matrices", "no_such_matrix"),
        ("no_such_peer", "+", "--algorithms", "no_such_peer"),
        ("transpose", "+", "--tasks", "solve,transpose"), ("--stripe", "+", "--stripe", "33")],
        []),
    "band": (["--size", "40", "--bandwidth", "3", "--algorithms", "strata"], [
        ("no system", "--rhs", "3"),
        *(("--bandwidth", "--size", "10", "--bandwidth", bad) for bad in ("21", "x", "4")),
        ("--size", "+", "--size", "0"), ("--rhs", "+", "--rhs", "1.5"),
        ("dgbsv", "+", "--scalar", "float", "--algorithms", "dgbsv"),
        ("fastest", "+", "--algorithms", "fastest")], []),
    "validation": (["--systems", "gene:900", "--milliseconds", "1"], [
        ("there is no family 'chain'", "+", "--families", "deep,chain"),
        ("leave no system", "--systems", "nowhere"),
        ("--per-family", "+", "--per-family", "0"),
        *(("--scale", "+", "--scale", bad) for bad in ("0", "-1", "0.49", "2.1", "nan", "half")),
        *(("--seed", "+", "--seed", bad) for bad in ("0", "1.5")),
        ("--milliseconds", "+", "--milliseconds", "0"),
        ("exact", "+", "--accuracy", "exact")], []),
}


def refuse(culprit, *arguments, **more):
    ran = Ran(*arguments, code=1, **more)
    ran.says(re.escape(culprit))
    return ran


def check_outputs(good):
    """What can't be written is told in a sentence before anything is measured."""
    report = [] if PROGRAM == "validation" else [["--benchmark_out=/nowhere/results.json"]]
    if os.path.exists("/dev/full"):
        for bad in (["--table", "/dev/full"], ["--table", "/nowhere/table.csv"], *report):
            ran = refuse(bad[-1].split("=")[-1], *good, *bad, table=False)
            assert not re.search(r"\d [mun]s ", ran.out), ran.out
        for flags in (good, ["--help"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([BINARY, *flags], check=False, stdout=full, text=True,
                                      stderr=subprocess.PIPE)
            assert done.returncode == 1 and "standard output" in done.stderr, done


def check_bad_matrix(good, matrix, text, name, body, *flags):
    """Found out only when its turn comes; the other matrix is still measured."""
    ran = refuse(text, *good, "--matrix", matrix_file(name, body), *flags)
    all_right(ran.of(matrix=matrix))
    assert ran.one(matrix=name)["outcome"] == "bad_input", ran.rows


def flags():
    good, refusals, bad_matrices = REFUSED[PROGRAM]
    for culprit, *arguments in refusals + [
            ("--no-such-flag", "+", "--no-such-flag"), ("stray", "+", "stray"),
            ("--benchmark_no_such_flag", "+", "--benchmark_no_such_flag=1"),
            ("--scalar", "+", "--scalar", "int"), ("--scalar", "+", "--scalar")]:
        given = good + arguments[1:] if arguments[:1] == ["+"] else arguments
        refuse(culprit, *given, table=False)
    check_outputs(good)
    for bad in bad_matrices:
        check_bad_matrix(good, "chain:20", *bad)
    Ran("--help", table=False).says("--table FILE", r"--scalar S")
    if PROGRAM != "validation":
        # Standard output is JSON and nothing else where JSON is asked for there.
        json.loads(Ran(*good, "--benchmark_format=json", table=False).out)
    more = globals().get("flags_" + PROGRAM)
    if more:
        more()


def flags_sptrsv():
    """A plan that may not be made fails the run of one of our own algorithms."""
    Ran("--gallery", "chain:200", "--algorithms", "sync_free", SHORT, "--max-plan-bytes", 100,
        code=2).says("max_plan_bytes")


def flags_factorization():
    """Of the gallery's matrices the Poisson cube alone is Hermitian."""
    for text, name, body, *more in (
            ("is not Hermitian in row 1", "lopsided", "2 2 3\n1 1 1\n2 1 1\n2 2 1\n"),
            ("is not Hermitian in row 0", "skew", "2 2 4\n1 1 1\n1 2 -1\n2 1 1\n2 2 1\n"),
            ("elimination fails in row 1", "indefinite",
             "2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n", "--diagonal", "as_is")):
        check_bad_matrix(["--gallery", "poisson:3", "--algorithms", "strata", SHORT,
                          "--factorisation", "ic0"], "poisson:3", text, name, body, *more)


def flags_krylov():
    """Solves that do not get there end the program with 2."""
    for text, *arguments in (
            ("the solver says max_iterations", "--gallery", "grid2d:20", "--values",
             "laplacian", "--max-iterations", 1),
            ("the solver says indefinite", "--matrix",
             matrix_file("negative", "2 2 2\n1 1 -1\n2 2 -2\n"), "--method", "cg", "--values",
             "as_is"),
            ("conjugate", "--matrix",
             matrix_file("skew", "2 2 4\n1 1 1\n1 2 -1\n2 1 1\n2 2 1\n"), "--method", "cg",
             "--factorisation", "ic0", "--values", "as_is")):
        ran = Ran("--preconditioners", "strata", "--steps", 2, "--runs", 1, *arguments, code=2)
        ran.says(text)
        row, = ran.rows
        assert row["outcome"] == "failed" and text in row["message"], row


def flags_validation():
    """The set is as large as it is said to be, and other sizes are other systems."""
    everything = systems()
    families = {family for family, _, _ in everything}
    assert len(everything) >= 400 and len(families) == 21, (len(everything), families)
    some = systems("--families", "deep,gene", "--per-family", 2)
    assert len(some) == 4 and ("gene", "gene:900", "900") in some, some
    for scale in (0.5, 0.83, 1.17, 2):
        other = systems("--scale", scale)
        assert len(other) >= 400 and {family for family, _, _ in other} == families, other
    for scale, *expected in (
            (0.83, "gene", "gene:747", "747"), (1.17, "grid2d", "grid2d:53/rcm", "2809"),
            (1.17, "grid2d", "grid2d:526/colours", "276676"),
            (1.17, "anisotropic", "box:117x100x11", "128700"),
            (0.83, "deep", "deep:2590x3:300x1:60", "2590"),
            (1.17, "elements", "shuffled:13x12x13:3", "6084"),
            (2, "mesh", "cubed_sphere:9/rcm", "5242880"),
            (0.83, "block_diagonal", "block_diagonal:20x20000:0.0004", "400000")):
        assert tuple(expected) in systems("--scale", scale), expected
    # Sizes do not depend on seeds.
    for same_set in (["--scale", 1, "--seed", 1], ["--seed", 2]):
        assert systems(*same_set) == everything, same_set


# --- A program that is killed -------------------------------------------------------

PAIR = ["--gallery", "chain:30", "--gallery", "grid3d:100", SHORT]
# The beginning of lines of the first system, and flags; the second takes a second or more.
PAIRS = {"sptrsv": ("chain:30,", *PAIR, "--algorithms", "automatic,serial"),
         "factorization": ("chain:30,", *PAIR), "krylov": ("chain:30,", *PAIR),
         "spmv": ("chain:30,", *PAIR),
         "cg": ("3,", "--sizes", "3,100", "--algorithms", "strata", "--solves", "200", SHORT),
         "band": ("30,", "--size", "30,5000", "--bandwidth", "50%"),
         "gauss_jordan": ("random,30,", "--sizes", "30,5000", "--algorithms", "strata", SHORT),
         "validation": ("grid2d,", "--families", "grid2d,gene")}


def killed():
    def lines():
        try:
            with open(TABLE, encoding="utf-8") as file:
                return file.readlines()[1:]
        except FileNotFoundError:
            return []

    prefix, *arguments = PAIRS[PROGRAM]
    with subprocess.Popen([BINARY, *arguments, "--table", TABLE], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as program:
        end = time.monotonic() + 300
        while program.poll() is None and time.monotonic() < end and not lines():
            time.sleep(0.05)
        assert program.poll() is None, "it ended with %d" % program.returncode
        program.kill()
    left = lines()
    assert left and all(line.startswith(prefix) and line.endswith("\n") for line in left), left


shutil.rmtree(WORK, ignore_errors=True)
os.makedirs(WORK)
globals()["run_" + NAME if WHAT == "run" else WHAT]()
