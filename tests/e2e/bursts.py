#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof paths --bursts` on a program with a branch taken in one of four iterations. The program must not be affected: it
receives its signals, computes the same result, and continues if cpprof is killed.
usage: bursts.py [RUNS]; with RUNS, checks in how many runs the 95 % interval contains the true share. Needs CPPROF and SOURCE."""
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
ENOUGH = 150  # paths needed to compare shares; bursts are limited in time, and single-stepping is slow on a busy machine
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
        skip("single-stepping is not allowed: " + ran.stderr.strip())
    check("paths --bursts", ran.returncode == 0, ran.stderr)
    found = json.load(open("bursts.json"))
    check("bursts are not reported as a whole run", found["whole"] is False)
    return ran, found["functions"][0] if found["functions"] else {"ways": []}


def rare_way(function):
    """The path with the branch that is taken in one of four iterations."""
    ways = sorted(function["ways"], key=lambda way: way["count"])
    return ways[0] if len(ways) == 2 else None


def unharmed(rounds):
    alone = subprocess.run(["./ratio", str(rounds)], capture_output=True, text=True).stdout
    counts = collections.Counter()
    for _ in range(TRIES):
        ran, function = bursts(rounds)
        check("the program computes the same and receives its signals", ran.stdout == alone and "signals came" in alone, ran.stdout + alone)
        for way in function["ways"]:
            counts[way["number"]] += way["count"]
            check("the interval contains the share", way["share_low"] <= way["count"] / function["total"] <= way["share_high"], str(way))
        if counts.total() >= ENOUGH:
            break
    else:
        print(f"skipped: shares of paths: fewer than {ENOUGH} paths in {TRIES} runs on this busy machine")
        return alone
    check("two paths", len(counts) == 2, str(counts))
    share = min(counts.values()) / counts.total()
    check("the share is about a quarter", abs(share - TRUE) < 0.15, f"{share} of {counts.total()}")
    return alone


def killed(rounds, alone):
    """SIGKILL of cpprof at random moments: the target continues."""
    for _ in range(6):
        target = subprocess.Popen(["./ratio", str(rounds)], stdout=subprocess.PIPE, text=True)
        tool = subprocess.Popen([CPPROF, "paths", "--bursts", "--rate", "1000", "-p", str(target.pid)], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.05, 0.2))
        tool.send_signal(signal.SIGKILL)
        tool.wait()
        out, _ = target.communicate()
        check("the target continues when cpprof is killed", target.returncode == 0 and out == alone, f"{target.returncode} {out}")


def waiting():
    """An idle process is not disturbed, and a message says so."""
    target = subprocess.Popen(["sleep", "100"])
    ran = subprocess.run([CPPROF, "paths", "--bursts", "-p", str(target.pid), "-d", "1"], capture_output=True, text=True)
    target.kill()
    target.wait()
    check("waiting threads are not stopped", ran.returncode == 5 and "the threads were waiting" in ran.stderr and " 0 bursts" in ran.stderr,
          f"{ran.returncode} {ran.stderr}")


def coverage(runs):
    inside = 0
    for _ in range(runs):
        _, function = bursts(400000000)
        way = rare_way(function)
        inside += bool(way) and way["share_low"] <= TRUE <= way["share_high"]
    print(f"{inside} of {runs} intervals contain the true share")
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
