/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function per rule of the analysis, x86-64. The unwind directives are the truth: they were written
 * by hand beside the code, and `cpprof verify recipes` must agree with every one of them.
 */
	.text

/* A compare of one byte: 0xfa is 250, not -6. The table is exactly as long as the compare says. */
	.globl byte_switch
	.type byte_switch, @function
	.p2align 4
byte_switch:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	mov %edi, %eax
	cmp $0xfa, %al
	ja 3f
	movzbl %al, %eax
	lea byte_table(%rip), %rdx
	movslq (%rdx,%rax,4), %rax
	add %rdx, %rax
	jmp *%rax
1:	xor %ebx, %ebx
	jmp 3f
2:	mov $2, %ebx
3:	mov %ebx, %eax
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size byte_switch, .-byte_switch
	.section .rodata
	.p2align 2
byte_table:
	.rept 125
	.long 1b - byte_table, 2b - byte_table
	.endr
	.long 1b - byte_table
	.text

/* No compare, an `and` that allows more than there is, and another table right behind. */
	.globl masked_switch
	.type masked_switch, @function
	.p2align 4
masked_switch:
	.cfi_startproc
	sub $24, %rsp
	.cfi_adjust_cfa_offset 24
	and $7, %edi
	lea masked_table(%rip), %rcx
	movslq (%rcx,%rdi,4), %rax
	add %rcx, %rax
	jmp *%rax
.Lmasked_1:
	mov $1, %eax
.Lmasked_end:
	add $24, %rsp
	.cfi_remember_state
	.cfi_adjust_cfa_offset -24
	ret
.Lmasked_3:
	.cfi_restore_state
	mov $3, %eax
	jmp .Lmasked_end
	.cfi_endproc
	.size masked_switch, .-masked_switch

	.globl next_switch
	.type next_switch, @function
	.p2align 4
next_switch:
	.cfi_startproc
	cmp $2, %edi
	ja 2f
	mov %edi, %edi
	lea next_table(%rip), %rcx
	push %rcx
	.cfi_adjust_cfa_offset 8
	call *callback(%rip)
	pop %rcx
	.cfi_adjust_cfa_offset -8
	movslq (%rcx,%rdi,4), %rax
	add %rcx, %rax
	jmp *%rax
.Lnext_1:
	mov $1, %eax
	ret
2:	mov $2, %eax
	ret
	.cfi_endproc
	.size next_switch, .-next_switch
	.section .rodata
	.p2align 2
masked_table:
	.long .Lmasked_1 - masked_table, .Lmasked_3 - masked_table, .Lmasked_1 - masked_table
next_table:
	.long .Lnext_1 - next_table, 2b - next_table, .Lnext_1 - next_table
	.text

/* An entry for a case that cannot happen points behind the function: no way into the next one. */
	.globl unreachable_case
	.type unreachable_case, @function
	.p2align 4
unreachable_case:
	.cfi_startproc
	sub $40, %rsp
	.cfi_adjust_cfa_offset 40
	cmp $2, %edi
	ja 1f
	mov %edi, %edi
	lea unreachable_table(%rip), %rcx
	movslq (%rcx,%rdi,4), %rax
	add %rcx, %rax
	jmp *%rax
1:	add $40, %rsp
	.cfi_adjust_cfa_offset -40
	ret
	.cfi_endproc
2:	.size unreachable_case, .-unreachable_case
	.p2align 4
	.type only_pointed_to, @function
only_pointed_to:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	call leaf
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.section .rodata
	.p2align 2
unreachable_table:
	.long 1b - unreachable_table, 2b - unreachable_table, 1b - unreachable_table
	.text

/* Cold code in another section, entered with a frame and left by a jump back into the middle. */
	.globl hot
	.type hot, @function
	.p2align 4
hot:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	sub $32, %rsp
	.cfi_adjust_cfa_offset 32
	test %edi, %edi
	js hot_cold
1:	add $32, %rsp
	.cfi_adjust_cfa_offset -32
	pop %rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size hot, .-hot
	.section .text.unlikely, "ax", @progbits
hot_cold:
	.cfi_startproc
	.cfi_def_cfa %rsp, 48
	.cfi_offset %rbp, -16
	mov %ebp, %edi
	call leaf
	jmp 1b
	.cfi_endproc
	.text

/* A call that does not return, padding, and a block that is jumped to with less on the stack. */
	.globl dies
	.type dies, @function
	.p2align 4
dies:
	.cfi_startproc
	test %edi, %edi
	je 1f
	push %rax
	.cfi_adjust_cfa_offset 8
	push %rax
	.cfi_adjust_cfa_offset 8
	push %rax
	.cfi_adjust_cfa_offset 8
	call never
	nop
	nop
1:	.cfi_def_cfa_offset 8
	mov $1, %eax
	ret
	.cfi_endproc
	.size dies, .-dies

	.globl never
	.type never, @function
	.p2align 4
never:
	.cfi_startproc
	hlt
	.cfi_endproc
	.size never, .-never

	.globl leaf
	.type leaf, @function
	.p2align 4
leaf:
	.cfi_startproc
	lea 1(%rdi), %eax
	ret
	.cfi_endproc
	.size leaf, .-leaf

