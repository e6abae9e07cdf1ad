#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the reports of waits (off-cpu.json, wall.json, waits.json, kinds.json) with what the program measured itself.

usage: waits.py TRUTH STOLEN     (ms that the host may have taken from the program, which then counts them as a wait)
"""
import json
import sys

KINDS = {"sleep_here": "sleep", "lock_here": "futex", "read_here": "pipe", "poll_here": "poll"}


def totals(metric):
    rows = json.load(open(metric + ".json"))["rows"]
    found = {}
    for row in rows:
        if row["name"] in WANTED:
            found[row["name"]] = found.get(row["name"], 0) + row["total"]
    return found


def check(what, is_right):
    if not is_right:
        sys.exit("wrong: " + what)


truth = {name: (float(waited), float(took)) for name, waited, took in map(str.split, open(sys.argv[1]))}
WANTED, stolen = set(truth), float(sys.argv[2])
off_cpu, wall, waits = totals("off-cpu"), totals("wall"), totals("waits")
kinds = json.load(open("kinds.json"))["rows"]
for name, (waited, took) in truth.items():
    spared = stolen if name == "run_here" else 0  # the others hardly need a CPU
    ours = off_cpu.get(name, 0) / 1e6
    check(f"{name} waited {waited:.1f} ms, the profile says {ours:.1f}", abs(ours - waited) <= max(0.05 * waited, 10) + spared)
    ours = wall.get(name, 0) / 1e6
    check(f"{name} took {took:.1f} ms, the profile says {ours:.1f}", abs(ours - took) <= max(0.02 * took, 20) + spared)
blocked = {}
for name, kind in KINDS.items():
    by_kind = blocked[name] = sum(row["off_cpu_ns"] for row in kinds if name in row["path"] and row["kind"] == kind) / 1e6
    # On a busy machine a thread may be runnable for long after it was woken.
    all_kinds = sum(row["off_cpu_ns"] for row in kinds if name in row["path"] and row["kind"] != "runnable") / 1e6
    check(f"{name}: {by_kind:.1f} of {all_kinds:.1f} ms are {kind}", all_kinds and by_kind >= 0.8 * all_kinds)
    check(f"{name} waited {waits.get(name, 0)} times", 1 <= waits.get(name, 0) < 1000)
    rows = [row for row in kinds if name in row["path"] and row["kind"] == kind]
    longest = max(row["longest_ns"] for row in rows) / 1e6
    check(f"{name} waited for {longest:.1f} ms at most", 250 <= longest <= by_kind + 1)
    check("no wait is longer than the longest", all(row["off_cpu_ns"] <= row["longest_ns"] * row["waits"] for row in rows))
# Runnable time after a wait of another kind does not count as a wait of its own.
wrong = [row for row in kinds if row["off_cpu_ns"] - row.get("of_other_waits_ns", 0) > row.get("longest_ns", 0) * row["waits"]]
check(f"on average no wait is longer than the longest, in any row: {wrong[:3]}", not wrong)
runnable = sum(row["off_cpu_ns"] for row in kinds if "run_here" in row["path"] and row["kind"] == "runnable") / 1e6
check(f"run_here was kept from running for {runnable:.1f} ms", abs(runnable - truth["run_here"][0]) <= max(0.05 * truth["run_here"][0], 10) + stolen)
# Which thread woke them, if known: the helper holds the lock, and writes to the pipes.
if any("woken_by" in row for row in kinds):
    for name in ["lock_here", "read_here", "poll_here"]:
        rows = [row for row in kinds if name in row["path"] and row["kind"] == KINDS[name]]
        by_helper = sum(row["woken_by_ns"] for row in rows if row.get("woken_by") == "helper") / 1e6
        check(f"{name}: the helper ended {by_helper:.1f} of {blocked[name]:.1f} ms", by_helper >= 0.7 * blocked[name])
        in_path = sum(row.get("woken_in_ns", 0) for row in rows if "run_helper" in row.get("woken_in", "")) / 1e6
        check(f"{name}: {in_path:.1f} of them in run_helper", in_path >= 0.7 * blocked[name])
    larger = [row for row in kinds if row.get("woken_by_ns", 0) > row["off_cpu_ns"]]
    check(f"no thread ended more of a wait than there is of it: {larger[:3]}", not larger)
    rows = [row for row in kinds if "sleep_here" in row["path"] and row["kind"] == "sleep"]
    check("sleeps are not attributed to a waker", all(row.get("woken_by_ns", 0) < 0.2 * row["off_cpu_ns"] for row in rows))
