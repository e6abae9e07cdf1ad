#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `cpprof diff` and `cpprof stats` say of made profiles: sums, exit codes, formats, and that flat changes are those of
`pprof -diff_base`, where there is one. usage: diff.py; needs CPPROF and MAKE_PROFILE in the environment."""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

CPPROF, MAKE = os.environ["CPPROF"], os.environ["MAKE_PROFILE"]
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {str(detail)[:800]}")


def run(*args, code=0):
    ended = subprocess.run([CPPROF, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    check(f"exit code {code} of {' '.join(args)}", ended.returncode == code, (ended.returncode, ended.stderr))
    return ended


def near(a, b):
    return abs(a - b) <= 1e-6 * (1 + abs(a) + abs(b))


def check_sums(*args):
    diff = json.loads(run("diff", "-f", "json", *args).stdout)
    left = diff["left_out"]
    for side in ("before", "after"):
        total = sum(row["self"][side] for row in diff["rows"]) + left[side]
        check(f"sum of {side}: {args}", near(total, diff["total"][side]), (total, diff["total"]))
    return diff


def check_views():
    for view in ([], ["--view", "tree"], ["--group-by", "module"], ["--group-by", "loop"], ["--group-by", "line"], ["--call-sites", "--view", "tree"]):
        check_sums(*view, "a.data", "b.data")
        check_sums(*view, "--limit", "3", "a.data", "b.data", "--", "b.data", "a.data")
    text = run("diff", "a.data", "b.data").stdout
    check("one run a side is said", "sample counts alone" in text, text)
    check("several runs are said", "spread between runs" in run("diff", "a.data", "a.data", "--", "b.data", "b.data").stdout)
    check("the same file twice is said", "more than once" in run("diff", "a.data", "a.data").stdout)
    check("markdown", run("diff", "-f", "md", "a.data", "b.data").stdout.count("|") > 20)
    run("diff", "--html", "d.html", "a.data", "b.data")
    check("html", os.path.getsize("d.html") > 10000)
    same = check_sums("a.data", "a.data")
    check("a profile is like itself", all(row["self"]["change"] == 0 and not row["significant"] for row in same["rows"]))
    check("new and gone", {row["state"] for row in check_sums("sample.data", "other.data")["rows"]} >= {"new", "gone"})


def check_rules():
    run("diff", "--fail-on", "total>1%", "small.data", "large.data", code=7)
    run("diff", "--fail-on", "total>1%", "large.data", "small.data")
    run("diff", "--fail-on", "function:no such>1%", "a.data", "b.data", code=2)
    run("diff", "--fail-on", "nonsense", "a.data", "b.data", code=2)
    with open("rules.json", "w") as file:
        json.dump({"rules": [{"rule": "total>1%", "why": "it must not grow"}]}, file)
    ended = subprocess.run([CPPROF, "diff", "--rules", "rules.json", "small.data", "large.data"], capture_output=True, text=True)
    if "without" not in ended.stderr:
        check("rules of a file", ended.returncode == 7 and "it must not grow" in ended.stdout, (ended.returncode, ended.stdout[-300:], ended.stderr))
    run("diff", "--rules", "none.json", "a.data", "b.data", code=1)
    with open("bad.json", "w") as file:
        file.write("{")
    run("diff", "--rules", "bad.json", "a.data", "b.data", code=2)


def check_bad_input():
    for files in (["a.data"], ["a.data", "b.data", "a.data"], []):
        run("diff", *files, code=2)
    run("diff", "a.data", "absent.data", code=1)
    with open("cut.data", "wb") as file:
        file.write(open("a.data", "rb").read()[:300])
    run("diff", "a.data", "cut.data", code=1)
    run("diff", "a.data", "none.data", code=5)
    run("diff", "--metric", "none", "a.data", "b.data", code=2)
    run("diff", "--min-quality", "100", "sample.data", "sample.data", code=6)
    run("diff", "--normalize", "scope:none", "a.data", "b.data", code=2)
    run("diff", "--normalize", "nonsense", "a.data", "b.data", code=2)
    run("stats", "a.data", code=2)
    for view in ("text", "md", "csv", "json"):
        run("diff", "-f", view, "hostile.data", "hostile.data")
        run("stats", "-f", view, "hostile.data", "hostile.data")


def check_stats():
    stats = json.loads(run("stats", "-f", "json", "a.data", "b.data").stdout)
    for row in stats["rows"]:
        low, high, total = min(row["values"]), max(row["values"]), sum(row["values"])
        check("statistics of a row", near(row["range_of_sum"], (high - low) / total) and near(row["mean"], total / 2), row)
    check("sorted by range", all(a["range_of_sum"] >= b["range_of_sum"] for a, b in zip(stats["rows"], stats["rows"][1:])))
    check("rows add up", near(sum(row["sum"] for row in stats["rows"]), stats["total"]["sum"]))
    threads = json.loads(run("stats", "-f", "json", "--by", "thread", "sample.data").stdout)
    check("threads", len(threads["names"]) > 1 and near(sum(threads["total"]["values"]), threads["total"]["sum"]))
    run("stats", "--html", "s.html", "--by", "thread", "sample.data")
    check("a dot a thread", open("s.html").read().count("<circle") >= len(threads["names"]))


def check_pprof():
    """The change of what each function spends itself, by name: the same in both."""
    go = shutil.which("go")
    if not go or subprocess.run([go, "tool", "pprof", "-h"], capture_output=True).returncode not in (0, 2):
        print("not compared with pprof: there is no go tool pprof")
        return
    for name in ("a", "b"):
        run("export", name + ".data", "-o", name + ".pb.gz")
    top = subprocess.run([go, "tool", "pprof", "-top", "-unit=ns", "-sample_index=1", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", "-diff_base",
                          "a.pb.gz", "b.pb.gz"], capture_output=True, text=True, env={**os.environ, "PPROF_TMPDIR": os.getcwd(), "HOME": os.getcwd()})
    theirs, ours = {}, {}
    for line in top.stdout.splitlines():
        row = re.match(r"\s*(-?[0-9.]+)(?:ns)?\s+\S+%\s+\S+%\s+\S+\s+\S+%\s+(.*?)(?: \(inline\))?$", line)
        if row:
            theirs[row[2]] = theirs.get(row[2], 0) + float(row[1])
    for row in csv.DictReader(io.StringIO(run("diff", "-f", "csv", "a.data", "b.data").stdout)):
        ours[row["name"]] = ours.get(row["name"], 0) + float(row["self_change"])
    common = [name for name in theirs if name in ours]
    check("pprof has our functions", len(common) >= 10, (top.stdout[:600], top.stderr[-300:], list(ours)[:20]))
    for name in common:
        check(f"pprof -diff_base: {name}", near(theirs[name], ours[name]), (theirs[name], ours[name]))
    print(f"{len(common)} functions have the change that pprof gives them")


os.chdir(tempfile.mkdtemp())
for made, kind in (("a", ["2000", "a.data"]), ("b", ["2500", "b.data"]), ("sample", ["sample", "sample.data"]), ("other", ["kernel", "other.data"]),
                   ("hostile", ["hostile", "hostile.data"]), ("none", ["none", "none.data"]), ("small", ["1000", "small.data"]),
                   ("large", ["3000", "large.data"])):
    subprocess.run([MAKE, *kind], check=True)
check_views()
check_rules()
check_bad_input()
check_stats()
check_pprof()
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
