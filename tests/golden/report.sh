#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests cpprof report and check: output against the goldens of tests/golden/report, messages and exit codes.
set -u
: "${CPPROF:?}" "${MAKE_PROFILE:?}" "${SOURCE:?}"
# No leak detection: it can take seconds per process, and the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
HERE=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_golden.XXXXXX")
trap 'rm -rf "$HERE"' EXIT
cd "$HERE" || exit 1
failed=0

fail() {
	echo "FAILED: $*"
	failed=1
}

# same NAME OPTIONS...: the report is tests/golden/report/NAME.txt.
same() {
	local name=$1
	shift
	"$CPPROF" report --percent-limit 0 "$@" >"$name.txt" || fail "exit code $? of report $*"
	diff -u "$SOURCE/tests/golden/report/$name.txt" "$name.txt" || fail "report $* differs from $name.txt"
}

# ends CODE TEXT COMMAND...: the command exits with CODE and prints TEXT.
ends() {
	local want=$1 text=$2 code=0
	shift 2
	"$@" >run.log 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "exit code $code, not $want, of: $*"
	grep -qF -- "$text" run.log || { fail "no '$text' in the output of: $*"; cat run.log; }
}

make() {
	"$MAKE_PROFILE" "$@" || exit 1
}

ends 1 "try: cpprof record" "$CPPROF" report
ends 1 "to record it: cpprof record -o none.data" "$CPPROF" report none.data
ends 1 "to record one: sudo cpprof daemon --database none" "$CPPROF" report --database none --since 3h
"$CPPROF" attach --help | grep -q -e '--repeat' && fail "attach --help lists options that need a command"
make sample cpprof.data
same summary
same tree --view tree
same tree --view=tree cpprof.data
same tree --view tree - <cpprof.data
same tree-parent --view tree --percent-base parent
same callers --view callers
same flat --view flat --percent-limit 6
same flat --group-by function --percent-limit 6
same flat-module --view flat --group-by module --sort total
same flat-line --view flat --group-by line
same hot --view hot
same quality --view quality
same thread --view tree --thread 4711

ends 0 "mul" "$CPPROF" report --view flat --metric samples
ends 0 "25 of 100 samples" "$CPPROF" report --focus '^sin$'
ends 0 "25 of 100 samples" "$CPPROF" report --module libm.so.6
ends 0 "Shown: samples in" "$CPPROF" report --module libm.so.6
ends 2 "there are no samples in 'libx.so': " "$CPPROF" report --module libx.so
ends 0 "90 of 100 samples" "$CPPROF" report --process 4711
ends 0 "90 of 100 samples" "$CPPROF" report --process solve
ends 2 "no process 'nobody'; --group-by process lists them all" "$CPPROF" report --process nobody
ends 0 "samples outside the kernel" "$CPPROF" report --user-only
ends 5 "no samples match: samples in the kernel, stacks through" "$CPPROF" report --kernel-only --focus '^sin$'
"$CPPROF" report --view callers --focus '^sin$' --percent-limit 0 -f csv | tail -n +2 >callers.csv
[ "$(cut -d, -f2 callers.csv | grep -c '^$')" = 1 ] || { fail "callers of other functions are shown"; cat callers.csv; }
grep -q '^0,.*sin' callers.csv || fail "the callers of a function are not below it"
ends 0 "without 'solve'" "$CPPROF" report --hide solve
ends 2 "cannot search for" "$CPPROF" report --focus '('
ends 0 "  70.0%      70      4712  worker  of solve (4711)" "$CPPROF" report --view flat --group-by thread
ends 0 "  90.0%      90      4711  solve  ./solve" "$CPPROF" report --view flat --group-by process
ends 0 "OK: 11 contexts" "$CPPROF" check cpprof.data
# --limit counts rows that are shown, in every view and format. Rows of text and markdown begin with a percentage.
for n in 1 3; do
	for view in tree callers flat hot "flat --group-by module" "flat --group-by thread" "flat --sort total"; do
		for format in text md json csv; do
			# shellcheck disable=SC2086
			"$CPPROF" report --view $view --limit $n --percent-limit 0 -f $format >rows.log
			case $format in
			text) rows=$(grep -cE '^ +[0-9.]+% ' rows.log) ;;
			md) rows=$(grep -cE '^(\| | +)[0-9.]+% ' rows.log) ;;
			json) rows=$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["rows"]))' <rows.log) ;;
			csv) rows=$(($(wc -l <rows.log) - 1)) ;;
			esac
			case "$n $view" in
			"3 flat --group-by module") [ "$rows" -le 3 ] ;; *) [ "$rows" = $n ] ;;
			esac || fail "--limit $n --view $view -f $format shows $rows rows"
		done
	done
	"$CPPROF" report --limit $n | sed -n '/^hottest/,/^hot path/p' >rows.log
	[ "$(grep -cE '^ +[0-9.]+% ' rows.log)" = $n ] || fail "--limit $n is not obeyed in the summary"
