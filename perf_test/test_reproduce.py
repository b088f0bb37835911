#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What scripts/reproduce promises: a page's numbers are those of the programs' tables,
and a wrong answer of ours ends it.   test_reproduce.py FOLDER WORK_DIR SCRIPTS BUILD"""
import csv
import os
import re
import shutil
import subprocess
import sys
import unittest

_, WORK, SCRIPTS, BUILD = sys.argv[1:5]
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(SCRIPTS, "detail"),
                os.path.join(SCRIPTS, "detail", "reproduce")]
import common  # noqa: E402
import measure  # noqa: E402

# A program that spoils what the real one has written to its table.
SPOILED = r'''#!/usr/bin/python3
import re, subprocess, sys
code = subprocess.run([%(program)r] + sys.argv[1:]).returncode
path = sys.argv[sys.argv.index("--table") + 1]
text = open(path).read()
spoiled = re.sub(r"(?m)^(%(line)s.*,)right\b", r"\1wrong", text, count=1)
assert spoiled != text, text
open(path, "w").write(spoiled)
sys.exit(code)
'''


def reproduce(*arguments):
    return subprocess.run([sys.executable, os.path.join(SCRIPTS, "reproduce"),
                           *arguments], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


def spoil(name, program, line):
    """A build folder whose `program` reports a wrong answer."""
    folder = os.path.join(WORK, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(os.path.join(folder, "perf_test"))
    shutil.copy(os.path.join(BUILD, "CMakeCache.txt"), folder)
    for other in ("band", "cg", "gauss_jordan", "spmv", "sptrsv"):
        name = os.path.join("perf_test", "strata_perf_" + other)
        real, path = os.path.join(BUILD, name), os.path.join(folder, name)
        if other != program:
            os.symlink(real, path)
            continue
        write(folder, name, SPOILED % {"program": real, "line": line})
        os.chmod(path, 0o755)
    return folder


class Reproduce(unittest.TestCase):
    def setUp(self):
        shutil.rmtree(WORK, ignore_errors=True)
        os.makedirs(WORK)

    def refused(self, document, build, message):
        output = os.path.join(WORK, "pages")
        done = reproduce(document, "--quick", "--build", build, "--output",
                         output)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, message)
        pages = [name for _, _, names in os.walk(output) for name in names
                 if name == "page.md"]
        self.assertEqual(pages, [])

    def page(self, document, name, *arguments):
        """The folder `name` that a quick run writes, and its page's text."""
        output = os.path.join(WORK, "pages")
        done = reproduce(document, "--quick", "--build", BUILD, "--output", output,
                         *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = os.path.join(output, name)
        with open(os.path.join(folder, "page.md"), encoding="utf-8") as file:
            return folder, file.read()

    def test_wrong_answers_end_it(self):
        for document, program, line in (
                ("003", "gauss_jordan", "dominant,64,augmented,strata,"),
                ("003", "gauss_jordan", "dominant,64,augmented,eyvazov_2021,"),
                ("001", "spmv", "poisson:16,strata_columns,"),
                ("002", "band", "100,.*,strata,"), ("000", "spmv", "grid2d:60,strata_blocks,"),
                ("004", "sptrsv", r"block_diagonal:16x250:0\.001,automatic,")):
            with self.subTest(line):
                build = spoil("wrong", program, line)
                self.refused(document, build, "WRONG: strata_perf_" + program)

    def test_rows(self):
        def row(algorithm, outcome):
            return {"matrix": "m", "algorithm": algorithm, "outcome": outcome}
        told = []
        kept = measure.right_rows("sptrsv", [
            row("blocks", "right"), row("kokkos_kernels_rp", "wrong"),
            row("serial_substitution", "right")], told.append)
        self.assertEqual([r["algorithm"] for r in kept],
                         ["blocks", "serial_substitution"])
        self.assertRegex(told[0], "kokkos_kernels_rp: wrong")
        for outcome in ("wrong", "failed"):
            with self.assertRaises(common.WrongAnswer):
                measure.right_rows("sptrsv", [row("blocks", "right"),
                                              row("automatic", outcome)],
                                   told.append)
        with self.assertRaises(common.WrongAnswer):
            measure.right_rows("sptrsv", [row("serial_substitution", "right")],
                               told.append)

    def test_cells(self):
        for value, text in ((1234.5, "1,230"), (0.012345, "0.0123"), (7, "7"),
                            (12345, "12,345"), (None, "–"), ("x", "x"),
                            (float("nan"), "–"), (1.5e-9, "1.50e-09"), (0.0, "0")):
            self.assertEqual(common.text_of(value), text)

    def test_page_has_the_numbers_of_the_tables(self):
        folder, page = self.page("003", "eyvazov_2021")
        sections = re.split(r"^## ", page, flags=re.M)
        for figure, scalar in (("8", "double"), ("9", "float")):
            section = next(s for s in sections
                           if s.startswith("Figure %s:" % figure))
            path = os.path.join(folder, "tables", "reduce_%s.csv" % scalar)
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            checked = 0
            for row in rows:
                cell = common.text_of(float(row["ms"]))
                self.assertRegex(section, r"(?m)^\| %s \|.* %s \|" % (
                    row["n"], re.escape(cell)))
                checked += 1
            self.assertGreater(checked, 8)
        for word in ("What differs", "Commands", "device", "date",
                     "| command | `scripts/reproduce 003 --backend openmp --quick` |",
                     ", commit %s |" % common.commit_of_sources()):
            self.assertIn(word, page)
        for picture in re.findall(r"\]\((\S+\.png)\)", page):
            path = os.path.join(folder, picture)
            self.assertGreater(os.path.getsize(path), 5000, picture)

    def test_a_matrix_that_single_precision_cannot_solve_is_left_out(self):
        folder = os.path.join(WORK, "matrices")
        os.makedirs(folder)
        for name, diagonal in (("grows", 1e-9), ("stays", 4)):
            rows = 60
            entries = [(i, i, diagonal) for i in range(1, rows + 1)]
            entries += [(i + 1, i, 1) for i in range(1, rows)]
            write(folder, name + ".mtx",
                  "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n%s" % (
                      rows, rows, len(entries), "".join("%d %d %g\n" % e for e in entries)))
        _, page = self.page("004", "picciau_2017", "--matrices", folder)
        self.assertRegex(page, r"grows, .*bad input; its time is left out")
        self.assertRegex(page, r"(?m)^\| stays \| 60 ")

    def test_matrices_of_a_thesis_have_its_times_and_the_others_are_named(self):
        folder = os.path.join(WORK, "matrices")
        os.makedirs(folder)
        write(folder, "1138_bus.mtx", "%%MatrixMarket matrix coordinate real symmetric\n"
              "4 4 6\n1 1 4\n2 1 1\n2 2 4\n3 2 1\n3 3 4\n4 4 4\n")
        _, page = self.page("000", "nibbeling_2016", "--matrices", folder)
        for times in (r"0\.390 \| 2\.95", r"0\.764 \| 3\.09"):
            self.assertRegex(page, r"(?m)^\| 1138_bus \| 4 \| .* \| %s \|" % times)
        self.assertIn("[bcsstm39](https://sparse.tamu.edu/Boeing/bcsstm39)", page)

    def test_a_tree_that_differs_from_its_commit_is_called_dirty(self):
        tree = os.path.join(WORK, "tree")
        os.makedirs(tree)

        def git(*words):
            subprocess.run(["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a@b",
                            *words], check=True, stdout=subprocess.DEVNULL)

        old, common.ROOT = common.ROOT, tree
        try:
            # The tree may lie in another repository, whose commit is not its own.
            self.assertEqual(common.commit_of_sources(), "unknown")
            self.assertEqual(common.commit_of_sources("named"), "named")
            # Or be the current folder, and in none.
            common.ROOT, os.environ["GIT_DIR"] = os.getcwd(), "none"
            self.assertEqual(common.commit_of_sources("named"), "named")
            common.ROOT = tree
            del os.environ["GIT_DIR"]
            git("init", "--quiet")
            write(tree, "source.hpp", "1")
            git("add", ".")
            git("commit", "--quiet", "-m", "first")
            self.assertRegex(common.commit_of_sources(), r"^[0-9a-f]{12}$")
            with self.assertRaises(common.UserError):
                common.commit_of_sources("named")
            for name in ("source.hpp", "not_added.hpp"):
                write(tree, name, "2")
                self.assertRegex(common.commit_of_sources(), r"^[0-9a-f]{12}-dirty$")
                git("stash", "--quiet", "--include-untracked")
        finally:
            common.ROOT = old

    def test_what_it_refuses(self):
        for arguments, message in (
                (["999"], "invalid choice"),
                (["003", "--build", os.path.join(WORK, "none")], "is missing"),
                (["000", "--matrices", os.path.join(WORK, "none")],
                 "not a folder")):
            done = reproduce(*arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, message)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
