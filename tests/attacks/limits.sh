#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Too little memory is a fault with a message, not a crash; and root makes no folders in other people's homes.
. "$(dirname "$0")/../e2e/lib.sh"

for kb in 15000 20000 25000 30000 40000 60000; do
	code=0
	(ulimit -v $kb && exec "$CPPROF" record -o m.data -- "$SPIN" 0.1) >run.log 2>&1 || code=$?
	[ $code -le 5 ] || [ $code = 127 ] || fail "exit code $code with $kb kB of memory"
	[ $code != 1 ] || says "cpprof: " # or the loader's own words, with 127
done

[ "$(id -u)" = 0 ] || skip "needs root, to be root in another's home"
mkdir home
chown 65534:65534 home
run 0 env -u XDG_CACHE_HOME HOME="$HERE/home" "$CPPROF" record -o h.data -- "$SPIN" 0.2
[ -z "$(ls -A home)" ] || fail "root has made $(ls -A home) in another user's home"
run 0 env XDG_CACHE_HOME="$HERE/home/there" "$CPPROF" record -o h.data -- "$SPIN" 0.2
[ -z "$(ls -A home)" ] || fail "root has made $(ls -A home) in another user's home"
mkdir own
run 0 env -u XDG_CACHE_HOME HOME="$HERE/own" "$CPPROF" record -o h.data -- "$SPIN" 0.2
[ -d own/.cache/cpprof ] || fail "no cache in one's own home"
exit 0
