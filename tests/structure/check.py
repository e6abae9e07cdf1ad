#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the output of `cpprof struct` for small programs, compiled in many ways, with expectations in their sources.

usage: check.py [--full] [--only PROGRAM] [--show]     (CPPROF and BUILD in the environment)

The expectations for a function are next to it in the source, in comment lines that start with //: or !: or #:

    expect FUNCTION [@label] [if CONDITION...]
      loop @first-@last [irreducible] [vector] [copies]  a loop and its lines; `loop` alone: a loop without lines
        inline NAME at @label | *           an inlined call; * is any place
      line @label in @loop | NAME           the code of that line stands in the loop that starts there, or in that call

@label stands for the line whose comment contains it. Loops must be exactly those expected, nested as written;
inlined calls without an expectation are ignored, but not the loops in them. First lines are exact, at -O3 within one
line; last lines are exact at -O0 and may be smaller where optimisation moved the last line's code. At -O0, clang puts a
loop's last jump on the closing brace: up to three lines more are accepted there.
`vector`: at -O3 at least one of its pieces is marked as vectorised, and none at -O0. `copies`: at -O3 some of its
pieces are vectorised and some are not. With --alien-only the compiler's inlining information is not used, and call
sites are not compared. Without debug information only the shape of the loop nests is compared, and in assembly which
loops are irreducible.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))
import machines  # noqa: E402

# No leak detection: it takes seconds per process, and the unit tests do it.
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
CPPROF = os.environ.get("CPPROF", "cpprof")
WORK = Path(os.environ.get("BUILD", "/tmp")) / "tests" / "structure"
OTHER_GCC, OTHER_GXX = (machines.tool(machines.OTHER, name) for name in ("gcc", "g++"))
OTHER_GFORTRAN = machines.tool(machines.OTHER, "gfortran")
BY_HAND = [(f"hand.{machine}.S", machines.tool(machine, "gcc")) for machine in machines.NAMES]

SHORT = [
    ("loops.c", "gcc -O0 -g"), ("loops.c", "gcc -O2 -g"), ("loops.c", "clang -O2 -g"), ("loops.c", "gcc -O2"),
    ("inlined.c", "gcc -O0 -g"), ("inlined.c", "gcc -O2 -g"), ("inlined.c", "clang -O2 -g"),
    ("inlined.c", f"{OTHER_GCC} -O2 -g"),
    ("inlined.c", "gcc -O2 -g --alien-only"), ("inlined.c", "clang -O2 -g --alien-only"),
    ("copies.c", "gcc -O3 -g"), ("copies.c", "clang -O3 -g"), ("copies.c", f"{OTHER_GCC} -O3 -g"),
    ("throws.cpp", "g++ -O0 -g"), ("throws.cpp", "g++ -O2 -g"), ("throws.cpp", f"{OTHER_GXX} -O0 -g"),
    ("library.cpp", "g++ -O2 -g"),
    ("slices.f90", "gfortran -O2 -g"),
    *BY_HAND,
]


def full():
    levels = ["-O0 -g", "-O1 -g", "-O2 -g", "-O3 -g", "-O2 -g -gdwarf-4", "-O2 -g -flto", "-O3 -g -funroll-loops", "-O1", "-Os -g"]
    for program in ("loops.c", "inlined.c", "copies.c"):
        for compiler in ("gcc", "clang", OTHER_GCC):
            for level in levels:
                if "-flto" not in level or compiler != "clang":
                    yield program, f"{compiler} {level}"
    for program in ("throws.cpp", "library.cpp"):
        for compiler in ("g++", "clang++", OTHER_GXX):
            for level in levels:
                if "-flto" not in level or compiler != "clang++":
                    yield program, f"{compiler} {level}"
    for level in levels:
        if "-flto" not in level:
            yield "slices.f90", f"gfortran {level}"
            yield "slices.f90", f"{OTHER_GFORTRAN} {level}"
    for level in levels:
        if "-g" in level and "-f" not in level:
            yield "inlined.c", f"gcc {level} --alien-only"
            yield "inlined.c", f"clang {level} --alien-only"
    yield from BY_HAND


