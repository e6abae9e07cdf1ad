#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests exports while the target runs: --stream intervals are complete and add up to the profile, --watch leaves a
# complete file, --format writes only the export.
set -u
cd "$(mktemp -d)" || exit 2
trap 'rm -rf "$PWD"' EXIT
example=$BUILD/examples/stencil
passed=0 failed=0

check() { # what, command...
	local what=$1
	shift
	if "$@" >out 2>&1; then passed=$((passed + 1)); else
		failed=$((failed + 1))
		echo "FAILED: $what"
		cat out
	fi
}

"$CPPROF" record -q -o p.data --stream 1 -- "$example" 3 >stream.txt 2>err
status=$?
if [ $status = 3 ] || [ $status = 5 ]; then
	echo "skipped: cannot record here: $(head -1 err)"
	exit 77
fi
grep '^{"t"' stream.txt >stream.ndjson
check "the stream is complete" "$CPPROF" check stream.ndjson
intervals=$(grep -c '"t":"end"' stream.ndjson)
check "there are several intervals ($intervals)" [ "$intervals" -ge 2 ]
"$CPPROF" export p.data -o p.json
sum=$(python3 - <<'PY'
import json
print(sum(json.loads(line)["quality"]["samples"] for line in open("stream.ndjson") if line.startswith('{"t":"quality"')))
PY
)
all=$(python3 -c 'import json; print(json.load(open("p.json"))["quality"]["samples"])')
check "intervals add up: $sum of $all samples" [ "$sum" = "$all" ]
"$example" 300 >/dev/null 2>&1 &
busy=$!
check "the recording ends when the reader closes the pipe" bash -c "timeout -k 5 60 '$CPPROF' attach -q -p $busy -o r.data --stream 0.3 | head -1; exit \${PIPESTATUS[0]}"
check "its profile is complete" "$CPPROF" check r.data
kill -9 $busy
check "watch" "$CPPROF" record -q -o q.data --watch w.json --interval 1 -- "$example" 2
check "the watched file is complete" "$CPPROF" check w.json
check "format" "$CPPROF" record -q --format json -o direct.json -- "$example" 1
check "the direct export is complete" "$CPPROF" check direct.json
check "an unknown format is refused" bash -c "! $CPPROF record --format nonsense -- true"
echo "tally: $passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
