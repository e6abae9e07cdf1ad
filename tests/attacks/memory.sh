#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of kilobytes that take gigabytes in the process that records: symbols, unwind entries and a Go program's functions that
# are compressed, and libraries that are one large function each.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc objcopy python3 jq
export XDG_CACHE_HOME=$HERE/cache

# measure NAME COMMAND...: sets $peak to the KB of memory that cpprof used, without symbol lookup.
measure() {
	run 0 timeout -k 5 $((300 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o "$1.data" -- "${@:2}"
	run 0 "$CPPROF" export "$1.data" -o p.json
	peak=$(jq .quality.overhead.cpprof_peak_kb p.json)
	[ "$peak" -gt 0 ] || fail "the profile does not say how much memory was used"
	echo "$1: $((peak >> 10)) MB"
}

echo 'volatile long x; __attribute__((noipa)) static void f(void) { for (long i = 0; i < 100000000; i++) x += i; } int main(void) { f(); }' >plain.c
gcc -O1 -no-pie -fno-asynchronous-unwind-tables plain.c -o plain && strip plain || skip "gcc cannot link"
measure plain ./plain
usual=$peak

# 240 MB of symbols in 40 KB
python3 - <<'EOS' || skip "Python has no lzma"
import lzma, struct
n, at = 10 << 20, 64
names_at, heads_at = at + n * 24, at + n * 24 + 64
head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 0, heads_at, 0, 64, 56, 0, 64, 4, 3)
sections = b"".join(struct.pack("<IIQQQQIIQQ", *s, 0, 1, each) for *s, each in (
    (0, 0, 0, 0, 0, 0, 0, 0), (1, 2, 0, 0, at, n * 24, 2, 24), (9, 3, 0, 0, names_at, 64, 0, 0), (9, 3, 0, 0, names_at, 64, 0, 0)))
symbol = struct.pack("<IBBHQQ", 17, 2, 0, 1, 0x401000, 4)
with lzma.open("debugdata.xz", "wb", preset=0) as file:
    file.write(head)
    for _ in range(n >> 12):
        file.write(symbol * 4096)
    file.write(b"\0.symtab\0.strtab\0f\0".ljust(64, b"\0") + sections)
EOS
objcopy --add-section .gnu_debugdata=debugdata.xz plain debugdata
measure debugdata ./debugdata
[ "$peak" -lt $((usual + (200 << 10))) ] || fail "debugdata: $((peak >> 10)) MB"

# mark_compressed FILE SECTION
mark_compressed() {
	python3 - "$@" <<'EOS'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
table, = struct.unpack_from("<Q", data, 40)
count, names = struct.unpack_from("<HH", data, 60)
names_at, = struct.unpack_from("<Q", data, table + 64 * names + 24)
for i in range(count):
    name, = struct.unpack_from("<I", data, table + 64 * i)
    if data[names_at + name:].startswith(sys.argv[2].encode() + b"\0"):
        struct.pack_into("<Q", data, table + 64 * i + 8, 0x800)  # SHF_COMPRESSED
open(sys.argv[1], "wb").write(data)
EOS
}

# 10 million unwind entries in 1 MB
python3 - "$(readelf -hW plain | awk '/Entry point/ { print $4 }')" <<'EOS'
import struct, sys, zlib
cie = struct.pack("<IIB", 20, 0xffffffff, 4) + b"\0" + struct.pack("<BBBBB", 8, 0, 1, 0x78, 16) + bytes(9)
entry = struct.pack("<IIQQ", 20, 0, int(sys.argv[1], 16), 4)
squeeze, n = zlib.compressobj(1), 10 << 20
with open("entries.bin", "wb") as file:
    file.write(struct.pack("<IIQQ", 1, 0, len(cie) + n * len(entry), 1) + squeeze.compress(cie))
    for _ in range(n >> 12):
        file.write(squeeze.compress(entry * 4096))
    file.write(squeeze.flush())
EOS
objcopy --add-section .debug_frame=entries.bin plain entries
mark_compressed entries .debug_frame
measure entries ./entries
[ "$peak" -lt $((usual + (400 << 10))) ] || fail "entries: $((peak >> 10)) MB"

# 20 million functions in assembly with the same name in a Go program's table of 1 MB
python3 - <<'EOS'
import array, struct, zlib
n, at = 20 << 20, 72
name = b"f\0"
record = struct.pack("<II", 0, 0).ljust(40, b"\0") + b"\0\4"
names_at = at + n * 8 + 8 + len(record)
squeeze = zlib.compressobj(1)
with open("table.bin", "wb") as file:
    file.write(struct.pack("<IIQQ", 1, 0, names_at + len(name), 1))
    file.write(squeeze.compress(struct.pack("<IHBBQQQQQQQQ", 0xfffffff1, 0, 1, 8, n, 0, 0x1000, names_at, 0, 0, 0, at)))
    entries = array.array("I", [n * 8 + 8]) * 131072
    for i in range(0, n, 65536):
        entries[::2] = array.array("I", range(i, i + 65536))
        file.write(squeeze.compress(entries))
    file.write(squeeze.compress(struct.pack("<II", n, 0) + record + name) + squeeze.flush())
EOS
objcopy --add-section .gopclntab=table.bin plain go
mark_compressed go .gopclntab
measure go ./go
[ "$peak" -lt $((usual + (400 << 10))) ] || fail "go: $((peak >> 10)) MB"

# A function of 2.4 million instructions in each of six libraries
echo 'void f(void); __asm__(".globl f; .type f, %function; f: .fill " WORDS ", 4, " NOP "; ret; .size f, . - f");' >large.c
case $(uname -m) in x86_64) nop=0x90909090 words=600000 ;; *) nop=0xd503201f words=2400000 ;; esac
for i in $(seq 6); do
	gcc -shared -fPIC -DNOP="\"$nop\"" -DWORDS="\"$words\"" -Wl,--build-id=0x$i$i large.c -o "lib$i.so" || skip "gcc cannot link a library"
done
cat >many.c <<'EOS'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	for (int i = 1; i <= 6; i++) {
		char name[32];
		snprintf(name, sizeof(name), "./lib%d.so", i);
		void *library = dlopen(name, RTLD_NOW);
		void (*f)(void) = library ? (void (*)(void))dlsym(library, "f") : 0;
		for (int n = 0; f && n < 100; n++)
			f();
	}
}
EOS
gcc many.c -o many -ldl || skip "gcc cannot link"
measure many ./many
[ "$peak" -lt $((usual + (900 << 10))) ] || fail "many: $((peak >> 10)) MB"
exit 0
