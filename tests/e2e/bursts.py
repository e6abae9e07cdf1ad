#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof paths --bursts` on a program whose branch is taken in one of four rounds, and which must not notice: it gets its
signals, computes what it computes, and goes on if cpprof is killed.
usage: bursts.py [RUNS]; with RUNS, in how many the true share is within the 95 % interval. Needs CPPROF and SOURCE."""
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

CPPROF = os.environ["CPPROF"]
SOURCE = os.path.join(os.environ["SOURCE"], "tests", "e2e", "bursts", "ratio.c")
TRUE = 0.25
ENOUGH = 150  # ways: fewer say little of shares; bursts are bounded by time, and single steps are slow where CPUs are busy
TRIES = 12
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def bursts(rounds):
    ran = subprocess.run([CPPROF, "paths", "--bursts", "--rate", "50", "--format", "json", "-o", "bursts.json", "-f", "choose", "--",
                          "./ratio", str(rounds)], capture_output=True, text=True)
    if ran.returncode == 3:
        skip("nothing may be stepped: " + ran.stderr.strip())
    check("paths --bursts", ran.returncode == 0, ran.stderr)
    found = json.load(open("bursts.json"))
    check("bursts are no whole run", found["whole"] is False)
    return ran, found["functions"][0] if found["functions"] else {"ways": []}


def rare_way(function):
    """The way of the branch that is taken in one of four rounds."""
    ways = sorted(function["ways"], key=lambda way: way["count"])
    return ways[0] if len(ways) == 2 else None


def unharmed(rounds):
    alone = subprocess.run(["./ratio", str(rounds)], capture_output=True, text=True).stdout
    counts = collections.Counter()
    for _ in range(TRIES):
        ran, function = bursts(rounds)
        check("it computes the same, and gets its signals", ran.stdout == alone and "signals came" in alone, ran.stdout + alone)
        for way in function["ways"]:
            counts[way["number"]] += way["count"]
            check("the interval holds the share", way["share_low"] <= way["count"] / function["total"] <= way["share_high"], str(way))
        if counts.total() >= ENOUGH:
            break
    else:
        print(f"skipped: shares of ways: on this busy machine {TRIES} runs saw fewer than {ENOUGH} ways together")
        return alone
    check("two ways", len(counts) == 2, str(counts))
    share = min(counts.values()) / counts.total()
    check("the share is about a quarter", abs(share - TRUE) < 0.15, f"{share} of {counts.total()}")
    return alone


def killed(rounds, alone):
    """kill -9 of cpprof at any moment: the target goes on."""
    for _ in range(6):
        target = subprocess.Popen(["./ratio", str(rounds)], stdout=subprocess.PIPE, text=True)
        tool = subprocess.Popen([CPPROF, "paths", "--bursts", "--rate", "1000", "-p", str(target.pid)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.05, 0.2))
        tool.send_signal(signal.SIGKILL)
        tool.wait()
        out, _ = target.communicate()
        check("the target goes on when cpprof is killed", target.returncode == 0 and out == alone, f"{target.returncode} {out}")


def waiting():
    """A process that does nothing is left alone, and that is said."""
    target = subprocess.Popen(["sleep", "100"])
    ran = subprocess.run([CPPROF, "paths", "--bursts", "-p", str(target.pid), "-d", "1"], capture_output=True, text=True)
    target.kill()
    target.wait()
    check("threads that wait are left alone", ran.returncode == 5 and "the threads were waiting" in ran.stderr and " 0 bursts" in ran.stderr,
          f"{ran.returncode} {ran.stderr}")


def coverage(runs):
    inside = 0
    for _ in range(runs):
        _, function = bursts(400000000)
        way = rare_way(function)
        inside += bool(way) and way["share_low"] <= TRUE <= way["share_high"]
    print(f"{inside} of {runs} intervals hold the true share")
    check("95 % intervals", inside * 20 >= 17 * runs, str(inside))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["XDG_CACHE_HOME"] = folder
    subprocess.run(["gcc", "-O1", "-g", "-o", "ratio", SOURCE], check=True)
    if len(sys.argv) > 1:
        coverage(int(sys.argv[1]))
    else:
        killed(60000000, subprocess.run(["./ratio", "60000000"], capture_output=True, text=True).stdout)
        unharmed(350000000)
        waiting()
print(f"{passed} checks passed, {failed} failed")
sys.exit(1 if failed else 0)
