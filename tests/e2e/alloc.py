#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`cpprof trace --alloc` on a program whose allocations are known: estimates are unbiased and within their 95 % intervals.
usage: alloc.py; needs CPPROF and BUILD in the environment."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import trace_permission

CPPROF, BUILD = os.environ["CPPROF"], os.environ["BUILD"]
BLOCKS = os.path.join(BUILD, "tests", "e2e", "blocks")
FEW = 50  # divisor of the number of blocks, so that every allocation can be recorded


def some(n, size, kept):
    """(bytes, calls, bytes held) of n blocks of which every `kept`-th is not freed."""
    return n * size, n, -(-n // kept) * size if kept else 0


def truth(fewer):
    """The true values by calling function."""
    mapped = some(200 // fewer, 100000, 5)
    return {
        "small": some(200000 // fewer, 48, 0),
        "middle": some(20000 // fewer, 1000, 2),
        "large": some(100 // fewer, 300000, 4),
        "aligned": some(100 // fewer, 20032, 4),
        "growing": (2000 // fewer * 5100, 4000 // fewer, 2000 // fewer * 5000),
        "threaded": some(40000 // fewer, 500, 0),
        "mapped": (mapped[0] + 100000, mapped[1] + 1, mapped[2]),  # one request fails
    }


TRUE = truth(1)
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}", flush=True)


def trace(*options, program=BLOCKS, name="a.data", attach=False, fewer=1):
    if attach:
        target = subprocess.Popen([program, str(fewer)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        tracer = subprocess.Popen([CPPROF, "trace", "--alloc", "-o", name, *options, "-p", str(target.pid)], stderr=subprocess.PIPE, text=True)
        errors = tracer.stderr.readline()
        out = target.communicate("\n")[0]
        return tracer.wait(), out, errors + tracer.communicate()[1]
    for attempt in range(5):
        ran = subprocess.run([CPPROF, "trace", "--alloc", "-o", name, *options, "--", program, str(fewer)], input="\n", capture_output=True, text=True)
        if " 0 lost" in ran.stderr:
            break  # on a busy machine, records may be lost (and reported), and then estimates are too low
    return ran.returncode, ran.stdout, ran.stderr


def rows(name="a.data"):
    """Estimates and their margins of error, summed by the function that calls an allocation function."""
    report = subprocess.run([CPPROF, "report", "--view", "allocations", "--format", "json", "--limit", "0", name], capture_output=True, text=True)
    found = {}
    for row in json.loads(report.stdout)["rows"]:
        path = row["path"].split(" > ")
        caller = path[-2] if len(path) > 1 else path[-1]
        into = found.setdefault(caller, {})
        for key, value in row.items():
            if key.endswith("_margin"):
                into[key] = (into.get(key, 0) ** 2 + value**2) ** 0.5
            elif key != "path":
                into[key] = into.get(key, 0) + value
    return found


def permitted():
    code, _, errors = trace("-q", name="first.data")
    trace_permission.ask(code, errors, check)


def check_all():
    """With --every 1 all allocations are recorded: the results are exact."""
    code, out, errors = trace("--every", "1", "--held", "--stack-size", "1k", name="all.data", fewer=FEW)
    check("the program's output is right", out == "done\n", out)
    got = rows("all.data")
    for name, true in truth(FEW).items():
        row = got.get(name, {})
        check(f"{name}: exact counts", (row.get("bytes"), row.get("allocations"), row.get("held_bytes")) == true, (row, true, errors))


def check_estimates():
    """Six runs of the same program: nearly all intervals contain the true value, and the mean is right."""
    inside = total = 0
    sums = {}
    for i in range(6):
        code, out, errors = trace("--every", "20k", "--held", attach=i % 2 == 1)
        check("trace succeeds", code == 0 and out == "done\n", errors)
        got = rows()
        for name, true in TRUE.items():
            row = got.get(name, {})
            for key, value in zip(("bytes", "allocations", "held_bytes"), true):
                margin = row.get(key + "_margin", 0)
                inside += abs(row.get(key, 0) - value) <= margin + 2
                total += 1
                sums.setdefault((name, key), []).append((row.get(key, 0), margin / 1.96, value))
    check("estimates are within their intervals (95 %)", inside >= total * 0.88, (inside, total))
    for (name, key), values in sums.items():
        mean = sum(v[0] for v in values) / len(values)
        sigma = (sum(v[1] ** 2 for v in values)) ** 0.5 / len(values)
        check(f"the mean of {key} of {name} is right", abs(mean - values[0][2]) <= 4 * sigma + 2, (mean, sigma, values[0][2]))


def check_own():
    code, _, errors = trace("--every", "16k", "--alloc-function", "take_own:2")
    row = rows().get("own", {})
    check("an allocation function of the program", abs(row.get("bytes", 0) - 4000000) <= 2.5 * row.get("bytes_margin", 0), (row, errors))
    check("the message gives the exact number of calls", "calls of allocation functions requested" in errors, errors)


def check_static():
    """A static program is traced by its symbols; without symbols it is refused."""
    cc = shutil.which("cc")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "blocks.c")
    if not cc or subprocess.run([cc, "-O1", "-static", source, "-o", "static", "-lpthread"], capture_output=True).returncode:
        print("skipped: no static C library")
        return
    code, out, errors = trace("--every", "50k", program="./static")
    row = rows().get("middle", {})
    check("a static program", code == 0 and abs(row.get("bytes", 0) - 2e7) <= 2.5 * row.get("bytes_margin", 0), (row, errors))
    subprocess.run(["strip", "static"], check=True)
    for attach in (False, True):
        code, out, errors = trace(program="./static", attach=attach)
        check("a stripped static program is refused, with a reason", code != 0 and "static program without symbols" in errors and out == "done\n", (code, errors))


def check_musl(*flags):
    if not shutil.which("musl-gcc"):
        print("skipped: no musl-gcc")
        return
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "blocks.c")
    if subprocess.run(["musl-gcc", "-O1", "-g", *flags, source, "-o", "musl"], capture_output=True).returncode:
        print("skipped: musl-gcc does not link")
        return
    code, out, errors = trace("--every", "50k", "--held", program="./musl")
    got = rows()
    for name in ("middle", "growing"):
        row = got.get(name, {})
        check(f"musl {flags}: {name}", abs(row.get("bytes", 0) - TRUE[name][0]) <= 3 * row.get("bytes_margin", 0), (row, errors))


def check_preloaded(name):
    """Another allocator, preloaded, is found by its symbols."""
    folders = ("/usr/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu")
    library = next((path for folder in folders if os.path.exists(path := os.path.join(folder, name))), None)
    if not library:
        print(f"skipped: no {name}")
        return
    ran = subprocess.run([CPPROF, "trace", "--alloc", "--held", "--every", "50k", "-o", "a.data", "--", BLOCKS],
                         input="\n", capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": library})
    row = rows().get("middle", {})
    check(name, abs(row.get("bytes", 0) - 2e7) <= 3 * row.get("bytes_margin", 0), (row, ran.stderr))


def dhat_totals():
    """Bytes by allocating function of the program, as counted by valgrind's dhat."""
    ran = subprocess.run(["valgrind", "--tool=dhat", "--dhat-out-file=dhat.json", BLOCKS], input="\n", capture_output=True, text=True)
    if ran.returncode:
        return None
    d = json.load(open("dhat.json"))
    names = [frame.split(": ", 1)[-1].split(" (")[0] for frame in d["ftbl"]]
    totals = {}
    for point in d["pps"]:
        caller = next((names[f] for f in point["fs"] if names[f] in TRUE), None)
        if caller:
            totals[caller] = totals.get(caller, 0) + point["tb"]
    return totals


def check_dhat():
    if not shutil.which("valgrind"):
        print("skipped: no valgrind")
        return
    totals = dhat_totals()
    if totals is None:
        print("skipped: dhat does not run here")
        return
    trace("--every", "20k")
    got = rows()
    for name in TRUE:
        row = got.get(name, {})
        if name == "mapped":
            continue  # dhat does not count mmap
        # For realloc, dhat counts the bytes added, cpprof the bytes requested.
        true = totals.get(name, 0) + (2000 * 100 if name == "growing" else 0)
        check(f"{name}: the same bytes as dhat", abs(row.get("bytes", 0) - true) <= 2 * row.get("bytes_margin", 0) + 2, (row, true))


place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
folder = place.name
os.chdir(folder)
permitted()
check_all()
if "SLOW" in os.environ:
    print(f"skipped: estimates: too slow on an emulated machine\ntally: {passed} passed, {failed} failed, 1 skipped")
    sys.exit(1 if failed else 0)
check_estimates()
check_own()
check_static()
check_musl("-static")
check_musl()  # musl's libc is also its dynamic linker
check_preloaded("libjemalloc.so.2")
check_preloaded("libtcmalloc_minimal.so.4")
check_dhat()
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
