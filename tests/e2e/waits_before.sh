#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_before: a thread that already waits when cpprof comes is shown where it waits, as one that begins to wait later is.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root sees threads wait"
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
	skip "the kernel lets nobody look into it: BPF is not allowed"
fi
# The first thread sleeps for 20 ms at a time: it may run while its place is looked up.
if grep 'already waiting' known.text | grep -qv '^note: 1 threads'; then
	fail "a thread's place was not found"
fi
python3 - <<-'PYTHON' || fail "a wait is not where it is"
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

# Without BPF the place is not known, and that is said.
attach unknown --switch-records
grep -q 'already waiting' unknown.text || fail "nothing says that places are not known"
kill -0 "$pid" || fail "the target is gone"
