# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gauss-Jordan elimination: Figures 8 to 11 of Eyvazov (2021)."""
from common import Document, ratio
from page import Panel

DOCUMENT = Document(
    number="003", authors="E. Eyvazov", year=2021,
    title="Gauss-Jordan Solver of Linear Equation Systems on GPU",
    kind="bachelor's thesis, Czech Technical University in Prague",
    programs=("strata_perf_gauss_jordan",))

# (figure, scalar, what ours is held against)
FIGURES = (("8", "double", "textbook"), ("9", "float", "textbook"),
           ("10", "double", "library"), ("11", "float", "library"))


def sizes_of(run):
    """n of ours and the library, and the largest n for one thread of a host."""
    if run.quick:
        return (64, 128, 256), 256
    if run.on_gpu:
        return (128, 256, 512, 1024, 2048, 4096, 8192), 2048
    return (128, 256, 512, 1024, 2048), 1024


def measure(run, scalar):
    """{algorithm: {n: microseconds}} and {algorithm: largest backward error}"""
    sizes, one_thread = sizes_of(run)
    rows = run.rows("gauss_jordan",
                    ["--sizes", ",".join(map(str, sizes)), "--tasks", "solve",
                     "--matrices", "positive", "--scalar", scalar,
                     "--textbook-limit", str(one_thread)],
                    table="solve_" + scalar)
    lines, errors = {}, {}
    for row in rows:
        name = row["algorithm"]
        lines.setdefault(name, {})[int(row["n"])] = 1e3 * float(row["ms"])
        errors[name] = max(errors.get(name, 0), float(row["backward error"]))
    return lines, errors


def largest_ratio(lines, peer):
    """(n, peer's time over ours) at the largest n that both have."""
    both = sorted(set(lines["strata"]) & set(lines.get(peer, {})))
    if not both:
        return None, None
    n = both[-1]
    return n, ratio(lines[peer][n], lines["strata"][n])


def reproduce(run, page):
    library = "cusolver" if run.on_gpu else "lapack"
    names = {"strata": "Strata", "textbook": "textbook's program on one thread",
             "lapack": "LAPACK gesv", "cusolver": "cuSOLVER getrf + getrs"}
    page.text("""The thesis solves dense systems with entries from 1 to 1000 and one
      right-hand side. It draws times against n and states no number. A is n x n with
      entries that are uniform in [1, 1000), and b is uniform in [-1, 1).""")
    results = {scalar: measure(run, scalar) for scalar in ("double", "float")}
    claims = []
    for figure, scalar, against in FIGURES:
        lines, errors = results[scalar]
        peer = library if against == "library" else "textbook"
        page.section("Figure %s: %s, beside the %s" % (figure, scalar, names[peer])
                     if peer == "textbook" else
                     "Figure %s: %s, beside %s" % (figure, scalar, names[peer]))
        shown = {names[a]: lines.get(a, {}) for a in ("strata", peer)}
        page.figure("figure_" + figure, [
            Panel("solve, entries in [1, 1000), %s" % scalar, shown, x="n",
                  y="time", unit="us", dashed=(names[peer],))],
            "Time of a solve against n. Figure %s of the thesis." % figure)
        page.table(["n", "ours, ms", names[peer] + ", ms", "its time over ours"],
                   [[n, 1e-3 * us, 1e-3 * lines[peer][n] if n in lines.get(peer, {})
                     else None, ratio(lines.get(peer, {}).get(n), us)]
                    for n, us in sorted(lines["strata"].items())])
        n, times = largest_ratio(lines, peer)
        claims.append((
            "Figure %s, %s: time of %s over ours" % (figure, scalar,
                                                     names[peer]),
            "above 1" if against == "textbook" else "below 1 (cuSOLVER)", times,
            "n = %s" % n))
    page.section("The claims beside ours")
    page.beside(claims)
    page.text("""Backward errors, |A x - b| over |A| |x| + |b|, the largest of a
      scalar type:""")
    page.table(["algorithm", "double", "float"],
               [[names[a], results["double"][1].get(a), results["float"][1].get(a)]
                for a in ("strata", "textbook", library)
                if a in results["double"][1]])
    page.differs([
        "The thesis's text has no numbers of its graphs, so the sizes n are ours.",
        "The thesis does not pivot, and names it as possible improvement. Ours pivots "
        "partially, and so does the textbook's program here: without it answers of random "
        "matrices lose digits.",
        "The textbook's program is that of the thesis (its Listing 5) in one sweep that "
        "eliminates above and below the pivot, on one thread.",
        "Ours eliminates below in stripes by matrix products, and then above for the "
        "right-hand side alone; the thesis updates each row in kernels of its own and "
        "sweeps over the whole matrix twice.",
        "Times of ours and of cuSOLVER are of data on the device. The thesis does not say "
        "whether its times have the copies."])
    if run.on_gpu:
        page.differs(["Strata's products of stripes are cuBLAS's where Kokkos Kernels has it "
                      "(KokkosKernels_ENABLE_TPL_CUBLAS), and its own elsewhere, which is "
                      "slower."])
    if not run.on_gpu:
        page.differs(["Without a GPU, LAPACK's gesv on the same cores stands for cuSOLVER, "
                      "which factorises as it does."])
