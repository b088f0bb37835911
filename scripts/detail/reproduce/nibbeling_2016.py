# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block back substitution: section 4.4 of Nibbeling (2016)."""
import os

from common import ROOT, ratio
from page import Panel
from tables import read_csv

NUMBER, TITLE = "000", "Nibbeling 2016"
PROGRAMS = ("strata_perf_spmv", "strata_perf_sptrsv")

# What the thesis does to its matrices: level scheduling, then the U of an ILU(0).
FACTOR = {"factor": "ilu0-u", "reorder": "level"}
# Plain ELL, a thread a row and no row apart: the thesis's storage. Its one chunk has
# all rows of the matrix.
PLAIN_ELL = {"sigma": 1, "lanes": 1, "long_row": 1000000000}
MOST_SLOTS = 1e9  # of plain ELL, entries of the longest row for each row
VECTORS = (1, 5, 50, 100)
# Table 4.1 and, for some numbers of vectors, times of sections 4.4.1 to 4.4.3 in
# milliseconds, the thesis's and cuSPARSE's on a GeForce GTX 980 Ti. Solves include the
# analysis. `longest_row` is that of U, `group` the matrix's in the collection.
THESIS = {row["matrix"]: row for row in read_csv(os.path.join(
    ROOT, "docs", "reproduced", "nibbeling_2016", "thesis.csv"))}
# Matrices of the gallery with the pattern of one of these.
SAME_PATTERN = {"diagonal:46772": "bcsstm39"}


def name_in_thesis(matrix):
    return SAME_PATTERN.get(matrix, matrix)


def shown(matrix):
    return "%s (`%s`)" % (SAME_PATTERN[matrix], matrix) if matrix in SAME_PATTERN \
        else matrix


def pair(what, name):
    """(the thesis's, cuSPARSE's) milliseconds; None where the thesis has none."""
    row = THESIS.get(name_in_thesis(name), {})
    return [float(row[c]) if row.get(c) else None for c in (what, "cusparse_" + what)]


def total_us(row):
    return float(row["analysis_us"]) + float(row["solve_us"])


def compare(results):
    """(matrix, vectors, our row, the fastest peer's, serial substitution's) of tables
    by their number of vectors; None for a row that there is not."""
    names = dict.fromkeys(row["matrix"] for rows in results.values()
                          for row in rows)
    for name in names:
        for vectors, rows in results.items():
            here = [row for row in rows if row["matrix"] == name]
            ours = [row for row in here if row["algorithm"] == "blocks"]
            serial = [row for row in here if row["algorithm"].startswith("serial")]
            peers = [row for row in here if row not in ours + serial]
            yield (name, vectors, ours[0] if ours else None,
                   min(peers, key=total_us, default=None),
                   serial[0] if serial else None)


def totals(results):
    """Rows of section 4.4.2."""
    for name, vectors, ours, peer, serial in compare(results):
        if not ours:
            continue
        thesis, cusparse = pair("solve_%d" % vectors, name)
        mine = 1e-3 * total_us(ours)
        theirs = 1e-3 * total_us(peer) if peer else None
        yield [shown(name), int(ours["rows"]), int(ours["levels"]), vectors,
               float(ours["analysis_us"]), float(ours["solve_us"]), mine,
               peer["algorithm"] if peer else None, theirs,
               ratio(theirs, mine), 1e-3 * total_us(serial) if serial else None,
               thesis, cusparse, ratio(thesis, mine)]


def sources(run):
    """(files and names of matrices, {name: file}, names that are missing)"""
    found = {name: run.files[name] for name in THESIS if name in run.files}
    missing = [name for name in THESIS if name not in found]
    if run.quick:  # so that there is something if no matrix of the thesis is at hand
        made = ["grid2d:60", "circuit:2000"]
    else:
        made = [spec for spec, name in SAME_PATTERN.items() if name in missing]
        missing = [name for name in missing if name not in SAME_PATTERN.values()]
        made += ["grid2d:700", "circuit:100000", "triangulated:257x129"]
    return [*found.values(), *made], found, missing


def vectors_of(run):
    return VECTORS[:3] if run.quick else VECTORS


def products(run, systems, found):
    peers = ("cusparse_csr_alg1", "cusparse_csr_alg2", "cusparse_spmm_alg1") \
        if run.on_gpu else ("kokkos_kernels",)
    rows = run.rows("spmv", "products", systems=systems, **FACTOR, vectors=vectors_of(run),
                    algorithms=("strata_blocks", "strata", *peers))
    for name, count in {row["matrix"]: int(row["rows"]) for row in rows}.items():
        # Rows of very many entries: each row would take as much.
        longest = int(THESIS.get(name_in_thesis(name), {"longest_row": 10})["longest_row"])
        if name.startswith("circuit:") or count * longest > MOST_SLOTS:
            continue
        rows += run.rows("spmv", "products_ell_" + name.replace(":", "_"),
                         systems=[found.get(name, name)], **FACTOR, vectors=vectors_of(run),
                         algorithms="strata_columns", chunk_rows=(count + 31) // 32 * 32,
                         **PLAIN_ELL)
    return rows


