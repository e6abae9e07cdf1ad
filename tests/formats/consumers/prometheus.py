#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""promtool accepts the OpenMetrics export, as text for node_exporter and as OpenMetrics; it refuses a truncated file and
one with an invalid label."""
import os
import re
import shutil

from common import check, debian, done, enter, export, profiles, run

enter("prometheus")
promtool = shutil.which("promtool") or debian("prometheus") + "/usr/bin/promtool"


def blocks(file):
    shutil.rmtree("blocks", ignore_errors=True)
    return run(promtool, "tsdb", "create-blocks-from", "openmetrics", file, "blocks")


def stamped(file):
    """Adds a timestamp to each sample: promtool needs them to make blocks, but the textfile collector refuses them."""
    with open(file) as text, open("stamped.om", "w") as to:
        for line in text:
            to.write(line if line.startswith("#") else line.rstrip("\n") + " 1790000000\n")
    return "stamped.om"


for profile in profiles():
    file = export(profile, profile + ".prom")
    text = run(promtool, "check", "metrics", stdin=open(file))
    check(f"{profile}: promtool check metrics", text.returncode == 0 and not text.stderr.strip(), text.stdout + text.stderr)
    made = blocks(stamped(file))
    check(f"{profile}: promtool reads it as OpenMetrics", made.returncode == 0, made.stderr)
    os.makedirs("blocks/wal", exist_ok=True)  # required by dump
    listed = run(promtool, "tsdb", "dump", "blocks")
    series = {line.rsplit(" ", 2)[0] for line in listed.stdout.splitlines() if line.startswith("{")}
    ours = [line for line in open(file) if line[0] not in "#\n"]
    check(f"{profile}: every series was read", len(series) == len(ours), (len(series), len(ours), listed.stderr))
    check(f"{profile}: few enough", len(ours) < 300, len(ours))
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", open(file).read(), re.M))
    check(f"{profile}: types", all(kind in ("gauge", "info", "counter") for kind in kinds.values()) and kinds["cpprof_self_seconds"] == "gauge", kinds)
lines = open("stamped.om").read()
open("cut.om", "w").write(lines.replace("# EOF\n", ""))
check("a file without its end is refused", blocks("cut.om").returncode != 0)
open("label.prom", "w").write('# TYPE a gauge\na{b="c} 1\n')
check("an invalid label is refused", run(promtool, "check", "metrics", stdin=open("label.prom")).returncode != 0)
done()
