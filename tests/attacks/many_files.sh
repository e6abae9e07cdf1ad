#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that maps 20,000 files with code: what each costs does not grow with their number.
[ ! -w /dev/shm ] || TMPDIR=/dev/shm # so many files take long on a disk
. "$(dirname "$0")/../e2e/lib.sh"
need_perf
need jq

# measure N: CPU time of cpprof for N files in $least, in ns: the least of three runs.
measure() {
	local now
	least=
	for _ in 1 2 3; do
		rm -rf files && mkdir files
		run 0 "$CPPROF" record -q --no-resolve -o p.data -- "$BUILD/tests/attacks/many_files" files "$1" 0.05
		run 0 "$CPPROF" export p.data -o p.json
		now=$(jq .quality.overhead.cpprof_cpu_ns p.json)
		[ "$now" -gt 0 ] || fail "no CPU time is stored"
		[ -n "$least" ] && [ "$least" -le "$now" ] || least=$now
	done
}

measure 5000
few=$least
measure 20000
echo "5000 files cost $few ns, 20000 files $least ns"
# Four times as many files; sixteen times the cost if all earlier ones were searched for each.
[ "$least" -lt $((few * 8)) ] || fail "5000 files cost $few ns, 20000 files $least ns"
facts p.data
[ "$(number samples)" -gt 10 ] || fail "only $(number samples) samples"
exit 0
