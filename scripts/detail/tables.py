# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the scripts that read tables of the benchmarks share."""
import csv
import math
import os
import sys


class UserError(Exception):
    """Something a user can put right; printed without a traceback."""


def read_csv(path):
    """The rows, as dictionaries."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError("%s can't be read: %s" % (path, error)) from error


def read_tables(paths, columns=(), program=""):
    """Rows of the CSV tables that one program has written (--table FILE); all of `columns`
    are there."""
    rows = []
    for path in paths:
        found = read_csv(path)
        if not found:
            raise UserError("%s has no rows" % path)
        for column in columns:
            if column not in found[0]:
                raise UserError("%s has no column %s: make it with %s --table" %
                                (path, column, program))
        if rows and set(found[0]) != set(rows[0]):
            raise UserError("%s has other columns than %s: name the tables of "
                            "one program" % (path, paths[0]))
        for row in found:
            if None in row or None in row.values():
                raise UserError("%s: the line of '%s' is cut off" %
                                (path, next(iter(row.values()))))
        rows += found
    return rows


def check_one_kind(rows):
    """Times of several kinds say nothing side by side."""
    for column, what in (("scalar", "scalars"), ("rhs", "numbers of right-hand sides"),
                         ("accuracy", "accuracies")):
        if len({row.get(column) for row in rows}) > 1:
            raise UserError("the tables mix " + what)


def number(row, column):
    """Not a number where there is none."""
    try:
        return float(row[column])
    except (KeyError, TypeError, ValueError):
        return math.nan


def known(values):
    return [v for v in values if v is not None and not math.isnan(v)]


def geometric_mean(values):
    """Of the numbers above zero; not a number where there are none."""
    values = [v for v in known(values) if v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def short(value):
    """A cell: numbers with three digits, a dash for none."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return "%.3g" % value if abs(value) < 1000 else "%.0f" % value


def short_time(us, micro="µs", digits=".3g"):
    limit, unit = next(pair for pair in ((1e6, "s"), (1e3, "ms"), (1, micro))
                       if us >= pair[0] or pair[0] == 1)
    return "{:{}} {}".format(us / limit, digits, unit)


def print_markdown(header, rows):
    print("| %s |\n|%s" % (" | ".join(header), "---|" * len(header)))
    for row in rows:
        print("| %s |" % " | ".join(map(short, row)))
    print()


def run_program(program, main):
    """Exit code 1 and one line on what a user can put right."""
    try:
        main()
    except UserError as error:
        sys.exit("%s: %s" % (program, error))
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
