/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per rule of the analysis, AArch64. The unwind directives are the truth: they were written
 * by hand beside the code, and `cpprof verify recipes` must agree with every one of them.
 */
	.text

.macro FUNCTION name
	.globl \name
	.type \name, %function
	.p2align 4
\name:
	.cfi_startproc
.endm
.macro END name
	.cfi_endproc
	.size \name, .-\name
.endm
.macro ENTER size
	stp x29, x30, [sp, #-\size]!
	.cfi_def_cfa_offset \size
	.cfi_offset x29, -\size
	.cfi_offset x30, 8-\size
	mov x29, sp
.endm
.macro LEAVE size
	ldp x29, x30, [sp], #\size
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
.endm

/* A table of bytes, in words from a label in the code. */
FUNCTION byte_table
	ENTER 32
	cmp w0, #3
	b.hi 9f
	adrp x1, .Lbytes
	add x1, x1, :lo12:.Lbytes
	ldrb w0, [x1, w0, uxtw]
	adr x1, .Lbytes_base
	add x0, x1, w0, sxtb #2
	br x0
.Lbytes_base:
1:	mov w0, #1
	b 9f
2:	mov w0, #2
	b 9f
3:	mov w0, #3
9:	LEAVE 32
	ret
END byte_table
	.section .rodata
.Lbytes:
	.byte (1b - .Lbytes_base) / 4, (2b - .Lbytes_base) / 4, (3b - .Lbytes_base) / 4, (2b - .Lbytes_base) / 4
	.text

/* Halfwords; the table's base is formed before the call and lives in a callee-saved register. */
FUNCTION half_table
	ENTER 32
	stp x19, x20, [sp, #16]
	.cfi_offset x19, -16
	.cfi_offset x20, -8
	adrp x19, .Lhalves
	add x19, x19, :lo12:.Lhalves
	mov w20, w0
	bl leaf
	cmp w20, #2
	b.hi 9f
	ldrh w0, [x19, w20, uxtw #1]
	adr x1, .Lhalves_base
	add x0, x1, w0, sxth #2
	br x0
.Lhalves_base:
1:	mov w0, #1
	b 9f
2:	mov w0, #2
9:	ldp x19, x20, [sp, #16]
	.cfi_restore x19
	.cfi_restore x20
	LEAVE 32
	ret
END half_table
	.section .rodata
	.p2align 1
.Lhalves:
	.hword (1b - .Lhalves_base) / 4, (2b - .Lhalves_base) / 4, (1b - .Lhalves_base) / 4
	.text

/* Words relative to the table, loaded with their sign. */
FUNCTION word_table
	cmp w0, #2
	b.hi 9f
	adrp x1, .Lwords
	add x1, x1, :lo12:.Lwords
	ldrsw x0, [x1, w0, uxtw #2]
	add x0, x0, x1
	br x0
1:	mov w0, #1
	ret
2:	mov w0, #2
9:	ret
END word_table
	.section .rodata
	.p2align 2
.Lwords:
	.word 1b - .Lwords, 2b - .Lwords, 1b - .Lwords
	.text

FUNCTION leaf
	add w0, w0, #1
	ret
END leaf

/* The return address waits in a register that the callee is known to leave alone. */
FUNCTION ra_in_x15
	mov x15, x30
	.cfi_register x30, x15
	bl leaf
	ret x15
END ra_in_x15

/* The same with a callee that nobody knows: that the return goes through the register is the proof. */
FUNCTION ra_in_x14
	mov x14, x30
	.cfi_register x30, x14
	blr x4
	ret x14
END ra_in_x14

/* A switch without a compare; the case that cannot happen has its label behind the last instruction. */
FUNCTION unreachable_case
	ENTER 32
	adrp x1, .Lsome_bytes
	add x1, x1, :lo12:.Lsome_bytes
	ldrb w0, [x1, x0]
	adr x1, .Lsome_base
	add x0, x1, x0, lsl #2
	br x0
.Lsome_base:
1:	mov w0, #1
	bl leaf
	b 9f
2:	mov w0, #2
9:	LEAVE 32
	ret
3:
END unreachable_case
	.section .rodata
.Lsome_bytes:
	.byte (1b - .Lsome_base) / 4, (3b - .Lsome_base) / 4, (2b - .Lsome_base) / 4
	.text

/* Cold code elsewhere, entered with a frame and left by a jump back into the middle. */
FUNCTION hot
	ENTER 48
	str x19, [sp, #16]
	.cfi_offset x19, -32
	tbnz w0, #31, hot_cold
1:	ldr x19, [sp, #16]
	.cfi_restore x19
	LEAVE 48
	ret
END hot
	.section .text.unlikely, "ax", %progbits
hot_cold:
	.cfi_startproc
	.cfi_def_cfa sp, 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	.cfi_offset x19, -32
	mov w0, w19
	bl leaf
	b 1b
	.cfi_endproc
	.text

/* An instruction moved out of the way by the linker: code in no function that jumps straight back. */
FUNCTION has_veneer
	ENTER 32
	str x19, [sp, #16]
	.cfi_offset x19, -16
	b .Lveneer
1:	ldr x19, [sp, #16]
	.cfi_restore x19
	LEAVE 32
	ret
END has_veneer
	.p2align 4
.Lveneer:
	mov x19, #1
	b 1b

/* Only on the path that needs it x19 is saved; the call that reaches the other path does not return. */
FUNCTION shrink_wrapped
	ENTER 32
	cbz w0, 1f
	str x19, [sp, #16]
	.cfi_offset x19, -16
	mov x19, x0
	bl never
1:	.cfi_restore x19
	LEAVE 32
	ret
END shrink_wrapped

FUNCTION never
	brk #1000
END never

/* A frame of variable size: sp is lost, x29 is not. */
FUNCTION variable
	ENTER 16
	.cfi_def_cfa x29, 16
	add x0, x0, #15
	and x0, x0, #-16
	sub sp, sp, x0
	bl leaf
	mov sp, x29
	.cfi_def_cfa sp, 16
	LEAVE 16
	ret
END variable

/* Larger than an immediate, and a probing loop whose end is an equality. */
FUNCTION large
	mov x12, #0x10000
	sub sp, sp, x12
	.cfi_def_cfa_offset 0x10000
	str x30, [sp]
	.cfi_offset x30, -0x10000
	bl leaf
	ldr x30, [sp]
	.cfi_restore x30
	mov x12, #0x10000
	add sp, sp, x12
	.cfi_def_cfa_offset 0
	ret
END large

FUNCTION clash
	sub x12, sp, #0x30, lsl #12
	.cfi_def_cfa x12, 0x30000
1:	sub sp, sp, #0x10, lsl #12
	str xzr, [sp, #1024]
	cmp sp, x12
	b.ne 1b
	.cfi_def_cfa_register sp
	add sp, sp, #0x30, lsl #12
	.cfi_def_cfa_offset 0
	ret
END clash

/* Tail calls, direct and through a register. */
FUNCTION tails
	cbz w0, leaf
	ENTER 16
	bl leaf
	LEAVE 16
	br x1
END tails
	.section .note.GNU-stack, "", %progbits
