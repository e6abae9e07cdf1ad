#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java: a raw recording is imported to the same stacks, whoever walks them.
. "$(dirname "$0")/lib.sh"
command -v javac >/dev/null && command -v java >/dev/null || skip "no Java compiler"
javac -d . "$SOURCE/tests/bench/src/Bench.java" 2>javac.log || fail "cannot compile Bench.java"

ends_of() { "$CPPROF" report "$1" --view quality --format json | tr -d ' \n' | grep -o '"by_end":{[^}]*}'; }
complete_of() { ends_of "$1" | grep -o '"complete":[0-9]*' | cut -d: -f2; }

run 0 "$CPPROF" record -o j.data --no-resolve --raw j.raw -- java -cp . Bench 30
run 0 "$CPPROF" import -o i.data --no-resolve j.raw
[ "$(ends_of j.data)" = "$(ends_of i.data)" ] || fail "stacks end otherwise when they are imported: $(ends_of j.data), $(ends_of i.data)"

# With several workers each reads code for itself, at another moment than the others: nearly the same.
run 0 "$CPPROF" record -o j.data --no-resolve --workers 2 --raw j.raw -- java -cp . Bench 30
run 0 "$CPPROF" import -o i.data --no-resolve j.raw
facts j.data
before=$(complete_of j.data) after=$(complete_of i.data)
difference=$((before > after ? before - after : after - before))
[ $((difference * 200)) -le "$(number samples)" ] || fail "with 2 workers $before stacks are complete, $after when they are imported"
exit 0
