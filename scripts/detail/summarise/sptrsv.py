# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A line for each matrix: Strata's automatic choice, cuSPARSE's SpSV and the fastest of
Kokkos Kernels' algorithms, with the parameters of its handle; and, if they were timed, the
functions in the style of Kokkos Kernels, which pack the values in each solve (drop-in) or
not (values fixed). Then the geometric means over all matrices. Times are in microseconds;
x: the other's time over Strata's. Answers that are not right do not count."""
import math

from algorithms import check_one_kind
from tables import UserError, geometric_mean, known, number, print_markdown, read_tables, short

COLUMNS = ("matrix", "algorithm", "chosen", "scalar", "rhs", "rows", "levels",
           "solve_us", "outcome")
OURS = "automatic"
# Columns of times: of peers the fastest of the algorithms whose names begin so.
PEERS = {"cuSPARSE": "cusparse_spsv", "KK": "kokkos_kernels"}
DROP_INS = {"drop-in": "sptrsv_drop_in", "values fixed": "sptrsv_drop_in_fixed"}


def add_options(parser):
    parser.add_argument("tables", nargs="+", metavar="TABLE.csv")


def us(row):
    return number(row, "solve_us") if row else math.nan


def handle_of(row):
    """Kokkos Kernels' algorithm and parameters."""
    if not row:
        return "-"
    name = row["algorithm"][len(PEERS["KK"]) + 1:]
    return " ".join(filter(None, (name, row.get("parameters", ""))))


def lines_of(right):
    for matrix in dict.fromkeys(row["matrix"] for row in right):
        here = [row for row in right if row["matrix"] == matrix]
        line = {title: min((row for row in here if row["algorithm"] == name or
                            title in PEERS and row["algorithm"].startswith(name)),
                           key=us, default=None)
                for title, name in {"ours": OURS, **PEERS, **DROP_INS}.items()}
        if line["ours"]:
            yield line


def summarise(options):
    rows = read_tables(options.tables, COLUMNS, "strata_perf_sptrsv")
    check_one_kind([(row["rhs"], row["scalar"]) for row in rows], "the table")
    lines = list(lines_of([row for row in rows if row["outcome"] == "right"]))
    if not lines:
        raise UserError("the tables have no right answer of '%s'" % OURS)
    header, others = ["matrix", "rows", "level sets", "chosen", "Strata"], []
    for title in (*PEERS, *DROP_INS):
        if any(line[title] for line in lines):
            others.append(title)
            header += [title] + (["KK with", "x KK"] if title == "KK" else
                                 ["x " + title] if title in PEERS else [])
    table = []
    for line in lines:
        ours = line["ours"]
        cells = [ours["matrix"], ours["rows"], ours["levels"], ours["chosen"], us(ours)]
        for title in others:
            cells += [us(line[title])] + [handle_of(line[title])] * (title == "KK")
            cells += [us(line[title]) / us(ours)] * (title in PEERS)
        table.append(cells)
    print_markdown(header, table)
    for first, other in [(title, "ours") for title in PEERS] + \
                        [("KK", title) for title in DROP_INS]:
        ratios = known([us(line[first]) / us(line[other]) for line in lines])
        if ratios:
            print("%s's time over %s: %s in the geometric mean of %d matrices, least %s" %
                  (first, "Strata's" if other == "ours" else "that of " + other,
                   short(geometric_mean(ratios)), len(ratios), short(min(ratios))))
