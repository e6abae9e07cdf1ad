#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the DuckDB and pandas recipes of docs/exports.md verbatim, on files made as described there; their results are
those of the JSON export."""
import json
import os
import platform
import re
import shutil

from common import HERE, SOURCE, check, document, done, enter, export, npm, profiles, python_with, run, skip_part

ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine())


def recipes(language):
    text = open(os.path.join(SOURCE, "docs", "exports.md")).read()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def heaviest(name):
    """Self cost by function name, from the JSON export."""
    ours, sums = document(name), {}
    for frame, cost in zip(ours["nodes"]["frame"], ours["node_values"]["exclusive"]["1"]):
        label = ours["strings"][ours["frames"]["name"][frame]]
        sums[label] = sums.get(label, 0) + cost
    return max(sums.items(), key=lambda item: item[1])


def heaviest_scope():
    """The same from the NDJSON export, in which a loop has a name of its own, not that of its function."""
    sums = {}
    for node in map(json.loads, open("app.ndjson")):
        if node["t"] == "node" and node["kind"] in ("function", "inline", "loop"):
            sums[node["name"]] = sums.get(node["name"], 0) + int(node["self"].get("cpu-clock", 0))
    return max(sums.items(), key=lambda item: item[1])


enter("queries")
profile = profiles()[-1]
shutil.copy(profile + ".data", "app.data")
export("app", "app.cpprof.json")
export("app", "app.ndjson", "--wide")
export("app", "app.rows.json")
export("app", "app.top.json")
name, cost = heaviest("app")

python, blocks = python_with("pandas"), recipes("python")
check("there are pandas recipes", len(blocks) >= 2, len(blocks))
if python:
    for block in blocks:
        ran = run(python, "-c", block)
        check("pandas:\n" + block, ran.returncode == 0 and name in ran.stdout, ran.stdout[-500:] + ran.stderr[-500:])
    check("pandas: a wrong file fails", run(python, "-c", blocks[0].replace("app.", "none.")).returncode != 0)
else:
    skip_part("python3-pandas is not installed")

blocks = recipes("sql")
check("there are DuckDB recipes", len(blocks) >= 2, len(blocks))
npm("@duckdb/node-api@1.5.5-r.5", f"@duckdb/node-bindings-linux-{ARCH}@1.5.5-r.5")
shutil.copy(os.path.join(HERE, "duckdb.mjs"), "duckdb.mjs")
for block in blocks:
    ran = run("node", "duckdb.mjs", input=block)
    rows = json.loads(ran.stdout) if ran.returncode == 0 else []
    check("DuckDB:\n" + block, rows, ran.stderr[-800:])
    if rows and "self" in rows[0]:
        want = heaviest_scope() if "app.ndjson" in block else (name, cost)
        check("DuckDB's result", (rows[0]["name"], int(rows[0]["self"])) == want, (rows[0], want))
check("DuckDB: a wrong file fails", run("node", "duckdb.mjs", input=blocks[0].replace("app.", "none.")).returncode != 0)
done()
