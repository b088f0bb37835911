# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of a document: a text with numbers put in, and pictures and tables beside it."""
import datetime
import os
import re
import string
import subprocess
from dataclasses import dataclass, field

from common import ROOT, text_of
from measure import cache_of
from plots import (BLUE, GREEN, GREY, INDIGO, ORANGE, PURPLE, SKY, VERMILION,
                   lay_out, load_pyplot, plain_numbers, time_axis)
from tables import UserError

MOST_TICKS = 8  # up to which each size has its own
COLOURS = [VERMILION, BLUE, ORANGE, PURPLE, GREEN, SKY, INDIGO, GREY]
MARKERS = "os^Dv*PX"
# The first line whose name has one of these is drawn in its colour, on all pages.
ROLES = {"Strata": 0, "cuSPARSE": 1, "Kokkos Kernels": 2, "LAPACK": 3, "cuSOLVER": 4}


@dataclass
class Panel:
    """Lines against sizes.

    @param lines {name: {x: y}}; empty lines are left out
    @param y what the axis says, which is one of times in us unless unit=""
    @param levels {what: y}, the document's numbers as dotted lines
    @param dashed names of lines that are drawn so, peers by custom
    @param dots points instead of lines: y is a time as x is, with a line where
                both are the same
    """
    title: str
    lines: dict
    x: str = ""
    y: str = "time"
    unit: str = "us"
    log_x: bool = True
    log_y: bool = True
    levels: dict = field(default_factory=dict)
    dashed: tuple = ()
    dots: bool = False


def _points_of(panel):
    """The lines without points that have no value, and without empty lines."""
    known = {name: {x: y for x, y in points.items() if y is not None}
             for name, points in panel.lines.items()}
    return {name: points for name, points in known.items() if points}


def _place(name, places):
    """Of a line's colour and marker, which other lines of the figure do not have."""
    wanted = [place for role, place in ROLES.items() if role in name]
    free = [place for place in (*wanted, *range(len(ROLES), len(COLOURS)), *ROLES.values())
            if place not in places.values()]
    return places.setdefault(name, places.get(name, (free or [len(places)])[0]))


