# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A line for each matrix: Strata's automatic choice, the fastest algorithm of cuSPARSE and
of Kokkos Kernels, with the parameters of its handle; and, if they were timed, the
functions in the style of Kokkos Kernels, which pack the values in each solve (drop-in) or
not (values fixed). Then the geometric means over all matrices. Times are in microseconds;
x: the other's time over Strata's. Answers that are not right do not count."""
from algorithms import fastest, solve_us as us
from tables import UserError, check_one_kind, geometric_mean, print_markdown, read_tables, short

COLUMNS = ("matrix", "algorithm", "chosen", "scalar", "rhs", "rows", "levels",
           "solve_us", "outcome")
OURS = "automatic"
# Columns of times, by family of algorithms.
PEERS = {"cuSPARSE": "cusparse", "KK": "kokkos_kernels"}
DROP_INS = {"drop-in": "sptrsv_drop_in", "values fixed": "sptrsv_drop_in_fixed"}


def add_options(parser):
    parser.add_argument("tables", nargs="+", metavar="TABLE.csv")


def handle_of(row):
    """Kokkos Kernels' algorithm and parameters."""
    name = row.get("algorithm", "")[len(PEERS["KK"]) + 1:]
    return " ".join(filter(None, (name, row.get("parameters", "")))) or "-"


def summarise(options):
    rows = read_tables(options.tables, COLUMNS, "strata_perf_sptrsv")
    check_one_kind(rows)
    of_family = fastest(rows)
    ours = of_family.get(OURS)
    if not ours:
        raise UserError("the tables have no right answer of '%s'" % OURS)
    others = {title: of_family[family] for title, family in {**PEERS, **DROP_INS}.items()
              if not ours.keys().isdisjoint(of_family.get(family, {}))}
    header = ["matrix", "rows", "level sets", "chosen", "Strata"]
    for title in others:
        header += [title] + ["KK with"] * (title == "KK") + ["x " + title] * (title in PEERS)
    table = []
    for matrix, own in ours.items():
        cells = [matrix, own["rows"], own["levels"], own["chosen"], us(own)]
        for title, found in others.items():
            row = found.get(matrix, {})
            cells += [us(row)] + [handle_of(row)] * (title == "KK")
            cells += [us(row) / us(own)] * (title in PEERS)
        table.append(cells)
    print_markdown(header, table)
    for first, other in [(title, "ours") for title in PEERS] + \
                        [("KK", title) for title in DROP_INS]:
        below = ours if other == "ours" else others.get(other, {})
        ratios = [us(row) / us(below[matrix]) for matrix, row in others.get(first, {}).items()
                  if matrix in ours and matrix in below]
        if ratios:
            print("%s's time over %s: %s in the geometric mean of %d matrices, least %s" %
                  (first, "Strata's" if other == "ours" else "that of " + other,
                   short(geometric_mean(ratios)), len(ratios), short(min(ratios))))
