# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A benchmark that is killed while it measures its second system has left the lines of
the first one in its table, and no others.

  test_killed.py TABLE.csv PREFIX PROGRAM ARGUMENT...

Lines of the first system begin with PREFIX. The program writes TABLE.csv, and has work
for a second or more after the first system."""
import os
import subprocess
import sys
import time

LIMIT = 300


def lines(path):
    """Without the header."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.readlines()[1:]
    except FileNotFoundError:
        return []


def main():
    table, prefix, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(os.path.dirname(table), exist_ok=True)
    if os.path.exists(table):
        os.remove(table)
    with subprocess.Popen(command + ["--table", table], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as program:
        end = time.monotonic() + LIMIT
        while program.poll() is None and time.monotonic() < end and not lines(table):
            time.sleep(0.05)
        program.kill()
        errors = program.stderr.read().decode(errors="replace")
    left = lines(table)
    if not left or not all(line.startswith(prefix) and line.endswith("\n")
                           for line in left):
        sys.exit("%s ended with %d, its table has\n%s\n%s" %
                 (command[0], program.returncode, "".join(left), errors))


main()
