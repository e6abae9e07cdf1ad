#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Valid profiles that cost a reader the square of their size: call paths as long as there are contexts, and strings and contexts
# that all have the same place in a hash table. All are read in seconds; a reader that compares everything with everything else
# takes many minutes.
. "$(dirname "$0")/../e2e/lib.sh"
command -v python3 >/dev/null || skip "no python3"
ulimit -v 4000000

make() { python3 "$SOURCE/tests/attacks/make_profile.py" "$1" "$2" "$1.data" || fail "no profile of $1"; }
bounded() { run 0 timeout -k 5 "$(slow 60)" "$CPPROF" "$@"; }

for kind in strings contexts; do
	make $kind 300000
	bounded check $kind.data
	says "$kind.data: OK"
	bounded report $kind.data
	bounded merge -o $kind.merged $kind.data $kind.data
done

make deep 200000
bounded check deep.data
for view in summary tree callers hot flat loops; do
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
