#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests Figure 1 of the 2009 paper (Tallent et al.) on a recording: p > q > the loop > inlined r > s, in this order, on one path.
. "$(dirname "$0")/../e2e/lib.sh"

for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	$compiler -O2 -g -o figure1 "$SOURCE/tests/structure/figure1.c" || fail "$compiler"
	code=0
	"$CPPROF" record -q -o figure1.data -- ./figure1 0.4 >run.log 2>&1 || code=$?
	[ $code = 3 ] && skip "profiling is not permitted here"
	[ $code = 0 ] || fail "record: exit code $code"
	line=$(grep -n 'the loop \*/' "$SOURCE/tests/structure/figure1.c" | cut -d: -f1)
	run 0 "$CPPROF" report --view tree --no-pager figure1.data
	# The first six rows from p on, without their numbers.
	sed -n '/[% 0-9] p\( \[.*\)\?$/,$p' run.log | head -6 | sed 's/^[ 0-9.%|`+-]*//; s/ \[.*//; s/  .*//' >path.log
	printf '%s\n' "p" "loop at figure1.c:$((line + 8))" "q" "loop at figure1.c:$line" "r (inlined)" "s" | diff - path.log >diff.log ||
		fail "$compiler: the path is not that of Figure 1(b): $(cat diff.log)"
	run 0 "$CPPROF" report --view tree --no-pager --no-loops figure1.data
	! grep -q 'loop at' run.log || fail "--no-loops shows loops"
	run 0 "$CPPROF" report --view tree --no-pager --lines figure1.data
	grep -Eq '[- ] figure1\.c:[0-9]+$' run.log || fail "--lines shows no lines"
	run 0 "$CPPROF" report --view tree --no-pager --no-inlines figure1.data
	! grep -q '(inlined)' run.log || fail "--no-inlines shows inlined calls"
	run 0 "$CPPROF" report --view flat --group-by loop --no-pager figure1.data
	says "figure1.c:16"
	run 0 "$CPPROF" report --view flat --group-by loop --format json --no-pager figure1.data
	says '"function":"q","end_line":'
	says '"nesting":1,"vector":false'
	ran=1
done
[ "${ran:-}" ] || skip "no compiler"

# Without symbols, unwind tables and lines the loops are still found, by address, one inside the other.
cc -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -o bare "$SOURCE/tests/structure/figure1.c" || fail "cannot compile"
strip -s bare
run 0 "$CPPROF" record -q -o bare.data -- ./bare 0.4
run 0 "$CPPROF" report --view tree --no-pager bare.data
[ "$(grep -c 'loop at bare+0x' run.log)" -ge 2 ] || { cp run.log tree.log; fail "a stripped program has no loops"; }
