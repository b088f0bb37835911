# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the pages of scripts/reproduce share.

A document is a module of this folder, named by its authors and year
(picciau_2017.py), which has

  NUMBER = "004"                     how scripts/reproduce calls it
  TITLE = "Picciau et al. 2017"
  PROGRAMS = ("strata_perf_sptrsv",)                 what scripts/build has to build
  def reproduce(run, page): ...      measures, draws and fills the page

and docs/reproduced/picciau_2017/page.md.in, the text of its page, in which $figure_6
stands for what the module puts there. scripts/reproduce lists the modules.

`run` (class Run, in measure.py) measures:
  run.quick         small sizes: half a minute for each document, on two cores
  run.on_gpu        whether the backend is CUDA
  run.files         {name: file} of the Matrix Market files in the folder of --matrices
  run.rows("spmv", "products", systems=["poisson:32"], vectors=(1, 5), once=True)
                    runs strata_perf_spmv --gallery poisson:32 --vectors 1,5 --once,
                    keeps its table as tables/products.csv beside the page and returns
                    its rows as dictionaries of strings. Each row was checked by the
                    program; a wrong one of ours ends scripts/reproduce with an error,
                    a peer's is told on the page.
  run.host()        the same for the OpenMP backend, which is built when asked for;
                    `run` itself where the backend is a host's

`page` (class Page, in page.py) puts these into the text:
  page.put(size=1000), page.items("differs", ["..."])
                    a word; items of a list
  page.table("figure_6", ["n", "ours"], [[32, 1.5], ...])
                    numbers are printed with three digits, None as a dash
  page.columns("figure_6", "n", [32, 64], [("ours", {32: 1.5}), ...])
                    the same by columns, each of which has its own values
  page.beside([("claim of the document", "its number", our_number), ...])
                    $beside, the document's numbers beside ours
  page.figure("figure_6", panels=[Panel("time", {"Strata": {32: 1.5}}, ...)])
                    figure_6.png beside the page, one panel a column

Device, date, commit, versions, commands and what was left out come by themselves.
"""
import math
import os
import subprocess
import sys

from tables import UserError

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


class WrongAnswer(Exception):
    """One of our own answers did not pass its check."""


def say(text):
    print("==> %s" % text, file=sys.stderr, flush=True)


def _git(*words):
    """What it says of ROOT; None where ROOT is no repository."""
    try:
        done = subprocess.run(["git", "-C", ROOT, *words], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit_of_sources(given=""):
    """The commit, with -dirty where any file differs or is not in it. `given` stands
    for it where the sources came without their history."""
    top = _git("rev-parse", "--show-toplevel")
    if not top or os.path.realpath(top) != os.path.realpath(ROOT):
        return given or "unknown"
    if given:
        raise UserError("--commit is for sources without their history; these "
                        "have it")
    changed = _git("status", "--porcelain", "--untracked-files=all")
    return _git("rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")


def text_of(value, digits=3):
    """A cell: three significant digits, whole numbers whole, a dash for none."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return "{:,}".format(value)
    if math.isnan(value):
        return "–"
    if value == 0 or not math.isfinite(value):
        return "%g" % value
    places = digits - 1 - math.floor(math.log10(abs(value)))
    if places > 6:
        return "%.*e" % (digits - 1, value)
    rounded = round(value, places)
    return "{:,.{p}f}".format(rounded, p=max(places, 0))


def series(rows, x, y):
    """{algorithm: {x: y}}: x is a column of whole numbers, y one of numbers; or functions
    of a row."""
    lines = {}
    for row in rows:
        lines.setdefault(row["algorithm"], {})[x(row) if callable(x) else int(row[x])] = \
            y(row) if callable(y) else float(row[y])
    return lines


def ratio(of, to):
    """None where there is nothing to divide."""
    if of is None or to is None or not to > 0:
        return None
    return of / to


def ratios(lines, of, to):
    """{x: value of the line `of` over that of the line `to`} where both have one, by x."""
    return {x: ratio(lines[of][x], lines[to][x])
            for x in sorted(set(lines.get(of, {})) & set(lines.get(to, {})))}


def last(values):
    """(the largest x, its value); twice None where there is none."""
    return max(values.items(), default=(None, None), key=lambda item: item[0])
