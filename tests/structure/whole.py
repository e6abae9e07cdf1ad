#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The structure of whole binaries: what must hold for every function, whatever the code.

usage: whole.py FILE...     (CPPROF in the environment; files that are not here are left out)

- scopes: the first is the function, parents precede children, no two siblings are the same scope;
- ranges: sorted, apart, each of a known scope, and all inside the function's own code;
- loops: at least one piece each, their headers in the function's code, their lines in order, those of a loop
  between the lines of the loop around it where both are written in the same procedure;
- contexts: a nest of m loops and inlined calls without debug information has none; nothing is deeper than 512.
"""
import os
import sys
from bisect import bisect_right
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check import invariants, structures  # noqa: E402


def inside(starts, statements, vaddr):
    at = bisect_right(starts, vaddr) - 1
    return at >= 0 and vaddr < statements[at][0] + statements[at][1]


def check_code(structure, problems):
    name = structure["function"]
    statements = sorted(structure["statements"])
    starts = [s[0] for s in statements]
    for start, length, _ in structure["ranges"]:
        if not inside(starts, statements, start) or not inside(starts, statements, start + length - 1):
            problems.append(f"{name}: range at {start:#x} is not its code")
    for before, after in zip(statements, statements[1:]):
        if before[0] + before[1] > after[0]:
            problems.append(f"{name}: two statements at {after[0]:#x}")


def check_loops(structure, problems):
    name, scopes = structure["function"], structure["scopes"]
    statements = sorted(structure["statements"])
    starts = [s[0] for s in statements]
    seen = set()
    for index, scope in enumerate(scopes):
        parent = scopes[scope["parent"]]
        if scope["kind"] == "inline":
            key = (scope["parent"], scope["name"], scope["file"], scope["line"], scope["call_file"], scope["call_line"], scope["vaddr"])
            if key in seen:
                problems.append(f"{name}: {scope['name']} is inlined twice at one place")
            seen.add(key)
        if scope["kind"] != "loop":
            continue
        if scope["pieces"] < 1 or not inside(starts, statements, scope["vaddr"]):
            problems.append(f"{name}: the loop at {scope['vaddr']:#x} has no code")
        if parent["kind"] == "loop" and scope["line"] and scope["file"] == parent["file"] and parent["line"]:
            if not parent["line"] <= scope["line"] <= scope["end_line"] <= parent["end_line"]:
                problems.append(f"{name}: loop {scope['line']}-{scope['end_line']} is not between the lines of {parent['line']}-{parent['end_line']}")


def main():
    n = bad = 0
    for path in sys.argv[1:]:
        if not os.path.exists(path):
            print(f"{path} is not here")
            continue
        problems, loops, functions = [], 0, 0
        for structure in structures(path, "--lines"):
            functions += 1
            loops += sum(scope["kind"] == "loop" for scope in structure["scopes"])
            invariants(structure, problems)
            check_code(structure, problems)
            check_loops(structure, problems)
        n += 1
        bad += bool(problems) or not functions
        print(f"{path}: {functions} functions, {loops} loops, {len(problems)} problems")
        for problem in problems[:20]:
            print("  " + problem)
    if not n:
        print("skipped: none of the files is here")
        return 77
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
