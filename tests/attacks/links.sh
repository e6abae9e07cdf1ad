#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No command follows a symlink that another user created in a sticky directory such as /tmp; one's own symlinks are followed.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to create a symlink of another user"
need setpriv

mkdir -m 1777 sticky
mkdir -m 755 plain
run 0 "$CPPROF" record -q -o p.data -- "$SPIN" 0.2

# attack FOLDER NAME: another user's symlink FOLDER/NAME to a file of root, whose contents must not change.
attack() {
	rm -f "$1"/*
	echo precious >victim
	setpriv --reuid=65534 --regid=65534 --clear-groups ln -s "$HERE/victim" "$1/$2"
}
unharmed() {
	[ "$(cat victim)" = precious ] || fail "another user's symlink was followed by: $*"
	[ "$(find "$HERE" -name '*.new' | wc -l)" = 0 ] || fail "a temporary file was left by: $*"
}

check() {
	attack sticky "$2"
	run "$1" "${@:3}"
	says "of another user"
	unharmed "${@:3}"
}
check 3 out.data "$CPPROF" record -o sticky/out.data -- touch ran
[ ! -e ran ] || fail "the command ran although its profile cannot be written"
check 3 out.json "$CPPROF" export p.data -o sticky/out.json
check 3 out.html "$CPPROF" report p.data --html sticky/out.html
check 3 out.data "$CPPROF" merge -o sticky/out.data p.data
check 3 out.data "$CPPROF" resolve -o sticky/out.data p.data
check 3 out.json "$CPPROF" record --watch sticky/out.json -o q.data -- touch ran
check 3 out.json "$CPPROF" record --format json -o sticky/out.json -- touch ran

check 3 out.txt "$CPPROF" verify steps -n 10 -o sticky/out.txt -- true
check 3 out.txt "$CPPROF" verify steps -n 10 --truth sticky/out.txt -- true
check 3 out.txt "$CPPROF" verify steps -n 10 --write sticky/out.txt -- true

# The daemon writes its metrics again and again; that they cannot be written is a message, not its end.
attack sticky metrics
run 0 "$CPPROF" daemon --database "$HERE/database" --metrics sticky/metrics -d 2 --epoch 1s
says "of another user"
unharmed daemon --metrics

# Whoever can write to the FIFO decides what root traces.
rm -f sticky/*
setpriv --reuid=65534 --regid=65534 --clear-groups mkfifo -m 666 sticky/control
run 3 "$CPPROF" trace -f main --control sticky/control -o t.data -- "$SPIN" 0.2
says "belongs to another user"

# A chain of symlinks, the last of which is the other user's.
attack sticky last
ln -s "$HERE/sticky/last" plain/first
run 3 "$CPPROF" merge -o plain/first p.data
says "of another user"
unharmed a chain of links

# What the kernel (fs.protected_symlinks) allows: one's own symlink in a sticky directory, and any symlink in a directory
# that is not sticky.
rm -f sticky/* plain/*
ln -s "$HERE/victim" sticky/own
run 0 "$CPPROF" merge -o sticky/own p.data
run 0 "$CPPROF" check victim
[ -L sticky/own ] || fail "the symlink was replaced instead of the file"
chmod 777 plain
attack plain theirs
run 0 "$CPPROF" merge -o plain/theirs p.data
run 0 "$CPPROF" check victim

# Temporary files have no predictable names, at which another user could place symlinks.
echo precious >victim
for i in $(seq 0 9); do
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		bash -c 'for p in $(seq $(($2 + 1)) $(($2 + 60))); do ln -sf "$1/victim" "$1/sticky/out.json.$p.tmp"; done' - "$HERE" "$BASHPID"
	"$CPPROF" export p.data -o sticky/out.json >run.log 2>&1 || fail "an export fails because of another user's symlinks"
	[ "$(cat victim)" = precious ] || fail "a symlink at the name of the temporary file was followed"
done
exit 0
