#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof trace` on programs whose calls are known: counts are exact for each call path, and times agree with the programs'
own measurements.
usage: trace.py; needs CPPROF and BUILD in the environment."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import trace_permission

CPPROF, BUILD = os.environ["CPPROF"], os.environ["BUILD"]
CALLS = os.path.join(BUILD, "tests", "e2e", "calls")
SHARED_CPU = os.path.join(BUILD, "tests", "e2e", "shared_cpu")
DEEP = os.path.join(BUILD, "tests", "e2e", "deep_calls")
PLUGIN = os.path.join(BUILD, "tests", "e2e", "libcalls_plugin.so")
SLOW = float(os.environ.get("SLOW", "1"))  # above 1 on an emulated machine
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def trace(*options, plugin=False, name="t.data"):
    """Runs CALLS under `cpprof trace`, or attaches to it if the options have -p."""
    command = [CALLS] + ([PLUGIN] if plugin else [])
    if "-p" in options:
        target = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        options = [str(target.pid) if o == "PID" else o for o in options]
        tracer = subprocess.Popen([CPPROF, "trace", "--max-overhead", "0", "-o", name, *options], stderr=subprocess.PIPE, text=True)
        errors = tracer.stderr.readline()
        check("a message says that the probes are set", errors.startswith("cpprof: tracing "), errors)
        out = target.communicate("\n")[0]
        errors += tracer.communicate()[1]
        code = tracer.returncode
    else:
        ran = subprocess.run([CPPROF, "trace", "--max-overhead", "0", "-o", name, *options, "--", *command], input="\n", capture_output=True, text=True)
        out, errors, code = ran.stdout, ran.stderr, ran.returncode
    check("the program's output is correct", out == "done\n", out)
    return code, errors


def values(name, metric, whole=False):
    """The exclusive values of a metric, summed by call path from main on, without loops. whole: do not shorten paths without
    main."""
    d = json.loads(subprocess.run([CPPROF, "export", name, "-f", "json"], capture_output=True, text=True).stdout)
    index = next(m["id"] for m in d["metrics"] if m["name"] == metric)
    nodes, frames, paths, found = d["nodes"], d["frames"], [], {}
    for i, (parent, frame) in enumerate(zip(nodes["parent"], nodes["frame"])):
        path = paths[parent] if i and parent is not None and parent >= 0 else ()
        if frames["kind"][frame] == "function":
            path += (d["strings"][frames["name"][frame]],)
        paths.append(path)
        value = d["node_values"]["exclusive"][str(index)][i]
        if value:
            key = ">".join(path[path.index("main"):] if "main" in path else path if whole else path[-2:])
            found[key] = found.get(key, 0) + value
    return found


