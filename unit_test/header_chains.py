# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the headers given, in lines as few as possible. In a line, each header
includes the one before it, directly or not, and before any code. A translation unit
that includes a line's headers in order thus shows that each compiles alone: what comes
before a header is what it includes itself.

    header_chains.py FOLDER,... HEADER...
"""

import pathlib
import re
import sys


def includes(path):
    """What a header includes whatever is defined, before any code."""
    depth = 0
    for line in path.read_text().splitlines():
        if match := re.match(r"#include <(.+)>", line):
            if depth <= 1:  # in the guard
                yield match[1]
        elif re.match(r"#\s*if", line):
            depth += 1
        elif re.match(r"#\s*endif", line):
            depth -= 1
        elif line and not line.startswith(("#", "//")):
            return


def closures(headers, folders):
    """What each header includes, directly or not."""
    found = {}

    def closure(header):
        if header not in found:
            found[header] = set()
            paths = [folder / header for folder in folders if (folder / header).is_file()]
            for included in includes(paths[0]) if paths else ():
                found[header] |= {included} | closure(included)
        return found[header]

    for header in headers:
        closure(header)
    return found


def chains(headers, closure):
    """The fewest chains: a largest matching of headers with the next in their chain."""
    before, after = {}, {}

    def match(header, seen):
        for included in headers:
            if included not in closure[header] or included in seen:
                continue
            seen.add(included)
            if included not in after or match(after[included], seen):
                before[header], after[included] = included, header
                return True
        return False

    for header in headers:
        match(header, set())
    for last in headers:
        if last not in after:
            chain = [last]
            while chain[0] in before:
                chain.insert(0, before[chain[0]])
            yield chain


def main():
    folders = [pathlib.Path(folder) for folder in sys.argv[1].split(",")]
    headers = sys.argv[2:]
    covered = set()
    for chain in chains(headers, closures(headers, folders)):
        covered.update(chain)
        print(" ".join(chain))
    if covered != set(headers):
        sys.exit("headers that include each other in a circle: "
                 + " ".join(sorted(set(headers) - covered)))


main()
