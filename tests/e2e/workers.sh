#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# workers: several threads unwind; what is recorded adds up as ever, and does not depend on their number.
. "$(dirname "$0")/lib.sh"
SAME=$BUILD/tests/same_profile

# Threads, late ones, a child of another name; a checkpoint on the way.
ln -s "$SPIN" spin_child
run 0 "$CPPROF" record --workers 3 --checkpoint 0.2 --raw raw.data -o t.data -- \
	"$SPIN" 1.2 threads=3 late=2 child="$HERE/spin_child"
facts t.data
[ "$(grep -c '^thread .* spin$' facts.log)" = 6 ] || fail "not six threads of spin"
fact "^process .* spin_child"
fact "^thread .* spin_child"
fact "checkpoint 0"
live_samples=$(number samples)

# The same samples, unwound again by any number of workers.
for n in 1 2 5; do
	run 0 "$CPPROF" import -q --no-resolve --workers $n -o "i$n.data" raw.data
	facts "i$n.data"
	[ "$(number samples)" = "$live_samples" ] || fail "$(number samples) samples of $live_samples by $n workers"
done
run 0 "$SAME" i1.data i2.data i5.data

# A signal ends the recording, and what was on its way to the workers is in the profile.
start "$CPPROF" record -q --workers 2 --checkpoint 0.1 -o i.data -- "$SPIN" 300 threads=2
await test -s i.data
kill -TERM "$pid"
wait "$pid"
[ $? = 143 ] || fail "the command's end by SIGTERM was not passed on"
facts i.data
fact "checkpoint 0"

# Killed, it leaves its last checkpoint, whole.
start "$SPIN" 300 threads=2
target=$pid
start "$CPPROF" attach -q -p "$target" --workers 2 --checkpoint 0.1 -o k.data
profiler=$pid
await test -s k.data
kill -9 "$profiler"
wait "$profiler" 2>/dev/null
facts k.data
fact "checkpoint 1"
kill -9 "$target"

# Exports while it runs: one interval after another, with what each cost.
"$CPPROF" record -q --workers 2 --stream 0.2 -o s.data -- "$SPIN" 1 threads=2 >stream.ndjson 2>run.log || fail "--stream failed"
facts s.data
[ "$(grep -c '"end"' stream.ndjson)" -ge 1 ] || fail "the stream has no end"
exit 0
