#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory that exporting needs, at 100,000 and at a million contexts.
export reads the profile, turns its contexts into the fused tree in place, and streams. So at 100,000 contexts no format may
need more than the profile itself (the peak of `cpprof check`) plus a constant for tables of functions and names and for
compressors; and each additional context may take GROWTH bytes. The exception is otlp: lengths precede the data, so its
parts are kept in memory, in buffers that double as they grow, until they are written.

usage: memory.py [quick]; needs CPPROF and BUILD in the environment."""
import os
import shutil
import subprocess
import sys
import tempfile

CPPROF, MAKE = os.environ["CPPROF"], os.path.join(os.environ["BUILD"], "tests", "make_profile")
FORMATS = ["json", "ndjson", "rows", "top", "pprof", "otlp", "speedscope", "folded", "firefox", "callgrind", "llvm-sample", "openmetrics", "svg", "html"]
RATIO, CONSTANT = 1.02, 10000  # kilobytes
GROWTH = 110  # bytes per context; reading alone takes 64
passed = failed = 0
few = {}  # format: its peak at 100,000 contexts


def peak(*command):
    """Kilobytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"FAILED: {' '.join(command)}: exit code {process.returncode}")
    return usage.ru_maxrss


if "address" in os.environ.get("CPPROF_SANITIZERS", "") or "asan" in CPPROF:
    print("skipped: memory use under a sanitizer is not meaningful")
    sys.exit(77)
folder = tempfile.mkdtemp()
os.chdir(folder)
quick = sys.argv[1:] == ["quick"]  # only the smaller profile, and the formats that once used most
for nodes in (100_000,) if quick else (100_000, 1_000_000):
    subprocess.run([MAKE, str(nodes), "p.data"], check=True)
    loaded = peak(CPPROF, "check", "p.data")
    grown = (nodes - 100_000) * GROWTH / 1024
    print(f"{nodes} contexts: the profile alone: {loaded} KB")
    for name in ("json", "callgrind", "html") if quick else FORMATS:
        used = peak(CPPROF, "export", "p.data", "-f", name, "-o", "out")
        print(f"  {name:12} {used:8} KB  {used / loaded:5.2f}  {os.path.getsize('out'):12} bytes")
        most = few[name] + grown if grown else RATIO * loaded + CONSTANT
        most += (2 * os.path.getsize("out") / 1024 if name == "otlp" else 0)
        few.setdefault(name, used)
        passed, failed = (passed + 1, failed) if used <= most else (passed, failed + 1)
        if used > most:
            print(f"FAILED: {name} at {nodes} contexts: {used} KB, at most {most:.0f} allowed")
    if quick:
        continue
    wide = peak(CPPROF, "export", "p.data", "-f", "ndjson", "--wide", "-o", "out")
    print(f"  {'ndjson wide':12} {wide:8} KB  {wide / loaded:5.2f}")
    passed, failed = (passed + 1, failed) if wide <= few["ndjson"] + CONSTANT + grown else (passed, failed + 1)
    packed = peak(CPPROF, "export", "p.data", "-o", "out.json.gz")
    plain = peak(CPPROF, "export", "p.data", "-o", "out.json")
    print(f"  {'json.gz':12} {packed:8} KB")
    passed, failed = (passed + 1, failed) if packed <= RATIO * plain + CONSTANT else (passed, failed + 1)
shutil.rmtree(folder)
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
