/* SPDX-License-Identifier: Apache-2.0 */
/*
 * void *fiber_make(void *stack_top, void (*function)(void)): a context that runs function.
 * void fiber_switch(void **save, void *to): saves the current context in *save and switches to another.
 *
 * A context is the sp below the saved registers. If the function returns, the process ends.
 */
	.text
	.globl fiber_make, fiber_switch
	.type fiber_make, %function
	.type fiber_switch, %function
#if defined(__aarch64__)
	.p2align 4
fiber_make:
	and x0, x0, #~15
	sub x0, x0, #112
	stp x1, xzr, [x0, #96]  /* where the switch continues */
	adr x2, finish
	stp xzr, x2, [x0, #80]  /* x29, x30 */
	ret
finish:
	mov w0, #0
	bl _exit

	.p2align 4
fiber_switch:
	sub sp, sp, #112
	stp x19, x20, [sp]
	stp x21, x22, [sp, #16]
	stp x23, x24, [sp, #32]
	stp x25, x26, [sp, #48]
	stp x27, x28, [sp, #64]
	stp x29, x30, [sp, #80]
	str x30, [sp, #96]
	mov x2, sp
	str x2, [x0]
	mov sp, x1
	ldp x19, x20, [sp]
	ldp x21, x22, [sp, #16]
	ldp x23, x24, [sp, #32]
	ldp x25, x26, [sp, #48]
	ldp x27, x28, [sp, #64]
	ldp x29, x30, [sp, #80]
	ldr x2, [sp, #96]
	add sp, sp, #112
	br x2
#elif defined(__x86_64__)
	.p2align 4
fiber_make:
	and $-16, %rdi
	lea -64(%rdi), %rax
	lea finish(%rip), %rcx
	mov %rsi, 48(%rax)      /* where the switch continues */
	mov %rcx, 56(%rax)      /* its return address */
	ret
finish:
	xor %edi, %edi
	call _exit@PLT
	hlt

	.p2align 4
fiber_switch:
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov %rsi, %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
#endif
	.size fiber_switch, . - fiber_switch
	.section .note.GNU-stack, "", %progbits
