#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""llvm-profdata reads the llvm-sample export, and clang compiles the profiled program with it: functions get entry
counts, but not from a profile of other functions."""
import glob
import os
import re
import shutil

from common import CPPROF, SOURCE, check, done, enter, export, profiles, run, skip

enter("clang")
tool = lambda name: shutil.which(name) or next(iter(sorted(glob.glob(f"/usr/bin/{name}-[0-9]*"))), None)  # noqa: E731
clang, profdata = tool("clang"), tool("llvm-profdata")
if not clang or not profdata:
    skip("clang or llvm-profdata is not installed")
for profile in profiles():
    file = export(profile, profile + ".prof")
    if not os.path.getsize(file):
        check(f"{profile}: only valid names are written", profile == "hostile")
        continue
    shown = run(profdata, "show", "--sample", file)
    check(f"{profile}: llvm-profdata show", shown.returncode == 0, shown.stderr)
    merged = run(profdata, "merge", "--sample", "--text", file, "-o", "-")
    names = lambda text: {line.split(":")[0]: line.split(":")[1] for line in text.splitlines() if line and line[0] != " "}  # noqa: E731
    check(f"{profile}: it reads the same values", merged.returncode == 0 and names(merged.stdout) == names(open(file).read()), merged.stderr)
open("damaged.prof", "w").write("main:12\n x: y\n")
check("llvm-profdata refuses a damaged file", run(profdata, "show", "--sample", "damaged.prof").returncode != 0)

source = os.path.join(SOURCE, "examples", "stencil.c")
flags = ["-O2", "-g", "-gdwarf-4", "-fdebug-info-for-profiling", "-pthread", "-D_GNU_SOURCE", source, "-Wno-unused-command-line-argument", "-lm"]
built = run(clang, *flags, "-o", "stencil")
check("clang builds the example", built.returncode == 0, built.stderr)
recorded = run(CPPROF, "record", "-q", "-o", "stencil.data", "--", "./stencil", "1")
if recorded.returncode in (3, 5):
    skip("cannot record here")
export("stencil", "stencil.prof")
used = run(clang, *flags, "-fprofile-sample-use=stencil.prof", "-S", "-emit-llvm", "-o", "used.ll")
check("clang uses the profile", used.returncode == 0 and "warning" not in used.stderr, used.stderr)
counts = re.findall(r'"function_entry_count", i64 (\d+)', open("used.ll").read())
check("functions have entry counts from the profile", any(int(count) > 0 for count in counts), counts)
check("the program compiled with the profile runs", run(clang, *flags, "-fprofile-sample-use=stencil.prof", "-o", "again").returncode == 0 and run("./again", "1").returncode == 0)
open("other.prof", "w").write("somebody_else:100:1\n 1: 100\n")
run(clang, *flags, "-fprofile-sample-use=other.prof", "-S", "-emit-llvm", "-o", "other.ll")
check("another program's profile gives no counts", not any(int(c) > 0 for c in re.findall(r'"function_entry_count", i64 (\d+)', open("other.ll").read())))
done()
