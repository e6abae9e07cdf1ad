# SPDX-License-Identifier: Apache-2.0
# Hand-written code without debug information: loops are known by address only, but nesting must be right.
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

# Continues on another stack, like longjmp: the code after a call of it is not reached from there.
#: expect jump_away
	.global jump_away
	.type jump_away, @function
jump_away:
	mov (%rdi), %rbx
	mov 8(%rdi), %r8
	mov 16(%rdi), %rdx
	mov %esi, %eax
	mov %r8, %rsp
	jmp *%rdx
	.size jump_away, . - jump_away

#: expect leaves
	.global leaves
	.type leaves, @function
leaves:
	push %rbx
	mov %rdi, %rbx
	test %rsi, %rsi
	jne 7f
6:	mov %rbx, %rdi
	call jump_away
7:	mov $2, %edi
	call copy_rows
	jmp 6b
	.size leaves, . - leaves

# Switches stacks, and is switched back to: the loop around it continues.
#: expect switch_to
	.global switch_to
	.type switch_to, @function
switch_to:
	push %rbx
	mov %rsp, (%rdi)
	mov (%rsi), %rsp
	pop %rbx
	ret
	.size switch_to, . - switch_to

#: expect schedules
#:   loop
	.global schedules
	.type schedules, @function
schedules:
	push %rbx
	mov %rdi, %rbx
6:	mov %rbx, %rdi
	mov %rbx, %rsi
	call switch_to
	jmp 6b
	.size schedules, . - schedules

# `while (1) trap();`
#: expect stops
#:   loop
	.global stops
	.type stops, @function
stops:	mov $231, %eax
8:	syscall
	hlt
	jmp 8b
	.size stops, . - stops

# Padding before a loop is not an entry to it.
#: expect padded
#:   loop
	.global padded
	.type padded, @function
padded:	jmp 2f
	nopl 0(%rax)
1:	add $1, %rdi
2:	cmpb $32, (%rdi)
	je 1b
	ret
	.size padded, . - padded

	.global main
	.type main, @function
main:	xor %eax, %eax
	ret
	.size main, . - main
	.section .note.GNU-stack,"",@progbits
