#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares recovered recipes and function starts of the machine's own binaries with their unwind tables.

For each installed binary: a minimum percentage of instructions agrees on CFA and return address, and on every register,
known errors of the table excepted; there is no unexplained difference in a function that passes its self-check; and a
minimum percentage of starts is found with symbols and unwind entries hidden.
Usage: recipe_bars.py [file...]
"""
import glob
import json
import os
import subprocess
import sys

CPPROF = os.environ.get("CPPROF", "cpprof")
# pattern, CFA and return address, registers
BARS = [
    ("/lib/*-linux-gnu*/libc.so.6", 99.93, 99.9),
    ("/lib/*-linux-gnu*/ld-linux-*.so.*", 99.93, 99.9),
    ("/lib/*-linux-gnu*/libm.so.6", 99.93, 99.9),
    ("/usr/lib/*-linux-gnu*/libstdc++.so.6", 99.93, 99.9),
    ("/usr/lib/*-linux-gnu*/libgmp.so.10", 99.93, 99.9),
    ("/usr/lib/*-linux-gnu*/libcrypto.so.3", 99.0, 98.9),
    ("/usr/bin/python3.11", 99.93, 99.9),
    ("/usr/bin/perl", 99.93, 99.9),
    ("/usr/bin/git", 99.93, 99.9),
    ("/usr/bin/bash", 99.93, 99.9),
    ("/usr/lib/gcc/*-linux-gnu*/12/cc1plus", 99.93, 99.9),
    ("/usr/lib/*-linux-gnu*/libLLVM-14.so.1", 99.93, 99.9),
    # With OpenSSL's assembly, whose subroutines overwrite registers that their unwind entries say are kept (x86-64).
    ("/usr/bin/node", 99.9, 99.89),
]


def verify(path, *options):
    done = subprocess.run([CPPROF, "verify", "recipes", "--json", *options, path], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def share(counts, n):
    return 100.0 * counts["agree"] / max(n - counts["set_aside"], 1)


def check(path, cfa_bar, register_bar):
    result = verify(path)
    n = result["instructions"]
    cfa = share(result["cfa_ra"], n)
    worst, register = min((share(counts, n), name) for name, counts in result["regs"].items())
    line = "%-50s %9d instructions, CFA and RA %.4f %%, %s %.4f %%" % (path, n, cfa, register, worst)
    faults = []
    if cfa < cfa_bar:
        faults.append("CFA and RA below %.2f %%" % cfa_bar)
    if worst < register_bar:
        faults.append("%s below %.2f %%" % (register, register_bar))
    if result["unknown_cause"]:
        faults.append("%d unexplained differences" % result["unknown_cause"])
    for options, bar in ((["--no-starts"], 0.97), (["--no-starts", "--no-dynamic"], 0.95)):
        starts = verify(path, *options)["starts"]
        line += "; starts %.2f, %.2f %%" % (100 * starts["recall"], 100 * starts["precision"])
        if starts["recall"] < bar or starts["precision"] < 0.97:
            faults.append("starts of " + " ".join(options))
    print(line, *["FAILED: " + fault for fault in faults], sep="\n    " if faults else "", flush=True)
    return not faults


def main():
    wanted = [(path, *bar) for pattern, *bar in BARS for path in sorted(glob.glob(pattern))]
    if sys.argv[1:]:
        wanted = [(path, 99.93, 99.9) for path in sys.argv[1:]]
    if not wanted:
        print("skipped: none of the binaries is installed")
        return 77
    results = [check(*entry) for entry in wanted]
    return 0 if all(results) else 1


sys.exit(main())
