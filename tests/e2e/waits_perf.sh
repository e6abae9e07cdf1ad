#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_perf: waits held against what perf's tracepoint saw in the same run.
. "$(dirname "$0")/lib.sh"

# What perf saw of every switch of the machine in the same run, by the tracepoint: the same waits, of the same length. Without BPF
# programs of ours: while one runs on a CPU, the kernel drops perf's samples there.
need perf
unshare -m mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null || skip "tracefs cannot be mounted here"
run 0 unshare -m sh -c 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"' sh \
	"$CPPROF" record -q --off-cpu --switch-records --deep-stack 0 -o same.data -- \
	perf record -q -B -a -e sched:sched_switch -m 4M --call-graph fp -o same.perf "$BUILD/tests/e2e/waits" 600
run 0 "$CPPROF" import -q -o theirs.data same.perf
perf sched timehist -i same.perf >timehist.log 2>/dev/null || true
for file in same theirs; do
	for metric in off-cpu waits; do
		"$CPPROF" report --group-by thread --metric $metric --process waits --format json $file.data >$file.$metric.json ||
			fail "no report of $file.data"
	done
done
python3 - <<-'PYTHON' || fail "perf saw other waits in the same run"
	import json, re
	def by_thread(file, metric):
	    rows = json.load(open(f"{file}.{metric}.json"))["rows"]
	    return {row["tid"]: row["total"] for row in rows if row["tid"] != row["pid"]} # which began before perf did
	ours, theirs = by_thread("same", "off-cpu"), by_thread("theirs", "off-cpu")
	n_ours, n_theirs = by_thread("same", "waits"), by_thread("theirs", "waits")
	hist = {} # only printed: it leaves out the first wait of each thread, and sometimes ends early
	for line in open("timehist.log"):
	    found = re.match(r"\s*[\d.]+\s+\[\d+\]\s+.*\[(\d+)(?:/\d+)?\]\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", line)
	    if found:
	        hist[int(found[1])] = hist.get(int(found[1]), 0) + float(found[2]) * 1e6
	workers = sorted(ours, key=ours.get)[-6:]
	for tid in workers:
	    print(f"{tid}: {ours[tid] / 1e6:.1f} ms in {n_ours[tid]} waits; perf {theirs[tid] / 1e6:.1f} in {n_theirs[tid]}; timehist {hist.get(tid, 0) / 1e6:.1f}")
	for tid in workers:
	    assert abs(ours[tid] - theirs[tid]) <= 0.02 * theirs[tid] + 1e6
	    assert abs(n_ours[tid] - n_theirs[tid]) <= 0.01 * n_theirs[tid] + 4
PYTHON
exit 0
