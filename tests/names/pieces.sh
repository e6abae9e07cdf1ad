#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Cold code placed away from its function counts as part of the function, with and without symbols.
. "$(dirname "$0")/lib.sh"
need gcc strip nm
need_perf

# Half of the time is spent in each part; the cold part uses a register that is not an argument register.
cat >main.c <<'C'
#include <time.h>
unsigned work(unsigned x, unsigned n);
int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 5;
	unsigned x = 1;
	while (clock() < end)
		x = work(x, 100000);
	return x == 42;
}
C
case $(uname -m) in
aarch64)
	enter='stp x19, x30, [sp, -16]!' saves='.cfi_offset 19, -16; .cfi_offset 30, -8' start=0
	leave='ldp x19, x30, [sp], 16'
	first='mov w19, w1' test='cmp w19, 50' away='b.hi .Lcold' back='b .Lback'
	loop='mov w2, w19; 1: madd w0, w0, w1, w2; subs w2, w2, 1; b.ne 1b'
	;;
x86_64)
	enter='push %rbx' saves='.cfi_offset 3, -16' start=8
	leave='pop %rbx'
	first='mov %esi, %ebx; mov %edi, %eax' test='cmp $50, %ebx' away='ja .Lcold' back='jmp .Lback'
	loop='mov %ebx, %ecx; 1: imul %esi, %eax; add %ecx, %eax; dec %ecx; jnz 1b'
	;;
*) skip "not written for $(uname -m)" ;;
esac
cat >work.s <<S
	.text
	.globl work
	.type work, %function
work:	.cfi_startproc
	$enter
	.cfi_def_cfa_offset 16
	$saves
	$first
	$loop
	$test
	$away
.Lback:	$leave
	.cfi_def_cfa_offset $start
	ret
	.cfi_endproc
	.size work, .-work
	.section .text.unlikely, "ax", %progbits
	.type work.cold, %function
work.cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	$saves
.Lcold:	$loop
	$back
	.cfi_endproc
	.size work.cold, .-work.cold
	.section .note.GNU-stack, "", %progbits
S
gcc -O1 -o whole main.c work.s || fail "cannot compile"
strip -s whole -o bare
start_of() {
	nm whole | awk -v name="$1" '$3 == name { sub(/^0+/, "", $1); print $1 }'
}
work=$(start_of work)
cold=$(start_of work.cold)

# is_shown PROGRAM FUNCTION PART: the names in the profile, and that the function's total includes its cold part.
is_shown() {
	"$CPPROF" record -q -o "$1.data" -- "./$1" || fail "record"
	"$CPPROF" report "$1.data" --no-pager --view flat >report.log || fail "report"
	"$CPPROF" export "$1.data" -f json -o profile.json || fail "export"
	grep -qF "\"$3\"" profile.json || fail "no '$3'"
	grep -qE " ${2/+/\\+}( |\$)" report.log || fail "no '$2'"
	! grep -qF "$1+0x$cold" report.log || fail "the cold part is a separate function"
}
is_shown whole work "work [.cold]"
is_shown bare "bare+0x$work" "bare+0x$work [.cold]"
exit 0
