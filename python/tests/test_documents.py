# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The listings of docs/python.md, one after another, those of README.md and the notebook run."""

import json
import pathlib
import re

import pytest

here = pathlib.Path(__file__).parent


def found(*names):
    """A file of the sources, or a copy beside the tests."""
    for path in (here / names[-1], here.parent.parent.joinpath(*names)):
        if path.exists():
            return path
    pytest.skip(f"{names[-1]} is not here")


def listings(*page):
    text = found(*page).read_text()
    return re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def test_listings(capsys):
    names, run = {}, 0
    assert len(listings("docs", "python.md")) >= 7
    for listing in listings("docs", "python.md"):
        for module in ("torch", "jax"):
            if re.search(rf"^import {module}$", listing, re.MULTILINE):
                try:
                    __import__(module)
                except ImportError:
                    break
        else:
            exec(compile(listing, "docs/python.md", "exec"), names)
            run += 1
    assert run >= 6
    printed = capsys.readouterr().out
    assert "algorithm: " in printed and "converged" in printed
    assert "\n1 store the diagonal" in printed


def test_listing_of_readme():
    """Of the A and b that docs/python.md begins with."""
    names = {}
    exec(compile(listings("docs", "python.md")[0], "docs/python.md", "exec"), names)
    (listing,) = listings("README.md")
    exec(compile(listing, "README.md", "exec"), names)
    A, b, x = (names[name] for name in "Abx")
    assert names["info"] == 0 and abs(A @ x - b).max() < 1e-3 * abs(b).max()


def test_notebook(monkeypatch):
    """In a kernel of Jupyter, as its readers run it."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("STRATA_EXAMPLE_GRID", "8")
    path = found("python", "examples", "preconditioned_solve.ipynb")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells
                      if cell.cell_type == "code" for output in cell.outputs)
    for row in ("SciPy, spilu()", "Strata, ilu0", "Strata, ic0", "Strata, cg with ic0"):
        assert re.search(re.escape(row) + r"\s+[\d.]+ ms", printed)
    assert re.search(r"Strata, ilu0 on the GPU\s+[\d.]+ ms|^Skipped: ", printed, re.MULTILINE)


def test_notebook_is_kept_with_outputs():
    """Of one run of all cells: `jupyter execute --inplace`."""
    path = found("python", "examples", "preconditioned_solve.ipynb")
    cells = [cell for cell in json.loads(path.read_text())["cells"]
             if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2
    assert not any(output["output_type"] == "error" for output in outputs)
    assert path.stat().st_size < 300_000
