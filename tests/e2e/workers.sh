#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# workers: unwinding by several threads. The sums agree, and the profile does not depend on the number of workers.
. "$(dirname "$0")/lib.sh"
SAME=$BUILD/tests/same_profile

# Threads, threads created later, a child with another name; with checkpoints.
ln -s "$SPIN" spin_child
run 0 "$CPPROF" record --workers 3 --checkpoint 0.2 --raw raw.data -o t.data -- \
	"$SPIN" 1.2 threads=3 late=2 child="$HERE/spin_child"
facts t.data
[ "$(grep -c '^thread .* spin$' facts.log)" = 6 ] || fail "not exactly six threads of spin"
fact "^process .* spin_child"
fact "^thread .* spin_child"
fact "checkpoint 0"
live_samples=$(number samples)

# The same samples, unwound again by different numbers of workers.
for n in 1 2 5; do
	run 0 "$CPPROF" import -q --no-resolve --workers $n -o "i$n.data" raw.data
	facts "i$n.data"
	[ "$(number samples)" = "$live_samples" ] || fail "$(number samples) samples of $live_samples by $n workers"
done
run 0 "$SAME" i1.data i2.data i5.data

# A signal ends the recording; samples still queued for the workers are in the profile.
start "$CPPROF" record -q --workers 2 --checkpoint 0.1 -o i.data -- "$SPIN" 300 threads=2
await test -s i.data
kill -TERM "$pid"
wait "$pid"
[ $? = 143 ] || fail "the exit code is not that of a command killed by SIGTERM"
facts i.data
fact "checkpoint 0"

# SIGKILL: the last checkpoint is complete.
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

# --stream: intervals are exported during the recording.
"$CPPROF" record -q --workers 2 --stream 0.2 -o s.data -- "$SPIN" 1 threads=2 >stream.ndjson 2>run.log || fail "--stream failed"
facts s.data
[ "$(grep -c '"end"' stream.ndjson)" -ge 1 ] || fail "the stream has no end record"
! grep -q "timer was late\|before their first sample" stream.ndjson || fail "the samples of an interval are compared with what was counted in the whole run"
exit 0
