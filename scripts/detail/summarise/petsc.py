# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables for docs/petsc.md from the lines of petscstrata_bench.

The first tables are measured: times, and how many times faster strata is than each
peer. The last one is a model, from measured costs, of one iteration on many GPUs. It
wants lines of 1 rank, and lines of 2 ranks at two values of n, for the costs of a halo.
Wrong answers are marked, and the exit status is 1 where one is strata's.

An iteration of PETSc's conjugate gradients is a MatSolve, a MatMult, three reductions and
three vector updates. On P GPUs, each with a box of n^3 points, it takes

    t(P) = s + m + 3 d + 3 u                  the GPU's own work
         + h0 + f(P) 8 n^2 / h1               halo: copies to and from the host
         + (f(P) - 1) a + 3 ceil(log2 P) a    messages of more faces, reductions
         + f(P) 8 n^2 / w                     network, for more GPUs than a host has

with the times s, m, d and u of MatSolve, MatMult, VecDot and VecAXPY of a box, h0 of a
halo without data, h1 bytes per second of a face, and at most f(P) faces with neighbours.
The latency a of a message and the network bandwidth w per GPU are assumed (--latency,
--bandwidth)."""
import math
from collections import namedtuple

from tables import UserError, geometric_mean, print_markdown, read_tables, short

STRATA, ON_HOST = "aijkokkos/strata", "aij/strata"
# What stands beside what. "_plain" is for lines, renamed by hand, of a PETSc whose Kokkos
# Kernels has neither cuSPARSE nor cuBLAS.
PAIRS = [(STRATA, "aijcusparse/cusparse"), (STRATA, "aijkokkos/kokkos"),
         (STRATA + "_plain", "aijkokkos/kokkos_plain"), (STRATA, "aij/petsc"),
         (ON_HOST, "aij/petsc")]
CONFIGURATIONS = list(dict.fromkeys(name for pair in PAIRS for name in pair))
TIMES = ("setup_ms", "matsolve_ms", "total_ms")
GPUS = (2, 4, 8, 64, 512, 1000)
Case = namedtuple("Case", "ranks n stencil pc")


def add_options(parser):
    parser.add_argument("table", metavar="BENCH.csv")
    parser.add_argument("--gpus-per-host", type=int, default=8)
    parser.add_argument("--latency", type=float, default=5,
                        help="of a message, in microseconds; default: %(default)s")
    parser.add_argument("--bandwidth", type=float, default=25,
                        help="of the network for each GPU, in GB/s; default: %(default)s")


def read(path):
    """{Case: {(configuration, solve): row with numbers}}"""
    cases = {}
    for row in read_tables([path], ("ranks", "n", "stencil", "pc", "configuration", "solve",
                                    "verdict", *TIMES), "petscstrata_bench"):
        for key in row:
            if key.endswith("_ms") or key in ("iterations", "true_residual"):
                row[key] = float(row[key])
        case = Case(int(row["ranks"]), int(row["n"]), int(row["stencil"]), row["pc"])
        cases.setdefault(case, {})[row["configuration"], row["solve"]] = row
    return cases


def print_times(cases):
    print_markdown(
        ["ranks", "n", "stencil", "blocks", "types", "solve", "iterations", "set-up ms",
         "MatSolve ms", "total ms", "residual"],
        [[*case, configuration, solve.replace("_", " "), row["iterations"],
          *(row[time] for time in TIMES),
          "%.0e%s" % (row["true_residual"], "" if row["verdict"] == "right" else " (wrong)")]
         for case, rows in cases.items() for (configuration, solve), row in rows.items()])


def print_ratios(cases):
    """How many times faster strata is, and the geometric means over 1 rank."""
    table, of_one_rank = [], {}
    for case, rows in cases.items():
        for solve in ("first", "new_values"):
            for mine, peer in PAIRS:
                ours, theirs = rows.get((mine, solve)), rows.get((peer, solve))
                if not ours or not theirs:
                    continue
                ratios = ["wrong answer", "", ""]
                if ours["verdict"] == theirs["verdict"] == "right":
                    ratios = [theirs[time] / ours[time] for time in TIMES]
                    if case.ranks == 1:
                        of_one_rank.setdefault((solve, mine, peer), []).append(ratios)
                table.append([*case, solve.replace("_", " "), mine, peer, *ratios])
    for (solve, mine, peer), rows in of_one_rank.items():
        table.append([1, "mean of %d" % len(rows), "", "", solve.replace("_", " "), mine, peer,
                      *map(geometric_mean, zip(*rows))])
    print_markdown(["ranks", "n", "stencil", "blocks", "solve", "types", "peer", "set-up",
                    "MatSolve", "total"], table)


def grid(ranks):
    """MPI_Dims_create's boxes in each direction: as equal as they can be."""
    best = (ranks, 1, 1)
    for a in range(1, ranks + 1):
        if ranks % a:
            continue
        for b in range(1, ranks // a + 1):
            if ranks // a % b:
                continue
            dims = tuple(sorted((a, b, ranks // a // b), reverse=True))
            if dims[0] - dims[2] < best[0] - best[2]:
                best = dims
    return best


def faces(ranks):
    """Of the box with most neighbours."""
    return sum(min(2, d - 1) for d in grid(ranks))


def find_halo(cases, configuration):
    """(ms without data, ms a byte), from lines of 2 ranks at two n; None without them."""
    times = {}
    for case, rows in cases.items():
        row = rows.get((configuration, "first"))
        if case.ranks == 2 and case.stencil == 7 and row and row["halo_ms"] > 0:
            times.setdefault(case.n, row["halo_ms"])
    if len(times) < 2:
        return None
    small, large = min(times), max(times)
    slope = max((times[large] - times[small]) / (8 * (large**2 - small**2)), 0.0)
    return max(times[small] - slope * 8 * small**2, 0.0), slope


def print_model(cases, halos, options):
    latency, bandwidth = options.latency / 1000, options.bandwidth * 1e6  # ms, bytes a ms
    table = []
    for case, rows in cases.items():
        for configuration, halo in halos.items():
            row = rows.get((configuration, "first"))
            if case.ranks != 1 or case.pc != "bjacobi" or not row or \
                    row["verdict"] != "right":
                continue
            local = (row["matsolve_ms"] + row["matmult_ms"] + 3 * row["dot_ms"]
                     + 3 * row["axpy_ms"])
            cells = []
            for p in GPUS:
                size = 8 * case.n**2
                time = local + halo[0] + faces(p) * size * halo[1]
                time += (faces(p) - 1) * latency + 3 * math.ceil(math.log2(p)) * latency
                if p > options.gpus_per_host:
                    time += faces(p) * size / bandwidth
                cells.append("%s (%.0f %%)" % (short(time), 100 * local / time))
            table.append([case.n, case.stencil, configuration, local, *cells])
    print_markdown(["n", "stencil", "types", "one GPU, ms an iteration",
                    *("%d GPUs" % p for p in GPUS)], table)


def summarise(options):
    cases = read(options.table)
    print("Measured:\n")
    print_times(cases)
    print("Measured, the peer's time over strata's:\n")
    print_ratios(cases)
    halos = {name: halo for name in CONFIGURATIONS
             for halo in [find_halo(cases, name)] if halo}
    for name, (start, slope) in halos.items():
        print("Measured, a halo of %s: %s us and %s GB/s\n" % (
            name, short(1000 * start), short(1e-6 / slope) if slope else "no measurable"))
    print("Modelled, %d GPUs a host, %g us a message, %g GB/s between hosts:\n" % (
        options.gpus_per_host, options.latency, options.bandwidth))
    print_model(cases, halos, options)
    wrong = [case for case, rows in cases.items() for (configuration, _), row in rows.items()
             if configuration.startswith((STRATA, ON_HOST)) and row["verdict"] != "right"]
    if wrong:
        raise UserError("wrong answers of strata: %s" % wrong)
