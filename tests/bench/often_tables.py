#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints call counts, path counts and cycles of one function of a command as rows of three tables of docs/often.md: calling
contexts (Ammons, Ball, Larus 1997, Table 3), paths (Table 4), where the cycles went (Anderson et al. 1997, Figure 4).
usage: often_tables.py NAME FUNCTION COMMAND [ARGUMENTS]; needs CPPROF in the environment."""
import json
import os
import subprocess
import sys
import tempfile

CPPROF = os.environ["CPPROF"]


def run(*words):
    return subprocess.run([CPPROF, *words], capture_output=True, text=True, check=True).stdout


def contexts(name, document):
    """Statistics of the tree of functions, without inlined calls, loops and lines."""
    nodes, kind = document["nodes"], document["frames"]["kind"]
    is_function = [kind[frame] == "function" for frame in nodes["frame"]]
    outer, depth, children, copies, sites = {}, {0: 0}, {}, {}, {}
    for node, parent in enumerate(nodes["parent"]):
        while parent > 0 and not is_function[parent]:
            parent = nodes["parent"][parent]
        if not is_function[node]:
            continue
        outer[node] = parent
        depth[node] = depth.get(parent, 0) + 1
        children[parent] = children.get(parent, 0) + 1
        copies[nodes["frame"][node]] = copies.get(nodes["frame"][node], 0) + 1
        sites.setdefault(nodes["call_addr"][node], set()).add(parent)
    leaves = [node for node in outer if node not in children]
    one = sum(len(parents) == 1 for parents in sites.values())
    print(f"| {name} | {len(outer)} | {sum(children.values()) / max(1, len(children)):.1f} | "
          f"{sum(depth[leaf] for leaf in leaves) / max(1, len(leaves)):.1f} / {max(depth.values())} | {max(copies.values())} | "
          f"{len(sites)} | {100 * one / max(1, len(sites)):.0f} % |")


def ways(name, function, counted, cycles):
    found = next(f for f in counted["functions"] if f["vaddr"])
    insns = sum(w["count"] * w["instructions"] for w in cycles["ways"])
    time = sum(w["spent"] for w in cycles["ways"]) or 1
    hot = [w for w in cycles["ways"] if w["spent"] >= 0.01 * time]

    def part(some):
        return f"{len(some)}, {100 * sum(w['count'] * w['instructions'] for w in some) / insns:.0f} %, " \
               f"{100 * sum(w['spent'] for w in some) / time:.0f} %"

    dense, sparse = [w for w in hot if w["dense"]], [w for w in hot if not w["dense"]]
    cold = [w for w in cycles["ways"] if w["spent"] < 0.01 * time]
    print(f"| {name}, {function} | {found['possible']} | {len(cycles['ways'])} | {part(dense)} | {part(sparse)} | {part(cold)} |")


def losses(name, function, cycles):
    blocks = [b for b in cycles["blocks"] if b["samples"] and b.get("best") and "executions" in b]
    all_cycles = sum(b["spent"] for b in cycles["blocks"])
    lost = {id(b): max(0, b["spent"] - b["executions"] * b["best"]) for b in blocks}
    total = sum(lost.values())
    by = {}
    for block in blocks:
        for culprit in block["possible"]:
            by[culprit] = by.get(culprit, 0) + lost[id(block)]
    words = "; ".join(f"{culprit} {100 * cost / all_cycles:.0f} %" for culprit, cost in sorted(by.items(), key=lambda x: -x[1]))
    print(f"| {name}, {function} | {100 * (1 - total / all_cycles):.0f} % | {100 * total / all_cycles:.0f} % | {words or '-'} |")


def main():
    name, function, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        at = lambda file: os.path.join(folder, file)
        run("record", "-o", at("data"), "--", *command)
        run("paths", "-f", function, "--format", "json", "-o", at("counts"), "--", *command)
        cycles = json.loads(run("annotate", "--cycles", "--format", "json", "--counts", at("counts"), at("data"), function))
        contexts(name, json.loads(run("export", "--format", "json", at("data"))))
        ways(name, function, json.load(open(at("counts"))), cycles)
        losses(name, function, cycles)


main()
