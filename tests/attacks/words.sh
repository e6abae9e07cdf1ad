#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# File names may contain terminal escape sequences; neither cpprof's messages nor its exports pass them on.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc

name=$'\e]0;owned\a\e[2J\xc2\x9b2Jx'
echo 'volatile double x; int main(void) { for (int i = 0; i < 30000000; i++) x = x * 1.0001 + 1; }' >a.c
gcc -O1 -Wl,--build-id=sha1 a.c -o "$name" || skip "gcc cannot link"

# The only escape sequence in messages is cpprof's own "clear line".
silent() {
	! sed 's/\x1b\[K//g' run.log | LC_ALL=C grep -qP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]' ||
		fail "an escape sequence in the output of: $*"
}
run 0 "$CPPROF" record -v -v --no-cache -o p.data --raw raw.data -- "./$name"
says "debug information of"
silent record -v
for format in json ndjson rows top speedscope folded firefox callgrind openmetrics svg html; do
	run 0 "$CPPROF" export -f "$format" p.data
	silent export -f "$format"
done
rm "$name"
run 0 "$CPPROF" import -v -o q.data raw.data
silent import
run 0 "$CPPROF" resolve -v q.data
silent resolve
exit 0
