#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program of 70 MB without symbols and unwind entries, of which 64 short loops far from each other run. It is analysed in pieces;
# a piece must not lead to the analysis of all others.
. "$(dirname "$0")/../e2e/lib.sh"
need_perf
need gcc jq

case $(uname -m) in
x86_64) loop='mov $20000000, %eax; 1: dec %eax; jnz 1b; jmp 2f' end='mov $60, %eax; xor %edi, %edi; syscall' ;;
*) loop='mov x0, 0xffff; movk x0, 0x130, lsl 16; 1: subs x0, x0, 1; b.ne 1b; b 2f' end='mov x0, 0; mov x8, 93; svc 0' ;;
esac
echo ".text; .globl _start; _start:; .rept 64; $loop; .skip 1100000; 2:; .endr; $end" | tr ';' '\n' >sparse.s
gcc -nostdlib -static -o sparse sparse.s && strip sparse || skip "gcc cannot assemble"
# It takes 6 s; when each piece led to others, it took more than five minutes.
run 0 timeout -k 5 $((60 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o p.data -- ./sparse
run 0 "$CPPROF" check p.data
run 0 "$CPPROF" export p.data -o p.json
echo "cpprof's CPU time: $(jq '.quality.overhead.cpprof_cpu_ns / 1000000 | round' p.json) ms"
facts p.data
[ "$(number samples)" -gt 100 ] || fail "only $(number samples) samples"
exit 0
