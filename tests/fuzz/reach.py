#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file that parses untrusted bytes is reached by the corpus of a fuzz target.

A file parses untrusted bytes if one of its functions calls a reader: those of base/bytes.h, of JSON and of compressed
streams, and the views into ELF files. It is reached if the corpus of a target runs one of those functions. Files that only
read cpprof's own bytes are in reach.txt, with the reason.

usage: reach.py [-v]; needs SOURCE and BUILD in the environment. Builds the preset `fuzz` in BUILD/reach, with clang."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys

SOURCE, BUILD = os.environ["SOURCE"], os.path.join(os.environ["BUILD"], "reach")
HERE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = "base binary collector recipes unwinder symbolize structure profile report recording verify cmd".split()
# Headers that declare readers, and which of their functions are.
READERS = {"base/bytes.h": r"\b(?:READER_INTEGER\()?(reader_of|read_\w+)[(,]", "base/json_reader.h": r"\b(json_read\w+|json_\w+)\(",
           "base/json_tree.h": r"\b(json_tree_\w+)\(", "base/inflate.h": r"\b(inflater_\w+)\(",
           "binary/elf/image.h": r"^struct bytes (image_\w+)\("}


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def readers():
    names = set()
    for header, pattern in READERS.items():
        with open(os.path.join(SOURCE, header)) as file:
            found = re.findall(pattern, file.read(), re.M)
        if not found:
            sys.exit(f"FAILED: {header} declares no reader")
        names |= set(found)
    return names


def functions(path):
    """(name, first line, last line, text) of each function: its braces are in the first column."""
    first = None
    with open(path) as file:
        lines = file.read().split("\n")
    for i, line in enumerate(lines):
        if line == "{":
            first = i
        elif line == "}" and first is not None:
            start = first
            while start and lines[start - 1] and not lines[start - 1].endswith(("}", ";", "*/")):
                start -= 1
            name = re.search(r"(\w+)\(", " ".join(lines[start:first]))
            yield name[1] if name else "", start + 1, i + 1, "\n".join(lines[first:i])
            first = None


def reading():
    """File -> its functions that read, as ranges of lines. A caller of one counts as well: it may be inlined."""
    found = {}
    names = readers()
    for folder in FOLDERS:
        for path in glob.glob(f"{SOURCE}/{folder}/**/*.c", recursive=True):
            own, n = set(), -1
            all_of_it = list(functions(path))
            while len(own) > n:
                n = len(own)
                call = re.compile(r"\b(" + "|".join(sorted(names | own)) + r")\(")
                own |= {name for name, _, _, text in all_of_it if name and call.search(text)}
            ranges = [(first, last) for name, first, last, _ in all_of_it if name in own]
            if ranges and not path.endswith(".bpf.c"):
                found[os.path.relpath(path, SOURCE)] = ranges
    return found


def build():
    if not shutil.which("clang"):
        skip("no clang")
    configure = ["cmake", "-S", SOURCE, "--preset", "fuzz", "-B", BUILD]
    if subprocess.run(configure, cwd=SOURCE, stdout=subprocess.DEVNULL).returncode:
        skip("the preset fuzz cannot be configured here")
    with open(os.path.join(HERE, "CMakeLists.txt")) as file:
        targets = re.findall(r"^cpprof_fuzz\((\w+)", file.read(), re.M)
    subprocess.run(["cmake", "--build", BUILD, "--target", *["fuzz_" + name for name in targets]], check=True, stdout=subprocess.DEVNULL)
    return targets


def covered(name):
    """(file, first line) of the functions that the corpus of a target runs."""
    program, corpus = f"{BUILD}/tests/fuzz/fuzz_{name}", f"{HERE}/corpus/{name}"
    environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:allocator_may_return_null=1")
    done = subprocess.run([program, "-runs=0", "-print_coverage=1", corpus], env=environment, capture_output=True, text=True, errors="replace")
    if done.returncode:
        sys.exit(f"FAILED: fuzz_{name} fails on its corpus:\n{done.stderr[-2000:]}")
    found = re.findall(r"^COVERED_FUNC: .* (\S+):(\d+)$", done.stderr, re.M)
    return {(os.path.relpath(os.path.realpath(path), SOURCE), int(line)) for path, line in found}


def main():
    with open(os.path.join(HERE, "reach.txt")) as file:
        own = dict(line.split(None, 1) for line in file if line.strip() and not line.startswith("#"))
    files, targets = reading(), build()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        reached = dict(zip(targets, pool.map(covered, targets)))
    wrong = [f"{name} is in reach.txt, but reads nothing" for name in own if name not in files]
    for name, ranges in sorted(files.items()):
        by = [t for t in targets if any(path == name and first <= line <= last for path, line in reached[t] for first, last in ranges)]
        if "-v" in sys.argv:
            print(f"{name}: {' '.join(by) or own.get(name, 'NOBODY').strip()}")
        if not by and name not in own:
            wrong.append(f"{name} parses untrusted bytes, but no fuzz target reaches it")
        if by and name in own:
            wrong.append(f"{name} is in reach.txt, but {by[0]} reaches it")
    for line in wrong:
        print("FAILED: " + line)
    print(f"tally: {len(files) - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    sys.exit(1 if wrong else 0)


main()
