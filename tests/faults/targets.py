#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Targets that are difficult to profile. usage: targets.py [--write] [--full] [WORD]"""
import os
import shutil
import signal
import subprocess
import time

import fault
from fault import CPPROF, TARGET, Skip, case

LIBRARY = os.path.join(fault.BUILD, "tests", "e2e", "libspin_plugin.so")


def recorded(c, *mode, code_of_target=0):
    """Runs the target under `cpprof record`; its output must be correct."""
    out = c.cpprof("record", "-o", "p.data", "--", TARGET, *mode)
    if code_of_target == 0:
        c.target_said(out)
    c.profile("p.data")
    return out


@case("the target ends with an error", code=3)
def ends(c):
    recorded(c, "status", 3)


@case("the target replaces itself (exec)")
def replaces(c):
    recorded(c, "exec")


@case("the target forks 1000 children")
def forks(c):
    recorded(c, "forks", 1000)


@case("the target creates 10,000 threads")
def threads(c):
    recorded(c, "threads", 10000)


@case("the target dies by SIGSEGV", code=139, message="killed by signal 11")
def segv(c):
    recorded(c, "signal", 11, code_of_target=139)


@case("the target is killed", code=137, message="killed by signal 9")
def killed(c):
    recorded(c, "signal", 9, code_of_target=137)


@case("the target ends while it is profiled")
def ends_attached(c):
    target = c.start_target("work")
    c.cpprof("attach", "-q", "-p", target.pid, "-o", "p.data")
    c.target_ends_well(target)
    c.profile("p.data")


@case("the target is killed while it is profiled")
def killed_attached(c):
    target = c.start_target("work", 2000)
    watcher = c.start([CPPROF, "attach", "-q", "-p", str(target.pid), "-o", "p.data"], stderr=subprocess.PIPE)
    time.sleep(1)
    target.kill()
    c.judge(watcher.wait(timeout=60), watcher.stderr.read())
    c.profile("p.data")


@case("the target is stopped", code=5, message="to continue it: kill -CONT", kept="nothing: nothing was recorded")
def stopped(c):
    target = c.start_target("work", 100)
    target.send_signal(signal.SIGSTOP)
    time.sleep(0.1)
    c.cpprof("attach", "-p", target.pid, "-d", 0.3, "-o", "p.data")
    target.send_signal(signal.SIGCONT)
    c.target_ends_well(target, 100)
    c.expected_files.add("p.data")


@case("the target is a zombie", code=4, message="it is a zombie: it has ended", kept="nothing: nothing was recorded")
def zombie(c):
    target = c.start_target("work", 1)
    while True:
        with open(f"/proc/{target.pid}/stat") as f:
            if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                break
        time.sleep(0.01)
    c.cpprof("attach", "-q", "-p", target.pid, "-d", 0.3, "-o", "p.data")
    c.target_ends_well(target, 1)


@case("the target is being traced by another program")
def traced(c):
    target = c.start_target("traced")
    pid = target.stdout.readline().split()[1]
    c.cpprof("attach", "-q", "-p", pid, "-o", "p.data")
    c.target_ends_well(target, 160)
    c.profile("p.data")


@case("the target runs in its own namespaces", needs_root=True)
def namespaces(c):
    apart = ["unshare", "--pid", "--fork", "--mount", "--net", "--ipc", "--uts", "--mount-proc"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode != 0:
        raise Skip("unshare is refused here")
    target = c.start([*apart, TARGET, "work", "300"], stdout=subprocess.PIPE)
    time.sleep(0.3)
    c.cpprof("attach", "-q", "-p", target.pid, "-d", 0.5, "-o", "p.data")
    c.target_ends_well(target, 300)
    c.profile("p.data")


def with_copy(c, after_start):
    shutil.copy(TARGET, os.path.join(c.folder, "copy"))
    c.expected_files.add("copy")
    target = c.start([os.path.join(c.folder, "copy"), "work", "200"], stdout=subprocess.PIPE)
    time.sleep(0.1)
    after_start(os.path.join(c.folder, "copy"))
    c.cpprof("attach", "-q", "-p", target.pid, "-d", 0.5, "-o", "p.data")
    c.target_ends_well(target, 200)
    c.profile("p.data")
    names = subprocess.run([CPPROF, "report", "p.data"], cwd=c.folder, capture_output=True, text=True, env=c.environment()).stdout
    c.check("compute" in names, "the target's function has no name")


@case("the target's file is deleted")
def deleted(c):
    with_copy(c, os.unlink)


@case("the target's file is replaced by another")
def replaced(c):
    def replace(path):
        os.unlink(path)
        shutil.copy(CPPROF, path)

    with_copy(c, replace)


@case("the target loads and unloads a library 2000 times")
def libraries(c):
    recorded(c, "libraries", LIBRARY, 2000)


@case("the target creates 100,000 mappings")
def mappings(c):
    recorded(c, "mappings", 100000)


@case("/proc is missing", needs_root=True)
def no_proc(c):
    bare = ["unshare", "--mount", "sh", "-c", 'umount -l /proc && exec "$@"', "sh"]
    if subprocess.run([*bare, "true"], capture_output=True).returncode != 0:
        raise Skip("unshare is refused here")
    c.target_said(c.cpprof("record", "-q", "-o", "p.data", "--", TARGET, "work", before=bare))
    c.profile("p.data")


@case("the target's name contains escape sequences")
def name(c):
    recorded(c, "name")
    for view in ("tree", "flat", "quality"):
        ran = subprocess.run([CPPROF, "report", "--view", view, "--group-by", "thread", "p.data"], cwd=c.folder, capture_output=True, env=c.environment())
        c.check(b"\033" not in ran.stdout + ran.stderr, f"an escape sequence in the {view} view")


@case("the target's stack pointer points nowhere")
def sp(c):
    recorded(c, "sp")


fault.main("What the target does")
