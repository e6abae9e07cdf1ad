#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""daemon_many.py SECONDS: the memory (proportional set size) of a daemon and its child processes, which look up symbols at the
end of each epoch, while 500 processes of 2,000 programs run at a time, at ten times the default rate. It stays below a limit,
and does not grow once all programs have been seen."""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

N_PROGRAMS, N_AT_A_TIME = 2000, 500
LIMIT_MB = 64
cpprof, build = os.environ["CPPROF"], os.environ["BUILD"]
seconds = float(sys.argv[1])


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def make_programs(folder):
    """Copies of one program, each with its own build-id."""
    with open(os.path.join(build, "tests/e2e/visitor"), "rb") as file:
        code = bytearray(file.read())
    at = code.find(b"\x14\0\0\0\x03\0\0\0GNU\0")
    if at < 0:
        skip("the program was built without a build-id")
    names = []
    for i in range(N_PROGRAMS):
        code[at + 12 : at + 16] = i.to_bytes(4, "little")
        names.append(os.path.join(folder, "program%04d" % i))
        with open(names[-1], "wb") as file:
            file.write(code)
        os.chmod(names[-1], 0o755)
    return names


def make_group():
    """A cgroup for them, to exclude everything else that runs on this machine."""
    with open("/proc/mounts") as file:
        roots = [line.split()[1] for line in file if line.split()[2] == "cgroup2"]
    group = roots and os.path.join(roots[0], "cpprof_many_%d" % os.getpid())
    try:
        os.mkdir(group)
    except (OSError, TypeError):
        skip("no cgroup can be created")
    return group


def children_of(pid):
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task)) as file:
            yield from map(int, file.read().split())


def resident_mb(pid):
    """PSS of a process and its descendants, which may exit at any time; shared pages are counted once."""
    total, todo = 0, [pid]
    while todo:
        try:
            pid = todo.pop()
            todo += children_of(pid)
            with open("/proc/%d/smaps_rollup" % pid) as file:
                total += next(int(line.split()[1]) / 1024 for line in file if line.startswith("Pss:"))
        except (OSError, StopIteration):
            pass
    return total


def enter(group):
    with open(os.path.join(group, "cgroup.procs"), "w") as file:
        file.write(str(os.getpid()))


def watch(daemon, programs, group):
    """Samples the daemon's memory five times a second while keeping N_AT_A_TIME processes alive."""
    alive, seen, started, end = [], [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        alive = [process for process in alive if process.poll() is None]
        for _ in range(min(40, N_AT_A_TIME - len(alive))):
            alive.append(subprocess.Popen([programs[started % N_PROGRAMS], "12"], preexec_fn=lambda: enter(group)))
            started += 1
        for _ in range(5):
            time.sleep(0.2)
            seen.append(resident_mb(daemon.pid))
        assert daemon.poll() is None, "the daemon has ended"
    for process in alive:
        process.kill()
        process.wait()
    return seen, started


def main():
    if os.geteuid() != 0:
        skip("only root may profile the whole machine")
    folder = tempfile.mkdtemp(prefix="cpprof_many.")
    try:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        database = os.path.join(folder, "db")
        probe = subprocess.run([cpprof, "record", "-a", "-q", "--no-resolve", "-o", os.path.join(folder, "probe"), "--", "true"])
        if probe.returncode not in (0, 5):
            skip("record -a is refused")
        programs = make_programs(folder)
        group = make_group()
        daemon = subprocess.Popen([cpprof, "daemon", "-q", "--database", database, "--epoch", "20s", "-F", "190", "--cgroup", group])
        seen, started = watch(daemon, programs, group)
        os.rmdir(group)
        daemon.terminate()
        assert daemon.wait() == 0, "the daemon failed"
        epochs = [json.loads(line) for line in subprocess.check_output([cpprof, "epochs", "-f", "ndjson", database]).splitlines()]
        samples, lost = (sum(epoch[key] for epoch in epochs) for key in ("samples", "lost"))
        half, late = seen[len(seen) // 3 : 2 * len(seen) // 3], seen[2 * len(seen) // 3 :]
        print("%d processes; resident MB: %.0f in the second third, %.0f in the last, %.0f at most; %d samples, %d lost"
              % (started, statistics.median(half), statistics.median(late), max(seen), samples, lost))
        assert samples > 0, "nothing was recorded"
        assert statistics.median(late) <= LIMIT_MB, "the daemon's memory exceeds the limit"
        assert max(seen) <= LIMIT_MB, "the daemon's memory exceeds the limit during symbol lookup"
        assert statistics.median(late) <= 1.25 * statistics.median(half) + 8, "the daemon's memory grows"
    finally:
        shutil.rmtree(folder)


main()
