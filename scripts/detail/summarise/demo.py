# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/demo prints, from the tables that it has left in FOLDER: the times of every
algorithm, a column for each triangle (sptrsv.csv), or with --solvers a line for each
solver: its time, the fastest peer that was right, and how many times as long that peer
took (blocks.csv, band.csv, gauss_jordan.csv, spmv.csv, cg.csv, factorization.csv and
krylov.csv as well)."""
import os
from collections import namedtuple

from algorithms import PEERS, family_of, is_own
from tables import geometric_mean, number, read_tables, short_time

HOSTS = ("Hosts are Strata's reference backend: its algorithms are made for GPUs, "
         "and hosts\nrun them to develop and to check them. README.md has times on "
         "a GPU.")


def add_options(parser):
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--solvers", action="store_true", help="all solvers")
    parser.add_argument("--on-host", action="store_true", help="say what hosts are for")


def print_columns(table, left=1):
    """Columns two spaces apart, the first `left` of them flush left."""
    widths = [max(len(row[c]) for row in table) for c in range(len(table[0]))]
    for row in table:
        print("  ".join(
            cell.ljust(width) if c < left else cell.rjust(width)
            for c, (cell, width) in enumerate(zip(row, widths))).rstrip())


def text_of(us):
    return short_time(us, "us")


def count(number_of, what):
    return "%d %s%s" % (number_of, what, "" if number_of == 1 else "s")


def is_right(row):
    return row["outcome"] == "right"


def print_triangles(folder):
    rows = read_tables([os.path.join(folder, "sptrsv.csv")])
    sizes = {row["matrix"]: row["rows"] for row in rows}
    of = {(row["algorithm"], row["matrix"]): row for row in rows}
    names = list(dict.fromkeys(row["algorithm"] for row in rows))

    def cell(algorithm, matrix):
        row = of.get((algorithm, matrix))
        if not row or not is_right(row):
            return row["outcome"].replace("_", " ") if row else "-"
        chosen = row.get("chosen", "")
        return text_of(number(row, "solve_us")) + (
            " (%s)" % chosen if chosen not in ("", algorithm) else "")

    def fastest(algorithms, matrix):
        return min((number(of[a, matrix], "solve_us") for a in algorithms
                    if (a, matrix) in of and is_right(of[a, matrix])), default=None)

    own, peers = ([n for n in names if is_own(n) == ours] for ours in (True, False))
    table = [["time of a solve", *sizes], ["rows", *sizes.values()]]
    table += [[n] + [cell(n, m) for m in sizes] for n in own]
    table += [["peer: " + n] + [cell(n, m) for m in sizes] for n in peers]
    pairs = [(fastest(peers, m), fastest(["automatic"], m)) for m in sizes]
    ratios = [theirs / ours if theirs and ours else None for theirs, ours in pairs]
    table.append(["fastest peer / automatic"] + ["%.2f" % r if r else "-" for r in ratios])
    print_columns(table)
    print("automatic takes the algorithm in brackets. Every answer is checked.")
    known = [r for r in ratios if r]
    if known:
        print("\nStrata's automatic choice is faster than the fastest peer on %d of %s; the "
              "peer\ntakes %.3g times as long (geometric mean)." % (
                  sum(r > 1 for r in known), count(len(known), "triangle"),
                  geometric_mean(known)))


# A line for each system, the values of `keys`, that `ours` has: times in `unit`
# microseconds; `peers` accepts the algorithms that it is compared with.
Line = namedtuple("Line", "table keys system ours title time peers unit", defaults=(1,))


def is_peer_of_triangles(name):
    return family_of(name) in PEERS


def is_foreign(name):
    return not name.startswith("strata")


def band_system(row):
    return "%s rows, %d diagonals, %s rhs" % (
        row["rows"], int(row["kl"]) + int(row["ku"]) + 1, row["rhs"])


def lines():
    def matrix(row):
        return row["matrix"]

    def band(ours, title):
        return Line("band", ("rows", "kl", "ku", "rhs"), band_system, ours,
                    lambda row: title, "total us",
                    lambda name: name in ("dgbsv", "cusolver_dense"))

    def gradients(kind):
        return Line("cg", ("size",), lambda row: "poisson:" + row["size"], "strata" + kind,
                    lambda row: "ConjugateGradient" + kind.replace("_", ", "), "solve_us",
                    lambda name: name == "kokkos_kernels")

    def factors(time, title):
        return Line("factorization", ("matrix",), matrix, "strata", lambda row: title, time,
                    is_foreign)
    return [
        Line("sptrsv", ("matrix",), matrix, "automatic",
             lambda row: "TriangularSolver (%s)" % row["chosen"], "solve_us",
             is_peer_of_triangles),
        Line("blocks", ("matrix",), matrix, "blocks", lambda row: "blocks, level order",
             "solve_us", is_peer_of_triangles),
        band("strata", "BandSolver"), band("strata_pivoting", "BandSolver, pivoting"),
        Line("gauss_jordan", ("n", "task"), lambda row: row["n"] + " rows", "strata",
             lambda row: "GaussJordan, " + row["task"], "ms",
             is_foreign, 1e3),
        Line("spmv", ("matrix",), matrix, "strata", lambda row: "SellMatrix", "product_us",
             is_foreign),
        *map(gradients, ("", "_jacobi", "_ic0", "_ic0_natural")),
        factors("numeric_us", "incomplete_lu, new values"),
        factors("ready_us", "IncompleteFactorization"),
        Line("krylov", ("matrix",), matrix, "strata",
             lambda row: "time steps, " + row["method"], "total_us", is_foreign)]


def cells_of(line, rows):
    """Cells of one line, or none where `ours` was not run."""
    ours = [row for row in rows if row["algorithm"] == line.ours]
    if not ours:
        return None
    head = [line.title(ours[0]), line.system(ours[0])]
    if not is_right(ours[0]):
        return head + ["-", "no right answer", ""]

    def us(row):
        return line.unit * number(row, line.time)
    head.append(text_of(us(ours[0])))
    best = min((row for row in rows if line.peers(row["algorithm"]) and is_right(row)),
               key=us, default=None)
    if not best:
        return head + ["none here", ""]
    return head + ["%s, %s" % (best["algorithm"], text_of(us(best))),
                   "%.2f" % (us(best) / us(ours[0]))]


def print_solvers(folder):
    table = []
    for line in lines():
        systems = {}
        for row in read_tables([os.path.join(folder, line.table + ".csv")]):
            systems.setdefault(tuple(row[key] for key in line.keys), []).append(row)
        table += filter(None, (cells_of(line, rows) for rows in systems.values()))
    print_columns([["solver", "system", "time", "fastest peer", "peer/ours"]] + table, left=5)
    compared = [float(cells[4]) for cells in table if cells[4]]
    print("\nStrata is the faster one in %d of %s, a peer in %d." %
          (sum(r > 1 for r in compared), count(len(compared), "comparison"),
           sum(r < 1 for r in compared)))


def summarise(options):
    (print_solvers if options.solvers else print_triangles)(options.folder)
    if options.on_host:
        print(HOSTS)
