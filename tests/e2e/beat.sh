#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# beat: a program whose phases are in step with the sampling clock. With random sampling periods, the confidence interval
# contains the true share; with a fixed period it does not.
# usage: beat.sh RUNS
. "$(dirname "$0")/lib.sh"
BEAT=$BUILD/tests/e2e/beat
runs=$1

# measure OPTION...: sets share, low and high of first() in percent, the true share and the number of context switches.
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
	[ "$switches" -gt 20 ] && continue # the CPU was shared, so the program may not have stayed in step
	n_alone=$((n_alone + 1))
	n_wrong_alone=$((n_wrong_alone + is_wrong))
done
[ "$n_right" -ge $((runs * 17 / 20)) ] || fail "the true share was within the interval in only $n_right of $runs runs"
echo "random periods: the true share is within the interval in $n_right of $runs runs"
if [ "$n_alone" -ge 5 ] && [ $((2 * n_wrong_alone)) -lt "$n_alone" ]; then
	fail "with a fixed period only $n_wrong_alone of $n_alone runs are wrong"
fi
if [ $((2 * n_wrong)) -lt "$runs" ]; then
	echo "skipped: the check that fixed periods are biased: the CPU was shared, and only $n_wrong of $runs runs are wrong"
else
	echo "fixed periods: the true share is outside the interval in $n_wrong of $runs runs"
fi
