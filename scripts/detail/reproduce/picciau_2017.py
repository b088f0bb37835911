# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sparse triangular solves by sub-graphs: Figures 6 to 11 and Table II of Picciau et
al. (2017)."""
import math

from common import ratio
from page import Panel
from algorithms import fastest
from tables import geometric_mean

NUMBER, TITLE, PROGRAMS = "004", "Picciau et al. 2017", ("strata_perf_sptrsv",)

# What lines and columns are called, by algorithm or family of a peer's.
NAMES = {"subgraphs": "Picciau 2017",
         "automatic": "Strata, automatic", "cusparse": "cuSPARSE",
         "kokkos_kernels": "Kokkos Kernels", "serial": "serial substitution"}
OWN = ("subgraphs", "automatic")
DASHED = tuple(NAMES[f] for f in ("cusparse", "kokkos_kernels", "serial"))

# The graphics processors of Table II: clock, compute units, processing elements
# of each, local memory in kB.
TABLE_2 = (("Nvidia Quadro K4000", "0.82 GHz", 4, 192, 48),
           ("AMD Firepro W5000", "0.83 GHz", 12, 64, 32))

GALLERY = {
    True: ("grid2d:60", "grid3d:12", "triangulated:40x40", "cubed_sphere:4",
           "band:800", "circuit:3000", "random:3000x2",
           "block_diagonal:40x100:0.05"),
    False: ("grid2d:120", "grid2d:400", "grid2d9:200", "grid3d:30", "grid3d:60",
            "grid3d27:30", "triangulated:150x150", "triangulated:400x400",
            "lattice:150", "lattice:400", "cubed_sphere:5", "cubed_sphere:7",
            "band:12000:5:0.4", "band:12000", "circuit:20000", "circuit:170000",
            "gene:12000", "random:20000x1", "random:20000x4",
            "random:200000x2", "block_diagonal:5000x60:0.05",
            "block_diagonal:300x700:0.01", "block_diagonal:40x6000:0.002",
            "chain:12000"),
}
# For Figure 11: more rows than 48 kB hold, or components that both sizes hold.
OF_TWO_SIZES = {
    True: ("grid2d:115", "random:14000x2", "block_diagonal:3x9000:0.0005",
           "block_diagonal:30x900:0.005"),
    False: GALLERY[False],
}


def sweep(run):
    """Gallery names: components of Figures 6 to 8 by size, of Figure 9 by count."""
    if run.quick:
        sizes, counts, size = (250, 500, 1000), (2, 4, 8), 1000
    else:
        sizes = (250, 500, 1000, 2000, 4000, 6000, 8000, 12000, 16000)
        counts, size = (8, 16, 32, 64), 6000
        if run.on_gpu:
            sizes += (24000, 32000, 40000, 55000)
            counts += (128, 256, 512)
    return ({"block_diagonal:16x%d:0.001" % s: s for s in sizes},
            {"block_diagonal:%dx%d:0.01" % (c, size): c for c in counts}, size)


def peer_of(run):
    """The level-set solver that stands for cuSPARSE."""
    return "cusparse" if run.on_gpu else "kokkos_kernels"


def measured_rows(run, matrices, table, algorithms=OWN, peers=True, **flags):
    # One algorithm of Kokkos Kernels, as it was the fastest in most tables.
    others = ["cusparse_spsv"] if run.on_gpu else ["serial", "kokkos_kernels_tp1chain"]
    names = [*algorithms, *others * peers]
    return run.rows("sptrsv", table, scalar="float", algorithms=names,
                    solves=10 if run.quick else 100, **flags, systems=matrices)


def us(row, column="solve_us"):
    return float(row[column])


def line(found, family, sizes, column="solve_us"):
    return {sizes[m]: us(row, column)
            for m, row in found.get(family, {}).items() if m in sizes}


def lines(found, sizes, column="solve_us", without=()):
    return {NAMES[f]: line(found, f, sizes, column) for f in NAMES
            if f in found and f not in without}


def speedups(found, own, peer, matrices):
    """{matrix: the peer's time over ours}"""
    return {m: ratio(us(found[peer][m]), us(found[own][m])) for m in matrices
            if m in found.get(peer, {}) and m in found.get(own, {})}


def largest(values):
    """(where, how much) of a dictionary; nothing of an empty one."""
    return max(values.items(), key=lambda item: item[1], default=("", None))


def gains(factors):
    """% above 1, and of the largest factor and the least one's inverse: where, how much."""
    return (100 * sum(f > 1 for f in factors.values()) / len(factors), *largest(factors),
            *largest({m: 1 / f for m, f in factors.items()}))


def slope(points):
    """Of the straight line with the least squares through {x: y}."""
    if len(points) < 2:
        return None
    mean_x = sum(points) / len(points)
    mean_y = sum(points.values()) / len(points)
    return (sum((x - mean_x) * (y - mean_y) for x, y in points.items()) /
            sum((x - mean_x) ** 2 for x in points))


def break_even(own, peer):
    """Solves until our analysis has paid for itself; infinite where it never
    does."""
    more = us(own, "analysis_us") - us(peer, "analysis_us")
    gain = us(peer) - us(own)
    if more <= 0:
        return 0
    return math.ceil(more / gain) if gain > 0 else math.inf


def figures_6_to_9(run, page):
    """Draws them. Returns what the paper claims of them, beside ours."""
    by_size, by_count, size = sweep(run)
    peer = peer_of(run)
    rows = measured_rows(run, [*by_size, *by_count], "blocks_float", compare_transfers=True)
    with_copies, without = (fastest(r for r in rows if r["transfers"] == way)
                            for way in ("1", "0"))
    own = with_copies["subgraphs"]
    claims = []
    for figure, sizes, what, claim in (
            ("6", by_size, "rows of a component", "2.5"),
            ("9", by_count, "components of %d rows" % size, "2")):
        page.figure("figure_" + figure, [
            Panel(title, lines(found, sizes), x=what, dashed=DASHED)
            for title, found in (("with the copies of b and x", with_copies),
                                 ("without them", without))])
        rows = {sizes[m]: own[m] for m in sizes if m in own}
        page.columns("figure_" + figure, what, rows, [
            *lines(with_copies, sizes).items(),
            *((title, {x: int(row[column]) for x, row in rows.items()}) for title, column in (
                ("sub-graphs", "subgraphs"), ("levels", "subgraph_levels"))),
            (NAMES[peer] + " over Picciau 2017", {
                sizes[m]: speedup for m, speedup in
                speedups(with_copies, "subgraphs", peer, sizes).items()})])
        for name in OWN:
            for label, found in (("", with_copies), (", without copies", without)):
                where, best = largest(speedups(found, name, peer, sizes))
                claims.append((
                    "Figure %s: largest speedup over cuSPARSE" % figure, claim, best,
                    "%s over %s%s, %s" % (NAMES[peer], NAMES[name], label, where)))
    times = line(with_copies, "subgraphs", by_count)
    claims.append(("Figure 9: exponent of the time in the number of components",
                   "1 (linear)", slope({math.log(x): math.log(t)
                                        for x, t in times.items()}), ""))

    page.put(size=str(size), **{
        name: max(line(with_copies, "subgraphs", sizes))
        for name, sizes in (("largest_size", by_size), ("largest_count", by_count))})
    known = [m for m in by_size if m in with_copies.get(peer, {})]
    pays = {by_size[m]: break_even(own[m], with_copies[peer][m]) for m in known}
    page.figure("figure_7", [
        Panel("analysis, single precision",
              lines(with_copies, by_size, "analysis_us", without=("serial",)),
              x="rows of a component", dashed=DASHED)])
    page.columns("figure_7", "rows of a component", pays, [
        *((NAMES[f] + ", us", line(with_copies, f, by_size, "analysis_us"))
          for f in ("subgraphs", peer)),
        ("solves until it has paid", {
            size: "never" if math.isinf(solves) else solves for size, solves in pays.items()})])
    # Both grow with the entries; one size is no line.
    steep = {f: slope({us(with_copies[f][m], "nnz"):
                       us(with_copies[f][m], "analysis_us") for m in known})
             for f in (*OWN, peer)}
    claims += [("Figure 7: slope of the analysis over cuSPARSE's", "166",
                ratio(steep[f], steep[peer]), "%s over %s" % (NAMES[f], NAMES[peer]))
               for f in OWN]
    finite = [s for s in pays.values() if math.isfinite(s)]
    claims.append(("Figure 8: solves until the analysis has paid",
                   "below tens of thousands", max(finite) if finite else "never",
                   "the most of the %d of %d sizes where it does" %
                   (len(finite), len(pays))))
    return claims


def figure_10(run, page):
    peer = peer_of(run)
    matrices = [*run.files.values(), *GALLERY[run.quick]]
    found = fastest(measured_rows(run, matrices, "matrices_float_transfers", transfers=True))
    common = list(speedups(found, "subgraphs", peer, found["subgraphs"]))
    page.figure("figure_10", [
        Panel("above the line ours is faster",
              {NAMES[own]: {us(found[own][m]): us(found[peer][m])
                            for m in common}}, x=NAMES[own] + ", time",
              y=NAMES[peer] + ", time", dots=True) for own in OWN])
    page.put(triangles=str(len(common)))
    of = {m: found["subgraphs"][m] for m in common}
    theirs = speedups(found, "subgraphs", peer, common)
    page.columns("figure_10", "matrix", common, [
        *((title, {m: int(row[column]) for m, row in of.items()}) for title, column in (
            ("rows", "rows"), ("entries", "nnz"), ("level sets", "levels"),
            ("sub-graphs", "subgraphs"), ("levels", "subgraph_levels"))),
        ("external %", {m: 100 * float(row["external_share"]) for m, row in of.items()}),
        ("Picciau 2017", {m: us(row) for m, row in of.items()}),
        ("automatic", {m: us(found["automatic"][m]) for m in common}),
        ("which is", {m: found["automatic"][m]["chosen"] for m in common}),
        (NAMES[peer], {m: us(found[peer][m]) for m in common}),
        ("over Picciau 2017", theirs)])
    claims = []
    for own in OWN:
        factors = speedups(found, own, peer, common)
        faster, where, best, worst_at, worst = gains(factors)
        name = "%s beside %s" % (NAMES[own], NAMES[peer])
        claims += [
            ("Figure 10: faster than cuSPARSE, % of the matrices", "71", faster,
             "%s, %d matrices" % (name, len(factors))),
            ("Figure 10: largest speedup", "5.8 (human_gene2)", best,
             "%s: %s" % (name, where)),
            ("Figure 10: largest slowdown", "5.9 (circuit_3)",
             worst if worst > 1 else None,
             "%s: %s" % (name, worst_at if worst > 1 else "none")),
            ("Figure 10: geometric mean of the speedups", None,
             geometric_mean(factors.values()), name)]
    return claims


def figure_11(run, page):
    matrices = [*run.files.values(), *OF_TWO_SIZES[run.quick]]
    sizes = {kb: (kb * 1024 // 4) - 1 for kb in (32, 48)}
    found, held = {}, {}
    for kb, rows in sizes.items():
        found[kb] = fastest(measured_rows(
            run, matrices, "local_memory_%d" % kb, algorithms=("subgraphs",), peers=False,
            transfers=True, max_subgraph_rows=rows))["subgraphs"]
        held[kb] = max(int(r["max_subgraph_rows"]) for r in found[kb].values())
    both = [m for m in found[32] if m in found[48]]
    factors = {m: ratio(us(found[32][m]), us(found[48][m])) for m in both}
    page.figure("figure_11", [
        Panel("above the line 48 kB are faster",
              {"Picciau 2017": {us(found[48][m]): us(found[32][m]) for m in both}},
              x="48 kB, time", y="32 kB, time", dots=True)])
    page.table("figure_11", ["matrix", "rows", "sub-graphs, 32 kB", "levels", "time",
                "sub-graphs, 48 kB", "levels", "time", "32 kB over 48 kB"],
               [[m, int(found[32][m]["rows"])] +
                [cell for kb in (32, 48) for cell in (
                    int(found[kb][m]["subgraphs"]),
                    int(found[kb][m]["subgraph_levels"]), us(found[kb][m]))] +
                [factors[m]] for m in both])
    machine = page.machines[run.build.backend][1]
    page.table("devices", ["Table II", "clock", "compute units", "elements each",
                           "local memory, kB"],
               [list(row) for row in TABLE_2] +
               [[machine.get("device", "here"), "–" if run.on_gpu else
                 "%.2f GHz" % (machine["mhz_per_cpu"] / 1000),
                 None if run.on_gpu else machine["num_cpus"], None,
                 "%d and %d, by --max-subgraph-rows" %
                 tuple((held[kb] + 1) * 4 // 1024 for kb in (32, 48))]])
    page.items("scratch", ["A team of this device has scratch for %d rows in single precision, "
                           "fewer than 48 kB would hold." % held[48]] *
               (held[48] < sizes[48]))
    faster, where, best, other, least = gains(factors)
    return [("Figure 11: faster with 48 kB, % of the matrices", "74", faster,
             "%d matrices" % len(factors)),
            ("Figure 11: largest gain by 48 kB", "4 (fd15)", best, where),
            ("Figure 11: largest gain by 32 kB", "3 (mc2depi)", least, other)]


def future_work(run, page):
    """Pattern updates: what the paper's last paragraph wishes for."""
    matrices = (("block_diagonal:4x1000:0.01", "grid2d:60") if run.quick else
                ("block_diagonal:16x6000:0.01", "grid2d:400",
                 "circuit:170000", "random:200000x2"))
    rows = []
    for percent in ("0.1", "1"):
        for row in measured_rows(run, matrices, "changes_%s" % percent, peers=False,
                                 changed_entries=percent):
            new, update = us(row, "pattern_analysis_us"), us(row, "pattern_update_us")
            rows.append([row["matrix"], NAMES[row["algorithm"]], percent, update, new,
                         ratio(new, update)])
    page.table("changes", ["matrix", "algorithm", "entries changed, %", "update_pattern",
                           "a new solver", "new over update"],
               sorted(rows, key=lambda r: r[:2]), left=2)


def reproduce(run, page):
    page.put(files=len(run.files))
    page.beside([claim for figures in (figures_6_to_9, figure_10, figure_11)
                 for claim in figures(run, page)])
    future_work(run, page)
    page.items("differs", ["Means are of 10 right-hand sides."] * run.quick + [
        "Without a GPU, the level sets of Kokkos Kernels on the same cores stand for cuSPARSE's, "
        "and copies are from memory to memory.",
        "Hosts are not what the algorithm is made for: a barrier after each slot is free there, "
        "and a launch costs less than on a GPU."] * (not run.on_gpu))
