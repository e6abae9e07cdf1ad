#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `cpprof diff` and `cpprof stats` on synthetic profiles: sums, exit codes, formats; flat changes equal those of
`pprof -diff_base`, if go is installed. usage: diff.py; needs CPPROF, MAKE_PROFILE and SOURCE in the environment."""
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


def run(*args, code=0, given=""):
    ended = subprocess.run([CPPROF, *args], capture_output=True, text=True, input=given)
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
    flat = [run("diff", *view, "a.data", "b.data").stdout for view in (["--view", "flat"], ["--group-by", "function"])]
    check("--group-by function implies the flat view", flat[0] == flat[1], flat[1])
    text = run("diff", "a.data", "b.data").stdout
    check("one run per side is noted", "sample counts alone" in text, text)
    check("several runs are noted", "variation between runs" in run("diff", "a.data", "a.data", "--", "b.data", "b.data").stdout)
    check("a duplicate file is noted", "more than once" in run("diff", "a.data", "a.data").stdout)
    check("markdown", run("diff", "-f", "md", "a.data", "b.data").stdout.count("|") > 20)
    run("diff", "--html", "d.html", "a.data", "b.data")
    check("html", os.path.getsize("d.html") > 10000)
    same = check_sums("a.data", "a.data")
    check("a profile does not differ from itself", all(row["self"]["change"] == 0 and not row["significant"] for row in same["rows"]))
    check("new and gone", {row["state"] for row in check_sums("sample.data", "other.data")["rows"]} >= {"new", "gone"})


def check_messages():
    says("options after --", "options must come before --", "diff", "a.data", "--", "b.data", "--view", "flat", code=2)


def check_rules():
    run("diff", "--fail-on", "total>1%", "small.data", "large.data", code=7)
    run("diff", "--fail-on", "total>1%", "large.data", "small.data")
    run("diff", "--fail-on", "function:no such>1%", "a.data", "b.data", code=2)
    run("diff", "--fail-on", "nonsense", "a.data", "b.data", code=2)
    with open("rules.json", "w") as file:
        json.dump({"rules": [{"rule": "total>1%", "why": "it must not grow"}]}, file)
    ended = subprocess.run([CPPROF, "diff", "--rules", "rules.json", "small.data", "large.data"], capture_output=True, text=True)
    if "without" not in ended.stderr:
        check("rules from a file", ended.returncode == 7 and "it must not grow" in ended.stdout, (ended.returncode, ended.stdout[-300:], ended.stderr))
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


def says(what, text, *args, code=0, given=""):
    ended = run(*args, code=code, given=given)
    check(f"{what}: prints '{text}'", text in ended.stdout + ended.stderr, (args[:6], ended.stdout[-300:], ended.stderr[-300:]))


def check_damage():
    """An unreadable file is named, and nothing is compared."""
    whole = open("a.data", "rb").read()
    files = {"nothing.data": b"", "short.data": whole[:-1], "other.txt": b"not a profile\n" * 50,
             "flipped.data": whole[:len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 0x55]) + whole[len(whole) // 2 + 1:]}
    for name, data in files.items():
        with open(name, "wb") as file:
            file.write(data)
        for command in (["diff", "a.data", name], ["diff", name, "a.data"], ["diff", "a.data", name, "--", "b.data", "a.data"], ["stats", "a.data", name]):
            says("damage", name, *command, code=1)
    os.mkdir("folder")
    says("a folder", "folder", "diff", "a.data", "folder", code=1)


def check_fit():
    """Profiles that do not match are refused, or a message says so."""
    says("two programs", "have no outermost function in common", "diff", "sample.data", "other.data")
    says("twice", "given more than once", "stats", "a.data", "b.data", "a.data")
    tower = os.path.join(os.environ["SOURCE"], "tests", "data", "tower")
    for arch, recording in (("aarch64", "dwarf"), ("aarch64", "zstd"), ("x86_64", "x86_64")):
        name = recording if recording == "zstd" else arch
        run("import", "-q", "--symfs", f"{tower}/root-{arch}", f"{tower}/{recording}.data", "-o", name + ".data")
    run("import", "-q", "--no-resolve", f"{tower}/dwarf.data", "-o", "nameless.data")
    says("two architectures", "costs on different machines", "diff", "--metric", "samples", "aarch64.data", "x86_64.data")
    check_sums("--metric", "samples", "aarch64.data", "x86_64.data")
    says("no names", "has no symbols yet", "diff", "aarch64.data", "nameless.data")
    run("import", "-q", "--symfs", f"{tower}/root-aarch64", f"{tower}/several.data", "-o", "several.data")
    says("no such event", "has no metric 'page-faults'", "diff", "--metric", "page-faults", "several.data", "aarch64.data", code=2)


def check_space():
    if os.path.exists("/dev/full"):
        for view in ("text", "md", "csv", "json"):
            with open("/dev/full", "w") as full:
                ended = subprocess.run([CPPROF, "diff", "-f", view, "a.data", "b.data"], stdout=full, stderr=subprocess.PIPE, text=True)
            check(f"no space left for {view}", ended.returncode == 1 and "No space left" in ended.stderr, (ended.returncode, ended.stderr))
        says("no space left", "No space left", "diff", "--html", "/dev/full", "a.data", "b.data", code=1)
        says("no space left", "No space left", "stats", "--html", "/dev/full", "a.data", "b.data", code=1)


def check_lists():
    """More names than fit on a command line."""
    with open("list", "w") as file:
        file.write("a.data\n\nb.data\n--\nb.data\na.data\n")
    typed = run("diff", "-f", "json", "a.data", "b.data", "--", "b.data", "a.data").stdout
    check("a list gives the same result as arguments", run("diff", "-f", "json", "--files-from", "list").stdout == typed)
    check("a list on standard input", run("diff", "-f", "json", "--files-from", "-", given=open("list").read()).stdout == typed)
    check("two need no --", run("diff", "-f", "json", "--files-from", "-", given="a.data\nb.data\n").stdout == run("diff", "-f", "json", "a.data", "b.data").stdout)
    says("no list", "cannot open the list of files 'absent'", "diff", "--files-from", "absent", code=1)
    says("an empty list", "the list of files '-' is empty", "diff", "--files-from", "-", code=2)
    says("a list and files", "not both", "diff", "--files-from", "list", "a.data", code=2)
    says("no side", "put -- between the files of before", "diff", "--files-from", "-", given="a.data\nb.data\na.data\n", code=2)
    says("one side", "give two profiles: before and after", "diff", "--files-from", "-", given="a.data\n--\n", code=2)
    says("one that is not there", "absent.data", "diff", "--files-from", "-", given="a.data\nabsent.data\n", code=1)
    for i in range(540):
        shutil.copy("one.data", f"run-{i}.data")
    names = ["./" * 2000 + f"run-{i}.data" for i in range(540)]
    check("the names do not fit on a command line", sum(map(len, names)) > 2 << 20)
    check("hundreds of runs", len(json.loads(run("stats", "-f", "json", "--files-from", "-", given="\n".join(names)).stdout)["names"]) == 540)
    says("the same by merge", "540 samples", "merge", "-o", "all.data", "--files-from", "-", given="\n".join(names))


def check_nothing_matches():
    """A rule that matches nothing is an error, however it is given and in every view."""
    with open("silent.json", "w") as file:
        json.dump({"rules": ["total>1000%", "function:no_such_.*>1%"]}, file)
    rule = "function:no_such_.*>1%"
    for given in (["--fail-on", rule], ["--rules", "silent.json"]):
        for view in (["-f", "text"], ["-f", "json"], ["-f", "csv"], ["-f", "md"], ["--html", "r.html"]):
            ended = subprocess.run([CPPROF, "diff", *given, *view, "a.data", "b.data"], capture_output=True, text=True)
            if "without" in ended.stderr:  # this build has no cJSON
                continue
            check(f"a rule that matches nothing: {given} {view}", ended.returncode == 2 and "matches nothing" in ended.stderr, (ended.returncode, ended.stderr))
    for scope in ("loop", "module", "line"):
        says("nothing matches", "matches nothing", "diff", "--fail-on", f"{scope}:no_such_.*>1%", "a.data", "b.data", code=2)
    for bad in ("function:(>5%", "function:[a>5%", "total>", "total>x", "module:>5%", "function:f>5parsecs"):
        run("diff", "--fail-on", bad, "a.data", "b.data", code=2)


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
    """The change of each function's self cost is the same in both."""
    go = shutil.which("go")
    if not go or subprocess.run([go, "tool", "pprof", "-h"], capture_output=True).returncode not in (0, 2):
        print("not compared with pprof: go tool pprof is not installed")
        return
    for before, after in (("a", "b"), ("aarch64", "zstd")):
        compare_with_pprof(go, before, after)


