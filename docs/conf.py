# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sphinx's configuration; scripts/docs calls it."""

import inspect
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

from docutils import nodes
from sphinx.util import logging
from sphinx.util.inspect import stringify_signature

root = pathlib.Path(__file__).resolve().parent.parent
reference = pathlib.Path(os.environ["STRATA_REFERENCE"])

project = "Strata"
author = "The Strata authors"
version = release = re.search(
    r"project\(Strata VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text()
).group(1)
# The Python reference is made from docstrings, without a build of the extension.
sys.path.insert(0, str(root / "python" / "src"))
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_mock_imports = ["numpy", "scipy", "strata_solvers._core"]
autodoc_typehints = "signature"
exclude_patterns = ["tables/**", "reproduced/*/tables/**"]
myst_heading_anchors = 3
suppress_warnings = ["epub.unknown_project_files"]

html_theme = "furo"
html_title = f"Strata {version}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["strata.css"]
html_theme_options = {"top_of_page_buttons": []}

# Doxygen's pages become a folder of the site. {api}`name` links to one of them.
html_extra_path = [str(reference / "folder")]


def read_tags(path):
    """Doxygen's tag file: the page of each class and function."""
    pages = {"Strata::index": "index.html"}
    for compound in xml.etree.ElementTree.parse(path).getroot():
        kind, name = compound.get("kind"), compound.findtext("name")
        page = compound.findtext("filename")
        if kind in ("class", "struct", "namespace"):
            pages[name] = page
            for member in compound.findall("member"):
                full = f"{name}::{member.findtext('name')}"
                anchor = f"{member.findtext('anchorfile')}#{member.findtext('anchor')}"
                pages.setdefault(full, anchor)
        elif kind == "file" and name == "strata.h":
            pages["Strata::strata.h"] = page if page.endswith(".html") else f"{page}.html"
    return pages


def api_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    env = inliner.document.settings.env
    title, explicit, target = text.partition(" <")
    text = target.rstrip(">") if explicit else title
    page = env.app.strata_pages.get(f"Strata::{text}")
    if page is None:
        logging.getLogger(__name__).warning(
            "the reference has no Strata::%s", text, location=(env.docname, lineno)
        )
        return [nodes.literal(text, text)], []
    up = "../" * env.docname.count("/")
    link = nodes.reference("", "", refuri=f"{up}reference/{page}", internal=True)
    link += nodes.Text(title) if explicit else nodes.literal(title, title)
    return [link], []


def class_signature(app, what, name, obj, options, signature, result):
    """That of __init__: solvers have a __new__ for the operators of SciPy and CuPy."""
    if what != "class" or not (signature or "").startswith("(*arguments"):
        return None
    found = inspect.signature(obj.__init__)
    parameters = list(found.parameters.values())[1:]
    found = found.replace(parameters=parameters, return_annotation=found.empty)
    return stringify_signature(found), result


def setup(app):
    app.connect("autodoc-process-signature", class_signature)
    app.strata_pages = read_tags(reference / "strata.tag")
    app.add_role("api", api_role)
    return {"parallel_read_safe": True}