class Node:
    def __init__(self, kind, name="", line=0, end=0, call=0, flags=0, lines=None):
        self.kind, self.name, self.line, self.end, self.call, self.flags = kind, name, line, end, call, flags
        self.children, self.rules, self.has_lines = [], [], lines
        self.has_copies = False
        self.pieces = []  # flags of each machine loop

    def show(self, depth=0):
        place = f" {self.line}-{self.end}" if self.kind == "loop" else f" at {self.call}" if self.kind == "inline" else ""
        flags = " irreducible" * (self.flags & 1) + " vector" * (self.flags >> 2 & 1)
        text = "  " * depth + f"{self.kind} {self.name}{place}{flags}\n"
        return text + "".join(child.show(depth + 1) for child in self.children)


def holds(condition, tags):
    return all(any((word[1:] not in tags) if word[0] == "!" else (word in tags) for word in group.split("|"))
               for group in condition.split())


def expectations(path, tags):
    """[(function, line or 0, Node)] of a source, for these compiler flags."""
    lines = path.read_text().splitlines()
    marker = re.compile(r"^\s*(//|!|#|\*):( *)(.*)$")
    labels = {}
    for number, text in enumerate(lines, 1):
        if not marker.match(text):
            for label in re.findall(r"@(\w+)", text):
                labels[label] = number
    found, stack = [], []
    for text in lines:
        match = marker.match(text)
        if not match:
            continue
        indent, words = len(match.group(2)), match.group(3)
        words, _, condition = words.partition(" if ")
        wanted = holds(condition, tags)
        words = words.split()
        if words[0] == "expect":
            node = Node("function", words[1], labels[words[2][1:]] if len(words) > 2 else 0)
            stack = [(indent, node)]
            if wanted:
                found.append(node)
            continue
        while stack[-1][0] >= indent:
            stack.pop()
        if words[0] == "line":
            stack[0][1].rules.append((labels[words[1][1:]], labels[words[3][1:]] if words[3][0] == "@" else words[3]))
            continue
        if words[0] == "loop":
            node = Node("loop")
            node.flags = ("irreducible" in words) | ("vector" in words and "O3" in tags) << 2
            node.has_copies = "copies" in words and "O3" in tags
            node.has_lines = len(words) > 1 and words[1][0] == "@"
            node.line = node.end = 0
            if node.has_lines:
                first, _, last = words[1].partition("-")
                node.line, node.end = labels[first[1:]], labels[(last or first)[1:]]
        else:
            node = Node("inline", words[1], call=0 if words[-1] == "*" or "alien" in tags else labels[words[3][1:]])
        if wanted:
            stack[-1][1].children.append(node)
        stack.append((indent, node))
    return found


def plain(name):
    name = name.replace("operator()", "operator#")
    while re.search(r"<[^<>]*>", name):
        name = re.sub(r"<[^<>]*>", "", name)
    while re.search(r"\([^()]*\)", name):
        name = re.sub(r"\([^()]*\)", "", name)
    name = name.replace(" const", "")
    return name.split("::")[-1].replace("operator#", "operator()").split(" ")[-1]


def actual(structure):
    nodes = []
    for scope in structure["scopes"]:
        node = Node(scope["kind"], plain(scope["name"]) if scope["kind"] != "loop" else "", scope["line"], scope["end_line"],
                    scope["call_line"], scope["flags"])
        nodes.append(node)
        if scope["parent"] >= 0:
            nodes[scope["parent"]].children.append(node)
    for piece in structure["pieces"]:
        nodes[piece["scope"]].pieces.append(piece["flags"])
    return nodes


def look_through(node, names):
    """The children of a node; inlined calls without an expectation are replaced by their children."""
    kept = []
    for child in node.children:
        child.children = look_through(child, names)
        if child.kind == "loop" or (child.kind == "inline" and child.name in names):
            kept.append(child)
        else:
            kept += child.children
    # A call whose code is in several places may have several scopes without loops: one is kept.
    seen, once = set(), []
    for child in kept:
        key = (child.kind, child.name, child.call)
        if child.kind == "inline" and not child.children:
            if key in seen or any(o.kind == "inline" and (o.name, o.call) == key[1:] for o in kept if o.children):
                continue
            seen.add(key)
        once.append(child)
    return once


def names_in(node):
    return {child.name for child in node.children if child.kind == "inline"} | {n for c in node.children for n in names_in(c)}


def shape(node):
    loops = []
    for child in node.children:
        if child.kind == "loop":
            loops.append(shape(child))
        else:
            loops += shape(child)
    return sorted(loops)


def n_irreducible(node):
    return (node.kind == "loop" and node.flags & 1) + sum(n_irreducible(child) for child in node.children)


def order(node):
    return (node.kind, node.line, node.call, node.name)


