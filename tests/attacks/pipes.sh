#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Another user waits with a pipe, a file or a link at the name that root writes, in a directory such as /tmp or /dev/shm, or puts
# it there meanwhile: nothing is published, nothing of root is overwritten, and nothing waits for a reader.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to have files of another user"
need setpriv
them() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

chmod 755 .
mkdir -m 1777 sticky
run 0 "$CPPROF" record -q -o p.data -- "$SPIN" 0.2

# A pipe at the name.
them mkfifo -m 666 sticky/pipe
refuses() {
	run 3 timeout -k 1 20 "$@"
	says "of another user"
}
refuses "$CPPROF" record -o sticky/pipe -- touch ran
refuses "$CPPROF" record --raw sticky/pipe -o q.data -- touch ran
[ ! -e ran ] || fail "the command ran although its profile cannot be written"
refuses "$CPPROF" export p.data -f json -o sticky/pipe
refuses "$CPPROF" merge -o sticky/pipe p.data
ln -s pipe sticky/link
refuses "$CPPROF" merge -o sticky/link p.data

# At the default name, and put there during the recording: it is replaced.
replaced() {
	[ -f "$1" ] && [ ! -L "$1" ] && [ "$(stat -c %u:%a "$1")" = 0:600 ] || fail "'$1' is not a file of root's: $(stat -c '%F %U %a' "$1")"
}
them ln -s pipe sticky/cpprof.data
cd sticky
run 0 timeout -k 1 20 "$CPPROF" record -q -- "$SPIN" 0.2
cd ..
replaced sticky/cpprof.data
run 0 timeout -k 1 20 "$CPPROF" record -q -o sticky/late -- setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'sleep 1; ln -s pipe sticky/late'
replaced sticky/late

# A file that they can read: the raw recording contains the stacks of processes.
them sh -c 'umask 0; echo theirs >sticky/raw; echo theirs >sticky/steps'
them tail -n +1 -f sticky/raw >seen.log 2>/dev/null &
started+=($!)
run 0 "$CPPROF" record -q --raw sticky/raw -o q.data -- "$SPIN" 0.2
replaced sticky/raw
run 0 "$CPPROF" verify steps -n 10 -o sticky/steps -- true
replaced sticky/steps
! grep -q PERFILE2 seen.log || fail "the other user reads what is recorded"

# /dev/shm is such a directory, too, while devices and descriptors are written directly.
if [ -k /dev/shm ] && [ -w /dev/shm ]; then
	name=/dev/shm/cpprof_test.$$
	trap 'rm -f "$name"; rm -rf "$HERE"' EXIT
	echo precious >victim
	them ln -s "$HERE/victim" "$name"
	refuses "$CPPROF" export p.data -f json -o "$name"
	[ "$(cat victim)" = precious ] || fail "another user's link in /dev/shm was followed"
	rm "$name"
	them sh -c 'umask 0; echo theirs >"$1"' - "$name"
	run 0 "$CPPROF" export p.data -f json -o "$name"
	replaced "$name"
fi
run 0 "$CPPROF" export p.data -f json -o /dev/null
"$CPPROF" export p.data -f json -o /dev/stdout | grep -q cpprof-profile || fail "nothing in /dev/stdout"
"$CPPROF" export p.data -f json -o /dev/stdout >out.json && grep -q cpprof-profile out.json || fail "nothing in a file as /dev/stdout"
"$CPPROF" export p.data -f json -o >(cat >substituted.json) && await grep -q cpprof-profile substituted.json

# Pipes of our own are written.
mkfifo sticky/own
cat sticky/own >own.json &
run 0 timeout -k 1 20 "$CPPROF" export p.data -f json -o sticky/own
wait $!
grep -q cpprof-profile own.json || fail "nothing came through a pipe of our own"
exit 0
