#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings of perf record -g, whose stacks the kernel has unwound by frame pointers: no caller is missing in a stack that is said to
be complete, wherever in its function the leaf was interrupted. usage: frame_chains.py; needs CPPROF and BUILD in the environment."""
import bisect
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile

CPPROF = os.environ["CPPROF"]
FRAMES = os.path.join(os.environ["BUILD"], "tests", "e2e", "frames")
CALLERS = {f"{kind}_{callee}": caller for kind in ("direct", "pointed") for callee, caller in (("leaf", f"{kind}_inner"), ("inner", f"{kind}_outer"), ("outer", "main"))}
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what}: {detail}", flush=True)


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def functions():
    lines = subprocess.run(["nm", "-n", FRAMES], capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = [(int(line.split()[0], 16), line.split()[2]) for line in lines if len(line.split()) == 3]
    return [address for address, _ in symbols], [name for _, name in symbols]


def names_of(stack, addresses, names):
    """The program is not relocated; addresses of callers are return addresses."""
    found = []
    for i, pc in enumerate(int(pc, 16) - (i > 0) for i, pc in enumerate(stack["pcs"])):
        at = bisect.bisect_right(addresses, pc) - 1
        found.append(names[at] if at >= 0 and pc < addresses[-1] else "?")
    return found


if not shutil.which("perf"):
    skip("perf is not installed")
place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
os.chdir(place.name)
for attempt in range(5):
    recorded = subprocess.run(["perf", "record", "-q", "-B", "--no-bpf-event", "-F", "9973", "-e", "cpu-clock:u", "-g", "-o", "p.data", FRAMES, "100000000"], capture_output=True, text=True)
    if recorded.returncode:
        skip(f"perf cannot record here: {recorded.stderr.strip()[:200]}")
    # perf sometimes records no mappings while BPF programs of others come and go; such a recording is of no use to anybody.
    if "libc.so" in subprocess.run(["perf", "script", "--show-mmap-events", "-F", "comm", "-i", "p.data"], capture_output=True, text=True).stdout:
        break
else:
    skip("perf recorded no mappings")
lines = subprocess.run([CPPROF, "inspect", "stacks", "p.data"], capture_output=True, text=True, check=True).stdout.splitlines()
addresses, names = functions()
n = n_complete = 0
wrong, ends = {}, {}
for stack in map(json.loads, lines):
    frames = names_of(stack, addresses, names)
    if frames[0] != "main" and frames[0] not in CALLERS:
        continue  # still being loaded
    n += 1
    n_complete += stack["end"] == "complete"
    if stack["end"] != "complete":
        ends[(frames[0], stack["pcs"][0], stack["end"])] = ends.get((frames[0], stack["pcs"][0], stack["end"]), 0) + 1
        continue
    for callee, caller in zip(frames, frames[1:] + ["?"]):
        if CALLERS.get(callee, caller) != caller:
            wrong[(callee, caller, stack["pcs"][0])] = wrong.get((callee, caller, stack["pcs"][0]), 0) + 1
check("enough samples", n >= 500, n)
check("no caller is missing in a complete stack", not wrong, wrong)
if platform.machine() == "aarch64":  # elsewhere the return address of a function without a frame is not recorded
    check("nearly all stacks are complete", n_complete >= 0.95 * n, (n_complete, n, ends))
print(f"{n} stacks, {n_complete} complete; incomplete: {ends}")
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
