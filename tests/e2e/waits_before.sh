#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_before: threads that are already waiting when cpprof attaches are shown with the stack at which they wait.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root can record waits"
start "$BUILD/tests/e2e/idle" >idle.log
await grep -q 'all wait' idle.log

# attach NAME OPTION...
attach() {
	local name=$1
	shift
	run 0 "$CPPROF" attach -p "$pid" --off-cpu -d 1.5 "$@" -o "$name.data"
	"$CPPROF" report --view waits --percent-limit 0 --limit 0 --format json "$name.data" >"$name.waits" || fail "no waits"
	"$CPPROF" report --view tree --percent-limit 0 --limit 0 --format json "$name.data" >"$name.tree" || fail "no tree"
	"$CPPROF" report --view waits "$name.data" >"$name.text" || fail "no text"
}

attach known
if grep -q 'waits are not timed in the kernel' run.log; then
	skip "BPF is not allowed here"
fi
# The main thread sleeps for 20 ms at a time: it may be running when its stack is taken.
if grep 'already waiting' known.text | grep -qv '^note: 1 threads'; then
	fail "the stack of a waiting thread is not known"
fi
python3 - <<-'PYTHON' || fail "waits are not at the right functions"
	import json, sys

	tree, waits = json.load(open("known.tree")), json.load(open("known.waits"))
	total = {}
	for row in tree["rows"]:
	    total[row["name"]] = max(total.get(row["name"], 0), row["total"])
	seconds = tree["duration_ns"]
	bad = [(name, total.get(name, 0) / seconds) for name, n in (("wait_for_work", 3), ("wait_for_bytes", 1), ("wait_deep_down", 1))
	       if abs(total.get(name, 0) / seconds - n) > 0.05 * n]
	deep = sum(row["name"] == "wait_deep_down" for row in tree["rows"])
	kinds = {row["kind"] for row in waits["rows"]}
	print("wrong:", bad, "deep:", deep, "kinds:", kinds)
	sys.exit(bool(bad) or deep != 201 or not {"futex", "pipe", "poll", "sleep"} <= kinds)
PYTHON

# Without BPF the stacks are not known, and the report says so.
attach unknown --switch-records
grep -q 'already waiting' unknown.text || fail "the report does not say that threads were already waiting"
kill -0 "$pid" || fail "the target did not survive"
