#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of a few megabytes with tens of thousands of sections, jumps or functions that all have to do with the same notes, name,
# code, table or index. They are read in the process that records: the work must not be that of each times each.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc objcopy python3 jq
export XDG_CACHE_HOME=$HERE/cache

kinds='notes names calls gaps'
case $(uname -m) in
x86_64) kinds+=' tables' loop='mov $N, %eax; 1: dec %eax; jnz 1b' end='mov $60, %eax; xor %edi, %edi; syscall' ;;
*) loop='mov x0, N & 0xffff; movk x0, N >> 16, lsl 16; 1: subs x0, x0, 1; b.ne 1b' end='mov x0, 0; mov x8, 93; svc 0' ;;
esac
# assemble NAME CODE
assemble() {
	echo ".text; $2" | tr ';' '\n' >"$1.s"
	gcc -c "$1.s" && objcopy -O binary -j .text "$1.o" "$1.bin" || skip "gcc cannot assemble"
}
assemble code "${loop//N/300000000}; $end"
assemble some "${loop//N/5000000}"

# measure NAME: sets $own to cpprof's CPU time in ms, without symbol lookup.
measure() {
	run 0 timeout -k 5 $((300 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o "$1.data" -- "./$1"
	run 0 "$CPPROF" export "$1.data" -o p.json
	own=$(jq '.quality.overhead.cpprof_cpu_ns / 1000000 | round' p.json)
	[ "$own" -gt 0 ] || fail "the profile has no CPU time of cpprof"
}

for kind in $kinds; do
	count=60000 most=10
	[ $kind != tables ] || count=4000
	[ $kind != gaps ] || most=3 # the harmless one has as many symbols and as much code
	python3 "$SOURCE/tests/attacks/dense_elf.py" $kind one 1 code.bin some.bin && python3 "$SOURCE/tests/attacks/dense_elf.py" $kind many $count code.bin some.bin ||
		fail "cannot write the program"
	./one || skip "this kernel does not execute the program"
	measure one
	few=$own
	measure many
	echo "$kind: $own ms, of a harmless program $few ms"
	[ "$own" -lt $((few * most + 1000 * SLOW)) ] || fail "$kind: $own ms, of a harmless program $few ms"
done

# However long code takes to analyse: the second Ctrl-C ends it, and what there is gets written.
python3 "$SOURCE/tests/attacks/dense_elf.py" gaps slow 2 code.bin some.bin
env --default-signal=INT "$CPPROF" record --no-cache -o slow.data -- ./slow 2>run.log &
recorder=$! code=0
sleep $((1 * SLOW))
while kill -INT $recorder 2>/dev/null; do
	sleep 0.3
done
wait $recorder || code=$?
[ $code = 130 ] || fail "exit code $code, not 130"
says "the profile was written without them"
run 0 "$CPPROF" check slow.data
exit 0
