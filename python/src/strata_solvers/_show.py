# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._errors import OptionError, TypeMismatchError
from ._triangular import TriangularSolver

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def level_sets(solver: TriangularSolver) -> np.ndarray:
    """Rows of each level set of a solver's triangle, in the order of the solve.

    A row of level l depends on rows of levels below l alone, and on one of level l - 1.
    Found on the host, in O(n + entries), from the matrix that the solver keeps.
    """
    if not isinstance(solver, TriangularSolver):
        raise TypeMismatchError("solver", f"is a {type(solver).__name__}",
                                "pass a TriangularSolver")
    matrix = solver._matrix
    if matrix.space != "host":
        raise OptionError("solver", "works on a GPU, where its matrix is",
                          "show one of the same matrix on the host")
    sizes = getattr(_core, f"level_set_sizes_{matrix.dtype}_host")(
        matrix.indptr, matrix.indices, matrix.data, solver._core_lower,
        solver._unit_diagonal, solver._core_op,
        solver._options["take_triangle"] or solver._shared.outside is not None)
    return np.asarray(sizes, dtype=np.int64)


def show(solver: TriangularSolver, axes: object = None) -> Figure | str:
    """Draws the plan of a solver: the rows of its level sets.

    There is a bar for each level set, as high as it has rows (for very many level sets, a
    bar for several, as high as the largest), with the level sets that are merged into one
    side by side in one shade.

    Parameters
    ----------
    solver : TriangularSolver
    axes : matplotlib axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.figure.Figure
        Or, where matplotlib is not installed, text with the same numbers.
    """
    sizes, report = level_sets(solver), solver.report()
    if axes is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            return _text(sizes, report)
        figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
    else:
        figure = getattr(axes, "figure")
    _draw_levels(axes, sizes, report)
    return figure


def _facts(report: Any) -> str:
    facts = [f"{report.rows} rows", f"{report.levels} level sets"]
    if report.merged_levels > 1:
        facts.append(f"{report.merged_levels} merged into one")
    if report.subgraphs:
        kind = "tiles" if report.algorithm == "tiles" else "sub-graphs"
        facts.append(f"{report.subgraphs} {kind}")
    if report.blocks:
        facts.append(f"{report.blocks} diagonal blocks")
    return ", ".join(facts)


def _binned(sizes: np.ndarray, bars: int) -> tuple[np.ndarray, int]:
    """The largest of every `width` sizes, for at most `bars` of them."""
    width = max(1, -(-len(sizes) // bars))
    padded = np.zeros(-(-len(sizes) // width) * width, dtype=sizes.dtype)
    padded[: len(sizes)] = sizes
    return padded.reshape(-1, width).max(axis=1), width


def _draw_levels(axes: Any, sizes: np.ndarray, report: Any) -> None:
    heights, width = _binned(sizes, 400)
    left = np.arange(len(heights)) * width
    merged = max(1, report.merged_levels)
    shades = [("#1f5f8b", "#6fa8cc")[int(first // merged) % 2] if merged > 1 else "#1f5f8b"
              for first in left]
    axes.bar(left, heights, width=width, align="edge", color=shades, linewidth=0)
    axes.set_xlim(0, max(1, len(sizes)))
    axes.set_xlabel("level set")
    axes.set_ylabel("rows")
    axes.set_title(f"{report.algorithm}: {_facts(report)}", fontsize="medium")


def _text(sizes: np.ndarray, report: Any) -> str:
    heights, width = _binned(sizes, 40)
    lines = [f"{report.algorithm}: {_facts(report)}",
             "rows of the level sets" +
             (f", the largest of every {width}:" if width > 1 else ":")]
    most = max(1, int(heights.max(initial=0)))
    for k, height in enumerate(heights):
        bar = "#" * max(1, round(40 * int(height) / most))
        lines.append(f"{k * width:>8} {bar} {height}")
    return "\n".join(lines) + "\n" + str(report)
