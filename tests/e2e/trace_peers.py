#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof trace` compared with and next to other tools: the same counts as uftrace, ltrace, perf and bpftrace, complete stacks while
returns are probed, the two programs of examples/, and no probes left after SIGKILL. usage: trace_peers.py [KILLS [SEED]]: with
KILLS, only the last, that many times; needs CPPROF and BUILD in the environment."""
import faulthandler
import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import trace_permission

CPPROF, BUILD = os.environ["CPPROF"], os.environ["BUILD"]
HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = os.path.join(BUILD, "tests", "e2e", "calls")
KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 20
PEER_SECONDS = 60
HANG_SECONDS = 200  # then it prints what it waits for; ctest ends it at 300
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def permitted():
    tried = subprocess.run([CPPROF, "trace", "-q", "-f", "main", "-o", "first.data", "--", CALLS], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    trace_permission.ask(tried.returncode, tried.stderr, check)


def rows(name):
    report = subprocess.run([CPPROF, "report", "--view", "calls", "--format", "json", "--limit", "0", name], capture_output=True, text=True)
    return json.loads(report.stdout)["rows"]


def by_function(name):
    found = {}
    for row in rows(name):
        function = row["path"].split(" > ")[-1]
        found[function] = found.get(function, 0) + row["calls"]
    return found


def check_stories():
    """examples/: a wait reached by sixteen call paths, one of which is slow; a lookup that is slow from one caller."""
    examples = os.path.join(BUILD, "examples")
    ran = subprocess.run([CPPROF, "trace", "-f", "await", "-o", "w.data", "--", os.path.join(examples, "exchange")], capture_output=True, text=True)
    got = rows("w.data")
    check("sixteen call paths to one wait", len(got) == 16 and all(row["calls"] == 20 for row in got), (ran.stderr, got))
    first, rest = got[0], got[1:]
    check("one of them is slow", first["path"].endswith("exchange_energy > from_west > await") and first["p50_ns"] > 5e6, first)
    check("the others are not", all(row["p50_ns"] < 4e6 for row in rest), rest)
    ran = subprocess.run([CPPROF, "trace", "-f", "find_name", "--max-overhead", "0", "--stack-size", "1k", "-o", "l.data", "--", os.path.join(examples, "lookup")], capture_output=True, text=True)
    got = {row["path"].split(" > ")[-2]: row for row in rows("l.data")}
    check("calls by caller", {k: r["calls"] for k, r in got.items()} == {"handle_login": 2000, "handle_message": 2000, "write_bill": 200}, (ran.stderr, got))
    check("the lookup is slow from one caller", got["write_bill"]["p50_ns"] > 3 * max(got["handle_login"]["p50_ns"], got["handle_message"]["p50_ns"]), got)


def check_uftrace():
    """uftrace, which uses compiler instrumentation, counts the same calls."""
    if not shutil.which("uftrace") or not shutil.which("gcc"):
        return print("skipped: no uftrace")
    source = os.path.join(HERE, "..", "..", "examples", "lookup.c")
    built = subprocess.run(["gcc", "-pg", "-O1", "-g", source, "-o", "lookup_pg"], capture_output=True, text=True)
    ran = subprocess.run(["uftrace", "record", "-d", "uf.data", "--no-libcall", "./lookup_pg", "500"], capture_output=True, text=True) if built.returncode == 0 else built
    if ran.returncode:
        return print("skipped: uftrace does not run here: " + ran.stderr.strip()[:200])
    report = subprocess.run(["uftrace", "report", "-d", "uf.data", "-s", "call"], capture_output=True, text=True).stdout
    names = ("find_name", "handle_login", "handle_message", "write_bill")
    theirs = {m[2]: int(m[1]) for m in re.finditer(r"(\d+)\s+(\w+)\s*$", report, re.M) if m[2] in names}
    options = [word for name in names for word in ("-f", name)]
    subprocess.run([CPPROF, "trace", "--max-overhead", "0", "--stack-size", "1k", "-o", "u.data", *options, "--", "./lookup_pg", "500"], capture_output=True, text=True)
    ours = by_function("u.data")
    check("uftrace counts the same calls", len(theirs) == len(names) and all(ours.get(n) == theirs[n] for n in names), (ours, theirs, report))


def check_ltrace():
    """ltrace, which stops the program at each library call, counts the same calls. Debian has it for x86-64 only."""
    if not shutil.which("ltrace"):
        return print("skipped: no ltrace")
    with open("plain.c", "w") as source:
        source.write("#include <stdlib.h>\n#include <unistd.h>\n"
                     "int main(void) { for (int i = 0; i < 300; i++) { free(malloc(10 + i)); if (i % 10 == 0) getppid(); } return 0; }\n")
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-g", "plain.c", "-o", "plain"], check=True)
    ran = subprocess.run(["ltrace", "-c", "-e", "malloc+getppid", "./plain"], capture_output=True, text=True)
    theirs = {m[2]: int(m[1]) for m in re.finditer(r"(\d+) (malloc|getppid)\s*$", ran.stdout + ran.stderr, re.M)}
    subprocess.run([CPPROF, "trace", "--max-overhead", "0", "-f", "malloc", "-f", "getppid", "-o", "lt.data", "--", "./plain"], capture_output=True, text=True)
    ours = {}
    for row in rows("lt.data"):
        path = row["path"].split(" > ")
        if "main" in path:  # the loader and libc also allocate, which ltrace does not see
            ours[path[-1]] = ours.get(path[-1], 0) + row["calls"]
    named = {"malloc": ours.get("malloc", ours.get("__libc_malloc")), "getppid": ours.get("getppid", ours.get("__getppid"))}
    check("ltrace counts the same calls", theirs == {"malloc": 300, "getppid": 30} and named == theirs, (ours, theirs, ran.stderr))


def start_bpftrace(program):
    """Starts bpftrace and waits for its probes; None if it does not run here."""
    peer = subprocess.Popen(["bpftrace", "-e", program + ' BEGIN { printf("ready\\n"); }'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    late = threading.Timer(PEER_SECONDS, peer.kill)
    late.start()
    for line in peer.stdout:
        lines.append(line)
        if "ready" in line:
            late.cancel()
            return peer
    late.cancel()
    peer.wait()
    print("skipped: bpftrace does not run here: " + " ".join(lines).strip()[:200])
    return None


def end_bpftrace(peer):
    """It may miss a signal that comes while it reads its maps."""
    for _ in range(3):
        peer.terminate()
        try:
            peer.wait(timeout=10)
            return
        except subprocess.TimeoutExpired:
            pass
    peer.kill()
    peer.wait()


def start_perf(pid):
    """Starts perf stat on its own probes, enabled on return; None if it does not run here."""
    for name in ("control", "done"):
        os.mkfifo(name)
    peer = subprocess.Popen(["perf", "stat", "-x", ",", "-D", "-1", "--control", "fifo:control,done", "-e", "probe_calls:cpprof_in", "-e", "probe_calls:cpprof_out__return",
                             "-p", str(pid)], stderr=subprocess.PIPE, text=True)
    said = os.open("done", os.O_RDWR | os.O_NONBLOCK)
    told = os.open("control", os.O_RDWR)
    os.write(told, b"enable\n")
    deadline = time.monotonic() + PEER_SECONDS
    while peer.poll() is None and time.monotonic() < deadline:
        if select.select([said], [], [], 0.1)[0] and b"ack" in os.read(said, 100):
            return peer
    peer.kill()
    print("skipped: perf cannot count probes here: " + peer.communicate()[1].strip()[:200])
    return None


def words_of(peer, stream):
    """What another tool prints until it ends. One that does not end is not our failure."""
    try:
        return peer.communicate(timeout=PEER_SECONDS)[stream]
    except subprocess.TimeoutExpired:
        peer.kill()
        peer.communicate()
        print(f"skipped: {peer.args[0]} did not end")
        return None


def perf_probe(words):
    try:
        return subprocess.run(["perf", "probe", "-q", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=PEER_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def perf_probes(*commands):
    return shutil.which("perf") and all(perf_probe(words) for words in commands)


def check_counts_of_all():
    """bpftrace, perf with its own probes, and cpprof count the calls of the same run at the same time."""
    perf_probes(["-d", "probe_calls:cpprof_*"])  # left by a run that was killed
    if not perf_probes(["-x", CALLS, "--add", "cpprof_in=target"], ["-x", CALLS, "--add", "cpprof_out=target%return"]):
        return print("skipped: perf cannot set probes here")
    target = subprocess.Popen([CALLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    perf = start_perf(target.pid)
    other = start_bpftrace(f"uprobe:{CALLS}:target {{ @entered = count(); }} uretprobe:{CALLS}:target {{ @left = count(); }}") if shutil.which("bpftrace") else None
    tracer = subprocess.Popen([CPPROF, "trace", "--max-overhead", "0", "-f", "target", "-o", "all.data", "-p", str(target.pid)], stderr=subprocess.PIPE, text=True)
    tracer.stderr.readline()
    out = target.communicate("\n")[0]
    said = tracer.communicate()[1]
    counts = {"cpprof": [by_function("all.data").get("target", 0)]}
    words = words_of(perf, 1) if perf else None
    if words is not None:
        counts["perf"] = [int(line.split(",")[0]) for line in words.splitlines() if "cpprof_" in line]
    if other:
        other.send_signal(signal.SIGINT)
    words = words_of(other, 0) if other else None
    if words is not None:
        counts["bpftrace"] = [int(n) for n in re.findall(r"@\w+: (\d+)", words)]
    perf_probes(["-d", "probe_calls:cpprof_*"])
    right = {"cpprof": [150], "perf": [150, 150], "bpftrace": [150, 150]}
    check("all count the same calls", out == "done\n" and all(right[who] == n for who, n in counts.items()), (counts, said))


def quality(name):
    line = subprocess.run([CPPROF, "report", "--view", "quality", "--format", "json", name], capture_output=True, text=True).stdout
    return json.loads(line)["quality"]


BUSY = """
#include <stdlib.h>
#define OWN __attribute__((noinline, noclone, noipa))
volatile unsigned sum;
OWN void innermost(unsigned n) { for (unsigned i = 0; i < n; i++) sum += i; }
OWN void probed(unsigned n) { innermost(n); sum++; }
OWN void outer(unsigned n) { probed(n); sum++; }
OWN void outermost(unsigned n) { outer(n); sum++; }
OWN void other(unsigned n) { volatile unsigned room[100]; room[n % 100] = n; probed(n); sum += room[n % 100]; }
OWN void nested(unsigned depth, unsigned n) { if (depth) nested(depth - 1, n); else innermost(n); sum++; }
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0, depth = argc > 2 ? (unsigned)atoi(argv[2]) : 0;
	while (depth)
		nested(depth, n);
	for (;;) {
		outermost(n);
		other(n);
	}
}
"""
LOOPS = ("20000000", "20000", "200")  # rarely called, some ten thousand times a second, and as often as probes allow
CHAIN = ["main", "outermost", "outer", "probed", "innermost"]
# A frame of another size: confusing the two callers would break unwinding.
OTHER = ["main", "other", "probed", "innermost"]
PATHS = {tuple(chain[:n]) for chain in (CHAIN, OTHER) for n in range(1, len(chain) + 1)}
DEPTH = 50  # the kernel replaces at most 64 return addresses of a thread
NESTED = [("main",) + ("nested",) * n for n in range(DEPTH + 2)]


def record_beside(pid, what, expected, seconds=2):
    """Records a process whose returns are probed, and checks the stacks."""
    ran = subprocess.run([CPPROF, "attach", "-p", str(pid), "-d", str(seconds), "-F", "4000", "-o", "b.data"], capture_output=True, text=True)
    q = quality("b.data")
    check(f"{what}: stacks are complete", q["samples"] > 200 and q["by_end"].get("complete", 0) >= 0.999 * q["samples"], (q, ran.stderr))
    paths = own_paths("b.data")
    whole = {path for path in paths if path[:1] == ("main",)}
    check(f"{what}: exactly the expected call paths", whole == expected, paths ^ expected)


def own_paths(name):
    """All call paths of the program's functions, from main on, without kernel frames."""
    d = json.loads(subprocess.run([CPPROF, "export", name, "-f", "json"], capture_output=True, text=True).stdout)
    nodes, frames, paths = d["nodes"], d["frames"], []
    for i, (parent, frame) in enumerate(zip(nodes["parent"], nodes["frame"])):
        path = paths[parent] if i and parent is not None and parent >= 0 else ()
        word = d["strings"][frames["name"][frame]] if frames["kind"][frame] == "function" else ""
        paths.append(path + (word,) if word in CHAIN + ["other", "nested"] else path)
    return set(paths)


