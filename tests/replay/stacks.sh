#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# inspect stacks unwinds the recordings of tests/data as their .stacks files say; both witnesses, each alone,
# find the same frames; and those of the stepped recording are what really happened. With REFRESH=1 it writes
# the .stacks files anew.
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
	diff -u "$data/$name.stacks" <(stacks "$name" auto) || complain "$name.data unwinds otherwise"
	# Code we do not have is guessed at in auto mode only.
	[ "$name" = several ] && continue
	for mode in cfi analysis; do
		diff <(stacks "$name" auto | frames) <(stacks "$name" "$mode" | frames) ||
			complain "$name.data: $mode alone finds other frames"
	done
done

diff <(sed 's/^/complete /' "$data/x86_64.truth") <(stacks x86_64 auto | frames) || complain "x86_64.data: not what the program did"
exit $failed
