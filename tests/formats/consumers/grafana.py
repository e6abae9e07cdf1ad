#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Grafana's flame graph code accepts our rows (fields, levels, values), and refuses rows with two roots."""
import json
import os
import shutil

from common import HERE, check, done, enter, export, npm, profiles, run, skip

enter("grafana")
npm("@grafana/data@13.0.1", "react@18", "react-dom@18", "esbuild@0.25.0")
if not os.path.exists("flamegraph/package.json"):
    packed = run("npm", "pack", "--silent", "@grafana/flamegraph@13.0.1")
    if packed.returncode:
        skip("npm cannot fetch @grafana/flamegraph")
    os.makedirs("flamegraph", exist_ok=True)
    check("unpack", run("tar", "xf", packed.stdout.split()[-1], "-C", "flamegraph", "--strip-components=1").returncode == 0)
shutil.copy(os.path.join(HERE, "grafana.mjs"), "grafana.mjs")
made = run("node", "node_modules/esbuild/bin/esbuild", "grafana.mjs", "--bundle", "--platform=node", "--format=cjs", "--outfile=bundle.cjs", "--log-level=error")
check("bundle", made.returncode == 0, made.stderr)
for profile in profiles():
    file = export(profile, profile + ".rows.json")
    rows = json.load(open(file))
    read = run("node", "bundle.cjs", file)
    result = json.loads(read.stdout.splitlines()[-1]) if read.returncode == 0 else {}
    if not check(f"{profile}: Grafana reads it", result.get("missing") == [], read.stderr[-500:] + str(result)[:300]):
        continue
    check(f"{profile}: one root with the total", result["levels"][0] == [[rows[0]["label"], rows[0]["value"]]], result["levels"][0])
    check(f"{profile}: every row is at its level", [len(level) for level in result["levels"]] == [sum(r["level"] == i for r in rows) for i in range(len(result["levels"]))])
    check(f"{profile}: labels and values", sorted(map(tuple, sum(result["levels"], []))) == sorted((r["label"], r["value"]) for r in rows))
    check(f"{profile}: unit", result["unit"] == "Time", result["unit"])
json.dump([{**row, "level": row["level"] - 1} for row in json.load(open("sample.rows.json"))[1:]], open("two.rows.json", "w"))
check("two roots are refused", run("node", "bundle.cjs", "two.rows.json").returncode != 0)
json.dump([{key: value for key, value in row.items() if key != "label"} for row in json.load(open("sample.rows.json"))], open("none.rows.json", "w"))
without = run("node", "bundle.cjs", "none.rows.json")
check("rows without labels are refused", without.returncode != 0 or json.loads(without.stdout.splitlines()[-1])["missing"] != [], without.stdout)
done()
