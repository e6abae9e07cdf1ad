#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests reports and exports in edge cases: no sample, one sample, kernel only, 2,000 threads, a damaged file, a full disk, a
closed pipe, a narrow terminal, no colours, no UTF-8. usage: edges.py; needs CPPROF and BUILD in the environment."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios

CPPROF, MAKE = os.environ["CPPROF"], os.path.join(os.environ["BUILD"], "tests", "make_profile")
FORMATS = ["json", "ndjson", "rows", "top", "pprof", "otlp", "speedscope", "folded", "firefox", "callgrind", "llvm-sample", "openmetrics", "svg", "html"]
VIEWS = ["summary", "tree", "callers", "flat", "hot", "loops", "quality", "waits"]
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED: {what} {detail}")


def run(*args, **more):
    return subprocess.run([CPPROF, *args], capture_output="stdout" not in more, **more)


def on_screen(columns, *args, **environment):
    """The output on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "LANG", "COLUMNS")}
    process = subprocess.Popen([CPPROF, *args], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL,
                               env={**kept, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
    shown = b""
    # The slave side stays open here: output that is still buffered when its last writer closes it may be lost.
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        if select.select([ours], [], [], 0.05)[0]:
            shown += os.read(ours, 65536)
    os.close(ours)
    os.close(theirs)
    return shown.replace(b"\r\n", b"\n").decode()


def check_kind(kind, code):
    """Every view in every format, every grouping, every export of one profile."""
    subprocess.run([MAKE, kind, kind + ".data"], check=True)
    for view in VIEWS:
        for form in ("text", "md", "json") if view == "waits" else ("text", "md", "json", "csv"):
            done = run("report", "--view", view, "-f", form, kind + ".data")
            check(f"{kind}: {view} as {form}", done.returncode == code, (done.returncode, done.stderr))
            check(f"{kind}: {view} as {form} has no samples and says so", code == 0 or b"has no samples" in done.stderr)
            if form == "json":
                json.loads(done.stdout)
    for group in ("module", "file", "loop", "line", "thread", "process"):
        check(f"{kind}: by {group}", run("report", "--group-by", group, kind + ".data").returncode == code)
    for name in FORMATS:
        done = run("export", kind + ".data", "-f", name, "-o", f"{kind}.{name}")
        check(f"{kind}: {name}", done.returncode == 0, (done.returncode, done.stderr))
    done = run("check", kind + ".data", kind + ".json", kind + ".ndjson")
    check(f"{kind}: whole", done.returncode == 0, done.stderr)


def check_damage():
    whole = open("sample.data", "rb").read()
    for at in range(3, len(whole), len(whole) // 25):
        open("damaged.data", "wb").write(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1:])
        for command in (["report"], ["export", "-f", "folded"], ["check"]):
            done = run(*command, "damaged.data")
            check(f"damaged at {at}: {command[0]}", done.returncode == 1 and b"damaged.data'" in done.stderr, (done.returncode, done.stderr))
    for wrong in ("sample.json", "/dev/null", ".", "nowhere.data"):
        done = run("report", wrong)
        check(f"report {wrong}", done.returncode == 1 and wrong.encode() in done.stderr and done.stderr.count(b"\n") <= 2, done.stderr)


def check_outputs():
    with open("/dev/full", "w") as full:
        for command in (["report"], ["report", "--view", "tree", "-f", "json"], ["export", "-f", "json"], ["check"]):
            done = run(*command, "sample.data", stdout=full, stderr=subprocess.PIPE)
            check(f"full: {command}", done.returncode == 1 and b"No space left" in done.stderr, (done.returncode, done.stderr))
    for command in (["report"], ["report", "--view", "tree", "-f", "json"], ["export", "-f", "json"], ["export", "-f", "html"]):
        process = subprocess.Popen([CPPROF, *command, "threads.data"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1)
        process.stdout.close()
        said = process.stderr.read()
        check(f"the reader closes the pipe: {command}", process.wait() in (0, -13) and said == b"", (process.returncode, said))
    os.mkdir("closed")
    done = run("export", "sample.data", "-o", "closed/there/out.json")
    check("no such folder", done.returncode == 1 and b"cannot write 'closed/there/out.json': No such file" in done.stderr, done.stderr)
    if os.getuid():
        os.chmod("closed", 0o555)
        done = run("export", "sample.data", "-o", "closed/out.json")
        check("a read-only folder", done.returncode == 3 and b"Permission denied" in done.stderr, (done.returncode, done.stderr))
        os.chmod("closed", 0o755)
    check("nothing is left behind", os.listdir("closed") == [])


def check_screens():
    for view in ("summary", "tree", "callers", "flat", "hot"):
        for columns in (40, 63, 80):
            text = on_screen(columns, "report", "--no-pager", "--color", "never", "--view", view, "sample.data")
            lines = text.split("\n")
            check(f"{view}: no line is wider than {columns}", max(map(len, lines)) <= columns, max(lines, key=len))
            check(f"{view}: names can be read in {columns} columns", len(re.findall(r"%\s.*\b(mul|dot|sin)\b", text)) >= 2, text)
    check("colours", "\033[" in on_screen(80, "report", "--no-pager", "sample.data"))
    check("no colours", "\033" not in on_screen(80, "report", "--no-pager", "sample.data", NO_COLOR="1"))
    check("UTF-8", "├─ main" in on_screen(80, "report", "--no-pager", "--view", "tree", "sample.data", NO_COLOR="1"))
    for view in VIEWS:
        text = on_screen(80, "report", "--no-pager", "--view", view, "sample.data", NO_COLOR="1", LC_ALL="C")
        check(f"{view}: no UTF-8 if the locale has none", text.isascii(), ascii(text))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([MAKE, "sample", "sample.data"], check=True)
    run("export", "sample.data", "-o", "sample.json")
    for kind, code in ("empty", 5), ("none", 5), ("one", 0), ("kernel", 0), ("threads", 0):
        check_kind(kind, code)
    said = run("report", "threads.data").stdout
    check("2,000 threads", b"in 2,000 threads of 40 processes" in said and b"and 1,992 more: --group-by thread" in said, said)
    check("kernel functions are shown with [kernel]", b"do_syscall_64 [kernel]: 90.0%" in b" ".join(run("report", "kernel.data").stdout.split()))
    check_damage()
    check_outputs()
    check_screens()
    os.chdir("/")
print(f"tally: {passed} passed, {failed} failed, 0 skipped")
sys.exit(1 if failed else 0)
