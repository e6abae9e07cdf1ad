#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that renames its threads all the time, and one that starts processes with ever new, long command lines: cpprof
# stores neither without end.
. "$(dirname "$0")/../e2e/lib.sh"
need jq
TITLES=$BUILD/tests/attacks/new_titles

run 0 "$CPPROF" record --no-cache --no-resolve -o names.data -- "$TITLES" names 300000
facts names.data
fact '^process .* last$'
"$CPPROF" export names.data --detail summary -o names.json || fail "no export"
names=$(jq '.strings | length' names.json)
[ "$names" -lt 100000 ] || fail "the profile has $names strings"

# 150 MB in all.
run 0 "$CPPROF" record --no-cache --no-resolve -o lines.data -- "$TITLES" lines 100
"$CPPROF" export lines.data --detail summary -o lines.json || fail "no export"
lines=$(jq '[.strings[] | select(length > 1000)] | length' lines.json)
[ "$lines" -gt 10 ] || skip "only $lines command lines were seen"
bytes=$(jq '[.strings[] | length] | add' lines.json)
[ "$bytes" -lt 20000000 ] || fail "the profile has $bytes bytes of strings"
exit 0
