# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sphinx's configuration; scripts/docs calls it."""

import inspect
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

from docutils import nodes
from sphinx.ext.autodoc.mock import _MockModule
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
autodoc_mock_imports = ["numpy", "scipy"]
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


def literals(text):
    """C++'s string literals as one."""
    return "".join(re.findall(r'"([^"]*)"', text))


def read_fields(text, name, pages):
    """Properties as the extension defines them; for those without a text the C++ member."""
    for part in re.split(r"\.def_(?:prop_)?r[ow]\(", text)[1:]:
        field = re.match(r'\s*"(\w+)"', part).group(1)
        doc = re.search(r',\s*((?:"[^"]*"\s*)+)\)', part)
        member = f"{name}::{field}"
        if doc:
            yield field, literals(doc.group(1))
        elif f"Strata::{member}" in pages:
            yield field, f":api:`{member}`"
        else:
            yield field, f":api:`{name}`"


def read_extension(folder, pages):
    """A module in the extension's place, with the reports from its sources."""
    module = _MockModule("strata_solvers._core")
    shared = (folder / "Bindings.hpp").read_text()
    for path in sorted(folder.glob("*.cpp")):
        for part in path.read_text().split("nb::class_<")[1:]:
            found = re.match(r'[^;{]*?\(\s*module,\s*"(\w+)",\s*((?:"[^"]*"\s*)+)', part)
            if found is None:
                continue
            name = found.group(1)
            text = (shared if "with_conversion(bound)" in part else "") + part
            fields = {field: property(None, doc=doc)
                      for field, doc in read_fields(text, name, pages)}
            setattr(module, name, type(name, (), {
                "__module__": "strata_solvers._core", "__doc__": literals(found.group(2)),
                "__init__": None, **fields}))
    exported = (folder.parent / "src" / "strata_solvers" / "__init__.py").read_text()
    for name in set(re.findall(r"\b\w+Report\b", exported)) - set(vars(module)):
        logging.getLogger(__name__).warning("python/extension has no class %s", name)
    return module


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


def keep_colons(app, what, name, obj, options, lines):
    """Napoleon, which is called later, takes words before a colon for a property's type."""
    if what == "property":
        lines[:0] = ["..", ""]  # a comment


def setup(app):
    app.connect("autodoc-process-docstring", keep_colons, priority=400)
    app.connect("autodoc-process-signature", class_signature)
    app.strata_pages = read_tags(reference / "strata.tag")
    sys.modules["strata_solvers._core"] = read_extension(
        root / "python" / "extension", app.strata_pages)
    app.add_role("api", api_role)
    return {"parallel_read_safe": True}
