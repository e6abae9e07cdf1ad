#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# inspect events prints the recordings of tests/data as their .events files say. With REFRESH=1 it
# writes those files anew.
. "$(dirname "$0")/lib.sh"
failed=0

# The vdso of a recording can only be had where the kernel is the same: not part of the claim.
events() { "$CPPROF" inspect events --symfs "$(root_of "$1")" "$data/$1.data" | grep -v '\[vdso\]$'; }

for file in "$data"/*.data; do
	name=$(basename "$file" .data)
	if [ -n "${REFRESH-}" ]; then
		events "$name" >"$data/$name.events"
	elif ! diff -u "$data/$name.events" <(events "$name"); then
		echo "$name.data reads otherwise"
		failed=1
	fi
done

# The same through a pipe, as `perf record -o - | cpprof ...` would be.
if ! cmp <(events stream) <("$CPPROF" inspect events --symfs "$data/root-aarch64" - \
	< <(cat "$data/stream.data") | grep -v '\[vdso\]$'); then
	echo "stream.data reads otherwise through a pipe"
	failed=1
fi
exit $failed
