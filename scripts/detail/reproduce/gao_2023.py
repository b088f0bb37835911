# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SELL-C-sigma and conjugate gradients: Figures 2 to 7 of Gao (2023)."""
from common import Document, ratio, series
from page import Panel

DOCUMENT = Document(
    number="001", authors="J. Gao", year=2023, title="Iterative Solver",
    kind="project report, Uppsala University",
    programs=("strata_perf_spmv", "strata_perf_cg"))

# C = 32, sigma = 1, a thread a row, columns stored: SELL-32-1 of the report.
SELL_32_1 = ["--chunk-rows", "32", "--sigma", "1", "--lanes", "1"]
SCALARS = ("float", "double")
MOST_ITERATIONS = 500  # Figure 6
TOLERANCE = "1e-5"
SYSTEM = ["--b", "ones", "--tolerance", TOLERANCE, "--max-iterations",
          str(MOST_ITERATIONS)]
# What the report states of its Tesla T4.
T4_COPY, T4_CRS, T4_SELL = 270, 140, 250  # GB/s
T4_MUPDS = 900  # million unknowns per second and iteration, at the most
T4_FLOAT_STOPS = 180  # N above which single precision takes 500 iterations
T4_TRANSFER_S, T4_SOLVE_S = 1, 10  # seconds at N = 256, about


def sizes_of(run):
    if run.quick:
        return (16, 32, 48)
    return (32, 64, 96, 128, 160, 192, 224, 256)


def gallery(sizes):
    return [word for n in sizes for word in ("--gallery", "poisson:%d" % n)]


def by_size(rows, value):
    """{algorithm: {N: value(row)}}"""
    return series(rows, lambda row: int(row["size"] if "size" in row else
                                        row["matrix"].split(":")[1]), value)


def crs_and_sell(run, sizes, libraries=()):
    """{scalar: rows} of CRS by a thread a row, SELL-32-1 and libraries' forms."""
    return {scalar: run.rows(
        "spmv", [*gallery(sizes), "--algorithms",
                 ",".join(["strata_columns", "crs", *libraries]), "--scalar", scalar,
                 *SELL_32_1], table="products_" + scalar) for scalar in SCALARS}


def products(run):
    """The same, with Strata's own choice of a form."""
    libraries = ["kokkos_kernels"]
    if run.on_gpu:
        libraries += ["cusparse_csr_alg1", "cusparse_sell"]
    found = crs_and_sell(run, sizes_of(run), libraries)
    for scalar in SCALARS:
        found[scalar] += run.rows(
            "spmv", [*gallery(sizes_of(run)), "--algorithms", "strata", "--scalar",
                     scalar], table="products_diagonals_" + scalar)
    return found


def solves(run):
    """{scalar: rows} of conjugate gradients in SELL-32-1, with CRS, and in the
    library's form; the last without the flags of SELL-32-1."""
    found = {}
    for scalar in SCALARS:
        common = ["--sizes", ",".join(map(str, sizes_of(run))), "--scalar", scalar,
                  *SYSTEM, "--solves", "1" if run.quick else "3"]
        found[scalar] = run.rows(
            "cg", [*common, "--algorithms", "strata_columns,kokkos_kernels",
                   *SELL_32_1], table="solves_" + scalar)
        found[scalar] += run.rows("cg", [*common, "--algorithms", "strata"],
                                  table="solves_diagonals_" + scalar)
    return found


PRODUCT = {"crs": "CRS, a thread a row", "strata_columns": "SELL-32-1",
           "strata": "Strata, diagonals", "kokkos_kernels": "CRS, Kokkos Kernels",
           "cusparse_csr_alg1": "CRS, cuSPARSE", "cusparse_sell": "SELL, cuSPARSE"}
SOLVE = {"kokkos_kernels": "CRS, Kokkos Kernels", "strata_columns": "SELL-32-1",
         "strata": "Strata, diagonals"}


def product_us(row):
    return float(row["product_us"])


def gbytes(row):
    return float(row["gbytes_per_second"])


def lines_of(found, names, value, where=""):
    """{name: {N: value}} for the algorithms in `names`, a line each scalar."""
    lines = {}
    for scalar, rows in found.items():
        sizes = by_size(rows, value)
        for algorithm, name in names.items():
            if algorithm in sizes:
                lines["%s%s, %s" % (name, where, scalar)] = sizes[algorithm]
    return lines


def largest(found, algorithm, scalar, value):
    """The largest value of an algorithm, over N; None where it did not run."""
    points = by_size(found[scalar], value).get(algorithm)
    return max(points.values()) if points else None


def at_largest(found, algorithm, scalar, value):
    points = by_size(found[scalar], value).get(algorithm)
    return points[max(points)] if points else None


