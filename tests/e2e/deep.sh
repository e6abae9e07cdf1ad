#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks deeper than the snapshot are complete, and never combined from copies made at different times.
# usage: deep.sh [SAMPLES]: with SAMPLES, only the race test runs, until there are that many complete stacks.
. "$(dirname "$0")/lib.sh"
PATHS=$BUILD/tests/e2e/paths
ONE_PATH=$BUILD/tests/e2e/one_path

count() {
	awk -v key="$1" '$1 == key { print $2 }' path.log
}

# one_path FILE DEPTH: no stack is an impossible one, and at least one has the full depth.
one_path() {
	"$ONE_PATH" "$1" "$2" >path.log || fail "$(count mixed) stacks mix two paths, $(count short) skip frames: $1"
	[ "$(count whole)" -ge 1 ] || fail "no stack of $1 is $2 frames deep, the deepest has $(count deepest)"
	echo "$1: $(count samples) samples, $(count complete) complete, none impossible"
}

"$CPPROF" record -v -o probe.data -- true >probe.log 2>&1
! grep -q 'stacks deeper than --stack-size are cut off' probe.log || skip "$(grep 'stacks deeper than' probe.log)"

if [ $# = 1 ]; then
	complete=0
	while [ "$complete" -lt "$1" ]; do
		run 0 "$CPPROF" record -q -F 10000 -o race.data -- "$PATHS" 5 500 200 threads=1
		one_path race.data 500
		complete=$((complete + $(count complete)))
	done
	echo "$complete complete stacks of alternating paths, none impossible"
	exit 0
fi

# Call paths that alternate thousands of times a second, also in threads and a child.
run 0 "$CPPROF" record -F $((4000 / SLOW)) -o a.data --raw a.raw -- "$PATHS" 0.5 500 2000 threads=2 child=1
one_path a.data 500
facts a.data
[ "$(number outer)" -ge 1 ] || fail "nothing was copied beyond the snapshot"

# Importing the raw recording gives the same stacks, and perf can read it.
run 0 "$CPPROF" import -o b.data a.raw
for file in a b; do
	"$CPPROF" export -f folded -o $file.txt $file.data 2>export.log || fail "no export"
	sort -o $file.txt $file.txt
done
cmp a.txt b.txt || fail "the raw recording gives different stacks"
if command -v perf >/dev/null; then
	perf script -i a.raw -F comm,tid,ip,sym >script.log 2>&1 || fail "perf script cannot read the raw recording"
	grep -q way_a script.log || fail "perf script does not show way_a"
fi

# Only the part of a stack that changed since the thread's previous sample is unwound. The result must equal full unwinding,
# also if outer frames change while inner ones stay the same, and if a program calls and returns at random.
run 0 "$CPPROF" record -q --no-resolve -F $((4000 / SLOW)) -o c.data --raw c.raw -- "$PATHS" 0.3 500 2000 common=300
run 0 "$CPPROF" record -q --no-resolve -F $((4000 / SLOW)) -o w.data --raw w.raw -- "$BUILD/tests/e2e/wander" 0.3 $RANDOM
run 0 "$CPPROF" record -q --no-resolve -F $((4000 / SLOW)) -o s.data --raw s.raw -- "$PATHS" 0.3 20 2000 # too shallow to be cached
for file in a c w s; do
	"$BUILD/tests/recall_agrees" $file.raw >agrees.log || fail "incremental and full unwinding differ: $file"
	tail -1 agrees.log
done

# Very deep, and rarely changing.
run 0 "$CPPROF" record -o d.data -- "$PATHS" 0.8 20000 30000000
one_path d.data 20000
facts d.data

# Attached.
start "$PATHS" 300 2500 100000 threads=1
sleep "$(slow 0.3)"
run 0 "$CPPROF" attach -p "$pid" -d 0.5 -o p.data
one_path p.data 2500

# Disabled: stacks are truncated, and a message says what to do.
run 0 "$CPPROF" record --deep-stack 0 -o o.data -- "$PATHS" 0.3 2500 100000
facts o.data
fact "end snapshot_ended"
says "--stack-size 65528"
run 2 "$CPPROF" record --outer-stack 9m -o o.data -- true # the former name
says "at most 8192k"
exit 0
