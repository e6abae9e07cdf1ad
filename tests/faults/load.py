#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long recording under load: 16 busy threads at 1000 Hz. No samples are lost, cpprof's CPU time per second of the target's
CPU time does not change by more than 10 %, and its memory does not grow after the first sixth of the time, except for new
contexts.

usage: load.py SECONDS [NICE]; NICE: nice value of the target (0). Needs CPPROF and BUILD in the environment."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

CPPROF, SPIN = os.environ["CPPROF"], os.path.join(os.environ["BUILD"], "tests", "e2e", "spin")
SECONDS, NICE = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "0"
THREADS, RATE, PARTS = 16, 1000, 6
CONTEXT_KB, SLACK_KB = 0.2, 1024


def cpu_of(pid):
    """CPU seconds of all threads, from schedstat: finer than the clock ticks of /proc/PID/stat."""
    return sum(int(open(file).read().split()[0]) for file in glob.glob(f"/proc/{pid}/task/*/schedstat")) / 1e9


def memory_of(pid):
    """Resident anonymous memory in kilobytes, without ring buffers and mapped files."""
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    return 0


def watch(cpprof, target):
    """(cpprof's CPU time, the target's CPU time, cpprof's memory) at the start and after each part."""
    seen = [(cpu_of(cpprof), cpu_of(target), memory_of(cpprof))]
    end = time.monotonic() + SECONDS - 2
    for part in range(PARTS):
        time.sleep(max(0, end - (PARTS - 1 - part) * SECONDS / PARTS - time.monotonic()))
        seen.append((cpu_of(cpprof), cpu_of(target), memory_of(cpprof)))
        print("after {:5.0f} s: own CPU {:.2f} s, target {:.1f} s, own memory {} KB".format(
            SECONDS - 2 - max(0, end - time.monotonic()), *seen[-1]), flush=True)
    return seen


def main():
    place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    os.chdir(place.name)
    environment = dict(os.environ, XDG_CACHE_HOME=os.getcwd())
    target = subprocess.Popen(["nice", "-n", NICE, SPIN, str(SECONDS + 60), f"threads={THREADS - 1}"], stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    cpprof = subprocess.Popen([CPPROF, "attach", "-q", "-F", str(RATE), "-p", str(target.pid), "-d", str(SECONDS), "-o", "load.data"], env=environment)
    time.sleep(1)
    if cpprof.poll() is not None:
        target.kill()
        print("skipped: perf_event is not available here")
        sys.exit(77)
    seen = watch(cpprof.pid, target.pid)
    code = cpprof.wait()
    target.kill()
    target.wait()
    subprocess.run([CPPROF, "export", "load.data", "-f", "json", "-o", "load.json"], check=True)
    profile = json.load(open("load.json"))
    quality, contexts = profile["quality"], len(profile["nodes"])
    shares = [(b[0] - a[0]) / max(b[1] - a[1], 1e-9) for a, b in zip(seen, seen[1:])]
    early, late = sum(shares[1:3]) / 2, sum(shares[-2:]) / 2
    grown = seen[-1][2] - seen[1][2]
    print(f"samples {quality['samples']}, lost {quality['lost_samples']}, contexts {contexts}, load {os.getloadavg()[0]:.1f}")
    print("own CPU per second of the target's CPU time: " + " ".join(f"{100 * share:.2f} %" for share in shares))
    wrong = []
    if code or subprocess.run([CPPROF, "check", "load.data"], stdout=subprocess.DEVNULL).returncode:
        wrong.append(f"exit code {code}, or the profile is damaged")
    if quality["lost_samples"]:
        wrong.append(f"{quality['lost_samples']} samples were lost")
    if abs(late - early) > 0.1 * early + 0.0005:
        wrong.append(f"own CPU time was {100 * early:.2f} % early and {100 * late:.2f} % late")
    if grown > SLACK_KB + CONTEXT_KB * contexts:
        wrong.append(f"own memory grew by {grown} KB after the first sixth")
    for line in wrong:
        print("FAILED: " + line)
    print(f"tally: {4 - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    sys.exit(1 if wrong else 0)


main()