def _draw(axes, panel, colours):
    drawn = _points_of(panel)
    for name, points in drawn.items():
        xs = sorted(points)
        place = _place(name, colours)
        axes.plot(xs, [points[x] for x in xs], label=name, markersize=5,
                  linewidth=1.6, color=COLOURS[place % len(COLOURS)],
                  marker=MARKERS[place % len(MARKERS)],
                  linestyle="none" if panel.dots else
                  "--" if name in panel.dashed else "-")
    sizes = sorted({x for points in drawn.values() for x in points})
    values = [y for points in drawn.values() for y in points.values()] + [*panel.levels.values()]
    if panel.dots:
        both = min(sizes + values), max(sizes + values)
        axes.plot(both, both, color="#555555", linewidth=1, zorder=1)
    for what, level in panel.levels.items():
        axes.axhline(level, color="#555555", linestyle=":", linewidth=1.2)
        axes.annotate(what, (0.01, level), fontsize=7.5, color="#555555",
                      xycoords=axes.get_yaxis_transform(), va="bottom")
    if panel.log_x:
        axes.set_xscale("log")
    if panel.dots:
        time_axis(axes.xaxis, both)
    elif panel.log_x:
        plain_numbers(axes.xaxis)
    if len(sizes) <= MOST_TICKS and not panel.dots:
        axes.set_xticks(sizes)
        axes.set_xticks([], minor=True)
    if panel.log_y:
        axes.set_yscale("log")
        if panel.unit == "us":
            time_axis(axes.yaxis, (min(values), max(values)))
        elif max(values) / min(values) < 300:
            plain_numbers(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.set_title(panel.title, loc="left")
    axes.legend(frameon=False, fontsize=8)


def _first_lines(*command):
    """What a program says of its version; nothing where it is not."""
    try:
        return subprocess.run([*command, "--version"], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    except OSError:
        return ""


def _found(pattern, text):
    match = re.search(pattern, text)
    return match.group(1) if match else "unknown"


def _rows_of_build(build, context):
    """What a page says of a backend's programs and where they ran."""
    backend, device = build.backend, context.get("device", "")
    yield "backend", backend
    if backend != "cuda":
        threads = os.environ.get("OMP_NUM_THREADS", "") or str(context["num_cpus"])
        device = "%s, %s threads" % (device or "host", "1" if backend == "serial" else threads)
    yield "device", device
    if "kokkos_version" in context:  # 30401 is 3.4.01
        number = int(context["kokkos_version"])
        yield "Kokkos", "%d.%d.%02d" % (number // 10000, number // 100 % 100, number % 100)
    for key, name in (("lapack", "LAPACK"), ("product", "products of dense matrices")):
        if key in context:
            yield name, context[key]
    if backend == "cuda":  # of nvcc, on the PATH or in its usual place
        yield "CUDA", _found(r"release (\S+),", _first_lines("nvcc") or
                             _first_lines("/usr/local/cuda/bin/nvcc"))
    cache = cache_of(build.folder)
    path, kind, flags = (cache.get("CMAKE_" + name, "")
                         for name in ("CXX_COMPILER", "BUILD_TYPE", "CXX_FLAGS"))
    yield "compiler", _first_lines(path).partition("\n")[0].strip() or os.path.basename(path)
    flags += " " + cache.get("CMAKE_CXX_FLAGS_" + kind.upper(), "")
    yield "flags", "`%s`" % " ".join(flags.split())


class Page:
    """See common.py."""

    def __init__(self, name, folder, backend, quick, command, commit):
        """@param name of the document, whose text is docs/reproduced/<name>/page.md.in
        @param command of scripts/reproduce, as a user would repeat it"""
        self.name, self.folder, self.backend, self.quick = name, folder, backend, quick
        self._parts = {"command": command, "commit": commit,
                       "date": datetime.datetime.now(datetime.timezone.utc).strftime(
                           "%Y-%m-%d %H:%M UTC")}
        # What comes by itself: of each backend the build, and Google Benchmark's context.
        self.commands, self.warnings, self.machines = [], [], {}
        self._load = os.getloadavg()[0]
        os.makedirs(folder, exist_ok=True)

    # What a document's module calls.

    def put(self, **texts):
        self._parts.update({name: text_of(text) for name, text in texts.items()})

    def items(self, name, texts):
        self.put(**{name: "\n".join("- " + text for text in texts)})

    def table(self, name, header, rows, left=1, words=()):
        """The first `left` columns are words, and those at `words`; the others are
        numbers."""
        if not rows:
            raise UserError("a table of %s has no rows" % ", ".join(header))
        marks = ["---" if c < left or c in words else "---:" for c in range(len(header))]
        lines = ["| " + " | ".join(map(text_of, row)) + " |" for row in (header, *rows)]
        self.put(**{name: "\n".join([lines[0], "|" + "|".join(marks) + "|", *lines[1:]])})

    def columns(self, name, x, sizes, columns):
        """A row for each of the sizes: `columns` are pairs of a title and {size: value}."""
        self.table(name, [x, *(title for title, _ in columns)],
                   [[size, *(values.get(size) for _, values in columns)] for size in sizes])

    def beside(self, rows):
        """(what, the document's number, ours) or with a remark as the fourth."""
        rows = [list(row) + [""] * (4 - len(row)) for row in rows]
        self.table("beside", ["what", "document", "here", "remark"], rows, words=(3,))

    def figure(self, name, panels):
        panels = [panel for panel in panels if _points_of(panel)]
        if not panels:
            raise UserError("%s has nothing to draw" % name)
        pyplot = load_pyplot()
        drawing, axes = pyplot.subplots(
            1, len(panels), figsize=(5.6 * len(panels) + 0.6, 4.4),
            squeeze=False)
        colours = {}
        for one, panel in zip(axes[0], panels):
            _draw(one, panel, colours)
        lay_out(drawing)
        drawing.savefig(os.path.join(self.folder, name + ".png"), dpi=120)
        pyplot.close(drawing)

    def write(self):
        """page.md; its path."""
        folder = os.path.join(ROOT, "docs", "reproduced", self.name)
        with open(os.path.join(folder, "page.md.in"), encoding="utf-8") as file:
            text = file.read()
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            self.put(version=_found(r"project\(Strata VERSION ([0-9.]+)", file.read()))
        rows = [("load average before", "%.1f on %d cores" % (self._load, os.cpu_count()))]
        rows += [row for pair in self.machines.values() for row in _rows_of_build(*pair)]
        self.put(machine="\n".join("| %s | %s |" % row for row in rows),
                 commands="\n".join("    " + line for line in self.commands))
        self.items("left_out", dict.fromkeys(self.warnings))
        if self.warnings:
            self.put(left_out="## Left out\n\n" + self._parts["left_out"])
        unused = set(self._parts) - set(re.findall(r"\$(\w+)", text))
        if unused:
            raise UserError("the text of %s has no $%s" % (self.name, ", $".join(unused)))
        text = string.Template(text).substitute(self._parts)
        if self.quick:
            text = re.sub(r"(?m)^\| sizes \|.*", "| sizes | small ones (`--quick`) |", text)
        path = os.path.join(self.folder, "page.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"\n{3,}", "\n\n", text))
        return path
