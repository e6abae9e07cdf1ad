#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A library in which many words receive the address of one symbol that has a very long name. Code without unwind tables is searched
# for functions while samples arrive, for which relocations are read: each of them must not take a copy of the name.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc jq objcopy
export XDG_CACHE_HOME=$HERE/cache

case $(uname -m) in
x86_64) spin='mov $300000000, %eax; 1: dec %eax; jnz 1b; ret' ;;
*) spin='mov x0, 300000000 & 0xffff; movk x0, 300000000 >> 16, lsl 16; 1: subs x0, x0, 1; b.ne 1b; ret' ;;
esac
cat >library.s <<END
.text
.globl spin
.type spin, %function
spin: $spin
.size spin, . - spin
.data
.balign 8
.globl many_times
.type many_times, %object
many_times: .rept 40000
.quad many_times
.endr
.size many_times, 8
.section .note.GNU-stack, "", %progbits
END
echo 'void spin(void); int main(void) { spin(); }' >main.c
gcc -c library.s && objcopy --redefine-sym "many_times=$(printf '%065000d' 0 | tr 0 a)" library.o || skip "gcc cannot assemble"
gcc -shared -o libspin.so library.o && gcc main.c -o program -L. -lspin -Wl,-rpath,"$HERE" || skip "gcc cannot link"
run 0 timeout -k 5 $((60 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o p.data -- ./program
run 0 "$CPPROF" export p.data -o p.json
peak=$(jq .quality.overhead.cpprof_peak_kb p.json)
echo "at most $peak KB of memory"
[ "$peak" -gt 0 ] || fail "the profile does not say how much memory was used"
[ "$peak" -lt 500000 ] || fail "$peak KB of memory for a library of $(stat -c %s libspin.so) bytes"
exit 0
