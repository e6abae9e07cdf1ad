#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What may happen to cpprof itself: signals, and other tools on the same target. usage: profiler.py [--write] [--full] [WORD]"""
import os
import random
import shutil
import signal
import subprocess
import time

import fault
from fault import CPPROF, TARGET, Skip, case

MOMENTS = 1000 if fault.IS_FULL else 12
LONG = 900  # rounds of the target: about four seconds on a fast CPU; longer than any case
MIDDLE = 400
SHORT = 80


def watched(c, *options, rounds=LONG):
    target = c.start_target("work", rounds)
    watcher = c.start([CPPROF, "attach", "-q", "-p", str(target.pid), "-o", "p.data", *options], stderr=subprocess.PIPE)
    return target, watcher


def signalled(c, *signals):
    target, watcher = watched(c, rounds=MIDDLE)
    time.sleep(0.7)
    for number in signals:
        watcher.send_signal(number)
        time.sleep(0.02)
    messages = watcher.communicate(timeout=60)[1]
    c.judge(watcher.returncode, messages)
    c.target_ends_well(target, MIDDLE)


@case("Ctrl-C (SIGINT)")
def interrupted(c):
    signalled(c, signal.SIGINT)
    c.profile("p.data")


@case("Ctrl-C twice", code=(130, 0), message="the profile was written without them", kept="the profile, with names if they were found in time")
def interrupted_twice(c):
    signalled(c, signal.SIGINT, signal.SIGINT)
    c.profile("p.data")


@case("SIGTERM")
def terminated(c):
    signalled(c, signal.SIGTERM)
    c.profile("p.data")


@case("the terminal is closed (SIGHUP)")
def hung_up(c):
    signalled(c, signal.SIGHUP)
    c.profile("p.data")


@case("cpprof is killed (SIGKILL)", code=-9, kept="the last checkpoint")
def killed(c):
    target, watcher = watched(c, "--checkpoint", "0.3")
    first = os.path.join(c.folder, "p.data")
    end = time.monotonic() + 60
    while not os.path.exists(first) and time.monotonic() < end:  # on a busy machine the first checkpoint is late
        time.sleep(0.1)
    time.sleep(1)
    watcher.kill()
    c.judge(watcher.wait(), watcher.stderr.read())
    c.target_ends_well(target, LONG)
    c.profile("p.data")


@case("cpprof is stopped for a while (SIGSTOP)")
def stopped(c):
    target, watcher = watched(c)
    time.sleep(0.5)
    watcher.send_signal(signal.SIGSTOP)
    time.sleep(10 if fault.IS_FULL else 1)
    watcher.send_signal(signal.SIGCONT)
    c.target_ends_well(target, LONG)
    c.judge(watcher.wait(timeout=60), watcher.stderr.read())
    c.profile("p.data")


@case("the reader of its stream ends (SIGPIPE)", code=(1, 0), kept="the profile")
def piped(c):
    read, write = os.pipe()
    os.close(read)
    target = c.start_target("work", MIDDLE)
    watcher = c.start([CPPROF, "attach", "-q", "-p", str(target.pid), "--stream", "0.2", "-o", "p.data"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    c.judge(watcher.wait(timeout=60), watcher.stderr.read())
    c.target_ends_well(target, MIDDLE)
    c.profile("p.data", is_empty=True)


@case("any of these signals at any moment", code=(0, 5, 130, 143, 129, -2, -15, -1, -9), kept="a complete profile, or none")
def any_moment(c):
    chance = random.Random(11)
    for i in range(MOMENTS):
        number = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
        target = c.start_target("work", SHORT)
        watcher = c.start([CPPROF, "attach", "-q", "-p", str(target.pid), "-o", f"p{i}.data", "--checkpoint", "0.05"], stderr=subprocess.PIPE)
        time.sleep(chance.random() * 0.4)
        watcher.send_signal(number)
        c.judge(watcher.wait(timeout=60), watcher.stderr.read())
        c.target_ends_well(target, SHORT)
        watcher.stderr.close()
        target.stdout.close()
        if os.path.exists(os.path.join(c.folder, f"p{i}.data")):
            c.profile(f"p{i}.data", is_empty=True)
        # After SIGKILL, a temporary file may remain.
        if number == signal.SIGKILL:
            c.expected_files.update(f for f in os.listdir(c.folder) if f.startswith(f"p{i}.data"))


@case("two cpprofs profile one target")
def twice(c):
    target = c.start_target("work", MIDDLE)
    other = c.start([CPPROF, "attach", "-q", "-p", str(target.pid), "-o", "q.data"], stderr=subprocess.PIPE)
    c.cpprof("attach", "-q", "-p", target.pid, "-o", "p.data")
    c.check(other.wait(timeout=60) == 0, other.stderr.read())
    c.target_ends_well(target, MIDDLE)
    c.profile("p.data")
    c.profile("q.data")


def beside(c, command, needs=None):
    if not shutil.which(command[0]):
        raise Skip(f"no {command[0]}")
    target = c.start_target("work", LONG)
    other = c.start([w.replace("PID", str(target.pid)) for w in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    time.sleep(1)
    c.cpprof("attach", "-q", "-p", target.pid, "-d", 1, "-o", "p.data")
    other.send_signal(signal.SIGINT)
    c.target_ends_well(target, LONG)
    c.profile("p.data")


@case("perf records the same target", needs_root=True)
def perf(c):
    beside(c, ["perf", "record", "-q", "-g", "-o", "perf.data", "-p", "PID"])
    c.expected_files.update(("perf.data", "perf.data.old"))


@case("gdb is attached to the same target", needs_root=True)
def gdb(c):
    beside(c, ["gdb", "-q", "-batch", "-p", "PID", "-ex", "continue"])


@case("bpftrace samples the same target", needs_root=True)
def bpftrace(c):
    beside(c, ["bpftrace", "-e", "profile:hz:199 /pid == PID/ { @[ustack] = count(); }"])


fault.main("What happens to cpprof")
