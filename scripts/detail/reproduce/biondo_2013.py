# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Band systems: Figures 6, 7, 9 and 10 of Biondo (2013)."""
from common import Document, ratio
from page import Panel

DOCUMENT = Document(
    number="002", authors="E. Biondo", year=2013,
    title="Diagonally Dominant Banded Systems Solving with CUDA",
    kind="project report", programs=("strata_perf_band",))

SHARES = (10, 25, 50)  # per cent of N, Figures 6 and 9


NAMES = {"strata": "Strata", "dgbsv": "LAPACK dgbsv",
         "row_by_row": "row by row, one thread",
         "row_by_row_rhs": "row by row, threads share right-hand sides",
         "naive": "row by row, naive OpenMP",
         "cuda": "row by row, CUDA, a launch each step"}


def total(row):
    """Microseconds of factorisation and solve; None for a lower bound."""
    text = row["total us"]
    return float(text) if text[:1].isdigit() else None


def times(rows, x, parallel):
    """{algorithm: {x: microseconds}}

    @param parallel what row_by_row_parallel is called
    """
    lines = {}
    for row in rows:
        name = row["algorithm"].replace("row_by_row_parallel", parallel)
        if total(row) is not None:
            lines.setdefault(name, {})[int(row[x])] = total(row)
    return lines


def named(lines, algorithms):
    return {NAMES[a]: lines.get(a, {}) for a in algorithms}


def measure(run, table, sizes, bandwidth, rhs, algorithms):
    """Rows of strata_perf_band; what one thread takes too long for is left out."""
    return run.rows("band", ["--size", ",".join(map(str, sizes)), "--bandwidth",
                             bandwidth, "--rhs", ",".join(map(str, rhs)),
                             "--algorithms", ",".join(algorithms),
                             "--max-host-seconds",
                             "%g" % run.max_host_seconds], table=table)


def last_ratio(lines, of, to):
    """(x, time of `of` over time of `to`) at the largest x of both."""
    both = sorted(set(lines.get(of, {})) & set(lines.get(to, {})))
    if not both:
        return None, None
    return both[-1], ratio(lines[of][both[-1]], lines[to][both[-1]])


def sizes_of(run):
    return (100, 200, 500) if run.quick else (100, 200, 500, 1000, 2000, 5000,
                                              10000)


def figure_6(run, page):
    algorithms = ["strata", "dgbsv"] + ["row_by_row_parallel"] * run.on_gpu
    by_share = {share: times(
        measure(run, "figure_6_%d" % share, sizes_of(run), "%d%%" % share, (1,),
                algorithms), "rows", "cuda") for share in SHARES}
    page.section("Figure 6: time against N, one right-hand side")
    page.figure("figure_6", [
        Panel("bandwidth %d %% of N" % share,
              named(by_share[share], ("strata", "dgbsv", "cuda")), x="N",
              y="factorisation and solve" if share == SHARES[0] else "", unit="us",
              dashed=(NAMES["dgbsv"],)) for share in SHARES],
        "Time against N. Figure 6 of the report has the three shares in one picture.")
    page.table(["bandwidth", "N", "ours, us", "dgbsv, us", "dgbsv over ours"],
               [["%d %%" % share, n, us, lines.get("dgbsv", {}).get(n),
                 ratio(lines.get("dgbsv", {}).get(n), us)]
                for share, lines in by_share.items()
                for n, us in sorted(lines["strata"].items())])
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
    naive = lines.get("naive", {})
    page.table(["N", "one thread, us", "naive OpenMP, us",
                "naive over one thread", "ours, us"],
               [[n, us, naive.get(n), ratio(naive.get(n), us),
                 lines["strata"].get(n)]
                for n, us in sorted(lines["row_by_row"].items())])
    return lines


def figures_7_and_10(run, host, page):
    n, width = (300, 151) if run.quick else (1000, 501)
    rhs = (1, 10, 100) if run.quick else (1, 10, 20, 50, 100, 200, 500, 1000)
    of_device = ["strata", "dgbsv"] + ["row_by_row_parallel"] * run.on_gpu
    of_host = ["row_by_row", "row_by_row_rhs"]
    rows = measure(run, "figure_7", (n,), str(width), rhs, of_device)
    rows += measure(host, "figure_10", (n,), str(width), rhs, of_host)
    lines = times(rows, "rhs", "cuda")
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
    page.table(["right-hand sides", "ours, us", "dgbsv, us", "one thread, us",
                "threads share them, us", "one thread over threads"],
               [[m, us, lines.get("dgbsv", {}).get(m),
                 lines["row_by_row"].get(m), lines["row_by_row_rhs"].get(m),
                 ratio(lines["row_by_row"].get(m),
                       lines["row_by_row_rhs"].get(m))]
                for m, us in sorted(lines["strata"].items())])
    return lines


def reproduce(run, page):
    host = run.host()
    page.text("""The report factorises diagonally dominant band matrices by the
      algorithm of its Figures 1 to 3 and solves for right-hand sides whose solution is all
      ones, in double. `row by row` is that algorithm, in place and without any blocking;
      Strata's own works on tiles and is tested against it
      (`kernels/band/BandRowByRow.hpp`).""")
    by_share = figure_6(run, page)
    on_host = figure_9(host, page)
    by_rhs = figures_7_and_10(run, host, page)
    page.section("The claims beside ours")
    claims = []
    for share in SHARES:
        n, times_as_long = last_ratio(by_share[share], "dgbsv", "strata")
        claims.append(("Figure 6, %d %%: dgbsv over the program" % share,
                       "above 1 throughout", times_as_long, "N = %s" % n))
    m, times_as_long = last_ratio(by_rhs, "dgbsv", "strata")
    claims.append(("Figure 7: dgbsv over the program, many right-hand sides",
                   "below 1", times_as_long, "%s right-hand sides" % m))
    n, times_as_long = last_ratio(on_host, "naive", "row_by_row")
    claims.append(("Figure 9: naive OpenMP over one thread",
                   "considerably above 1", times_as_long, "N = %s" % n))
    m, times_as_long = last_ratio(by_rhs, "row_by_row", "row_by_row_rhs")
    claims.append(("Figure 10: one thread over threads that share right-hand sides",
                   "about 10, 16 threads", times_as_long,
                   "%s right-hand sides" % m))
    page.beside(claims)
    page.differs([
        "The report draws times and states few numbers: ratios are all that can stand "
        "beside ours. Its GPU is a GeForce GTX 480, its LAPACK Intel's MKL; here dgbsv is "
        "that of the library named above.",
        "The report's times include the copies to the device and back. Ours are of data "
        "that is there.",
        "The report stores a band by rows, here it is LAPACK's storage, by columns.",
        "Strata's own solves up to 1,024 right-hand sides in one launch, where the report "
        "solves one after the other: what it says of many right-hand sides no longer "
        "holds.",
        "Its naive OpenMP program starts threads for each step. Kokkos keeps them and wakes "
        "them for each step, which costs less."])
