#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `cpprof inspect locations` with llvm-symbolizer and addr2line.

For COUNT random instruction starts of each ELF file, the chain of functions (by linkage name) and
the innermost line must be those of at least one of the two. Disagreements are listed by kind.

Neither of the two knows the stubs of a procedure linkage table: llvm-symbolizer gives them the name of the closest symbol
before them (`_init`), addr2line gives none. There, names must be those of objdump, and the entry code of the table has none.
"""
import argparse
import bisect
import itertools
import json
import os
import random
import re
import subprocess
import sys
import time


# Suffixes that number a function's clones: symbols have them, DWARF names do not.
SUFFIX = re.compile(r"(\.(cold|part|isra|constprop|lto_priv|localalias)(\.\d+)?)+$")


def read_symbols(path):
    out = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True).stdout
    ranges = set()
    for line in out.splitlines():
        field = line.split()
        if len(field) >= 8 and field[3] in ("FUNC", "IFUNC") and field[6] != "UND":
            size = int(field[2], 0)
            if size:
                ranges.add((int(field[1], 16), size))
    return sorted(ranges)


def read_aliases(paths):
    """Maps all symbols of one address to one name: constructors C1 and C2, versions, weak aliases."""
    out = subprocess.run(["readelf", "-sW", *paths], capture_output=True, text=True).stdout
    by_address, alias = {}, {}
    for line in out.splitlines():
        field = line.split()
        if len(field) >= 8 and field[3] in ("FUNC", "IFUNC", "NOTYPE") and field[6] != "UND":
            by_address.setdefault(int(field[1], 16), set()).add(field[7].split("@")[0])
    for names in by_address.values():
        for name in names:
            alias.setdefault(name, min(names))
    return alias


def read_stubs(path):
    """Maps the instructions in procedure linkage tables to the stub's name; None for code that is part of no stub."""
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True).stdout
    stubs, in_plt, name = {}, False, None
    for line in out.splitlines():
        section = re.match(r"Disassembly of section (.*):$", line)
        heading = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        instruction = re.match(r" +([0-9a-f]+):", line)
        if section:
            in_plt, name = re.match(r"\.i?plt(\.|$)", section[1]) is not None, None
        elif heading:
            name = heading[1] if heading[1].endswith("@plt") else None
        elif instruction and in_plt:
            stubs[int(instruction[1], 16)] = name
    return stubs


def machine(path):
    with open(path, "rb") as f:
        return int.from_bytes(f.read(20)[18:20], "little")


def instruction_starts(path, symbols, count, rng):
    """Random instruction starts, uniformly distributed over the code of the symbols (AArch64) or over all code (x86-64)."""
    if machine(path) == 183:  # AArch64: instructions have four bytes
        everything = {at for vaddr, size in symbols for at in range((vaddr + 3) & ~3, vaddr + size, 4)}
        return sorted(rng.sample(sorted(everything), min(count, len(everything))))
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True).stdout
    all_starts = []
    for line in out.splitlines():
        head = line.split(":", 1)[0].strip()
        if line.startswith(" ") and head:
            try:
                all_starts.append(int(head, 16))
            except ValueError:
                pass
    return sorted(rng.sample(all_starts, min(count, len(all_starts))))


def ours(cpprof, path, starts, extra):
    text = "".join("0x%x\n" % s for s in starts)
    began = time.monotonic()
    run = subprocess.run([cpprof, "inspect", "locations", "--no-demangle", *extra, path], input=text, capture_output=True, text=True)
    took = time.monotonic() - began
    if run.returncode != 0:
        sys.exit("cpprof failed on %s: %s" % (path, run.stderr))
    result = {}
    for line in run.stdout.splitlines():
        entry = json.loads(line)
        frames = entry["frames"]
        result[int(entry["vaddr"], 16)] = ([f["function"] for f in frames], frames[0]["line"], os.path.normpath(frames[0]["file"] or "?"))
    return result, took


def llvm(path, starts):
    text = "".join("0x%x\n" % s for s in starts)
    began = time.monotonic()
    command = ["llvm-symbolizer", "--obj=" + path, "--no-demangle", "--inlines", "--output-style=JSON"]
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    took = time.monotonic() - began
    result = {}
    for line in run.stdout.splitlines():
        entry = json.loads(line)
        symbols = entry.get("Symbol") or []
        if symbols:
            result[int(entry["Address"], 16)] = ([s["FunctionName"] for s in symbols], symbols[0]["Line"], os.path.normpath(symbols[0]["FileName"] or "?"))
    return result, took


