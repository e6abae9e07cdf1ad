#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the loops that compilers report as unrolled with those that `cpprof struct` marks.

usage: unrolled.py [--full]     (CPPROF and BUILD in the environment)

GCC reports them with -fopt-info-loop and -funroll-loops, clang with -Rpass=loop-unroll and, for vector loops, with the
interleave count. No other loop may be marked [unrolled]. Some cannot be detected: loops of several blocks, and those
whose remainder is not a loop, as with GCC; so GCC is only used to find wrong marks. Of the loops that clang reports
and that are still loops, at least half must be marked.
"""
import re
import subprocess
import sys
from pathlib import Path

import check
from check import machines

HERE = Path(__file__).parent
UNROLLED = 2048  # flag of a scope
ASKED = 50  # per cent
SOURCES = [("marked", "kernels.c"), ("marked", "states.c"), ("programs", "copies.c"), ("programs", "loops.c")]
COMPILERS = ["gcc -O2 -funroll-loops", "gcc -O1", "clang -O2", "clang -O2 -fno-vectorize", "clang -O2 -fno-vectorize -fno-unroll-loops"]
TARGET = f"--target={machines.triplet(machines.OTHER)}"
OTHERS = [f"{machines.tool('x86_64', 'gcc')} -O3 -funroll-loops -mavx2", f"{machines.tool('aarch64', 'gcc')} -O3 -funroll-loops",
          f"clang {TARGET} -O2", f"clang {TARGET} -O0"]
SAYS = re.compile(r"([^:\s]+):(\d+):\d+: (?:optimized: .*loop unrolled \d+ times|remark: unrolled loop by a factor of \d+"
                  r"|remark: vectorized loop .*interleaved count: ([2-9]|\d\d))")


def said_lines(words, source):
    """{(file, line)} of the loops that the compiler reports as unrolled."""
    flags = ["-Rpass=loop-(unroll|vectorize)"] if words[0] == "clang" else ["-fopt-info-loop"]
    run = subprocess.run([*words, "-g", *flags, "-c", "-o", "/dev/null", source], check=True, capture_output=True, text=True)
    return {(Path(found[1]).name, int(found[2])) for found in map(SAYS.match, run.stderr.splitlines()) if found}


def near(where, keys):
    """Body and head of a loop may be one line apart."""
    return any((where[0], where[1] + step) in keys for step in (0, 1, -1))


def run_case(folder, name, command):
    words = command.split()
    binary = check.compile_program(name, " ".join([*words, "-g", "-lm"]), HERE / folder)
    if not binary:
        return None
    said = said_lines(words, HERE / folder / name)
    loops, marked = set(), set()
    for structure in check.structures(binary):
        for scope in structure["scopes"]:
            if scope["kind"] == "loop" and scope["file"].endswith("/" + name):
                key = name, scope["line"]
                loops.add(key)
                if scope["flags"] & UNROLLED:
                    marked.add(key)
    there = {key for key in said if near(key, loops)}
    found = {key for key in there if near(key, marked)}
    wrong = sorted(key for key in marked if not near(key, said))
    print(f"{name} [{command}]: {len(said)} reported, {len(there)} still loops, {len(found)} of them marked, {len(wrong)} wrong")
    for key in wrong:
        print(f"  {key[0]}:{key[1]} is marked but not unrolled")
    return len(there), len(found), len(wrong)


def main():
    n_there = n_found = n_wrong = 0
    for folder, name in SOURCES:
        for command in COMPILERS + (OTHERS if "--full" in sys.argv else []):
            found = run_case(folder, name, command)
            if found is None:
                print(f"{machines.missing(command)}: {name} left out")
                continue
            n_wrong += found[2]
            if command.startswith("clang"):
                n_there, n_found = n_there + found[0], n_found + found[1]
    if not n_there:
        print("skipped: no compiler reports unrolled loops")
        return 77
    print(f"{n_there} loops that clang reports as unrolled, {n_found} marked; {n_wrong} of any compiler wrong")
    return 1 if n_wrong or n_found * 100 < n_there * ASKED else 0


if __name__ == "__main__":
    sys.exit(main())
