# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/demo prints, from the tables that it has left in FOLDER: the times of every
algorithm, a column for each triangle (sptrsv.csv), or with --solvers a line for each
solver: its time, the fastest peer that was right, and how many times as long that peer
took (blocks.csv, band.csv, gauss_jordan.csv, spmv.csv, cg.csv, factorization.csv and
krylov.csv as well)."""
import os
from collections import namedtuple

from algorithms import is_own
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


# A line for each system, which is the values of `keys`, that `ours` has: times in `unit`
# microseconds. `title` and `system` are filled from the row.
Line = namedtuple("Line", "table keys system ours title time unit", defaults=(1,))
LINES = [
    Line("sptrsv", "matrix", "{matrix}", "automatic", "TriangularSolver ({chosen})", "solve_us"),
    Line("blocks", "matrix", "{matrix}", "blocks", "blocks, level order", "solve_us"),
    *(Line("band", "rows kl ku rhs", "{rows} rows, {diagonals} diagonals, {rhs} rhs",
           "strata" + kind, "BandSolver" + kind.replace("_", ", "), "total us")
      for kind in ("", "_pivoting")),
    Line("gauss_jordan", "n task", "{n} rows", "strata", "GaussJordan, {task}", "ms", 1e3),
    Line("spmv", "matrix", "{matrix}", "strata", "SellMatrix", "product_us"),
    *(Line("cg", "size", "poisson:{size}", "strata" + kind,
           "ConjugateGradient" + kind.replace("_", ", "), "solve_us")
      for kind in ("", "_jacobi", "_ic0", "_ic0_natural")),
    *(Line("factorization", "matrix", "{matrix}", "strata", title, time) for title, time in (
        ("incomplete_lu, new values", "numeric_us"), ("IncompleteFactorization", "ready_us"))),
    Line("krylov", "matrix", "{matrix}", "strata", "time steps, {method}", "total_us")]


def is_peer(line, algorithm):
    return not (is_own(algorithm) if line.table in ("sptrsv", "blocks") else
                algorithm.startswith("strata"))


def cells_of(line, rows):
    """Cells of one line, or none where `ours` was not run."""
    ours = [row for row in rows if row["algorithm"] == line.ours]
    if not ours:
        return None
    head = [text.format_map(ours[0]) for text in (line.title, line.system)]
    if not is_right(ours[0]):
        return head + ["-", "no right answer", ""]

    def us(row):
        return line.unit * number(row, line.time)
    head.append(text_of(us(ours[0])))
    best = min((row for row in rows if is_peer(line, row["algorithm"]) and is_right(row)),
               key=us, default=None)
    if not best:
        return head + ["none here", ""]
    return head + ["%s, %s" % (best["algorithm"], text_of(us(best))),
                   "%.2f" % (us(best) / us(ours[0]))]


def print_solvers(folder):
    table = []
    for line in LINES:
        systems = {}
        for row in read_tables([os.path.join(folder, line.table + ".csv")]):
            if line.table == "band":
                row["diagonals"] = int(row["kl"]) + int(row["ku"]) + 1
            systems.setdefault(tuple(row[key] for key in line.keys.split()), []).append(row)
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
