#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a program without symbols, a function and its cold part are one function, even if nothing is known to call it.

usage: cold.py     (CPPROF and BUILD in the environment)

programs/apart.c is compiled for both architectures. With its symbols, GCC's names of the cold parts are known; stripped, there
are only unwind entries. Both must have the same functions, with the same code.
"""
import os
import subprocess
import sys

import check
from check import machines

FLAGS = "-O2 -freorder-blocks-and-partition"


def functions(binary):
    """{start: extents} of functions with several parts; the code of all functions, as [(start, end)]."""
    parted, code = {}, []
    for structure in check.structures(binary):
        extents = sorted((at, at + length) for at, length in structure["extents"])
        code += extents
        if len(extents) > 1:
            parted[structure["vaddr"]] = extents
    return parted, sorted(code)


def run_case(machine):
    command = f"{machines.tool(machine, 'gcc')} {FLAGS}"
    binary = check.compile_program("apart.c", command)
    if not binary:
        print(f"{machines.missing(command)}: left out")
        return None
    bare = f"{binary}.bare"
    subprocess.run([machines.tool(machine, "strip"), "-s", "-o", bare, str(binary)], check=True)
    (named, _), (nameless, code) = functions(binary), functions(bare)
    shared = sum(max(0, before[1] - after[0]) for before, after in zip(code, code[1:]))
    print(f"{machine}: {len(named)} functions with cold parts, {len(nameless)} without symbols, {shared} bytes in several functions")
    if len(named) < 5:
        print(f"  the compiler made cold parts of only {len(named)} functions")
    return len(named) >= 5 and named == nameless and not shared


def main():
    os.environ["DEBUGINFOD_URLS"] = ""
    results = [result for result in map(run_case, machines.NAMES) if result is not None]
    if not results:
        print("skipped: no compiler")
        return 77
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
