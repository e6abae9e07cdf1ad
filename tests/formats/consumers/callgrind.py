#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""callgrind_annotate prints our totals and our tree, and rejects a damaged file."""
import os
import re
import shutil

from common import check, debian, done, enter, export, profiles, run, totals

enter("callgrind")
annotate = shutil.which("callgrind_annotate") or debian("valgrind") + "/usr/bin/callgrind_annotate"
for profile in profiles():
    shown = run("perl", annotate, "--inclusive=yes", "--tree=both", "--auto=no", export(profile, profile + ".callgrind"))
    check(f"{profile}: callgrind_annotate", shown.returncode == 0, shown.stderr)
    program = re.search(r"^ *([\d,]+)(?: \([ 0-9.]+%\))?.*PROGRAM TOTALS", shown.stdout, re.M)
    check(f"{profile}: totals", program and int(program[1].replace(",", "")) == totals(profile)[1], shown.stdout[:800])
    shares = [float(s) for s in re.findall(r"\(([ 0-9.]+)%\)", shown.stdout)]
    check(f"{profile}: recursion is not counted twice", max(shares) <= 100, max(shares))
    check(f"{profile}: callers and callees", re.search(r"^.*<.*$", shown.stdout, re.M) and re.search(r"^.*>.*$", shown.stdout, re.M))
open("damaged.callgrind", "w").write(open("sample.callgrind").read().replace("events:", "even:"))
check("a file without events is refused", run("perl", annotate, "damaged.callgrind").returncode != 0)
done()