done
"$CPPROF" merge -o two.data cpprof.data cpprof.data 2>/dev/null
"$CPPROF" merge -o three.data two.data cpprof.data 2>/dev/null
ends 0 "(3 runs, " "$CPPROF" report three.data
ends 0 "s in all)" "$CPPROF" report three.data
ends 6 "83.3% of the stacks are complete; --min-quality requires 90" "$CPPROF" report --min-quality 90
ends 0 "quality:" "$CPPROF" report --min-quality 83
ends 2 "no metric 'cycles'" "$CPPROF" report --metric cycles
ends 2 "no thread 'nobody'" "$CPPROF" report --thread nobody
ends 2 "give only one profile" "$CPPROF" report cpprof.data cpprof.data
ends 2 "give a file to check" "$CPPROF" check

ends 0 "| 30.0% | 30.0% | \`mul\` | \`solve\` |" "$CPPROF" report --format md
ends 0 "function,mul,solve,/src/vec.h,1,30090270,30.0000,30" "$CPPROF" report --view flat --format csv
ends 0 '"schema":"cpprof-report"' "$CPPROF" report --view tree --format json
ends 0 "by_end.complete,85" "$CPPROF" report --view quality --format csv
ends 0 '"ended_in":[{"module":null,"samples":10},{"module":"libm.so.6","samples":5}]' "$CPPROF" report --view quality --format json
same columns --view tree --columns total_percent,total_ci95,self,module,self_percent:samples
ends 0 "30.0000,21.89-39.58,solve,mul,1" "$CPPROF" report --view flat --columns self_percent,self_ci95,module,name,line --format csv
ends 0 '| 30.0% | 21.9-39.6% | `mul` |' "$CPPROF" report --view flat --columns self_percent,self_ci95,name --format md
ends 0 '{"self_percent":30,"total:samples":30,"name":"mul"}' "$CPPROF" report --view flat --columns self_percent,total:samples,name --format json
ends 2 "there is no column 'nope': the columns are row, parent" "$CPPROF" report --columns self,nope
ends 2 "no metric 'cycles'" "$CPPROF" report --columns self:cycles
ends 2 "--columns and --derive do not apply to this view" "$CPPROF" report --view quality --columns self
make empty empty.data
ends 5 '"rows":[]' "$CPPROF" report --view flat --format json empty.data
ends 5 "has no samples" "$CPPROF" report empty.data
make random random.data
ends 0 "OK: 500 contexts" "$CPPROF" check random.data
ends 0 "to add symbols, lines and loops: cpprof resolve FILE" "$CPPROF" report random.data

ends 0 "200 samples" "$CPPROF" merge -o both.data cpprof.data cpprof.data
ends 0 "OK: 11 contexts" "$CPPROF" check both.data
ends 2 "with -o FILE" "$CPPROF" merge cpprof.data
ends 1 "cannot open" "$CPPROF" merge -o both.data cpprof.data missing.data

