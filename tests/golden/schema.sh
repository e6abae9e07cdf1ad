#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The JSON of every released minor version (tests/golden/schema/VERSION/) still passes `cpprof check`; each file in refused/
# has one error and is refused; and today's export equals the newest version's golden file.
set -u
: "${CPPROF:?}" "${MAKE_PROFILE:?}" "${SOURCE:?}"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
HERE=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_schema.XXXXXX")
trap 'rm -rf "$HERE"' EXIT
cd "$SOURCE/tests/golden/schema" || exit 1
passed=0 failed=0

expect() { # 0|1 FILE
	"$CPPROF" check "$2" >"$HERE/said" 2>&1
	if [ $? = "$1" ]; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAILED: check $2: $(cat "$HERE/said")"
	fi
}

for file in [0-9]*/*json; do expect 0 "$file"; done
for file in refused/*json; do expect 1 "$file"; done
"$MAKE_PROFILE" sample "$HERE/sample.data" || exit 1
newest=$(ls -d [0-9]* | sort -V | tail -1)
for format in json ndjson; do
	"$CPPROF" export "$HERE/sample.data" -f $format >"$HERE/now"
	if cmp -s "$newest/sample.$format" "$HERE/now"; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAILED: the $format export differs from $newest/sample.$format: additions need a new minor version and its own golden file"
	fi
done
echo "tally: $passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
