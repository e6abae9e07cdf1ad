#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Changes during and after attaching: threads that start and exit, libraries loaded later, deleted files.
. "$(dirname "$0")/lib.sh"

# A thread created while cpprof attaches either inherits its events or gets its own, never both: otherwise each sample would
# be taken twice, at nearly the same time. A thread created before its parent's events are enabled, and gone before threads
# are listed again, is sampled without a fork or comm record: at most eight, the number of threads that churn keeps alive.
start "$BUILD/tests/e2e/churn" 300
sleep "$(slow 0.2)"
for i in 1 2 3 4 5; do
	code=0
	"$CPPROF" attach -q -p "$pid" -d 0.3 --no-resolve -o c.data --raw c.raw >run.log 2>&1 || code=$?
	[ $code != 5 ] || continue # no samples: on a busy machine, the program may not have run
	[ $code = 0 ] || fail "exit code $code of attach"
	"$CPPROF" inspect events c.raw >events.log || fail "the raw file is unreadable"
	awk '$2 == "sample" { if ($3 in last && $1 - last[$3] < 0.0005) twice++; last[$3] = $1; n++ }
		$2 == "fork" || $2 == "comm" { known[$3] }
		END { for (who in last) { threads++; if (!(who in known)) strangers++ }
			if (strangers > 8) { print strangers " of " threads " threads without fork or comm record"; exit 1 }
			if (!n || twice * 5 > n) { print twice + 0 " of " n + 0 " samples were taken twice"; exit 1 } }' \
		events.log >awk.log || fail "$(cat awk.log)"
done
kill -9 "$pid"

folded() {
	"$CPPROF" export "$1" -f folded -o - 2>export.log || fail "cannot export"
}

# A library that is loaded after attaching.
start "$SPIN" 3 go="$HERE/go" plugin="$BUILD/tests/e2e/libspin_plugin.so"
target=$pid
sleep "$(slow 0.2)"
start "$CPPROF" attach -q -p "$target" --checkpoint 0.1 -o p.data
await test -s p.data # attached
touch go
wait "$pid" || fail "attach until the end: exit code $?"
folded p.data | grep -q plugin_burn || fail "a library loaded later is not symbolized"

# An executable that was deleted while its process runs is read through /proc.
cp "$SPIN" gone
start "$HERE/gone" 300
sleep "$(slow 0.2)"
rm gone
run 0 "$CPPROF" attach -p "$pid" -d 0.4 -o g.data
facts g.data
folded g.data | grep -q burn || fail "a deleted program is not symbolized"

# Another file of the same name is not mistaken for it.
cp "$BUILD/tests/e2e/facts" gone
run 0 "$CPPROF" attach -p "$pid" -d 0.4 -o h.data
folded h.data | grep -q burn || fail "a replaced program is not symbolized"
kill -9 "$pid"

# Short-lived children, which have exited before cpprof can inspect them.
run 0 "$CPPROF" record -o s.data -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; "$0" 0.02; done' "$SPIN"
facts s.data
folded s.data | grep -q burn || fail "short-lived children are not symbolized"
exit 0
