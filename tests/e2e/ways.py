#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof paths` on a program whose ways are known, and on the same program as gcov and llvm count it: in one run, each line
that is one block was executed as often as they say.
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
    """Calls that leave their function, by the program's own arithmetic."""
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
    """Lines that are one block of their function: how often that was executed."""
    lines = {}
    for name, f in found.items():
        if name == "jumps":  # ways that are left by longjmp are dropped, and counted as such
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
    check(what + " counts the same", not wrong, str(wrong))


def against_gcov():
    # Updates in one instruction or none: counters need no branch of their own.
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
    compare("llvm", found, theirs)


def attached():
    """A process that runs already; what it is in the middle of is not counted, what begins is."""
    subprocess.run(["cc", "-O1", "-g", "-o", "ways", SOURCE], check=True)
    target = subprocess.Popen(["./ways", "2000000000"])
    time.sleep(0.2)
    ran, found = paths("-p", str(target.pid), "-d", "1", functions=["classify", "main"])
    target.kill()
    target.wait()
    check("attached: runs", ran.returncode == 0, ran.stderr)
    check("attached: both are counted", found.get("classify", {}).get("total", 0) > 0 and found["main"]["total"] > 0)


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
    complaints()
    print(f"{passed} passed, {failed} failed")
    return failed != 0


with tempfile.TemporaryDirectory() as work:
    sys.exit(main())
