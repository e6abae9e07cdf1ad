#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every entry of docs/limits.md names its test in the table at the end, or says there why it has none.

usage: limits.py; needs SOURCE and BUILD in the environment."""
import os
import re
import subprocess
import sys
import tempfile

TABLE = "Which test shows which limit"
with open(os.path.join(os.environ["SOURCE"], "docs", "limits.md")) as file:
    text, table = file.read().split(f"**{TABLE}.**")
# In a separate folder: two ctest runs in one folder overwrite each other's log.
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w") as file:
        file.write(f'subdirs("{os.environ["BUILD"]}")\n')
    listed = subprocess.run(["ctest", "--test-dir", folder, "-N"], text=True, capture_output=True, check=True).stdout
tests = set(re.findall(r"Test +#\d+: (\S+)", listed))
entries = [name.rstrip(".") for name in re.findall(r"^\*\*([^*]+)\*\*", text, re.M)]
rows = dict(re.findall(r"^\| ([^|`]+?) \| (.+) \|$", table, re.M))
rows.pop("entry", None)

wrong = [f"'{entry}' has no row" for entry in entries if entry not in rows]
wrong += [f"'{row}' is not an entry" for row in rows if row not in entries]
for row, said in rows.items():
    named = re.findall(r"`([^`]+)`", said)
    wrong += [f"'{row}' names {name}, which is not a test" for name in named if name not in tests]
    if not named and not re.search(r"\bnone: \w+", said):
        wrong.append(f"'{row}' has no test and does not say why")
for line in wrong:
    print("FAILED: docs/limits.md: " + line)
print(f"tally: {len(rows) if not wrong else 0} passed, {len(wrong)} failed, 0 skipped")
sys.exit(1 if wrong or not entries else 0)
