#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Our JSON reader and cJSON read the same values from small exports. usage: json_agrees.sh PROGRAM
. "$(dirname "$0")/../support/claims.sh"
: "${MAKE_PROFILE:?}"
agrees=$1

for kind in sample random deep hostile none one kernel threads; do
	"$MAKE_PROFILE" "$kind" "$kind.data" || fail "cannot make a profile: $kind"
	for format in json rows top speedscope firefox; do
		"$CPPROF" export -f "$format" -o "$kind.$format" "$kind.data" >export.log 2>&1 || fail "cannot export $kind as $format"
		"$agrees" "$kind.$format" >>agrees.log || fail "$kind as $format"
	done
	for option in --wide --no-wide; do
		"$CPPROF" export -f ndjson $option -o "$kind.ndjson" "$kind.data" >export.log 2>&1 || fail "cannot export $kind as ndjson"
		"$agrees" -l "$kind.ndjson" >>agrees.log || fail "$kind as ndjson $option"
	done
done
"$CPPROF" schema >schema.json
"$agrees" schema.json >>agrees.log || fail "the schema"

# Hand-written JSON: escapes of every kind, numbers at the limits.
cat >edges.json <<'END'
{ "a\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00": [0, -0, 1e3, -1.5E-7, 9007199254740991, 9007199254740993, 18446744073709551615, 1e308],
  "": { "x": [[], {}, [null, true, false]] } }
END
"$agrees" edges.json >>agrees.log || fail "edges"

# The comparison itself detects differences.
sed 's/1e3/1001/' edges.json >changed.json
"$agrees" edges.json changed.json >>agrees.log && fail "a changed number is not detected"
sed 's/true/false/' edges.json >changed.json
"$agrees" edges.json changed.json >>agrees.log && fail "a changed word is not detected"
sed 's/u20ac/u20ad/' edges.json >changed.json
"$agrees" edges.json changed.json >>agrees.log && fail "a changed letter is not detected"
sed 's/\[\], //' edges.json >changed.json
"$agrees" edges.json changed.json >>agrees.log && fail "a missing value is not detected"
grep -c 'the same$' agrees.log
awk '/the same$/ { n += $4 } END { print n " values" }' agrees.log
exit 0