def seconds_of(loops):
    """As often as probes allow, one in some thousand samples hits the kernel while it replaces a return address: long enough for a share of them."""
    return 6 if loops == LOOPS[-1] else 2


def check_beside_trace(exits, loops, program="busy"):
    """Records a process that is being traced."""
    target = subprocess.Popen(["./" + program, loops])
    tracer = subprocess.Popen([CPPROF, "trace", "--exits", exits, "--max-overhead", "0", "-f", program + ":probed", "-f", program + ":outermost", "-p", str(target.pid), "-o", "x.data"],
                              stderr=subprocess.PIPE, text=True)
    said = tracer.stderr.readline()
    check("two functions are probed", "tracing 2 functions" in said, said)
    record_beside(target.pid, f"during a trace of {program}, exits {exits}, {loops} loops per call", PATHS, seconds_of(loops))
    tracer.terminate()
    tracer.communicate()
    target.kill()
    target.wait()


def check_nested():
    """A probed recursive function: most return addresses on its stack are replaced by the kernel's trampoline."""
    target = subprocess.Popen(["./busy", "200000", str(DEPTH)])
    tracer = subprocess.Popen([CPPROF, "trace", "--exits", "return", "--max-overhead", "0", "-f", "busy:nested", "-p", str(target.pid), "-o", "n.data"],
                              stderr=subprocess.PIPE, text=True)
    check("one function is probed", "tracing 1 function;" in tracer.stderr.readline())
    record_beside(target.pid, f"{DEPTH} nested calls of a probed function", set(NESTED) | {NESTED[-1] + ("innermost",)})
    tracer.terminate()
    tracer.communicate()
    target.kill()
    target.wait()
    got = {row["path"].split(" > ").count("nested"): row for row in rows("n.data")}
    check("each of them is traced with its complete call path", set(got) == set(range(1, DEPTH + 2)) and all("main" in row["path"] for row in got.values()), got.keys())


