#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the compiler's own loops with those that `cpprof struct` finds in its code.

usage: truth.py [--list] [-O2|-O3] SOURCE... -- COMPILER OPTIONS     (CPPROF and BUILD in the environment)

clang compiles a source to its final IR; `opt -loops` lists the blocks and nesting of loops, and the loop's metadata has its
first line. llc compiles the same IR to code, which cpprof reads. Loops of the IR that start on one line of one inlined
copy in one loop count as one: main loop and remainder. A loop matches if file, first line and depth are those of one of
ours in the same function; if no code of the loop is on the lines from its head to the first line of ours (`do`, `for
(;;)`: nothing to execute), it starts there. Where an optimisation dropped the metadata (a loop with several `continue`s)
only the line of the header's branch and the calls it is inlined through are known: then one of those must be between the
lines of ours. At least 95 % must match. docs/structure.md lists the differences and their causes.
"""
import collections
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check import WORK, structures  # noqa: E402

LEAST = 0.95


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


def metadata(text):
    """DILocations, scopes' files, loop ids by number."""
    locations, files, scope_file, loops = {}, {}, {}, {}
    for match in re.finditer(r"^!(\d+) = (?:distinct )?!(\w*)(.*)$", text, re.M):
        number, kind, rest = match.groups()
        if kind == "DILocation":
            inlined = re.search(r"inlinedAt: !(\d+)", rest)
            locations[number] = (int(re.search(r"line: (\d+)", rest).group(1)), re.search(r"scope: !(\d+)", rest).group(1),
                                 inlined.group(1) if inlined else "")
        elif kind == "DIFile":
            files[number] = os.path.basename(re.search(r'filename: "([^"]*)"', rest).group(1))
        else:
            file = re.search(r"\bfile: !(\d+)", rest)
            if file:
                scope_file[number] = file.group(1)
            if not kind:
                loops[number] = re.findall(r"!(\d+)", rest)
    return locations, {scope: files.get(file, "") for scope, file in scope_file.items()}, loops


def branches(text):
    """For each function: block -> (its branch's !dbg, its !llvm.loop)."""
    found = {}
    for match in re.finditer(r"^define [^@]*@(\"[^\"]*\"|[\w.$]+)\(.*?^}", text, re.M | re.S):
        blocks, block = {}, None
        for line in match.group(0).splitlines()[1:]:
            label = re.match(r'^([\w.$-]+|"[^"]*"):', line)
            if label:
                block = label.group(1)
            elif re.match(r"  (br|switch|ret|invoke|unreachable|indirectbr)\b", line) or line.startswith("  ]"):
                debug, loop = re.search(r"!dbg !(\d+)", line), re.search(r"!llvm\.loop !(\d+)", line)
                blocks[block] = (debug.group(1) if debug else None, loop.group(1) if loop else None)
        found[match.group(1).strip('"')] = blocks
    return found


def chain(debug, locations, files):
    """The source locations of an instruction, from the innermost outwards through the calls it is inlined by."""
    places = []
    while debug in locations:
        line, scope, debug = locations[debug]
        places.append((files.get(scope, ""), line))
    return places


def compiler_loops(ir):
    """function -> [(is exact, places, depth)], grouped."""
    text = Path(ir).read_text()
    locations, files, loops = metadata(text)
    blocks = branches(text)
    found = collections.defaultdict(list)
    function, stack, seen = None, [], set()
    for line in run("opt", "-enable-new-pm=0", "-loops", "-analyze", ir).stdout.splitlines():
        head = re.match(r"Printing analysis 'Natural Loop Information' for function '(.*)':", line)
        if head:
            function, stack = head.group(1), []
            continue
        loop = re.match(r"\s*Loop at depth (\d+) containing: (.*)", line)
        if not loop:
            continue
        depth, members = int(loop.group(1)), loop.group(2).split(",")
        names = [re.match(r'%("[^"]*"|[\w.$-]+)(.*)', member).groups() for member in members]
        place = None
        for name, marks in names:
            ids = blocks[function].get(name, (None, None))[1] if "<latch>" in marks else None
            starts = [locations[i] for i in loops.get(ids, []) if i in locations] if ids else []
            place = starts[0] if starts else place
        if place:
            lines = [(files.get(place[1], ""), place[0])]
            identity = (lines[0], place[2])
        else:
            lines = chain(blocks[function].get(names[0][0], (None, None))[0], locations, files)
            identity = (tuple(lines), depth)
        stack = stack[:depth - 1] + [identity]
        if (function, tuple(stack)) not in seen:
            seen.add((function, tuple(stack)))
            found[function].append((bool(place), lines, len(stack)))
    return found


