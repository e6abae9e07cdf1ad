#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The daemon's database: the daemon writes, reads and deletes only where no other user can lead it. Everybody may read.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to create files of another user"
need setpriv
export XDG_CACHE_HOME=$HERE/cache
them() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

run 0 "$CPPROF" record -q --no-resolve --raw raw.data -F 499 -o one.data -- "$SPIN" 0.3
mkdir -m 1777 sticky
mkdir -m 700 mine mine/epochs
echo precious >mine/victim
echo precious >mine/epochs/1000-2000.epoch
chmod 600 mine/victim

# refused WORDS DATABASE: the daemon does not start, says why and what to do, and has done nothing.
refused() {
	find mine -printf '%p %m %s\n' | sort >before.log
	run 3 "$CPPROF" daemon --file raw.data --keep 1s --database "$2"
	says "$1"
	says "choose "
	find mine -printf '%p %m %s\n' | sort >after.log
	cmp -s before.log after.log || fail "files of root were changed: $(diff before.log after.log)"
	[ "$(cat mine/victim mine/epochs/*)" = "$(printf 'precious\nprecious')" ] || fail "a file of root was replaced"
}

# Another user made the database, with links to files of root in it.
them mkdir sticky/theirs sticky/theirs/epochs sticky/theirs/images
them sh -c 'echo "cpprof database 1" >sticky/theirs/version'
them ln -s "$HERE/mine/victim" sticky/theirs/functions.openmetrics
refused "belongs to user 65534, who can change what is in it" sticky/theirs
chown 0 sticky/theirs
chmod 700 sticky/theirs
refused "epochs'.* belongs to user 65534" sticky/theirs

# A database of root in which others can make files, or could.
link() {
	rm -rf open
	mkdir -m 777 open
	them ln -s "$1" "open/$2"
	refused "everybody may write to it" open
	says "type: chmod go-w 'open'"
	chmod go-w open
}
link "$HERE/mine/epochs" epochs
refused "epochs'.* is a symbolic link" open
link "$HERE/mine/created" lock
refused "lock'.* is a symbolic link" open
link "$HERE/mine/victim" functions.openmetrics
refused "functions.openmetrics'.* is a symbolic link" open

# Others can replace the database.
mkdir -m 777 loose
refused "everybody may write to the folder '.*/loose'" loose/db
them mkdir -m 755 sticky/above
mkdir -m 700 sticky/above/db 2>/dev/null
refused "sticky/above' belongs to user 65534" sticky/above/db
them ln -s "$HERE/mine" sticky/elsewhere
refused "the link '.*/sticky/elsewhere' belongs to user 65534" sticky/elsewhere

# A link of root, and a new database in a sticky folder.
ln -s "$HERE/sticky/db" linked
mkdir -m 700 sticky/db
run 0 "$CPPROF" daemon --file raw.data --database linked
run 0 "$CPPROF" daemon --file raw.data --database sticky/new/
run 0 "$CPPROF" report --database linked --since 30000d --process spin --no-pager
says "burn"

# Readers need not own it.
chmod 755 "$HERE"
chmod -R a+rX sticky/db
run 0 them "$CPPROF" epochs "$HERE/sticky/db"
run 0 them "$CPPROF" report --database "$HERE/sticky/db" --since 30000d --process spin --no-pager
says "burn"
