#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record -a (the whole machine): CPU time of processes agrees with rusage within four standard errors of sampling, the total
with the busy time in /proc/stat, and the shares with perf record -a. Also --allow, --deny and --clock, and the users of processes.
Argument: seconds of load (6)."""
import collections
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

CPPROF = os.environ["CPPROF"]
SHARES = os.path.join(os.environ["BUILD"], "tests", "e2e", "shares")
FACTS = os.path.join(os.environ["BUILD"], "tests", "e2e", "facts")
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 6
RATE = 997
COPIES = ["share_a", "share_b", "share_c"]  # the last one runs as another user
OTHER_USER = 65534
passed = failed = 0


def skip(why):
    print("skipped: " + why)
    sys.exit(77)


def claim(ok, text):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED: " + text)


LOAD = r'''
import json, os, subprocess, sys, time, signal
def busy():
    values = [int(v) for v in open("/proc/stat").readline().split()[1:]]
    return (values[0] + values[1] + values[2] + values[5] + values[6]) / os.sysconf("SC_CLK_TCK")
seconds, other, names = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
perf = None
if "WITH_PERF" in os.environ: # started here, after cpprof: perf 6.1 aborts if BPF programs are loaded while it records
    perf = subprocess.Popen(["perf", "record", "-q", "-a", "-F", os.environ["WITH_PERF"], "-e", "cpu-clock", "-o", "perf.data", "--",
                             "sh", "-c", "echo ready; read end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    perf.stdout.readline()
before, started = busy(), time.monotonic()
running = {}
for name in names:
    user = other if name == names[-1] else None
    running[name] = subprocess.Popen(["./" + name, "2000000000"], user=user, stdout=subprocess.DEVNULL)
time.sleep(seconds)
used = {}
for name, process in running.items():
    process.kill()
    _, _, usage = os.wait4(process.pid, 0)
    used[name] = usage.ru_utime + usage.ru_stime
json.dump({"busy": busy() - before, "used": used, "wall": time.monotonic() - started}, open("load.json", "w"))
if perf:
    perf.communicate("end\n")
'''

SHORT = r'''
import json, os, resource
for i in range(400):
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
both = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
json.dump(sum(u.ru_utime + u.ru_stime for u in both), open("short.json", "w"))
'''


# They change their user themselves, and have ended when the rings are read.
USERS = r'''
import ctypes, os, sys, time
PR_SET_NAME = 15
libc = ctypes.CDLL(None)
end = time.monotonic() + 1.5
while time.monotonic() < end:
    pid = os.fork()
    if not pid:
        os.setgid(int(sys.argv[1]))
        os.setuid(int(sys.argv[1]))
        libc.prctl(PR_SET_NAME, b"share_user")
        start = time.process_time()
        while time.process_time() < start + .02:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
time.sleep(1)
'''


def run(*command, codes=(0,)):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in codes:
        print(f"FAILED: exit code {done.returncode} of {' '.join(command)}\n{done.stderr[-400:]}")
        sys.exit(1)
    return done


def processes(file):
    """(CPU seconds, samples) by process name; total seconds, total samples, duration."""
    report = json.loads(run(CPPROF, "report", file, "--group-by", "process", "--format", "json", "--percent-limit", "0",
                            "--limit", "0").stdout)
    rows = {}
    for row in report["rows"]:
        seconds, samples = rows.get(row["name"], (0, 0))
        rows[row["name"]] = (seconds + row["total"] / 1e9, samples + row["total_samples"])
    return rows, report["total"] / 1e9, report["samples"], report["duration_ns"] / 1e9


def four_errors(samples):
    """Four standard errors, in seconds; random periods make the error slightly larger than sqrt(n) periods."""
    return 4 * 1.06 * math.sqrt(max(samples, 1)) / RATE


def load(*options, output):
    run(CPPROF, "record", "-a", "-q", "--no-resolve", "-e", "cpu-clock", "-F", str(RATE), "-o", output, *options, "--",
        sys.executable, "load.py", str(SECONDS), str(OTHER_USER), *COPIES)
    with open("load.json") as file:
        return json.load(file)


def check_shares():
    truth = load(output="all.data")
    rows, total, samples, seconds_recorded = processes("all.data")
    for name, seconds in truth["used"].items():
        ours, n = rows.get(name, (0, 0))
        claim(abs(ours - seconds) <= four_errors(n) + .02 * seconds,
              f"{name}: {ours:.3f} s in the profile, {seconds:.3f} s by its rusage")
    slack = .02 * truth["busy"] + four_errors(samples)
    outside = (seconds_recorded - truth["wall"]) * os.cpu_count()  # recorded, but before or after /proc/stat was read
    claim(truth["busy"] - slack <= total <= truth["busy"] + slack + outside,
          f"busy: {total:.3f} s in the profile, {truth['busy']:.3f} s by /proc/stat, and up to {outside:.3f} s outside")
    claim(total <= seconds_recorded * os.cpu_count() * 1.02 + four_errors(samples), "more CPU time than available: idle time is counted")
    claim(not [name for name in rows if name.startswith(("swapper", "kworker", "ksoftirqd"))],
          "idle or kernel threads appear as processes: " + ", ".join(rows))
    check_account("all.data", False)
    json_of_all = json.loads(run(CPPROF, "export", "all.data", "-f", "json").stdout)
    claim(set(json_of_all["processes"]["cmdline"]) == {0}, "command lines are stored although not requested")


def check_account(file, has_others):
    """What the clocks of the CPUs have counted is in samples, also in those that are not in the profile. A late timer, as in a
    virtual machine whose host is busy, may miss a part. If the clocks of idle CPUs do
    not sample them, the kernel says how long they were idle, and the rest varies by chance."""
    account = json.loads(run(CPPROF, "report", file, "--view", "quality", "--format", "json").stdout)["quality"]["account"]
    by_chance = 1e9 * four_errors(account["sampled_ns"] * RATE / 1e9)
    claim(abs(account["between_ns"]) <= .05 * account["counted_ns"] + by_chance and account["lost_ns"] <= .05 * account["counted_ns"],
          f"{file}: not all CPU time is accounted for: {account}")
    claim((account["others_ns"] > 0) == has_others, f"{file}: samples of other processes: {account}")


def check_perf():
    if not shutil.which("perf"):
        return
    os.environ["WITH_PERF"] = str(RATE)
    load(output="beside.data")  # both recordings cover the processes from start to exit
    del os.environ["WITH_PERF"]
    told = subprocess.run(["perf", "script", "-i", "perf.data", "-F", "comm"], capture_output=True, text=True)
    if told.returncode:
        return print(f"skipped: perf cannot record the whole machine here: {told.stderr.strip()[-150:]}")
    theirs = collections.Counter(told.stdout.split())
    rows, _, _, _ = processes("beside.data")
    n, m = sum(theirs[name] for name in COPIES), sum(rows[name][1] for name in COPIES)
    for name in COPIES:
        p, q = theirs[name] / n, rows[name][1] / m
        error = math.sqrt(p * (1 - p) * (1 / n + 1 / m))
        claim(abs(p - q) <= 4 * error + .03, f"{name}: perf {100 * p:.1f} %, cpprof {100 * q:.1f} %")


def check_rules():
    load("--deny", "command:share_b", output="deny.data")
    rows, _, _, _ = processes("deny.data")
    check_account("deny.data", True)
    claim("share_b" not in rows and "share_a" in rows, "a denied command is in the profile: " + ", ".join(rows))
    load("--allow", f"user:{OTHER_USER}", output="allow.data")
    rows, _, _, _ = processes("allow.data")
    claim(set(rows) == {"share_c"}, "processes of other users than the allowed one: " + ", ".join(rows))


def check_short():
    """Four hundred processes that run for about a millisecond each."""
    seen = {}
    for clock in "cpu", "auto", "thread":
        run(CPPROF, "record", "-q", "--no-resolve", "-e", "cpu-clock", "-F", str(RATE), "--clock", clock, "-o", "short.data", "--",
            sys.executable, "short.py")
        rows, total, samples, _ = processes("short.data")
        if clock == "cpu":
            check_account("short.data", True)
        with open("short.json") as file:
            seen[clock] = total, json.load(file), samples, rows
    for clock in "cpu", "auto":
        ours, truth, samples, rows = seen[clock]
        claim(abs(ours - truth) <= four_errors(samples) + .05 * truth, f"--clock {clock}: {ours:.3f} s sampled of {truth:.3f} s")
        claim(set(rows) <= {"true", os.path.basename(os.path.realpath(sys.executable)), os.path.basename(sys.executable)},
              f"--clock {clock}: processes not started by the command: " + ", ".join(rows))
    claim(seen["thread"][0] < .5 * seen["thread"][1], "--clock thread also sees short-lived processes: this test is void")


def check_users():
    """The user of a process is known at its sample, not only if it still runs when the sample is read."""
    done = run(CPPROF, "record", "-a", "-v", "--no-resolve", "-e", "cpu-clock", "-F", "99", "-o", "users.data", "--",
               sys.executable, "users.py", str(OTHER_USER))
    with open("/proc/self/uid_map") as file:
        is_first = file.read().split() == ["0", "0", "4294967295"]
    if "deeper than --stack-size are cut off" in done.stderr or not is_first:
        return print("skipped: users need a BPF program, and the machine's own namespaces")
    facts = subprocess.run([FACTS, "users.data"], capture_output=True, text=True).stdout.splitlines()
    names = {line.split()[1]: line.split()[-1] for line in facts if line.startswith("process ")}
    users = {line.split()[3]: line.split()[1] for line in facts if line.startswith("user ")}
    short = [pid for pid, name in names.items() if name == "share_user"]
    right = sum(users.get(pid) == str(OTHER_USER) for pid in short)
    claim(short and right >= .9 * len(short), f"{right} of {len(short)} short-lived processes have their user")


def main():
    if os.geteuid():
        skip("only root may profile the whole machine")
    os.chdir(tempfile.mkdtemp())
    os.chmod(".", 0o755)
    probe = subprocess.run([CPPROF, "record", "-a", "-q", "--no-resolve", "-o", "probe.data", "--", "true"], capture_output=True, text=True)
    if probe.returncode not in (0, 5):
        skip("record -a: " + probe.stderr.strip()[:150])
    for name in COPIES:
        shutil.copy(SHARES, name)
        os.chmod(name, 0o755)
    for name, text in ("load.py", LOAD), ("short.py", SHORT), ("users.py", USERS):
        with open(name, "w") as file:
            file.write(text)
    check_shares()
    check_perf()
    check_rules()
    check_short()
    check_users()
    shutil.rmtree(os.getcwd())
    print(f"tally: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