def section_4_4_1(run, page, systems, found):
    by = {}
    for row in products(run, systems, found):
        by.setdefault((row["matrix"], int(row["vectors"])), {})[
            row["algorithm"]] = 1e-3 * float(row["product_us"])
    rows, lines = [], {}
    for (name, vectors), times in by.items():
        peer = min((t for a, t in times.items() if not a.startswith("strata")),
                   default=None)
        blocks, ell = times.get("strata_blocks"), times.get("strata_columns")
        thesis, cusparse = pair("multiply_%d" % vectors, name)
        rows.append([shown(name), vectors, blocks, ell, times.get("strata"), peer,
                     ratio(peer, blocks), thesis, cusparse,
                     ratio(thesis, ell)])
        lines.setdefault(shown(name), {})[vectors] = ratio(peer, blocks)
    page.put(product_peer="the fastest of cuSPARSE's" if run.on_gpu else "Kokkos Kernels")
    page.table("products", ["matrix", "vectors", "blocks", "ELL", "SELL", "peer",
                            "peer over blocks", "thesis", "its cuSPARSE", "thesis over ELL"],
               rows)
    page.figure("products", [Panel("the peer's time over that of blocks", lines, x="vectors",
                                   y="ratio", unit="", levels={"": 1})])
    return {name_in_thesis(name) for name, _ in by if None not in pair("multiply_1", name)}


def section_4_4_2(run, page, systems):
    peers = ("cusparse",) if run.on_gpu else ("serial", "kokkos_kernels_tp1")
    results = {k: run.rows("sptrsv", "solves_%d" % k, systems=systems, **FACTOR, rhs=k,
                           algorithms=("blocks", *peers)) for k in vectors_of(run)}
    page.put(solve_peer="the faster one of cuSPARSE's SpSV and SpSM" if run.on_gpu else
             "Kokkos Kernels; `one thread` is plain substitution, which needs no analysis")
    page.table("solves", [
        "matrix", "rows", "levels", "vectors", "analysis, us", "solve, us", "total, ms", "peer",
        "its total, ms", "it over ours", "one thread, ms", "thesis, ms", "its cuSPARSE, ms",
        "thesis over ours"], list(totals(results)))
    lines = {}
    for name, vectors, ours, peer, _ in compare(results):
        if ours and peer:
            lines.setdefault(shown(name), {})[vectors] = total_us(peer) / total_us(ours)
    page.figure("totals", [Panel("the peer's total over ours", lines, x="vectors",
                                 y="ratio", unit="", levels={"": 1})])
    return results


def section_4_4_3(page, results):
    rows = []
    for name, _, ours, peer, _ in compare({1: results[1]}):
        thesis, cusparse = pair("analysis", name)
        mine = 1e-3 * float(ours["analysis_us"]) if ours else None
        rows.append([shown(name), mine, 1e-3 * float(peer["analysis_us"]) if peer else None,
                     thesis, cusparse, ratio(thesis, mine)])
    page.table("analysis", ["matrix", "ours", "peer", "thesis, its blocks", "its cuSPARSE",
                            "thesis over ours"], rows)


def reproduce(run, page):
    systems, found, missing = sources(run)
    page.items("missing", [
        "Matrices of the thesis that were not measured: %s. Put NAME.mtx or NAME.mtx.gz into a "
        "folder and name it with `--matrices`." % ", ".join(
            "[{0}](https://sparse.tamu.edu/{1}/{0})".format(name, THESIS[name]["group"])
            for name in missing)] * bool(missing))
    multiplied = section_4_4_1(run, page, systems, found)
    results = section_4_4_2(run, page, systems)
    section_4_4_3(page, results)

    known = {name: ours for name, _, ours, _, _ in compare({1: results[1]})
             if ours and name_in_thesis(name) in THESIS}
    rows = []
    for name, ours in known.items():
        row = THESIS[name_in_thesis(name)]
        numbers = [int(n) for n in (row["rows"], ours["rows"], row["blocks"], ours["levels"])]
        same = numbers[0] == numbers[1] and numbers[2] == numbers[3]
        rows.append([shown(name), *numbers, "yes" if same else "no"])
    if rows:
        page.table("table_4_1", ["matrix", "rows, thesis", "rows", "blocks, thesis",
                                 "level sets", "the same"], rows)
    else:
        page.put(table_4_1="None of the thesis's matrices was at hand.")
    most = vectors_of(run)[-1]
    wins = [(name, ratio(total_us(peer), total_us(ours)))
            for name, vectors, ours, peer, _ in compare(results)
            if vectors == most and ours and peer]
    def wins_in_thesis(what):
        return [name for name in sorted(THESIS) if pair(what, name)[0] < pair(what, name)[1]]

    thesis_wins = wins_in_thesis("solve_%d" % most)
    of_thesis = [(name, r) for name, r in wins if name in known]
    page.beside([
        ("matrices with %d vectors whose total is smaller than the peer's" % most,
         "%d of %d" % (len(thesis_wins), len(THESIS)),
         "%d of %d" % (sum(r > 1 for _, r in wins), len(wins)),
         ", ".join(thesis_wins) + " in the thesis"),
        ("the same, of the thesis's matrices",
         "%d of %d" % (sum(name_in_thesis(name) in thesis_wins
                           for name, _ in of_thesis), len(of_thesis)),
         "%d of %d" % (sum(r > 1 for _, r in of_thesis), len(of_thesis)),
         "those that are measured here"),
        ("analysis faster than the peer's",
         "%d of %d" % (len(wins_in_thesis("analysis")), len(THESIS)),
         "%d of %d" % (sum(float(o["analysis_us"]) < float(p["analysis_us"])
                           for _, _, o, p, _ in compare({1: results[1]})
                           if o and p), len(wins)))])
    page.put(matrices=len(known), multiplied=len(multiplied))
    page.items("differs", [
        "Without a GPU the peer is Kokkos Kernels on the same cores, and plain ELL, which is "
        "one chunk, is multiplied by one thread."] * (not run.on_gpu))
