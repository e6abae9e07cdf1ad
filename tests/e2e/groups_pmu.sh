#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# groups_pmu: a group of hardware counters: sums match perf stat of the same run, and the IPC is shown by default.
. "$(dirname "$0")/lib.sh"

for event in cycles instructions; do
	"$CPPROF" list -f names $event | grep -qx $event || skip "$("$CPPROF" list $event | awk -v event=$event '$1 == event { $1 = $2 = ""; print event ":" $0; exit }')"
done
need perf
run 0 "$CPPROF" record -q -u --no-resolve -e '{cycles,instructions}' -o group.data -- \
	perf stat -x, -e '{cycles:u,instructions:u}' -o stat.log "$SPIN" 1
for event in cycles instructions; do
	"$CPPROF" report --process spin --group-by process --metric $event --format json group.data >$event.json || fail "no report by $event"
done
"$CPPROF" report --process spin --view flat --format json group.data >flat.json || fail "no report"
python3 - <<-'PYTHON' || fail "the counts do not match perf stat"
	import json
	rows = [line.split(",") for line in open("stat.log") if line.count(",") > 3]
	for event in ["cycles", "instructions"]:
	    theirs = next(int(row[0]) for row in rows if row[2].startswith(event))
	    ours = sum(row["total"] for row in json.load(open(event + ".json"))["rows"])
	    print(f"{event}: perf stat {theirs}, cpprof {ours}")
	    assert abs(ours - theirs) <= 0.01 * theirs # a sampling interval is about a thousandth of the total
	assert any(row.get("ipc") for row in json.load(open("flat.json"))["rows"])
PYTHON
