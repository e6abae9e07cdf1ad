#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unwind tables that take long to read: entries that share one program of 20 MB, or alternate between two with names of 4 MB.
# They are read while samples arrive: unless they are given up, the recording of all processes stands still.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc python3 jq
export XDG_CACHE_HOME=$HERE/cache

N=300
case $(uname -m) in
x86_64) rules='.byte 0xc, 7, 8, 0x90, 1' ra=16 ;; # CFA = rsp + 8, rip at CFA - 8
*) rules='.byte 0xc, 31, 0' ra=30 ;;
esac

python3 - $N <<'EOF' >program.c || fail "cannot write the program"
import sys
n = int(sys.argv[1])
for i in range(n):
    print(f"__attribute__((noinline, noipa, aligned(64))) void f{i}(void) {{ for (volatile int i = 0; i < 1000; i++) ; }}")
print("int main(void) { for (int i = 0; i < 4000; i++) {", *(f"f{i}();" for i in range(n)), "} }")
EOF

# table NAME LETTERS PROGRAM: the program NAME whose CIEs have so many letters and two-byte instructions more than needed
table() {
	{
		echo '.section .eh_frame, "a", %progbits'
		for i in 1 2; do
			echo "cie$i: .long end$i - cie$i - 4, 0"
			echo ".byte 1; .ascii \"z\"; .fill $2, 1, 'G'; .byte 0, 1, 0x78, $ra, 0"
			echo "$rules; .fill $3, 2, 0x082e; .balign 8; end$i:"
		done
		for ((i = 0; i < N; i++)); do
			echo "f${i}_entry: .long f${i}_end - f${i}_entry - 4, . - cie$((i % 2 + 1))"
			echo ".quad f$i, 64; .byte 0; .balign 8; f${i}_end:"
		done
		echo '.section .note.GNU-stack, "", %progbits'
	} >"$1.s"
	gcc -O1 -no-pie -fno-asynchronous-unwind-tables program.c "$1.s" -Wl,--no-eh-frame-hdr -o "$1" || skip "gcc cannot link"
}

# measure NAME: sets $own to cpprof's CPU time in ns, without symbol lookup.
measure() {
	run 0 timeout -k 5 $((300 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o "$1.data" -- "./$1"
	run 0 "$CPPROF" export "$1.data" -o p.json
	own=$(jq .quality.overhead.cpprof_cpu_ns p.json)
	[ "$own" -gt 0 ] || fail "the profile has no CPU time of cpprof"
}

table plain 0 0
table long_program 0 10000000
table long_name 4000000 0
measure plain
few=$own
for name in long_program long_name; do
	measure $name
	echo "$name: $own ns, without it $few ns"
	[ "$own" -lt $((few * 10)) ] || fail "$name: $own ns, without it $few ns"
done
exit 0
