#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# While the command runs, a low-priority child of cpprof looks up symbols; it exits when cpprof exits.
. "$(dirname "$0")/lib.sh"
[ "$(nproc)" -gt 1 ] || skip "only one CPU, which the command keeps busy"

export XDG_CACHE_HOME="$HERE/cache"
no_cpprof() { ! pgrep -f -- "-o killed.data" >/dev/null; }
names() { compgen -G "cache/cpprof/maps-*[0-9a-f]" >/dev/null; }

# The command runs until there are symbols in the store, which only that child can have written.
mkdir -m 700 cache
cat >until.sh <<'END'
while ! compgen -G "cache/cpprof/maps-*[0-9a-f]" >/dev/null; do
	for ((i = 0; i < 20000; i++)); do :; done
done
END
run 0 "$CPPROF" record -o early.data -- bash until.sh
names || fail "the store is empty"
facts early.data
"$CPPROF" report early.data | grep -q execute_command || fail "the profile has no symbols"


# With --no-resolve or --no-cache there is no such child.
rm -rf cache
mkdir -m 700 cache
run 0 "$CPPROF" record --no-resolve -o plain.data -- "$SPIN" 1.5
names && fail "symbols were looked up in spite of --no-resolve"
run 0 "$CPPROF" record --no-cache -o plain.data -- "$SPIN" 1.5
names && fail "symbols were stored in spite of --no-cache"

# If cpprof is killed, the command keeps running, and no process of cpprof is left.
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
