#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names and loops in the store make resolving a profile faster, but do not change a byte of the result.
. "$(dirname "$0")/lib.sh"
need gcc
need_perf
rm -rf cache/cpprof # that recording may have stored something

cat >work.c <<'C'
static inline unsigned mix(unsigned x)
{
	for (int i = 0; i < 3; i++)
		x ^= x << 13 ^ x >> (7 + i);
	return x;
}
__attribute__((noinline)) unsigned plain(unsigned x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		x = x * 31 + i;
	return x;
}
__attribute__((noinline)) unsigned mixed(unsigned x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		x = mix(x + i);
	return x;
}
C
cat >main.c <<'C'
#include <string.h>
#include <time.h>
unsigned plain(unsigned x, unsigned n), mixed(unsigned x, unsigned n);
int main(int argc, char **argv)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	unsigned x = (unsigned)argc;
	while (clock() < end)
		x = strcmp(argv[1], "plain") ? mixed(x, 100000) : plain(x, 100000);
	return x == 42;
}
C
gcc -O2 -g -o program main.c work.c || fail "cannot compile"
for which in plain mixed; do
	"$CPPROF" record -q --no-resolve --no-cache -o $which.raw -- ./program $which || fail "record"
done

# resolved FROM TO OPTIONS...
resolved() {
	cp "$1" "$2"
	"$CPPROF" resolve -q "${@:3}" "$2" >run.log 2>&1 || fail "resolve $*"
}
same() {
	cmp -s "$1" "$2" || fail "$3"
}

resolved mixed.raw alone.data --no-cache
"$CPPROF" report alone.data --no-pager --view tree >report.log || fail "report"
grep -q "loop at work.c" report.log || fail "no loop was found"
[ -z "$(find cache -type f)" ] || fail "--no-cache writes to the store"
resolved mixed.raw one.data --no-cache --threads 1
same alone.data one.data "a different number of threads"
for turn in cold warm damaged; do
	resolved mixed.raw $turn.data
	same alone.data $turn.data "a $turn store"
	ls cache/cpprof/maps-* cache/cpprof/sampled-* >/dev/null || fail "nothing was stored"
	for entry in cache/cpprof/*; do
		[ $turn = warm ] && printf '\1\2\3\4' | dd of="$entry" bs=1 seek=200 conv=notrunc 2>/dev/null
	done
done

# A store filled by another profile of the program does not change the report.
shown() {
	"$CPPROF" report "$1" --no-pager --view tree >"$2" || fail "report $1"
}
shown alone.data alone.txt
rm -rf cache/cpprof
resolved plain.raw plain.data
resolved mixed.raw after.data
shown after.data after.txt
same alone.txt after.txt "a store filled by another profile"
resolved plain.raw again.data
shown plain.data plain.txt
shown again.data again.txt
same plain.txt again.txt "a store with more addresses"
exit 0