def check_beside_bpftrace(loops):
    path = os.path.abspath("busy")
    program = f'uretprobe:{path}:probed {{ @n = count(); }} uretprobe:{path}:outer {{ @m = count(); }}'
    target = subprocess.Popen(["./busy", loops])
    peer = start_bpftrace(program)
    if peer:
        time.sleep(1)
        record_beside(target.pid, f"during bpftrace, {loops} loops per call", PATHS, seconds_of(loops))
        end_bpftrace(peer)
    target.kill()
    target.wait()


def check_beside_nops():
    """Functions that begin with a nop of five bytes: since Linux 6.18, x86-64, a probed one is replaced by a call of the kernel's code."""
    flags = ["-O2", "-g", "-fno-pie", "-pg", "-mfentry", "-mnop-mcount"]
    if os.uname().machine != "x86_64":
        return print("skipped: probed nops are replaced on x86-64 only")
    if subprocess.run(["cc", *flags, "-c", "busy.c", "-o", "nops.o"], capture_output=True).returncode:
        return print("skipped: this compiler has no -mnop-mcount")
    subprocess.run(["cc", "-no-pie", "nops.o", "-o", "nops"], check=True)
    for exits in ("code", "return"):
        check_beside_trace(exits, LOOPS[-1], "nops")


def check_beside():
    open("busy.c", "w").write(BUSY)
    if not shutil.which("cc") or subprocess.run(["cc", "-O2", "-g", "-fomit-frame-pointer", "busy.c", "-o", "busy"]).returncode:
        return print("skipped: no C compiler")
    check_nested()
    check_beside_nops()
    for loops in LOOPS:
        for exits in ("code", "return"):
            check_beside_trace(exits, loops)
        if shutil.which("bpftrace"):
            check_beside_bpftrace(loops)
    if not shutil.which("bpftrace"):
        print("skipped: no bpftrace")


