#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof paths` (counts of execution paths, here called ways) on a program whose counts are known, and compared with gcov and
llvm-cov in the same run: the counts of each line that belongs to exactly one block are equal.
usage: ways.py; needs CPPROF and SOURCE in the environment."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

CPPROF = os.environ["CPPROF"]
SOURCE = os.path.join(os.environ["SOURCE"], "tests", "e2e", "ways", "ways.c")
FUNCTIONS = ["classify", "nested", "choose", "fib", "leave", "jumps", "straight", "decide"]
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def paths(*options, functions=FUNCTIONS):
    names = [word for name in functions for word in ("-f", name)]
    ran = subprocess.run([CPPROF, "paths", *names, "--format", "json", *options], capture_output=True, text=True)
    return ran, {f["name"]: f for f in json.loads(ran.stdout)["functions"]} if ran.stdout.startswith("{") else {}


def counts(function):
    return sorted((w["count"] for w in function["ways"]), reverse=True)


def known_ways(compiler, flags):
    """Compares with the counts that follow from the program's arithmetic."""
    subprocess.run([compiler, *flags, "-g", "-o", "ways", SOURCE], check=True)
    ran, found = paths("--", "./ways", "1000")
    what = f"{compiler} {' '.join(flags)}:"
    check(what + " runs", ran.returncode == 0, ran.stderr)
    check(what + " ways left by longjmp", json.loads(ran.stdout)["dropped"] == 10, ran.stdout[:200])
    left = {name: sum(w["count"] for w in f["ways"] if w["leaves"]) for name, f in found.items()}
    calls = {"classify": 1400, "choose": 1000, "straight": 1000, "decide": 1000, "nested": 1, "leave": 50, "jumps": 90}
    for name, want in calls.items():
        check(what + " calls of " + name, left.get(name) == want, str(left.get(name)))
    if found.get("leave"):
        check(what + " ways of leave", counts(found["leave"]) == [40, 10], str(counts(found["leave"])))
        check(what + " ways of jumps", counts(found["jumps"]) == [50, 40], str(counts(found["jumps"])))
    if found.get("decide"):
        check(what + " ways of decide", counts(found["decide"]) == [400, 333, 167, 100], str(counts(found["decide"])))


def single_lines(found):
    """Execution counts of the lines that belong to exactly one block."""
    lines = {}
    for name, f in found.items():
        if name == "jumps":  # ways left by longjmp are only counted as dropped
            continue
        for block in f["blocks"]:
            for line in block["lines"]:
                lines.setdefault(line, []).append(block["count"])
    return {line: c[0] for line, c in lines.items() if len(c) == 1}


def compare(what, found, theirs):
    ours = single_lines(found)
    both = [line for line in ours if line in theirs]
    check(what + " has lines to compare", len(both) >= 15, str(len(both)))
    wrong = [(line, ours[line], theirs[line]) for line in both if ours[line] != theirs[line]]
    check(what + " has the same counts", not wrong, str(wrong))


def against_gcov():
    # The counter updates of --coverage add no branches.
    subprocess.run(["gcc", "-O0", "-g", "--coverage", "-o", "covered", SOURCE], check=True)
    ran, found = paths("--", "./covered", "400")
    check("gcov: runs", ran.returncode == 0, ran.stderr)
    notes = [name for name in os.listdir(".") if name.endswith(".gcda")]
    out = subprocess.run(["gcov", "--json-format", "--stdout", *notes], capture_output=True, text=True).stdout
    theirs = {}
    for line in json.loads(out)["files"][0]["lines"]:
        theirs[line["line_number"]] = theirs.get(line["line_number"], 0) + line["count"]
    compare("gcov", found, theirs)


