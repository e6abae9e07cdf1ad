#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# While a command reads a file that somebody else wrote it has given up its rights: the kernel's filter is on
# before the first byte is read. (What it then can and cannot do: tests/unit/cmd/test_confine.c.)
. "$(dirname "$0")/../e2e/lib.sh"

run 0 "$CPPROF" record -o p.data --raw raw.data -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
mkfifo slow

# CODE INPUT COMMAND...: it reads the pipe, to which nothing is written until its state has been looked at.
confined() {
	local code=$1 input=$2 pid n=0
	shift 2
	"$@" >out.log 2>err.log &
	pid=$!
	exec 5>slow # waits until it has opened the pipe
	while ! grep -q '^Seccomp:.*2$' /proc/$pid/status && [ $n -lt 200 ]; do sleep 0.05; n=$((n + 1)); done
	grep -q '^Seccomp:.*2$' /proc/$pid/status || fail "no filter while it reads: $*"
	grep -q '^NoNewPrivs:.*1$' /proc/$pid/status || fail "it can gain privileges: $*"
	cat "$input" >&5
	exec 5>&-
	wait $pid
	[ $? = "$code" ] || fail "not exit code $code: $*"
}
grep -q '^Seccomp:' /proc/self/status || skip "the kernel has no filters of system calls"
confined 0 p.data "$CPPROF" check slow
confined 0 p.data "$CPPROF" report slow
confined 0 p.data "$CPPROF" report --view loops slow
confined 0 p.data "$CPPROF" report --html page.html slow
confined 0 p.data "$CPPROF" export -f json -o out.json slow
confined 0 p.data "$CPPROF" export -f pprof -o out.pb.gz slow
confined 1 raw.data "$CPPROF" import -o q.data slow # it wants to seek, and says so
grep -q "cannot be read from a pipe" err.log || fail "another error than that of a pipe"
run 0 "$CPPROF" import -o q.data raw.data
run 0 "$CPPROF" check out.json q.data
# The second file that a report may read.
echo '{}' >counts.json
run 1 "$CPPROF" report --view tree --counts counts.json p.data
says "has no counts"
exit 0
