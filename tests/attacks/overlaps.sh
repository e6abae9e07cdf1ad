#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program without tables whose data segments are hundreds of views of the same few MB of its file, full of pointers into its code.
# They are read while samples arrive, to find functions: no more of them than the file has bytes.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc objcopy python3 jq
export XDG_CACHE_HOME=$HERE/cache

case $(uname -m) in
x86_64) machine=62 code='mov $500000000, %eax; 1: dec %eax; jnz 1b; mov $60, %eax; xor %edi, %edi; syscall' ;;
*) machine=183 code='mov x0, 500000000 & 0xffff; movk x0, 500000000 >> 16, lsl 16; 1: subs x0, x0, 1; b.ne 1b; mov x8, 93; svc 0' ;;
esac
echo ".text; $code" | tr ';' '\n' >code.s
gcc -c code.s && objcopy -O binary -j .text code.o code.bin || skip "gcc cannot assemble"

# program NAME VIEWS MB
program() {
	python3 - "$1" "$2" "$3" $machine <<'EOF' || fail "cannot write the program"
import os, struct, sys
name, views, size, machine = sys.argv[1], *map(int, sys.argv[2:])
CODE, CODE_LEN, DATA_LEN = 0x10000000, 66 << 20, size << 20  # a file with holes
at, start = 1 << 20, CODE + (1 << 20)
data = at + CODE_LEN
headers = struct.pack("<IIQQQQQQ", 1, 5, at, CODE, CODE, CODE_LEN, CODE_LEN, 4096)
for i in range(views):
    to = (1 << 32) + i * 2 * DATA_LEN
    headers += struct.pack("<IIQQQQQQ", 1, 4, data, to, to, DATA_LEN, DATA_LEN, 4096)
with open(name, "wb") as file:
    file.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, machine, 1, start, 64, 0, 0, 64, 56, views + 1, 64, 0, 0) + headers)
    file.seek(at + (1 << 20))
    file.write(open("code.bin", "rb").read())
    file.seek(data)
    file.write(struct.pack("<Q", start + (1 << 20)) * (DATA_LEN // 8))
os.chmod(name, 0o755)
EOF
}

# measure NAME: sets $peak to the KB of memory that cpprof used, without symbol lookup.
measure() {
	run 0 timeout -k 5 $((120 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o "$1.data" -- "./$1"
	run 0 "$CPPROF" export "$1.data" -o p.json
	peak=$(jq .quality.overhead.cpprof_peak_kb p.json)
	[ "$peak" -gt 0 ] || fail "the profile does not say how much memory was used"
}

views=800 size=4
program one 1 $size
program many $views $size
./one || skip "this kernel does not execute the program"
if ! ./many 2>errors.log; then # Linux 6.1 executes no program whose headers do not fit into a page: as much, in fewer views
	views=72 size=44
	program one 1 $size
	program many $views $size
	./many || skip "this kernel does not execute the program"
fi
measure one
few=$peak
measure many
echo "$peak KB with $views views of the data, $few KB with one"
[ "$peak" -lt $((few + 2 * $(stat -c %s many) / 1024)) ] || fail "$peak KB with $views views of the data, $few KB with one"
exit 0
