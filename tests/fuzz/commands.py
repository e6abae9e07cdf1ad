#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs commands on damaged files: profiles, recordings and ELF files. Each must end by itself with a documented exit code, with
a message if it fails, and without a sanitizer report.

usage: commands.py N; N: damaged copies of each file. Needs CPPROF, BUILD and SOURCE in the environment."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

CPPROF = os.environ["CPPROF"].split()
MUTATE = os.path.join(os.environ["BUILD"], "tests", "fuzz", "mutate_file")
DATA = os.path.join(os.environ["SOURCE"], "tests")
CODES = {0, 1, 2, 4, 5, 6}  # documented exit codes of commands that only read
SANITIZER = 99
SECONDS = 120  # a command that takes longer counts as hanging

PROFILE = [["check", "{f}"], ["report", "{f}", "--no-pager"], ["report", "{f}", "--view", "tree", "--no-pager"],
           ["export", "{f}", "-f", "json", "-o", "out"], ["export", "{f}", "-f", "pprof", "-o", "out"],
           ["report", "{f}", "--html", "out"], ["diff", "{g}", "{f}", "--no-pager"], ["merge", "-o", "out", "{g}", "{f}"],
           ["resolve", "{f}", "-o", "out"], ["stats", "{f}", "{g}"]]
RECORDING = [["import", "--no-cache", "-o", "out", "{f}"], ["inspect", "events", "{f}"], ["inspect", "stacks", "{f}"]]
ELF = [["struct", "{f}"], ["inspect", "functions", "{f}"], ["inspect", "recipes", "{f}"], ["inspect", "coverage", "{f}"],
       ["inspect", "cfg", "{f}"]]
KINDS = [(PROFILE, glob.glob(DATA + "/fuzz/corpus/profile/[a-z]*[a-z]")),
         (RECORDING, [f"{DATA}/data/tower/{name}.data" for name in ("fp", "dwarf", "x86_64", "zstd", "stream")]),
         (ELF, glob.glob(DATA + "/fuzz/corpus/elf/[ax]*64*"))]


def judge(words, number):
    """What is wrong with the result of a command; None if nothing."""
    environment = dict(os.environ, ASAN_OPTIONS=f"exitcode={SANITIZER}:detect_leaks=0", UBSAN_OPTIONS=f"exitcode={SANITIZER}:halt_on_error=1",
                       XDG_CACHE_HOME=os.getcwd() + "/cache")
    try:
        done = subprocess.run([*CPPROF, *words], env=environment, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "it hangs"
    if re.search(r"Sanitizer|runtime error:", done.stderr):
        return done.stderr[:2000]
    if done.returncode not in CODES:
        return f"exit code {done.returncode}: {done.stderr[-300:]}"
    if done.returncode and not done.stderr.startswith(("cpprof", "usage")) and "cpprof" not in done.stderr + done.stdout:
        return f"exit code {done.returncode}, and no message"
    return None


def main():
    n, passed, failed = int(sys.argv[1]), 0, 0
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    for commands, seeds in KINDS:
        if not seeds:
            sys.exit("FAILED: there are no files to damage")
        for seed in sorted(seeds):
            for number in range(n):
                subprocess.run([MUTATE, seed, "damaged", str(number)], check=True)
                words = [word.format(f="damaged", g=seed) for word in commands[(number + len(seed)) % len(commands)]]
                wrong = judge(words, number)
                passed, failed = (passed, failed + 1) if wrong else (passed + 1, failed)
                if wrong:
                    print(f"FAILED: {os.path.basename(seed)} damaged by {number}: cpprof {' '.join(words)}: {wrong}")
    os.chdir("/")
    shutil.rmtree(folder)
    print(f"tally: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
