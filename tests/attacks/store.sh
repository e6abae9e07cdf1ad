#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The symbol store cannot be poisoned: another user's copy of a library, with the same build-id and layout but two symbols
# swapped, is profiled by root; the real library still gets the right symbols, in later recordings and in the same one.
. "$(dirname "$0")/../e2e/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to have files of another user"
need setpriv gcc python3
need_perf
mkdir -m 700 cache
export XDG_CACHE_HOME=$HERE/cache

cat >lib.c <<'E2'
volatile double x;
__attribute__((noinline)) void honest_compute(int n) { for (int i = 0; i < n; i++) x = x * 1.0001 + 1; }
__attribute__((noinline)) void innocent_other(int n) { for (int i = 0; i < n; i++) x = x * 1.0002 + 1; }
E2
cat >app.c <<'E2'
#include <time.h>
void honest_compute(int);
void innocent_other(int);
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 2) {
		honest_compute(10000);
		innocent_other(10000);
	}
}
E2
mkdir real poisoned
gcc -O1 -g -shared -fPIC lib.c -o real/libwork.so -Wl,--build-id=sha1 && gcc -O1 app.c -o app -Lreal -lwork || skip "gcc cannot link"
python3 - real/libwork.so poisoned/libwork.so <<'P'
import struct, sys
# Only .strtab and .debug_str change; dynamic symbols, build-id, size and layout stay the same.
data = bytearray(open(sys.argv[1], 'rb').read())
headers, = struct.unpack_from('<Q', data, 0x28)
n, names = struct.unpack_from('<HH', data, 0x3c)
table, = struct.unpack_from('<Q', data, headers + 64 * names + 24)
for i in range(n):
    name, = struct.unpack_from('<I', data, headers + 64 * i)
    offset, size = struct.unpack_from('<QQ', data, headers + 64 * i + 24)
    if data[table + name:].split(b'\0', 1)[0] in (b'.strtab', b'.debug_str'):
        text = bytes(data[offset:offset + size])
        text = text.replace(b'honest_compute', b'@' * 14).replace(b'innocent_other', b'honest_compute')
        data[offset:offset + size] = text.replace(b'@' * 14, b'innocent_other')
open(sys.argv[2], 'wb').write(data)
P
cmp -s real/libwork.so poisoned/libwork.so && fail "nothing was swapped"
chmod 755 real poisoned app
chmod 644 real/libwork.so poisoned/libwork.so
chown -R 65534:65534 poisoned

as_nobody() { # FOLDER
	echo setpriv --reuid=65534 --regid=65534 --clear-groups env LD_LIBRARY_PATH="$HERE/$1" "$HERE/app"
}

# The attacker's copy is profiled first. That it is shown with its own wrong symbols is fine.
# shellcheck disable=SC2046
run 0 "$CPPROF" record -o first.data -- $(as_nobody poisoned)
# shellcheck disable=SC2046
run 0 "$CPPROF" record -o second.data -- $(as_nobody real)
run 0 "$CPPROF" report second.data --view flat --no-pager
named() { # NAME LINE
	grep -qE "$1 +lib\.c:$2\b" run.log
}
named honest_compute 2 && named innocent_other 3 || fail "the real library has the symbols of the modified copy"

# Both in one recording: they are treated as two files.
run 0 "$CPPROF" record -o both.data -- sh -c "$(as_nobody poisoned); $(as_nobody real)"
run 0 "$CPPROF" report both.data --view flat --no-pager
named honest_compute 2 && named innocent_other 3 || fail "the real library has the symbols of the modified copy"
named honest_compute 3 || named innocent_other 2 || fail "the copy does not have its swapped symbols: the test is void"

# The daemon's database: the copy in one epoch, the real library in the next. Both are kept apart in one report, too.
# shellcheck disable=SC2046
run 0 "$CPPROF" record -q --no-resolve --raw first.raw -o raw.data -- $(as_nobody poisoned)
# shellcheck disable=SC2046
run 0 "$CPPROF" record -q --no-resolve --raw second.raw -o raw.data -- $(as_nobody real)
run 0 "$CPPROF" daemon -q --file first.raw --database db
run 0 "$CPPROF" report --database db --since 30000d --view flat --no-pager
named honest_compute 3 || fail "the copy does not have its swapped symbols: the test is void"
between=$(ls db/epochs | sed 's/.*-//; s/[.].*//')
run 0 "$CPPROF" daemon -q --file second.raw --database db
rm "$(ls -d db/epochs/*-"$between".epoch)"
run 0 "$CPPROF" report --database db --since 30000d --view flat --no-pager
named honest_compute 2 && named innocent_other 3 || fail "the real library has the symbols of the modified copy in the database"
! named honest_compute 3 || fail "the real library also has the symbols of the modified copy"
run 0 "$CPPROF" daemon -q --file first.raw --database db
run 0 "$CPPROF" report --database db --since 30000d --view flat --no-pager
named honest_compute 2 && named innocent_other 3 && named honest_compute 3 ||
	fail "the real library and the modified copy are not kept apart in one report"

# A false debug file of another user beside a library of root: a recording reads it, but the database does not.
if command -v objcopy >/dev/null; then
	mkdir split
	objcopy --only-keep-debug poisoned/libwork.so split/libwork.debug
	objcopy --strip-debug --strip-unneeded --add-gnu-debuglink=split/libwork.debug real/libwork.so split/libwork.so
	chown 65534 split/libwork.debug
	# shellcheck disable=SC2046
	run 0 "$CPPROF" record --raw split.raw -o split.data -- $(as_nobody split)
	run 0 "$CPPROF" report split.data --view flat --no-pager
	named honest_compute 3 || fail "the debug file is not read by a recording: the test is void"
	run 0 "$CPPROF" daemon -q --file split.raw --database split.db
	run 0 "$CPPROF" report --database split.db --since 30000d --view flat --no-pager
	says "honest_compute"
	! named honest_compute 3 || fail "the database has the symbols of another user's debug file"
else
	echo "skipped: a false debug file: objcopy is not installed"
fi

# Files that only root can write are cached: a second run adds no entries for them. It may add one for a file that had no
# samples before (env, the loader).
sampled() { # FILE
	"$CPPROF" export "$1" -f json -o - | python3 -c 'import json, sys
p = json.load(sys.stdin)
print(*{p["modules"][m]["path"] for m in p["frames"]["module"] if m >= 0}, sep="\n")' | sort
}
run 0 "$CPPROF" record -o again.data -- env LD_LIBRARY_PATH="$HERE/real" ./app
find cache -type f -name 'maps-*' | sort >before.log
sampled again.data >sampled.log
run 0 "$CPPROF" record -o again.data -- env LD_LIBRARY_PATH="$HERE/real" ./app
find cache -type f -name 'maps-*' | sort >after.log
fresh=$(sampled again.data | comm -13 sampled.log - | wc -l)
grep -q libwork sampled.log || fail "the library was not sampled: the test is void"
[ "$(comm -13 before.log after.log | wc -l)" -le "$fresh" ] && [ -z "$(comm -23 before.log after.log)" ] ||
	fail "root's files were not found in the cache"
[ "$(wc -l <before.log)" -ge 3 ] || fail "too few entries in the cache for this test"