def figure_2(run, page, here):
    """CRS on CPU and GPU; here: the products measured on `run`."""
    page.section("Figure 2: products in CRS on CPU and GPU")
    crs = {"crs": PRODUCT["crs"]}
    places = [(here, ", GPU" if run.on_gpu else ", CPU")]
    if run.on_gpu:
        # Half of the sizes: products of a CPU take longer.
        places.append((crs_and_sell(run.host(), sizes_of(run)[1::2]), ", CPU"))
    time, band = {}, {}
    for found, where in places:
        time.update(lines_of(found, crs, product_us, where))
        band.update(lines_of(found, crs, gbytes, where))
    page.figure("figure_2", [
        Panel("time of a product", time, x="N", log_x=False, y="time", unit="us"),
        Panel("memory bandwidth", band, x="N", log_x=False, y="GB/s", log_y=False,
              levels={"CRS on a T4": T4_CRS} if run.on_gpu else {})],
        "A product in CRS, a thread a row. Figure 2 of the report.")
    page.table(["N", *(name + ", us" for name in time)],
               [[n, *(points.get(n) for points in time.values())]
                for n in sizes_of(run)])


def figure_3(page, solved):
    page.section("Figure 3: transfers between host and device")
    lines = {}
    for scalar, rows in solved.items():
        for column, name in (("to_device_us", "matrix and b to the device"),
                             ("from_device_us", "x back")):
            lines["%s, %s" % (name, scalar)] = by_size(
                rows, lambda row, c=column: float(row[c]))["strata_columns"]
    page.figure("figure_3", [Panel("copies of pageable memory", lines, x="N",
                                   log_x=False, y="time", unit="us")],
                "Figure 3 of the report. On hosts both ends are the same memory.")


def figure_4(run, page, found):
    page.section("Figure 4: products in SELL-32-1 beside CRS")
    names = {k: PRODUCT[k] for k in ("strata_columns", "crs", "strata")}
    levels = {"SELL-32-1 on a T4": T4_SELL, "CRS on a T4": T4_CRS}
    page.figure("figure_4", [
        Panel("time of a product", lines_of(found, names, product_us), x="N",
              log_x=False, y="time", unit="us"),
        Panel("memory bandwidth", lines_of(found, names, gbytes), x="N",
              log_x=False, y="GB/s", log_y=False, levels=levels if run.on_gpu else {})],
        "Figure 4 of the report: time and bandwidth. Bandwidths count entries, columns, x "
        "and y once each, for every form alike.")
    for scalar in SCALARS:
        lines = by_size(found[scalar], product_us)
        page.text("Microseconds in %s:" % scalar)
        known = [a for a in PRODUCT if a in lines]
        page.table(["N", *(PRODUCT[a] for a in known), "CRS over SELL-32-1"],
                   [[n, *(lines[a].get(n) for a in known),
                     ratio(lines["crs"].get(n), lines["strata_columns"].get(n))]
                    for n in sorted(lines["crs"])])


def unknowns(row):
    """Million unknowns per second and iteration."""
    return float(row["rows"]) / float(row["iteration_us"])


def figures_5_to_7(page, solved):
    page.section("Figure 5: unknowns per second and iteration")
    page.figure("figure_5", [Panel(
        "million unknowns per second and iteration",
        lines_of(solved, SOLVE, unknowns), x="N", log_x=False,
        y="million unknowns / s", log_y=False)],
        "Figure 5 of the report. On a T4 it is at most about %d." % T4_MUPDS)
    page.section("Figure 6: iterations, at most %d" % MOST_ITERATIONS)
    crs = {a: SOLVE[a] for a in ("strata_columns", "kokkos_kernels")}
    page.figure("figure_6", [Panel(
        "iterations", lines_of(solved, crs, lambda row: int(row["iterations"])),
        x="N", log_x=False, y="iterations", log_y=False,
        levels={"the cap": MOST_ITERATIONS})],
        "Figure 6 of the report: the same tolerance in both precisions, and a cap of %d "
        "iterations." % MOST_ITERATIONS)
    rows = []
    for scalar in SCALARS:
        of = {name: {int(row["size"]): row for row in solved[scalar]
                     if row["algorithm"] == name} for name in crs}
        for n, row in of["strata_columns"].items():
            peer = of["kokkos_kernels"].get(n)
            rows.append([n, scalar, int(row["iterations"]),
                         row["status"].replace("_", " "),
                         float(row["relative_residual"]),
                         int(peer["iterations"]) if peer else None,
                         float(peer["relative_residual"]) if peer else None])
    page.table(["N", "scalar", "iterations", "status", "residual over b",
                "CRS, Kokkos Kernels: iterations", "residual over b"], sorted(
                    rows, key=lambda row: row[:2]), left=2)
    page.section("Figure 7: time to solution")
    page.figure("figure_7", [Panel(
        "solve", lines_of(solved, SOLVE, lambda row: float(row["solve_us"])),
        x="N", log_x=False, y="time", unit="us")],
        "Figure 7 of the report, with the cap of Figure 6.")


