#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A link that another user left in a folder such as /tmp is not written through, by any command; one's own is.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to have a link of somebody else"
need setpriv

mkdir -m 1777 sticky
mkdir -m 755 plain
run 0 "$CPPROF" record -q -o p.data -- "$SPIN" 0.2

# attack FOLDER: a link in it to a file of root's, whose contents must stay.
attack() {
	rm -f "$1"/*
	echo precious >victim
	setpriv --reuid=65534 --regid=65534 --clear-groups ln -s "$HERE/victim" "$1/$2"
}
unharmed() {
	[ "$(cat victim)" = precious ] || fail "written through somebody's link by: $*"
	[ "$(find "$HERE" -name '*.new' | wc -l)" = 0 ] || fail "something was left beside by: $*"
}

check() {
	attack sticky "$2"
	run "$1" "${@:3}"
	says "made by another user"
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

# A chain whose last link is theirs.
attack sticky last
ln -s "$HERE/sticky/last" plain/first
run 3 "$CPPROF" merge -o plain/first p.data
says "made by another user"
unharmed a chain of links

# What the kernel lets pass: our own link there, and any link where only its owner could have put it.
rm -f sticky/* plain/*
ln -s "$HERE/victim" sticky/own
run 0 "$CPPROF" merge -o sticky/own p.data
run 0 "$CPPROF" check victim
[ -L sticky/own ] || fail "the link was replaced, not the file"
chmod 777 plain
attack plain theirs
run 0 "$CPPROF" merge -o plain/theirs p.data
run 0 "$CPPROF" check victim

# Names beside the file that others can guess are not used, either.
echo precious >victim
for i in $(seq 0 9); do
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		bash -c 'for p in $(seq $(($2 + 1)) $(($2 + 60))); do ln -sf "$1/victim" "$1/sticky/out.json.$p.tmp"; done' - "$HERE" "$BASHPID"
	"$CPPROF" export p.data -o sticky/out.json >run.log 2>&1 || fail "an export beside somebody's links"
	[ "$(cat victim)" = precious ] || fail "written through a link at the name of the temporary file"
done
exit 0
