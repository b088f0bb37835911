# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SELL-C-sigma and conjugate gradients: Figures 2 to 7 of Gao (2023)."""
import functools

from common import last, ratio, ratios, series
from page import Panel

NUMBER, TITLE, PROGRAMS = "001", "Gao 2023", ("strata_perf_spmv", "strata_perf_cg")

# C = 32, sigma = 1, a thread a row, columns stored: SELL-32-1 of the report.
SELL_32_1 = {"chunk_rows": 32, "sigma": 1, "lanes": 1}
SCALARS = ("float", "double")
MOST_ITERATIONS = 500  # Figure 6
SYSTEM = {"b": "ones", "tolerance": "1e-5", "max_iterations": MOST_ITERATIONS}
# What the report states of its Tesla T4.
T4_COPY, T4_CRS, T4_SELL = 270, 140, 250  # GB/s
T4_MUPDS = 900  # million unknowns per second and iteration, at the most
T4_FLOAT_STOPS = 180  # N above which single precision takes 500 iterations
T4_TRANSFER_S, T4_SOLVE_S = 1, 10  # seconds at N = 256, about


def sizes_of(run):
    if run.quick:
        return (16, 32, 48)
    return (32, 64, 96, 128, 160, 192, 224, 256)


def by_size(rows, value):
    """{algorithm: {N: value}}, of a column or a function of a row."""
    return series(rows, lambda row: int(row["size"] if "size" in row else
                                        row["matrix"].split(":")[1]), value)


def multiply(run, table, sizes, algorithms, form):
    """{scalar: rows}"""
    return {scalar: run.rows(
        "spmv", table + scalar, systems=["poisson:%d" % n for n in sizes],
        algorithms=algorithms, scalar=scalar, **form) for scalar in SCALARS}


def crs_and_sell(run, sizes, *libraries):
    """Of CRS by a thread a row, SELL-32-1 and libraries' forms."""
    return multiply(run, "products_", sizes, ["strata_columns", "crs", *libraries], SELL_32_1)


def products(run):
    """The same, with Strata's own choice of a form."""
    found = crs_and_sell(run, sizes_of(run), "kokkos_kernels",
                         *["cusparse_csr_alg1", "cusparse_sell"] * run.on_gpu)
    own = multiply(run, "products_diagonals_", sizes_of(run), ["strata"], {})
    return {scalar: found[scalar] + own[scalar] for scalar in SCALARS}


def solves(run):
    """{scalar: rows} of conjugate gradients in SELL-32-1, with CRS, and in the
    library's form; the last without the flags of SELL-32-1."""
    return {scalar: [row for table, algorithms, form in (
        ("solves_", ("strata_columns", "kokkos_kernels"), SELL_32_1),
        ("solves_diagonals_", ("strata",), {})) for row in run.rows(
            "cg", table + scalar, sizes=sizes_of(run), scalar=scalar, **SYSTEM,
            solves=1 if run.quick else 3, algorithms=algorithms, **form)]
        for scalar in SCALARS}


PRODUCT = {"crs": "CRS, a thread a row", "strata_columns": "SELL-32-1",
           "strata": "Strata, diagonals", "kokkos_kernels": "CRS, Kokkos Kernels",
           "cusparse_csr_alg1": "CRS, cuSPARSE", "cusparse_sell": "SELL, cuSPARSE"}
SOLVE = {"kokkos_kernels": "CRS, Kokkos Kernels", "strata_columns": "SELL-32-1",
         "strata": "Strata, diagonals"}


LINES = functools.partial(Panel, x="N", log_x=False)


def lines_of(found, names, value, where=""):
    """{name: {N: value}} for the algorithms in `names`, a line each scalar."""
    lines = {}
    for scalar, rows in found.items():
        sizes = by_size(rows, value)
        for algorithm, name in names.items():
            if algorithm in sizes:
                lines["%s%s, %s" % (name, where, scalar)] = sizes[algorithm]
    return lines


def points(found, algorithm, scalar, value):
    """{N: value}; empty where the algorithm did not run."""
    return by_size(found[scalar], value).get(algorithm, {})


def figure_2(run, page, here):
    """CRS on CPU and GPU; here: the products measured on `run`."""
    crs = {"crs": PRODUCT["crs"]}
    places = [(here, ", GPU" if run.on_gpu else ", CPU")]
    if run.on_gpu:
        # Half of the sizes: products of a CPU take longer.
        places.append((crs_and_sell(run.host(), sizes_of(run)[1::2]), ", CPU"))
    time, band = ({name: values for found, where in places
                   for name, values in lines_of(found, crs, column, where).items()}
                  for column in ("product_us", "gbytes_per_second"))
    page.figure("figure_2", [
        LINES("time of a product", time),
        LINES("memory bandwidth", band, y="GB/s", log_y=False,
              levels={"CRS on a T4": T4_CRS} if run.on_gpu else {})])
    page.columns("figure_2", "N", sizes_of(run),
                 [(name + ", us", values) for name, values in time.items()])


