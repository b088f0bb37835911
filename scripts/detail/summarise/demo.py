# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/demo prints, from the tables that it has left in FOLDER: the times of every
algorithm, a column for each system, and how many times as long as the first of ours the
fastest peer took. The table is sptrsv.csv, or with --solvers those of the other solvers."""
import os
from collections import namedtuple

from algorithms import is_own
from tables import geometric_mean, known, number, read_tables, short_time

# What is timed, the table, what tells its systems apart, and the column of times, of so
# many microseconds.
Table = namedtuple("Table", "title name system time unit", defaults=(1,))
TRIANGLES = Table("solve with L of ILU(0)", "sptrsv", "{matrix}", "solve_us")
SOLVERS = (
    Table("solve with U of ILU(0), by level sets", "blocks", "{matrix}", "solve_us"),
    Table("band: factorisation and solve", "band", "{rows} rows, kl {kl}, {rhs} rhs",
          "total us"),
    Table("dense", "gauss_jordan", "{task}, {n} rows", "ms", 1e3),
    Table("product", "spmv", "{matrix}", "product_us"),
    Table("conjugate gradients", "cg", "poisson:{size}", "solve_us"),
    Table("incomplete LU, new values", "factorization", "{matrix}", "numeric_us"),
    Table("incomplete LU and solvers", "factorization", "{matrix}", "ready_us"),
    Table("time steps", "krylov", "{matrix}, {method}", "total_us"))


def add_options(parser):
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--solvers", action="store_true", help="the other solvers")


def print_columns(table):
    """Columns two spaces apart, the first one flush left."""
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        cells = (cell.rjust(width) if c else cell.ljust(width)
                 for c, (cell, width) in enumerate(zip(row, widths)))
        print("  ".join(cells).rstrip())
    print()


def print_table(table, folder):
    """Returns how many times as long the fastest peer took, of each system."""
    of, chosen = {}, {}
    for row in read_tables([os.path.join(folder, table.name + ".csv")]):
        system, algorithm = table.system.format_map(row), row["algorithm"]
        us = table.unit * number(row, table.time) if row["outcome"] == "right" else None
        of.setdefault(algorithm, {})[system] = us or row["outcome"].replace("_", " ")
        if row.get("chosen") not in (None, "", algorithm):
            chosen[algorithm, system] = " (%s)" % row["chosen"]
    systems = list(dict.fromkeys(system for cells in of.values() for system in cells))
    triangles = table.name in ("sptrsv", "blocks")
    own = [a for a in of if (is_own(a) if triangles else a.startswith("strata"))]
    peers = [a for a in of if a not in own]

    def text_of(algorithm, system):
        cell = of[algorithm].get(system, "-")
        return (cell if isinstance(cell, str) else short_time(cell, "us")) + \
            chosen.get((algorithm, system), "")

    def fastest(algorithms, system):
        times = (of[a].get(system) for a in algorithms)
        return min((t for t in times if isinstance(t, float)), default=None)

    pairs = [(fastest(peers, s), fastest(own[:1], s)) for s in systems]
    ratios = [theirs / ours if theirs and ours else None for theirs, ours in pairs]
    print_columns([[table.title, *systems],
                   *([("" if a in own else "peer: ") + a, *(text_of(a, s) for s in systems)]
                     for a in own + peers),
                   ["fastest peer / " + own[0], *("%.2f" % r if r else "-" for r in ratios)]])
    return ratios


def summarise(options):
    tables = SOLVERS if options.solvers else [TRIANGLES]
    ratios = known(r for table in tables for r in print_table(table, options.folder))
    print("Every answer is checked.%s" % (
        "" if options.solvers else " automatic uses the algorithm in brackets."))
    if ratios:
        print("Strata is faster than the fastest peer in %d of %d comparisons; the peer takes "
              "%.3g times\nas long (geometric mean)." % (
                  sum(r > 1 for r in ratios), len(ratios), geometric_mean(ratios)))
