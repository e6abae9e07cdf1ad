#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ELF files with absurdly large sizes: what is too large is skipped, and the rest of the profile is complete. A memory limit
# makes unbounded allocations fail.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc python3
make_elf() { python3 "$SOURCE/tests/attacks/make_elf.py" "$@" || fail "make_elf.py $*"; }
export XDG_CACHE_HOME=$HERE/cache

cat >victim.c <<'EOF'
#include <stdlib.h>
volatile double x;
__attribute__((noinline)) void burn(int n) { for (int i = 0; i < n; i++) x = x * 1.0001 + 1; }
int main(int argc, char **argv)
{
	for (int i = 0; i < 200; i++)
		burn(argc > 1 ? atoi(argv[1]) : 0);
}
EOF
gcc -O1 -g victim.c -o victim || skip "gcc cannot link"
gcc -O1 -g -Wl,--build-id=none victim.c -o plain || skip "gcc cannot link"

# survives WHAT GIGABYTES: records the program WHAT and a normal one under a memory limit; the normal one must be symbolized.
survives() {
	local what=$1
	(
		ulimit -v $(($2 * 1024 * 1024))
		run 0 timeout -k 5 120 "$CPPROF" record -o "$what.data" -- sh -c "./$what 1000000; $SPIN 0.3"
	) || exit 1
	cp run.log recorded.log
	facts "$what.data"
	[ "$(number samples)" -gt 50 ] || fail "$what: only $(number samples) samples"
	run 0 "$CPPROF" report --view flat "$what.data"
	says "spin"
}

make_elf stubs victim stubs
chmod +x stubs
survives stubs 3
says burn

make_elf names victim names 400000 1000000
chmod +x names
survives names 3
run 0 "$CPPROF" report --view quality names.data
says "names: .* too much memory .* were skipped"

make_elf packed victim packed $((1 << 30))
chmod +x packed
survives packed 3
says burn
run 0 "$CPPROF" report --view quality packed.data
says "packed: .* too much memory .* were skipped"

# Sparse files. The first one has no build-id, so it is identified by its contents.
cp plain holes && truncate -s 7G holes
survives holes 20
says burn
cp plain large && truncate -s 1T large 2>/dev/null && survives large 20
# ext4 does not support files of several petabytes, tmpfs does.
huge=$HERE/larger
if ! truncate -s 7P "$huge" 2>/dev/null && [ -w /dev/shm ]; then
	rm -f "$huge"
	huge=$(mktemp /dev/shm/cpprof_test.XXXXXX)
	trap 'rm -rf "$huge" "$HERE"' EXIT
	ln -s "$huge" larger
fi
cat plain >"$huge" && chmod 755 "$huge"
if truncate -s 7P "$huge" 2>/dev/null; then
	survives larger 20
else
	rm -f "$huge"
	echo "skipped: a file of 7 PB: no file system for it here"
fi
make_elf wide plain wide $((6 << 30))
chmod +x wide && truncate -s 7G wide
survives wide 12

# A debug link to a sparse file: 7 GB, which would take long to checksum, and 30 GB.
gcc -O1 -Wl,--build-id=none victim.c -o linked
cp plain far.debug
objcopy --add-gnu-debuglink=far.debug linked
for size in 7 30; do
	truncate -s ${size}G far.debug
	survives linked 20
	says burn
	grep -q "far.debug' is too large ($size GB) and was skipped" recorded.log || fail "no message says that $size GB are too large"
done
exit 0
