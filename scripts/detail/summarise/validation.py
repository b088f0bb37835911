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
import functools
import math

from tables import (UserError, check_one_kind, geometric_mean, known, number, print_markdown,
                    read_tables)

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
    rows = read_tables(options.tables, COLUMNS, "strata_perf_validation")
    names = set()
    for row in rows:
        if row["system"] in names and not options.repeats:
            raise UserError("'%s' is in the tables twice" % row["system"])
        names.add(row["system"])
    check_one_kind(rows)
    return [System(row) for row in rows]


def quantile(values, percent):
    values = sorted(known(values))
    return values[max(0, math.ceil(percent / 100 * len(values)) - 1)] if values else math.nan


largest = functools.partial(quantile, percent=100)
least = functools.partial(quantile, percent=0)


def small_regrets(regrets):
    """Per cent."""
    return "%.1f %%" % (100 * sum(r <= REGRET_LIMIT for r in regrets) / len(regrets))


def print_distribution(systems):
    measures = {"regret": "regret", "analysis over cuSPARSE's": "analysis",
                "cuSPARSE's solve over ours": "speedup", "solve over its floor": "floor"}
    rows = []
    for name, measure in measures.items():
        values = known(getattr(s, measure) for s in systems)
        rows.append([name, len(values), geometric_mean(values),
                     *(quantile(values, q) for q in (0, *QUANTILES))])
    print_markdown(["", "systems", "mean", "least"] + ["%d %%" % q for q in QUANTILES], rows)
    print("Regret at most %.2f: %s of the systems.\n" % (
        REGRET_LIMIT, small_regrets([s.regret for s in systems])))


def print_groups(title, groups, *columns):
    """A row for each group of systems. Columns: a title, a measure and what sums it up."""
    print_markdown([title, "systems", *(name for name, _, _ in columns)], [
        [group, len(some), *(summed([getattr(s, measure) for s in some])
                             for _, measure, summed in columns)]
        for group, some in groups.items()])


def print_sizes(systems):
    groups = {}
    for first, end in SIZES:
        limits = ["from {:,}".format(first)] * (first > 0) + \
                 ["below {:,}".format(end)] * (end < math.inf)
        groups[" ".join(limits) or "all"] = [
            s for s in systems if first <= s.number("rows") < end and not math.isnan(s.speedup)]
    print_groups("rows", groups, ("speedup", "speedup", geometric_mean),
                 ("least", "speedup", least), ("largest", "speedup", largest),
                 ("analysis", "analysis", geometric_mean))


def print_families(systems):
    groups = {}
    for system in systems:
        groups.setdefault(system.row["family"], []).append(system)
    groups["all"] = systems
    # Wide systems: level sets are not their floor.
    bound = [s for s in systems if s.over("bytes_us", "floor_us") >= 1]
    if bound:
        groups["bytes bind"] = bound
    print_groups("family", groups, *(
        ("regret 50 %", "regret", functools.partial(quantile, percent=50)),
        ("98 %", "regret", functools.partial(quantile, percent=98)),
        ("100 %", "regret", largest), ("at most %.2f" % REGRET_LIMIT, "regret", small_regrets),
        ("analysis", "analysis", geometric_mean), ("worst", "analysis", largest),
        ("speedup", "speedup", geometric_mean), ("least", "speedup", least),
        ("floor", "floor", geometric_mean), ("worst", "floor", largest)))


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
    first = everything[0].row
    # Older tables have no such column.
    accuracy = first.get("accuracy", "rowwise")
    print("%d systems in %d families, %s\n" % (
        len(everything), len({s.row["family"] for s in everything}),
        first["scalar"] + ", accuracy = %s" % accuracy * (accuracy != "rowwise")))
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
