# SPDX-License-Identifier: Apache-2.0
# Hand-written: no debug information, loops by address only; nesting is right all the same.
#: expect copy_rows
#:   loop
#:     loop
	.text
	.global copy_rows
	.type copy_rows, @function
copy_rows:
	test %rdx, %rdx
	je 3f
1:	mov $8, %ecx
2:	mov (%rsi), %rax
	mov %rax, (%rdi)
	add $8, %rsi
	add $8, %rdi
	dec %ecx
	jne 2b
	dec %rdx
	jne 1b
3:	ret
	.size copy_rows, . - copy_rows

#: expect two_entries
#:   loop irreducible
	.global two_entries
	.type two_entries, @function
two_entries:
	test %rdi, %rdi
	je 5f
4:	add $1, %rsi
5:	add $3, %rsi
	dec %rdi
	jns 4b
	mov %rsi, %rax
	ret
	.size two_entries, . - two_entries

	.global main
	.type main, @function
main:	xor %eax, %eax
	ret
	.size main, . - main
	.section .note.GNU-stack,"",@progbits
