# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs the programs of perf_test, and checks what they write."""
import copy
import functools
import json
import os
import re
import shlex
import subprocess

from common import ROOT, WrongAnswer, say
from algorithms import is_own
from tables import UserError, read_csv


def own_row(program, row):
    """Whether a wrong answer is a fault: of the library, or of a document's program
    that stands here as a reference, where it has to be right."""
    name = row["algorithm"]
    return (is_own(name) if program == "sptrsv"
            else name.startswith(("strata", "row_by_row"))
            or name == "eyvazov_2021" and row["matrix"] == "dominant")


def right_rows(program, rows, tell):
    """The rows whose answers passed the program's check.

    @param tell is called with a sentence for each other row
    @throws WrongAnswer where one of ours is wrong or failed, or none is right
    """
    kept = []
    for row in rows:
        found = row["outcome"]
        if found == "right":
            kept.append(row)
            continue
        name = ", ".join(row[key] for key in
                         ("matrix", "size", "rows", "n", "rhs", "vectors",
                          "algorithm", "scalar") if row.get(key))
        if own_row(program, row) and found in ("wrong", "failed"):
            raise WrongAnswer("strata_perf_%s: %s: %s" % (program, name, found))
        tell("strata_perf_%s, %s: %s; its time is left out." %
             (program, name, row["message"] if found == "left_out" else
              found.replace("_", " ")))
    if not any(own_row(program, row) for row in kept):
        raise WrongAnswer("strata_perf_%s has no right answer of ours" % program)
    return kept


def cache_of(folder):
    """{variable: value} of CMake's cache in a build folder."""
    try:
        with open(os.path.join(folder, "CMakeCache.txt"), encoding="utf-8") as file:
            return {match.group(1): match.group(2).strip() for match in (
                re.match(r"([^#/:]+):\w+=(.*)", line) for line in file) if match}
    except OSError:
        return {}


class Build:
    """The programs of one backend, built once and only when asked for."""

    def __init__(self, backend, targets, folder="", flags=()):
        """@param flags of scripts/build"""
        self.backend, self.targets, self.flags = backend, targets, flags
        if folder:
            self.folder = folder

    @functools.cached_property
    def folder(self):
        folder = os.path.join(ROOT, "build", self.backend + "-release")
        # What a build has already, and what the pages need.
        have = cache_of(folder).get("Strata_SCALARS", "").split(";")
        scalars = ["float", "double"] + [s for s in ("complex_float", "complex_double")
                                         if s in have]
        command = [os.path.join(ROOT, "scripts", "build"), "--backend", self.backend,
                   "--plots", "--scalars", ";".join(scalars), *self.flags, *self.targets]
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise UserError("scripts/build --backend %s ended with exit code %d" %
                            (self.backend, done.returncode))
        return done.stdout.strip()

    def program(self, name):
        path = os.path.join(self.folder, "perf_test", "strata_perf_" + name)
        if not os.access(path, os.X_OK):
            raise UserError("%s is missing: build strata_perf_%s there, or "
                            "leave --build out" % (path, name))
        return path


# Of programs on hosts: threads may change their cores, and those that wait leave the cores
# to others, unless the user says otherwise.
ENVIRONMENT = {"OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive", **os.environ}


def words_of(flags):
    """The words of a command line. Several values have commas between them, a flag without
    one is True, and `systems` names files and matrices of the gallery."""
    words = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if name == "systems":
            for matrix in value:
                words += ["--matrix" if os.path.isfile(matrix) else "--gallery", matrix]
        elif value is True:
            words.append(flag)
        else:
            words += [flag, ",".join(map(str, value)) if isinstance(value, (list, tuple))
                      else str(value)]
    return words


class Run:
    """See common.py."""

    def __init__(self, build, page, host_build, options):
        """@param options of scripts/reproduce"""
        self.build, self.page, self.host_build = build, page, host_build
        self.quick, self.matrices = options.quick, options.matrices
        self.files = {} if not self.matrices else {
            name.removesuffix(".gz").removesuffix(".mtx"): os.path.join(self.matrices, name)
            for name in sorted(os.listdir(self.matrices)) if name.endswith((".mtx", ".mtx.gz"))}
        self.on_gpu = build.backend == "cuda"

    def host(self):
        if not self.on_gpu:
            return self
        there = copy.copy(self)
        there.build, there.on_gpu = self.host_build, False
        return there

    def rows(self, program, table, **flags):
        """Right rows of strata_perf_<program>; see common.py.

        @param table names the CSV, unique on the page
        """
        words = words_of(flags)
        least = "--benchmark_min_time=%g" % (0.005 if self.quick else 0.1)
        if self.build.backend != self.page.backend:
            table += "_" + self.build.backend
        base = os.path.join(self.page.folder, "tables", table)
        os.makedirs(os.path.dirname(base), exist_ok=True)
        binary = self.build.program(program)
        command = [binary, *words, least, "--table", base + ".csv",
                   "--benchmark_out=" + base + ".json", "--benchmark_out_format=json"]
        shown = shlex.join(["strata_perf_" + program, *map(self._shown, words), least,
                            "--table", "tables/%s.csv" % table])
        self.page.commands.append(shown)
        say("%s: %s" % (self.page.name, shown))
        context, failed = self._measure(base, command)
        self.page.machines.setdefault(self.build.backend, (self.build, context))
        kept = right_rows(program, read_csv(base + ".csv"), self.page.warnings.append)
        if failed:  # one of ours, which has no row
            raise WrongAnswer("%s: one of ours failed; its output: %s.log" % (shown, base))
        return kept

    @staticmethod
    def _measure(base, command):
        """Google Benchmark's context, and whether one of ours failed."""
        path = base + ".csv"
        if os.path.exists(path):
            os.remove(path)
        with open(base + ".log", "w", encoding="utf-8") as log:
            code = subprocess.run(command, check=False, stdout=log,
                                  stderr=subprocess.STDOUT, env=ENVIRONMENT).returncode
        # Matrices that a program could not use, such as one whose solution is not finite in
        # single precision, are left out.
        if not os.path.exists(path) or code not in (0, 2) and not (
                code == 1 and any(r.get("outcome") == "bad_input" for r in read_csv(path))):
            raise UserError("%s ended with exit code %d; its output: %s.log" %
                            (shlex.join(command), code, base))
        with open(base + ".json", encoding="utf-8") as file:
            context = json.load(file)["context"]
        os.remove(base + ".json")
        return context, code == 2

    def _shown(self, word):
        """A file of --matrices without the folder, which is the user's own."""
        if self.matrices and word.startswith(self.matrices):
            return os.path.join("MATRICES", os.path.basename(word))
        return word
