# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gauss-Jordan elimination: Figures 8 to 11 of Eyvazov (2021)."""
from common import last, ratios, series
from page import Panel

NUMBER, TITLE, PROGRAMS = "003", "Eyvazov 2021", ("strata_perf_gauss_jordan",)

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
    page.figure("figure_" + number, [
        Panel("reduction, or solution, %s" % scalar,
              {NAMES[line]: {n: 1e3 * ms for n, ms in lines.get(line, {}).items()}
               for line in shown}, x="n",
              dashed=tuple(NAMES[line] for line in ("textbook", "lapack", "cusolver")))])
    page.columns("figure_" + number, "n", sorted(lines[REDUCED]), [
        *((NAMES[line] + ", ms", lines.get(line, {})) for line in shown),
        *((NAMES[peer] + " over " + NAMES[own], ratios(lines, peer, own))
          for own in (KERNELS, REDUCED))])


def without_dominance(run, page, library):
    sizes = sizes_of(run)[0]
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
    page.table("errors", ["n", "scalar", *(NAMES[line] for line in shown)], errors, left=2)
    page.table("times", ["n", "scalar", NAMES["strata"] + ", ms", NAMES[library] + ", ms",
                         "its time over ours"], times, left=2)


def reproduce(run, page):
    library = "cusolver" if run.on_gpu else "lapack"
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
    page.beside(claims)
    page.put(library=NAMES[library])
    page.items("differs", [
        "Without a GPU, the thesis's kernels run on the cores of the host, and LAPACK's gesv "
        "stands for cuSOLVER, which factorises as it does."] * (not run.on_gpu))
