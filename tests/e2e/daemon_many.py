#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""daemon_many.py SECONDS: the memory of a daemon that sees 500 processes at a time of 2,000 programs, at ten times the usual
rate: the proportional set size of the daemon and of its child processes, which look up names at the end of each epoch. Once it
has met all programs it needs no more than before, and at any time no more than it should; no sample is lost unsaid."""
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
    """Copies of one program, each with a build-id of its own."""
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
    """A cgroup for them: what else runs on this machine has images of its own."""
    with open("/proc/mounts") as file:
        roots = [line.split()[1] for line in file if line.split()[2] == "cgroup2"]
    group = roots and os.path.join(roots[0], "cpprof_many_%d" % os.getpid())
    try:
        os.mkdir(group)
    except (OSError, TypeError):
        skip("no cgroup can be made")
    return group


def children_of(pid):
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task)) as file:
            yield from map(int, file.read().split())


def resident_mb(pid):
    """Pages that several processes share are counted once. A process may end at any time."""
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
    """Resident memory, five times a second; as many processes as wanted are kept alive."""
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
        skip("only root may see the whole machine")
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
        assert statistics.median(late) <= LIMIT_MB, "it takes more memory than it should"
        assert max(seen) <= LIMIT_MB, "it takes more memory than it should while names are looked up"
        assert statistics.median(late) <= 1.25 * statistics.median(half) + 8, "its memory grows"
    finally:
        shutil.rmtree(folder)


main()
