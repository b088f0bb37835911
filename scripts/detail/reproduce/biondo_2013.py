# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Band systems: Figures 6, 7, 9 and 10 of Biondo (2013)."""
from common import Document, ratio, series, text_of
from page import Panel

DOCUMENT = Document(
    number="002", authors="E. Biondo", year=2013,
    title="Diagonally Dominant Banded Systems Solving with CUDA",
    kind="project report", programs=("strata_perf_band",))

SHARES = (10, 50)  # per cent of N that the text names, of Figures 6 and 9
PROGRAM = "the report's algorithm"

NAMES = {"strata": "Strata", "dgbsv": "LAPACK dgbsv",
         "row_by_row": "row by row, one thread",
         "row_by_row_rhs": "row by row, threads share right-hand sides",
         "naive": "row by row, naive OpenMP",
         "cuda": "row by row, CUDA, a launch each step"}


def times(rows, x, parallel, column="total us"):
    """{algorithm: {x: microseconds}}

    @param parallel what row_by_row_parallel is called
    @param column   "us" for the solve alone
    """
    return series(rows, lambda row: int(row[x]), lambda row: float(row[column]),
                  lambda row: row["algorithm"].replace("row_by_row_parallel", parallel))


def named(lines, algorithms):
    return {NAMES[a]: lines.get(a, {}) for a in algorithms}


def measure(run, table, sizes, bandwidth, rhs, algorithms):
    """Rows of strata_perf_band; what one thread takes too long for is left out."""
    return run.rows("band", ["--size", ",".join(map(str, sizes)), "--bandwidth",
                             bandwidth, "--rhs", ",".join(map(str, rhs)),
                             "--algorithms", ",".join(algorithms),
                             "--max-host-seconds",
                             "%g" % run.max_host_seconds], table=table)


def ratios(lines, of, to):
    """{x: time of `of` over time of `to`} where both ran, x ascending."""
    return {x: ratio(lines[of][x], lines[to][x])
            for x in sorted(set(lines.get(of, {})) & set(lines.get(to, {})))}


def spread(values):
    """From the least to the largest."""
    known = list(values.values())
    if not known:
        return None
    return "%s to %s" % (text_of(min(known)), text_of(max(known)))


def last(values, what):
    """(value, where) at the largest x."""
    if not values:
        return None, ""
    x = max(values)
    return values[x], "%s %s" % (what, text_of(x))


def sizes_of(run):
    return (100, 200, 500) if run.quick else (100, 200, 500, 1000, 2000, 5000,
                                              10000)


def device_algorithms(run):
    """On a host the report's algorithm for a GPU is that of Figure 9, the slow one."""
    return ["strata", "dgbsv"] + ["row_by_row_parallel"] * run.on_gpu


def figure_6(run, page):
    by_share = {share: times(
        measure(run, "figure_6_%d" % share, sizes_of(run), "%d%%" % share, (1,),
                device_algorithms(run)), "rows", "cuda") for share in SHARES}
    page.section("Figure 6: time against N, one right-hand side")
    page.figure("figure_6", [
        Panel("bandwidth %d %% of N" % share,
              named(by_share[share], ("strata", "dgbsv", "cuda")), x="N",
              y="factorisation and solve" if share == SHARES[0] else "", unit="us",
              dashed=(NAMES["dgbsv"],)) for share in SHARES],
        "Time against N. Figure 6 of the report has all its bandwidths in one picture.")
    rows = []
    for share, lines in by_share.items():
        of_ours, of_theirs = (ratios(lines, "dgbsv", to) for to in ("strata", "cuda"))
        rows += [["%d %%" % share, n, us, lines.get("cuda", {}).get(n),
                  lines.get("dgbsv", {}).get(n), of_ours.get(n), of_theirs.get(n)]
                 for n, us in sorted(lines["strata"].items())]
    page.table(["bandwidth", "N", "Strata, us", PROGRAM + ", us", "dgbsv, us",
                "dgbsv over Strata", "dgbsv over " + PROGRAM], rows)
    return by_share


def figure_9(host, page):
    lines = times(measure(host, "figure_9", sizes_of(host), "50%", (1,),
                          ["strata", "row_by_row", "row_by_row_parallel"]),
                  "rows", "naive")
    page.section("Figure 9: row by row on a host, bandwidth 50 % of N")
    page.figure("figure_9", [
        Panel("bandwidth 50 % of N",
              named(lines, ("row_by_row", "naive", "strata")), x="N",
              y="factorisation and solve", unit="us",
              dashed=(NAMES["strata"],))],
        "Serial and naive OpenMP. Figure 9 of the report.")
    slower = ratios(lines, "naive", "row_by_row")
    page.table(["N", "one thread, us", "naive OpenMP, us",
                "naive over one thread", "Strata, us"],
               [[n, us, lines.get("naive", {}).get(n), slower.get(n),
                 lines["strata"].get(n)]
                for n, us in sorted(lines["row_by_row"].items())])
    return slower