def permitted():
    tried = subprocess.run([CPPROF, "trace", "-q", "-f", "main", "-o", "probe.data", "--", CALLS], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    trace_permission.ask(tried.returncode, tried.stderr, check)


def check_counts(exits):
    code, errors = trace("--exits", exits, "-f", "target", "-f", "recurse", "-f", "springboard", "-f", "landing", "-f", "leave_somehow", "-f", "threaded", "-f", "plugged",
                         "--arg", "1", "--ret", "-p", "PID", plugin=True)
    check("trace succeeds", code == 0, errors)
    calls = values("t.data", "calls")
    check("calls by path", calls.get("main>alpha>target") == 100 and calls.get("main>beta>target") == 50, calls)
    recursive = {key: n for key, n in calls.items() if key.endswith("recurse")}
    check("recursion: seven calls at each depth", recursive == {"main" + ">recurse" * i: 7 for i in range(1, 12)}, recursive)
    check("a tail call ends a call", calls.get("main>springboard") == 30, calls)
    check("and begins another", sum(n for key, n in calls.items() if key.endswith("landing")) == 30, calls)
    check("calls left by longjmp are not counted as returned", sum(n for key, n in calls.items() if key.endswith("leave_somehow")) == 20, calls)
    check("eight threads", sum(n for key, n in calls.items() if key.endswith("threaded")) == 200, calls)
    check("calls in a library that is loaded later", sum(n for key, n in calls.items() if key.endswith("plugged")) == 15, (calls, errors))
    check("calls left by longjmp are reported", "20 calls did not return" in errors, errors)
    arguments, results = values("t.data", "argument"), values("t.data", "result")
    check("arguments", arguments.get("main>alpha>target") == 300 and arguments.get("main>beta>target") == 350, arguments)
    check("results", results.get("main>alpha>target") == 400 and results.get("main>beta>target") == 400, results)
    jumped = results.get("main>springboard", 0)
    check(f"exits {exits}: with exits in the code, the result of a call that ends in a tail call is not known", jumped == (0 if exits == "code" else sum(range(1, 31))), results)


def check_faults():
    """Page faults in two functions, one of which calls the other."""
    code, errors = trace("-f", "*toucher")
    check("trace succeeds", code == 0, errors)
    faults = values("t.data", "page-faults")
    inner, outer = faults.get("main>outer_toucher>toucher", 0), faults.get("main>outer_toucher", 0)
    check("page faults of a function", 200 <= inner <= 202, faults)
    check("and of its caller, excluding the callee's", 100 <= outer <= 110, faults)
    text = subprocess.run([CPPROF, "report", "--metric", "page-faults", "t.data"], capture_output=True, text=True).stdout
    check("measured values have no margin of error", "The dominant function is toucher" in " ".join(text.split()) and not re.search(r"% \(\d", text), text)


NOISE = """
import mmap
while True:
    with mmap.mmap(-1, 1 << 24) as room:
        for at in range(0, 1 << 24, 4096): room[at] = 1
"""


def trace_with_noise(exits):
    """Traces with counters while other processes use all CPUs. Returns the exit code, the messages, and the values by metric."""
    noise = [subprocess.Popen([sys.executable, "-c", NOISE]) for _ in range(os.cpu_count())]
    code, errors = trace("--exits", exits, "-f", "*toucher", "-f", "*sleeper", "-f", "burner", "-e", "minor-faults,context-switches", "-e", "task-clock", "-e", "cycles")
    for one in noise:
        one.kill()
        one.wait()
    return code, errors, [values("t.data", metric) for metric in ("page-faults", "minor-faults", "context-switches", "task-clock", "cpu", "wall")]


def check_counters(exits):
    """Events are counted per thread: those of other processes on the same CPUs are not included."""
    touched, slept = "main>outer_toucher>toucher", "main>outer_sleeper>sleeper"
    os.environ["CALLS_TIMES"] = os.path.abspath("times")
    for attempt in range(3):
        code, errors, (faults, minor, switches, clock, cpu, wall) = trace_with_noise(exits)
        running = int(open("times").readlines()[-1])
        check("CPU time is not above that by the program's own clock", cpu["main>burner"] <= 1.01 * running, (cpu, running))
        agrees = all(abs(clock.get(key, 0) - cpu[key]) < 0.05 * wall[key] + 1e6 * SLOW for key in cpu)
        if agrees and switches.get(slept, 0) >= 20:
            break
        # The kernel does not report some of the switches to a thread: what is counted between such a switch and the next probe is lost.
        print(f"retrying: task-clock {clock}, CPU time {cpu}, context switches {switches}")
    del os.environ["CALLS_TIMES"]
    check("trace succeeds", code == 0, errors)
    check(f"exits {exits}: page faults from a counter", 198 <= minor.get(touched, 0) <= 202, (minor, faults))
    check("the same as the kernel's count for the thread", all(0 <= faults[key] - minor.get(key, 0) <= 2 for key in faults), (minor, faults))
    check("each sleep is a context switch", 20 <= switches.get(slept, 0), switches)
    check("CPU time from task-clock and from context switches agree", agrees, (clock, cpu, wall))
    metrics = json.loads(subprocess.run([CPPROF, "export", "t.data", "-f", "json"], capture_output=True, text=True).stdout)["metrics"]
    has_cycles = "cycles" in [metric["name"] for metric in metrics]
    check("hardware events are counted, or a message says why not", has_cycles != ("this machine cannot count 'cycles'" in errors), (metrics, errors))
    verified = subprocess.run([CPPROF, "check", "t.data"], capture_output=True, text=True)
    check("the profile is consistent", verified.returncode == 0, verified.stderr)


def check_wrong_counters():
    for events, why in (("no_such_event", "no_such_event"), ("minor-faults,major-faults,cpu-clock,task-clock,context-switches", "cannot count more than 4 events per call"), ("{cycles,instructions}", "omit the braces")):
        ran = subprocess.run([CPPROF, "trace", "-f", "main", "-e", events, "-o", "w.data", "--", CALLS], input="\n", capture_output=True, text=True)
        check(f"-e {events} is refused", ran.returncode == 1 and why in ran.stderr and ran.stdout == "", (ran.returncode, ran.stderr, ran.stdout))


def call_rows(name):
    """The rows of the calls view (durations), by call path from main on."""
    report = subprocess.run([CPPROF, "report", "--view", "calls", "--format", "json", "--limit", "0", name], capture_output=True, text=True)
    rows = json.loads(report.stdout)["rows"]
    return {">".join(path[path.index("main"):] if "main" in (path := row["path"].split(" > ")) else path[-1:]): row for row in rows}


def check_percentiles():
    """Percentiles of nineteen calls of 2 ms for each call of 60 ms."""
    for i in range(2):
        code, errors = trace("-f", "uneven", name=f"u{i}.data")
        check("trace succeeds", code == 0, errors)
    for files, n in ((["u0.data"], 40), (["u0.data", "u1.data"], 80)):
        merged = subprocess.run([CPPROF, "merge", "-o", "m.data", *files], capture_output=True, text=True)
        check("traces can be merged", merged.returncode == 0, merged.stderr)
        row = call_rows("m.data").get("main>uneven", {})
        check("number of calls of a path", row.get("calls") == n, row)
        check("minimum and median", 2e6 <= row["min_ns"] <= row["p50_ns"] * 1.04 and (SLOW > 1 or row["p50_ns"] < 20e6), row)
        check("99th percentile and maximum", row["p99_ns"] >= 58e6 and row["max_ns"] >= 60e6, row)
        check("90th percentile", SLOW > 1 or row["p90_ns"] < 30e6, row)
        check("the mean is in between", row["p50_ns"] < row["mean_ns"] < row["p99_ns"] and abs(row["mean_ns"] - row["sum_ns"] / n) < 1, row)
    text = subprocess.run([CPPROF, "report", "u0.data"], capture_output=True, text=True).stdout
    check("the report of a trace has percentiles", "p99" in text and "calls by path" in text, text)


def check_times(exits):
    os.environ["CALLS_TIMES"] = os.path.abspath("times")
    code, errors = trace("--exits", exits, "-f", "*sleeper", "-f", "burner")
    running = int(open("times").readlines()[-1])  # by the program's own clock, without the time it was runnable but not running
    wall, off, cpu = (values("t.data", metric) for metric in ("wall", "off-cpu", "cpu"))
    del os.environ["CALLS_TIMES"]
    check("trace of a command succeeds", code == 0, errors)
    slept, burnt = "main>outer_sleeper>sleeper", "main>burner"
    check("wall time of a function that sleeps", 40e6 <= wall[slept], wall)
    check("is off-CPU time", off[slept] >= (0.9 if SLOW == 1 else 0.5) * wall[slept], (wall, off))
    if SLOW == 1:  # on an emulated machine, a probe itself takes a millisecond
        check("and is not counted for its caller", wall["main>outer_sleeper"] < 0.2 * wall[slept], wall)
    check("CPU time", 38e6 <= cpu[burnt] <= 1.01 * running, (cpu, running))
    check("wall time is off-CPU plus CPU time", all(abs(wall[key] - off.get(key, 0) - cpu.get(key, 0)) < 1000 for key in wall), (wall, off, cpu))


def check_deep(exits):
    """Calls at the innermost frame of stacks of up to 900 KB, in two threads."""
    ran = subprocess.run([CPPROF, "trace", "--max-overhead", "0", "--exits", exits, "-f", "measured", "-o", "d.data", "--", DEEP], capture_output=True, text=True)
    check("trace succeeds", ran.returncode == 0 and ran.stdout == "done\n", ran.stderr)
    report = subprocess.run([CPPROF, "report", "--view", "calls", "--format", "json", "--limit", "0", "d.data"], capture_output=True, text=True)
    got = {}
    for row in json.loads(report.stdout)["rows"]:
        path = row["path"].split(" > ")
        got[("main" in path, path.count("work"), path.count("dig"))] = row["calls"]
    check(f"exits {exits}: deep stacks are complete", got == {(first, 1, depth): 3 for first in (True, False) for depth in (8, 100, 300, 900)}, (got, ran.stderr))


def check_preempted(exits):
    """Eight threads on one CPU: a thread may be preempted during a probe while another one runs the same BPF program."""
    ran = subprocess.run([CPPROF, "trace", "--exits", exits, "--max-overhead", "100", "-f", "measured", "--arg", "1", "-o", "s.data", "--", SHARED_CPU, "2000"],
                         capture_output=True, text=True)
    check("trace succeeds", ran.returncode == 0 and ran.stdout == "done\n", ran.stderr)
    by_depth = {}
    for metric in ("calls", "argument"):
        for path, value in values("s.data", metric, whole=True).items():
            at = by_depth.setdefault(path.count("nest"), {})
            at[metric] = at.get(metric, 0) + value
    lost = re.search(r"([0-9,]+) lost", ran.stderr)
    calls, lost = sum(at["calls"] for at in by_depth.values()), int(lost[1].replace(",", "")) if lost else 0
    check(f"exits {exits}: eight threads on one CPU: every call is counted or reported as lost", calls + lost == 16000 and calls > 8000, (by_depth, ran.stderr))
    check(f"exits {exits}: with its own path and argument", sorted(by_depth) == list(range(1, 9)) and all(at["argument"] == k * at["calls"] for k, at in by_depth.items()), by_depth)


def measured_calls():
    """By path: the calls, their times measured inside and around them, and how often they were preempted meanwhile."""
    with open("times") as file:
        lines = [line.split() for line in file][:-1]
    return {path: tuple(map(int, numbers)) for path, *numbers in lines}


def check_clocks(exits):
    """Durations lie between those that the program measures inside and around each call, and are close to the former."""
    os.environ["CALLS_TIMES"] = os.path.abspath("times")
    for attempt in range(10): # a preemption, an interrupt or a stall of the machine lasts as long as many calls
        code, errors = trace("--exits", exits, "-f", "target", "-f", "sleeper", "-f", "burner", "-f", "uneven")
        got, lines = call_rows("t.data"), measured_calls()
        # Outside minus inside is what the probes cost, which may be ten times as much on another machine.
        far = [(path, got.get(path, {}).get("sum_ns", 0), line) for path, line in lines.items()
               if not line[3] and got.get(path, {}).get("sum_ns", 0) - line[1] > max(0.05 * line[1], 2000 * line[0], (line[2] - line[1]) / 3)]
        if not far and not any(line[3] for path, line in lines.items() if path.endswith("target")):
            break
    del os.environ["CALLS_TIMES"]
    check("trace succeeds", code == 0, errors)
    for path, (n, inside, outside, _) in lines.items():
        row = got.get(path, {})
        check(f"exits {exits}: every call of {path}", row.get("calls") == n, (row, n, errors))
        said = row.get("sum_ns", 0)
        check(f"exits {exits}: {path}: between the times measured inside and around the call", inside <= said <= outside, (inside, said, outside))
    check(f"exits {exits}: within 5 %, 2 us per call, or a third of what the probes cost", not far or SLOW > 1, far)


CXX = """
#include <cstdio>
#include <stdexcept>
struct Key { int k; };
namespace shop {
__attribute__((noinline)) int lookup(Key const &key) { if (key.k % 3 == 0) throw std::runtime_error("gone"); return key.k; }
__attribute__((noinline)) int lookup(long key) { static volatile long sum; sum += key; return (int)sum; }
inline __attribute__((always_inline)) int tiny(int value) { static volatile int last; last = value; return last * 3; }
template <class T> __attribute__((noinline)) int twice(T value) { return lookup(long(value)) + lookup(long(value)); }
}
int main()
{
	int sum = 0;
	std::getchar();
	for (int i = 0; i < 30; i++) {
		try { sum += shop::lookup(Key{ i }); } catch (std::exception const &) { sum--; }
		sum += shop::twice(i) + shop::tiny(i);
	}
	std::printf("%d\\n", sum);
}
"""


def run_cxx(*patterns, exits="code"):
    ran = subprocess.run([CPPROF, "trace", "--max-overhead", "0", "--exits", exits, "-o", "c.data", *(word for pattern in patterns for word in ("-f", pattern)), "--", "./c"],
                         input="\n", capture_output=True, text=True)
    check(f"{patterns} is traced", ran.returncode in (0, 5), ran.stderr)
    calls = {}
    for key, n in values("c.data", "calls").items():
        name = key.split(">main>")[-1].split("main>")[-1]
        calls[name] = calls.get(name, 0) + n
    return calls, ran.stderr


def check_names():
    """C++ functions by the names that reports print; calls left by an exception do not count as returned."""
    open("c.cc", "w").write(CXX)
    if not shutil.which("g++") or subprocess.run(["g++", "-O1", "-g", "c.cc", "-o", "c"]).returncode:
        print("skipped: C++ names: no g++")
        return
    calls, _ = run_cxx("shop::lookup(Key const&)")
    check("by the full signature: calls that return", sum(calls.values()) == 20, calls)
    calls, _ = run_cxx("shop::lookup")
    check("without parameters: all overloads", sum(calls.values()) == 80, calls)
    calls, _ = run_cxx("c:shop::*")
    check("by a glob, in one file", sum(calls.values()) == 110, calls)
    _, said = run_cxx("shop::lookup", exits="return")
    check("returns are not probed in a program that throws exceptions", "a program that throws an exception crashes" in said, said)
    plans = {exits: subprocess.run([CPPROF, "trace", "--dry-run", "--exits", exits, "-f", "shop::lookup", "--", "./c"],
                                   capture_output=True, text=True).stdout for exits in ("auto", "code")}
    costs = {exits: sum(float(us) for us in re.findall(r"([\d.]+) us ", plan)) for exits, plan in plans.items()}
    check("--dry-run knows that", 0 < costs["code"] < 1.25 * costs["auto"], plans) # what a step costs is measured anew each time
    symbols = [line.split() for line in subprocess.run(["nm", "c"], capture_output=True, text=True).stdout.splitlines()]
    start = next(int(words[0], 16) for words in symbols if words[-1] == "main")
    for exits in ("code", "return"):
        _, said = run_cxx(f"c+{start + 4:#x}", exits=exits)
        check(f"no probe at an address where no function starts, exits {exits}", "no function starts there" in said, said)
    _, said = run_cxx("shop::tiny")
    check("a function that was inlined everywhere: the message says where", "'shop::tiny' has no code of its own: it was inlined into main" in said, said)
    _, said = run_cxx("shop::lokup")
    check("an unknown name: the message suggests a similar one", "there is no function named 'shop::lokup'; did you mean 'shop::lookup'?" in said, said)


def check_go():
    """Goroutines whose stacks grow, and therefore move, while the function runs."""
    grower = os.path.join(BUILD, "tests", "e2e", "grower")  # prebuilt for machines without a Go compiler
    if not os.path.exists(grower):
        grower = os.path.abspath("grower")
        env = {**os.environ, "GOCACHE": os.path.abspath("gocache"), "GO111MODULE": "off", "GOFLAGS": ""}
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grower.go")
        if not shutil.which("go") or subprocess.run(["go", "build", "-o", grower, source], env=env, capture_output=True).returncode:
            print("skipped: no go compiler")
            return
    ran = subprocess.run([CPPROF, "trace", "-f", "main.Grower", "--max-overhead", "0", "-o", "g.data", "--", grower], capture_output=True, text=True)
    calls = values("g.data", "calls")
    check("Go: calls whose stacks move", sum(n for key, n in calls.items() if key.endswith("main.Grower")) == 50 and ran.stdout == "true\n", (calls, ran.stderr))
    check("and no calls that did not return", "did not return" not in ran.stderr, ran.stderr)
    ran = subprocess.run([CPPROF, "trace", "-f", "main.Grower", "--exits", "return", "-o", "g.data", "--", grower], capture_output=True, text=True)
    check("Go: returns are not probed", "a Go program crashes when its returns are probed" in ran.stderr and ran.stdout == "true\n", ran.stderr)


def check_kill():
    """SIGKILL of cpprof leaves the program unaffected."""
    target = subprocess.Popen([CALLS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    tracer = subprocess.Popen([CPPROF, "trace", "-f", "calls:*", "-o", "k.data", "-p", str(target.pid)], stderr=subprocess.PIPE, text=True)
    tracer.stderr.readline()
    tracer.kill()
    tracer.wait()
    check("the program continues when cpprof is killed", target.communicate("\n")[0] == "done\n" and target.returncode == 0)


place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
folder = place.name
os.chdir(folder)
permitted()
for where in ("code", "return"):
    check_counts(where)
    check_times(where)
    check_clocks(where)
    check_deep(where)
    check_preempted(where)
    check_counters(where)
check_wrong_counters()
check_percentiles()
check_faults()
check_go()
check_names()
check_kill()
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
