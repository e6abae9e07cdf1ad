#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""daemon_files.py: a daemon that meets ever new programs, which are deleted after use, forgets them: its memory does not grow, it
does not keep the deleted files on the disk, and what it then learns about others is not mistaken for them."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

N_PROGRAMS, N_ROUNDS, EPOCH_S = 400, 3, 2
cpprof, build = os.environ["CPPROF"], os.environ["BUILD"]


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def make_group():
    with open("/proc/mounts") as file:
        roots = [line.split()[1] for line in file if line.split()[2] == "cgroup2"]
    group = roots and os.path.join(roots[0], "cpprof_files_%d" % os.getpid())
    try:
        os.mkdir(group)
    except (OSError, TypeError):
        skip("no cgroup can be created")
    return group


def enter(group):
    with open(os.path.join(group, "cgroup.procs"), "w") as file:
        file.write(str(os.getpid()))


def run_programs(folder, group, first):
    """Copies of one program, each with its own build-id, which run, and are deleted; and other files with code."""
    with open(os.path.join(build, "tests/e2e/visitor"), "rb") as file:
        code = bytearray(file.read())
    at = code.find(b"\x14\0\0\0\x03\0\0\0GNU\0")
    if at < 0:
        skip("the program was built without a build-id")
    alive, names = [], []
    for i in range(first, first + N_PROGRAMS):
        code[at + 12 : at + 16] = i.to_bytes(4, "little")
        names.append(os.path.join(folder, "program%04d" % i))
        with open(names[-1], "wb") as file:
            file.write(code)
        os.chmod(names[-1], 0o755)
        alive.append(subprocess.Popen([names[-1], "1"], preexec_fn=lambda: enter(group)))
        if len(alive) > 40:
            alive.pop(0).wait()
    for process in alive:
        process.wait()
    files = os.path.join(folder, "files")
    os.mkdir(files)
    subprocess.run([os.path.join(build, "tests/attacks/many_files"), files, "4000", "0.05"], check=True)
    for name in names:
        os.unlink(name)
    shutil.rmtree(files)


def own_mb(pid):
    with open("/proc/%d/status" % pid) as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith("RssAnon:"))


def deleted_of(pid, folder):
    with open("/proc/%d/maps" % pid) as file:
        return sum(folder in line and "(deleted)" in line for line in file)


def files_of(database, comm):
    """The names of the files in which a program has samples."""
    query = [cpprof, "export", "--database", database, "--process", comm, "-f", "ndjson", "--wide"]
    lines = subprocess.run(query, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines()
    nodes = [node for node in map(json.loads, lines) if node["t"] == "node"]
    return {node["module"] for node in nodes if node["total"]["samples"]}


def main():
    if os.geteuid() != 0:
        skip("only root may profile the whole machine")
    folder = tempfile.mkdtemp(prefix="cpprof_files.", dir="/dev/shm")
    wrong, group, daemon = [], None, None
    try:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        database = os.path.join(folder, "db")
        probe = subprocess.run([cpprof, "record", "-a", "-q", "--no-resolve", "-o", os.path.join(folder, "probe"), "--", "true"])
        if probe.returncode not in (0, 5):
            skip("record -a is refused")
        group = make_group()
        daemon = subprocess.Popen([cpprof, "daemon", "-q", "--database", database, "--epoch", "%ds" % EPOCH_S, "-F", "997", "--cgroup", group])
        time.sleep(1)
        before = own_mb(daemon.pid)
        for n in range(N_ROUNDS):
            run_programs(folder, group, n * N_PROGRAMS)
            most = own_mb(daemon.pid)
            time.sleep(7 * EPOCH_S)
            after, kept = own_mb(daemon.pid), deleted_of(daemon.pid, folder)
            print("own MB: %.0f before, %.0f then, %.0f later; %d deleted files are mapped" % (before, most, after, kept))
            if after > before + 12:
                wrong.append("memory is not freed")
            if kept > 256:
                wrong.append("deleted files are kept")
        daemon.terminate()
        if daemon.wait() != 0:
            wrong.append("the daemon failed")
        n_sampled = 0
        for i in range(0, N_ROUNDS * N_PROGRAMS, 7):
            own = "program%04d" % i
            names = {name for name in files_of(database, own) if name.startswith("program")}
            n_sampled += names == {own}
            if names - {own}:
                wrong.append("samples of %s are said to be in %s" % (own, sorted(names)))
        print("%d of %d programs have samples, and only in their own file" % (n_sampled, len(range(0, N_ROUNDS * N_PROGRAMS, 7))))
        if n_sampled < 20:
            wrong.append("too few programs have samples")
    finally:
        if daemon:
            daemon.kill()
            daemon.wait()
        shutil.rmtree(folder)
        if group:
            os.rmdir(group)
    for line in wrong:
        print("FAILED:", line)
    sys.exit(bool(wrong))


main()
