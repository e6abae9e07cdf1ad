#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A user's file system stops answering. Who reads a page of it from the memory of a process, opens the mappings of a process that
# waits for it in its exec, or reads anything of one whose mappings are locked meanwhile, even its command line, never returns, and
# no signal ends that. cpprof does not wait: it profiles everything else.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to profile another user"
need_perf
chmod 755 .
mkdir -m 755 served

# begin MODE: the process is $silent. (No `ps`, no `pgrep`: they wait, too.)
begin() {
	local code=0
	: >started
	start "$BUILD/tests/attacks/silent" "$1" "$HERE/served" 65534 >started 2>refused
	for _ in $(seq 100); do
		! read -r silent server <started || return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	wait "$pid" || code=$?
	[ "$code" != 77 ] || skip "no such file system can be mounted here: $(cat refused)"
	fail "the process has not started: $(cat refused)"
}
finish() {
	kill -KILL "$server" "$silent"
	wait "$pid" 2>/dev/null
	true
}

begin page
run 0 timeout -s INT -k 5 30 "$CPPROF" attach --no-cache -d 1 -o page.data -p "$silent"
says "wrote page.data"
"$CPPROF" report page.data >report.log || fail "no report"
grep -q "did not let itself be read in time" report.log || fail "the report does not say that it could not be read"
facts page.data
[ "$(number samples)" -gt 10 ] || fail "only $(number samples) samples"
run 0 timeout -s INT -k 5 60 "$CPPROF" daemon -q --database db --epoch 2s -d 7 -F 99
epoch=$(ls db/epochs/*[0-9].epoch | sed -n 2p) # neither the first nor the last
"$CPPROF" report "$epoch" >report.log || fail "no report of $epoch"
grep -q "did not let itself be read in time" report.log || fail "an epoch of the daemon does not say that it could not be read"
finish

begin exec
sleep 0.5
run 1 timeout -s INT -k 5 30 "$CPPROF" attach --no-cache -d 1 -o exec.data -p "$silent"
says "a file system that it"
run 0 timeout -s INT -k 5 30 "$CPPROF" record -a --no-cache --no-resolve -F 499 -o all.data -- "$SPIN" 1
"$CPPROF" check all.data >/dev/null || fail "the profile of the machine is not valid"
finish

begin lock
run 1 timeout -s INT -k 5 30 "$CPPROF" attach --no-cache -d 1 -o lock.data -p "$silent"
says "a file system that it"
run 0 timeout -s INT -k 5 30 "$CPPROF" record -a --command-lines --no-cache --no-resolve -F 499 -o all.data -- "$SPIN" 1
"$CPPROF" check all.data >/dev/null || fail "the profile of the machine is not valid"
finish
exit 0
