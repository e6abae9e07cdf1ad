#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A flame graph tool draws the folded export: every frame that it draws is in the export, and the root is the total."""
import re
import xml.etree.ElementTree

from common import check, done, enter, export, npm, profiles, run, totals

enter("folded")
npm("stackvis@0.5.0")
for profile in profiles():
    if profile == "hostile":
        continue  # stackvis fails on a frame named __proto__; speedscope draws this one
    lines = [line.rsplit(" ", 1) for line in open(export(profile, profile + ".folded"), errors="replace").read().splitlines()]
    check(f"{profile}: sums", sum(int(count) for _, count in lines) == totals(profile)[1])
    drawn = run("node", "node_modules/stackvis/cmd/stackvis", "collapsed", "flamegraph-svg", stdin=open(profile + ".folded"))
    check(f"{profile}: it draws", drawn.returncode == 0, drawn.stderr)
    picture = xml.etree.ElementTree.fromstring(drawn.stdout)
    shown = [e.get("onmouseover") for e in picture.iter() if e.get("onmouseover")]
    check(f"{profile}: frames are drawn", len(shown) > 3, shown)
    paths = {re.sub(r"\\", "", text)[3:].rsplit(" (", 1)[0] for text in shown}
    ours = {";".join(path.split(";")[:n]) for path, _ in lines for n in range(1, path.count(";") + 2)}
    check(f"{profile}: every drawn frame is in the export", {p for p in paths if p and p != "all samples"} <= ours, list(paths - ours)[:3])
refused = run("node", "node_modules/stackvis/cmd/stackvis", "collapsed", "flamegraph-svg", input="main;foo\nmain 1x\n")
check("a file that is not folded is noticed", refused.returncode or "main;foo" not in refused.stdout or "warn" in refused.stderr, refused.stderr)
done()
