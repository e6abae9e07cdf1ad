#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# perf can read files written by perf_writer: a copied recording has the same samples and stacks.
# usage: perf_reads_ours.sh REWRITE_RECORDING
. "$(dirname "$0")/lib.sh"
need perf
copy=$HERE
failed=0

# Without event names: the copy has its own.
samples() { perf script -i "$1" --symfs "$data/root-aarch64" -F comm,pid,tid,time,period,ip,sym 2>"$copy/errors"; }

for name in dwarf fp zstd several buildid; do
	"$1" "$data/$name.data" "$copy/$name.data" || { failed=1; continue; }
	samples "$data/$name.data" >"$copy/theirs"
	samples "$copy/$name.data" >"$copy/ours" || { cat "$copy/errors"; failed=1; }
	if ! [ -s "$copy/ours" ] || ! diff -u "$copy/theirs" "$copy/ours" | head -40 | tee /dev/stderr | wc -l | grep -qx 0; then
		echo "perf script shows different samples in the copy of $name.data"
		failed=1
	fi
	perf report -i "$copy/$name.data" --symfs "$data/root-aarch64" --stdio --no-children >"$copy/report" 2>&1 && grep -q '%.*spin' "$copy/report" ||
		{ echo "perf report cannot show the copy of $name.data"; cat "$copy/report"; failed=1; }
done
perf report -i "$copy/several.data" --header-only | grep -E "cmdline : rewrite_recording|event : name = second" | wc -l |
	grep -qx 2 || { echo "perf does not show the fields of the header"; failed=1; }
exit $failed
