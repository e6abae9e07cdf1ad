#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that maps a file under ever new names, and one that maps ever new files in memory: cpprof neither remembers names
# without end, nor keeps more than a gigabyte of what the program has given back.
[ ! -w /dev/shm ] || TMPDIR=/dev/shm # faster than a disk
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to profile another user"
need_perf
need setpriv jq
NAMES=$BUILD/tests/attacks/new_names
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# Some 700 bytes for each name; the bound is 32 MB.
chmod 755 .
mkdir -m 777 files
run 0 "$CPPROF" record -q -o p.data -- "${as_nobody[@]}" "$NAMES" names "$HERE/files" 150000
run 0 "$CPPROF" export p.data -o p.json
images=$(jq '.modules | length' p.json)
[ "$images" -gt 20000 ] || skip "only $images names were seen"
[ "$images" -lt 80000 ] || fail "$images names are remembered"
jq -e '[.modules[].path] | index("[other files]")' p.json >/dev/null || fail "the profile does not say that there were others"

[ "$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 5 ] || {
	echo "skipped: files in memory: there is too little of it"
	exit 0
}
start "$CPPROF" record -q -o m.data -- "${as_nobody[@]}" "$NAMES" memory 6 300
most=0
while kept=$(grep -c memfd:program /proc/"$pid"/maps 2>/dev/null) || [ -n "$kept" ]; do
	[ "$kept" -le "$most" ] || most=$kept
	sleep 0.2
done
wait "$pid" || fail "no recording"
[ "$most" -gt 0 ] || fail "none of the files was seen: the test is void"
[ "$most" -le 4 ] || fail "cpprof keeps $most files of 300 MB that the program has given back"
exit 0
