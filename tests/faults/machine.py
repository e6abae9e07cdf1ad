#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults of the machine: full disk, no descriptors, memory or processes, clock set back, CPU offline.
usage: machine.py [--write] [--full] [WORD]"""
import os
import subprocess
import time

import fault
from fault import CPPROF, TARGET, Skip, case

NOBODY = 65534
# The emulated machine of tests/machine: its clock and CPUs may be changed.
IS_OURS = os.environ.get("FAULTS_MACHINE") == "1"
# Taking a CPU offline affects every program on the machine.
MAY_SWITCH = IS_OURS or os.environ.get("CPPROF_TEST_HOTPLUG") == "1"


def limited(option, value):
    return ["sh", "-c", f'ulimit {option} {value} && exec "$@"', "sh"]


def nobody(c):
    """The prefix to run a command as an unprivileged user, to whom the case's directory is given."""
    if os.getuid() != 0:
        return []
    os.chown(c.folder, NOBODY, NOBODY)
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all", "--"]


def small_disk(c, size):
    path = os.path.join(c.folder, "small")
    os.mkdir(path)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], capture_output=True).returncode != 0:
        raise Skip("mounting is not allowed here")
    return path


@case("the disk is full", code=1, message="it is kept as", kept="the profile, in $TMPDIR", needs_root=True)
def full(c):
    path = small_disk(c, "4k")
    try:
        subprocess.run(["dd", "if=/dev/zero", f"of={path}/filler", "bs=4k"], capture_output=True)
        os.mkdir(os.path.join(c.folder, "tmp"))
        c.target_said(c.cpprof("record", "-q", "-o", "small/p.data", "--", TARGET, "work", TMPDIR=os.path.join(c.folder, "tmp")))
        kept = os.listdir(os.path.join(c.folder, "tmp"))
        c.check(len(kept) == 1, f"kept: {kept}")
        for file in kept:
            c.profile("tmp/" + file)
        c.check(os.listdir(path) == ["filler"], f"on the disk: {os.listdir(path)}")
    finally:
        subprocess.run(["umount", path])


@case("the directory is not writable", code=1, message="cannot write", kept="nothing: the target is not started", needs_root=True)
def unwritable(c):
    path = small_disk(c, "1m")
    try:
        subprocess.run(["mount", "-o", "remount,ro", path], check=True)
        c.check(c.cpprof("record", "-q", "-o", "small/p.data", "--", TARGET, "work") == "", "the target was started")
    finally:
        subprocess.run(["umount", path])


@case("too few descriptors (any number from 4 to 24)", code=(1, 0, 3, 5, 127), message="cpprof: ", kept="the profile, where there is one")
def descriptors(c):
    for n in range(4, 25):
        ran = subprocess.run([*limited("-n", n), CPPROF, "record", "-q", "-o", f"p{n}.data", "--", TARGET, "work", "5"], cwd=c.folder,
                             capture_output=True, text=True, env=c.environment())
        c.judge(ran.returncode, ran.stderr)
        if ran.returncode == 0:
            c.target_said(ran.stdout, 5)
            c.profile(f"p{n}.data", is_empty=True)
        c.expected_files.add(f"p{n}.data")


@case("no locked memory and no privileges", code=(0, 3), kept="the profile, if the system allows users to profile")
def locked(c):
    ran = subprocess.run([*nobody(c), *limited("-l", 0), CPPROF, "record", "-q", "-o", "p.data", "--", TARGET, "work"], cwd=c.folder,
                         capture_output=True, text=True, env=c.environment())
    c.judge(ran.returncode, ran.stderr)
    if ran.returncode == 0:
        c.target_said(ran.stdout)
        c.profile("p.data")


@case("too little memory (any limit from 12 to 120 MB)", code=(1, 0, 3, 5, 127), message="cpprof: ", kept="the profile, where there is one")
def memory(c):
    for mb in range(12, 121, 6):
        ran = subprocess.run([*limited("-v", mb * 1024), CPPROF, "record", "-q", "-o", f"p{mb}.data", "--", TARGET, "work", "10"], cwd=c.folder,
                             capture_output=True, text=True, env=c.environment())
        c.judge(ran.returncode, ran.stderr)
        c.expected_files.add(f"p{mb}.data")
        if ran.returncode == 0:
            c.target_said(ran.stdout, 10)
            c.profile(f"p{mb}.data", is_empty=True)


@case("no process can be started", code=1, message="cannot start", kept="nothing: the target is not started")
def fork(c):
    before = nobody(c)
    if not before:
        raise Skip("needs root, to switch to a user without other processes")
    c.check(c.cpprof("record", "-q", "-o", "p.data", "--", TARGET, "work", before=[*before, "prlimit", "--nproc=0:0"]) == "", "the target was started")


@case("20 busy processes for each CPU", only_full=True)
def busy(c):
    crowd = [c.start_target("work", 3000) for _ in range(20 * os.cpu_count())]
    c.target_said(c.cpprof("record", "-q", "-o", "p.data", "--", TARGET, "work", 400), 400)
    c.profile("p.data")
    for other in crowd:
        other.kill()
        other.stdout.close()


@case("the clock is set back", needs_root=True)
def clock(c):
    if not IS_OURS:
        raise Skip("the clock is set only in the emulated machine: tests/machine/run.sh faults.clock")
    target = c.start([CPPROF, "record", "-q", "-o", "p.data", "--", TARGET, "work", "300"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    c.await_child(target)
    time.sleep(1)
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) - 86400)
    try:
        out, messages = target.communicate(timeout=240)
    finally:
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + 86400)
    c.judge(target.returncode, messages)
    c.target_said(out, 300)
    c.profile("p.data")
    duration = fault.fact(os.path.join(c.folder, "p.data"), "duration_ms")
    c.check(0 < duration < 240000, f"the duration is {duration} ms")


def switch_cpu(switch, is_on):
    with open(switch, "w") as f:
        f.write("1" if is_on else "0")


@case("a CPU goes offline and comes back", needs_root=True)
def offline(c):
    """With a command, whose CPU time must be fully sampled; then with -a."""
    switch = f"/sys/devices/system/cpu/cpu{os.cpu_count() - 1}/online"
    if not MAY_SWITCH:
        raise Skip("it affects every program on the machine; CPPROF_TEST_HOTPLUG=1 allows it")
    if os.cpu_count() < 2 or not os.access(switch, os.W_OK):
        raise Skip("no CPU can be taken offline here")
    for options in ((), ("-a",)):
        target = c.start([CPPROF, "record", "-q", *options, "-o", "p.data", "--", TARGET, "work", "1000"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        c.await_child(target)
        try:
            for is_on in (False, True):
                time.sleep(0.7)
                switch_cpu(switch, is_on)
            out, messages = target.communicate(timeout=240)
        finally:
            switch_cpu(switch, True)
        c.judge(target.returncode, messages)
        c.target_said(out, 1000)
        c.profile("p.data")
        counted, sampled = (fault.fact(os.path.join(c.folder, "p.data"), key) for key in ("counted_ms", "sampled_ms"))
        c.check(options or 0.9 * counted < sampled < 1.1 * counted, f"{counted} ms counted, {sampled} ms sampled")


fault.main("What the machine lacks")
