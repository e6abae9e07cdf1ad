#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# attach: samples all threads of running processes, and threads and children started later; how a recording ends.
. "$(dirname "$0")/lib.sh"
ln -s "$SPIN" spin_child

# Until the target ends, with late threads and a child.
start "$SPIN" 4 threads=3 late=2 child="$HERE/spin_child" go="$HERE/go"
target=$pid
sleep "$(slow 0.2)"
start "$CPPROF" attach -q -p "$target" --checkpoint 0.1 -o a.data
await test -s a.data # attached
touch go
wait "$pid" || fail "attach until the end: exit code $?"
facts a.data
fact "mode attach"
fact "checkpoint 0"
[ "$(grep -c "^thread [0-9]* of $target samples [1-9]" facts.log)" = 6 ] || fail "not all six threads were sampled"
fact "^thread .* samples [1-9][0-9]* spin_child"

# With a duration; the target keeps running. `record -p` is the same as `attach -p`.
start "$SPIN" 300 threads=1 tick="$HERE/tick"
target=$pid
sleep "$(slow 0.2)"
run 0 "$CPPROF" record -p "$target" -d 0.5 -o b.data
facts b.data
[ "$(number duration_ms)" -lt 60000 ] || fail "the duration was $(number duration_ms) ms"
kill -0 "$target" || fail "the target did not survive"

# By name: attaches to all processes of that name, and says so.
ln -s "$SPIN" spin_by_name
start "$HERE/spin_by_name" 300
one=$pid
start "$HERE/spin_by_name" 300
two=$pid
sleep "$(slow 0.2)"
run 0 "$CPPROF" attach -n spin_by_name -d 0.4 -o n.data
says "2 processes are named 'spin_by_name'"
facts n.data
fact "^thread $one of $one samples [1-9]"
fact "^thread $two of $two samples [1-9]"
kill -9 "$one" "$two"

# A process whose main thread has exited.
start "$SPIN" 300 threads=2 leave=1
sleep "$(slow 0.3)"
run 0 "$CPPROF" attach -p "$pid" -d 0.4 -o l.data
facts l.data
[ "$(number samples)" -ge 1 ] || fail "no samples of a process whose main thread has exited"
fact "^end complete"
kill -9 "$pid"

# One thread only.
other=$(ls "/proc/$target/task" | grep -v "^$target$" | tail -1)
run 0 "$CPPROF" attach -t "$other" -d 0.4 -o t.data
facts t.data
! grep "^thread $target of .* samples [1-9]" facts.log || fail "another thread was sampled"

# SIGINT, SIGTERM, SIGHUP: the profile is written.
for signal in INT TERM HUP; do
	start "$CPPROF" attach -q -p "$target" -o "s$signal.data"
	profiler=$pid
	sleep "$(slow 0.5)"
	kill -$signal "$profiler"
	wait "$profiler" || fail "SIG$signal: exit code $?"
	facts "s$signal.data"
	fact "checkpoint 0"
	[ "$(number samples)" -ge 1 ] || fail "SIG$signal: no samples"
done

# SIGKILL: the target keeps running, and the last checkpoint is readable. On a slow machine with one CPU, the first
# checkpoint may be written before the target has run.
sampled() { [ -s "$1" ] && facts "$1" && [ "$(number samples)" -ge 1 ]; }
start "$CPPROF" attach -q -p "$target" --checkpoint 0.3 -o k.data
profiler=$pid
await sampled k.data
kill -9 "$profiler"
wait "$profiler" 2>/dev/null
before=$(stat -c %s tick)
sleep "$(slow 0.3)"
after=$(stat -c %s tick)
[ "$after" -gt "$before" ] || fail "the target stopped when cpprof was killed"
kill -0 "$target" || fail "the target died when cpprof was killed"
facts k.data
fact "checkpoint 1"
[ "$(number samples)" -ge 1 ] || fail "the checkpoint is empty"
counted=$(number counted_ms) sampled=$(number sampled_ms)
[ "$counted" -ge 1 ] && [ "$sampled" -le $((counted + 1)) ] || fail "samples of the checkpoint stand for $sampled of $counted ms"
exit 0
