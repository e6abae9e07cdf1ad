#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Function starts and recipes of Debian's busybox and gdb for amd64 with symbols and unwind entries hidden, on any machine.

In busybox (static, -Os) the function starts that are found must be right. In gdb, the code must have the same recipes as
with known functions, except in landing pads: code reached only from them runs when an exception is caught, which
needs unwind entries in the file.
Usage: starts_amd64.py FOLDER
"""
import bisect
import json
import os
import re
import subprocess
import sys

CPPROF = os.environ.get("CPPROF", "cpprof")
SOURCE = os.environ["SOURCE"]


def output(*command):
    return subprocess.run([CPPROF, *command], stdout=subprocess.PIPE, check=True, text=True).stdout


def read_rows(path, *options):
    """(addresses at which recipes begin, the CFA of each)"""
    rows = {}
    for line in output("inspect", "recipes", *options, path).splitlines():
        row = re.match(r"  ([0-9a-f]+) (\S+)", line)
        if row:
            rows[int(row[1], 16)] = row[2]
    places = sorted(rows)
    return places, [rows[place] for place in places]


def row_at(rows, place):
    index = bisect.bisect_right(rows[0], place) - 1
    return rows[1][index] if index >= 0 else None


def read_blocks(path):
    """(blocks: start -> (end, successors without landing pads), starts of functions)"""
    blocks, heads, current = {}, [], None
    for line in output("inspect", "cfg", path).splitlines():
        block = re.match(r"  ([0-9a-f]+)-([0-9a-f]+) ", line)
        edge = re.match(r"    (\S+) -> ([0-9a-f]+)", line)
        if not line.startswith(" "):
            heads.append(int(line.split()[0], 16))
        elif block:
            current = int(block[1], 16)
            blocks[current] = (int(block[2], 16), [])
        elif edge and edge[1] != "landing-pad":
            blocks[current][1].append(int(edge[2], 16))
    return blocks, heads


def reached(blocks, heads):
    seen, todo = set(), list(heads)
    while todo:
        block = todo.pop()
        if block in blocks and block not in seen:
            seen.add(block)
            todo += blocks[block][1]
    return seen


def check_starts(path):
    starts = json.loads(output("verify", "recipes", "--json", "--no-starts", "--no-dynamic", path))["starts"]
    print("%s: %.2f %% of the starts found, %.2f %% of what was found are starts" %
          (path, 100 * starts["recall"], 100 * starts["precision"]))
    return starts["recall"] >= 0.99 and starts["precision"] >= 0.99


def check_recipes(path):
    known, hidden = read_rows(path), read_rows(path, "--no-starts")
    blocks, heads = read_blocks(path)
    ordinary = reached(blocks, heads)
    places = sorted({*known[0], *hidden[0]})
    size, differ = [0, 0], [0, 0]  # bytes: in landing pads, elsewhere
    for start, (end, _) in blocks.items():
        is_ordinary = start in ordinary
        inside = [start, *places[bisect.bisect_right(places, start):bisect.bisect_left(places, end)], end]
        for here, behind in zip(inside, inside[1:]):
            size[is_ordinary] += behind - here
            if row_at(known, here) != row_at(hidden, here):
                differ[is_ordinary] += behind - here
    share = [100 - 100 * differ[i] / max(size[i], 1) for i in range(2)]
    print("%s: %d bytes of code, %.4f %% with the correct recipe; %d of landing pads, %.2f %%" %
          (path, size[1], share[1], size[0], share[0]))
    return size[1] > 1000000 and share[1] >= 99.99


def main():
    folder = sys.argv[1]
    log = subprocess.run([SOURCE + "/tests/cross/sysroot.sh", "amd64", folder, "gdb", "busybox-static"], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    if log.returncode:
        print("skipped: the amd64 programs cannot be downloaded:", log.stdout.strip().splitlines()[-1])
        return 77
    results = [check_starts(folder + "/bin/busybox"), check_recipes(folder + "/usr/bin/gdb")]
    return 0 if all(results) else 1


sys.exit(main())
