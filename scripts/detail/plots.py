# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the scripts that draw figures share."""
import os
import sys

from tables import UserError, short_time

# Colours that people with any colour vision tell apart (Okabe and Ito).
VERMILION, ORANGE = "#D55E00", "#E69F00"
GREEN, BLUE, PURPLE, GREY = "#009E73", "#0072B2", "#CC79A7", "#999999"
SKY, INDIGO = "#56B4E9", "#332288"


def load_pyplot():
    """matplotlib's pyplot, drawing to files in one style."""
    try:
        import matplotlib
    except ImportError as error:
        raise UserError("matplotlib is missing for %s; install the package "
                        "python3-matplotlib" % sys.executable) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot
    pyplot.rcParams.update({
        "font.size": 10, "axes.titlesize": 12, "axes.titleweight": "bold",
        "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
        "axes.axisbelow": True, "hatch.color": "white",
        "hatch.linewidth": 0.7,
        # SVG with its text as text, and the same bytes each time.
        "svg.fonttype": "none", "svg.hashsalt": "Strata"})
    return pyplot


def time_axis(axis, limits):
    """Logarithmic axis in seconds' units people read: us, ms, s."""
    low, high = limits
    # Else there are too few powers of ten to read from.
    _format(axis, lambda us: short_time(us, digits="g"), high / low < 30)


def plain_numbers(axis, between_powers=True):
    _format(axis, "{:,.9g}".format, between_powers)


def _format(axis, text, between_powers=True):
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
    if between_powers:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_formatter(NullFormatter())


def lay_out(figure, note=""):
    """Leaves room for `note`, one or more lines under the picture."""
    height = figure.get_size_inches()[1]
    figure.text(0.01, 0.005, note, fontsize=7.5, color="#555555", va="bottom")
    figure.tight_layout(rect=(0, 0.02 + 0.14 / height * note.count("\n") +
                              0.1 / height, 1, 1))


def save(figure, path):
    try:
        figure.savefig(path, dpi=150, metadata={"Date": None}
                       if path.endswith(".svg") else None)
    except (OSError, ValueError) as error:
        raise UserError("%s can't be written: %s" % (path, error)) from error
    print("wrote %s (%d kB)" % (path, os.path.getsize(path) // 1024))
