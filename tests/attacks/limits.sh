#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Running out of memory gives an error message, not a crash. Run by root, cpprof creates nothing in another user's home.
. "$(dirname "$0")/../e2e/lib.sh"

for kb in 15000 20000 25000 30000 40000 60000; do
	code=0
	(ulimit -v $kb && exec "$CPPROF" record -o m.data -- "$SPIN" 0.1) >run.log 2>&1 || code=$?
	[ $code -le 5 ] || [ $code = 127 ] || fail "exit code $code with $kb kB of memory"
	[ $code != 1 ] || says "cpprof: " # 127: the dynamic loader failed, with a message of its own
done

[ "$(id -u)" = 0 ] || skip "needs root, to run with the home of another user"
mkdir home
chown 65534:65534 home
run 0 env -u XDG_CACHE_HOME HOME="$HERE/home" "$CPPROF" record -o h.data -- "$SPIN" 0.2
[ -z "$(ls -A home)" ] || fail "root has made $(ls -A home) in another user's home"
run 0 env XDG_CACHE_HOME="$HERE/home/there" "$CPPROF" record -o h.data -- "$SPIN" 0.2
[ -z "$(ls -A home)" ] || fail "root has made $(ls -A home) in another user's home"
mkdir own
run 0 env -u XDG_CACHE_HOME HOME="$HERE/own" "$CPPROF" record -o h.data -- "$SPIN" 0.2
[ -d own/.cache/cpprof ] || fail "no cache in root's own home"
exit 0