def code_is_clean(pid):
    """Is the mapped code of a process identical to its file, so without breakpoints? True if the process has exited."""
    try:
        with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory, open(CALLS, "rb") as file:
            for line in maps:
                words = line.split()
                if words[-1] != CALLS or "x" not in words[1]:
                    continue
                start, end = (int(word, 16) for word in words[0].split("-"))
                memory.seek(start)
                file.seek(int(words[2], 16))
                want = file.read(end - start)
                if memory.read(end - start)[:len(want)] != want:
                    return False
    except OSError:
        pass
    return True


def is_clean_soon(pid):
    return any(code_is_clean(pid) or time.sleep(0.01) for _ in range(200))


def kill_once(i):
    """Kills cpprof after its probes were set (two of every four cases), or at a random moment after the start. Returns whether
    probes were set at that time."""
    exits, waits = ("code", "return")[i % 2], i // 2 % 2
    target = subprocess.Popen([CALLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    tracer = subprocess.Popen([CPPROF, "trace", "--exits", exits, "-f", "calls:*", "-o", "k.data", "-p", str(target.pid)], stderr=subprocess.PIPE, text=True)
    if waits:
        tracer.stderr.readline()
    else:
        time.sleep(random.uniform(0, 0.5))
    target.stdin.write("\n")
    target.stdin.flush()
    time.sleep(random.uniform(0, 0.5))
    was_probed = not code_is_clean(target.pid)
    tracer.kill()
    tracer.communicate()
    check(f"kill {i}: no probe is left", is_clean_soon(target.pid))
    out = target.communicate()[0]
    check(f"kill {i}: the program's output is correct", out == "done\n" and target.returncode == 0, (out, target.returncode))
    return was_probed


def check_kills():
    """Killed at random moments: the program's output is correct, and no probe is left."""
    random.seed(SEED)
    n_probed = 0
    for i in range(KILLS):
        n_probed += kill_once(i)
        if (i + 1) % 100 == 0 or i + 1 == KILLS:
            print(f"killed {i + 1} times, {n_probed} of them while probes were set", flush=True)
    events = "/sys/kernel/tracing/uprobe_profile"
    left = open(events).read() if os.access(events, os.R_OK) else ""
    check("no probe is left", CALLS not in left, left)
    links = subprocess.run(["bpftool", "-j", "link"], capture_output=True, text=True, env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"}).stdout if shutil.which("bpftool", path=os.environ["PATH"] + ":/usr/sbin") else ""
    check("no BPF link is left", CALLS not in links, links)
    check("probes were set in enough cases", n_probed >= KILLS / 10, n_probed)


def tell_where():
    """For the case that this test does not end: what it waits for."""
    faulthandler.dump_traceback()
    print(subprocess.run(["ps", "-o", "pid,ppid,etimes,stat,wchan:24,args", "--forest", "-s", str(os.getsid(0))], capture_output=True, text=True).stdout, flush=True)


place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
folder = place.name
os.chdir(folder)
if len(sys.argv) < 2:
    hang = threading.Timer(HANG_SECONDS, tell_where)
    hang.daemon = True
    hang.start()
permitted()
if len(sys.argv) < 2:
    check_stories()
    check_uftrace()
    check_ltrace()
    check_counts_of_all()
    check_beside()
check_kills()
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
