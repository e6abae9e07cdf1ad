# SPDX-License-Identifier: Apache-2.0
# One instruction of each kind that x86_reduce.c handles or that has implicit operands.
	.text
	push %rbx
	push %r12
	pushq 0x38(%rsp)
	pushq -8(%r10)
	push $-1
	push $0x12345678
	pushw %ax
	pushw $5
	push %fs
	push %rsp
	pushf
	pop %rbp
	pop %rsp
	popw %ax
	popq 8(%rsp)
	popf
	lea 8(%rsp),%r10
	lea -0x20(%rax,%rcx,4),%rdx
	lea 0x1000(%rip),%rdi
	lea 1(%rax),%ecx
	lea (%eax,%ecx),%edx
	lea 0(%rsi),%rsi
	mov %rsp,%rbp
	mov %eax,%eax
	mov %ax,%cx
	mov %ah,%cl
	mov $-1,%eax
	mov $-1,%rax
	movabs $0x123456789abcdef0,%r9
	mov $5,%al
	mov 8(%rsp),%rbx
	mov (%rdi,%rax,4),%eax
	mov (%rdi),%al
	mov 0x2000(%rip),%rax
	mov 0x401000(,%rax,8),%rax
	mov %fs:0x28,%rax
	mov %fs:(%rax),%rcx
	mov %rbx,-8(%rbp)
	mov %cl,(%rsp)
	mov %ch,(%rsp)
	movl $7,4(%rsp)
	mov %rax,%fs:0x10
	mov (%eax),%ecx
	movabs 0x1122334455667788,%al
	mov %ds,%eax
	movnti %rax,(%rsp)
	movslq (%rdx,%rax,4),%rax
	movslq %edi,%rsi
	movzbl (%rdi),%eax
	movzbl %al,%ecx
	movzbl %ah,%ecx
	movzwl (%rdx,%rax,2),%eax
	movsbl (%rdi),%eax
	movsbq (%rdi),%rax
	movswl %ax,%eax
	movzbw (%rdi),%ax
	add $8,%rsp
	sub $0x108,%rsp
	add $-128,%rsp
	add $5,%eax
	add $5,%al
	add %rdx,%rax
	add %rcx,%rsp
	add (%rdi),%rax
	addl $1,8(%rsp)
	addq $1,8(%rsp)
	sub %rax,%rsp
	sub %eax,%eax
	sub %fs:0x28,%rdx
	inc %ecx
	dec %rdx
	incl (%rsp)
	and $-32,%rsp
	and $0x1f,%eax
	and $0x0f,%al
	and %rcx,%rax
	andl $1,(%rsp)
	xor %eax,%eax
	xor %ecx,%eax
	sbb %rax,%rax
	or $-1,%eax
	shl $3,%rax
	shl %rax
	shl %cl,%rax
	shr $4,%rax
	xchg %rax,%rsp
	xchg %eax,%ecx
	xchg %rax,8(%rsp)
	leave
	enter $0x20,$0
	enter $0x20,$1
	call .+0x234
	call .+5
	call *%rax
	call *%r11
	call *8(%rax)
	call *0x1000(%rip)
	call *(%r12,%rbx,8)
	call *%fs:0x10
	jmp .+0x234
	jmp .+0x10
	jmp *%rax
	jmp *0x4c0000(,%rax,8)
	jmp *(%rdx,%rcx,8)
	jmp *0x2fe2(%rip)
	notrack jmp *%rax
	bnd jmp *0x2fe2(%rip)
	ljmp *(%rax)
	lcall *(%rax)
	ret
	ret $16
	repz ret
	lretq
	iretq
	je .+0x20
	jne .+0x20
	ja .+0x200
	jae .+0x20
	jb .+0x20
	jbe .+0x20
	jg .+0x20
	js .+0x20
	jrcxz .+0x20
	loop .-0x10
	xbegin .+0x20
	cmp $0xfa,%al
	cmp $-1,%eax
	cmp $5,%rdi
	cmp %r11,%rsp
	cmpl $10,8(%rsp)
	cmp %eax,(%rdi)
	cmp (%rdi),%eax
	cmp $5,%ah
	cmpq $0,%fs:0x10
	test %al,%al
	test %rdi,%rdi
	test $1,%al
	test %eax,%ecx
	cmove %rdx,%rax
	sete %al
	sete (%rsp)
	stosq
	rep stosq
	rep movsb
	movsl
	lodsb
	repne scasb
	cmpsb
	mul %rcx
	imul %rdx,%rax
	imul $3,%rdx,%rax
	mulx %rax,%rbx,%rcx
	div %rcx
	cqto
	cltq
	cpuid
	rdtsc
	cmpxchg %rcx,(%rdi)
	lock cmpxchg16b (%rdi)
	xadd %rax,(%rax)
	syscall
	int $0x80
	int $3
	int3
	ud2
	hlt
	nop
	xchg %ax,%ax
	nopl 0(%rax)
	nopw %cs:0(%rax,%rax,1)
	pause
	endbr64
	movaps %xmm0,0x10(%rsp)
	vmovdqu %ymm0,-0x40(%rbp)
	vmovdqu64 %zmm1,0x40(%rsp)
	vmovdqu8 %zmm1,0x40(%rsp){%k1}
	movsd %xmm0,8(%rsp)
	movaps 0x10(%rsp),%xmm0
	movq %xmm0,%rax
	movq %rax,%xmm0
	fstpt (%rsp)
	fnstenv (%rsp)
	fxsave (%rsp)
	xsavec 0x40(%rsp)
	vpscatterdd %zmm1,(%rax,%zmm2,4){%k1}
	maskmovdqu %xmm1,%xmm0
	bswap %eax
	movbe %rax,(%rsp)
	setc %bl
	bsf %rdi,%rax
	vzeroupper
	prefetcht0 (%rax)
	mfence
	rdfsbase %rax
	xgetbv
	rdsspq %rax
	.byte 0x66,0x66,0x48,0xe8,0x2c,0x02,0,0
	lock incl (%rdi)
	lock orl $0,(%rsp)
	rep lodsb
	repe cmpsb
	scasw
	lodsq
	xlat
	bsr %rdi,%rax
	lzcnt %rdi,%rax
	tzcnt %rdi,%rax
	popcnt %rdi,%rax
	pext %rdi,%rsi,%rax
	rorx $3,%rdi,%rax
	shlx %rcx,%rdi,%rax
	andn %rdi,%rsi,%rax
	adcx %rdi,%rax
	adox %rdi,%rax
	adc %rdi,%rax
	rcl $2,%rax
	shr $0,%r11
	shld $4,%rdi,%rax
	shld %cl,%rdi,%rax
	bt %rdi,%rax
	btsq $3,(%rsp)
	crc32q %rdi,%rax
	rdrand %rax
	rdpid %rax
	rdtscp
	xsave (%rsp)
	xrstor (%rsp)
	fnsave (%rsp)
	fldt (%rsp)
	fistpll (%rsp)
	fnstcw (%rsp)
	fnstsw %ax
	stmxcsr (%rsp)
	ldmxcsr (%rsp)
	movd %xmm0,%eax
	pextrq $1,%xmm0,(%rsp)
	pmovmskb %xmm0,%eax
	cvttsd2si %xmm0,%rax
	vgatherdps %xmm1,(%rax,%xmm2,4),%xmm3
	vmaskmovps %ymm1,%ymm2,(%rsp)
	vcompressps %zmm1,(%rsp){%k1}
	vpmovdb %zmm1,(%rsp)
	vextracti128 $1,%ymm1,(%rsp)
	vextracti32x4 $3,%zmm1,0x10(%rsp)
	vmovntdq %zmm1,(%rsp)
	vpbroadcastq %rax,%zmm1
	vaddps (%rax){1to16},%zmm1,%zmm2
	kmovq %k1,%rax
	kmovq %k1,(%rsp)
	pcmpestri $0,%xmm1,%xmm0
	pcmpistri $0,%xmm1,%xmm0
	movdir64b (%rdi),%rax
	clflushopt (%rdi)
	prefetchw (%rdi)
	incsspq %rax
	bndmk (%rax),%bnd0
	bndmov %bnd0,(%rsp)
	xabort $1
	xend
	sahf
	lahf
	cmc
	cld
	std
	cli
	in %dx,%al
	outsb
	insb
	sgdt (%rsp)
	str %eax
	invpcid (%rdi),%rax
	wrmsr
	swapgs
	sysretq
	sysexitq
	movabs %rax,0x1122334455667788
	ud1 %eax,%ecx