def figure_3(page, solved):
    page.figure("figure_3", [LINES("copies of pageable memory", {
        "%s, %s" % (name, scalar): points(solved, "strata_columns", scalar, column)
        for scalar in solved for column, name in (
            ("to_device_us", "matrix and b to the device"), ("from_device_us", "x back"))})])


def figure_4(run, page, found):
    names = {k: PRODUCT[k] for k in ("strata_columns", "crs", "strata")}
    levels = {"SELL-32-1 on a T4": T4_SELL, "CRS on a T4": T4_CRS}
    page.figure("figure_4", [
        LINES("time of a product", lines_of(found, names, "product_us")),
        LINES("memory bandwidth", lines_of(found, names, "gbytes_per_second"), y="GB/s",
              log_y=False, levels=levels if run.on_gpu else {})])
    for scalar in SCALARS:
        lines = by_size(found[scalar], "product_us")
        page.columns(scalar, "N", sorted(lines["crs"]), [
            *((name, lines[a]) for a, name in PRODUCT.items() if a in lines),
            ("CRS over SELL-32-1", ratios(lines, "crs", "strata_columns"))])


def unknowns(row):
    """Million unknowns per second and iteration."""
    return float(row["rows"]) / float(row["iteration_us"])


def figures_5_to_7(page, solved):
    page.figure("figure_5", [LINES(
        "million unknowns per second and iteration", lines_of(solved, SOLVE, unknowns),
        y="million unknowns / s", log_y=False)])
    crs = {a: SOLVE[a] for a in ("strata_columns", "kokkos_kernels")}
    page.figure("figure_6", [LINES(
        "iterations", lines_of(solved, crs, "iterations"), y="iterations", log_y=False,
        levels={"the cap": MOST_ITERATIONS})])
    rows = []
    for scalar in SCALARS:
        of = by_size(solved[scalar], lambda row: row)
        for n, row in of["strata_columns"].items():
            peer = of.get("kokkos_kernels", {}).get(n)
            rows.append([n, scalar, int(row["iterations"]),
                         row["status"].replace("_", " "),
                         float(row["relative_residual"]),
                         int(peer["iterations"]) if peer else None,
                         float(peer["relative_residual"]) if peer else None])
    page.table("figure_6", ["N", "scalar", "iterations", "status", "residual over b",
                            "CRS, Kokkos Kernels: iterations", "residual over b"],
               sorted(rows, key=lambda row: row[:2]), left=2)
    page.figure("figure_7", [LINES("solve", lines_of(solved, SOLVE, "solve_us"))])


def claims(run, page, found, solved):
    n = max(sizes_of(run))

    def best(results, algorithm, value):
        return max(v for s in SCALARS for v in points(results, algorithm, s, value).values())

    def seconds(column):
        return 1e-6 * last(points(solved, "strata_columns", "double", column))[1]

    taken = by_size(solved["float"], lambda row: int(row["iterations"]))

    def stops(algorithm):
        at = [size for size, count in taken.get(algorithm, {}).items() if count >= MOST_ITERATIONS]
        return str(min(at)) if at else "none up to %d" % n

    page.beside([
        ("best bandwidth of the device, GB/s", "about %d" % T4_COPY, max(points(
            found, "crs", "double", "copy_gbytes_per_second").values(), default=None),
         "ours: of copies"),
        ("CRS, best bandwidth, GB/s", "about %d" % T4_CRS,
         best(found, "crs", "gbytes_per_second"), "a thread a row"),
        ("SELL-32-1, best bandwidth, GB/s", "about %d" % T4_SELL,
         best(found, "strata_columns", "gbytes_per_second")),
        ("million unknowns per second and iteration, best", "about %d" % T4_MUPDS,
         best(solved, "strata_columns", unknowns), "SELL-32-1"),
        ("N from which float takes %d iterations" % MOST_ITERATIONS,
         "about %d" % T4_FLOAT_STOPS, stops("strata_columns"),
         "SELL-32-1, with Strata's restarts"),
        ("the same without restarts", "about %d" % T4_FLOAT_STOPS,
         stops("kokkos_kernels"), "Kokkos Kernels"),
        ("matrix to the device, s", "about %d at N = 256" % T4_TRANSFER_S,
         seconds("to_device_us"), "double, with b, N = %d" % n),
        ("solve, s", "about %d at N = 256" % T4_SOLVE_S,
         seconds("solve_us"), "double, N = %d" % n),
        ("Figure 7: time in double over time in float", "about 1", ratio(*(
            last(points(solved, "strata_columns", scalar, "solve_us"))[1]
            for scalar in ("double", "float"))), "SELL-32-1, N = %d" % n)])


def reproduce(run, page):
    found, solved = products(run), solves(run)
    figure_2(run, page, found)
    figure_3(page, solved)
    figure_4(run, page, found)
    figures_5_to_7(page, solved)
    claims(run, page, found, solved)
    page.items("differs", [
        "Without a GPU, Figure 2 has the CPU's lines alone, and in Figure 4 both forms run on "
        "the CPU, for which SELL-32-1 is not made."] * (not run.on_gpu))
