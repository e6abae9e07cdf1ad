#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `cpprof diff` with `perf diff` on the same recordings: the samples of each function and module before and after
must be equal. Uses stored recordings and, if perf may record, new ones of a real program.

usage: perf_diff.py CPPROF DIRECTORY PROGRAM
exit: 0 they agree, 1 they do not, 77 perf is not installed
"""
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile

cpprof, stored, program = sys.argv[1:]
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}")


def of_perf(keys, symfs, files):
    """key -> [before, after], in ns."""
    run = subprocess.run(["perf", "diff", "-f", *symfs, "-s", keys, "-p", "-t", ";", *files], capture_output=True, text=True)
    found = {}
    for line in run.stdout.splitlines():
        cells = [cell.strip() for cell in line.split(";")]
        if line.startswith("#") or len(cells) < 5:
            continue
        key = tuple(cell.removeprefix("[.] ").removeprefix("[k] ") for cell in cells[4:])
        sums = found.setdefault(key, [0, 0])
        sums[0] += int(cells[1] or 0)
        sums[1] += int(cells[3] or 0)
    return found


def of_cpprof(group, files):
    run = subprocess.run([cpprof, "diff", "-f", "csv", "--no-inlines", "--group-by", group, *files], capture_output=True, text=True, check=True)
    found = {}
    for row in csv.DictReader(io.StringIO(run.stdout)):
        key = (row["name"],) if group == "module" else (row["module"], row["name"])
        sums = found.setdefault(key, [0, 0])
        sums[0] += float(row["self_before"])
        sums[1] += float(row["self_after"])
    return found


def compare(what, recordings, symfs, modules):
    files = []
    for i, recording in enumerate(recordings):
        files.append(f"{what}-{i}.data".replace("/", "_"))
        subprocess.run([cpprof, "import", "-q", *symfs, recording, "-o", files[-1]], check=True, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    for keys, group in (("dso", "module"), ("dso,symbol", "function")):
        theirs, ours = of_perf(keys, symfs, recordings), of_cpprof(group, files)
        both = [key for key in theirs if key in ours and key[0] in modules]
        check(f"{what}: {group}s to compare", both, f"{list(theirs)[:5]} {list(ours)[:5]}")
        for key in both:
            check(f"{what}: {key}", theirs[key] == ours[key], f"{theirs[key]} {ours[key]}")
        check(f"{what}: sums by {group}", [sum(v[i] for v in theirs.values()) for i in (0, 1)] == [sum(v[i] for v in ours.values()) for i in (0, 1)],
              f"{theirs} {ours}")
        print(f"{what}: {len(both)} {group}s agree")


def record(name, seconds):
    events = ["-e", "cpu-clock:u", "-c", "2000000", "-g"]
    return subprocess.run(["perf", "record", "-q", *events, "-o", name, "--", program, seconds], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def main():
    if not shutil.which("perf") or subprocess.run(["perf", "--version"], capture_output=True).returncode:
        print("skipped: perf is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        symfs = ["--symfs", os.path.join(stored, "root-aarch64")]
        for pair in (("dwarf", "fp"), ("fp", "zstd"), ("buildid", "dwarf")):
            compare("/".join(pair), [os.path.join(stored, name + ".data") for name in pair], symfs, ["tower"])
        if record("x", "0.5") and record("y", "0.8"):
            compare("recorded now", ["x", "y"], [], [os.path.basename(program)])
        else:
            print("not checked: new recordings, which perf is not permitted to make")
        os.chdir("/")
    print(f"tally: {passed} passed, {failed} failed, 0 skipped")
    return failed > 0


sys.exit(main())
