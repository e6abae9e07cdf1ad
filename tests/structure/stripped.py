#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""In a library without symbols and debug information nearly all code is covered, and its loops are those of the original.

usage: stripped.py ELF      (CPPROF in the environment; the file must have symbols)
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check import structures  # noqa: E402


def loops_of(binary):
    """Address of a loop's header -> its nesting depth; machine loops only: pieces of a source loop are counted separately."""
    found = {}
    for structure in structures(binary, "--pieces"):
        scopes = structure["scopes"]
        for piece in structure["pieces"]:
            depth, at = 0, piece["scope"]
            while at > 0:
                depth += scopes[at]["kind"] == "loop"
                at = scopes[at]["parent"]
            found[piece["vaddr"]] = depth
    return found


def covered(binary):
    """Share of .text in the extents of functions; gaps below a cache line count as padding, and so do zeros, which a linker
    leaves where it moved code to the next page."""
    out = subprocess.run(["objdump", "-h", str(binary)], capture_output=True, text=True).stdout
    words = next(line.split() for line in out.splitlines() if len(line.split()) > 3 and line.split()[1] == ".text")
    size, start = int(words[2], 16), int(words[3], 16)
    text = Path(binary).read_bytes()[int(words[5], 16):][:size]
    extents = sorted(tuple(extent) for structure in structures(binary) for extent in structure["extents"])
    end, missing = start, 0
    for at, length in extents + [(start + size, 0)]:
        if start <= at <= start + size:
            is_padding = at - end < 64 or not text[end - start + 64:at - start].strip(b"\0")
            missing += 0 if is_padding else at - end
            end = max(end, at + length)
    return 1 - missing / size


def main():
    with tempfile.TemporaryDirectory() as folder:
        bare, plain = Path(folder) / "bare", Path(folder) / "plain"
        # Without lines on both sides: they determine which machine loops are one.
        subprocess.run(["strip", "-s", sys.argv[1], "-o", bare], check=True)
        subprocess.run(["strip", "-g", sys.argv[1], "-o", plain], check=True)
        os.environ["DEBUGINFOD_URLS"] = ""
        share, here, there = covered(bare), loops_of(plain), loops_of(bare)
    same = sum(there.get(at) == depth for at, depth in here.items())
    extra = sum(at not in here for at in there)
    print(f"{100 * share:.2f} % of the text covered; of {len(here)} loops {same} the same, {extra} others")
    return not (share >= 0.99 and same >= 0.99 * len(here) and extra <= 0.01 * len(here) and here)


if __name__ == "__main__":
    sys.exit(main())
