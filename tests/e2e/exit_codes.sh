#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exit codes: cpprof's own in case of an error, otherwise the command's.
. "$(dirname "$0")/lib.sh"

run 0 "$CPPROF" record -o a.data -- "$SPIN" 0.2
run 3 "$CPPROF" record -o a.data -- "$SPIN" 0.2 exit=3
run 137 "$CPPROF" record -o a.data -- sh -c 'kill -9 $$'
run 5 "$CPPROF" record -c 1000000000 -o a.data -- true # a period longer than the command runs, even on a slow machine: no samples
says "no samples:"
run 1 "$CPPROF" record -o a.data -- "$HERE/no-such-command"
says "cannot run"
run 1 "$CPPROF" record -o a.data "no-such-command with arguments"
says "sh -c 'no-such-command with arguments'"
run 1 "$CPPROF" record -o a.data -- "$HERE"
says "it is a directory"
touch plain
run 3 "$CPPROF" record -o a.data -- ./plain
says "chmod +x"
run 139 "$CPPROF" record -o a.data -- sh -c 'kill -11 $$'
says "killed by signal 11"

# If the output cannot be written, the command is not run.
for option in -o --raw; do
	run 1 "$CPPROF" record $option "$HERE/no/such/folder/a.data" -- touch ran
	says "cannot write '$HERE/no/such/folder/a.data'"
	run 1 "$CPPROF" record $option "$HERE" -- touch ran
done
[ ! -e ran ] || fail "the command was run although its profile cannot be written"

# An export does not replace a device by a file, and a full disk is reported.
"$CPPROF" record -q -o a.data -- "$SPIN" 0.2
ln -s /dev/full full.json
run 1 "$CPPROF" export a.data -o full.json
says "cannot write '/dev/full': No space left" # the target of the symlink
[ -L full.json ] || fail "an export replaced a symlink to a device by a file"
"$CPPROF" check a.data >/dev/full 2>run.log && fail "a write error on standard output is not detected"
says "cannot write to standard output"
run 6 "$CPPROF" record --min-quality 100 --unwind fp -o a.data -- "$SPIN" 0.3
says "min-quality"

run 2 "$CPPROF" record
run 2 "$CPPROF" record -F x -- true
run 2 "$CPPROF" record -F 99 -c 99 -- true
run 2 "$CPPROF" record --stack-size 1m -- true
for option in "-F 0" "-c 0" "--stack-size 0" "--stack-size 100"; do
	run 2 "$CPPROF" record $option -- true
done
run 2 "$CPPROF" record -p 1 -- true
run 2 "$CPPROF" attach
run 2 "$CPPROF" attach -p x
run 2 "$CPPROF" attach 1234
says "-p PID"
run 2 "$CPPROF" record --stream 1 -o - -- true
run 2 "$CPPROF" attach -p 0
run 2 "$CPPROF" attach --durtion 3
says "did you mean '--duration'"
run 0 "$CPPROF" record --help
says "examples:"

run 4 "$CPPROF" attach -p 2147480000
says "there is no such process"
says "cpprof attach -n NAME"
run 4 "$CPPROF" attach -t 2147480000
says "cannot attach to thread 2147480000"
run 4 "$CPPROF" attach -n no-process-has-this-name
says "no process is named"

# A zombie process, and a stopped one.
start sh -c 'sh -c "until grep -q sleep /proc/\$PPID/comm; do sleep 0.05; done" & echo $! >ended; exec sleep 300'
parent=$pid
await test -s ended
await grep -q '^State:.Z' "/proc/$(cat ended)/status"
run 4 "$CPPROF" attach -p "$(cat ended)"
says "it is a zombie: it has ended, and its parent, process $parent, has not waited"
start "$SPIN" 300
kill -STOP "$pid"
await grep -q '^State:.T' "/proc/$pid/status"
run 5 "$CPPROF" attach -p "$pid" -d 0.1 -o a.data
says "process $pid is stopped; to continue it: kill -CONT $pid"

# A 32-bit program is refused before it runs.
printf '\177ELF\001\001\001\000\000\000\000\000\000\000\000\000\002\000\003\000\001\000\000\000' >old
head -c 200 /dev/zero >>old
chmod +x old
run 1 "$CPPROF" record -- ./old
says "not a 64-bit"
exit 0
