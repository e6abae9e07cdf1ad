#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the loops that compilers report as vectorised with those that `cpprof struct` marks.

usage: vectors.py [--show]     (CPPROF and BUILD in the environment)

GCC reports them with -fopt-info-vec, clang with -Rpass=loop-vectorize. Every such loop must be marked [vector], if there is
still a loop on its line, and no other loop may be. Vectorisation outside of loops (SLP) is switched off. The width must
be the reported one, if it is given in bytes.
"""
import re
import subprocess
import sys
from pathlib import Path

import check
from check import machines

HERE = Path(__file__).parent
VECTOR = 4  # flag of a scope
CASES = [("marked", "kernels.c"), ("marked", "lambdas.cpp"), ("marked", "switches.c"), ("marked", "fields.f90"), ("programs", "copies.c"),
         ("programs", "loops.c"), ("programs", "slices.f90")]
TARGET = f"--target={machines.triplet(machines.OTHER)}"
COMPILERS = {".c": ["clang", f"clang {TARGET}"], ".cpp": ["clang++", f"clang++ {TARGET}"], ".f90": []}
for suffix, compiler in ((".c", "gcc"), (".cpp", "g++"), (".f90", "gfortran")):
    COMPILERS[suffix] += [machines.tool("aarch64", compiler), machines.tool("x86_64", compiler), machines.tool("x86_64", compiler) + " -mavx2"]


def said_lines(compiler, source, level):
    """{(file, line): bytes or 0} of the loops that the compiler reports as vectorised."""
    words = compiler.split()
    is_clang = words[0].startswith("clang")
    flags = ["-Rpass=loop-vectorize", "-fno-slp-vectorize"] if is_clang else ["-fopt-info-vec", "-fno-tree-slp-vectorize"]
    run = subprocess.run([*words, level, "-g", *flags, "-c", "-o", "/dev/null", source], check=True, capture_output=True, text=True)
    said = {}
    for line in run.stderr.splitlines():
        found = re.match(r"([^:]+):(\d+):\d+: (?:optimized: *loop vectorized using (\d+|variable length) byte|remark: vectorized loop)", line)
        if found:
            key = Path(found[1]).name, int(found[2])
            said[key] = max(said.get(key, 0), int(found[3]) if (found[3] or "").isdigit() else 0)
    return said


def run_case(folder, name, compiler, level, show):
    source = HERE / folder / name
    words = compiler.split()
    slp = "-fno-slp-vectorize" if words[0].startswith("clang") else "-fno-tree-slp-vectorize"
    binary = check.compile_program(name, " ".join([words[0], level, "-g", slp, *words[1:], "-lm"]), HERE / folder)
    if not binary:
        return None
    said = said_lines(compiler, source, level)
    loops = {}
    for structure in check.structures(binary, "--pieces"):
        for index, scope in enumerate(structure["scopes"]):
            if scope["kind"] != "loop" or not scope["line"]:
                continue
            key = Path(scope["file"]).name, scope["line"]
            width = max([piece["width"] for piece in structure["pieces"] if piece["scope"] == index] + [0])
            was = loops.get(key, (False, 0))
            loops[key] = was[0] or bool(scope["flags"] & VECTOR), max(was[1], width)
    # Body and head of a loop may be one line apart.
    near = lambda where, keys: next(((where[0], where[1] + step) for step in (0, 1, -1) if (where[0], where[1] + step) in keys), None)
    problems = []
    for key, width in said.items():
        shown = near(key, loops)
        if shown and not loops[shown][0]:
            problems.append(f"{key[0]}:{key[1]} is vectorised but not marked")
        elif shown and width and loops[shown][1] != width:
            problems.append(f"{key[0]}:{key[1]} is {width} bytes wide, not {loops[shown][1]}")
    marked = [key for key, (is_vector, _) in loops.items() if is_vector and key[0] == name]
    problems += [f"{key[0]}:{key[1]} is marked but not vectorised" for key in marked if not near(key, said)]
    n_there = sum(near(key, loops) is not None for key in said)
    print(f"{name} [{compiler} {level}]: {len(said)} said, {n_there} still loops, {len(marked)} marked, {len(problems)} wrong")
    for problem in problems:
        print(f"  {problem}")
    return n_there, len(problems)


def main():
    n_said = n_wrong = 0
    for folder, name in CASES:
        for compiler in COMPILERS[Path(name).suffix]:
            for level in ("-O2", "-O3"):
                found = run_case(folder, name, compiler, level, "--show" in sys.argv)
                if found is None:
                    print(f"{machines.missing(compiler)}: {name} left out")
                    break
                n_said, n_wrong = n_said + found[0], n_wrong + found[1]
    if not n_said:
        print("skipped: no compiler reports vectorised loops")
        return 77
    print(f"{n_said} loops that compilers report as vectorised, {n_wrong} wrong")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
