#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests `cpprof struct`: the outline has module, file, procedure, loop, inlined call and line with their lines and addresses;
# it is the same with one thread and several, and from the store, intact or damaged.
set -e
command -v gcc >/dev/null || { echo "skipped: no gcc"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0} # leak detection takes seconds per process; the unit tests do it
export XDG_CACHE_HOME=$work/cache DEBUGINFOD_URLS=
mkdir -m 700 cache
cat > first.c <<'C'
extern int twice(int x);
static inline __attribute__((always_inline)) int square(int x)
{
	return x * x;
}
int total(const int *v, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += square(v[i]) + twice(v[i]);
	return sum;
}
int main(int argc, char **argv)
{
	return total((const int *)argv, argc);
}
C
cat > second.c <<'C'
int twice(int x)
{
	return 2 * x;
}
C
gcc -g -O1 -c first.c
gcc -g -O1 -c second.c
gcc -o program first.o second.o
fail() { echo "$1"; cat text; exit 1; }
holds() { grep -Eq "$1" text || fail "missing: $1"; }
address='0x[0-9a-f]+-0x[0-9a-f]+'

"$CPPROF" struct --no-cache --lines program > text 2> tally
holds "^module program$"
holds "^  file $work/first.c$"
holds "^    total first.c:6-12  $address"
holds "^      loop first.c:9-10  $address"
holds "^        inlined square first.c:2 at first.c:10  $address"
holds "^ +line first.c:4  $address"
holds "^  file $work/second.c$"
holds "^    twice second.c:1-4  $address"
holds "^  no file known$"
# Files in order, and each function under its own file.
[ "$(grep -c "^  file $work/first.c" text)" = 1 ] || fail "a file twice"
sed -n "/file .*second.c/,/^  [fn]/p" text | grep -q "total" && fail "total under second.c"
grep -Eq "^[0-9]+ functions, 1 loops, 1 inlined calls$" tally || { cat tally; exit 1; }

for threads in 1 2 5; do
	"$CPPROF" struct --no-cache --lines --threads $threads program > other 2> /dev/null
	cmp text other
done
[ -z "$(ls cache)" ] || fail "--no-cache wrote to the store"

"$CPPROF" struct --lines program > cold 2> /dev/null
ls cache/cpprof/structures-* > entries
"$CPPROF" struct --lines program > warm 2> /dev/null
cmp text cold
cmp text warm
for entry in $(cat entries); do
	size=$(stat -c %s "$entry")
	printf '\377\377\377\377' | dd of="$entry" bs=1 seek=$((size / 2)) conv=notrunc 2> /dev/null
done
"$CPPROF" struct --lines program > damaged 2> /dev/null
cmp text damaged
for entry in $(cat entries); do
	truncate -s 40 "$entry"
done
"$CPPROF" struct --lines program > cut 2> /dev/null
cmp text cut

# Siblings are in the order of their lines, wherever their code is.
cat > order.c <<'C'
void tail(int *v, int n)
{
	if (__builtin_expect(n > 1000, 0))
		for (int i = 0; i < n; i++)
			v[i] /= n;
	for (int i = 0; i < n; i++)
		v[i] %= 7;
}
C
gcc -g -O2 -fno-tree-vectorize -shared -fPIC -o order.so order.c
"$CPPROF" struct --no-cache --function tail order.so > text 2> /dev/null
[ "$(grep -o 'loop order.c:[0-9]' text | tr '\n' ' ')" = "loop order.c:4 loop order.c:6 " ] || fail "loops out of order"

# Changed contents get a new entry in the store; --function writes none.
printf 'int twice(int x)\n{\n\treturn 3 * x;\n}\n' > second.c
gcc -g -O1 -c second.c
gcc -o program first.o second.o
rm -r cache/cpprof
"$CPPROF" struct --function twice program > text 2> /dev/null
holds "^    twice second.c:1-4"
grep -q total text && fail "--function shows others"
code=0
"$CPPROF" struct --function nobody program > text 2> tally || code=$?
[ $code = 2 ] && [ ! -s text ] || fail "--function of nobody: exit $code"
grep -q "no function 'nobody'" tally || fail "no message says that there is no such function"
ls cache/cpprof | grep -q structures && fail "--function left an entry"
exit 0
