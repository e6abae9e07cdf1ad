#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands in docs/exports.md work on a new recording, and the dashboard's queries and columns exist in their results.
usage: recipes.py; needs CPPROF, BUILD and SOURCE in the environment."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ["SOURCE"]
EXAMPLE = os.path.join(os.environ["BUILD"], "examples", "stencil")
passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {what} {detail}")


def run_recipes():
    text = open(os.path.join(SOURCE, "docs", "exports.md")).read()
    recipes = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    check("there are recipes", len(recipes) >= 8, len(recipes))
    for recipe in recipes:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", recipe], capture_output=True, text=True)
        check("recipe:\n" + recipe, done.returncode == 0 and done.stdout.strip(), done.stdout + done.stderr)


def run_dashboard():
    """The last recipe has written the files that the dashboard reads."""
    dashboard = json.load(open(os.path.join(SOURCE, "docs", "dashboards", "cpprof.json")))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            name = target["url"].rsplit("/", 1)[1]
            done = subprocess.run(["jq", "-c", target["root_selector"], name], capture_output=True, text=True)
            check(f"panel '{panel['title']}': its query", done.returncode == 0, done.stderr)
            rows = json.loads(done.stdout or "[]")
            check(f"panel '{panel['title']}': rows", rows)
            for column in target["columns"]:
                values = [row.get(column["selector"]) for row in rows]
                wanted = str if column["type"] == "string" else (int, float)
                check(f"panel '{panel['title']}': column {column['selector']}", all(isinstance(v, wanted) for v in values), values[:3])


def main():
    if not shutil.which("jq"):
        print("skipped: jq is not installed")
        sys.exit(77)
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.environ["PATH"] = os.path.dirname(os.environ["CPPROF"]) + ":" + os.environ["PATH"]
    recorded = subprocess.run([os.environ["CPPROF"], "record", "-q", "-F", "499", "--", EXAMPLE, "1"], capture_output=True, text=True)
    if recorded.returncode in (3, 5):
        print("skipped: cannot record here: " + recorded.stderr.strip().replace("\n", " "))
        sys.exit(77)
    check("record", recorded.returncode == 0, recorded.stderr)
    run_recipes()
    run_dashboard()
    shutil.rmtree(folder)
    print(f"tally: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


main()
