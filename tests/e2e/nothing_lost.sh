#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What was recorded is kept wherever there is room, and what cannot work is said before anything is run.
. "$(dirname "$0")/lib.sh"

# Before: names of files, and of formats.
run 1 "$CPPROF" record -o "" -- touch ran
says "cannot write ''"
run 1 "$CPPROF" record --watch a.nothing -- touch ran
says "the format cannot be determined from its name"
run 1 "$CPPROF" record --watch no/such/folder/a.json -- touch ran
says "choose another path with --watch FILE"
for option in "-d 0" "--stream 0" "--interval 0"; do
	run 2 "$CPPROF" record $option -- touch ran
	says "a time above 0"
done
[ ! -e ran ] || fail "the command was run in vain"

# A full disk: the profile is kept elsewhere, and it is said where.
mkdir temporary
run 1 env TMPDIR="$HERE/temporary" "$CPPROF" record -o /dev/full -- "$SPIN" 0.2
says "cannot write profile '/dev/full': No space left"
kept=$(sed -n "s/.*it is kept as '\(.*\)'.*/\1/p" run.log)
says "cpprof report $kept"
[ "$(dirname "$kept")" = "$HERE/temporary" ] || fail "kept as '$kept'"
facts "$kept"
fact "checkpoint 0"
[ "$(number samples)" -ge 1 ] || fail "what was kept is empty"

# Who reads has left: that is no reason to keep anything.
(
	trap '' PIPE
	TMPDIR="$HERE/temporary" "$CPPROF" record -o - -- "$SPIN" 0.2 2>run.log | true
)
says "Broken pipe"
[ "$(ls temporary | wc -l)" = 1 ] || fail "something was kept that nobody wanted"

# A limit of the shell is no worse than a full disk, and the command's own.
(
	mkdir -p limited
	cd limited || exit 1
	ulimit -f 1
	run 1 env TMPDIR="$HERE/limited" "$CPPROF" record -o a.data -- "$SPIN" 0.2
	says "cannot write profile 'a.data': File too large"
	run 153 "$CPPROF" record -o /dev/null -- sh -c 'head -c 4096 /dev/zero >c.data'
	[ ! -e a.data ] || fail "half a profile"
	[ "$(find . -name 'a.data*' | wc -l)" = 0 ] || fail "something was left beside"
) || exit 1

# Raw samples that cannot be written do not cost the profile.
run 1 "$CPPROF" record --raw /dev/full -o raw.data -- "$SPIN" 0.2
says "cannot write raw samples to '/dev/full'"
says "wrote raw.data"
facts raw.data
[ "$(number samples)" -ge 1 ] || fail "the profile beside raw samples is empty"

# A device is no file to look at.
run 0 "$CPPROF" record -o /dev/null -- "$SPIN" 0.2
says "wrote /dev/null$"

# The command outlives the recording: that is said, and a signal ends the wait.
start "$CPPROF" record -d "$(slow 0.5)" -o d.data -- "$SPIN" 300 2>wait.log
profiler=$pid
await grep -q "is still running; waiting for it" wait.log
child=$(sed -n 's/.*the command (process \([0-9]*\)) is still running.*/\1/p' wait.log)
started+=("$child")
kill -INT "$profiler"
wait "$profiler" || fail "the end of the wait has exit code $?"
kill -0 "$child" || fail "the command ended with the wait"
exit 0
