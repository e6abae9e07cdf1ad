# SPDX-License-Identifier: Apache-2.0
"""Shared code of the fault tests. A case states what happens, the exit code, the message, and whether a profile is kept; after
each case the target's output must be correct, and no process, BPF program or file may be left."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid

CPPROF, BUILD, SOURCE = (os.environ[name] for name in ("CPPROF", "BUILD", "SOURCE"))
TARGET = os.path.join(BUILD, "tests", "faults", "fault_target")
TOKEN = "CPPROF_FAULT=" + uuid.uuid4().hex
DOCS = os.path.join(SOURCE, "docs", "faults.md")
SUM = {}
CASES = []
IS_FULL = "--full" in sys.argv


class Skip(Exception):
    pass


class Case:
    """One fault, run in its own directory."""

    def __init__(self, title, code, message, kept, run):
        self.title, self.code, self.message, self.kept, self.run = title, code, message, kept, run
        self.problems, self.folder, self.output = [], None, ""
        self.started, self.expected_files = [], set()

    def check(self, ok, what):
        if not ok:
            self.problems.append(what)

    def environment(self, **more):
        name, value = TOKEN.split("=")
        return {**os.environ, "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0", "XDG_CACHE_HOME": self.folder + ".cache",
                "TMPDIR": self.folder + ".cache", name: value, **more}

    def start(self, command, **options):
        """Starts a command in the background; it is killed at the end of the case if it is still running."""
        options.setdefault("env", self.environment())
        process = subprocess.Popen(command, cwd=self.folder, text=True, **options)
        self.started.append(process)
        return process

    def start_target(self, *mode):
        return self.start([TARGET, *map(str, mode)], stdout=subprocess.PIPE)

    def await_child(self, process):
        """Waits until `process` (cpprof record) has a child: then it is recording."""
        for _ in range(1200):
            if process.poll() is not None or str(process.pid) in map(parent_of, glob.glob("/proc/[0-9]*/stat")):
                return
            time.sleep(0.1)
        self.check(False, "no child was started")

    def cpprof(self, *arguments, before=(), timeout=240, **more):
        """Runs cpprof; its exit code and messages must be those of the case. Returns standard output."""
        ran = subprocess.run([*before, CPPROF, *map(str, arguments)], cwd=self.folder, capture_output=True, timeout=timeout,
                             env=self.environment(**more))
        self.judge(ran.returncode, ran.stderr.decode(errors="replace"))
        return ran.stdout.decode(errors="replace")

    def judge(self, code, messages):
        codes = self.code if isinstance(self.code, tuple) else (self.code,)
        self.output = messages
        self.check(code in codes, f"exit code {code}, expected {self.code}")
        if code in codes and code == codes[0] and self.message:
            self.check(self.message in messages, f"no message contains '{self.message}'")
        self.check("AddressSanitizer" not in messages and "runtime error:" not in messages, "there is a sanitizer report")

    def target_said(self, output, rounds=None):
        self.check(expected_sum(rounds) in output, f"the target's output is wrong: {output!r}")

    def target_ends_well(self, target, rounds=None):
        output = target.communicate(timeout=120)[0]
        self.check(target.returncode == 0, f"the target's exit code is {target.returncode}")
        self.target_said(output, rounds)

    def profile(self, name, is_empty=False):
        """Checks that the profile passes `cpprof check` and, unless is_empty, has samples."""
        path = os.path.join(self.folder, name)
        self.expected_files.add(name)
        if not os.path.exists(path):
            self.check(False, f"there is no {name}")
            return
        ran = subprocess.run([CPPROF, "check", path], capture_output=True, text=True, env=self.environment())
        self.check(ran.returncode in (0, 6), f"cpprof check {name}: {ran.returncode} {ran.stdout}{ran.stderr}")
        self.check(is_empty or samples(path, self.environment()) > 0, f"{name} has no samples")

    def finish(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
        left = self.left_behind()
        self.check(not left, f"left behind: {left}")
        extra = {os.path.relpath(p, self.folder) for p in glob.glob(self.folder + "/**", recursive=True) if os.path.isfile(p)}
        self.check(extra <= self.expected_files, f"files left behind: {sorted(extra - self.expected_files)}")

    def left_behind(self):
        """Processes of this case and orphaned BPF programs of cpprof that are still there after ten seconds."""
        left = None
        for _ in range(100):
            there = {*processes_with(TOKEN), *orphaned_programs()}
            left = there if left is None else left & there
            if not left:
                break
            time.sleep(0.1)
        return sorted(left)


def samples(path, environment):
    ran = subprocess.run([CPPROF, "export", path, "-f", "json"], capture_output=True, text=True, env=environment)
    try:
        return json.loads(ran.stdout)["quality"]["samples"]
    except (ValueError, KeyError):
        return -1


def parent_of(stat):
    try:
        with open(stat) as f:
            return f.read().rsplit(")", 1)[1].split()[1]
    except OSError:
        return None


def fact(path, key):
    """A number from the output of tests/e2e/facts.c for a profile."""
    said = subprocess.run([os.path.join(BUILD, "tests", "e2e", "facts"), path], capture_output=True, text=True, check=True).stdout
    return int(re.search(rf"^{key} (\d+)", said, re.M)[1])


def expected_sum(rounds):
    if rounds not in SUM:
        SUM[rounds] = subprocess.run([TARGET, "work", *([str(rounds)] if rounds else [])], capture_output=True, text=True).stdout
    return SUM[rounds]


def processes_with(token):
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        pid = path.split("/")[2]
        try:
            with open(path, "rb") as f:
                is_ours = token.encode() in f.read().split(b"\0")
            with open(f"/proc/{pid}/stat") as f:
                state = f.read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if is_ours and state != "Z" and int(pid) != os.getpid():
            found.append(f"process {pid}")
    return found


def others_run():
    """Is any cpprof running? Its BPF programs cannot be distinguished from those left behind by this test."""
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path) as f:
                if f.read().strip() == "cpprof":
                    return True
        except OSError:
            continue
    return False


def orphaned_programs():
    """BPF programs of cpprof although no cpprof is running; the kernel frees them slightly after the last descriptor."""
    if not shutil.which("bpftool") or os.getuid() != 0 or others_run():
        return []
    names = set()
    for source in glob.glob(os.path.join(SOURCE, "collector", "bpf", "*.bpf.c")):
        with open(source) as f:
            names.update(name[:15] for name in re.findall(r"\bint\s+(?:BPF_\w+\()?(\w+)\(", f.read()))
    shown = subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True).stdout
    try:
        return [f"BPF program {p['id']} {p['name']}" for p in json.loads(shown) if p.get("name") in names]
    except ValueError:
        return []


def case(title, code=0, message="", kept="the profile", only_full=False, needs_root=False):
    """Decorator that declares a case; the function is called with the Case."""

    def declare(run):
        def guarded(c):
            if needs_root and os.getuid() != 0:
                raise Skip("needs root")
            run(c)

        if not only_full or IS_FULL:
            CASES.append(Case(title, code, message, kept, guarded))
        return run

    return declare


def run_case(c):
    c.folder = tempfile.mkdtemp(prefix="cpprof_fault.")
    os.mkdir(c.folder + ".cache", 0o777)
    try:
        c.run(c)
    except Skip as reason:
        print(f"skipped: {c.title}: {reason}", flush=True)
        return None
    except subprocess.TimeoutExpired as late:
        c.problems.append(f"took too long: {late.cmd}")
    finally:
        c.finish()
        shutil.rmtree(c.folder, ignore_errors=True)
        shutil.rmtree(c.folder + ".cache", ignore_errors=True)
    if c.problems:
        print(f"FAILED: {c.title}: " + "; ".join(c.problems) + ("\n  " + c.output.strip().replace("\n", "\n  ") if c.output else ""), flush=True)
    return not c.problems


def row(c):
    code = " or ".join(map(str, c.code)) if isinstance(c.code, tuple) else str(c.code)
    return f"| {c.title} | {code} | {'`' + c.message + '`' if c.message else ''} | {c.kept} |"


def documented():
    with open(DOCS) as f:
        return set(line.rstrip("\n") for line in f if line.startswith("| "))


def main(part):
    """Runs all declared cases, or those whose title contains a given word. --write: writes the rows of those that passed to the
    table of docs/faults.md under the heading `part`; rows of cases that cannot run here are kept."""
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    passed, failed, skipped = [], 0, 0
    for c in CASES:
        if words and not any(w in c.title for w in words):
            continue
        result = run_case(c)
        if result is None:
            skipped += 1
        elif result and "--write" not in sys.argv and row(c) not in documented():
            print(f"FAILED: docs/faults.md has no row: {row(c)}")
            failed += 1
        elif result:
            passed.append(c)
        else:
            failed += 1
    if "--write" in sys.argv:
        write(part, passed)
    print(f"tally: {len(passed)} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0 if passed else 77)


def write(part, passed):
    """Writes the table of this part, in the order of the cases: new rows for cases that passed, else the old ones."""
    with open(DOCS) as f:
        text = f.read()
    begin = text.index("| what happens", text.index(f"## {part}\n"))
    end = begin
    while text[end:end + 1] == "|":
        end = text.index("\n", end) + 1
    head, line, *old = text[begin:end].splitlines()
    rows = [row(c) for c in passed] + [r for r in old if not any(r.startswith(f"| {c.title} |") for c in passed)]
    titles = [c.title for c in CASES]
    rows.sort(key=lambda r: titles.index(r.split(" | ")[0][2:]) if r.split(" | ")[0][2:] in titles else len(titles))
    with open(DOCS, "w") as f:
        f.write(text[:begin] + "\n".join([head, line, *rows]) + "\n" + text[end:])
