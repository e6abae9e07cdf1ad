#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Options that perf users are used to, and common mistakes: they work, or a message says what to type instead.
. "$(dirname "$0")/lib.sh"

run 0 "$CPPROF" record -g --call-graph dwarf --freq 499 -o a.data -- "$SPIN" 0.3
says "wrote a.data"
run 0 "$CPPROF" record -g -F 499 -o a.data "$SPIN" 0.3
run 0 "$CPPROF" report -i a.data --stdio
says "burn"
run 0 "$CPPROF" report -g --no-children -n --stdio -i a.data
run 0 "$CPPROF" annotate -i a.data --stdio burn
says "burn"
run 2 "$CPPROF" report -i a.data a.data
run 2 "$CPPROF" record -C 0 -- true
says "CPUs cannot be selected: -a profiles all"
run 2 "$CPPROF" record -a -p 1
says "cannot be used with -p, -t or -n"
run 2 "$CPPROF" record -a --deny nobody
says "'nobody' is not a rule: give user:NAME, command:GLOB or cgroup:PATH"
run 2 "$CPPROF" record --clock cpu --raw raw.data -- true
says "cannot be used with --clock cpu"
# --clock auto chooses a clock that works with the other options.
run 0 "$CPPROF" record -q --clock auto --raw auto.data -o auto -- "$SPIN" 0.3
run 2 "$CPPROF" record --branch-any -- true
says "stacks are always recorded"
run 2 "$CPPROF" report --tui
says "--html OUT.html"

# Shell completion offers the values of options; export --weight samples, --label.
ln -s "$CPPROF" cpprof
cat >complete.sh <<'END'
PATH=$PWD:$PATH
. "$1/docs/completion/cpprof"
COMP_WORDS=($2 '') COMP_CWORD=$(set -- $2; echo $#)
_cpprof
echo "${COMPREPLY[*]}"
END
run 0 bash complete.sh "$SOURCE" "cpprof report --view"
says "^summary tree callers flat hot loops quality waits calls allocations$"
run 0 bash complete.sh "$SOURCE" "cpprof export -f"
says "speedscope folded"
run 0 "$CPPROF" export a.data -f folded --weight samples -o a.txt
[ "$(awk '{ n += $NF } END { print n }' a.txt)" = "$("$FACTS" a.data | awk '$1 == "samples" { print $2 }')" ] || fail "the counts of the folded export are not samples"
run 0 "$CPPROF" export a.data -o a.prom --label service=shop
! grep -v '^#' a.prom | grep -qv 'target=".*pid="[0-9]*",service="shop"}' || fail "a series lacks target, pid or service label"
run 2 "$CPPROF" export a.data -o a.prom --label 1x=y

run 2 "$CPPROF" "$SPIN" 1
says "to run and profile it: cpprof record -- $SPIN"
run 2 "$CPPROF" sleep 1
says "cpprof record -- sleep"
run 2 "$CPPROF" a.data
says "cpprof report a.data"
run 2 "$CPPROF" 4711
says "cpprof attach -p 4711"
run 2 "$CPPROF" -p 4711
says "options come after a command"
run 2 "$CPPROF" top
says "cpprof attach -p PID -d 10"
run 2 "$CPPROF" recrod
says "did you mean 'record'"
for option in -V --version; do
	run 0 "$CPPROF" $option
	says "^cpprof [0-9]"
done
exit 0
