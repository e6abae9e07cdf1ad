#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof paths -i`: execution paths from branch records. The records are synthetic: generated from the control flow of
bursts/ratio.c with random branches, so that the true shares are known. Also for the other architecture, if a cross compiler is installed.
usage: branches.py; needs CPPROF and SOURCE in the environment."""
import bisect
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["SOURCE"], "tests", "support"))
import machines  # noqa: E402

CPPROF = os.environ["CPPROF"]
SOURCE = os.path.join(os.environ["SOURCE"], "tests", "e2e", "bursts", "ratio.c")
SAMPLES, DEPTH, SHARE = 400, 32, 0.25
IP, TID, TIME, BRANCH_STACK = 1, 2, 4, 1 << 11
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def graph(name, program):
    """The basic blocks of a function by start address: end, calls, edges by kind."""
    text = subprocess.run([CPPROF, "inspect", "cfg", "--function", name, program], capture_output=True, text=True, check=True).stdout
    blocks, block = {}, None
    for line in text.splitlines()[1:]:
        if re.match(r"  [0-9a-f]+-", line):
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            block = blocks[start] = {"end": end, "calls": [], "edges": {}}
        elif found := re.match(r"    call at (\w+) of (\w+)", line):
            block["calls"].append((int(found[1], 16), int(found[2], 16)))
        elif found := re.match(r"    (\S+) -> (\w+)", line):
            block["edges"][found[1]] = int(found[2], 16)
    return blocks


def rounds(program, objdump):
    """Generates the taken branches of successive iterations of main's loop, as (from, to, which path ends here or None)."""
    listing = subprocess.run([objdump, "-d", program], capture_output=True, text=True, check=True).stdout
    insns = sorted(int(found[1], 16) for found in re.finditer(r"^\s+([0-9a-f]+):\t", listing, re.M))
    last = lambda end: insns[bisect.bisect_left(insns, end) - 1]
    behind = lambda at: insns[bisect.bisect_right(insns, at)]
    choose, main = graph("choose", program), graph("main", program)
    entry = min(choose)
    start, loop = next((at, b) for at, b in main.items() if b["edges"].get("taken") == at and b["calls"] and b["calls"][0][1] == entry)
    call = loop["calls"][0][0]
    rare = None
    while True:
        yield call, entry, None
        at, choice = entry, random.random() < SHARE
        while choose[at]["edges"]:
            edges, end = choose[at]["edges"], last(choose[at]["end"])
            if "taken" in edges:
                rare = rare or (edges["taken"], edges["not-taken"])
                if not choice:
                    yield end, edges["taken"], None
                at = edges["not-taken"] if choice else edges["taken"]
            elif "jump" in edges:
                yield end, edges["jump"], None
                at = edges["jump"]
            else:
                at = edges["next"]
        yield last(choose[at]["end"]), behind(call), choice
        yield last(loop["end"]), start, None


def record(kind, body):
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body


def write_file(path, program, machine, base, size):
    """Writes a perf.data with one mapping and samples with branch stacks; returns the true share."""
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, IP | TID | TIME | BRANCH_STACK, 0, 1 << 5 | 1 << 18).ljust(128, b"\0")
    attr = attr[:72] + struct.pack("<Q", 8) + attr[80:]  # branch_sample_type: any
    attr = attr[:8] + struct.pack("<Q", 0) + attr[16:]
    name = os.path.abspath(program).encode() + b"\0"
    name = name.ljust((len(name) + 7) // 8 * 8, b"\0")
    data = record(3, struct.pack("<II", 100, 100) + b"ratio\0\0\0" + struct.pack("<IIQ", 100, 100, 1))
    data += record(1, struct.pack("<IIQQQ", 100, 100, base, size, 0) + name + struct.pack("<IIQ", 100, 100, 2))
    draw, stack, rare, all_ways = rounds(program, machine), [], 0, 0
    for sample in range(SAMPLES):
        for _ in range(random.randrange(DEPTH, 3 * DEPTH)):
            taken = next(draw)
            stack = [taken, *stack[:DEPTH - 1]]
        body = struct.pack("<QIIQ", stack[0][1], 100, 100, 10 + sample) + struct.pack("<Q", len(stack))
        body += b"".join(struct.pack("<QQQ", *entry[:2], 0) for entry in stack)
        data += record(9, body)
        left = [entry[2] for entry in stack if entry[2] is not None]
        rare, all_ways = rare + sum(left), all_ways + len(left)
    arch = machine_name(program).encode()
    arch = struct.pack("<I", (len(arch) + 64) // 64 * 64) + arch.ljust((len(arch) + 64) // 64 * 64, b"\0")
    at = 104 + 144
    head = b"PERFILE2" + struct.pack("<QQQQQQQQQ", 104, 144, 104, 144, at, len(data), 0, 0, 1 << 6) + b"\0" * 24
    with open(path, "wb") as file:
        file.write(head + attr + struct.pack("<QQ", 0, 0) + data + struct.pack("<QQ", at + len(data) + 16, len(arch)) + arch)
    return rare / all_ways


def machine_name(program):
    return {183: "aarch64", 62: "x86_64"}[struct.unpack_from("<H", open(program, "rb").read(20), 18)[0]]


def segment(program):
    """Address, offset and size of the code segment of a non-PIE file."""
    data = open(program, "rb").read()
    offset, size, n = *struct.unpack_from("<Q", data, 32), *struct.unpack_from("<HH", data, 54)
    for i in range(n):
        kind, flags, at, vaddr, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        if kind == 1 and flags & 1:
            return vaddr, at, length
    return None


def compare(compiler, objdump):
    subprocess.run([compiler, "-O1", "-g", "-no-pie", "-o", "ratio", SOURCE], check=True)
    vaddr, offset, length = segment("ratio")
    share = write_file("perf.data", "ratio", objdump, vaddr - offset, (length + offset + 4095) // 4096 * 4096)
    ran = subprocess.run([CPPROF, "paths", "-i", "perf.data", "--format", "json"], capture_output=True, text=True)
    what = f"{compiler}:"
    check(what + " paths -i", ran.returncode == 0, ran.stderr)
    found = {f["name"]: f for f in json.loads(ran.stdout)["functions"]} if ran.stdout.startswith("{") else {}
    ways = sorted(found.get("choose", {"ways": []})["ways"], key=lambda way: way["count"])
    check(what + " two paths through the function, one around the loop", len(ways) == 2 and len(found.get("main", {"ways": []})["ways"]) == 1,
          ran.stdout[:500])
    if len(ways) == 2:
        counted = ways[0]["count"] / found["choose"]["total"]
        check(what + " enough paths were counted", found["choose"]["total"] > SAMPLES, str(found["choose"]["total"]))
        check(what + " the shares match the records", abs(counted - share) < 0.04, f"{counted} {share}")
        check(what + " the interval contains the true share", ways[0]["share_low"] <= share <= ways[0]["share_high"] or abs(counted - share) < 0.02, str(ways[0]))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = folder
    random.seed(7)
    compare("gcc", "objdump")
    other = [machines.tool(machines.OTHER, name) for name in ("gcc", "objdump")]
    reasons = [reason for reason in map(machines.missing, other) if reason]
    if reasons:
        print(f"skipped: {reasons[0]}")
    else:
        compare(*other)
    ran = subprocess.run([CPPROF, "paths", "-i", "ratio"], capture_output=True, text=True)
    check("a file that is not a recording is refused", ran.returncode == 1, ran.stderr)
print(f"{passed} checks passed, {failed} failed")
sys.exit(1 if failed else 0)
