#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that maps 20,000 executable files: cpprof's CPU time per file does not grow with their number.
[ ! -w /dev/shm ] || TMPDIR=/dev/shm # faster than a disk for that many files
. "$(dirname "$0")/../e2e/lib.sh"
need_perf
need jq

# measure N: sets $least to cpprof's CPU time in ns for N files: the minimum of three runs.
measure() {
	local now
	least=
	for _ in 1 2 3; do
		rm -rf files && mkdir files
		run 0 "$CPPROF" record -q --no-resolve -o p.data -- "$BUILD/tests/attacks/many_files" files "$1" 0.05
		run 0 "$CPPROF" export p.data -o p.json
		now=$(jq .quality.overhead.cpprof_cpu_ns p.json)
		[ "$now" -gt 0 ] || fail "the profile has no CPU time of cpprof"
		[ -n "$least" ] && [ "$least" -le "$now" ] || least=$now
	done
}

measure 5000
few=$least
measure 20000
echo "5000 files cost $few ns, 20000 files $least ns"
# Four times as many files; a linear search for each would cost sixteen times as much.
[ "$least" -lt $((few * 8)) ] || fail "5000 files cost $few ns, 20000 files $least ns"
facts p.data
[ "$(number samples)" -gt 10 ] || fail "only $(number samples) samples"
exit 0