def compare(expected, got, slack, problems, where):
    """Appends the differences of two lists of nodes; slack: lines allowed (at the start, less at the end, more at the end)."""
    expected, got = sorted(expected, key=order), sorted(got, key=order)
    loops = [[n for n in side if n.kind == "loop"] for side in (expected, got)]
    if len(loops[0]) != len(loops[1]):
        problems.append(f"{where}: {len(loops[1])} loops, expected {len(loops[0])}")
        return
    for e, g in zip(*loops):
        if e.has_lines and abs(e.line - g.line) > slack[0]:
            problems.append(f"{where}: a loop starts at {g.line}, expected {e.line}")
        if e.has_lines and not e.end - slack[1] <= g.end <= e.end + slack[2]:
            problems.append(f"{where}: the loop at {g.line} ends at {g.end}, expected {e.end}")
        if e.flags & ~g.flags:
            problems.append(f"{where}: the loop at {g.line} has flags {g.flags}, expected {e.flags}")
        vectorised = sum(flags >> 2 & 1 for flags in g.pieces)
        if e.flags & 4 and not vectorised:
            problems.append(f"{where}: no piece of the loop at {g.line} is vectorised")
        if e.has_copies and not vectorised < len(g.pieces):
            problems.append(f"{where}: {vectorised} of {len(g.pieces)} pieces of the loop at {g.line} are vectorised, expected some")
        compare(e.children, g.children, slack, problems, f"{where} > loop {g.line}")
    inlines = [n for n in got if n.kind == "inline"]
    for e in [n for n in expected if n.kind == "inline"]:
        match = [g for g in inlines if g.name == e.name and (not e.call or g.call == e.call)]
        if not match:
            problems.append(f"{where}: no inlined {e.name}" + (f" at {e.call}" if e.call else ""))
            continue
        inlines.remove(match[0])
        compare(e.children, match[0].children, slack, problems, f"{where} > {e.name}")
    for g in inlines:
        if shape(g):
            problems.append(f"{where}: unexpected loop in inlined {g.name} at {g.call}")


def check_rules(rules, structure, source, exact, slack, problems, where):
    """`line X in Y`: at least 80 % of the code of line X is in Y; in optimised code the line may have none. The first line of
    the loop Y may differ as in `compare`."""
    scopes = structure["scopes"]
    for line, around in rules:
        statements = [s for s in structure["statements"] if s[4] == line and s[3].endswith(source)]
        if not statements and exact:
            problems.append(f"{where}: no code of line {line}")
        outside = 0
        for _, length, at, _, _ in statements:
            chain = []
            while at > 0:
                chain.append(scopes[at])
                at = scopes[at]["parent"]
            if not any(abs(s["line"] - around) <= slack if s["kind"] == "loop" and isinstance(around, int) else
                       s["kind"] == "inline" and plain(s["name"]) == around for s in chain):
                outside += length
        if outside * 5 > sum(s[1] for s in statements):
            problems.append(f"{where}: code of line {line} is not in {around}")


def invariants(structure, problems):
    """Invariants of every function: parents precede children, ranges are sorted and disjoint, only loops have pieces."""
    name, scopes = structure["function"], structure["scopes"]
    for index, scope in enumerate(scopes):
        if index == 0 and (scope["parent"] != -1 or scope["kind"] != "function"):
            problems.append(f"{name}: its first scope is not the function")
        if index and not 0 <= scope["parent"] < index:
            problems.append(f"{name}: scope {index} precedes its parent")
        if scope["kind"] == "loop" and scope["end_line"] < scope["line"]:
            problems.append(f"{name}: a loop ends before it starts")
    end = 0
    for start, length, scope in structure["ranges"]:
        if start < end or length == 0 or not 0 < scope < len(scopes):
            problems.append(f"{name}: range at {start:#x} is out of order or has no scope")
        end = start + length


def check_flat(structure, problems):
    """Alien code is flat: a nest of m loops has at most m + 2 contexts: one per loop, the function's own, and its callees'."""
    scopes = structure["scopes"]
    for index, scope in enumerate(scopes):
        if scope["kind"] == "inline" and scopes[scope["parent"]]["kind"] == "inline":
            problems.append(f"{structure['function']}: alien code in alien code")
        chain, at = [], index
        while at > 0:
            chain.append(scopes[at]["kind"])
            at = scopes[at]["parent"]
        if chain.count("inline") + 1 > chain.count("loop") + 2:
            problems.append(f"{structure['function']}: {chain.count('inline') + 1} contexts for {chain.count('loop')} loops")


