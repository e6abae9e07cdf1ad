#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that runs at ever new addresses of unwind entries of nearly 4 MB, which have functions inside: neither must the entry be
# searched for each address, nor each of thousands of entries that overlap.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc jq
export XDG_CACHE_HOME=$HERE/cache

# work: most of 256 bytes, as the arguments of .fill; take: takes the address of a place in the entries
case $(uname -m) in
x86_64)
	work='85, 3, 0xc0ff48' once='mov $1000000000, %eax; 1: dec %eax; jnz 1b' call=call
	take='lea 2600000(%rip), %rcx' rules='.byte 0xc, 7, 8, 0x90, 1' ra=16
	;;
*)
	work='63, 4, 0x91000400' once='mov x0, 1000000000 >> 16 << 16; 1: subs x0, x0, 1; b.ne 1b' call=bl
	take='adr x1, . + 1048572' rules='.byte 0xc, 31, 0' ra=30
	;;
esac
n_blocks=16000
cat >main.c <<END
extern char blocks[];
void once(void);
int main(int argc, char **argv)
{
	if (argc > 1)
		once();
	for (int i = 0; i < 600 && argc == 1; i++)
		for (int n = 0; n < $n_blocks; n++)
			((void (*)(void))(blocks + n * 256))();
	return argv[0] == 0;
}
END

# make NAME ENTRIES STEP: one entry starts at each STEPth byte of the code; all end with it
make() {
	cat >"$1.s" <<-END
		.text
		.rept 200000
		$take
		.endr
		.globl blocks, once
		.balign 64
		blocks:
		.rept $n_blocks
		.fill $work
		ret
		.endr
		once: $once
		ret
		inner: ret
		$call inner
		blocks_end:
		.section .eh_frame, "a", %progbits
		cie: .long cie_end - cie - 4, 0
		.byte 1; .asciz "z"; .byte 1, 0x78, $ra, 0
		$rules
		.balign 8
		cie_end:
		.set n, 0
		.rept $2
		.long 28, . - cie
		.quad blocks + n * $3, blocks_end - blocks - n * $3, 0
		.set n, n + 1
		.endr
		.section .note.GNU-stack, "", %progbits
	END
	gcc -O1 -no-pie -fno-asynchronous-unwind-tables main.c "$1.s" -Wl,--no-eh-frame-hdr -o "$1" || skip "gcc cannot link"
}

# measure COMMAND...: sets $own to cpprof's CPU time in ms, without symbol lookup.
measure() {
	run 0 timeout -k 5 $((60 * SLOW)) "$CPPROF" record -q --no-cache --no-resolve -o p.data -- "$@"
	run 0 "$CPPROF" check p.data
	run 0 "$CPPROF" export p.data -o p.json
	own=$(jq '.quality.overhead.cpprof_cpu_ns / 1000000 | round' p.json)
	[ "$own" -gt 0 ] || fail "the profile has no CPU time of cpprof"
}

make one 1 0
make many 3200 1280
measure ./one once
few=$own
for name in one many; do
	measure ./$name
	echo "$name: $own ms, at one address $few ms"
	[ "$own" -lt $((few * 10 + 1000 * SLOW)) ] || fail "$name: $own ms, at one address $few ms"
done
exit 0
