// SPDX-License-Identifier: Apache-2.0
// Hand-written code without debug information: loops are known by address only, but nesting must be right.
//: expect copy_rows
//:   loop
//:     loop
	.text
	.global copy_rows
	.type copy_rows, %function
copy_rows:
	cbz x2, 3f
1:	mov x3, #64
2:	ldr x4, [x1], #8
	str x4, [x0], #8
	subs x3, x3, #8
	b.ne 2b
	subs x2, x2, #1
	b.ne 1b
3:	ret
	.size copy_rows, . - copy_rows

//: expect two_entries
//:   loop irreducible
	.global two_entries
	.type two_entries, %function
two_entries:
	cbz x0, 5f
4:	add x1, x1, #1
5:	add x1, x1, #3
	subs x0, x0, #1
	b.pl 4b
	mov x0, x1
	ret
	.size two_entries, . - two_entries

// Continues on another stack, like longjmp: the code after a call of it is not reached from there.
//: expect jump_away
	.global jump_away
	.type jump_away, %function
jump_away:
	ldp x19, x30, [x0]
	ldr x5, [x0, #16]
	mov sp, x5
	mov x0, x1
	br x30
	.size jump_away, . - jump_away

//: expect leaves
	.global leaves
	.type leaves, %function
leaves:
	stp x29, x30, [sp, #-32]!
	str x19, [sp, #16]
	mov x19, x0
	cbnz x1, 7f
6:	mov x0, x19
	bl jump_away
7:	mov x0, #2
	bl copy_rows
	b 6b
	.size leaves, . - leaves

// Switches stacks, and is switched back to: the loop around it continues.
//: expect switch_to
	.global switch_to
	.type switch_to, %function
switch_to:
	stp x19, x30, [sp, #-16]!
	mov x9, sp
	str x9, [x0]
	ldr x9, [x1]
	mov sp, x9
	ldp x19, x30, [sp], #16
	ret
	.size switch_to, . - switch_to

//: expect schedules
//:   loop
	.global schedules
	.type schedules, %function
schedules:
	stp x29, x30, [sp, #-32]!
	str x19, [sp, #16]
	mov x19, x0
6:	mov x0, x19
	mov x1, x19
	bl switch_to
	b 6b
	.size schedules, . - schedules

// `while (1) trap();`
//: expect stops
//:   loop
	.global stops
	.type stops, %function
stops:	mov x8, #94
8:	svc #0
	brk #1000
	b 8b
	.size stops, . - stops

	.global main
	.type main, %function
main:	mov x0, #0
	ret
	.size main, . - main
	.section .note.GNU-stack,"",%progbits
