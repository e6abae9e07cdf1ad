#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer on every target, in turns of one slice, until each has used its CPU time, or nothing new is found any more.

Usage: hunt.py [--with EMULATOR] BUILD WORK SECONDS [TARGET...]
       hunt.py --table WORK...

BUILD is a build of the preset `fuzz`. WORK keeps the new inputs and the totals, so that the time may be spread over several
runs. A target is done early if QUIET seconds of CPU time, and two slices, reached no new edge. --with: the program and its
arguments that run the targets of another architecture, as one word. The second form prints the totals, added up, as the table
of docs/fuzzing.md. Exit code 1: a target crashed; the input is in WORK/crashes.
"""
import json
import os
import re
import subprocess
import sys

SLICE = 300  # seconds of elapsed time; each begins with reading all inputs
QUIET = 600
here = os.path.dirname(os.path.abspath(__file__))


def totals_read(work):
    try:
        with open(os.path.join(work, "totals.json")) as file:
            return json.load(file)
    except FileNotFoundError:
        return {}


def totals_write(work, totals):
    path = os.path.join(work, "totals.json")
    with open(path + ".new", "w") as file:
        json.dump(totals, file, indent=1, sort_keys=True)
    os.rename(path + ".new", path)


def fuzz(program, work, folders, options):
    """Returns the exit code, the CPU seconds, the executions and the edges that were reached. program: with the emulator."""
    log = os.path.join(work, "last.log")
    with open(log, "w") as out:
        process = subprocess.Popen([*program, *options, "-print_final_stats=1", "-rss_limit_mb=2560", "-timeout=60",
                                    f"-artifact_prefix={work}/crashes/{os.path.basename(program[-1])}-", *folders],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    with open(log, errors="replace") as file:
        text = file.read()
    runs = re.search(r"stat::number_of_executed_units: *(\d+)", text)
    edges = re.findall(r"\bcov: (\d+)", text)
    return (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, int(runs[1]) if runs else 0,
            int(edges[-1]) if edges else 0)


def is_done(total, seconds):
    return total.get("cpu", 0) >= seconds or (total.get("quiet", 0) >= QUIET and total.get("quiet_slices", 0) >= 2)


def add(total, cpu, executions, edges):
    """quiet: the CPU time since the last new edge."""
    is_new = edges > total.get("after", 0)
    total["cpu"] += cpu
    total["executions"] += executions
    total["after"] = max(edges, total.get("after", 0))
    total["quiet"] = 0 if is_new else total.get("quiet", 0) + cpu
    total["quiet_slices"] = 0 if is_new else total.get("quiet_slices", 0) + 1


def hunt(emulator, build, work, seconds, names):
    programs = {name: [*emulator, os.path.join(build, "tests/fuzz", "fuzz_" + name)] for name in names}
    totals, has_crashed = totals_read(work), False
    os.makedirs(os.path.join(work, "crashes"), exist_ok=True)
    pending = [name for name in names if not is_done(totals.get(name, {}), seconds)]
    while pending:
        for name in list(pending):
            found, seeds = os.path.join(work, name), os.path.join(here, "corpus", name)
            os.makedirs(found, exist_ok=True)
            total = totals.setdefault(name, {"cpu": 0, "executions": 0})
            if "before" not in total:
                total["before"] = fuzz(programs[name], work, [seeds], ["-runs=0"])[3]
            code, cpu, executions, edges = fuzz(programs[name], work, [found, seeds], [f"-max_total_time={min(SLICE, int(seconds - total['cpu']) + 1)}"])
            add(total, cpu, executions, edges)
            totals_write(work, totals)
            print(f"{name}: {total['cpu']:.0f} s, {total['executions']:,} executions, {edges:,} edges", flush=True)
            if code:
                has_crashed = True
                os.rename(os.path.join(work, "last.log"), os.path.join(work, f"{name}.log"))
                print(f"{name}: exit code {code}, see {work}/{name}.log", flush=True)
            if code or is_done(total, seconds):
                pending.remove(name)
    return has_crashed


def table(works):
    sums = {}
    for work in works:
        for name, total in totals_read(work).items():
            one = sums.setdefault(name, {"cpu": 0, "quiet": 0, "executions": 0, "before": total["before"], "after": 0})
            for what in ("cpu", "quiet", "executions"):
                one[what] += total.get(what, 0)
            one["after"] = max(one["after"], total["after"])
    print("| target | CPU time | since the last new edge | executions | edges before, after |\n|---|---|---|---|---|")
    for name, total in sorted(sums.items()):
        print(f"| {name} | {total['cpu']:,.0f} s | {total['quiet']:,.0f} s | {total['executions']:,} | {total['before']:,}, {total['after']:,} |")


words, emulator = sys.argv[1:], []
if words[:1] == ["--with"] and len(words) > 1:
    emulator, words = words[1].split(), words[2:]
if words[:1] == ["--table"] and len(words) > 1:
    table(words[1:])
elif len(words) >= 3:
    everything = sorted(os.listdir(os.path.join(here, "corpus")))
    sys.exit(hunt(emulator, words[0], os.path.abspath(words[1]), float(words[2]), words[3:] or everything))
else:
    sys.exit(__doc__)
