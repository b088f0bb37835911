#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether strata.f90 declares what strata.h does: compare_fortran.py HEADER MODULE

Functions by name, the order of their arguments, and how each is passed; enumerators by
value.
"""

import pathlib
import re
import sys

KINDS = {"int64_t": "integer(c_int64_t)", "double": "real(c_double)",
         "char": "character(kind=c_char)"}


def kind_of(c_type):
    """What an argument of C is in Fortran, and whether it is passed by value."""
    base = c_type.replace("const", "").strip()
    pointers = base.count("*")
    base = base.replace("*", "").strip()
    if base in ("strata_options", "strata_matrix", "strata_triangular",
                "strata_factorization", "strata_krylov"):
        return "type(c_ptr)", pointers == 0
    if base == "void" or pointers == 2:
        return "type(c_ptr)", pointers == 1
    return KINDS.get(base, "integer(c_int)"), pointers == 0


def read_header(path):
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    functions = {}
    for result, name, arguments in re.findall(
            r"^(\w[\w ]*\*? ?)(strata_\w+)\(([^;]*?)\);", text, flags=re.S | re.M):
        listed = []
        for argument in arguments.split(",") if arguments.strip() != "void" else []:
            c_type, argument_name = re.fullmatch(r"(.*?)(\w+)", " ".join(argument.split())).groups()
            listed.append((argument_name, *kind_of(c_type)))
        functions[name] = (kind_of(result.replace("char*", "void*"))[0], listed)
    values = {name.lower(): int(value) for name, value
              in re.findall(r"(STRATA_\w+) = (-?\d+)", text)}
    return functions, values


def read_module(path):
    text = re.sub(r"&\n\s*", "", path.read_text())
    lines = [line.strip() for line in text.splitlines()]
    functions, current = {}, None
    for line in lines:
        begun = re.fullmatch(r"function (strata_\w+)\((.*?)\) bind\(c\) result\((\w+)\)", line)
        if begun:
            name, arguments, result = begun.groups()
            names = [a for a in re.split(r",\s*", arguments) if a]
            current, declared = (name, names, result), {}
        elif line == "end function" and current:
            name, names, result = current
            functions[name] = (declared[result][0],
                               [(argument, *declared[argument]) for argument in names])
            current = None
        elif current and "::" in line and not line.startswith("import"):
            attributes, listed = line.split("::")
            kind = attributes.split(", ")[0].strip()
            for argument in re.split(r",\s*", listed.strip()):
                declared[argument.replace("(*)", "")] = (kind, ", value" in attributes)
    values = {name: int(value) for name, value
              in re.findall(r"enumerator :: (\w+) = (-?\d+)", text)}
    return functions, values


def differences(header, module):
    for what, ours, theirs in zip(("function", "enumerator"), header, module):
        for name in sorted(set(ours) | set(theirs)):
            if ours.get(name) != theirs.get(name):
                yield f"{what} {name}: {ours.get(name)} in C, {theirs.get(name)} in Fortran"


if __name__ == "__main__":
    header, module = (pathlib.Path(path) for path in sys.argv[1:])
    of_header, of_module = read_header(header), read_module(module)
    found = list(differences(of_header, of_module))
    if len(of_header[0]) < 30 or len(of_header[1]) < 50:
        found.append(f"only {len(of_header[0])} functions were found in {header}")
    if found:
        sys.exit("\n".join(found))
    print(f"all {len(of_header[0])} functions and {len(of_header[1])} enumerators agree")
