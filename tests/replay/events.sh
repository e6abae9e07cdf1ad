#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares the output of `inspect events` for the recordings of tests/data with their .events files. REFRESH=1 rewrites
# those files.
. "$(dirname "$0")/lib.sh"
failed=0

# The vdso is left out: it can only be read on the recorded kernel.
events() { "$CPPROF" inspect events --symfs "$(root_of "$1")" "$data/$1.data" | grep -v '\[vdso\]$'; }

for file in "$data"/*.data; do
	name=$(basename "$file" .data)
	if [ -n "${REFRESH-}" ]; then
		events "$name" >"$data/$name.events"
	elif ! diff -u "$data/$name.events" <(events "$name"); then
		echo "$name.data differs from $name.events"
		failed=1
	fi
done

# The same through a pipe, as in `perf record -o - | cpprof ...`.
if ! cmp <(events stream) <("$CPPROF" inspect events --symfs "$data/root-aarch64" - \
	< <(cat "$data/stream.data") | grep -v '\[vdso\]$'); then
	echo "stream.data gives different events through a pipe"
	failed=1
fi
exit $failed
