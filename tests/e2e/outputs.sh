#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A profile that goes to a pipe, a device or a descriptor is written once; while nobody reads it, a signal ends cpprof.
. "$(dirname "$0")/lib.sh"
need mkfifo

# record -o OUTPUT, with as little chance to wait for ever as possible.
record() { run 0 timeout -k 1 60 "$CPPROF" record -q "$@" -- "$SPIN" 0.2; }
complete() {
	run 0 "$CPPROF" check "$1"
	facts "$1"
}

# Named pipes: the reader sees the end of the profile once, and it has names.
for option in '' --no-resolve; do
	rm -f pipe
	mkfifo pipe
	start timeout 60 cat pipe >piped.data
	record $option -o pipe
	wait "$pid" || fail "the reader of the pipe was not served"
	[ -p pipe ] || fail "a pipe was replaced by a file"
	complete piped.data
done
start timeout 60 cat pipe >piped.json
record -o pipe --format json
wait "$pid" || fail "the reader of the pipe was not served"
mv piped.json named.json
run 0 "$CPPROF" check named.json

# Descriptors, by the names that shells give them.
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	timeout -k 1 60 "$CPPROF" record -q -o $name -- "$SPIN" 0.2 2>run.log | cat >written.data
	complete written.data
	timeout -k 1 60 "$CPPROF" record -q -o $name -- "$SPIN" 0.2 2>run.log >written.data
	complete written.data
done
"$CPPROF" record -q -o piped.data -- "$SPIN" 0.2
"$CPPROF" export piped.data -f json -o /proc/self/fd/1 | grep -q cpprof-profile || fail "nothing in a pipe as /proc/self/fd/1"
for name in /dev/stdout /dev/fd/1; do
	echo before >log.json
	"$CPPROF" export piped.data -f json -o $name >>log.json
	[ "$(head -n 1 log.json)" = before ] || fail "what a file contained, to which $name appends, is gone"
	grep -q cpprof-profile log.json || fail "nothing was appended to $name"
done
record -o /dev/null

# Nobody reads: the profile is kept, and a signal ends cpprof, which says where it is.
rm -f pipe
mkfifo pipe
TMPDIR=$HERE start "$CPPROF" record -o pipe -- true 2>waits.log
waits() { [ "$(cat "/proc/$pid/wchan" 2>/dev/null)" = wait_for_partner ]; }
if [ -r /proc/self/wchan ] && [ "$(id -u)" = 0 ]; then
	await waits
	kill -TERM "$pid"
	code=0
	wait "$pid" || code=$?
	[ "$code" = 143 ] || fail "exit code $code after SIGTERM while nobody reads the pipe"
	kept=$(sed -n 's/.*cpprof resolve //p' waits.log)
	[ -f "$kept" ] || fail "the profile was not kept: $(cat waits.log)"
	run 0 "$CPPROF" resolve "$kept"
fi

# What cannot be replaced at the end is refused at the beginning: another user's file in a sticky directory.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 .
	mkdir -m 1777 sticky
	echo roots >sticky/file
	chmod 666 sticky/file
	run 3 setpriv --reuid=65534 --regid=65534 --clear-groups "$CPPROF" record -o sticky/file -- touch sticky/ran
	says "cannot write 'sticky/file'"
	says "choose another path"
	[ ! -e sticky/ran ] || fail "the command was run although its profile cannot be written"
	[ "$(cat sticky/file)" = roots ] || fail "another user's file was written"
fi
exit 0
