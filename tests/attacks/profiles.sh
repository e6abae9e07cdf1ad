#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Valid profiles that cost a reader the square of their size, or hundreds of times their size: call paths as long as there are
# contexts, hundreds of inlined calls in each frame, strings and contexts that all have the same place in a hash table, thousands of
# loops, lines and parts in one function. All are read in seconds; a reader that compares everything with everything else takes minutes,
# and one that writes everything out does not have the memory.
. "$(dirname "$0")/../e2e/lib.sh"
command -v python3 >/dev/null || skip "no python3"
ulimit -v 1500000

make() { python3 "$SOURCE/tests/attacks/make_profile.py" "$1" "$2" "$1.data" || fail "no profile of $1"; }
seconds=60
bounded() { run 0 timeout -k 5 "$(slow $seconds)" "$CPPROF" "$@"; }

# More than 10 GB and a minute if all scopes are made.
make inlines 30000
for view in summary tree loops; do
	bounded report --view $view inlines.data
	says "^note: inlined calls and loops are nested too deeply in too many call paths"
done
bounded export -f top -o inlines.out inlines.data
says "frames are without all of their inlined calls and loops"
bounded diff inlines.data inlines.data
says "without all of their inlined calls and loops"

for kind in strings contexts; do
	make $kind 80000
	bounded check $kind.data
	says "$kind.data: OK"
	bounded report $kind.data
done
bounded merge -o contexts.merged contexts.data contexts.data

# Billions of steps, each of them not a fast one, or one second.
seconds=20
make last_line 2000
bounded annotate last_line.data app
for kind in loops nested parts; do
	make $kind 100000
	bounded annotate $kind.data app
done
bounded annotate --asm --all loops.data app
bounded report --html nested.html nested.data
seconds=60

make deep 80000
bounded check deep.data
for view in summary tree callers loops; do
	bounded report --view $view deep.data
done
for form in json csv; do
	bounded report --view tree --format $form deep.data
done
bounded report --html deep.html deep.data
bounded export -o deep.json deep.data
bounded diff deep.data deep.data
# Formats that list whole stacks say what they have folded, and are not gigabytes.
for form in folded pprof otlp firefox; do
	bounded export -f $form -o deep.out deep.data
	says "are folded into <other>"
	[ "$(stat -c %s deep.out)" -lt 2000000000 ] || fail "$form has $(stat -c %s deep.out) bytes"
	rm deep.out
done
exit 0
