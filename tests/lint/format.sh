#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# C code is formatted by .clang-format, no function is longer than 60 lines and no file longer than 500, and every unit test is
# compiled. Programs whose line
# numbers matter (tests/structure, tests/e2e and others) keep their layout. Versions of clang-format differ, so only the one
# named here is used. usage: format.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
version=14
status=0

mapfile -t files < <(find base binary collector recipes unwinder symbolize structure profile report recording verify cmd \
	tests/unit tests/fuzz tests/support tests/replay tests/golden -name '*.[ch]' -not -name '*.skel.h'; ls tests/*.[ch])

for file in "${files[@]}"; do
	lines=$(wc -l <"$file")
	[ "$lines" -le 500 ] || { echo "$file has $lines lines; 500 is the limit"; status=1; }
done
# A function starts at a line that is only '{' and ends at one that is only '}', or '};' for a table.
awk 'FNR == 1 { start = 0 } /^{$/ { start = FNR } /^}/ { if (start && FNR - start > 60) { printf "%s:%d: a function of %d lines; 60 is the limit\n", FILENAME, start, FNR - start; bad = 1 } start = 0 } END { exit bad }' \
	"${files[@]}" || status=1

for file in tests/unit/*/*.c; do
	grep -q "\b${file##*/}$\|/${file##*/}\b" tests/CMakeLists.txt || { echo "$file is not in tests/CMakeLists.txt"; status=1; }
done

if ! clang-format --version 2>/dev/null | grep -q "version $version\."; then
	echo "skipped: clang-format $version is not installed; lengths were checked"
	[ $status = 0 ] && exit 77
	exit $status
fi
unformatted=$(clang-format --dry-run "${files[@]}" 2>&1 | sed -n 's/^\([^:]*\):[0-9]*:.*/\1/p' | sort -u)
for file in $unformatted; do
	echo "$file: not formatted; run: clang-format -i $file"
	status=1
done
exit $status