def compare_with_pprof(go, before, after):
    for name in (before, after):
        run("export", name + ".data", "-o", name + ".pb.gz")
    top = subprocess.run([go, "tool", "pprof", "-top", "-unit=ns", "-sample_index=1", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", "-diff_base",
                          before + ".pb.gz", after + ".pb.gz"], capture_output=True, text=True, env={**os.environ, "PPROF_TMPDIR": os.getcwd(), "HOME": os.getcwd()})
    theirs, ours = {}, {}
    for line in top.stdout.splitlines():
        row = re.match(r"\s*(-?[0-9.]+)(?:ns)?\s+\S+%\s+\S+%\s+\S+\s+\S+%\s+(.*?)(?: \(inline\))?$", line)
        if row:
            theirs[row[2]] = theirs.get(row[2], 0) + float(row[1])
    for row in csv.DictReader(io.StringIO(run("diff", "-f", "csv", before + ".data", after + ".data").stdout)):
        ours[row["name"]] = ours.get(row["name"], 0) + float(row["self_change"])
    common = [name for name in theirs if name in ours]
    least = 10 if before == "a" else 1
    check(f"pprof lists our functions of {before}", len(common) >= least, (top.stdout[:600], top.stderr[-300:], list(ours)[:20]))
    for name in common:
        check(f"pprof -diff_base: {name}", near(theirs[name], ours[name]), (theirs[name], ours[name]))
    check(f"pprof -diff_base: total of {before}", near(sum(theirs.values()), sum(ours.values())), (sum(theirs.values()), sum(ours.values())))
    print(f"{len(common)} functions of {before} and {after} have the same change as in pprof")


place = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
os.chdir(place.name)
for made, kind in (("a", ["2000", "a.data"]), ("b", ["2500", "b.data"]), ("sample", ["sample", "sample.data"]), ("other", ["kernel", "other.data"]),
                   ("hostile", ["hostile", "hostile.data"]), ("none", ["none", "none.data"]), ("small", ["1000", "small.data"]),
                   ("large", ["3000", "large.data"]), ("one", ["one", "one.data"])):
    subprocess.run([MAKE, *kind], check=True)
check_views()
check_messages()
check_rules()
check_bad_input()
check_damage()
check_fit()
check_space()
check_lists()
check_nothing_matches()
check_stats()
check_pprof()
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
