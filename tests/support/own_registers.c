/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/own_registers.h"

const struct isa *own_isa(void)
{
#ifdef __x86_64__
	return &isa_x86_64;
#else
	return &isa_aarch64;
#endif
}

void own_registers(const ucontext_t *context, struct regs *ret)
{
#ifdef __x86_64__
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	for (unsigned i = 0; i < ARRAY_LEN(order); i++)
		ret->value[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
#else
	for (unsigned i = 0; i < 31; i++)
		ret->value[i] = context->uc_mcontext.regs[i];
	ret->value[31] = context->uc_mcontext.sp;
	ret->value[32] = context->uc_mcontext.pc;
#endif
	ret->known = UINT64_MAX >> (64 - own_isa()->n_regs);
}
