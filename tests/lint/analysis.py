#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs static analysis on the program, or its unit tests under valgrind; fails on findings that analysis.txt does not explain.

usage: analysis.py cppcheck|clang-tidy|gcc|valgrind [FILE...]; needs BUILD in the environment."""
import concurrent.futures
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ["BUILD"]
FOLDERS = "base binary collector recipes unwinder symbolize structure profile report recording verify cmd".split()
# Disabled: checks that are a matter of style, or that flag common safe code (bounded sizes and strings).
TIDY = ("-*,clang-analyzer-*,-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling,bugprone-*,"
        "-bugprone-easily-swappable-parameters,-bugprone-reserved-identifier,-bugprone-assignment-in-if-condition,"
        "-bugprone-narrowing-conversions,-bugprone-implicit-widening-of-multiplication-result,cert-err34-c,cert-msc30-c")


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def commands(wanted):
    """Maps each file (relative path) to its compile command without the output option; BPF programs are left out."""
    path = os.path.join(BUILD, "compile_commands.json")
    if not os.path.exists(path):
        skip("the build has no compile_commands.json")
    found = {}
    for entry in json.load(open(path)):
        name = os.path.relpath(os.path.join(entry["directory"], entry["file"]), SOURCE)
        if name.split("/")[0] in FOLDERS and (not wanted or name in wanted):
            words = shlex.split(entry["command"])
            words = words[1:] if "ccache" in words[0] else words
            found[name] = (entry["directory"], words[:words.index("-o")])
    return found


def output_of(command, folder=SOURCE, name=None):
    """The tool's output; if the tool fails, that is a finding about the file `name`, so that no failure goes unnoticed."""
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False, errors="replace")
    text = done.stdout + done.stderr
    if name and done.returncode:
        text += f"\n{os.path.join(SOURCE, name)}:1:1: error: {command[0]} exits with {done.returncode} [-Wanalyzer-did-not-run]"
    return text


def relative(path, folder):
    return os.path.relpath(os.path.join(folder, path), SOURCE)


def parse(text, folder, pattern):
    """(file, finding, line of text)."""
    for line in text.splitlines():
        match = re.match(pattern, line)
        if match:
            yield relative(match["file"], folder), match["what"], line


def run_cppcheck(names):
    command = ["cppcheck", "--quiet", f"-j{os.cpu_count()}", "--std=c11", "--enable=warning,performance,portability", "--inline-suppr",
               "--template={file}:{line}: {id}: {message}", "-D__aarch64__", '-DCPPROF_VERSION="x"', "-I.", *names]
    return parse(output_of(command), SOURCE, r"(?P<file>[^:]+):\d+: (?P<what>\w+): ")


def run_clang_tidy(names):
    def one(name):
        return output_of(["clang-tidy", "-p", BUILD, "--quiet", f"--checks={TIDY}", os.path.join(SOURCE, name)], name=name)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in pool.map(one, names):
            yield from parse(text, SOURCE, r"(?P<file>[^:]+):\d+:\d+: (?:warning|error): .*\[(?P<what>[\w.-]+)")


def run_gcc(names):
    def one(name):
        folder, words = names[name]
        return folder, output_of([*words, "-Wno-error", "-fanalyzer", "-c", os.path.join(SOURCE, name), "-o", os.devnull], folder, name)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for folder, text in pool.map(one, names):
            yield from parse(text, folder, r"(?P<file>[^:]+):\d+:\d+: (?:warning|error): .*\[-W(?P<what>analyzer[\w-]+)")


def run_valgrind(_):
    """The unit tests, except those that analysis.txt excludes with a reason."""
    # Children that leave by _exit leak by design; valgrind is silent about them, so it must not change their exit code either.
    command = ["valgrind", "-q", "--leak-check=full", "--child-silent-after-fork=yes",
               "--suppressions=" + os.path.join(HERE, "valgrind.supp")]
    left_out = explained("valgrind")
    for program in sorted(glob.glob(os.path.join(BUILD, "tests", "test_*"))):
        if not os.access(program, os.X_OK) or os.path.isdir(program):
            continue
        name = os.path.basename(program)
        os.environ.pop("LIBPFM_ENCODE_INACTIVE", None)
        if name == "test_event_codes":  # as in tests/CMakeLists.txt
            os.environ["LIBPFM_ENCODE_INACTIVE"] = "1"
        text = output_of([*command, program, *("-" + test for file, test in sorted(left_out) if file == name)], BUILD)
        if not re.search(r"^tally: [1-9]\d* passed, 0 failed", text, re.M):
            yield name, "did-not-pass", f"{program} does not pass: {text[-300:]}"
        for line in re.findall(r"^==\d+== ((?:Invalid|Conditional|Use of|Syscall param|Mismatched|[\d,]+ (?:\([^)]*\) )?bytes).*)", text, re.M):
            yield name, re.sub(r"[\d,]+", "N", line), line


def explained(tool):
    """The (file, finding) pairs that are false positives, with the reason."""
    with open(os.path.join(HERE, "analysis.txt")) as file:
        rows = [line.split(None, 3) for line in file if line.strip() and not line.startswith("#")]
    return {(row[1], row[2]) for row in rows if row[0] == tool}


TOOLS = {"cppcheck": run_cppcheck, "clang-tidy": run_clang_tidy, "gcc": run_gcc, "valgrind": run_valgrind}


def main():
    tool, wanted = sys.argv[1], sys.argv[2:]
    if not shutil.which(tool):
        skip(f"no {tool}")
    names = {} if tool == "valgrind" else commands(wanted)
    known, failed = explained(tool), 0
    for name, what, line in TOOLS[tool](names):
        if (name, what) not in known:
            print("FAILED: " + line)
            failed += 1
    print(f"tally: {max(len(names), 1) if not failed else 0} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
