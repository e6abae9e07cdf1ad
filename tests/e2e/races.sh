#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What changes while we attach and after: threads that come and go, libraries loaded later, files deleted.
. "$(dirname "$0")/lib.sh"

# A thread born while we attach inherits its events or gets its own, never both: then each of its samples
# would come twice, at nearly the same time. One born before its parent's events count and gone before threads are
# listed again is sampled without ever being announced: at most one of each of the
# eight that churn keeps alive, however busy the machine is.
start "$BUILD/tests/e2e/churn" 300
sleep "$(slow 0.2)"
for i in 1 2 3 4 5; do
	code=0
	"$CPPROF" attach -q -p "$pid" -d 0.3 --no-resolve -o c.data --raw c.raw >run.log 2>&1 || code=$?
	[ $code != 5 ] || continue # so busy a machine that the program did not run
	[ $code = 0 ] || fail "exit code $code of attach"
	"$CPPROF" inspect events c.raw >events.log || fail "the raw file is unreadable"
	awk '$2 == "sample" { if ($3 in last && $1 - last[$3] < 0.0005) twice++; last[$3] = $1; n++ }
		$2 == "fork" || $2 == "comm" { known[$3] }
		END { for (who in last) { threads++; if (!(who in known)) strangers++ }
			if (strangers > 8) { print strangers " of " threads " threads never announced"; exit 1 }
			if (!n || twice * 5 > n) { print twice + 0 " of " n + 0 " samples came twice"; exit 1 } }' \
		events.log >awk.log || fail "$(cat awk.log)"
done
kill -9 "$pid"

folded() {
	"$CPPROF" export "$1" -f folded -o - 2>export.log || fail "cannot export"
}

# A library that is loaded after we attached.
start "$SPIN" 3 go="$HERE/go" plugin="$BUILD/tests/e2e/libspin_plugin.so"
target=$pid
sleep "$(slow 0.2)"
start "$CPPROF" attach -q -p "$target" --checkpoint 0.1 -o p.data
await test -s p.data # attached
touch go
wait "$pid" || fail "attach until the end: exit code $?"
folded p.data | grep -q plugin_burn || fail "code of a library loaded later has no name"

# A program that was deleted under its process can still be read through the process.
cp "$SPIN" gone
start "$HERE/gone" 300
sleep "$(slow 0.2)"
rm gone
run 0 "$CPPROF" attach -p "$pid" -d 0.4 -o g.data
facts g.data
folded g.data | grep -q burn || fail "a deleted program has no names"

# Another file of its name is not taken for it.
cp "$BUILD/tests/e2e/facts" gone
run 0 "$CPPROF" attach -p "$pid" -d 0.4 -o h.data
folded h.data | grep -q burn || fail "a replaced program has no names"
kill -9 "$pid"

# Children too short-lived to be looked at while they run.
run 0 "$CPPROF" record -o s.data -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; "$0" 0.02; done' "$SPIN"
facts s.data
folded s.data | grep -q burn || fail "short-lived children have no names"
exit 0