def against_llvm(clang):
    subprocess.run([clang, "-O0", "-g", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "profiled", SOURCE], check=True)
    os.environ["LLVM_PROFILE_FILE"] = os.path.abspath("raw")
    ran, found = paths("--", "./profiled", "400")
    check("llvm: runs", ran.returncode == 0, ran.stderr)
    subprocess.run(["llvm-profdata", "merge", "-o", "data", "raw"], check=True)
    out = subprocess.run(["llvm-cov", "show", "./profiled", "-instr-profile=data"], capture_output=True, text=True).stdout
    theirs = {}
    for text in out.splitlines():
        match = re.match(r"\s*(\d+)\|\s*(\d+)\|", text)
        if match:
            theirs[int(match[1])] = int(match[2])
    for line in ambiguous_lines():
        theirs.pop(line, None)
    compare("llvm", found, theirs)


def ambiguous_lines():
    """Lines on which code of one count ends and nothing begins but the gap before code of another: llvm-cov shows the first count.
    On the brace after a `switch` it is the count of the `switch`, but the line's only code, an update of the counter, is executed as
    often as what follows: less, if cases return."""
    out = subprocess.run(["llvm-cov", "export", "./profiled", "-instr-profile=data"], capture_output=True, text=True, check=True).stdout
    begun, last, ambiguous = set(), 0, set()
    for line, _, count, has_count, is_entry, is_gap in json.loads(out)["data"][0]["files"][0]["segments"]:
        if is_entry:
            begun.add(line)
        if is_gap and has_count and count not in (0, last):
            ambiguous.add(line)
        last = count
    return ambiguous - begun


def attached():
    """Attaches to a running process; ways in progress are not counted, those that begin later are."""
    subprocess.run(["cc", "-O1", "-g", "-o", "ways", SOURCE], check=True)
    target = subprocess.Popen(["./ways", "2000000000"])
    time.sleep(0.2)
    ran, found = paths("-p", str(target.pid), "-d", "1", functions=["classify", "main"])
    target.kill()
    target.wait()
    check("attached: runs", ran.returncode == 0, ran.stderr)
    check("attached: both are counted", found.get("classify", {}).get("total", 0) > 0 and found["main"]["total"] > 0)


def compile_weights():
    subprocess.run(["cc", "-O1", "-g", "-o", "weights", os.path.join(os.path.dirname(SOURCE), "weights.c")], check=True)


def weights():
    """A frequent and a rare branch in the same loop: with a profile, the probe of the frequent one is omitted."""
    compile_weights()
    ran = subprocess.run([CPPROF, "record", "-o", "weights.data", "--", "./weights", "50000000"], capture_output=True, text=True)
    check("weights: recorded", ran.returncode == 0, ran.stderr)
    plain, found = paths("--", "./weights", "100000", functions=["weigh"])
    told, with_profile = paths("--profile", "weights.data", "--", "./weights", "100000", functions=["weigh"])
    check("weights: both run", plain.returncode == 0 and told.returncode == 0, plain.stderr + told.stderr)
    ways = [sorted((w["number"], w["count"]) for w in f["weigh"]["ways"]) for f in (found, with_profile)]
    check("weights: the same counts", ways[0] == ways[1], str(ways))
    # 100000 iterations: even or odd, with a second bit, and rare ways in every 1024th.
    seldom = [c for c in counts(found["weigh"]) if c < 1000]
    check("weights: the counts are as computed", found["weigh"]["total"] == 100000 and sum(seldom) in range(97, 101), str(ways[0]))
    hits = [json.loads(r.stdout)["hits"] for r in (plain, told)]
    check("weights: fewer hits with a profile", hits[1] < 0.8 * hits[0], str(hits))
    ran = subprocess.run([CPPROF, "paths", "-f", "weigh", "--dry-run", "--profile", "weights.data", "--", "./weights"],
                         capture_output=True, text=True)
    planned = re.search(r"(\d+) probes for 41 paths; about ([0-9,]+) hits per second", ran.stdout)
    check("weights: --dry-run says so", ran.returncode == 0 and planned and "they would be set all the time" in ran.stdout, ran.stdout + ran.stderr)
    # On six of the seven branches and on the entry, which may be a branch.
    graph = subprocess.run([CPPROF, "inspect", "cfg", "--function", "weigh", "weights"], capture_output=True, text=True).stdout
    starts_with_branch = " 1 insns, branches" in graph.splitlines()[1]
    check("weights: the number of probes", planned and int(planned[1]) == (6 if starts_with_branch else 7), ran.stdout + graph)
    exported = subprocess.run([CPPROF, "export", "-f", "json", "-o", "-", "weights.data"], capture_output=True, text=True, check=True).stdout
    seconds = json.loads(exported)["run"]["duration_ns"] / 1e9
    estimated, true = json.loads(told.stdout)["expected_hits_per_second"] * seconds, hits[1] / 100000 * 50000000
    check("weights: the estimate for the recorded run is at most a factor of two off", true / 2 < estimated < true * 2, f"{estimated} {true}")
    ran, _ = paths("--profile", "weights", "--", "./weights", functions=["weigh"])
    check("weights: a file that is not a profile is refused", ran.returncode == 1 and "weights" in ran.stderr, ran.stderr)


