#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares unwound stacks with a shadow stack from single-stepping, on programs that are hard to unwind: longjmp, signals
# with and without an alternate stack, coroutines, alloca, exceptions; with and without unwind tables. Needs a compiler.
# Usage: steps.sh [samples]
cpprof=${CPPROF:-cpprof} source=${SOURCE:-.} samples=${1:-1500}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
skip() { echo "skipped: $1"; exit 77; }
cc=$(command -v cc || command -v gcc || command -v clang) || skip "no C compiler"
"$cpprof" verify steps -n 1 -i 1 -o "$work/probe" -- true || skip "single-stepping is not allowed here"

failed=0
# check NAME MIN_EXACT options -- command: at least MIN_EXACT % of the stacks are exact; no wrong stack is reported as complete,
# and no call that continues as a new one. The commands run for as long as samples are needed.
check() {
	name=$1 exact=$2
	shift 2
	"$cpprof" verify steps -n "$samples" --activations --min-exact "$exact" --show 2 -o "$work/report" "$@" >/dev/null
	code=$?
	sed -n "s/^samples/$name: samples/p; s/^calls/$name: calls/p" "$work/report"
	judged=$(sed -n 's/^samples *\([0-9]*\).*/\1/p' "$work/report")
	[ $code -eq 0 ] && [ "$judged" = "$samples" ] && return
	echo "FAILED with $code: $*"
	cat "$work/report"
	failed=1
}

no_tables="-fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables"
for flags in "-O0" "-O2" "-O2 $no_tables" "-O2 -static -s" "-O2 -static -s $no_tables"; do
	# shellcheck disable=SC2086
	$cc $flags -o "$work/jumps" "$source/tests/e2e/steps/jumps.c" || exit 1
	for mode in auto analysis; do
		check "jumps $flags, $mode" 93 -i 20 --skip-loader --unwind $mode -- "$work/jumps" 1000000
	done
done
# In swapcontext the return address is only in the context: stacks sampled there are truncated, but never wrong.
$cc -O2 -o "$work/coroutines" "$source/tests/e2e/steps/coroutines.c" || exit 1
for mode in auto analysis; do
	check "coroutines, $mode" 50 -i 10 --skip-loader --unwind $mode -- "$work/coroutines" 1000000
done
if cxx=$(command -v c++ || command -v g++ || command -v clang++); then
	$cxx -O2 -o "$work/throws" "$source/tests/e2e/steps/throws.cpp" || exit 1
	for mode in auto analysis; do
		check "exceptions, $mode" 99.9 -i 200 --skip-loader --unwind $mode -- "$work/throws" 1000000
	done
	check "exceptions, each instruction" 99.9 -i 1 -s 100000 --skip-loader -- "$work/throws" 1000000
fi
# kept COMMAND: --write writes the samples as a recording; the stacks unwound from it are the true ones.
kept() {
	"$cpprof" verify steps -n 100 -i 300 --skip-loader -o "$work/report" --write "$work/perf.data" --truth "$work/truth" -- "$@" >/dev/null
	"$cpprof" inspect stacks "$work/perf.data" | sed 's/.*"pcs":\[\([^]]*\)\].*/\1/; s/"//g; s/,/ /g' >"$work/unwound"
	[ -s "$work/truth" ] && cmp "$work/truth" "$work/unwound" && return
	echo "FAILED: stacks unwound from the recording of $1 are not the true ones"
	failed=1
}
kept ls -l /
# Also with JIT code, which is stored in the recording.
kept "$source/tests/data/jit/root-$(uname -m)/opt/jit/jit" 8 40
check "ls" 99.9 -i 100 -- ls -lR /usr
exit $failed
