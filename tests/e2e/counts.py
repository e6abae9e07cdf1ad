#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Events that the kernel counts in software, on faults.c: -c N takes every Nth, alone and with a clock, live and from a raw
recording. usage: counts.py; needs CPPROF and BUILD in the environment."""
import json
import os
import re
import subprocess
import sys
import tempfile

CPPROF = os.environ["CPPROF"]
FAULTS = os.path.join(os.environ["BUILD"], "tests", "e2e", "faults")
PERIOD = 50
STARTING = 400  # page faults of starting the program: fewer
passed = failed = skipped = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what}: {detail}", flush=True)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def totals(file, metric):
    """Samples and value of the whole profile, and the value of each function of the program."""
    report = run(CPPROF, "report", "--view", "tree", "--percent-limit", "0", "--metric", metric, "--format", "json", file)
    rows = json.loads(report.stdout)["rows"]
    roots = [row for row in rows if row["depth"] == 0]
    by_name = {name: sum(row["total"] for row in rows if row["name"] == name) for name in ("few_here", "many_here")}
    return sum(row["total_samples"] for row in roots), sum(row["total"] for row in roots), by_name


def record(*options, program=(FAULTS, "400")):
    """Returns the number of pages that the program touched, and of samples lost: the kernel's buffer is full when cpprof gets no
    CPU for a while. With small stacks the samples of nearly the whole run fit into it."""
    ran = run(CPPROF, "record", "--stack-size", "1k", *options, "-o", "c.data", "--", *program)
    lost = re.search(r"([\d,]+) lost", ran.stderr)
    check(f"{options}: recorded", ran.stdout.startswith("touched ") and lost, (ran.stdout, ran.stderr))
    return int(ran.stdout.split()[1]), int(lost[1].replace(",", ""))


def check_every(what, file, events, touched, lost):
    """Samples of a clock are counted, too: then only the total says how many there are. Lost samples may be of either event."""
    metric = next(event for event in events if event.startswith("page-faults"))
    samples, total, _ = totals(file, metric)
    check(f"{what}: all page faults", touched - (4 + lost) * PERIOD <= total <= touched + STARTING and total % PERIOD == 0, (total, touched, lost))
    if "cpu-clock" not in events:
        check(f"{what}: one sample every {PERIOD}", total == PERIOD * samples, (samples, total))


def check_periods():
    clock, faults = ["-e", "cpu-clock"], ["-e", f"page-faults:period={PERIOD}"]
    for name, events in {"alone": ["-e", "page-faults", "-c", str(PERIOD)], "after a clock": clock + faults, "before a clock": faults + clock}.items():
        touched, lost = record("--raw", "c.raw", *events)
        check_every(name, "c.data", events, touched, lost)
        check(f"{name}: most samples are kept", lost < touched / PERIOD / 2, (touched, lost))
        run(CPPROF, "import", "c.raw", "-o", "i.data")
        check_every(f"{name}, imported", "i.data", events, touched, lost)
        if name != "alone":
            live, imported = totals("c.data", "cpu-clock"), totals("i.data", "cpu-clock")
            check(f"{name}: the clock", live[1] > 0 and live[:2] == imported[:2], (live, imported))


place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
os.chdir(place.name)
check_periods()
print(f"tally: {passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
