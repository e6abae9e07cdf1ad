#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record: runs a command, follows its threads, fork and exec, and writes a profile whose sums agree.
. "$(dirname "$0")/lib.sh"

# stand_for_time FILE [PERCENT]: the samples represent at least that share of the CPU time, and no more than all of it. On an
# emulated machine, whose timer is late, the report must state the missing share, and the late timer as the reason.
stand_for_time() {
	local counted sampled told least=${2:-80}
	counted=$(number counted_ms) sampled=$(number sampled_ms)
	[ "$sampled" -ge 1 ] && [ "$sampled" -le $((counted + 1)) ] || fail "samples of $1 stand for $sampled of $counted ms"
	[ $((sampled * 100)) -lt $((counted * least)) ] || return 0
	[ "$SLOW" != 1 ] || fail "samples of $1 stand for $sampled of $counted ms"
	"$CPPROF" report --view quality --format json "$1" >quality.log || fail "no quality of $1"
	grep -q '"the sampling timer was late' quality.log || fail "the report does not say that the timer was late"
	told=$(sed -n 's/.*"between_samples_percent":\([0-9]*\).*/\1/p' quality.log)
	awk -v told="$told" -v counted="$counted" -v sampled="$sampled" -v lost="$(number lost)" -v n="$(number samples)" 'BEGIN {
		missing = 100 - 100 * lost / (n + lost) - 100 * sampled / counted
		exit !(told - missing < 2 && missing - told < 2) }' || fail "reported as missing: $told %; $sampled of $counted ms"
}

# A short program: the default file name is used, and the previous profile is renamed.
run 0 "$CPPROF" record -- "$SPIN" 0.4
says "wrote cpprof.data"
says "quality:"
facts cpprof.data
[ "$(number samples)" -ge 1 ] || fail "no samples"
fact "mode record"
fact "command_line cpprof record -- $SPIN 0.4"
fact "checkpoint 0"
fact "process .* spin"
run 0 "$CPPROF" record -q -- "$SPIN" 0.1
[ -s run.log ] && fail "-q is not quiet"
[ -e cpprof.data.old ] || fail "the previous profile was not kept as cpprof.data.old"

# Threads, threads created later, and a child with another name.
ln -s "$SPIN" spin_child
run 0 "$CPPROF" record -o t.data -- "$SPIN" 1.2 threads=3 late=2 child="$HERE/spin_child"
facts t.data
[ "$(grep -c '^thread .* spin$' facts.log)" = 6 ] || fail "not exactly six threads of spin"
! grep '^thread .* samples 0 ' facts.log || fail "a thread without samples"
fact "^process .* spin_child"
fact "^thread .* spin_child"
stand_for_time t.data

# --no-inherit: only the main thread.
run 0 "$CPPROF" record --no-inherit -o n.data -- "$SPIN" 0.8 threads=2 child="$HERE/spin_child"
facts n.data
[ "$(grep -c '^thread .* samples [1-9]' facts.log)" = 1 ] || fail "--no-inherit sampled other threads or processes"

# Processes that exit before their first sample are missing, and the report says how much CPU time that is, or how many cycles.
run 0 "$CPPROF" record -e cycles -o cycles.data -- "$SPIN" 0.2
facts cycles.data
for event in cpu-clock $(awk '$1 == "event" && $2 == "cycles" { print $2 }' facts.log); do # without a PMU, a clock is used
	[ $event = cycles ] && what=cycles verb=were || what="CPU time" verb=was
	run 0 "$CPPROF" record -e $event -F 50 -o short.data -- sh -c '"$0" 0.2; for i in $(seq 400); do /bin/true; done' "$SPIN"
	says "of $what $verb not sampled"
	says "that ended before their first sample are missing"
	run 6 "$CPPROF" report --min-quality complete=50,seen=95 short.data
	says "of the $what $verb sampled; --min-quality requires seen=95"
	run 0 "$CPPROF" report --view quality short.data
	says "between samples"
