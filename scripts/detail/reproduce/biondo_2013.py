# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Band systems: Figures 6, 7, 9 and 10 of Biondo (2013)."""
from common import last, ratios, series, text_of
from page import Panel

NUMBER, TITLE, PROGRAMS = "002", "Biondo 2013", ("strata_perf_band",)

SHARES = (10, 50)  # per cent of N that the text names, of Figures 6 and 9
PROGRAM = "the report's algorithm"
WHOLE = "factorisation and solve"

NAMES = {"strata": "Strata", "dgbsv": "LAPACK dgbsv",
         "row_by_row": "row by row, one thread",
         "row_by_row_rhs": "row by row, threads share right-hand sides",
         "naive": "row by row, naive OpenMP",
         "cuda": "row by row, CUDA, a launch each step"}


def times(rows, x, parallel="cuda", column="total us"):
    """{algorithm: {x: microseconds}}

    @param parallel what row_by_row_parallel is called
    @param column   "us" for the solve alone
    """
    lines = series(rows, x, column)
    if "row_by_row_parallel" in lines:
        lines[parallel] = lines.pop("row_by_row_parallel")
    return lines


def panel(title, x, lines, algorithms, y=WHOLE, dashed=("dgbsv",)):
    return Panel(title, {NAMES[a]: lines.get(a, {}) for a in algorithms}, x=x, y=y,
                 dashed=tuple(NAMES[a] for a in dashed))


def measure(run, table, sizes, bandwidth, rhs, algorithms):
    """Rows of strata_perf_band; what one thread takes too long for is left out."""
    return run.rows("band", table, size=sizes, bandwidth=bandwidth, rhs=rhs,
                    algorithms=algorithms, max_host_seconds=2 if run.quick else 8)


def spread(values):
    """From the least to the largest."""
    known = values.values()
    return "%s to %s" % (text_of(min(known)), text_of(max(known))) if known else None


def many(values, whose):
    """The value for the most right-hand sides, and the remark on it."""
    most, value = last(values)
    return value, "%s, %s" % (whose, "right-hand sides: " + text_of(most) if values else "")


def sizes_of(run):
    return (100, 200, 500) + (1000, 2000, 5000, 10000) * (not run.quick)


def device_algorithms(run):
    """On a host the report's algorithm for a GPU is that of Figure 9, the slow one."""
    return ["strata", "dgbsv"] + ["row_by_row_parallel"] * run.on_gpu


def figure_6(run, page):
    by_share = {share: measure(run, "figure_6_%d" % share, sizes_of(run), "%d%%" % share, (1,),
                               device_algorithms(run)) for share in SHARES}
    by_share = {share: times(rows, "rows") for share, rows in by_share.items()}
    page.figure("figure_6", [
        panel("bandwidth %d %% of N" % share, "N", by_share[share],
              ("strata", "dgbsv", "cuda"), y=y)
        for share, y in zip(SHARES, (WHOLE, ""))])
    rows = []
    for share, lines in by_share.items():
        columns = [*(lines.get(a, {}) for a in ("strata", "cuda", "dgbsv")),
                   *(ratios(lines, "dgbsv", to) for to in ("strata", "cuda"))]
        rows += [["%d %%" % share, n, *(values.get(n) for values in columns)]
                 for n in sorted(lines["strata"])]
    page.table("figure_6", ["bandwidth", "N", "Strata, us", PROGRAM + ", us",
                            "dgbsv, us", "dgbsv over Strata", "dgbsv over " + PROGRAM], rows)
    return by_share


def figure_9(host, page):
    lines = times(measure(host, "figure_9", sizes_of(host), "50%", (1,),
                          ["strata", "row_by_row", "row_by_row_parallel"]), "rows", "naive")
    page.figure("figure_9", [panel("bandwidth 50 % of N", "N", lines,
                                   ("row_by_row", "naive", "strata"), dashed=("strata",))])
    slower = ratios(lines, "naive", "row_by_row")
    page.columns("figure_9", "N", sorted(lines["row_by_row"]), [
        ("one thread, us", lines["row_by_row"]), ("naive OpenMP, us", lines.get("naive", {})),
        ("naive over one thread", slower), ("Strata, us", lines["strata"])])
    return slower


def figures_7_and_10(run, host, page):
    n, width = (300, 151) if run.quick else (1000, 501)
    rhs = (1, 10, 100) if run.quick else (1, 10, 20, 50, 100, 200, 500, 1000)
    of_host = ["row_by_row", "row_by_row_rhs"]
    rows = measure(run, "figure_7", (n,), str(width), rhs, device_algorithms(run))
    rows += measure(host, "figure_10", (n,), str(width), rhs, of_host)
    lines, solves = times(rows, "rhs"), times(rows, "rhs", column="us")
    page.put(n=str(n), width=width)
    page.figure("figures_7_and_10", [
        panel("Figure 7", "right-hand sides", lines, ("strata", "dgbsv", "cuda")),
        panel("Figure 10", "right-hand sides", lines, (*of_host, "dgbsv", "strata"), y="",
              dashed=("dgbsv", "strata"))])
    page.columns("figure_7", "right-hand sides", sorted(lines["strata"]), [
        ("Strata, us", lines["strata"]), (PROGRAM + ", us", lines.get("cuda", {})),
        ("dgbsv, us", lines.get("dgbsv", {}))])
    both, alone = (ratios(of, *of_host) for of in (lines, solves))
    page.columns("figure_10", "right-hand sides", sorted(lines["row_by_row"]), [
        ("one thread, us", lines["row_by_row"]), ("threads, us", lines["row_by_row_rhs"]),
        ("one thread over threads", both),
        ("solves alone: one thread, us", solves["row_by_row"]),
        ("threads, us", solves["row_by_row_rhs"]), ("one thread over threads", alone)])
    return lines, both, alone


def claims(run, page, by_share, slower, by_rhs):
    """The document's claims, one row for each program that stands for it."""
    lines, both, alone = by_rhs
    programs = (("cuda", PROGRAM), ("strata", "Strata"))[not run.on_gpu:]
    rows = [("Figure 6, %d %%: dgbsv over the program, from the least to the largest"
             % share, "above 1 throughout", spread(ratios(by_share[share], "dgbsv", name)),
             title) for share in SHARES for name, title in programs]
    rows += [("Figure 7: dgbsv over the program, many right-hand sides", "below 1",
              *many(ratios(lines, "dgbsv", name), title)) for name, title in programs]
    rows.append(("Figure 9: naive OpenMP over one thread, from the least to the largest",
                 "considerably above 1", spread(slower), ""))
    for values, what in ((both, "with the factorisation"), (alone, "solves alone")):
        rows.append(("Figure 10: one thread over threads that share right-hand sides",
                     "about 10, 16 threads", *many(values, what)))
    for of, to, what in (("cuda", "row_by_row_rhs", "the CUDA program over OpenMP"),
                         ("row_by_row_rhs", "dgbsv", "OpenMP over dgbsv")):
        values = ratios(lines, of, to)
        if values:
            rows.append(("Figures 7 and 10: %s, many right-hand sides" % what, "above 1",
                         *many(values, PROGRAM)))
    page.beside(rows)


def reproduce(run, page):
    host = run.host()
    by_share = figure_6(run, page)
    slower = figure_9(host, page)
    by_rhs = figures_7_and_10(run, host, page)
    claims(run, page, by_share, slower, by_rhs)
