#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Debug information of little more than a megabyte, in which 30,000 inlined calls are named by the ends of one long string: the
# names that are too much are left out, and the rest is shown. And a function that is a lambda inside itself.
. "$(dirname "$0")/../e2e/lib.sh"
need gcc
export XDG_CACHE_HOME=$HERE/cache

cat >main.c <<'EOF'
void work(void);
int main(void) { for (int i = 0; i < 60000; i++) work(); }
EOF
cat >code.s <<'EOF'
.text
.globl work
.type work, %function
work:
.rept 30000
	nop
.endr
	ret
end:
.size work, end - work
.set step, (end - work) / 30001
.section .debug_abbrev, "", %progbits
.uleb128 1, 0x11 /* compile unit: producer, low and high pc */
.byte 1
.uleb128 0x25, 0x8, 0x11, 0x1, 0x12, 0x7, 0, 0
.uleb128 2, 0x2e /* subprogram: name, low and high pc */
.byte 1
.uleb128 0x3, 0x8, 0x11, 0x1, 0x12, 0x7, 0, 0
.uleb128 3, 0x1d /* inlined subroutine: origin, low and high pc */
.byte 0
.uleb128 0x31, 0x13, 0x11, 0x1, 0x12, 0x7, 0, 0
.uleb128 4, 0x2e /* subprogram: name */
.byte 0
.uleb128 0x3, 0xe, 0, 0
EOF

# build NAME: from code.s and NAME.s
build() {
	cat code.s "$1.s" >"all_$1.s"
	echo '.section .note.GNU-stack, "", %progbits' >>"all_$1.s"
	gcc -O1 main.c "all_$1.s" -o "$1" || skip "gcc cannot link"
}

cat >names.s <<'EOF'
.byte 0
.section .debug_str, "", %progbits
text: .fill 60000, 1, 'a'
.byte 0
.section .debug_info, "", %progbits
unit: .long unit_end - unit - 4
.short 4
.long .debug_abbrev
.byte 8
.uleb128 1
.asciz "GNU C17"
.quad work, end - work
.uleb128 2
.asciz "work"
.quad work, end - work
.set i, 0
.rept 30000
	.uleb128 3
	.long origins - unit + 5 * i
	.quad work + step * i, step
	.set i, i + 1
.endr
.byte 0
origins:
.set i, 0
.rept 30000
	.uleb128 4
	.long text + i
	.set i, i + 1
.endr
.byte 0
unit_end:
EOF
build names
(
	ulimit -v $((3 * 1024 * 1024))
	run 0 timeout -k 5 $((300 * SLOW)) "$CPPROF" record -o names.data -- ./names
) || exit 1
run 0 "$CPPROF" report --view quality names.data
says "names: .* too much memory .* were skipped"
run 0 "$CPPROF" report --view tree names.data
says " work"

cat >itself.s <<'EOF'
.uleb128 5, 0x2e /* subprogram: specification, low and high pc */
.byte 1
.uleb128 0x47, 0x13, 0x11, 0x1, 0x12, 0x7, 0, 0
.uleb128 6, 0x13 /* structure: size */
.byte 1
.uleb128 0xb, 0xb, 0, 0
.uleb128 7, 0x2e /* subprogram: name */
.byte 0
.uleb128 0x3, 0x8, 0, 0
.byte 0
.section .debug_info, "", %progbits
unit: .long unit_end - unit - 4
.short 4
.long .debug_abbrev
.byte 8
.uleb128 1
.asciz "GNU C++17"
.quad work, end - work
.uleb128 5
.long inside - unit
.quad work, end - work
.uleb128 6
.byte 1
inside: .uleb128 7
.asciz "operator()"
.byte 0, 0, 0
unit_end:
EOF
build itself
run 0 timeout -k 5 $((120 * SLOW)) "$CPPROF" record -o itself.data -- ./itself
run 0 "$CPPROF" report --view quality itself.data
! grep crashed run.log || fail "the process that read the debug information crashed"
run 0 "$CPPROF" report --view flat itself.data
says "operator()"
exit 0