done

# A clock that excludes the kernel counts its time all the same, and the report says how much is missing.
run 0 "$CPPROF" record -e cpu-clock -u -o user.data -- sh -c '"$0" 0.1; dd if=/dev/zero of=/dev/null bs=64k count=50000' "$SPIN"
says "of CPU time was not sampled (in the kernel"
run 6 "$CPPROF" report --min-quality complete=50,seen=95 user.data
says "of the CPU time was sampled, without the kernel's; --min-quality requires seen=95"
run 0 "$CPPROF" report --view quality user.data
says "in the kernel, or between"

# Samples around an exec are attributed to an image.
run 0 "$CPPROF" record -F 19997 -o exec.data -- sh -c 'for i in $(seq 100); do /bin/true; done'
facts exec.data
strays=$(awk '$1 == "end" && $2 == "no_image" { print $3 }' facts.log)
[ "${strays:-0}" -le $(($(number samples) / 20)) ] || fail "$strays of $(number samples) samples are not in any image"

# File names.
run 0 "$CPPROF" record -o 'x-%p-%t.data' -- "$SPIN" 0.1
ls x-[0-9]*-20[0-9]*-[0-9]*.data >/dev/null || fail "%p and %t were not replaced"
"$CPPROF" record -o - -- "$SPIN" 0.1 2>run.log >piped.data || fail "-o - failed"
facts piped.data

# Delay and duration: the command runs longer than the recording, and its exit status is still passed on.
run 7 "$CPPROF" record -d 0.3 -o d.data -- "$SPIN" 3 exit=7
facts d.data
[ "$(number duration_ms)" -lt $((2900 * SLOW)) ] || fail "the duration was $(number duration_ms) ms, not 300"
run 0 "$CPPROF" record -D "$(slow 0.7)" -o D.data -- "$SPIN" 1.2
facts D.data
[ "$(number sampled_ms)" -lt $((700 * SLOW)) ] || fail "samples of $(number sampled_ms) ms in the $(slow 0.5) s after the delay"
fact "process .* spin"

# The command runs as without cpprof: same signal masks, limits and descriptors.
cat >surroundings.sh <<'END'
grep -E 'Sig(Blk|Ign)' /proc/self/status
ulimit -n
ls /proc/self/fd
END
sh surroundings.sh >plain.log
"$CPPROF" record -q -o a.data -- sh surroundings.sh >profiled.log
cmp plain.log profiled.log || fail "the command's signals, limits or descriptors differ"

# A signal sent to cpprof only ends the recording and is forwarded to the command.
start "$CPPROF" record -q -o i.data -- "$SPIN" 300
sleep "$(slow 0.5)"
kill -TERM "$pid"
wait "$pid"
[ $? = 143 ] || fail "the exit code is not that of a command killed by SIGTERM"
facts i.data
fact "checkpoint 0"

# Events and rates.
run 0 "$CPPROF" record -F 200 -o f.data -- "$SPIN" 0.5
facts f.data
# Periods are random, from 0.55 to 1.65 of the mean, and there may be few in a short run; their sum is the CPU time used.
stand_for_time f.data 90
[ "$(number samples)" -le $((182 * SLOW + 5)) ] || fail "$(number samples) samples at 200 Hz in $(slow 0.5) s"
run 0 "$CPPROF" record -c 10000000 -e cpu-clock:u -o c.data -- "$SPIN" 0.5
facts c.data
[ "$(number samples)" -le $((91 * SLOW + 2)) ] || fail "$(number samples) samples, one every 10 ms in $(slow 0.5) s"
fact "event cpu-clock:u excludes_kernel=1"
run 0 "$CPPROF" record -e cpu-clock -e page-faults -o e.data -- "$SPIN" 0.3
facts e.data
fact "event cpu-clock"
fact "event page-faults"
run 1 "$CPPROF" record -e no-such-event -- true
says "cannot count 'no-such-event'"
exit 0