def structures(binary, *options):
    """One structure at a time: those of a large binary do not fit into memory."""
    with tempfile.TemporaryFile("w+") as errors:
        run = subprocess.Popen([CPPROF, "struct", "--no-cache", "--format", "json", *options, str(binary)], stdout=subprocess.PIPE,
                               stderr=errors, text=True)
        for line in run.stdout:
            if line.strip():
                yield json.loads(line)
        if run.wait():
            errors.seek(0)
            raise SystemExit(f"cpprof struct {binary}: exit {run.returncode}: {errors.read()}")


def compile_program(program, command, folder=HERE / "programs"):
    """The binary's path; None if the compiler, or what it needs for its target, is not installed."""
    words = [word for word in command.split() if word != "--alien-only"]
    command = " ".join(words)
    if machines.missing(command):
        return None
    WORK.mkdir(parents=True, exist_ok=True)
    binary = (WORK / (program + "." + re.sub(r"[^\w.+-]", "_", command))).resolve()
    source = folder / program
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        # Libraries come after the files that need them; Fortran writes module files to the current directory.
        silence = "-Awarnings" if words[0] == "rustc" else "-w"
        subprocess.run([words[0], silence, "-o", str(binary), str(source), *words[1:]], check=True, cwd=WORK)
    return binary


def run_case(program, command, show):
    binary = compile_program(program, command)
    if not binary:
        return None
    flags = command.split()
    tags = {f[1:] for f in flags if f.startswith("-O")} | {"gcc" if "clang" not in flags[0] else "clang"}
    tags |= {"debug" if "-g" in flags else "bare"}
    tags |= {"unroll"} if "-funroll-loops" in flags else set()
    tags |= {"alien"} if "--alien-only" in flags else set()
    exact = "O0" in tags
    slack = (int("O3" in tags), 0 if exact and "alien" not in tags else 99, 3 if exact and "clang" in tags else 0)
    problems = []
    by_name = {}
    options = ["--lines", "--pieces"] + (["--alien-only"] if "alien" in tags else [])
    for structure in structures(binary, *options):
        invariants(structure, problems)
        if "alien" in tags:
            check_flat(structure, problems)
        by_name.setdefault(plain(structure["function"]), structure)
    for wanted in expectations(HERE / "programs" / program, tags):
        structure = by_name.get(wanted.name) or by_name.get(wanted.name.rstrip("_"))
        where = f"{program} [{command}] {wanted.name}"
        if not structure:
            problems.append(f"{where}: not found")
            continue
        before = len(problems)
        if exact and any(scope["kind"] == "loop" and scope["flags"] & 4 for scope in structure["scopes"]):
            problems.append(f"{where}: a loop is marked as vectorised at -O0")
        root = actual(structure)[0]
        if "bare" in tags:
            if shape(wanted) != shape(root):
                problems.append(f"{where}: loops nest as {shape(root)}, expected {shape(wanted)}")
            if program.endswith(".S") and n_irreducible(root) != n_irreducible(wanted):
                problems.append(f"{where}: {n_irreducible(root)} loops are irreducible, expected {n_irreducible(wanted)}")
        else:
            if wanted.line and root.line != wanted.line:
                problems.append(f"{where}: starts at line {root.line}, expected {wanted.line}")
            if wanted.line and not structure["scopes"][0]["file"].endswith(program):
                problems.append(f"{where}: is filed under {structure['scopes'][0]['file']}")
            root.children = look_through(root, names_in(wanted))
            compare(wanted.children, root.children, slack, problems, where)
            check_rules(wanted.rules, structure, program, exact, slack[0], problems, where)
        if show and len(problems) > before:
            print(wanted.show(), actual(structure)[0].show(), sep="--- is\n")
    return problems


def main():
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    cases = list(full()) if "--full" in sys.argv else SHORT
    n_run = n_bad = 0
    for program, command in cases:
        if only not in program:
            continue
        problems = run_case(program, command, "--show" in sys.argv)
        if problems is None:
            print(f"{machines.missing(command)}: {program} left out")
            continue
        n_run += 1
        n_bad += bool(problems)
        for problem in problems:
            print(problem)
    print(f"{n_run} binaries, {n_bad} wrong")
    if not n_run:
        print("skipped: no compiler")
        return 77
    return n_bad > 0


if __name__ == "__main__":
    sys.exit(main())
