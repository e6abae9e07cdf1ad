#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The store of unwind recipes changes no profile: compares imports without a store, with an empty one, a full one, one
# filled by other recordings, and a damaged one.
# usage: kept.sh SAME_PROFILE
. "$(dirname "$0")/lib.sh"
same=$1
mkdir -m 700 own shared

import() { # FILE STORE OUT
	XDG_CACHE_HOME=$2 "$CPPROF" import -q --no-resolve --symfs "$(root_of "$(basename "$1" .data)")" "$1" -o "$3" || fail "$1: import into $3"
}
told() { "$CPPROF" export --format ndjson --wide "$1" | grep '"t":"node"'; }
# Names are the same whether they are looked up during import, with the results of unwinding, or by a later command.
names() { # FILE NAME
	local root
	root=$(root_of "$2")
	XDG_CACHE_HOME="" "$CPPROF" import -q --no-cache --symfs "$root" "$1" -o "$2.named" || fail "$1: import with names"
	cp "$2.none" "$2.later"
	"$CPPROF" resolve -q --no-cache --symfs "$root" "$2.later" || fail "$1: names"
	told "$2.named" >named
	told "$2.later" >later
	cmp named later || fail "$2: names differ if looked up later"
}
numbers() { stat -c %i own/cpprof/recipes-* | sort; }

n=0
for file in "$data"/*.data "$jit"/*.data; do
	name=$(basename "$file" .data)
	rm -rf own/cpprof
	import "$file" "" "$name.none"
	import "$file" "$HERE/own" "$name.empty"
	ls own/cpprof/recipes-* >/dev/null 2>&1 && n=$((n + 1))
	numbers >before 2>/dev/null
	import "$file" "$HERE/own" "$name.full"
	numbers >after 2>/dev/null
	cmp -s before after || fail "$name: the store was rewritten although nothing was new"
	import "$file" "$HERE/shared" "$name.shared"
	for entry in own/cpprof/recipes-*; do
		[ -e "$entry" ] && printf 'x' | dd of="$entry" bs=1 seek=100 conv=notrunc 2>/dev/null
	done
	import "$file" "$HERE/own" "$name.damaged"
	names "$file" "$name"
	"$same" "$name.none" "$name.empty" "$name.full" "$name.shared" "$name.damaged" || fail "$name: not the same profile"
done
[ $n -gt 3 ] || fail "nothing was stored"

# Nothing is stored with --no-cache.
rm -rf own/cpprof
XDG_CACHE_HOME=$HERE/own "$CPPROF" import -q --no-cache --no-resolve --symfs "$(root_of dwarf)" "$data/dwarf.data" -o out || fail "import without cache"
ls own/cpprof/recipes-* 2>/dev/null && fail "the store was written in spite of --no-cache"
exit 0