def figures_7_and_10(run, host, page):
    n, width = (300, 151) if run.quick else (1000, 501)
    rhs = (1, 10, 100) if run.quick else (1, 10, 20, 50, 100, 200, 500, 1000)
    of_host = ["row_by_row", "row_by_row_rhs"]
    rows = measure(run, "figure_7", (n,), str(width), rhs, device_algorithms(run))
    rows += measure(host, "figure_10", (n,), str(width), rhs, of_host)
    lines = times(rows, "rhs", "cuda")
    solves = times(rows, "rhs", "cuda", "us")
    page.section("Figures 7 and 10: time against right-hand sides, N = %d, "
                 "bandwidth %d" % (n, width))
    page.figure("figures_7_and_10", [
        Panel("Figure 7", named(lines, ("strata", "dgbsv", "cuda")),
              x="right-hand sides", y="factorisation and solve", unit="us",
              dashed=(NAMES["dgbsv"],)),
        Panel("Figure 10", named(lines, (*of_host, "dgbsv", "strata")),
              x="right-hand sides", unit="us",
              dashed=(NAMES["dgbsv"], NAMES["strata"]))],
        "Factorisation and solve against the number of right-hand sides.")
    page.table(["right-hand sides", "Strata, us", PROGRAM + ", us", "dgbsv, us"],
               [[m, us, lines.get("cuda", {}).get(m), lines.get("dgbsv", {}).get(m)]
                for m, us in sorted(lines["strata"].items())])
    page.text("""On a host, row by row: one thread, and threads that share the right-hand
      sides. Only the solves are shared; the factorisation stays on one thread.""")
    both, alone = (ratios(of, "row_by_row", "row_by_row_rhs")
                   for of in (lines, solves))
    page.table(["right-hand sides", "one thread, us", "threads, us",
                "one thread over threads", "solves alone: one thread, us",
                "threads, us", "one thread over threads"],
               [[m, us, lines["row_by_row_rhs"].get(m), both.get(m),
                 solves["row_by_row"].get(m), solves["row_by_row_rhs"].get(m),
                 alone.get(m)] for m, us in sorted(lines["row_by_row"].items())])
    return lines, both, alone


def claims(run, page, by_share, slower, by_rhs):
    """The document's claims, one row for each program that stands for it."""
    lines, both, alone = by_rhs
    programs = (("cuda", PROGRAM), ("strata", "Strata"))[not run.on_gpu:]
    rows = [("Figure 6, %d %%: dgbsv over the program, from the least to the largest"
             % share, "above 1 throughout", spread(ratios(by_share[share], "dgbsv", name)),
             title) for share in SHARES for name, title in programs]
    rows += [("Figure 7: dgbsv over the program, many right-hand sides", "below 1",
              value, "%s, %s" % (title, where))
             for name, title in programs
             for value, where in [last(ratios(lines, "dgbsv", name),
                                       "right-hand sides:")]]
    rows.append(("Figure 9: naive OpenMP over one thread, from the least to the largest",
                 "considerably above 1", spread(slower), ""))
    for values, what in ((both, "with the factorisation"), (alone, "solves alone")):
        value, where = last(values, "right-hand sides:")
        rows.append(("Figure 10: one thread over threads that share right-hand sides",
                     "about 10, 16 threads", value, "%s, %s" % (what, where)))
    for of, to, what in (("cuda", "row_by_row_rhs", "the CUDA program over OpenMP"),
                         ("row_by_row_rhs", "dgbsv", "OpenMP over dgbsv")):
        value, where = last(ratios(lines, of, to), "right-hand sides:")
        if value is not None:
            rows.append(("Figures 7 and 10: %s, many right-hand sides" % what, "above 1",
                         value, "%s, %s" % (PROGRAM, where)))
    page.section("The claims beside ours")
    for name, title in programs:
        lost = []
        for share in SHARES:
            of = ratios(by_share[share], "dgbsv", name)
            at = [text_of(n) for n, r in of.items() if r < 1]
            if at:
                lost.append("with a bandwidth of %d %% at %s" % (
                    share, "every N" if len(at) == len(of)
                    else "N = " + " and ".join(at)))
        if lost:
            page.note("For one right-hand side dgbsv is faster than %s %s." % (
                title, ", and ".join(lost)))
    page.beside(rows)


def reproduce(run, page):
    host = run.host()
    page.text("""The report factorises diagonally dominant band matrices by the
      algorithm of its Figures 1 to 3 and solves for right-hand sides whose solution is all
      ones. Here all numbers are double. `row by row` is that algorithm, in place and
      without any blocking; on a GPU each step is a launch, as in the report, and stands
      for its CUDA program. Strata's own works on tiles and is tested against it
      (`perf_test/detail/Strata_PerfRowByRowBand.hpp`).""")
    page.sizes("""the text names bandwidths of 10 and 50 % of N, N = 100, and for Figures 7
      and 10 N = 1000 and a bandwidth of 501; the other sizes, and the numbers of
      right-hand sides, are ours""")
    by_share = figure_6(run, page)
    slower = figure_9(host, page)
    by_rhs = figures_7_and_10(run, host, page)
    claims(run, page, by_share, slower, by_rhs)
    page.differs([
        "The report draws times and states few numbers: ratios are all that can stand "
        "beside ours. Its GPU is a GeForce GTX 480, its LAPACK Intel's MKL; here dgbsv is "
        "that of the library named above.",
        "The report's times are inclusive, with the copies to the device and back. Ours "
        "are of data that is there, for %s as for Strata." % PROGRAM,
        "The report stores a band by rows, here it is LAPACK's storage, by columns.",
        "For each step of the factorisation the report launches two kernels, as the "
        "program here does through Kokkos. For each row of a substitution it launches one; "
        "here backward substitution launches two, the first of which divides by the pivot.",
        "Strata solves up to 1,024 right-hand sides in one launch, the report one after "
        "the other.",
        "The report's naive OpenMP program starts threads for each step. Kokkos keeps them "
        "and wakes them for each step, which costs less."])