def our_loops(binary):
    found = {}
    for structure in structures(binary, "--lines"):
        scopes, depth, loops = structure["scopes"], [], []
        for scope in scopes:
            above = depth[scope["parent"]] if scope["parent"] >= 0 else 0
            depth.append(above + (scope["kind"] == "loop"))
            if scope["kind"] == "loop":
                loops.append((os.path.basename(scope["file"]), scope["line"], scope["end_line"], depth[-1], set()))
                scope["loop"] = len(loops) - 1
        for _, _, at, file, line in structure["statements"]:
            while at > 0:
                if "loop" in scopes[at]:
                    loops[scopes[at]["loop"]][4].add((os.path.basename(file), line))
                at = scopes[at]["parent"]
        found[structure["linkage"]] = loops
    return found


def compile_source(source, options):
    WORK.mkdir(parents=True, exist_ok=True)
    base = str(WORK / ("truth" + "".join(options[:1]) + "-" + os.path.basename(source)))
    if os.path.exists(base + ".so") and os.path.getmtime(base + ".so") > os.path.getmtime(source):
        return base + ".ll", base + ".so"
    compiler = "clang++" if source.endswith((".cpp", ".cc")) else "clang"
    run(compiler, *options, "-w", "-g", "-fPIC", "-S", "-emit-llvm", "-o", base + ".ll", source)
    run("llc", "-O2", "-relocation-model=pic", "-filetype=obj", "-o", base + ".o", base + ".ll")
    run("clang", "-shared", "-Wl,--unresolved-symbols=ignore-all", "-o", base + ".so", base + ".o")
    return base + ".ll", base + ".so"


def starts_at(file, head, line, code):
    return head == line or (head < line <= head + 40 and not any((file, between) in code for between in range(head, line)))


def matches(their, our):
    is_exact, places, depth = their
    file, line, end, our_depth, code = our
    if depth != our_depth:
        return False
    return any(f == file and (starts_at(f, l, line, code) if is_exact else line <= l <= end) for f, l in places)


def equals(their, our):
    return their[0] and their[1][0] == our[:2] and their[2] == our[3]


def match(function, theirs, ours, lists):
    missing, left = list(theirs), list(ours)
    for test in (equals, matches):
        for loop in sorted(missing, key=lambda loop: not loop[0]):
            found = next((our for our in left if test(loop, our)), None)
            if found:
                left.remove(found)
                missing.remove(loop)
    if lists and (missing or left):
        print(f"{function}: missed {missing}, found instead {[our[:4] for our in left]}")
    return len(missing), len(left)


def main():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments, options = sys.argv[1:split], sys.argv[split + 1:]
    lists = "--list" in arguments
    if any(subprocess.run(["which", tool], capture_output=True).returncode for tool in ("clang", "opt", "llc")):
        print("skipped: clang, opt and llc are needed")
        return 77
    level = "-O3" if "-O3" in arguments else "-O2"
    n_all = n_missing = n_more = 0
    for source in [a for a in arguments if not a.startswith("-")]:
        ir, binary = compile_source(source, [level, *options])
        ours = our_loops(binary)
        for function, theirs in compiler_loops(ir).items():
            missing, more = match(function, theirs, ours.get(function, []), lists)
            n_all, n_missing, n_more = n_all + len(theirs), n_missing + missing, n_more + more
    if not n_all:
        print("no loops at all")
        return 1
    share = 1 - n_missing / n_all
    print(f"{n_all} loops, {share:.2%} as in the compiler, {n_more} others")
    return share < LEAST


if __name__ == "__main__":
    sys.exit(main())
