#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks invariants of the structure of whole binaries, for every function.

usage: whole.py FILE...     (CPPROF in the environment; missing files are left out)

- scopes: the first is the function, parents precede children, no two siblings are the same scope;
- ranges: sorted, disjoint, each of a known scope, and all inside the function's own code;
- loops: at least one piece each, their headers in the function's code, their lines in order, those of an inner loop
  between the lines of the outer loop if both are written in the same procedure;
- functions: their code is theirs alone, except for at most 0.5 %, which assembly jumps into from several places; none
  starts inside another's own part (libc's _int_malloc after a call that does not return is not part of _int_free);
- contexts: a nest of m loops and inlined calls without debug information has none; nothing is deeper than 512.
"""
import os
import resource
import sys
from bisect import bisect_right
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check import invariants, structures  # noqa: E402

LIMIT_MB = 2048  # for all statements of 100 MB of code; twice that with sanitizers


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


def check_extents(extents, names, problems):
    """extents: (start, end, function, which part of it)."""
    extents.sort()
    end, total, shared = 0, 0, 0
    for start, stop, function, part in extents:
        total += stop - start
        shared += max(0, min(stop, end) - start)
        if start < end and part == 0 and names[function] == "_int_malloc":
            problems.append("_int_malloc is inside another function")
        end = max(end, stop)
    if shared > 0.005 * total:
        problems.append(f"{shared} of {total} bytes are in several functions")
    return shared / total if total else 0


def main():
    n = bad = 0
    for path in sys.argv[1:]:
        if not os.path.exists(path):
            print(f"{path} does not exist")
            continue
        problems, loops, functions = [], 0, 0
        extents, names = [], {}
        for structure in structures(path, "--lines"):
            functions += 1
            loops += sum(scope["kind"] == "loop" for scope in structure["scopes"])
            names[structure["vaddr"]] = structure["function"]
            extents += [(at, at + length, structure["vaddr"], part) for part, (at, length) in enumerate(structure["extents"])]
            invariants(structure, problems)
            check_code(structure, problems)
            check_loops(structure, problems)
        shared = check_extents(extents, names, problems)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        if peak > LIMIT_MB:
            problems.append(f"{peak} MB of memory")
        n += 1
        bad += bool(problems) or not functions
        print(f"{path}: {functions} functions, {loops} loops, {100 * shared:.3f} % of the code in several functions, at most {peak} MB so far, "
              f"{len(problems)} problems")
        for problem in problems[:20]:
            print("  " + problem)
    if not n:
        print("skipped: none of the files is here")
        return 77
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
