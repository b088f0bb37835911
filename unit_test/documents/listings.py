#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the listings out of README.md, CONTRIBUTING.md and docs, to be compiled or checked.

    listings.py extract SOURCE_DIR OUTPUT_DIR
    listings.py check_shell SOURCE_DIR
    listings.py check_names SOURCE_DIR
    listings.py self_test

`extract` writes a file for each program, one file with all fragments, and prints the
names of the programs. docs/developer/testing.md says how a listing is marked.
`check_names` looks for the files that the text names and for the options of the plug-in
for PETSc that its page and its examples name, and compares the version of CITATION.cff
with CMake's.
"""

import json
import pathlib
import re
import subprocess
import sys


class Listing:
    def __init__(self, page, line, language, fragment, text):
        self.page, self.line = page, line  # of the first line of the text
        self.language, self.fragment, self.text = language, fragment, text

    def where(self):
        return f"{self.page}:{self.line}"

    def name(self):
        stem = re.sub(r"\W", "_", str(self.page.with_suffix("")))
        return f"{stem}_{self.line}"


def pages(root):
    found = [root / "README.md", root / "CONTRIBUTING.md"]
    for path in sorted((root / "docs").rglob("*.md")):
        if "notes" not in path.relative_to(root).parts:
            found.append(path)
    return found


def read_listings(text, page):
    """Fenced listings of one page; the fence may be indented, as in a list."""
    listings, lines = [], text.splitlines()
    i, marked = 0, False
    while i < len(lines):
        opened = re.fullmatch(r"( *)(`{3,})(\S*)\s*.*", lines[i])
        if not opened:
            if lines[i].strip():
                marked = lines[i].strip() == "<!-- fragment -->"
            i += 1
            continue
        indent, fence, language = opened.groups()
        body, begin = [], i + 1
        i += 1
        while i < len(lines) and lines[i].strip() != fence:
            body.append(lines[i][len(indent):])
            i += 1
        if i == len(lines):
            sys.exit(f"{page}:{begin}: the listing has no end")
        listings.append(Listing(page, begin + 1, language, marked, "\n".join(body) + "\n"))
        marked = False
        i += 1
    return listings


def all_listings(root):
    return [listing for path in pages(root)
            for listing in read_listings(path.read_text(), path.relative_to(root))]


def is_include(line):
    return re.match(r"\s*#\s*include\b", line) is not None


def write_fragments(fragments, root):
    out = ['#include "Fragments.hpp"']
    for f in fragments:
        out += [line for line in f.text.splitlines() if is_include(line)]
    for f in fragments:
        body = "".join("\n" if is_include(line) else line + "\n"
                       for line in f.text.splitlines())
        out += ["namespace {", f"struct {f.name()} : Fragments {{", "  void run() {",
                f'#line {f.line} "{root / f.page}"', body + "  }", "};", "}  // namespace"]
    out += ["int main(int argc, char** argv) {", "  Kokkos::ScopeGuard kokkos(argc, argv);"]
    for f in fragments:
        out += [f'  std::puts("{f.where()}");', f"  {f.name()}().run();", "  Kokkos::fence();"]
    return "\n".join(out + ["}", ""])


def write_if_new(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def extract(root, output):
    output.mkdir(parents=True, exist_ok=True)
    listings = [x for x in all_listings(root) if x.language in ("cpp", "c++", "cxx", "C++")]
    programs = [x for x in listings if not x.fragment]
    fragments = [x for x in listings if x.fragment]
    for p in programs:
        if not re.search(r"\bint main\(", p.text):
            sys.exit(f"{p.where()}: the listing has no main(); is it a fragment?")
        write_if_new(output / f"{p.name()}.cpp", f'#line {p.line} "{root / p.page}"\n{p.text}')
    if not fragments:
        sys.exit("no fragment was found")
    write_if_new(output / "fragments.cpp", write_fragments(fragments, root))
    print(";".join(p.name() for p in programs), end="")


# --- Shell ---------------------------------------------------------------------------


def file_of_target(target):
    for pattern, place in (("strata_perf_(.*)", "perf_test/{}.cpp"),
                           ("strata_example_(.*)", "examples/{}.cpp"),
                           ("strata_fuzz_(.*)", "unit_test/fuzz/{}.cpp"),
                           ("Strata_(tst.*)", "unit_test/**/{}.cpp")):
        match = re.fullmatch(pattern, target)
        if match:
            return place.format(match.group(1))
    return None


def sources(root, folder):
    return "".join(path.read_text() for path in (root / folder).rglob("*.[ch]pp"))


def check_command(words, root, presets):
    """What is wrong with one command, as a list of sentences."""
    wrong, text = [], None
    command = words[0]
    if command.startswith("scripts/"):
        script = root / command
        if not script.is_file():
            return [f"there is no {command}"]
        # A script with subcommands has a file for each.
        parts = [script, *(root / "scripts/detail" / script.name).glob(f"{words[1]}.*")] \
            if len(words) > 1 else [script]
        text = "".join(part.read_text() for part in parts)
    elif command.startswith("build/"):
        parts = command.split("/")
        if parts[1] not in presets:
            wrong.append(f"there is no preset {parts[1]}")
        folder = "unit_test/fuzz" if "fuzz" in parts else parts[2]
        text = sources(root, folder)
    for word, following in zip(words, words[1:] + [""]):
        if word.startswith("--") and text is not None:
            option = word.split("=")[0]
            if not option.startswith("--benchmark_") and option not in text:
                wrong.append(f"{command} knows no {option}")
        if word == "--preset" and following not in presets:
            wrong.append(f"there is no preset {following}")
        place = file_of_target(word.split("/")[-1])
        if place and not list(root.glob(place)):
            wrong.append(f"{word}: there is no {place}")
    return wrong


def check_listing(text, root, presets):
    parsed = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    if parsed.returncode != 0:
        return [parsed.stderr.strip()]
    wrong = []
    for line in text.replace("\\\n", " ").splitlines():
        words = line.split("#")[0].split()
        if words:
            wrong += check_command(words, root, presets)
    return wrong


def read_presets(root):
    data = json.loads((root / "CMakePresets.json").read_text())
    return {p["name"] for kind in ("configurePresets", "buildPresets", "testPresets")
            for p in data.get(kind, [])}


def check_shell(root):
    presets, number, wrong = read_presets(root), 0, []
    for x in all_listings(root):
        if x.language in ("sh", "bash", "shell", "console"):
            number += 1
            wrong += [f"{x.where()}: {fault}" for fault in check_listing(x.text, root, presets)]
    if number < 10:
        wrong.append(f"only {number} shell listings were found")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"all {number} shell listings are right")


# --- Files that the text names -------------------------------------------------------

FOLDERS = ("core", "analysis", "kernels", "gallery", "perf_test", "unit_test", "examples",
           "scripts", "docs", "cmake", ".ci")


def places_of(span):
    """Where a file may be that a piece of code in the text names; None: it names none."""
    words = span.split()
    if not words:
        return None
    name = words[0].rstrip("/")
    if re.fullmatch(r"Strata_\w+\.hpp", name):
        return [f"{folder}/**/{name}" for folder in FOLDERS[:4]]
    if re.fullmatch(r"tst\w+", name):
        return [f"unit_test/**/{name}.cpp"]
    if "/" in name and name.split("/")[0] in FOLDERS and re.fullmatch(r"[\w./*-]+", name):
        return [name]
    target = file_of_target(name)
    return [target] if target else None


def check_names(root):
    number, wrong = 0, []
    for path in pages(root):
        for i, line in enumerate(path.read_text().splitlines()):
            for span in re.findall(r"`([^`]+)`", line):
                places = places_of(span)
                if places is None:
                    continue
                number += 1
                if not any(True for place in places for _ in root.glob(place)):
                    wrong.append(f"{path.relative_to(root)}:{i + 1}: there is no {span}")
    cited, built = (re.search(pattern, (root / name).read_text(), re.MULTILINE).group(1)
                    for name, pattern in (("CITATION.cff", r"^version: (\S+)$"),
                                          ("CMakeLists.txt", r"^project\(Strata VERSION (\S+)")))
    if cited != built:
        wrong.append(f"CITATION.cff has version {cited}, CMakeLists.txt {built}")
    wrong += check_all_of_petsc(root)
    if number < 50:
        wrong.append(f"only {number} names of files were found")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"all {number} files that the text names are there")


def check_petsc(name, text, options, types):
    """What is wrong with a page or an example of the plug-in, as a list of sentences:
    `options` and the matrix `types` are those that its sources register."""
    if name.endswith(".py"):
        compile(text, name, "exec")
    found = [("option -", option, options) for option in re.findall(r"mat_strata_[a-z_]+", text)]
    # "-mat_type aijkokkos", or a pair of strings.
    found += [("matrix type ", word, types) for word in re.findall(r"mat_type\W+(aij\w*)", text)]
    found += [("solver type ", word, ["strata", "MATSOLVERSTRATA"])
              for word in re.findall(r"mat_solver_type\W+(\w+)", text)]
    return [f"{name}: the plug-in has no {what}{word}" for what, word, known in found
            if word not in known]


def check_all_of_petsc(root):
    sources = root / "petsc/src"
    options = re.findall(r'"-(mat_strata_\w+)"', (sources / "Options.hpp").read_text())
    types = [name.lower() for name in re.findall(
        r"MATSOLVERSTRATA, MATSEQ(\w+)", (sources / "petscstrata.cpp").read_text())]
    page = root / "docs/petsc.md"
    files = [page, *(root / "petsc/examples").glob("poisson.*")]
    wrong = [fault for path in files for fault in check_petsc(
        str(path.relative_to(root)), path.read_text(), options, types)]
    wrong += [f"docs/petsc.md does not name -{option}" for option in options
              if f"-{option}" not in page.read_text()]
    if len(files) < 3 or len(options) < 5 or len(types) < 3:
        wrong.append(f"only {len(files)} files, {options} and {types} were found")
    return wrong


def self_test():
    text = ("a\n```cpp\nint main() {}\n```\n<!-- fragment -->\n\n```cpp\n#include <x>\nf();\n"
            "```\n1. b\n\n   ```sh\n   scripts/none\n   ```\n")
    found = read_listings(text, pathlib.PurePath("a/b.md"))
    assert [(x.line, x.language, x.fragment) for x in found] == [
        (3, "cpp", False), (8, "cpp", True), (14, "sh", False)], found
    assert found[2].text == "scripts/none\n"
    assert found[1].name() == "a_b_8"
    written = write_fragments(found[1:2], pathlib.PurePath("/r"))
    assert written.startswith('#include "Fragments.hpp"\n#include <x>\nnamespace')
    assert '#line 8 "/r/a/b.md"\n\nf();\n' in written
    root = pathlib.Path(__file__).resolve().parents[2]
    presets = read_presets(root)
    for faulty in ("scripts/none", "scripts/test --none", "scripts/check fuzz --none", "build/none/perf_test/strata_perf_cg",
                   "ctest --preset none", "scripts/build strata_perf_none", "for",
                   "build/openmp-release/perf_test/strata_perf_sptrsv --none"):
        assert check_listing(faulty + "\n", root, presets), faulty
    assert not check_listing("scripts/build strata_perf_sptrsv\nscripts/check fuzz --minutes 1\n",
                             root, presets)
    assert places_of("Strata_None.hpp") and places_of("scripts/none --x")
    assert places_of("tstNone") == ["unit_test/**/tstNone.cpp"]
    assert places_of("b/x") is None and places_of("strata_perf_cg") == ["perf_test/cg.cpp"]
    for faulty in ("-mat_strata_b 1", '("mat_type", "aijx")', "-pc_factor_mat_solver_type x"):
        assert len(check_petsc("x.c", faulty, ["mat_strata_a"], ["aij"])) == 1, faulty
    assert not check_petsc("x.py", '"-mat_strata_a -mat_type aij"', ["mat_strata_a"], ["aij"])
    print("the checks find what is wrong on purpose")


if __name__ == "__main__":
    mode, *folders = sys.argv[1:]
    {"extract": extract, "check_shell": check_shell, "check_names": check_names,
     "self_test": self_test}[mode](
        *(pathlib.Path(f).resolve() for f in folders))
