#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests FORMAT.md: a reader written from it finds what cpprof wrote, and rejects a damaged file.
set -u
: "${CPPROF:?}" "${MAKE_PROFILE:?}" "${SOURCE:?}"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
HERE=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_format.XXXXXX")
trap 'rm -rf "$HERE"' EXIT
cd "$HERE" || exit 1

"$MAKE_PROFILE" sample sample.data || exit 1
python3 "$SOURCE/tests/golden/format.py" "$CPPROF" sample.data || exit $?
size=$(stat -c %s sample.data)
printf '\377' | dd of=sample.data bs=1 seek=$((size - 1)) conv=notrunc status=none
if python3 "$SOURCE/tests/golden/format.py" "$CPPROF" sample.data 2>/dev/null; then
	echo "FAILED: a damaged file was accepted"
	exit 1
fi
