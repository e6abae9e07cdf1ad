#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that hardly ever repeats a call path: the tree stays within --max-memory, its totals are exact, the report says
# how much was folded, and hot functions are still found.
. "$(dirname "$0")/../e2e/lib.sh"
need_perf
PATHS=$BUILD/tests/attacks/new_paths

contexts() { "$CPPROF" check "$1" | sed 's/.*OK: \([0-9]*\) contexts.*/\1/'; }

# Enough for far more than 1 MB of contexts: some 8,000 paths of up to 80 frames.
run 0 "$CPPROF" record -F 20000 -o all.data -- "$PATHS" 40 0.4
run 0 "$CPPROF" record -F 20000 --max-memory 1m -o some.data -- "$PATHS" 40 0.4
says "in contexts folded to save memory"
all=$(contexts all.data) some=$(contexts some.data)
[ "$all" -gt 40000 ] || skip "only $all contexts: too few samples"
# With its values and its place in the hash table, a context takes more than 42 bytes.
most=25000
[ "$some" -lt $most ] || fail "$some contexts in 1 MB"

# Totals are exact (check compares the tree with the counters), also with several workers, and the export says what was folded.
"$CPPROF" check some.data >/dev/null || fail "the profile does not add up"
"$CPPROF" export some.data -o some.json || fail "no export"
"$CPPROF" check some.json >/dev/null || fail "the export does not add up"
jq -e '.quality | .folded_contexts > 10000 and .folded_samples > 100 and .folded_samples < .samples' some.json >/dev/null ||
	fail "the export does not say how much was folded"
run 0 "$CPPROF" record -F 20000 --max-memory 1m --workers 2 -o two.data -- "$PATHS" 40 0.4
"$CPPROF" check two.data >/dev/null || fail "the profile of two workers does not add up"
[ "$(contexts two.data)" -lt $most ] || fail "$(contexts two.data) contexts in 1 MB of two workers"

# A hot function is found, with about the same share as in the full tree, and folded contexts have a row of their own.
share() { "$CPPROF" report "$1" --view flat --format json | jq '[.rows[] | select(.name == "steady") | .self_percent] | add'; }
awk -v a="$(share all.data)" -v b="$(share some.data)" 'BEGIN { exit !(a > 5 && b > a / 2 && b < 2 * a) }' ||
	fail "steady has $(share all.data) % in the full tree and $(share some.data) % in the folded one"
"$CPPROF" report some.data --view flat >flat.txt && grep -q '<other>' flat.txt || fail "the report does not show what was folded"

# Every export format works.
for form in html svg pb.gz folded speedscope.json callgrind; do
	"$CPPROF" export some.data -o "some.$form" 2>err.log || fail "cannot export $form"
done
"$CPPROF" export some.data --max-nodes 100 -o few.json 2>err.log && "$CPPROF" check few.json >/dev/null || fail "cannot fold it further"

# Importing a raw recording respects the same limit, and the intervals of a stream add up to the total.
run 0 "$CPPROF" record -F 20000 --raw raw.data -o /dev/null -- "$PATHS" 40 0.4
run 0 "$CPPROF" import --max-memory 1m -o imported.data raw.data
says "in contexts folded to save memory"
[ "$(contexts imported.data)" -lt $most ] || fail "$(contexts imported.data) contexts in 1 MB after an import"
"$CPPROF" record -q -F 20000 --max-memory 1m --stream 0.1 -o streamed.data -- "$PATHS" 40 0.4 >stream.ndjson || fail "no stream"
told=$(jq -s '[.[] | select(.t == "node_values") | .exclusive["0"][]] | add' stream.ndjson)
facts streamed.data
[ "$told" = "$(number samples)" ] || fail "the intervals have $told samples, the profile $(number samples)"
exit 0
