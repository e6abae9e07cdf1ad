#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# groups: the counts of an event group, summed over the tree, match what the program did and perf stat of the same run;
# each call path has its share; ratios can be derived.
. "$(dirname "$0")/lib.sh"
FAULTS=$BUILD/tests/e2e/faults

# Counts after a thread's last sample on a CPU are never read: with one CPU, that is less than one sampling interval.
cpu=$(awk '/Cpus_allowed_list/ { split($2, part, /[-,]/); print part[1] }' /proc/self/status)
run 0 "$CPPROF" record -e '{cpu-clock,page-faults}' --raw group.raw -o group.data -- taskset -c "$cpu" "$FAULTS" 800
touched=$(awk '/^touched/ { print $2 }' run.log)
if grep -q 'cannot read the events as a group' run.log; then
	"$CPPROF" report --metric page-faults group.data >alone.log || fail "there is no metric page-faults"
	skip "this kernel cannot read inherited events as a group (separate events passed)"
fi
"$CPPROF" report --view tree --percent-limit 0 --format json --columns name,depth,total,total:page-faults group.data >rows.json ||
	fail "no report"
# The largest number of page faults in one sampling interval.
most_faults() {
	"$CPPROF" inspect events "$1" | grep -o '  page-faults [0-9]*' | sort -n -k2 | tail -1 | awk '{ print $2 }'
}
python3 - "$touched" "$(most_faults group.raw)" <<-'PYTHON' || fail "the group's counts do not match what the program did"
	import json, sys
	touched, interval = map(int, sys.argv[1:])
	rows = json.load(open("rows.json"))["rows"]
	def of(name):
	    return sum(row["total:page-faults"] for row in rows if row["name"] == name)
	all_faults = sum(row["total:page-faults"] for row in rows if row["depth"] == 0)
	print(f"{touched} pages touched, {all_faults} faults in the tree, at most {interval} in an interval; {of('few_here')} and {of('many_here')}")
	# The tree also includes the page faults of starting taskset and the program: fewer than 300.
	assert interval < 0.02 * touched
	assert -interval <= all_faults - touched <= 300
	assert 2.4 < of("many_here") / of("few_here") < 3.7
PYTHON

# Compared with perf stat in the same run. It counts from exec on, so they may differ by one sampling interval.
if command -v perf >/dev/null; then
	run 0 "$CPPROF" record -q --no-resolve -e '{cpu-clock,page-faults}' --raw stat.raw -o stat.data -- \
		taskset -c "$cpu" perf stat -x, -e page-faults -o stat.log "$FAULTS" 800
	theirs=$(awk -F, '$3 == "page-faults" { print $1 }' stat.log)
	ours=$("$CPPROF" report --process faults --group-by process --metric page-faults --format json stat.data |
		python3 -c 'import json, sys; print(sum(row["total"] for row in json.load(sys.stdin)["rows"]))')
	interval=$(most_faults stat.raw)
	echo "perf stat: $theirs page-faults, cpprof: $ours, at most $interval in an interval"
	[ "$((ours > theirs ? ours - theirs : theirs - ours))" -le "$interval" ] || fail "perf stat: $theirs page faults, cpprof: $ours"
fi

# Ratios, with --derive.
"$CPPROF" report --view flat --group-by function --sort total --derive 'per-ms = page-faults / cpu-clock * 1e6' \
	--format json group.data >ratio.json || fail "no ratio"
python3 - <<-'PYTHON' || fail "the ratio is wrong"
	import json
	rows = [row for row in json.load(open("ratio.json"))["rows"] if row["name"] == "main"]
	assert rows and rows[0]["per-ms"] > 1, rows
PYTHON
run 2 "$CPPROF" report --derive 'x = no-such-metric / 2' group.data
says 'no such metric'
# The same in the export formats that support it.
for format in json rows top ndjson; do
	run 0 "$CPPROF" export -f $format --derive 'per-ms = page-faults / cpu-clock * 1e6' -o ratio.$format group.data
done
run 0 "$CPPROF" export -f ndjson --wide --derive 'per-ms = page-faults / cpu-clock * 1e6' -o wide.ndjson group.data
run 0 "$CPPROF" check ratio.json
python3 - <<-'PYTHON' || fail "ratios in the exports are wrong"
	import json
	values = json.load(open("ratio.json"))["node_values"]
	inclusive, ours = values["inclusive"], values["derived"]["per-ms"]
	assert ours[0] > 1
	for clock, faults, ratio in zip(inclusive["1"], inclusive["2"], ours):
	    assert ratio is None if not clock and not faults else abs(ratio - faults / clock * 1e6) <= 1e-6 * abs(ratio)
	assert json.load(open("ratio.rows"))[0]["per-ms"] == ours[0]
	assert any(row["function"] == "main" and row["per-ms"] > 1 for row in json.load(open("ratio.top")))
	lines = [json.loads(line) for line in open("ratio.ndjson")]
	assert [line["derived"]["per-ms"] for line in lines if line["t"] == "node_values"][0][0] == ours[0]
	assert [line["derived"]["per-ms"] for line in map(json.loads, open("wide.ndjson")) if line["t"] == "node"] == ours
PYTHON
run 2 "$CPPROF" export -f folded --derive 'x = 1' group.data
says 'not to folded'
run 0 "$CPPROF" report --html ratio.html --derive 'per-ms = page-faults / cpu-clock * 1e6' group.data

# Importing the raw recording gives the same.
run 0 "$CPPROF" record -q -e '{cpu-clock,page-faults}' --raw live.raw -o live.data -- "$FAULTS" 300
run 0 "$CPPROF" import -q -o again.data live.raw
for file in live again; do
	"$CPPROF" report --view tree --percent-limit 0 --format csv --columns name,total,total:page-faults $file.data >$file.csv
done
cmp live.csv again.csv || fail "the import has different values than the recording"

# Invalid groups.
run 1 "$CPPROF" record -e '{cpu-clock' -o bad.data -- true
says 'a group is written'
run 1 "$CPPROF" record -e '{cpu-clock,nonsense-event}' -o bad.data -- true
says "cannot count 'nonsense-event'"
