#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the cost of parallel regions, with regions joined to the code that started them and as their threads ran them.

usage: joined.py     (CPPROF and SOURCE in the environment)

shared_work.c measures the time of its threads in each loop. With and without --no-join, the share of each loop in the samples
must be within its confidence interval. Joined, all of it is below `small`, `large` and `slope`, most of it below `large`
(how much is an estimate), and no region is left in the threads' own stacks; not joined, workers' regions are below the
threads' start functions.
"""
import base64
import json
import math
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

CPPROF = os.environ.get("CPPROF", "cpprof")
SOURCE = Path(__file__).parent / "shared_work.c"
LOOPS = ["even", "handed_out", "slope"]
SIGMAS = 5  # standard deviations of the count


def loop_lines():
    """{line: name}; clang gives a loop the line of its pragma, with GCC only its body has code."""
    lines = {}
    for number, text in enumerate(SOURCE.read_text().splitlines(), 1):
        mark = re.search(r"// (\w+)$", text)
        if mark and mark[1] in LOOPS:
            lines.update(dict.fromkeys(range(number - 1, number + 2), mark[1]))
    return lines


def read_tree(*options):
    out = subprocess.run([CPPROF, "report", "--no-pager", "--view", "tree", "--percent-limit", "0", "--format", "json", *options, "joined.data"],
                         capture_output=True, text=True, check=True).stdout
    return json.loads(out)["rows"]


def place_of(rows, row, lines):
    """The loop of the program that contains a row, and the functions around it."""
    loop, around = None, []
    while row >= 0:
        if rows[row]["kind"] == "loop" and rows[row]["file"].endswith("shared_work.c") and rows[row]["line"] in lines:
            loop = lines[rows[row]["line"]]
        around.append(rows[row]["name"])
        row = rows[row]["parent"]
    return loop, around


def add_up(rows, lines):
    """Samples by loop, by loop and context, and whether there are regions below a thread's start."""
    loops, contexts, is_split = dict.fromkeys(LOOPS, 0), {"small": 0, "large": 0, "none": 0}, False
    for index, row in enumerate(rows):
        if not row["self_samples"]:
            continue
        loop, around = place_of(rows, index, lines)
        if not loop:
            continue
        loops[loop] += row["self_samples"]
        context = next((name for name in around if name in ("small", "large")), "none")
        if loop != "slope":
            contexts[context] += row["self_samples"]
        is_split |= "main" not in around
    return loops, contexts, is_split


def check_loops(what, loops, truth, problems):
    n, whole = sum(loops.values()), sum(truth[name] for name in LOOPS)
    for name in LOOPS:
        share, want = loops[name] / n, truth[name] / whole
        room = SIGMAS * math.sqrt(want * (1 - want) / n) + 1 / n
        print(f"  {what}: {name} {share:.1%}, measured {want:.1%} +- {room:.1%}, {n} samples")
        if abs(share - want) > room:
            problems.append(f"{what}: {name} has {share:.1%} of the samples, {want:.1%} of the time")


def check_view(lines, problems):
    """The loops view shows the shares of threads in a loop and the hottest line; HTML shows the same."""
    out = subprocess.run([CPPROF, "report", "--no-pager", "--view", "loops", "--format", "json", "joined.data"],
                         capture_output=True, text=True, check=True).stdout
    slope = [row for row in json.loads(out)["rows"] if row["file"].endswith("shared_work.c") and lines.get(row["line"]) == "slope"]
    if not slope or slope[0]["threads"] != 3 or not slope[0]["thread_min"] < slope[0]["thread_mean"] < slope[0]["thread_max"]:
        problems.append(f"the loops view does not show the threads of slope: {slope}")
    elif "imbalance" not in slope[0]["doubts"]:
        problems.append(f"the imbalance of slope is not reported: {slope[0]}")
    text = subprocess.run([CPPROF, "report", "--no-pager", "--view", "loops", "joined.data"], capture_output=True, text=True, check=True).stdout
    if not re.search(r"hottest line shared_work.c:\d+, [\d.]+%: x = x \* 0.999", text):
        problems.append("the loops view shows no line of source")
    subprocess.run([CPPROF, "report", "--html", "joined.html", "joined.data"], capture_output=True, check=True)
    page = Path("joined.html").read_text()
    meta = json.loads(zlib.decompress(base64.b64decode(re.search(r'id="block-meta">([^<]*)<', page)[1]), -15))
    told = list(meta["remarks"].values())
    if not any("parallel region at" in label and facts == "joined" for label, facts in told) or not any("imbalance" in facts for _, facts in told):
        problems.append(f"the HTML report does not show them: {told}")


def run_compiler(compiler):
    if not shutil.which(compiler):
        return None
    made = subprocess.run([compiler, "-O2", "-g", "-fopenmp", "-o", "shared_work", SOURCE], capture_output=True, text=True)
    if made.returncode:
        print(f"{compiler} has no OpenMP here")
        return None
    environment = dict(os.environ, OMP_NUM_THREADS="3", OMP_WAIT_POLICY="passive", KMP_BLOCKTIME="0", GOMP_SPINCOUNT="0")
    run = subprocess.run([CPPROF, "record", "-q", "-o", "joined.data", "--", "./shared_work", "1"], capture_output=True, text=True, env=environment)
    if run.returncode == 3:
        print("skipped: profiling is not permitted here")
        sys.exit(77)
    truth = {name: int(value) for name, value in (line.split() for line in run.stdout.splitlines())}
    problems, lines = [], loop_lines()
    joined, contexts, is_split = add_up(read_tree(), lines)
    check_loops("joined", joined, truth, problems)
    alone, _, is_split_alone = add_up(read_tree("--no-join"), lines)
    check_loops("not joined", alone, truth, problems)
    if joined != alone:
        problems.append(f"joining changes the cost of loops: {joined}, {alone}")
    if is_split or contexts["none"]:
        problems.append("a region is left below a thread's start")
    if not is_split_alone:
        problems.append("--no-join joins")
    check_view(lines, problems)
    share, want = contexts["large"] / (contexts["small"] + contexts["large"]), truth["large"] / (truth["small"] + truth["large"])
    print(f"  below large: {share:.1%}, measured {want:.1%}")
    if not 0.5 < share < 1:
        problems.append(f"{share:.1%} is below large, expected {want:.1%}")
    return problems


def main():
    ran = failed = False
    for compiler in ("gcc", "clang"):
        print(f"{compiler}:")
        problems = run_compiler(compiler)
        ran |= problems is not None
        for problem in problems or []:
            print(f"  wrong: {problem}")
            failed = True
    if not ran:
        print("skipped: no compiler with OpenMP")
        return 77
    return failed


if __name__ == "__main__":
    sys.exit(main())