def stretches():
    """A process that would be slowed down too much: probes are set only in time windows. A quarter of the calls take one way."""
    compile_weights()
    target = subprocess.Popen(["./weights", "1000000000000", "shares"])
    time.sleep(0.1)
    planned = subprocess.run([CPPROF, "paths", "-f", "shares", "--dry-run", "-p", str(target.pid)], capture_output=True, text=True)
    ran, found = paths("-p", str(target.pid), "-d", "4", functions=["shares"])
    shown = subprocess.run([CPPROF, "paths", "-f", "shares", "-p", str(target.pid), "-d", "3", "--by", "context"],
                           capture_output=True, text=True)
    target.kill()
    target.wait()
    check("stretches: --dry-run says so", "set only in windows of 50 ms" in planned.stdout, planned.stdout + planned.stderr)
    check("stretches: a message says so", "they are set only in windows of 50 ms" in ran.stderr, ran.stderr)
    whole = json.loads(ran.stdout)
    check("stretches: there are several", whole["stretches"] > 1 and not whole["whole"], ran.stdout[:300])
    # The function does nothing but hit probes, so a window costs all of its time, whatever a hit costs on this machine.
    check("stretches: probes are set for a small part of the time", whole["seconds_in"] < whole["seconds"] / 4, ran.stdout[:300])
    check("stretches: the time given is kept, also in a pause", whole["seconds"] < 5, ran.stdout[:300])
    check("stretches: at most one way per thread is in progress when a window begins", whole["partial"] <= whole["stretches"],
          ran.stdout[:300])
    check("stretches: no way is dropped", whole["dropped"] == 0, ran.stdout[:300])
    for way in found["shares"]["ways"]:
        share = way["count"] / found["shares"]["total"]
        truth = 0.25 if share < 0.5 else 0.75
        # A 95 % interval misses the truth in one of 20 cases, so some slack is added.
        check("stretches: the interval contains the share", way["share_low"] - 0.01 <= truth <= way["share_high"] + 0.01 and
              way["share_low"] <= share <= way["share_high"] and way["share_high"] - way["share_low"] < 0.2, str(way))
    check("stretches: the report says so", re.search(r"the probes were set for [0-9.]+ s of [0-9.]+ s, in \d+ windows", shown.stdout)
          and re.search(r"\([0-9.]+%-[0-9.]+%\)  entry: .*called by main", shown.stdout), shown.stdout + shown.stderr)


