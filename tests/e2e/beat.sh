#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# beat: a program that beats in time with the sampling clock is shown as it is: its interval holds the truth.
# usage: beat.sh RUNS
. "$(dirname "$0")/lib.sh"
BEAT=$BUILD/tests/e2e/beat
runs=$1

# measure OPTION...: "SHARE LOW HIGH" of first() in percent, and whether its CPU was its own.
measure() {
	"$CPPROF" record -q -F 1000 --no-cache "$@" -o beat.data -- taskset -c "$cpu" "$BEAT" 1000 1500 >beat.log ||
		fail "recording: $*"
	read -r truth switches <beat.log
	"$CPPROF" report --view tree --percent-limit 0 --format json beat.data >beat.json || fail "no report"
	read -r share low high < <(python3 - <<-'PYTHON'
		import json
		rows = json.load(open("beat.json"))["rows"]
		row = [r for r in rows if r["name"] == "first"] or [{"total_percent": 0, "total_ci95": [0, 0]}]
		print(row[0]["total_percent"], *row[0]["total_ci95"])
	PYTHON
	)
	echo "truth $truth share $share ($low-$high), $switches switches: $*"
}

within() { awk -v t="$truth" -v l="$low" -v h="$high" 'BEGIN { exit !(l <= t && t <= h) }'; }

cpu=$(awk '/Cpus_allowed_list/ { n = split($2, part, /[-,]/); print part[n] }' /proc/self/status)
n_right=0 n_alone=0 n_wrong=0 n_wrong_alone=0
for _ in $(seq "$runs"); do
	measure
	within && n_right=$((n_right + 1))
	measure --fixed-period
	is_wrong=1
	within && is_wrong=0
	n_wrong=$((n_wrong + is_wrong))
	[ "$switches" -gt 20 ] && continue # others ran there, too, and may have put it out of step
	n_alone=$((n_alone + 1))
	n_wrong_alone=$((n_wrong_alone + is_wrong))
done
[ "$n_right" -ge $((runs * 17 / 20)) ] || fail "the truth was within the interval in $n_right of $runs runs"
echo "random periods: the truth is within the interval in $n_right of $runs runs"
if [ "$n_alone" -ge 5 ] && [ $((2 * n_wrong_alone)) -lt "$n_alone" ]; then
	fail "with a fixed period only $n_wrong_alone of $n_alone runs are wrong"
fi
if [ $((2 * n_wrong)) -lt "$runs" ]; then
	echo "skipped: that fixed periods are wrong: the CPU was shared, and they are in $n_wrong of $runs runs only"
else
	echo "fixed periods: it is not in $n_wrong of $runs"
fi
