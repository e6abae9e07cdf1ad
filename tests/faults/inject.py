#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fault injection: libc calls of cpprof that may fail are made to fail once at each call site, in turn.
usage: inject.py [--write] [--full] [WORD]; without --full, a few call sites of each kind."""
import os
import random
import subprocess

import fault
from fault import BUILD, CPPROF, TARGET, Skip, case

LIBRARY = os.path.join(BUILD, "tests", "faults", "libfault_inject.so")
EACH = 100000 if fault.IS_FULL else 4
ROUNDS = 10
KINDS = {
    "memory": ("malloc", "calloc", "realloc", "mmap"),
    "reading": ("read", "pread", "fopen"),
    "opening": ("open",),
    "writing": ("write", "pwrite", "writev"),
    "a process or thread": ("fork", "pthread_create"),
    "an event": ("perf_event_open",),
    "a BPF program": ("bpf",),
}


def preloaded(c, command, **more):
    return subprocess.run(command, cwd=c.folder, capture_output=True, timeout=120, env=c.environment(LD_PRELOAD=LIBRARY, **more))


def places(c, command, kinds):
    """The call sites of a command as (kind, place); EACH of each kind at most."""
    sites = os.path.join(c.folder, "sites")
    ran = preloaded(c, command, FAULT_SITES=sites)
    if ran.returncode == 3:
        raise Skip("perf_event is not available here")
    with open(sites) as f:
        lines = sorted(set(tuple(line.split()) for line in f))
    os.unlink(sites)
    chance = random.Random(5)
    found = []
    for kind in kinds:
        of_kind = [place for k, place in lines if k == kind]
        found += [(kind, place) for place in chance.sample(of_kind, min(EACH, len(of_kind)))]
    return found


def recording(c, kinds):
    """The target's output is correct, or it was not started; a profile that is written is complete."""
    command = [CPPROF, "record", "-q", "--checkpoint", "0.02", "-o", "p.data", "--", TARGET, "work", str(ROUNDS)]
    found = places(c, command, kinds)
    c.check(found, "no call sites were found")
    for kind, place in found:
        for file in os.listdir(c.folder):
            os.unlink(os.path.join(c.folder, file))
        ran = preloaded(c, command, FAULT_AT=place)
        messages, n = ran.stderr.decode(errors="replace"), len(c.problems)
        c.judge(ran.returncode, messages)
        c.check(ran.returncode == 0 or "cpprof: " in messages, "no message")
        out = ran.stdout.decode(errors="replace")
        if ran.returncode == 0 or out:
            c.target_said(out, ROUNDS)
        if os.path.exists(os.path.join(c.folder, "p.data")):
            c.profile("p.data", is_empty=True)
        c.check(set(os.listdir(c.folder)) <= {"p.data"}, f"files: {os.listdir(c.folder)}")
        if len(c.problems) > n:
            c.problems[n:] = [f"{kind} {place}: " + ", ".join(c.problems[n:]) + " " + messages.strip()]
    c.expected_files.add("p.data")


def reading(c, kinds):
    made = subprocess.run([CPPROF, "record", "-q", "-o", "p.data", "--", TARGET, "work"], cwd=c.folder, capture_output=True, env=c.environment())
    if made.returncode == 3:
        raise Skip("perf_event is not available here")
    c.expected_files.add("p.data")
    for command in ([CPPROF, "report", "p.data"], [CPPROF, "export", "p.data", "-f", "json"], [CPPROF, "check", "p.data"]):
        for kind, place in places(c, command, kinds):
            ran = preloaded(c, command, FAULT_AT=place)
            messages, n = ran.stderr.decode(errors="replace"), len(c.problems)
            c.judge(ran.returncode, messages)
            c.check(ran.returncode == 0 or "cpprof: " in messages or kind in ("write", "writev"), "no message")
            if len(c.problems) > n:
                c.problems[n:] = [f"{command[1]} {kind} {place}: " + ", ".join(c.problems[n:]) + " " + messages.strip()]


for what, kinds in KINDS.items():
    case(f"recording: a libc call fails once: {what}", code=(0, 1, 3, 4, 5), kept="a complete profile, or none")(lambda c, kinds=kinds: recording(c, kinds))
case("report, export, check: a libc call fails once", code=(0, 1, 6), kept="the profile")(
    lambda c: reading(c, [k for kinds in KINDS.values() for k in kinds if k not in ("fork", "pthread_create", "perf_event_open", "bpf")]))

fault.main("Failing libc calls of cpprof")
