#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Output that cannot be written is reported before the command is run; if writing fails later, the profile is kept elsewhere.
. "$(dirname "$0")/lib.sh"

# Checked before the command is run: file names, formats and times.
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
[ ! -e ran ] || fail "the command was run although the options are invalid"

# A full disk: the profile is kept in TMPDIR, and a message says where.
mkdir temporary
run 1 env TMPDIR="$HERE/temporary" "$CPPROF" record -o /dev/full -- "$SPIN" 0.2
says "cannot write profile '/dev/full': No space left"
kept=$(sed -n "s/.*it is kept as '\(.*\)'.*/\1/p" run.log)
says "cpprof report $kept"
[ "$(dirname "$kept")" = "$HERE/temporary" ] || fail "kept as '$kept'"
facts "$kept"
fact "checkpoint 0"
[ "$(number samples)" -ge 1 ] || fail "the profile that was kept is empty"

# The reader of the pipe has exited: then nothing is kept.
(
	trap '' PIPE
	TMPDIR="$HERE/temporary" "$CPPROF" record -o - -- "$SPIN" 0.2 2>run.log | true
)
says "Broken pipe"
[ "$(ls temporary | wc -l)" = 1 ] || fail "a profile was kept after a broken pipe"

# A file size limit (ulimit -f) is handled like a full disk; the command is still killed by SIGXFSZ if it exceeds it.
(
	mkdir -p limited
	cd limited || exit 1
	ulimit -f 1
	run 1 env TMPDIR="$HERE/limited" "$CPPROF" record -o a.data -- "$SPIN" 0.2
	says "cannot write profile 'a.data': File too large"
	run 153 "$CPPROF" record -o /dev/null -- sh -c 'head -c 4096 /dev/zero >c.data'
	[ ! -e a.data ] || fail "a partial profile was written"
	[ "$(find . -name 'a.data*' | wc -l)" = 0 ] || fail "a temporary file was left"
) || exit 1

# If the raw samples cannot be written, the profile still is.
run 1 "$CPPROF" record --raw /dev/full -o raw.data -- "$SPIN" 0.2
says "cannot write raw samples to '/dev/full'"
says "wrote raw.data"
facts raw.data
[ "$(number samples)" -ge 1 ] || fail "the profile is empty"

# For a device, no report command is suggested.
run 0 "$CPPROF" record -o /dev/null -- "$SPIN" 0.2
says "wrote /dev/null$"

# The command runs longer than the recording: a message says so, and SIGINT ends the wait.
start "$CPPROF" record -d "$(slow 0.5)" -o d.data -- "$SPIN" 300 2>wait.log
profiler=$pid
await grep -q "is still running; waiting for it" wait.log
child=$(sed -n 's/.*the command (process \([0-9]*\)) is still running.*/\1/p' wait.log)
started+=("$child")
kill -INT "$profiler"
wait "$profiler" || fail "exit code $? after SIGINT during the wait"
kill -0 "$child" || fail "the command did not survive the end of the wait"
exit 0
