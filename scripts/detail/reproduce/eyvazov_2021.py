# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gauss-Jordan elimination: Figures 8 to 11 of Eyvazov (2021)."""
from common import Document, last, ratios, series
from page import Panel

DOCUMENT = Document(
    number="003", authors="E. Eyvazov", year=2021,
    title="Gauss-Jordan Solver of Linear Equation Systems on GPU",
    kind="bachelor's thesis, Czech Technical University in Prague",
    programs=("strata_perf_gauss_jordan",))

# (figure, scalar, the peer of the thesis's program for a GPU)
FIGURES = (("8", "double", "textbook"), ("9", "float", "textbook"),
           ("10", "double", "library"), ("11", "float", "library"))
SCALARS = ("double", "float")
KERNELS, REDUCED = "eyvazov_2021", "strata reduces"  # lines of a reduction
NAMES = {REDUCED: "Strata, reduction", "strata": "Strata, solution",
         KERNELS: "the thesis's kernels", "textbook": "the thesis's CPU program",
         "lapack": "LAPACK gesv", "cusolver": "cuSOLVER getrf + getrs"}


def sizes_of(run):
    """n of all, and the largest n for one thread of a host."""
    if run.quick:
        return (64, 128, 256), 256
    if run.on_gpu:
        return (128, 256, 512, 1024, 2048, 4096, 8192), 2048
    return (128, 256, 512, 1024, 2048), 1024


def measure(run, table, sizes, task, matrix, scalar, **flags):
    return run.rows("gauss_jordan", "%s_%s" % (table, scalar), sizes=sizes, tasks=task,
                    matrices=matrix, scalar=scalar, **flags)


def solutions(run, table, matrix, scalar, most_on_host):
    """By all that the build has: it may lack LAPACK."""
    return measure(run, table, sizes_of(run)[0], "solve", matrix, scalar,
                   textbook_limit=0, host_limit=most_on_host)


def lines_of(reductions, solutions, column):
    """{line: {n: value}}"""
    lines = series(reductions, "n", column)
    lines[REDUCED] = lines.pop("strata")
    return {**lines, **series(solutions, "n", column)}


def times_of(run, scalar):
    """{line: {n: milliseconds}} of dominant matrices."""
    sizes, one_thread = sizes_of(run)
    reductions = measure(run, "reduce", sizes, "augmented", "dominant", scalar,
                         algorithms=("strata", KERNELS, "textbook"), textbook_limit=one_thread)
    return lines_of(reductions, solutions(run, "solve", "dominant", scalar, max(sizes)), "ms")


def figure(page, number, scalar, lines, shown):
    """Of the thesis's program and its peer, and of Strata's answers to both."""
    peer = shown[1]
    page.section("Figure %s: %s, beside %s" % (number, scalar, NAMES[peer]))
    page.figure("figure_" + number, [
        Panel("reduction, or solution, %s" % scalar,
              {NAMES[line]: {n: 1e3 * ms for n, ms in lines.get(line, {}).items()}
               for line in shown}, x="n",
              dashed=tuple(NAMES[line] for line in ("textbook", "lapack", "cusolver")))],
        "Time against n. Figure %s of the thesis." % number)
    page.columns("n", sorted(lines[REDUCED]), [
        *((NAMES[line] + ", ms", lines.get(line, {})) for line in shown),
        *((NAMES[peer] + " over " + NAMES[own], ratios(lines, peer, own))
          for own in (KERNELS, REDUCED))])


def without_dominance(run, page, library):
    sizes = sizes_of(run)[0]
    page.section("Entries from 1 to 1000 alone")
    page.text("""The thesis draws its test values from 1 to 1000 and does not pivot. Without
      a dominant diagonal its kernels lose digits; a dash marks an answer that does not
      pass its check. Backward errors are |A x - b| over |A| |x| + |b|.""")
    errors, times = [], []
    shown = (KERNELS, REDUCED, "strata", library)
    for scalar in SCALARS:
        reduced = measure(run, "positive", sizes[:4], "augmented", "positive", scalar,
                          once=True, algorithms=("strata", KERNELS))
        solved = solutions(run, "positive_solve", "positive", scalar,
                           0 if run.on_gpu else max(sizes))
        lines = lines_of(reduced, solved, "backward error")
        errors += [[n, scalar, *(lines.get(line, {}).get(n) for line in shown)]
                   for n in sorted(lines[REDUCED])]
        time = series(solved, "n", "ms")
        times += [[n, scalar, ms, time.get(library, {}).get(n),
                   ratios(time, library, "strata").get(n)]
                  for n, ms in sorted(time["strata"].items())]
    page.table(["n", "scalar", *(NAMES[line] for line in shown)], errors, left=2)
    page.text("Times of solutions of these matrices, which exchange rows:")
    page.table(["n", "scalar", NAMES["strata"] + ", ms", NAMES[library] + ", ms",
                "its time over ours"], times, left=2)


