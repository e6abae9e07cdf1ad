#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares loops with natural loops found independently: every header must be in a loop that `cpprof struct` shows. In a
file without lines, where no loops can be merged as copies, it must be the header of a separate loop, also inside a region
with several entries.

usage: natural.py [--list] ELF...     (CPPROF in the environment)

Instructions are objdump's, functions are given by symbols and unwind entries, blocks end at branches, dominators are found by
iteration (Cooper, Harvey, Kennedy). Jump tables are not followed: this leaves out edges but never adds any, so every loop
found here is real. A call of a function that does not return ends a block; these functions are known by name.
"""
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))
import machines  # noqa: E402

CPPROF = os.environ.get("CPPROF", "cpprof")
NO_RETURN = re.compile(
    r"<(abort|_?exit|_Exit|__assert\w*|__stack_chk_fail|__chk_fail|__fortify_fail|__libc_fatal|__libc_message|_Unwind_Resume|__cxa_\w*throw\w*|"
    r"__cxa_bad\w*|__cxa_call_unexpected|_ZSt\d+__throw\w*|_ZSt9terminatev|__clang_call_terminate|longjmp|siglongjmp|__longjmp\w*|_dl_signal_\w+|_dl_fatal\w*|__pthread_unwind\w*|"
    r"pthread_exit|__GI___\w*fail\w*|__GI_abort|__GI_exit|__GI__exit|__malloc_assert|malloc_printerr|__GI___libc_fatal|"
    r"__GI__dl_signal\w+|\w*fatal\w*|\w*_error_exit|\w*panic\w*|_Z11fancy_abort\w*|_Z14internal_error\w*)(@[^>]*)?>")
CONDITIONAL = re.compile(r"^(b\.\w+|cbn?z|tbn?z|j(?!mp)\w+|loop\w*|jrcxz|jecxz)$")
ALWAYS = {"b", "jmp", "br", "braa", "brab", "braaz", "brabz", "ret", "retaa", "retab", "repz ret", "bnd jmp", "ud2", "udf", "brk", "hlt", "eret"}


def has_all_machines():
    """Does the objdump without a prefix support both?"""
    formats = subprocess.run(["objdump", "-i"], capture_output=True, text=True).stdout
    return "elf64-littleaarch64" in formats and "elf64-x86-64" in formats


def tool_for(elf):
    """An objdump that supports the machine; None if there is none."""
    with open(elf, "rb") as file:
        machine = int.from_bytes(file.read(20)[18:20], "little")
    name = {183: "aarch64", 62: "x86_64"}[machine]
    own = machines.tool(name, "objdump")
    return own if shutil.which(own) else "objdump" if has_all_machines() else None


def read_starts(elf):
    """Where unwind entries start."""
    out = subprocess.run(["readelf", "--debug-dump=frames", elf], capture_output=True, text=True, errors="replace").stdout
    return {int(start, 16) for start in re.findall(r" FDE .*pc=([0-9a-f]+)\.\.", out)}


def read_functions(elf):
    """(name, [(address, mnemonic, operands)]) of every function that has a symbol or an unwind entry."""
    starts = read_starts(elf)
    out = subprocess.Popen([tool_for(elf), "-d", "--no-show-raw-insn", "-w", elf], stdout=subprocess.PIPE, text=True, errors="replace").stdout
    name, insns = None, []
    for line in out:
        head = re.match(r"^([0-9a-f]+) <(.+)>:$", line)
        if head:
            if insns:
                yield name, insns
            name, insns = head[2], []
            continue
        row = re.match(r"^\s*([0-9a-f]+):\s+((?:notrack |bnd |rep[nz]* |lock )*\S+)\s*(.*)$", line)
        if row and insns and int(row[1], 16) in starts:
            yield name, insns
            insns = []
        if row and name and "(bad)" not in line and not row[2].startswith("."):
            insns.append((int(row[1], 16), row[2].replace("notrack ", ""), row[3].strip()))
    if insns:
        yield name, insns


def target_of(operands):
    """The target of a direct branch."""
    found = re.search(r"(?:^|[ ,])(?:0x)?([0-9a-f]+) <", operands)
    return int(found[1], 16) if found else None


def make_graph(insns):
    """Blocks by their first instruction, and the successors of each."""
    at = {address: index for index, (address, _, _) in enumerate(insns)}
    leaders = {0}
    for index, (_, mnemonic, operands) in enumerate(insns):
        is_branch = CONDITIONAL.match(mnemonic)
        if is_branch or mnemonic in ALWAYS:
            leaders.add(index + 1)
            target = target_of(operands)
            if target in at and (is_branch or mnemonic in ("b", "jmp", "bnd jmp")):
                leaders.add(at[target])
        elif NO_RETURN.search(operands) and mnemonic.startswith(("call", "bl", "bnd call")):
            leaders.add(index + 1)
    starts = sorted(leader for leader in leaders if leader < len(insns))
    edges = {}
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(insns)
        _, mnemonic, operands = insns[end - 1]
        to, target = [], at.get(target_of(operands))
        if CONDITIONAL.match(mnemonic) or mnemonic in ("b", "jmp", "bnd jmp"):
            to += [target] if target is not None else []
        stops = mnemonic in ALWAYS or (NO_RETURN.search(operands) and mnemonic.startswith(("call", "bl", "bnd call")))
        if not stops and end < len(insns):
            to.append(end)
        edges[start] = to
    return edges


def find_headers(edges):
    """Targets of edges from blocks that they dominate."""
    order, seen, stack = [], {0}, [(0, iter(edges[0]))]
    while stack:
        block, rest = stack[-1]
        for to in rest:
            if to not in seen:
                seen.add(to)
                stack.append((to, iter(edges[to])))
                break
        else:
            order.append(block)
            stack.pop()
    order.reverse()
    rank = {block: number for number, block in enumerate(order)}
    before = {block: [] for block in order}
    for block in order:
        for to in edges[block]:
            before[to].append(block)
    dominator, changed = {0: 0}, True
    while changed:
        changed = False
        for block in order[1:]:
            best = None
            for other in before[block]:
                if other not in dominator:
                    continue
                if best is None:
                    best = other
                    continue
                a, b = best, other
                while a != b:
                    while rank[a] > rank[b]:
                        a = dominator[a]
                    while rank[b] > rank[a]:
                        b = dominator[b]
                best = a
            if dominator.get(block) != best:
                dominator[block], changed = best, True
    headers = set()
    for block in order:
        for to in edges[block]:
            above = block
            while above != to and above != 0:
                above = dominator[above]
            if above == to:
                headers.add(to)
    return headers


def shown_loops(elf):
    """Sorted [start, end) of code in loops; starts of functions; headers of the loops, None if loops have lines."""
    out = subprocess.run([CPPROF, "struct", "--no-cache", "--format", "json", elf], capture_output=True, text=True, check=True).stdout
    loops, functions, heads, has_lines = [], set(), set(), False
    for line in out.splitlines():
        structure = json.loads(line)
        if "scopes" not in structure:
            continue
        scopes = structure["scopes"]
        functions.add(scopes[0]["vaddr"])
        inside = [False] * len(scopes)
        for index, scope in enumerate(scopes):
            inside[index] = scope["kind"] == "loop" or (index > 0 and inside[scope["parent"]])
        loops += [(start, start + length) for start, length, scope in structure["ranges"] if inside[scope]]
        own = [scope["vaddr"] for scope in scopes if scope["kind"] == "loop"]
        loops += [(header, header + 1) for header in own]
        heads.update(own)
        has_lines = has_lines or any(scope["line"] for scope in scopes)
    return sorted(loops), functions, None if has_lines else heads


def check_elf(elf, lists):
    loops, functions, heads = shown_loops(elf)
    n_headers = n_functions = 0
    missing, covered, at = [], [], 0
    for name, insns in read_functions(elf):
        if insns[0][0] not in functions:
            continue
        n_functions += 1
        covered += [(insns[header][0], name) for header in find_headers(make_graph(insns))]
    n_headers = len(covered)
    ends = 0
    for address, name in sorted(covered):
        while at < len(loops) and loops[at][0] <= address:
            ends = max(ends, loops[at][1])
            at += 1
        if address >= ends or (heads is not None and address not in heads):
            missing.append((address, name))
    what = "in no loop that is shown" if heads is None else "that are not the header of a loop"
    print(f"{elf}: {n_functions} functions, {n_headers} headers of natural loops, {len(missing)} {what}")
    for address, name in missing if lists else missing[:10]:
        print(f"  {address:#x} in {name}")
    return n_headers, len(missing)


def main():
    elves = [word for word in sys.argv[1:] if word != "--list" and os.path.exists(word)]
    for elf in [elf for elf in elves if not tool_for(elf)]:
        print(f"no objdump for the architecture of {elf}: left out")
        elves.remove(elf)
    if not elves:
        print("skipped: none of these files exists and can be disassembled")
        return 77
    results = [check_elf(elf, "--list" in sys.argv) for elf in elves]
    n_headers, n_missing = (sum(column) for column in zip(*results))
    return 1 if n_missing or not n_headers else 0


if __name__ == "__main__":
    sys.exit(main())
