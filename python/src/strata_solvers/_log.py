# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What was chosen, for Python's `logging`."""

import logging
from typing import Any

#: The logger "strata_solvers".  Debugging messages say what was chosen and why.
log = logging.getLogger("strata_solvers")


def chosen(of: Any) -> None:
    """Logs what an object consists of, which is found out if someone listens."""
    if log.isEnabledFor(logging.DEBUG):
        report = of.report()
        reason = getattr(report, "reason", "")
        if hasattr(report, "order"):
            reason = f"order {report.order}, {report.order_reason}"
        if hasattr(report, "lower"):
            reason = "; ".join(filter(None, [reason] + [
                f"{factor} by {solver.algorithm}, {solver.reason}" for factor, solver in
                (("L", report.lower), ("U", report.upper)) if solver.rows]))
        converted = getattr(report, "conversion", "")
        log.debug("%r%s%s", of, f": {reason}" if reason else "",
                  f"; converted: {converted}" if converted else "")
