# SPDX-License-Identifier: Apache-2.0
"""Measures one run of one workload under one profiler, and the time of its report."""
import json
import os
import select
import shutil
import signal
import subprocess
import time

from peers import PEERS
from workloads import WORK, tool

REPORT_TIMEOUT = 120


def size_of(path):
    if not os.path.exists(path):
        return 0
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(r, f)) for r, _, files in os.walk(path) for f in files)


def peak_kb(pid, tree):
    """Peak resident memory of a process, and on request of its current children (perf's addr2line)."""
    kb = 0
    try:
        with open(f"/proc/{pid}/status") as status:
            kb = next((int(line.split()[1]) for line in status if line.startswith("VmHWM")), 0)
        if tree:
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                kb += sum(peak_kb(int(child), True) for child in children.read().split())
    except OSError:
        pass
    return kb


def own_cpu(pid):
    """CPU seconds of a process and of the children that it has waited for; None if it has exited."""
    own = 0
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat") as schedstat:
                own += int(schedstat.read().split()[0])
        with open(f"/proc/{pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return own / 1e9 + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return None


def watch(process, timeout=None, tree=False, trace=None):
    """Waits for a process; returns its rusage, its own peak memory, and whether it had to be killed. Returns as soon as it has
    ended: some runs are shorter than the interval between two readings of its memory."""
    end = select.poll()
    with os.fdopen(os.pidfd_open(process.pid)) as handle:
        end.register(handle, select.POLLIN)
        return look_until(end, process, timeout, tree, trace)


def look_until(end, process, timeout, tree, trace):
    start, peak, killed = time.monotonic(), 0, False
    while True:
        if trace is not None:
            trace.append((time.monotonic(), own_cpu(process.pid)))
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used, peak, killed
        if timeout and not killed and time.monotonic() - start > timeout:
            os.killpg(process.pid, signal.SIGKILL)
            killed = True
        peak = max(peak, peak_kb(process.pid, tree))
        end.poll(10)


def steady(trace, target):
    """CPU of the profiler from two seconds after the target's start to its end, per second; None for short runs."""
    first, last = target["end"] - target["wall"] + 2, target["end"] - 0.1  # later the target counts among its children
    inside = [(at, cpu) for at, cpu in trace if first <= at <= last and cpu is not None]
    if len(inside) < 2 or inside[-1][0] - inside[0][0] < 10:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def record(peer, workload, command, env, rep):
    """Runs the command under a profiler; the result of the last repetition stays on disk."""
    spec = PEERS[peer]
    folder = os.path.join(WORK, "out", peer, workload)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    out = os.path.join(folder, spec["out"]) if spec["out"] else None
    cost_file = os.path.join(folder, "target.json")
    argv = spec["record"].format(out=out).split() + [tool("timewrap"), cost_file] + command
    store = {"XDG_CACHE_HOME": os.path.join(WORK, "out", spec.get("store", peer), workload, "cache")}
    os.makedirs(store["XDG_CACHE_HOME"], 0o700, exist_ok=True)
    with open(os.path.join(folder, "stderr"), "w") as err:
        process = subprocess.Popen(argv, env={**os.environ, **env, **store}, stdout=subprocess.DEVNULL, stderr=err, cwd=folder,
                                   start_new_session=True)
        trace = []
        used, peak, _ = watch(process, trace=trace)
    end = time.monotonic()
    with open(cost_file) as file:
        target = json.load(file)
    run = {"peer": peer, "workload": workload, "rep": rep, "status": process.returncode, "target": target,
           "cpu_s": used.ru_utime + used.ru_stime - target["cpu"], "peak_kb": peak, "after_end_s": end - target["end"],
           "steady_cpu": steady(trace, target)}
    if spec.get("resolve"):
        run["resolve"] = report(spec["resolve"].format(out=out), store)
    run["bytes"] = size_of(out) if out else 0
    if spec["read"]:
        run.update(spec["read"](out))
    run["report"] = {name: report(command.format(out=out)) for name, command in spec["report"].items()} if rep == 0 else {}
    return run


def report(command, env=None):
    start = time.monotonic()
    process = subprocess.Popen(command.split(), env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    used, peak, killed = watch(process, REPORT_TIMEOUT, tree=True)
    if process.returncode and not killed:
        raise ValueError(f"exit code {process.returncode} of {command}")
    return {"wall_s": time.monotonic() - start, "cpu_s": used.ru_utime + used.ru_stime, "peak_kb": peak, "timed_out": killed,
            "status": process.returncode}


def steal(prefix):
    """The time stolen from a target per second, as measured by the target."""
    folder = os.path.join(WORK, "out", "steal")
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run(prefix.format(out=folder + "/data").split() + [tool("stealprobe"), "3", "100"], cwd=folder,
                          capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[0]) if lines else None