def bad_input():
    """Irreducible loops, jumps with unknown targets, signal handlers, no symbols, a replaced file, a process that exits."""
    source = os.path.join(os.path.dirname(SOURCE), "bad.c")
    subprocess.run(["cc", "-O1", "-g", "-o", "bad", source], check=True)
    line = 1 + [i for i, text in enumerate(open(source)) if "as often as it is asked for" in text][0]

    def counted(*options, functions):  # to a file, since the program itself prints to standard output
        ran, _ = paths("-o", "bad.json", *options, functions=functions)
        return ran, {f["name"]: f for f in json.load(open("bad.json"))["functions"]}
    ran, found = counted("--", "./bad", "1000", functions=["irreducible", "handled"])
    middle = [b["count"] for b in found["irreducible"]["blocks"] if line in b["lines"]]
    check("a loop with two entries", ran.returncode == 0 and sum(middle) == 2000, str(middle) + ran.stderr)
    calls = sum(w["count"] for w in found["handled"]["ways"] if w["leaves"])
    check("signal handlers during a way", calls == int(ran.stdout) > 100000, f"{calls} {ran.stdout}")
    ran, _ = paths("--", "./bad", "100", functions=["computed"])
    check("a jump with unknown targets", ran.returncode == 1 and "the targets of the jump at 0x" in ran.stderr, ran.stderr + ran.stdout)
    ran, both = counted("--", "./bad", "100", functions=["computed", "irreducible"])
    check("... other functions are still counted", ran.returncode == 0 and list(both) == ["irreducible"] and "the jump at" in ran.stderr, ran.stderr)
    shutil.copy("bad", "bare")
    subprocess.run(["strip", "bare"], check=True)
    ran, bare = counted("--", "./bare", "1000", functions=[f"bare+{found['irreducible']['vaddr']}"])
    same = bare and counts(list(bare.values())[0]) == counts(found["irreducible"])
    check("without symbols: by address", ran.returncode == 0 and same, ran.stderr)
    check("... with ways shown by blocks", all(not w["lines"] for f in bare.values() for w in f["ways"]))
    target = subprocess.Popen(["./bad", "2000000"], stdout=subprocess.DEVNULL)
    time.sleep(0.2)
    os.rename("bare", "bad")  # another file of the same name
    ran, replaced = paths("-p", str(target.pid), "-d", "1", functions=["handled"])
    is_counted = replaced.get("handled", {}).get("total", 0) > 0
    check("a file that was replaced", is_counted or "was replaced" in ran.stderr or "there is no function named" in ran.stderr, ran.stderr)
    watcher = subprocess.Popen([CPPROF, "paths", "-f", "*", "-p", str(target.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    target.kill()
    target.wait()
    _, err = watcher.communicate(timeout=60)
    check("a process that is killed meanwhile", watcher.returncode in (0, 1, 4, 5), f"{watcher.returncode} {err}")


def complaints():
    ran, _ = paths("--", "./ways", functions=["clasify"])
    check("a misspelt name", ran.returncode != 0 and "there is 'classify'" in ran.stderr, ran.stderr)
    ran = subprocess.run([CPPROF, "paths", "--", "./ways"], capture_output=True, text=True)
    check("no function", ran.returncode == 2, ran.stderr)
    ran, _ = paths("-p", "2147483646", functions=["main"])
    check("no process", ran.returncode == 4, ran.stderr)
    ran, _ = paths("--by", "context", "--", "./ways", "100", functions=["classify"])
    callers = {w.get("caller") for w in json.loads(ran.stdout)["functions"][0]["ways"]}
    check("by context", len(callers) == 2, str(callers))


def main():
    os.chdir(work)
    if not shutil.which("cc"):
        skip("no C compiler")
    subprocess.run(["cc", "-O1", "-g", "-o", "ways", SOURCE], check=True)
    ran, _ = paths("--", "./ways", functions=["straight"])
    if ran.returncode == 3 or "libbpf" in ran.stderr:
        skip("probes are not allowed here")
    compilers = [c for c in ("gcc", "clang") if shutil.which(c)]
    for compiler in compilers:
        for level in ("-O0", "-O1", "-O2"):
            known_ways(compiler, [level])
    if shutil.which("gcov") and shutil.which("gcc"):
        against_gcov()
    if all(shutil.which(t) for t in ("clang", "llvm-profdata", "llvm-cov")):
        against_llvm("clang")
    attached()
    weights()
    stretches()
    bad_input()
    complaints()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


with tempfile.TemporaryDirectory() as work:
    sys.exit(main())
