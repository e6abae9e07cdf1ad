#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same program under perf and under cpprof: every function with at least 2 % in either has the same share in both,
within four standard errors of the difference."""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

CPPROF = os.environ["CPPROF"]
PROGRAM = [os.path.join(os.environ["BUILD"], "tests", "e2e", "shares"), "12000"]


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def perf_shares():
    done = subprocess.run(["perf", "record", "-q", "-F", "997", "-e", "cpu-clock:u", "-o", "perf.data", *PROGRAM], capture_output=True, text=True)
    if done.returncode:
        skip("perf record: " + done.stderr.strip()[-100:])
    text = subprocess.run(["perf", "report", "-i", "perf.data", "--stdio", "--no-children", "-F", "sample,dso,symbol", "-t", "|"],
                          capture_output=True, text=True).stdout
    counts = {}
    for line in text.splitlines():
        match = re.match(r"^\s*(\d+)\s*\|\s*(\S+)\s*\|\[\.\] (.*?)\s*$", line)
        if match and match[2] == "shares":
            counts[match[3]] = counts.get(match[3], 0) + int(match[1])
        elif match:
            counts["[" + match[2] + "]"] = counts.get("[" + match[2] + "]", 0) + int(match[1])
    return counts


def cpprof_shares():
    done = subprocess.run([CPPROF, "record", "-q", "-F", "997", "-e", "cpu-clock", "--all-user", "-o", "c.data", "--", *PROGRAM], capture_output=True, text=True)
    if done.returncode in (3, 5):
        skip("cpprof: " + done.stderr.strip()[-100:])
    out = subprocess.run([CPPROF, "export", "c.data", "-f", "top", "--no-inlines", "--no-loops", "--metric", "samples"], capture_output=True, text=True)
    counts = {}
    for row in json.loads(out.stdout):
        if row["kind"] != "function" or not row["self"]:
            continue
        name = row["function"] if row["module"] == "shares" else "[" + row["module"] + "]"
        counts[name] = counts.get(name, 0) + row["self"]
    return counts


def main():
    if not shutil.which("perf"):
        skip("perf is not installed")
    place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    os.chdir(place.name)
    theirs, ours = perf_shares(), cpprof_shares()
    n, m = sum(theirs.values()), sum(ours.values())
    if not n:
        skip("perf has no samples")
    passed = failed = 0
    for name in sorted(set(theirs) | set(ours)):
        p, q = theirs.get(name, 0) / n, ours.get(name, 0) / m
        if max(p, q) < .02 or name in ("_init", "[[unknown]]") or name.endswith("@plt"):  # stubs: perf names them inconsistently
            continue
        pooled = (theirs.get(name, 0) + ours.get(name, 0)) / (n + m)
        error = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
        ok = abs(p - q) <= 4 * error
        passed, failed = passed + ok, failed + (not ok)
        if not ok:
            print(f"FAILED: {name}: perf {100 * p:.2f} %, cpprof {100 * q:.2f} %, four standard errors {400 * error:.2f} %")
    if passed + failed < 3:
        print(f"FAILED: only {passed + failed} functions to compare")
        failed += 1
    print(f"tally: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
