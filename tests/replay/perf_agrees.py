#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `cpprof inspect events -v` with `perf script -D` on the same recordings, event by event:
kinds, times, threads, periods, registers, stack sizes, callchains, mappings, names, switches.

usage: perf_agrees.py CPPROF DIRECTORY
exit: 0 they agree, 1 they do not, 77 perf is not installed
"""
import glob
import os
import re
import shutil
import subprocess
import sys

# Maps the kernel's register order to DWARF numbers; deliberately a second table, independent of perf_regs.c.
X86 = [0, 3, 2, 1, 4, 5, 6, 7, 16, None, None, None] + [None] * 4 + list(range(8, 16))
ARM = list(range(33))


def number(text):
    return int(text, 16)


def perf_lines(path):
    run = subprocess.run(["perf", "script", "-D", "-i", path], capture_output=True, text=True, errors="replace")
    return run.stdout.splitlines()


def finish(sample, table):
    """Registers are stored in the order of the mask's bits."""
    mask, values = sample.pop("mask", 0), sample.pop("values", [])
    bits = [bit for bit in range(64) if mask >> bit & 1]
    regs = {table[bit]: value for bit, value in zip(bits, values) if bit < len(table) and table[bit] is not None}
    context, kernel, user = ("kernel" if sample["kernel"] else "user"), [], []
    for pc in sample.pop("chain", []):
        if pc >= 2**64 - 4095:
            context = {2**64 - 128: "kernel", 2**64 - 512: "user"}.get(pc, "other")
        else:
            {"kernel": kernel, "user": user, "other": []}[context].append(pc)
    sample["regs"], sample["kernel_pcs"], sample["user_pcs"] = regs, kernel, user
    sample.setdefault("stack", 0)
    return sample


def perf_events(path, table):
    events, sample = [], None
    for line in perf_lines(path):
        head = re.match(r"(?:\d+ )?(\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_(\w+)(.*)", line)
        if head:
            time, kind, rest = int(head[1]), head[2], head[3]
            if kind == "SAMPLE":
                m = re.match(r"\(IP, (0x\w+|\d+)\): (\d+)/(\d+): (0x\w+|0) period: (\d+)", rest)
                sample = dict(kind="sample", time=time, pid=int(m[2]), tid=int(m[3]), weight=int(m[5]),
                              kernel=number(m[1]) & 7 == 1)
                events.append(sample)
            elif kind == "MMAP2":
                m = re.match(r" (-?\d+)/(\d+): \[(0x\w+)\((0x\w+)\) @ (0x\w+|0) .*?\]: (....) (.*)", rest)
                events.append(dict(kind="mapping", time=time, pid=int(m[1]), start=number(m[3]), len=number(m[4]),
                                   offset=number(m[5]), code=m[6][2] == "x", path=m[7]))
            elif kind == "COMM":
                m = re.match(r"( exec)?: (.*):(\d+)/(\d+)", rest)
                events.append(dict(kind="exec" if m[1] else "comm", time=time, pid=int(m[3]), tid=int(m[4]), name=m[2]))
            elif kind in ("FORK", "EXIT"):
                m = re.match(r"\((\d+):(\d+)\):\((\d+):(\d+)\)", rest)
                events.append(dict(kind=kind.lower(), time=time, pid=int(m[1]), tid=int(m[2])))
            elif kind == "SWITCH":
                events.append(dict(kind="switch", time=time, out="OUT" in rest, preempted="preempt" in rest))
            continue
        if sample is None:
            continue
        if m := re.match(r"\.\.\.\.\.\s+\d+: ([0-9a-f]{16})", line):
            sample.setdefault("chain", []).append(number(m[1]))
        elif m := re.match(r"\.\.\. user regs: mask (0x\w+)", line):
            sample["mask"] = number(m[1])
        elif m := re.match(r"\.\.\.\. \w+\s+(0x[0-9a-f]{16})", line):
            sample.setdefault("values", []).append(number(m[1]))
        elif m := re.match(r"\.\.\. ustack: size (\d+)", line):
            sample["stack"] = int(m[1])
        elif line.startswith(" ... thread:"):
            sample = None
    events = [e for e in events if e.get("pid") != -1]  # the kernel's own mapping
    return [finish(e, table) if e["kind"] == "sample" else e for e in events]


def our_pcs(text, name):
    m = re.search(name + r" pcs \d+: (\S+)", text)
    return [number(pc) for pc in m[1].split(",")] if m else []


def our_event(line):
    m = re.match(r"\s*(\d+)\.(\d{9})  (\w+)\s+(-?\d+)/(-?\d+)  (.*)", line)
    time, kind, pid, tid, rest = int(m[1] + m[2]), m[3], int(m[4]), int(m[5]), m[6]
    if kind == "sample":
        s = re.match(r"cpu \d+  (.*?) (\d+)  (kernel|user)", rest)
        stack = re.search(r"  stack (\d+)", rest)
        regs = {int(r): number(v) for r, v in re.findall(r" (\d+)=(0x[0-9a-f]+)", rest)}
        return dict(kind=kind, time=time, pid=pid, tid=tid, weight=int(s[2]), kernel=s[3] == "kernel", regs=regs,
                    stack=int(stack[1]) if stack else 0, kernel_pcs=our_pcs(rest, "kernel"),
                    user_pcs=our_pcs(rest, "user"))
    if kind == "mapping":
        s = re.match(r"(0x\w+)-(0x\w+)  offset (0x\w+)  (code|data)  .*?(\S+)$", rest)
        start, end = number(s[1]), number(s[2])
        return dict(kind=kind, time=time, pid=pid, start=start, len=end - start, offset=number(s[3]),
                    code=s[4] == "code", path=s[5])
    if kind in ("comm", "exec"):
        return dict(kind=kind, time=time, pid=pid, tid=tid, name=rest)
    if kind == "switch":
        return dict(kind=kind, time=time, out=rest.startswith("out"), preempted="preempted" in rest)
    return dict(kind=kind, time=time, pid=pid, tid=tid)


def our_events(cpprof, path):
    run = subprocess.run([cpprof, "inspect", "events", "-v", path], capture_output=True, text=True, check=True,
                         env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    lines = run.stdout.splitlines()
    return lines[0][2:], [our_event(line) for line in lines if not line.startswith("#")]


def compare(cpprof, path):
    machine, ours = our_events(cpprof, path)
    theirs = perf_events(path, X86 if machine.startswith("x86") else ARM)
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if a != b:
            print(f"{path}: event {i}\n  cpprof: {a}\n  perf:   {b}")
            return False
    if len(ours) != len(theirs) or not ours:
        print(f"{path}: cpprof has {len(ours)} events, perf {len(theirs)}")
        return False
    print(f"{path}: {len(ours)} events agree, {sum(e['kind'] == 'sample' for e in ours)} samples among them")
    return True


def main():
    if not shutil.which("perf"):
        print("skipped: perf is not installed")
        return 77
    paths = sorted(glob.glob(sys.argv[2] + "/*.data"))
    return 0 if paths and all([compare(sys.argv[1], path) for path in paths]) else 1


sys.exit(main())
