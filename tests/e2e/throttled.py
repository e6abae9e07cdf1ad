#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""While the kernel throttles sampling, on a shared CPU, the profile still has the correct CPU time and shares.
usage: throttled.py; needs CPPROF and BUILD in the environment, and permission to set perf_event_max_sample_rate."""
import json
import os
import subprocess
import sys
import time

CPPROF, SHARES = os.environ["CPPROF"], os.path.join(os.environ["BUILD"], "tests", "e2e", "shares")
LIMIT = "/proc/sys/kernel/perf_event_max_sample_rate"
LOW = "2000" # samples a second: eight in each tick of 4 ms
passed = failed = 0


def check(what, ok):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'FAILED'}: {what}", flush=True)


def set_limit(value):
    with open(LIMIT, "w") as file:
        file.write(value)


def record(cpu):
    """Records a program while sampling is throttled; returns the report and the program's CPU time in seconds."""
    truth = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n" \
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\nprint(used.ru_utime + used.ru_stime)"
    command = [CPPROF, "record", "-q", "-F", "5000", "--clock", "thread", "--no-cache", "-o", "throttled.data", "--",
               sys.executable, "-c", truth, SHARES, "30000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {cpu})) as recording:
        time.sleep(0.5)
        set_limit(LOW)
        seconds = float(recording.communicate()[0])
    report = [CPPROF, "report", "--view", "flat", "--format", "json", "--percent-limit", "0", "--limit", "0", "throttled.data"]
    return json.loads(subprocess.run(report, capture_output=True, text=True, check=True).stdout), seconds


def main():
    try:
        with open(LIMIT) as file:
            before = file.read()
        set_limit(before)
    except OSError as error:
        print(f"skipped: {LIMIT}: {error}")
        sys.exit(77)
    cpu = max(os.sched_getaffinity(0))
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
              for _ in range(2)]
    try:
        report, seconds = record(cpu)
    finally:
        set_limit(before)
        for other in others:
            other.kill()
    rows = {row["name"]: row for row in report["rows"] if row["module"] == "shares"}
    represented, throttled = sum(row["self"] for row in rows.values()) / 1e9, report["quality"]["throttled"]
    check(f"throttled {throttled} times", throttled >= 100)
    check(f"samples represent {represented:.3f} s of {seconds:.3f} s", abs(represented / seconds - 1) < 0.03)
    for name, share in ("heavy", 50), ("medium_one", 25), ("small_function", 15):
        got = 100 * rows[name]["self"] / 1e9 / represented
        check(f"{name} has {got:.1f} %, expected {share} %", abs(got - share) < 4)
    print(f"tally: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


main()
