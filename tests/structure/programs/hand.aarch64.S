// SPDX-License-Identifier: Apache-2.0
// Hand-written: no debug information, loops by address only; nesting is right all the same.
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

	.global main
	.type main, %function
main:	mov x0, #0
	ret
	.size main, . - main
	.section .note.GNU-stack,"",%progbits
