#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Commands that read a file written by someone else drop their privileges first: the seccomp filter is installed
# before the first byte is read. (tests/unit/cmd/test_confine.c checks what the filter allows.)
. "$(dirname "$0")/../e2e/lib.sh"

run 0 "$CPPROF" record -o p.data --raw raw.data -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'
mkfifo slow

# confined CODE INPUT COMMAND...: the command reads the pipe; nothing is written to it until /proc/PID/status was checked.
confined() {
	local code=$1 input=$2 pid n=0
	shift 2
	"$@" >out.log 2>err.log &
	pid=$!
	exec 5>slow # blocks until the command has opened the pipe
	while ! grep -q '^Seccomp:.*2$' /proc/$pid/status && [ $n -lt 200 ]; do sleep 0.05; n=$((n + 1)); done
	grep -q '^Seccomp:.*2$' /proc/$pid/status || fail "no seccomp filter while reading: $*"
	grep -q '^NoNewPrivs:.*1$' /proc/$pid/status || fail "no_new_privs is not set: $*"
	cat "$input" >&5
	exec 5>&-
	wait $pid
	[ $? = "$code" ] || fail "not exit code $code: $*"
}
grep -q '^Seccomp:' /proc/self/status || skip "the kernel does not support seccomp"
confined 0 p.data "$CPPROF" check slow
confined 0 p.data "$CPPROF" report slow
confined 0 p.data "$CPPROF" report --view loops slow
confined 0 p.data "$CPPROF" report --html page.html slow
confined 0 p.data "$CPPROF" export -f json -o out.json slow
confined 0 p.data "$CPPROF" export -f pprof -o out.pb.gz slow
confined 0 p.data "$CPPROF" merge -o m.data slow p.data
confined 0 p.data "$CPPROF" merge -o m.html slow p.data
confined 0 p.data "$CPPROF" diff slow p.data
confined 0 p.data "$CPPROF" diff --html d.html slow p.data
confined 0 p.data "$CPPROF" stats slow p.data
confined 0 p.data "$CPPROF" stats --html s.html slow p.data
confined 1 p.data "$CPPROF" annotate slow no_such_function
confined 1 raw.data "$CPPROF" import -o q.data slow # import needs to seek, so it refuses a pipe
grep -q "cannot be read from a pipe" err.log || fail "the error is not the one expected for a pipe"
run 0 "$CPPROF" import -o q.data raw.data
run 0 "$CPPROF" check out.json q.data
# report can also read a second file, the counts.
echo '{}' >counts.json
run 1 "$CPPROF" report --view tree --counts counts.json p.data
says "has no counts"
exit 0