def addr2line(path, starts):
    text = "".join("0x%x\n" % s for s in starts)
    began = time.monotonic()
    run = subprocess.run(["addr2line", "-a", "-f", "-i", "-e", path], input=text, capture_output=True, text=True)
    took = time.monotonic() - began
    result, vaddr, lines = {}, None, run.stdout.splitlines()
    i = 0
    while i < len(lines):
        if lines[i].startswith("0x"):
            vaddr = int(lines[i], 16)
            result[vaddr] = ([], 0, "")
            i += 1
            continue
        name, place = lines[i], lines[i + 1].split(" (discriminator")[0]
        file, _, line = place.rpartition(":")
        chain, first, base = result[vaddr]
        if not chain:
            first, base = int(line) if line.isdigit() else 0, os.path.normpath(file)
        result[vaddr] = (chain + [name], first, base)
        i += 2
    return result, took


def kind_of(mine, theirs):
    if mine[0] != theirs[0]:
        if len(mine[0]) != len(theirs[0]):
            return "depth"
        return "names" if mine[0][:-1] != theirs[0][:-1] else "outermost name"
    return "line" if mine[1] != theirs[1] else "file"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpprof", required=True)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--least", type=float, default=99.9, help="percent that must agree")
    parser.add_argument("--show", type=int, default=5)
    parser.add_argument("--option", action="append", default=[], help="for cpprof")
    parser.add_argument("--symbols-from", help="file with the symbols, if ELF is stripped")
    parser.add_argument("--peers-on", help="file with the same code that the other tools read instead: they do not support dwz files")
    parser.add_argument("elf", nargs="+")
    args = parser.parse_args()
    failed = False
    for path in args.elf:
        rng = random.Random(args.seed)
        symbols = read_symbols(args.symbols_from or path)
        starts = instruction_starts(path, symbols, args.count, rng)
        mine, t_mine = ours(args.cpprof, path, starts, args.option)
        other, t_llvm = llvm(args.peers_on or path, starts)
        third, t_addr = addr2line(args.peers_on or path, starts)
        unlike, kinds = [], {}
        aliases = read_aliases([p for p in (path, args.symbols_from) if p])
        stubs = read_stubs(path)
        ends = list(itertools.accumulate((vaddr + size for vaddr, size in symbols), max))
        nameless = re.compile(r"(\?\?|%s\+0x[0-9a-f]+)?$" % re.escape(os.path.basename(path)))

        def plain(answer):
            last = SUFFIX.sub("", answer[0][-1].split("@")[0]) if answer[0] else ""
            file = answer[2] if answer[1] and not answer[2].startswith("?") else "?"
            inlined = ["" if name == "??" else name for name in answer[0][:-1]]
            return inlined, aliases.get(last, last), answer[1], file

        def same(a, b):
            # The other tools prepend a relative compilation directory twice.
            return a[:3] == b[:3] and (a[3] == b[3] or b[3].endswith("/" + a[3]))

        def without_name(s, answer):
            # Code outside all symbols, such as padding, has no name: all tools say so, each in its way.
            at = bisect.bisect_right(symbols, (s, 1 << 64))
            unnamed = (at == 0 or ends[at - 1] <= s) and len(answer[0]) == 1 and nameless.match(answer[0][0])
            return ([""], answer[1], answer[2]) if unnamed else answer

        for s in starts:
            if s in stubs:
                peers = [([stubs[s] or ""], 0, "?")]
                agrees = without_name(s, mine[s]) == peers[0]
            else:
                peers = [p[s] for p in (other, third) if s in p]
                agrees = any(same(plain(without_name(s, mine[s])), plain(without_name(s, p))) for p in peers)
            if agrees:
                continue
            kind = kind_of(mine[s], peers[0]) if peers else "no peer"
            kinds[kind] = kinds.get(kind, 0) + 1
            unlike.append((kind, s, mine[s], peers))
        percent = 100.0 * (len(starts) - len(unlike)) / max(1, len(starts))
        with_inlines = sum(len(m[0]) > 1 for m in mine.values())
        print("%-40s %6d addresses  %7.3f %% agree  (%d in inlined code, %d in stubs)  cpprof %.2f s, llvm %.2f s, addr2line %.2f s  %s" % (
            os.path.basename(path), len(starts), percent, with_inlines, sum(s in stubs for s in starts), t_mine, t_llvm, t_addr, kinds or ""))
        shown = {}
        for kind, s, m, peers in unlike:
            shown[kind] = shown.get(kind, 0) + 1
            if shown[kind] <= args.show:
                print("  0x%x %s\n    cpprof %s" % (s, kind, m))
                for p in peers:
                    print("    peer   %s" % (p,))
        failed = failed or percent < args.least or not starts
    sys.exit(1 if failed else 0)


main()
