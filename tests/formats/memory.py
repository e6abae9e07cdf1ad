#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What exporting costs in memory, at 100,000 and at a million contexts. Arrays are streamed: beyond the profile and the
fused tree, which every report needs, no exporter may take more than the profile itself does (callgrind, which adds up a
whole call graph, twice that). usage: memory.py; needs CPPROF and BUILD in the environment."""
import os
import subprocess
import sys
import tempfile

CPPROF, MAKE = os.environ["CPPROF"], os.path.join(os.environ["BUILD"], "tests", "make_profile")
FORMATS = ["json", "ndjson", "rows", "top", "pprof", "speedscope", "folded", "firefox", "callgrind", "llvm-sample", "openmetrics", "svg", "html"]
MARGIN = 1.25  # allocators round, and sorting takes a copy of what it sorts
passed = failed = 0


def peak(*command):
    """Kilobytes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"FAILED: {' '.join(command)}: exit code {process.returncode}")
    return usage.ru_maxrss


if "address" in os.environ.get("CPPROF_SANITIZERS", "") or "asan" in CPPROF:
    print("skipped: a sanitizer's memory says nothing")
    sys.exit(77)
folder = tempfile.mkdtemp()
os.chdir(folder)
for nodes in (100_000, 1_000_000):
    subprocess.run([MAKE, str(nodes), "p.data"], check=True)
    loaded, reported = peak(CPPROF, "check", "p.data"), peak(CPPROF, "report", "p.data")
    print(f"{nodes} contexts: the profile {loaded} KB, with its fused tree {reported} KB")
    for name in FORMATS:
        used = peak(CPPROF, "export", "p.data", "-f", name, "-o", "out")
        limit = reported + (2 if name == "callgrind" else 1) * MARGIN * loaded
        print(f"  {name:12} {used:8} KB  {os.path.getsize('out'):12} bytes")
        passed, failed = (passed + 1, failed) if used <= limit else (passed, failed + 1)
        if used > limit:
            print(f"FAILED: {name} at {nodes} contexts: {used} KB, may be {limit:.0f}")
    packed = peak(CPPROF, "export", "p.data", "-o", "out.json.gz")
    plain = peak(CPPROF, "export", "p.data", "-o", "out.json")
    print(f"  {'json.gz':12} {packed:8} KB")
    passed, failed = (passed + 1, failed) if packed < 1.1 * plain + 10000 else (passed, failed + 1)
    for file in os.listdir("."):
        os.unlink(file)
os.rmdir(folder)
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
