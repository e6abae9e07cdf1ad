#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process has ended, and another user's process gets its pid and says what the code of "its" JIT compiler is called.
# In a pid namespace of its own: pids that are free there are not those of other tests.
if [ -z "${IS_INSIDE-}" ] && unshare -mpf --mount-proc true 2>/dev/null; then
	IS_INSIDE=1 exec unshare -mpf --mount-proc --kill-child bash "$0"
fi
. "$(dirname "$0")/../e2e/lib.sh"
[ -n "${IS_INSIDE-}" ] || skip "needs a pid namespace"
need setpriv
[ -w /proc/sys/kernel/ns_last_pid ] || skip "this kernel does not let us choose a pid"
as() { local user=$1; shift; exec setpriv --reuid="$user" --regid="$user" --clear-groups "$@"; }

# reuse USER PID: the user starts a process with that pid, which is free, and writes a perf map for it.
reuse() {
	local user=$1 wanted=$2
	echo $((wanted - 1)) >/proc/sys/kernel/ns_last_pid
	start as "$user" sleep 300
	[ "$pid" = "$wanted" ] || fail "the new process has pid $pid, not $wanted"
	(as "$user" sh -c "sed s/written_while_running/false_name/ '$HERE/real.map' >/tmp/perf-$wanted.map")
	await sh -c "[ \"\$(stat -c %u /proc/$wanted)\" = $user ]"
}

# looked_up FILE: cpprof looks up names that it did not look up while it recorded.
looked_up() {
	run 0 "$CPPROF" resolve "$1"
	run 0 "$CPPROF" report "$1" --no-pager --view flat
}

cp "$BUILD/tests/e2e/jitter" "$SPIN" . # other users may not see the build
chmod 755 . jitter spin
start as 2 ./spin 300 # of the processes of one user, the names are looked up as that user, who is believed
spin=$pid
start as 1 ./jitter 300
jitter=$pid
await test -e "/tmp/perf-$jitter.map"
run 0 "$CPPROF" attach -q --no-resolve -F 499 -d 1 -o living.data -p "$jitter" -p "$spin"
looked_up living.data
says "written_while_running"
run 0 "$CPPROF" attach -q --no-resolve -F 499 -d 1 -o before.data -p "$jitter" -p "$spin"
start "$CPPROF" attach -q --no-resolve -F 499 -o ended.data -p "$jitter" -p "$spin"
recorder=$pid
sleep "$(slow 1)"
mv "/tmp/perf-$jitter.map" real.map
chmod 644 real.map
kill -9 "$jitter"
sleep "$(slow 0.3)"
kill "$recorder"
wait "$recorder" || fail "the recording failed"

# As another user, and as the user as whom names are looked up in this recording, because it has processes of several.
for user in 3 65534; do
	reuse $user "$jitter"
	for file in before ended; do
		cp $file.data copy.data
		looked_up copy.data
		says "jitter"
		! grep -q false_name run.log || fail "in $file.data, a name is the one that the later process of user $user gave"
	done
	rm -f "/tmp/perf-$jitter.map"
	kill -9 "$jitter"
	await test ! -e "/proc/$jitter"
done
exit 0
