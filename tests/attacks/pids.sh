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

# Of root's process and one of user 2, the names are looked up as user 2, who may not name root's code.
start ./jitter 300
jitter=$pid
await test -e "/tmp/perf-$jitter.map"
sed s/written_while_running/false_name/ "/tmp/perf-$jitter.map" >real.map
rm "/tmp/perf-$jitter.map"
as_user_2=$(as 2 sh -c "cat real.map >/tmp/perf-$jitter.map && echo done")
[ "$as_user_2" = done ] || fail "user 2 cannot write a perf map"
run 0 "$CPPROF" attach -q -F 499 -d 1 -o root.data -p "$jitter" -p "$spin"
run 0 "$CPPROF" report root.data --no-pager --view flat
says "jitter"
! grep -q false_name run.log || fail "another user's file named the code of root's process"
kill -9 "$jitter"
rm -f "/tmp/perf-$jitter.map"

# Both processes with the same pid are profiled: the later one may not name the code of the earlier one.
cat >parent.sh <<END
setpriv --reuid=1 --regid=1 --clear-groups ./jitter 300 &
echo \$! >first
sleep $(slow 1.5)
kill -9 \$!
wait
rm -f "/tmp/perf-\$(cat first).map"
echo \$((\$(cat first) - 1)) >/proc/sys/kernel/ns_last_pid
setpriv --reuid=2 --regid=2 --clear-groups ./jitter 300 &
echo \$! >second
wait
END
start bash parent.sh
parent=$pid
await test -s first
run 0 "$CPPROF" attach -q --no-resolve -F 199 -d "$(slow 3)" -o both.data -p "$parent"
await test -s second
[ "$(cat first)" = "$(cat second)" ] || fail "the second process has another pid"
looked_up both.data
says "jitter"
! grep -q written_while_running run.log || fail "the code of two processes has the names that one of them gave"
pkill -9 -P "$parent"
rm -f "/tmp/perf-$(cat second).map"
exit 0
