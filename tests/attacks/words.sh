#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of files may hold what a terminal obeys; what is said of them on the way does not.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc

name=$'\e]0;owned\a\e[2Jx'
echo 'volatile double x; int main(void) { for (int i = 0; i < 30000000; i++) x = x * 1.0001 + 1; }' >a.c
gcc -O1 -Wl,--build-id=sha1 a.c -o "$name" || skip "gcc cannot link"

# A sequence of ours clears a line; nothing else begins with ESC.
silent() {
	! sed 's/\x1b\[K//g' run.log | grep -q $'[\e\a]' || fail "an escape sequence is passed on by: $*"
}
run 0 "$CPPROF" record -v -v --no-cache -o p.data --raw raw.data -- "./$name"
says "debug information of"
silent record -v
rm "$name"
run 0 "$CPPROF" import -v -o q.data raw.data
silent import
run 0 "$CPPROF" resolve -v q.data
silent resolve
exit 0
