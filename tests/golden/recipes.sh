#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compares cpprof inspect and verify on the binaries of tests/data/recipes with the goldens in tests/golden/recipes, and
# recovered unwind recipes with hand-written and compilers' unwind rows.
# usage: recipes.sh [--refresh]
set -u
: "${CPPROF:?}" "${SOURCE:?}"
# No leak detection: it can take seconds per process, and the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
DATA=$SOURCE/tests/data/recipes
WANT=$SOURCE/tests/golden/recipes
HERE=$(mktemp -d "${TMPDIR:-/tmp}/cpprof_recipes.XXXXXX")
trap 'rm -rf "$HERE"' EXIT
failed=0

# same NAME ARGUMENTS...: the output of `cpprof ARGUMENTS` is NAME.txt.
same() {
	local name=$1
	shift
	"$CPPROF" "$@" >"$HERE/$name.txt" || { echo "FAILED: exit code $? of $*"; failed=1; }
	[ "$refresh" = yes ] && cp "$HERE/$name.txt" "$WANT/$name.txt"
	diff -u "$WANT/$name.txt" "$HERE/$name.txt" || { echo "FAILED: $* differs from $name.txt"; failed=1; }
}

refresh=no
[ "${1:-}" = --refresh ] && refresh=yes && mkdir -p "$WANT"
cd "$DATA" || exit 1
for machine in x86_64 aarch64; do
	same "rules_$machine.recipes" inspect recipes "rules_$machine"
	same "rules_$machine.cfg" inspect cfg "rules_$machine"
	same "rules_$machine.functions" inspect functions "rules_$machine"
	same "${machine}_stripped.functions" inspect functions "${machine}_gcc_stripped"
	same "${machine}_stripped.recipes" inspect recipes "${machine}_gcc_stripped"
	same "${machine}_stripped.coverage" inspect coverage "${machine}_gcc_stripped"
	same "${machine}_O2.coverage" inspect coverage "${machine}_gcc_O2"
done

# Everything must agree, with function starts and landing pads given, and with the code alone.
for file in rules_x86_64 rules_aarch64 x86_64_* aarch64_*; do
	case $file in
	*no_tables | *stripped) continue ;;
	aarch64_clang*) # clang's tables lag in prologues and epilogues: the golden lists where
		same "$file.verify" verify recipes --limit 100 "$file"
		continue ;;
	esac
	"$CPPROF" verify recipes "$file" >"$HERE/verify.txt" || failed=1
	grep -q '^cfa and ra *100.0000 % ' "$HERE/verify.txt" || { echo "FAILED: $file"; cat "$HERE/verify.txt"; failed=1; }
	grep -q '^instructions *0,' "$HERE/verify.txt" && { echo "FAILED: $file has no unwind rows"; failed=1; }
done
exit $failed
