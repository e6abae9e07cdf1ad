#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that create others again and again are sampled everywhere alike: creators.c, as the command itself, as a child of the
command, and attached to. usage: creators.py; needs CPPROF and BUILD in the environment."""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

CPPROF = os.environ["CPPROF"]
CREATORS = os.path.join(os.environ["BUILD"], "tests", "e2e", "creators")
NAMES = ("first", "second", "third", "fourth", "fifth")
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what}: {detail}", flush=True)


def check_shares(what, is_late):
    """is_late: cpprof can act only when it has read about the second creation; until then samples come in the same places."""
    report = subprocess.run([CPPROF, "report", "--view", "tree", "--percent-limit", "0", "--format", "json", "c.data"], capture_output=True, text=True)
    rows = {row["name"]: row for row in json.loads(report.stdout)["rows"] if row["name"] in NAMES}
    times = {name: rows[name]["total_percent"] if name in rows else 0 for name in NAMES}
    n = sum(row["total_samples"] for row in rows.values())
    shares = {name: 100 * time / (sum(times.values()) or 1) for name, time in times.items()}
    most = 2 + 4 * 100 * math.sqrt(0.2 * 0.8 / max(n, 1))  # percentage points: four standard deviations, and what random periods add
    most += 5 if is_late else 0
    check(f"{what}: enough samples", n >= 300, n)
    check(f"{what}: each function has a fifth", all(abs(share - 20) <= most for share in shares.values()), (n, shares))


def record(what, is_late, *command):
    ran = subprocess.run([CPPROF, "record", "-q", "-o", "c.data", "--", *command], capture_output=True, text=True)
    check(f"{what}: the program's output", ran.stdout == "done\n", (ran.stdout, ran.stderr))
    check_shares(what, is_late)


def attach(what, kind):
    target = subprocess.Popen([CREATORS, kind, "60000"], stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    ran = subprocess.run([CPPROF, "attach", "-q", "-p", str(target.pid), "-d", "3", "--min-quality", "90", "-o", "c.data"], capture_output=True, text=True)
    target.kill()
    target.wait()
    check(f"{what}: complete stacks", ran.returncode == 0, (ran.returncode, ran.stderr))
    check_shares(what, kind == "threads")


place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
os.chdir(place.name)
for kind in ("threads", "processes"):
    record(f"a command that creates {kind}", kind == "threads", CREATORS, kind, "3000")
    record(f"its child creates {kind}", True, "sh", "-c", f"{CREATORS} {kind} 3000; true")
    attach(f"attached to one that creates {kind}", kind)
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
