#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of a few megabytes with tens of thousands of sections or jumps that all refer to the same notes, name, code or table.
# They are read in the process that records: the work must not be that of each times each.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc objcopy python3 jq
export XDG_CACHE_HOME=$HERE/cache

kinds='notes names calls'
case $(uname -m) in
x86_64) kinds+=' tables' code='mov $300000000, %eax; 1: dec %eax; jnz 1b; mov $60, %eax; xor %edi, %edi; syscall' ;;
*) code='mov x0, 300000000 & 0xffff; movk x0, 300000000 >> 16, lsl 16; 1: subs x0, x0, 1; b.ne 1b; mov x0, 0; mov x8, 93; svc 0' ;;
esac
echo ".text; $code" | tr ';' '\n' >code.s
gcc -c code.s && objcopy -O binary -j .text code.o code.bin || skip "gcc cannot assemble"

# measure NAME: sets $own to cpprof's CPU time in ms, without symbol lookup.
measure() {
	run 0 timeout -k 5 $((300 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o "$1.data" -- "./$1"
	run 0 "$CPPROF" export "$1.data" -o p.json
	own=$(jq '.quality.overhead.cpprof_cpu_ns / 1000000 | round' p.json)
	[ "$own" -gt 0 ] || fail "the profile has no CPU time of cpprof"
}

for kind in $kinds; do
	count=60000
	[ $kind != tables ] || count=4000
	python3 "$SOURCE/tests/attacks/dense_elf.py" $kind one 1 code.bin && python3 "$SOURCE/tests/attacks/dense_elf.py" $kind many $count code.bin ||
		fail "cannot write the program"
	./one || skip "this kernel does not execute the program"
	measure one
	few=$own
	measure many
	echo "$kind: $own ms, of a harmless program $few ms"
	[ "$own" -lt $((few * 10 + 1000 * SLOW)) ] || fail "$kind: $own ms, of a harmless program $few ms"
done
exit 0