def claims(run, page, found, solved):
    page.section("The report's numbers beside ours")
    n = max(sizes_of(run))

    def best(results, algorithm, value):
        return max(filter(None, (largest(results, algorithm, s, value)
                                 for s in SCALARS)))

    taken = by_size(solved["float"], lambda row: int(row["iterations"]))

    def first_stop(algorithm):
        stopped = [size for size, count in taken.get(algorithm, {}).items()
                   if count >= MOST_ITERATIONS]
        return min(stopped) if stopped else None

    def stops(algorithm):
        at = first_stop(algorithm)
        return "none up to %d" % n if at is None else str(at)

    ours = first_stop("strata_columns")
    at = [size for size in dict.fromkeys((ours, n))
          if size in taken.get("kokkos_kernels", {})]
    if ours is not None and first_stop("kokkos_kernels") is None and at:
        page.note("Of the numbers below, the N from which float takes %d iterations is "
                  "near the report's only because Strata restarts: at the end of a "
                  "solve it computes the residual anew, and goes on where it is too "
                  "large. Conjugate gradients without restarts, those of Kokkos "
                  "Kernels' calls, take %s." % (MOST_ITERATIONS, " and ".join(
                      "%d iterations at N = %d" % (taken["kokkos_kernels"][size], size)
                      for size in at)))
    page.beside([
        ("best bandwidth of the device, GB/s", "about %d" % T4_COPY, largest(
            found, "crs", "double",
            lambda row: float(row["copy_gbytes_per_second"])), "ours: of copies"),
        ("CRS, best bandwidth, GB/s", "about %d" % T4_CRS,
         best(found, "crs", gbytes), "a thread a row"),
        ("SELL-32-1, best bandwidth, GB/s", "about %d" % T4_SELL,
         best(found, "strata_columns", gbytes)),
        ("million unknowns per second and iteration, best", "about %d" % T4_MUPDS,
         best(solved, "strata_columns", unknowns), "SELL-32-1"),
        ("N from which float takes %d iterations" % MOST_ITERATIONS,
         "about %d" % T4_FLOAT_STOPS, stops("strata_columns"),
         "SELL-32-1, with Strata's restarts"),
        ("the same without restarts", "about %d" % T4_FLOAT_STOPS,
         stops("kokkos_kernels"), "Kokkos Kernels"),
        ("matrix to the device, s", "about %d at N = 256" % T4_TRANSFER_S,
         1e-6 * at_largest(solved, "strata_columns", "double",
                           lambda row: float(row["to_device_us"])),
         "double, with b, N = %d" % n),
        ("solve, s", "about %d at N = 256" % T4_SOLVE_S,
         1e-6 * at_largest(solved, "strata_columns", "double",
                           lambda row: float(row["solve_us"])),
         "double, N = %d" % n),
        ("Figure 7: time in double over time in float", "about 1", ratio(*(
            at_largest(solved, "strata_columns", scalar,
                       lambda row: float(row["solve_us"]))
            for scalar in ("double", "float"))), "SELL-32-1, N = %d" % n)])


def reproduce(run, page):
    page.text("""The report multiplies with a sparse matrix in CRS and in SELL-32-1, and
      solves by conjugate gradients. It does not name the matrix: it speaks of 256^3
      domains. Here it is the 7-point Poisson matrix of N x N x N points. SELL-32-1 is
      `SellMatrix` with C = 32, sigma = 1, a lane for each row and columns stored, which is
      the report's form. `Strata, diagonals` is the form that the library chooses by
      itself.""")
    page.sizes("""the text names N = 256 and, for float, about 180; the other sizes are
      ours""")
    found, solved = products(run), solves(run)
    figure_2(run, page, found)
    figure_3(page, solved)
    figure_4(run, page, found)
    figures_5_to_7(page, solved)
    claims(run, page, found, solved)
    page.differs([
        "The report's GPU is a Tesla T4; its CPU is not named, and has 16 threads. Its "
        "numbers above are those that its text states. The others are in its graphs alone.",
        "The report names neither its matrix, nor its right-hand side, nor its tolerance, "
        "nor a preconditioner. Here b is all ones, the tolerance is a relative residual of "
        "%s in both precisions, and there is no preconditioner." % TOLERANCE,
        "In float, the residual of x stays above that of the recursion. A solve of "
        "Strata computes it anew at the end, restarts where it is too large, and reports "
        "`stagnated` where a restart gains less than a factor of two. The peer stops when "
        "the residual of the recursion is small enough, and does not restart.",
        "The report's program takes only numbers of rows that are multiples of 32. Ours "
        "takes any.",
        "The report makes SELL-32-1 on the host and copies it. Ours copies CRS and makes "
        "SELL-32-1 on the device.",
        "CRS in conjugate gradients is Kokkos Kernels' product with its vector operations, "
        "where the host waits for two dot products an iteration."])
    if not run.on_gpu:
        page.differs(["Without a GPU, Figure 2 has the CPU's lines alone, and in Figure 4 "
                      "both forms run on the CPU, for which SELL-32-1 is not made."])
