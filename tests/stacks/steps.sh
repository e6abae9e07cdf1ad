#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Single-steps the kinds of programs of run.py: no stack that is marked complete may be wrong.
# Usage: steps.sh [samples [name...]]
cpprof=${CPPROF:-cpprof} here=$(cd "${SOURCE:-.}/tests/stacks" && pwd) samples=${1:-1000}
[ $# -eq 0 ] || shift
wanted="$*"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
"$cpprof" verify steps -n 1 -i 1 -o "$work/probe" -- true || { echo "skipped: single-stepping is not allowed here"; exit 77; }
failed=0 built=${BUILD:-.}/tests/stacks # programs built on the host for an emulated machine
no_tables="-fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables"

# kind NAME MIN_EXACT INTERVAL build command; the program is $work/NAME, and runs until verify steps ends
kind() {
	name=$1 exact=$2 interval=$3
	shift 3
	case " ${wanted:-$name} " in *" $name "*) ;; *) return ;; esac
	if [ -x "$built/$name" ]; then
		cp "$built/$name" "$work/$name"
	else
		command -v "$1" >/dev/null || { echo "$name: no $1"; return; }
		"$@" -o "$work/$name" >"$work/log" 2>&1 || { echo "$name: cannot be built here"; return; }
	fi
	[ "${strips:-no}" = yes ] && strip -s "$work/$name"
	# As in tests/e2e/steps_programs.sh: under emulation, the longest runs are shortened.
	[ -z "${SLOW-}" ] || [ "$interval" -lt 200 ] || interval=$((interval / SLOW))
	for mode in auto analysis; do
		GODEBUG=asyncpreemptoff=1 GOMAXPROCS=1 WORK_SECONDS=36000 "$cpprof" verify steps -n "$samples" -i "$interval" --skip-loader --unwind $mode \
			--min-exact "$exact" --show 3 -o "$work/report" -- "$work/$name" 10h >/dev/null 2>&1
		code=$?
		judged=$(sed -n 's/^samples *\([0-9]*\).*/\1/p' "$work/report")
		printf '%-18s %-8s %s\n' "$name" $mode "$(sed -n 's/^samples *//p' "$work/report")"
		[ $code -eq 0 ] && [ "$judged" = "$samples" ] || { failed=1; cat "$work/report"; }
	done
}

kind static 99.9 30 cc -DLEAF_TURNS=40 -O2 -static -I"$here" "$here/chain.c"
kind static-pie 99.9 30 cc -DLEAF_TURNS=40 -O2 -static-pie -I"$here" "$here/chain.c"
kind coroutines 99 30 cc -DLEAF_TURNS=40 -O2 -I"$here" "$here/coroutines.c"
kind fibers 99 30 cc -DLEAF_TURNS=40 -O2 -I"$here" "$here/fibers.c" "$here/fiber.S"
kind jit 99 30 cc -DLEAF_TURNS=40 -O2 -I"$here" "$here/jit.c"
kind musl 99.9 30 musl-gcc -DLEAF_TURNS=40 -O2 -I"$here" "$here/chain.c"
# shellcheck disable=SC2086
strips=yes kind no-tables 99.9 30 cc -DLEAF_TURNS=40 -O2 $no_tables -I"$here" "$here/chain.c"
kind rust 99 500 rustc -O "$here/program.rs"
export GOCACHE="$work/cache" GO111MODULE=off
# A goroutine's stack is unknown during a stack switch, and in the few instructions that request a larger one.
go_build() { (cd "$work" && cp "$here/program.go" . && go build "$@" program.go); }
{ [ -x "$built/go" ] || command -v go >/dev/null; } && kind go 96 500 go_build
exit $failed