/* The caller knows what the callee leaves alone: the frame survives a call in r8. */
	.globl keeps_r8
	.type keeps_r8, @function
	.p2align 4
keeps_r8:
	.cfi_startproc
	lea 8(%rsp), %r8
	.cfi_def_cfa %r8, 0
	and $-32, %rsp
	sub $64, %rsp
	call leaf
	lea -8(%r8), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size keeps_r8, .-keeps_r8

/* A stack-clash loop: equal at its end, unknown within; fp carries the frame. */
	.globl clash
	.type clash, @function
	.p2align 4
clash:
	.cfi_startproc
	lea -0x5000(%rsp), %r11
	.cfi_def_cfa %r11, 0x5008
1:	sub $0x1000, %rsp
	orq $0, (%rsp)
	cmp %r11, %rsp
	jne 1b
	.cfi_def_cfa_register %rsp
	call leaf
	add $0x5000, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size clash, .-clash

/* Realigned stack, the old one kept in r10 and in a slot, then a frame of variable size. */
	.globl drap
	.type drap, @function
	.p2align 4
drap:
	.cfi_startproc
	lea 8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and $-32, %rsp
	push -8(%r10)
	push %rbp
	mov %rsp, %rbp
	.cfi_escape 0x10,0x6,0x2,0x76,0
	push %r10
	.cfi_escape 0xf,0x3,0x76,0x78,0x6
	sub %rdi, %rsp
	call leaf
	mov -8(%rbp), %r10
	.cfi_def_cfa %r10, 0
	leave
	.cfi_restore %rbp
	lea -8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size drap, .-drap

/* Entered with two words above the return address, as the lazy-binding resolver is. */
	.globl resolver
	.type resolver, @function
	.p2align 4
resolver:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	mov 16(%rsp), %rsi
	call leaf
	mov %rax, %r11
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	add $16, %rsp
	.cfi_adjust_cfa_offset -16
	jmp *%r11
	.cfi_endproc
	.size resolver, .-resolver

/* A fence on the top of the stack leaves what it holds. */
	.globl fence
	.type fence, @function
	.p2align 4
fence:
	.cfi_startproc
	lock orq $0, (%rsp)
	ret
	.cfi_endproc
	.size fence, .-fence

/* A store through a derived pointer, past a buffer in the frame, kills no saved register. */
	.globl past_buffer
	.type past_buffer, @function
	.p2align 4
past_buffer:
	.cfi_startproc
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	sub $32, %rsp
	.cfi_adjust_cfa_offset 32
	lea 16(%rsp), %rbx
	movq $0, (%rbx)
	movq $0, 8(%rbx)
	movq $0, 16(%rbx)
	add $32, %rsp
	.cfi_adjust_cfa_offset -32
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size past_buffer, .-past_buffer

/* A loop that pushes: sp is anybody's guess, the frame pointer is not. */
	.globl pushes
	.type pushes, @function
	.p2align 4
pushes:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
1:	push $0
	dec %edi
	jne 1b
	call leaf
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size pushes, .-pushes

/* The return address leaves its slot and comes back, as around vfork's system call. */
	.globl moves_ra
	.type moves_ra, @function
	.p2align 4
moves_ra:
	.cfi_startproc
	pop %rdi
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rdi
	mov $58, %eax
	push %rdi
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rip, 0
	ret
	.cfi_endproc
	.size moves_ra, .-moves_ra

/* A tail call, and one that depends. */
	.globl tails
	.type tails, @function
	.p2align 4
tails:
	.cfi_startproc
	test %edi, %edi
	jne fence
	push %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	call leaf
	pop %rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	jmp leaf
	.cfi_endproc
	.size tails, .-tails

/* A register holds the frame over a call: only the return through it shows that the callee leaves it alone. */
	.globl trusts_callee
	.type trusts_callee, @function
	.p2align 4
trusts_callee:
	.cfi_startproc
	mov %rsp, %r11
	.cfi_def_cfa_register %r11
	sub $64, %rsp
	and $-64, %rsp
	call *%rdi
	mov %r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc
	.size trusts_callee, .-trusts_callee

/* sp moves by an amount nobody knows, and the frame's address is put where only sp leads to. */
	.globl frame_behind_sp
	.type frame_behind_sp, @function
	.p2align 4
frame_behind_sp:
	.cfi_startproc
	mov %rsp, %rax
	.cfi_def_cfa_register %rax
	push %rbx
	.cfi_offset %rbx, -16
	and $-64, %rsp
	sub %rcx, %rsp
	sub $32, %rsp
	mov %rax, 24(%rsp)
	.cfi_escape 0x0f, 5, 0x77, 24, 0x06, 0x23, 8 /* CFA = *(rsp + 24) + 8 */
	call leaf
	mov 24(%rsp), %rsi
	.cfi_def_cfa %rsi, 8
	mov -8(%rsi), %rbx
	.cfi_restore %rbx
	lea (%rsi), %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc
	.size frame_behind_sp, .-frame_behind_sp

	.data
callback:
	.quad leaf
	.section .note.GNU-stack, "", @progbits
