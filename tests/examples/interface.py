#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""interface.py - whether include/oriel.f90 has the calls, constants and types of include/oriel.h

usage: tests/examples/interface.py FOLDER

Compares the calls by their arguments. Values of constants and layouts of types are compared by a C compiler: gfortran
writes the types as C into FOLDER, and a program of assertions is compiled there.
"""

import re
import subprocess
import sys
from pathlib import Path

HEADER = Path("include/oriel.h").read_text()
MODULE = Path("include/oriel.f90")
SCALARS = {"int": "int", "size_t": "size", "uint64_t": "int64", "uint32_t": "int32"}
ENUMS = ("oriel_type", "oriel_op", "oriel_lock_type", "oriel_signal_op")
RENAMED = {"oriel_usage": "oriel_usage_bytes"}  # in Fortran a type and a function of one module have two names
BY_ADDRESS = ("oriel_hint", "oriel_options", "void", "char")  # of which Fortran passes an address
OPAQUE = ("oriel_job", "oriel_group", "oriel_win", "oriel_mem")


def c_argument(text):
    """An argument of C as a word: what is passed by value, or & and what it points to."""
    kind, stars, brackets = re.fullmatch(r"(?:const )?(?:struct |enum )?(\w+) (\**)\w+(\[\])?", text).groups()
    depth = len(stars) + bool(brackets)
    if kind in OPAQUE or kind in BY_ADDRESS:
        return "&" * (depth - 1) + "pointer"
    kind = "int" if kind in ENUMS else SCALARS.get(kind, RENAMED.get(kind, kind))
    return "&" * depth + kind


def c_calls():
    found = re.findall(r"^(?:const )?(\w+) (\*?)(oriel_\w+)\(([^;]*)\);", HEADER, re.M)
    return {
        name: ["pointer" if star else SCALARS[kind]]
        + [c_argument(" ".join(a.split())) for a in arguments.split(",") if a != "void"]
        for kind, star, name, arguments in found
    }


def fortran_type(text):
    kinds = {"c_int": "int", "c_size_t": "size", "c_int64_t": "int64", "c_int32_t": "int32", "c_ptr": "pointer"}
    name = re.match(r"\w+\((\w+)\)", text).group(1)
    return kinds.get(name, name)


def fortran_calls(source):
    calls = {}
    pattern = r"^    function (oriel_\w+)\(([^)]*)\) result\((\w+)\) bind\(c\)\n(.*?)^    end function"
    for name, arguments, result, body in re.findall(pattern, source, re.M | re.S):
        declared = {}
        for attributes, names in re.findall(r"^      (\S.*?) :: (.*)$", body, re.M):
            for one in names.split(","):
                by_value = "value" in attributes or one.strip() == result
                declared[one.strip().removesuffix("(*)")] = "&" * (not by_value) + fortran_type(attributes)
        calls[name] = [declared[one.strip()] for one in [result, *filter(str.strip, arguments.split(","))]]
    return calls


def constants_of_header():
    text = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)
    names = set(re.findall(r"^\s*#define (ORIEL_\w+) +\S", text, re.M))
    for body in re.findall(r"enum \w+ \{(.*?)\}", text, re.S):
        names.update(re.findall(r"ORIEL_\w+", body))
    return names


def assertions(source, types):
    """A program that compiles if constants and types agree; `types` is what gfortran has written."""
    for name, value in re.findall(r"(ORIEL_\w+) = (-?\d+)", source):
        yield f"_Static_assert({name} == {value}, \"{name}\");"
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} fortran_(\w+);", types, re.S):
        ours = "struct oriel_" + name.removesuffix("_bytes")
        yield f'_Static_assert(sizeof(fortran_{name}) == sizeof({ours}), "size of {ours}");'
        for member in re.findall(r"\(?\*?(\w+)\)?(?:\[\d+\]|\(\))?;", body):
            yield (
                f"_Static_assert(offsetof(fortran_{name}, {member}) == offsetof({ours}, {member}),"
                f' "{ours}.{member}");'
            )


def main(folder):
    wrong = []
    source = re.sub(r"\s*&\n\s*", " ", MODULE.read_text())
    ours, theirs = c_calls(), fortran_calls(source)
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            wrong.append(f"{name}: C has {ours.get(name)}, Fortran {theirs.get(name)}")
    missing = constants_of_header() - set(re.findall(r"ORIEL_\w+", source))
    wrong += [f"{name} is missing in Fortran" for name in sorted(missing)]
    generated = subprocess.run(
        ["gfortran", "-std=f2018", "-Wall", "-Wextra", "-Werror", "-fc-prototypes", "-fsyntax-only", MODULE.resolve()],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if generated.returncode or "typedef struct" not in generated.stdout:
        sys.exit("gfortran: " + generated.stderr)
    types = "".join(re.findall(r"typedef struct .*?\} \w+;\n", generated.stdout, re.S)).replace("oriel_", "fortran_")
    lines = ["#include <stddef.h>", "#include <oriel.h>", types, *assertions(source, types)]
    program = Path(folder, "interface.c")
    program.write_text("\n".join(lines) + "\n")
    compiled = subprocess.run(["gcc", "-std=c11", "-Iinclude", "-fsyntax-only", program], check=False)
    if wrong or compiled.returncode:
        sys.exit("\n".join(wrong) or 1)
    print(f"{len(ours)} calls, {sum('_Static_assert' in line for line in lines)} constants, sizes and offsets agree")


main(sys.argv[1])
