# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Totals of analysis and solves, as section 4.4.2 of Nibbeling (2016) has them."""
from common import ratio
from nibbeling_numbers import MATRICES, SOLVE, name_in_thesis, pair, shown

HEADER = ["matrix", "rows", "levels", "vectors", "analysis, us", "solve, us",
          "total, ms", "peer", "its total, ms", "it over ours",
          "one thread, ms", "thesis, ms", "its cuSPARSE, ms", "thesis over ours"]


def total_us(row, solves=1):
    """Analysis and so many solves of the row's vectors, one after the other."""
    return float(row["analysis_us"]) + solves * float(row["solve_us"])


def right(rows, matrix):
    return [row for row in rows
            if row["matrix"] == matrix and row["outcome"] == "right"]


def compare(results, algorithm):
    """(matrix, vectors, our row, the fastest peer's, serial substitution's) of tables
    by their number of vectors; None for a row that there is not."""
    names = dict.fromkeys(row["matrix"] for rows in results.values()
                          for row in rows)
    for name in names:
        for vectors, rows in results.items():
            here = right(rows, name)
            ours = [row for row in here if row["algorithm"] == algorithm]
            serial = [row for row in here if row["algorithm"].startswith("serial")]
            peers = [row for row in here if row not in ours + serial]
            yield (name, vectors, ours[0] if ours else None,
                   min(peers, key=total_us, default=None),
                   serial[0] if serial else None)


def table(results, algorithm):
    """Rows under HEADER; without a right answer of ours they say so."""
    for name, vectors, ours, peer, serial in compare(results, algorithm):
        if not ours:
            yield [shown(name), None, None, vectors, "no right answer"] + [None] * 9
            continue
        thesis, cusparse = pair(SOLVE, name, vectors)
        mine = 1e-3 * total_us(ours)
        theirs = 1e-3 * total_us(peer) if peer else None
        yield [shown(name), int(ours["rows"]), int(ours["levels"]), vectors,
               float(ours["analysis_us"]), float(ours["solve_us"]), mine,
               peer["algorithm"] if peer else None, theirs,
               ratio(theirs, mine), 1e-3 * total_us(serial) if serial else None,
               thesis, cusparse, ratio(thesis, mine)]


def as_the_thesis(row):
    """Whether rows and level sets of a matrix by this name are those of Table 4.1;
    None where it is not in there."""
    known = MATRICES.get(name_in_thesis(row["matrix"]))
    if not known:
        return None
    return int(row["rows"]) == known[1] and int(row["levels"]) == known[2]
