# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures of the systems of one run of strata_perf_validation, or of all its shares:

  regret    time of the automatic choice over that of the fastest candidate
  analysis  time of its analysis over that of cuSPARSE's
  speedup   time of cuSPARSE's solve over that of the automatic choice
  floor     time of the automatic choice over its floor; "bytes bind" has the systems
            whose floor is that of their bytes

The n % quantile is the smallest value that n % of the systems do not exceed. Means are
geometric. Systems without a right answer are named and do not count; the exit status is
then 1."""
import math

from tables import UserError, geometric_mean, known, number, print_markdown, read_tables

COLUMNS = ("family", "system", "scalar", "rows", "chosen", "solve_us", "cusparse_us",
           "floor_us", "outcome")
QUANTILES = (50, 90, 95, 98, 100)
# Rows: from the one, below the other.
SIZES = ((0, 10000), (10000, 50000), (50000, 200000), (200000, 500000),
         (500000, math.inf), (0, 200000), (200000, math.inf), (0, math.inf))
REGRET_LIMIT = 1.15
WORST = 10


class System:
    """A line of a table. Times are NaN where there are none."""

    def __init__(self, row):
        self.row = row
        self.name, self.chosen = row["system"], row["chosen"]
        # Older tables have no such column.
        self.accuracy = row.get("accuracy", "rowwise")
        self.columns = row.get("rhs", "1")
        self.timings = {key[:-len("_timing")]: timing for key, timing in row.items()
                        if key.endswith("_timing")}
        times = {name: self.number(name + "_us") for name, timing in self.timings.items()
                 if timing in ("full", "once")}
        # The choice itself where none is faster.
        self.fastest = min(times, key=times.get, default=self.chosen)
        self.fastest_us = times.get(self.fastest, math.inf)
        if not self.fastest_us < self.number("solve_us"):
            self.fastest, self.fastest_us = self.chosen, self.number("solve_us")
        self.regret = self.number("solve_us") / self.fastest_us
        self.analysis = self.over("analysis_us", "cusparse_analysis_us")
        self.speedup = self.over("cusparse_us", "solve_us")
        self.floor = self.over("solve_us", "floor_us")

    def number(self, key):
        return number(self.row, key)

    def over(self, above, below):
        return self.number(above) / self.number(below)


def add_options(parser):
    parser.add_argument("tables", nargs="+", metavar="TABLE.csv")
    parser.add_argument("--repeats", action="store_true",
                        help="a system that is in the tables twice counts twice, as where "
                        "runs with two scales have a size in common")


def read(options):
    systems = [System(row) for row in read_tables(options.tables, COLUMNS,
                                                  "strata_perf_validation")]
    names = set()
    for system in systems:
        name = system.name, system.columns
        if name in names and not options.repeats:
            raise UserError("'%s' is in the tables twice" % system.name)
        names.add(name)
    for what, kinds in (("scalars", {s.row["scalar"] for s in systems}),
                        ("numbers of right-hand sides", {s.columns for s in systems}),
                        ("accuracies", {s.accuracy for s in systems})):
        if len(kinds) > 1:
            raise UserError("the tables are of several %s" % what)
    return systems


def quantile(values, percent):
    values = sorted(known(values))
    return values[max(0, math.ceil(percent / 100 * len(values)) - 1)] if values else math.nan


def largest(values):
    return quantile(values, 100)


def least(values):
    return quantile(values, 0)


def small_regrets(systems):
    """Per cent."""
    return "%.1f %%" % (100 * sum(s.regret <= REGRET_LIMIT for s in systems) / len(systems))


def print_distribution(systems):
    measures = {"regret": "regret", "analysis over cuSPARSE's": "analysis",
                "cuSPARSE's solve over ours": "speedup", "solve over its floor": "floor"}
    rows = []
    for name, measure in measures.items():
        values = known(getattr(s, measure) for s in systems)
        rows.append([name, len(values), geometric_mean(values),
                     *(quantile(values, q) for q in (0, *QUANTILES))])
    print_markdown(["", "systems", "mean", "least"] + ["%d %%" % q for q in QUANTILES], rows)
    print("Regret at most %.2f: %s of the systems.\n" % (REGRET_LIMIT, small_regrets(systems)))


def print_sizes(systems):
    rows = []
    for first, end in SIZES:
        some = [s for s in systems if first <= s.number("rows") < end]
        speedups = known(s.speedup for s in some)
        limits = ["from {:,}".format(first)] * (first > 0) + \
                 ["below {:,}".format(end)] * (end < math.inf)
        rows.append([" ".join(limits) or "all", len(speedups), geometric_mean(speedups),
                     least(speedups), largest(speedups),
                     geometric_mean(s.analysis for s in some)])
    print_markdown(["rows", "systems", "speedup", "least", "largest", "analysis"], rows)


def print_families(systems):
    groups = {}
    for system in systems:
        groups.setdefault(system.row["family"], []).append(system)
    groups["all"] = systems
    # Wide systems: level sets are not their floor.
    groups["bytes bind"] = [s for s in systems if s.over("bytes_us", "floor_us") >= 1]
    rows = []
    for family, some in groups.items():
        if not some:
            continue
        regrets, analyses, speedups, floors = (
            [getattr(s, measure) for s in some]
            for measure in ("regret", "analysis", "speedup", "floor"))
        rows.append([family, len(some), quantile(regrets, 50), quantile(regrets, 98),
                     largest(regrets), small_regrets(some),
                     geometric_mean(analyses), largest(analyses), geometric_mean(speedups),
                     least(speedups), geometric_mean(floors), largest(floors)])
    print_markdown(["family", "systems", "regret 50 %", "98 %", "100 %",
                    "at most %.2f" % REGRET_LIMIT, "analysis", "worst", "speedup", "least",
                    "floor", "worst"], rows)


def print_worst(systems, title, measure, columns, smallest=False):
    """`columns`: {title: function of a system}"""
    some = [s for s in systems if not math.isnan(getattr(s, measure))]
    some.sort(key=lambda s: getattr(s, measure), reverse=not smallest)
    if some:
        print("%s:\n" % title)
        print_markdown(
            ["system", "family", "rows", "nnz", "level sets", "ratio", "chosen", *columns],
            [[s.name, s.row["family"], s.row["rows"], s.row["nnz"], s.row["levels"],
              getattr(s, measure), s.chosen] + [cell(s) for cell in columns.values()]
             for s in some[:WORST]])


def summarise(options):
    everything = read(options)
    systems = [s for s in everything if s.row["outcome"] == "right"]
    print("%d systems in %d families, %s\n" %
          (len(everything), len({s.row["family"] for s in everything}),
           everything[0].row["scalar"] +
           ("" if everything[0].accuracy == "rowwise" else
            ", accuracy = " + everything[0].accuracy)))
    bad = ["%s: %s %s" % (s.name, s.row["outcome"], s.row["message"])
           for s in everything if s not in systems]
    bad += ["%s: %s %s" % (s.name, name, timing) for s in systems
            for name, timing in s.timings.items() if timing in ("wrong", "failed")]
    for line in bad:
        print("No right answer: %s\n" % line)
    if systems:
        print_distribution(systems)
        print_sizes(systems)
        print_families(systems)
        us = {"us": lambda s: s.number("solve_us")}
        print_worst(systems, "Largest regret", "regret", {
            **us, "fastest": lambda s: s.fastest, "its us": lambda s: s.fastest_us})
        print_worst(systems, "Least speedup over cuSPARSE", "speedup", {
            **us, "cuSPARSE us": lambda s: s.number("cusparse_us")}, smallest=True)
        print_worst(systems, "Longest analyses beside cuSPARSE", "analysis", {})
    if bad:
        raise UserError("%d answers are not right" % len(bad))
