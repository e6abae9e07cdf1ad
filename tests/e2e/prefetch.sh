#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names are looked up while a command runs, by a child that waits for everybody else and goes when cpprof goes.
. "$(dirname "$0")/lib.sh"
[ "$(nproc)" -gt 1 ] || skip "one CPU, which the command never leaves idle"

export XDG_CACHE_HOME="$HERE/cache"
no_cpprof() { ! pgrep -f -- "-o killed.data" >/dev/null; }
names() { compgen -G "cache/cpprof/maps-*[0-9a-f]" >/dev/null; }

# The command goes on until the store has names, which nobody else puts there.
mkdir -m 700 cache
cat >until.sh <<'END'
while ! compgen -G "cache/cpprof/maps-*[0-9a-f]" >/dev/null; do
	for ((i = 0; i < 20000; i++)); do :; done
done
END
run 0 "$CPPROF" record -o early.data -- bash until.sh
names || fail "the store is empty"
facts early.data
"$CPPROF" report early.data | grep -q execute_command || fail "the profile has no names"


# Whoever wants no names, or nothing kept, gets no child that looks them up.
rm -rf cache
mkdir -m 700 cache
run 0 "$CPPROF" record --no-resolve -o plain.data -- "$SPIN" 1.5
names && fail "names were looked up for nobody"
run 0 "$CPPROF" record --no-cache -o plain.data -- "$SPIN" 1.5
names && fail "names were kept in spite of --no-cache"

# cpprof is killed: the command goes on, and nothing of ours is left.
cat >again.sh <<'END'
while [ ! -e stop ]; do
	for ((i = 0; i < 20000; i++)); do :; done
done
touch went_on
END
start "$CPPROF" record -q -o killed.data -- bash again.sh
until names; do sleep 0.1; done
kill -9 "$pid"
touch stop
until [ -e went_on ]; do sleep 0.1; done
await no_cpprof
