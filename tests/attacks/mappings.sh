#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that maps 200,000 pages of code at ever lower addresses: cpprof's CPU time per mapping does not grow with their number.
. "$(dirname "$0")/../e2e/lib.sh"
need_perf
need jq

# measure N: sets $least to cpprof's CPU time in ns for N mappings: the minimum of three runs.
measure() {
	local now
	least=
	for _ in 1 2 3; do
		run 0 "$CPPROF" record -q --no-resolve --workers 1 -o p.data -- "$BUILD/tests/attacks/mappings" "$1" 0.05
		run 0 "$CPPROF" export p.data -o p.json
		now=$(jq .quality.overhead.cpprof_cpu_ns p.json)
		[ "$now" -gt 0 ] || fail "the profile has no CPU time of cpprof"
		[ -n "$least" ] && [ "$least" -le "$now" ] || least=$now
	done
}

measure 25000
few=$least
measure 200000
echo "25000 mappings cost $few ns, 200000 mappings $least ns"
# Eight times as many mappings. If each moved all others it would cost 64 times as much.
[ "$least" -lt $((few * 20)) ] || fail "25000 mappings cost $few ns, 200000 mappings $least ns"
facts p.data
[ "$(number samples)" -gt 10 ] || fail "only $(number samples) samples"
run 0 "$CPPROF" check p.data
exit 0
