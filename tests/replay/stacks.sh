#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the output of `inspect stacks` for the recordings of tests/data with their .stacks files; code analysis alone and
# unwind tables alone find the same frames; and the stacks of the single-stepped recording are the true ones. REFRESH=1
# rewrites the .stacks files.
. "$(dirname "$0")/lib.sh"
failed=0

stacks() { "$CPPROF" inspect stacks --unwind "$2" --symfs "$(root_of "$1")" "$data/$1.data"; } # NAME MODE
# One line per sample, addresses only.
frames() { sed 's/.*"pcs":\[\([^]]*\)\],"end":"\([a-z_]*\)".*/\2 \1/; s/[",]\+/ /g; s/0x//g; s/ \+/ /g; s/ $//'; }

complain() { echo "$1"; failed=1; }

for file in "$data"/*.data; do
	name=$(basename "$file" .data)
	if [ -n "${REFRESH-}" ]; then
		stacks "$name" auto >"$data/$name.stacks"
		continue
	fi
	diff -u "$data/$name.stacks" <(stacks "$name" auto) || complain "the stacks of $name.data differ from $name.stacks"
	# Frames in code that is not available are guessed in auto mode only.
	[ "$name" = several ] && continue
	for mode in cfi analysis; do
		diff <(stacks "$name" auto | frames) <(stacks "$name" "$mode" | frames) ||
			complain "$name.data: --unwind $mode finds different frames"
	done
done

diff <(sed 's/^/complete /' "$data/x86_64.truth") <(stacks x86_64 auto | frames) || complain "x86_64.data: not the true stacks"
exit $failed
