#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits: where threads wait, for what and how long, is what they measure themselves; with and without unwind
# tables and frame pointers.
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" != 0 ]; then
	echo "skipped: only root sees threads wait"
	exit 77
fi

# judge PROFILE TRUTH: the shares of each path against what the program printed.
judge() {
	for metric in off-cpu wall waits; do
		"$CPPROF" report --view tree --percent-limit 0 --metric $metric --format json "$1" >"$metric.json" ||
			fail "no report by $metric"
	done
	"$CPPROF" report --view waits --percent-limit 0 --format json "$1" >kinds.json || fail "no report of waits"
	python3 "$SOURCE/tests/e2e/waits.py" "$2" || fail "$1 is not what the program has measured"
}

for program in waits waits_fp waits_bare; do
	run 0 "$CPPROF" record --wall --raw $program.raw -o $program.data -- "$BUILD/tests/e2e/$program" 1200
	grep _here run.log >$program.truth
	judge $program.data $program.truth
done
run 0 "$CPPROF" record --off-cpu -o one.data -- "$BUILD/tests/e2e/waits" 1200 one
grep _here run.log >one.truth
"$CPPROF" report one.data >one.log || fail "no report"
grep -q 'of off-cpu' one.log || fail "waits are not what it goes by"

# The same from the raw records.
run 0 "$CPPROF" import -q -o again.data waits.raw
judge again.data waits.truth

# A wait that goes on is cut where the recording ends, and the profile says so.
run 0 "$CPPROF" record --off-cpu -d 0.5 -o cut.data -- sleep 3
"$CPPROF" report --view waits cut.data >cut.log || fail "no report"
grep -q 'sleep' cut.log || fail "the sleep is not there"
grep -q 'had not ended with the recording' cut.log || fail "nothing says that it was cut"

# What cannot be, and what it says.
run 2 "$CPPROF" record --off-cpu -u -- true
run 2 "$CPPROF" record --off-cpu -e cycles -- true
run 2 "$CPPROF" report --view waits --format csv waits.data
