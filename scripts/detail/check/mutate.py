#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts faults into the library, one at a time, and sees that a test notices each.

    scripts/check mutate [--prefix DIR] [--only TEXT] [--list] [--check]

Each fault of unit_test/mutations/mutations.toml names a file, a piece of it that
occurs there once, what stands there instead, and the test that has to fail. The
script copies the tree to build/mutations, builds each test with its fault, and runs
it. A test that passes, and a fault that does not compile, is a failure.

    --prefix DIR  where Kokkos and Kokkos Kernels are installed, with OpenMP;
                  default: what scripts/get_dependencies finds or builds
    --only TEXT   only faults whose name has this text
    --list        prints the names and does nothing
    --check       only sees that each piece occurs once in its file, and that each
                  test has a source file; takes a second
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

import tomllib

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
LIST = os.path.join(ROOT, "unit_test", "mutations", "mutations.toml")


def problems_of(fault):
    """What keeps a fault from being put in."""
    path = os.path.join(ROOT, fault["file"])
    if not os.path.isfile(path):
        return f"there is no file {fault['file']}"
    with open(path, encoding="utf-8") as file:
        count = file.read().count(fault["old"])
    if count != 1:
        return f"its text occurs {count} times in {fault['file']}"
    if fault["old"] == fault["new"]:
        return "it changes nothing"
    source = fault["test"].removesuffix("_delayed") + ".cpp"
    if not os.path.isfile(os.path.join(ROOT, "unit_test", source)):
        return f"there is no test {fault['test']}"
    return None


def try_fault(fault, copy, build):
    """None where a test noticed the fault, else what went wrong."""
    path = pathlib.Path(copy, fault["file"])
    text = path.read_text(encoding="utf-8")
    target = "Strata_" + fault["test"]
    log = os.path.join(build, "mutation.log")
    environment = {**os.environ, "OMP_PROC_BIND": "false", "OMP_WAIT_POLICY": "passive",
                   "STRATA_TEST_LIMIT": "60"}
    try:
        path.write_text(text.replace(fault["old"], fault["new"]), encoding="utf-8")
        with open(log, "w", encoding="utf-8") as output:
            def succeeds(*command, **limits):
                return subprocess.run(command, stdout=output, stderr=subprocess.STDOUT,
                                      env=environment, check=False, **limits).returncode == 0
            if not succeeds("cmake", "--build", build, "--target", target):
                return f"it does not compile: see {log}"
            passes = succeeds(os.path.join(build, "unit_test", target),
                              "--gtest_filter=" + fault.get("filter", "*"), timeout=600)
        return "the test passes" if passes else None
    except subprocess.TimeoutExpired:
        return None
    finally:
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()

    with open(LIST, "rb") as file:
        faults = [f for f in tomllib.load(file)["mutation"] if options.only in f["name"]]
    names = [f["name"] for f in faults]
    bad = [(name, "has that name twice") for name in set(names) if names.count(name) > 1]
    bad += [(f["name"], problem) for f in faults if (problem := problems_of(f))]
    for name, problem in bad:
        print(f"{name}: {problem}")
    if options.list:
        print("\n".join(names))
    if bad or not faults:
        sys.exit(1)
    if options.list or options.check:
        print(f"{len(faults)} mutations can be made")
        return

    prefix = options.prefix or subprocess.run(
        [os.path.join(ROOT, "scripts", "get_dependencies")],
        stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    base = os.path.join(ROOT, "build", "mutations")
    copy, build = os.path.join(base, "source"), os.path.join(base, "build")
    shutil.rmtree(copy, ignore_errors=True)
    # With new times: what an earlier run compiled of a fault is compiled again.
    shutil.copytree(ROOT, copy, copy_function=shutil.copy,
                    ignore=shutil.ignore_patterns(
                        "build*", "dependencies", ".git", "results", "__pycache__"))
    # Without libstrata a fault compiles its test alone anew.
    subprocess.run(["cmake", "--preset", "openmp-release", "-B", build,
                    "-DCMAKE_PREFIX_PATH=" + prefix, "-DStrata_SPACES=OpenMP",
                    "-DStrata_ENABLE_HEADER_ONLY=ON"],
                   cwd=copy, stdout=subprocess.DEVNULL, check=True)

    failed = 0
    for fault in faults:
        start = time.monotonic()
        problem = try_fault(fault, copy, build)
        failed += problem is not None
        print(f"{'MISSED' if problem else 'noticed':8} {time.monotonic() - start:5.0f} s  "
              f"{fault['name']} ({fault['test']})" + (f": {problem}" if problem else ""),
              flush=True)
    print(f"{len(faults)} mutations, {len(faults) - failed} noticed, {failed} missed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
