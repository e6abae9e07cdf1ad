#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the output of `cpprof struct` for sources with marked loops, compiled in many ways, with the marks.

usage: marks.py [--full] [--only SOURCE] [--show]     (CPPROF and BUILD in the environment)

A line on which a loop starts has a comment `loop DEPTH in FUNCTION`, or `in ONE|OTHER`; `loop 1,2 in ...` for
two made by a macro. Every loop shown for the source must be a marked one, at the marked depth and in the marked
function; a loop whose first line has no code in any loop may start at the next line that has. A function with such
loops must have a file, and so must everything inlined in it. No two loops of a scope may start on one line, unless marked.
A mark `loops` allows any loops on its line (array syntax, OpenMP pragmas); a loop there may be the marked one of the next
line, as clang gives it the line of its pragma. `loops N`: at least N outermost loops start here or on the first lines
below.
`nests N`: N outermost loops start on this line, and all others on it are in them.
`inlined: nothing` on a line of its own: no inlined call may be shown. `instances N`: N calls inlined at this line have
loops, each its own.

--full adds compilers for the architecture that this machine has not, and sources that take long to compile. Prints, for each source, compiler and
level, the loops that are marked, found on the exact line, found on their first line with code, missing, and wrong; and
the sums for each compiler. Of all marked loops 97 % must be found (99 % with --full), and none may be wrong.
"""
import collections
import os
import re
import sys
from pathlib import Path

import check

HERE = Path(__file__).parent
SOURCES = HERE / "marked"
MAX_LATE = 4  # lines
ASKED = 97  # per cent
ASKED_OF_ALL = 99  # with --full

OTHER = check.machines.triplet(check.machines.OTHER)
C = ["gcc", "clang", f"{OTHER}-gcc", f"clang --target={OTHER}"]
CXX = ["g++", "clang++", f"{OTHER}-g++", f"clang++ --target={OTHER}"]
SHOWN = check.machines.NAMES[check.machines.OTHER]
EIGEN = "/usr/include/eigen3"
COMPILERS = {
    "lambdas.cpp": CXX,
    "tiles.cpp": CXX,
    "fields.f90": ["gfortran -fopenmp", f"{OTHER}-gfortran -fopenmp"],
    "waves.f90": ["gfortran -fopenmp", f"{OTHER}-gfortran -fopenmp"],
    # The other architecture's OpenMP runtime may be missing: only the front end is told to process the pragmas.
    "regions.c": ["gcc -fopenmp -lm", "clang -fopenmp -lm", f"{OTHER}-gcc -fopenmp -lm",
                  f"clang --target={OTHER} -Xclang -fopenmp -Wl,--unresolved-symbols=ignore-all -lm"],
    "stages.c": C,
    "threaded.c": C,
    "textual.c": C,
    "switches.c": C,
    "kernels.c": C,
    "states.c": C,
    "jumps.c": C,
    "elimination.c": C,
    "ranges.cpp": CXX,
    "instances.cpp": [f"{compiler} -std=c++17" for compiler in CXX],
    # clang 14 supports neither the coroutines nor the ranges of libstdc++ 12.
    "coroutines.cpp": ["g++ -std=c++20", f"{OTHER}-g++ -std=c++20"],
    "views.cpp": ["g++ -std=c++20", f"{OTHER}-g++ -std=c++20"],
    "matrices.cpp": [f"{compiler} -I{EIGEN}" for compiler in CXX],
    "iterators.rs": ["rustc"],
    "arrays.f90": ["gfortran", f"{OTHER}-gfortran"],
}
LEVEL = {"rustc": "-Copt-level={}"}
SLOW = {"views.cpp", "matrices.cpp", "iterators.rs"}  # to compile


def read_marks(name):
    """{(file, line, depth): function}, {(file, line)} where any loops are allowed, {(file, line): instances}, {(file, line): nests},
    {(file, line): loops from there on}, whether inlined calls may be shown."""
    marks, free, instances, nests, below, inlines = {}, set(), {}, {}, {}, True
    for path in [SOURCES / name, *SOURCES.glob(Path(name).stem + ".inc")]:
        for number, text in enumerate(path.read_text().splitlines(), 1):
            comment = re.search(r"(?://|!) (loops?|inlined:|instances|nests)(?: ([\d,]+)(?: in (\S+))?| nothing)?$", text)
            if not comment:
                continue
            if comment[1] == "inlined:":
                inlines = False
            elif comment[1] == "instances":
                instances[path.name, number] = int(comment[2])
            elif comment[1] == "nests":
                nests[path.name, number] = int(comment[2])
                free.add((path.name, number))
            elif comment[1] == "loops":
                free.add((path.name, number))
                if comment[2]:
                    below[path.name, number] = int(comment[2])
            else:
                marks.update({(path.name, number, int(depth)): comment[3] for depth in comment[2].split(",")})
    return marks, free, instances, nests, below, inlines


def count_instances(structure):
    """{(file, line): calls inlined there that have a loop of their own}."""
    scopes, calls = structure["scopes"], set()
    for scope in scopes:
        at = scope["parent"]
        while scope["kind"] == "loop" and at > 0 and scopes[at]["kind"] == "loop":
            at = scopes[at]["parent"]
        while scope["kind"] == "loop" and at > 0:
            calls.add(at)
            at = scopes[at]["parent"]
    return collections.Counter((os.path.basename(scopes[at]["call_file"]), scopes[at]["call_line"]) for at in calls
                               if scopes[at]["kind"] == "inline")


def shown_loops(structure):
    """[(file, line, depth, function)] of a structure, and the lines with code in some loop of it."""
    scopes, loops, lines = structure["scopes"], [], set()
    for scope in scopes:
        if scope["kind"] != "loop":
            continue
        depth, around = 1, scopes[scope["parent"]]
        while around["kind"] == "loop":
            depth, around = depth + 1, scopes[around["parent"]]
        loops.append((os.path.basename(scope["file"]), scope["line"], depth, around["name"]))
    for _, _, at, file, line in structure["statements"]:
        while at > 0 and scopes[at]["kind"] != "loop":
            at = scopes[at]["parent"]
        if at > 0:
            lines.add((os.path.basename(file), line))
    return loops, lines


def is_mark(marks, mark, loop):
    return mark in marks and any(name in loop[3] for name in marks[mark].split("|"))


def find_mark(marks, lines, loop):
    """The mark of a loop that is shown; None if it has none."""
    file, line, depth = loop[:3]
    for first in range(line, line - MAX_LATE - 1, -1):
        if first != line and (file, first) in lines:
            return None
        if is_mark(marks, (file, first, depth), loop):
            return file, first, depth
    return None


def run_case(name, command, show):
    marks, free, instances, nests, from_here, inlines = read_marks(name)
    source = SOURCES / name
    binary = check.compile_program(name, command, SOURCES)
    if not binary:
        return None
    exact, late, wrong, files = set(), set(), [], {name, source.stem + ".inc"}
    seen, outermost = collections.Counter(), collections.Counter()
    for structure in check.structures(binary, "--lines"):
        loops, lines = shown_loops(structure)
        for loop in loops:
            below = loop[0], loop[1] + 1, loop[2]
            if loop[:2] in free and is_mark(marks, below, loop):
                late.add(below)
            if loop[0] not in files or loop[:2] in free:
                continue
            mark = find_mark(marks, lines, loop)
            if mark:
                (exact if mark == loop[:3] else late).add(mark)
            else:
                wrong.append("{0}:{1} depth {2} in {3}".format(*loop))
        seen |= count_instances(structure)
        outermost.update(loop[:2] for loop in loops if loop[2] == 1)
        scopes = structure["scopes"]
        places = collections.Counter((s["parent"], os.path.basename(s["file"]), s["line"]) for s in scopes if s["kind"] == "loop")
        wrong += [f"{file}:{line} is shown {n} times in {structure['function']}" for (_, file, line), n in places.items()
                  if n > 1 and file in files and (file, line) not in free]
        if not scopes[0]["file"] and any(loop[0] in files for loop in loops):
            wrong.append(f"{structure['function']} has no file")
        wrong += [f"a region's body as inlined {s['name']}" for s in scopes if s["kind"] == "inline" and "_debug__" in s["name"]]
        wrong += [f"inlined {s['name']} has no file" for s in scopes
                  if s["kind"] == "inline" and not s["file"] and os.path.basename(s["call_file"]) in files]
        if not inlines and os.path.basename(scopes[0]["file"]) in files:
            wrong += [f"inlined {s['name']} in {structure['function']}" for s in scopes if s["kind"] == "inline"]
    wrong += [f"{seen[place]} calls with loops at {place[0]}:{place[1]}, not {n}" for place, n in instances.items() if seen[place] != n]
    wrong += [f"{outermost[place]} nests at {place[0]}:{place[1]}, not {n}" for place, n in nests.items() if outermost[place] != n]
    for (file, line), n in from_here.items():
        found = sum(outermost[file, line + i] for i in range(MAX_LATE))
        wrong += [f"{found} loops from {file}:{line} on, not {n}"] if found < n else []
    late -= exact
    missing = sorted(set(marks) - exact - late)
    print(f"{name} [{command}]: {len(marks)} marked, {len(exact)} exact, {len(late)} late, {len(missing)} missing, {len(wrong)} wrong")
    if show or missing or wrong:
        for file, line, depth in missing:
            print(f"  missing: {file}:{line} depth {depth}")
        for text in wrong:
            print(f"  wrong: {text}")
    return collections.Counter(marked=len(marks), exact=len(exact), late=len(late), missing=len(missing), wrong=len(wrong))


def print_sums(sums):
    for compiler, figures in sums.items():
        print(f"{compiler}: " + ", ".join(f"{figures[what]} {what}" for what in ("marked", "exact", "late", "missing", "wrong")))


def main():
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    sums = collections.defaultdict(collections.Counter)
    for name, compilers in COMPILERS.items():
        for compiler in compilers if only in name else []:
            words = compiler.split()
            if (OTHER in compiler or name in SLOW) and "--full" not in sys.argv and not only:
                continue
            if EIGEN in compiler and not os.path.exists(EIGEN):
                print(f"no Eigen: {name} left out")
                break
            for level in (1, 2, 3):
                option = LEVEL.get(words[0], "-O{}").format(level)
                found = run_case(name, " ".join([words[0], option, "-g", *words[1:]]), "--show" in sys.argv)
                if found is None:
                    print(f"{check.machines.missing(compiler)}: {name} left out")
                    break
                sums[words[0].removeprefix(OTHER + "-") + (f" for {SHOWN}" if OTHER in compiler else "")] += found
    if not sums:
        print("skipped: no compiler")
        return 77
    print_sums(sums)
    all = sum(sums.values(), collections.Counter())
    print(f"{all['exact'] + all['late']} of {all['marked']} loops found, {all['wrong']} wrong")
    asked = ASKED_OF_ALL if "--full" in sys.argv else ASKED
    return (all["exact"] + all["late"]) * 100 < all["marked"] * asked or all["wrong"] > 0


if __name__ == "__main__":
    sys.exit(main())
