#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A profile gives byte-identical reports where none of its programs, libraries and debug files exist.
. "$(dirname "$0")/lib.sh"
need gcc unshare mount
unshare -m true 2>/dev/null || skip "mount namespaces are not available"
need_perf

mkdir -p built/lib src
cat >src/work.c <<'C'
static inline unsigned mix(unsigned x)
{
	x ^= x << 13;
	x ^= x >> 17;
	return x ^ x << 5;
}
unsigned work(unsigned x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		x = mix(x + i);
	return x;
}
C
cat >src/main.c <<'C'
#include <time.h>
unsigned work(unsigned x, unsigned n);
int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;
	unsigned x = 1;
	while (clock() < end)
		for (int i = 0; i < 100; i++)
			x = work(x, 10000);
	return x == 42;
}
C
gcc -O2 -g -fPIC -shared -o built/lib/libwork.so "$HERE/src/work.c" || fail "cannot compile"
gcc -O2 -g -o built/program "$HERE/src/main.c" -L built/lib -lwork -Wl,-rpath,"$HERE/built/lib" || fail "cannot compile"
"$CPPROF" record -q -o moved.data -- built/program || fail "record"

cat >show.sh <<'S'
for view in summary tree callers flat hot quality; do
	echo "== $view"
	"$CPPROF" report moved.data --no-pager --view $view --lines
done
echo "== annotate"
"$CPPROF" annotate moved.data work
for format in $FORMATS; do
	echo "== $format"
	"$CPPROF" export moved.data --format $format -o - | sum
done
S
export CPPROF FORMATS="json ndjson folded speedscope pprof"
mkdir away
cp moved.data show.sh away/
(cd away && bash show.sh) >here.txt 2>here.log || fail "reports here"
grep -q "work.c:9" here.txt || fail "no loop in the report"
grep -q "mix" here.txt || fail "no inlined call in the report"
# Hides the debug files of system libraries as well; there is no store, and no home directory for one.
unshare -m bash -c '
	mount --make-rprivate /
	mount -t tmpfs none "$0/built"
	[ ! -d /usr/lib/debug ] || mount -t tmpfs none /usr/lib/debug
	mount -t tmpfs none "$0/cache"
	[ -e "$0/built/program" ] && exit 9
	cd "$0/away" && bash show.sh' "$HERE" >there.txt 2>there.log
code=$?
[ $code != 32 ] && [ $code != 1 ] || [ -s there.txt ] || skip "file systems cannot be mounted"
[ $code = 0 ] || fail "reports elsewhere: exit $code"
cmp here.txt there.txt || { diff here.txt there.txt | head -20; fail "the moved profile gives a different report"; }
exit 0