# The levels of a recursion are one row; for other programs, each is a row.
make recursion recursion.data
ends 0 ' 100.0%      15                  work (recursion, 101 levels of these 2 rows) [edge]' "$CPPROF" report --view tree recursion.data
ends 0 ' 100.0%      15   33.3%       5  work (recursion, 101 levels) [edge]' "$CPPROF" report --view hot --no-loops recursion.data
ends 0 'work (recursion, 101 levels)' "$CPPROF" report --view tree --no-loops --max-depth 1 recursion.data
ends 0 'The hot path is work > step' "$CPPROF" report recursion.data
for all in "--no-fold-recursion" "--format csv"; do
	# shellcheck disable=SC2086 # two words
	[ "$("$CPPROF" report --view tree $all recursion.data | grep -cw work)" -ge 101 ] || fail "not every level is a row with $all"
done

# All events side by side, with the interval of the first; loops in the margin; inlined code at its call.
make hostile hostile.data
ends 0 '   code     +-   calls mi;"??"ss  line' "$CPPROF" annotate hostile.data constructor
ends 0 '   3.5%    2.5              3.5%    13 |      <- inlined hasOwnProperty 3.5%' "$CPPROF" annotate hostile.data constructor
ends 0 '   3.5%    2.5            13 |      <- inlined hasOwnProperty 3.5%' "$CPPROF" annotate --metric cpu-clock hostile.data constructor
ends 2 "has no metric 'cycles'" "$CPPROF" annotate --metric cycles hostile.data constructor
ends 1 '        constructor, ' "$CPPROF" annotate hostile.data constructr
ends 0 'hasOwnProperty' "$CPPROF" annotate --asm --inlined hostile.data hasOwnProperty
ends 0 'all inlined copies' "$CPPROF" annotate --inlined hostile.data constructor

# What --max-nodes folds is reported by export, and noted in every format that can hold a note.
for format in json ndjson rows top pprof speedscope folded firefox callgrind llvm-sample openmetrics svg html; do
	"$CPPROF" export cpprof.data -f $format --max-nodes 6 >folded.out 2>folded.err || fail "export -f $format --max-nodes 6"
	grep -q "contexts, [0-9.]*% of cpu-clock, are folded into <other>; to keep more: cpprof export -f $format" folded.err ||
		fail "$format: $(cat folded.err)"
	case $format in
	folded | html) continue ;; # folded has no notes; html is compressed: tests/html checks it
	top) said='"folded":[1-9]' ;;
	openmetrics) said='^cpprof_folded_contexts{.*} [1-9]' ;;
	svg) said='are folded into &lt;other&gt;' ;;
	*) said='contexts, [0-9.]*% of cpu-clock, are folded into <other>' ;;
	esac
	zcat -f folded.out | grep -aq "$said" || fail "$format does not say that something was folded"
done

# Symbolic links are followed: the file they name is replaced or created.
mkdir -p there && ln -s there/export.json link.json && ln -s link.json again.json && ln -s there/both.data link.data
"$CPPROF" export cpprof.data -o link.json && "$CPPROF" export cpprof.data -o again.json || fail "export through a link"
ends 0 "200 samples" "$CPPROF" merge -o link.data cpprof.data cpprof.data
ends 0 ": OK: " "$CPPROF" check there/export.json there/both.data
[ -L link.json ] && [ -L again.json ] && [ -L link.data ] || fail "a link was replaced"
"$CPPROF" export cpprof.data -f folded -o /dev/stdout >through.txt
[ -s through.txt ] && [ -e /dev/stdout ] || fail "output to /dev/stdout is not written to it"
ends 2 "--symfs '/nonexistent' is not a directory" "$CPPROF" import --symfs /nonexistent cpprof.data

# On a terminal that is too small a pager is run; if that fails, the report is printed without it.
if command -v script >/dev/null && command -v stty >/dev/null; then
	screen() { PAGER=$1 script -qec "stty rows 5 cols 80; '$CPPROF' report cpprof.data" /dev/null </dev/null 2>&1; }
	screen 'sed s/^/paged:/' | grep -q 'paged:quality' || fail "no pager was run"
	screen /nonexistent/pager | grep -q '^quality' || fail "nothing is shown if the pager cannot be run"
fi

head -c 600 cpprof.data >cut.data
ends 1 "'cut.data' is corrupt" "$CPPROF" report cut.data
ends 1 "at offset" "$CPPROF" check cut.data
echo hello >text.data
ends 1 "'text.data' is not a cpprof profile" "$CPPROF" report text.data
exit $failed