def reproduce(run, page):
    library = "cusolver" if run.on_gpu else "lapack"
    page.text("""The thesis brings [A | b] to its reduced row echelon form in stripes of 32
      rows and tiles of 32 x 32 numbers, without pivoting. `the thesis's kernels` are its
      Listings 10 to 38, rewritten as Kokkos teams with scratch memory
      (`perf_test/detail/Strata_PerfEyvazov.hpp`). `Strata, reduction` is
      `GaussJordan::reduce` of the same n x (n + 1) numbers, `Strata, solution` is
      `GaussJordan::solve`. LAPACK and cuSOLVER have no reduction. The reduced form of a
      matrix that has an inverse is [I | x], so their solution stands beside it. Off the
      diagonal A is uniform in [1, 1000); on the diagonal it is 1000 n. b is uniform in
      [-1, 1).""")
    page.sizes("the text names no n: all are ours")
    results = {scalar: times_of(run, scalar) for scalar in SCALARS}
    claims = []
    for number, scalar, against in FIGURES:
        lines = results[scalar]
        shown = [KERNELS, library, REDUCED, "strata"] if against == "library" else \
            [KERNELS, "textbook", REDUCED, "lapack"]
        figure(page, number, scalar, lines, shown)
        for line in (KERNELS, REDUCED):
            n, times = last(ratios(lines, shown[1], line))
            claims.append((
                "Figure %s, %s: time of %s over the GPU program's" % (
                    number, scalar, NAMES[shown[1]]),
                "above 1" if against == "textbook" else "below 1 (cuSOLVER)", times,
                "%s, n = %s" % (NAMES[line], n)))
    for scalar in SCALARS:
        n, times = last(ratios(results[scalar], KERNELS, REDUCED))
        claims.append(("%s over %s, %s" % (NAMES[KERNELS], NAMES[REDUCED], scalar), None,
                       times, "n = %s" % n))
    without_dominance(run, page, library)
    page.section("The claims beside ours")
    page.beside(claims)
    page.differs([
        "The text has no numbers of the thesis's graphs and names no n. Its GPU is a "
        "GeForce RTX 2080 Ti.",
        "The thesis draws all of A from 1 to 1000. Its kernels do not pivot, so here the "
        "diagonal dominates, which does not change their times.",
        "The thesis launches the kernels of each stripe on a CUDA stream of its own. Here "
        "the stripes are teams of one launch, which is fewer launches.",
        "The thesis replaces a row by the pivot's row less a_pp / a_ip times it. Rows "
        "grow by that, and those of a dominant matrix overflow after some hundred "
        "steps. Here rows keep their scale, as in its Listing 7; a number costs one "
        "multiplication and one subtraction in both.",
        "The thesis takes numbers below 1e-6 for zero. Here a multiplier is skipped only "
        "if it is zero.",
        "The thesis's program for a CPU (its Listing 5) runs here in one sweep that "
        "eliminates above and below the pivot, on one thread, with partial pivoting.",
        "Strata pivots, works in stripes of up to 256 columns, eliminates below the pivots "
        "by matrix products, and above them for b alone.",
        "Times on the GPU are of data on the device, with a copy of [A | b], which the "
        "elimination overwrites. The thesis does not say whether its times have the "
        "transfers.",
        "The thesis measures cuBLAS nowhere: it expects the products of Carcenac's "
        "algorithm by cuBLAS to cost too many copies. Strata keeps everything by columns "
        "on the device and makes those products by cuBLAS if Kokkos Kernels has it "
        "(`--cublas`), else by kernels of its own, which are slower; the table at the top "
        "says which."])
    if not run.on_gpu:
        page.differs(["Without a GPU, the thesis's kernels run on the cores of the host, "
                      "and LAPACK's gesv stands for cuSOLVER, which factorises as it does."])
