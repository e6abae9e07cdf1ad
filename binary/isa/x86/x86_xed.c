/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_xed: x86-64 bytes to neutral operands, with Intel XED. The only file that uses XED.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <xed/xed-interface.h>

#include "binary/isa/x86/x86_operands.h"

static const uint8_t ops[XED_ICLASS_LAST] = {
	[XED_ICLASS_ADD] = X86_ADD,
	[XED_ICLASS_AND] = X86_AND,
	[XED_ICLASS_CALL_FAR] = X86_FAR_CALL,
	[XED_ICLASS_CALL_NEAR] = X86_CALL,
	[XED_ICLASS_CBW] = X86_CONVERT,
	[XED_ICLASS_CDQE] = X86_CONVERT,
	[XED_ICLASS_CMP] = X86_CMP,
	[XED_ICLASS_CWDE] = X86_CONVERT,
	[XED_ICLASS_DEC] = X86_DEC,
	[XED_ICLASS_ENDBR64] = X86_ENDBR,
	[XED_ICLASS_ENTER] = X86_ENTER,
	[XED_ICLASS_HLT] = X86_STOP,
	[XED_ICLASS_INC] = X86_INC,
	[XED_ICLASS_INSB] = X86_STORE_RDI,
	[XED_ICLASS_INSD] = X86_STORE_RDI,
	[XED_ICLASS_INSW] = X86_STORE_RDI,
	[XED_ICLASS_INT] = X86_INT,
	[XED_ICLASS_INT3] = X86_INT3,
	[XED_ICLASS_IRET] = X86_STOP,
	[XED_ICLASS_IRETD] = X86_STOP,
	[XED_ICLASS_IRETQ] = X86_STOP,
	[XED_ICLASS_JB] = X86_BRANCH,
	[XED_ICLASS_JBE] = X86_BRANCH,
	[XED_ICLASS_JCXZ] = X86_BRANCH,
	[XED_ICLASS_JECXZ] = X86_BRANCH,
	[XED_ICLASS_JL] = X86_BRANCH,
	[XED_ICLASS_JLE] = X86_BRANCH,
	[XED_ICLASS_JMP] = X86_JMP,
	[XED_ICLASS_JMP_FAR] = X86_STOP,
	[XED_ICLASS_JNB] = X86_BRANCH,
	[XED_ICLASS_JNBE] = X86_BRANCH,
	[XED_ICLASS_JNL] = X86_BRANCH,
	[XED_ICLASS_JNLE] = X86_BRANCH,
	[XED_ICLASS_JNO] = X86_BRANCH,
	[XED_ICLASS_JNP] = X86_BRANCH,
	[XED_ICLASS_JNS] = X86_BRANCH,
	[XED_ICLASS_JNZ] = X86_BRANCH,
	[XED_ICLASS_JO] = X86_BRANCH,
	[XED_ICLASS_JP] = X86_BRANCH,
	[XED_ICLASS_JRCXZ] = X86_BRANCH,
	[XED_ICLASS_JS] = X86_BRANCH,
	[XED_ICLASS_JZ] = X86_BRANCH,
	[XED_ICLASS_LEA] = X86_LEA,
	[XED_ICLASS_LEAVE] = X86_LEAVE,
	[XED_ICLASS_LOOP] = X86_LOOP,
	[XED_ICLASS_LOOPE] = X86_LOOP,
	[XED_ICLASS_LOOPNE] = X86_LOOP,
	[XED_ICLASS_MASKMOVDQU] = X86_STORE_RDI,
	[XED_ICLASS_MASKMOVQ] = X86_STORE_RDI,
	[XED_ICLASS_MOV] = X86_MOV,
	[XED_ICLASS_MOVNTI] = X86_MOV,
	[XED_ICLASS_MOVSB] = X86_STORE_RDI,
	[XED_ICLASS_MOVSD] = X86_STORE_RDI,
	[XED_ICLASS_MOVSQ] = X86_STORE_RDI,
	[XED_ICLASS_MOVSW] = X86_STORE_RDI,
	[XED_ICLASS_MOVSX] = X86_MOVSX,
	[XED_ICLASS_MOVSXD] = X86_MOVSX,
	[XED_ICLASS_MOVZX] = X86_MOVZX,
	[XED_ICLASS_NOP] = X86_NOP,
	[XED_ICLASS_NOP2] = X86_NOP,
	[XED_ICLASS_NOP3] = X86_NOP,
	[XED_ICLASS_NOP4] = X86_NOP,
	[XED_ICLASS_NOP5] = X86_NOP,
	[XED_ICLASS_NOP6] = X86_NOP,
	[XED_ICLASS_NOP7] = X86_NOP,
	[XED_ICLASS_NOP8] = X86_NOP,
	[XED_ICLASS_NOP9] = X86_NOP,
	[XED_ICLASS_OR] = X86_OR,
	[XED_ICLASS_OR_LOCK] = X86_OR,
	[XED_ICLASS_POP] = X86_POP,
	[XED_ICLASS_POPF] = X86_POPF,
	[XED_ICLASS_POPFQ] = X86_POPF,
	[XED_ICLASS_PUSH] = X86_PUSH,
	[XED_ICLASS_PUSHF] = X86_PUSHF,
	[XED_ICLASS_PUSHFQ] = X86_PUSHF,
	[XED_ICLASS_REP_INSB] = X86_STORE_RDI,
	[XED_ICLASS_REP_INSD] = X86_STORE_RDI,
	[XED_ICLASS_REP_INSW] = X86_STORE_RDI,
	[XED_ICLASS_REP_MOVSB] = X86_STORE_RDI,
	[XED_ICLASS_REP_MOVSD] = X86_STORE_RDI,
	[XED_ICLASS_REP_MOVSQ] = X86_STORE_RDI,
	[XED_ICLASS_REP_MOVSW] = X86_STORE_RDI,
	[XED_ICLASS_REP_STOSB] = X86_STORE_RDI,
	[XED_ICLASS_REP_STOSD] = X86_STORE_RDI,
	[XED_ICLASS_REP_STOSQ] = X86_STORE_RDI,
	[XED_ICLASS_REP_STOSW] = X86_STORE_RDI,
	[XED_ICLASS_RET_FAR] = X86_STOP,
	[XED_ICLASS_RET_NEAR] = X86_RET,
	[XED_ICLASS_RSM] = X86_STOP,
	[XED_ICLASS_SBB] = X86_SBB,
	[XED_ICLASS_SHL] = X86_SHL,
	[XED_ICLASS_STOSB] = X86_STORE_RDI,
	[XED_ICLASS_STOSD] = X86_STORE_RDI,
	[XED_ICLASS_STOSQ] = X86_STORE_RDI,
	[XED_ICLASS_STOSW] = X86_STORE_RDI,
	[XED_ICLASS_SUB] = X86_SUB,
	[XED_ICLASS_SYSCALL] = X86_SYSCALL,
	[XED_ICLASS_SYSENTER] = X86_SYSCALL,
	[XED_ICLASS_SYSEXIT] = X86_STOP,
	[XED_ICLASS_SYSRET64] = X86_STOP,
	[XED_ICLASS_SYSRET] = X86_STOP,
	[XED_ICLASS_TEST] = X86_TEST,
	[XED_ICLASS_UD0] = X86_STOP,
	[XED_ICLASS_UD1] = X86_STOP,
	[XED_ICLASS_UD2] = X86_STOP,
	[XED_ICLASS_UIRET] = X86_STOP,
	[XED_ICLASS_VMASKMOVDQU] = X86_STORE_RDI,
	[XED_ICLASS_XBEGIN] = X86_BRANCH,
	[XED_ICLASS_XCHG] = X86_XCHG,
	[XED_ICLASS_XOR] = X86_XOR,
};

static uint8_t xed_condition_of(xed_iclass_enum_t iclass)
{
	switch (iclass) {
	case XED_ICLASS_JZ:
		return CONDITION_EQUAL;
	case XED_ICLASS_JNZ:
		return CONDITION_NOT_EQUAL;
	case XED_ICLASS_JNBE:
		return CONDITION_ABOVE;
	case XED_ICLASS_JNB:
		return CONDITION_ABOVE_EQUAL;
	case XED_ICLASS_JB:
		return CONDITION_BELOW;
	case XED_ICLASS_JBE:
		return CONDITION_BELOW_EQUAL;
	default:
		return CONDITION_OTHER;
	}
}

/* The general register that a register is part of; the pseudo-registers of push and pop are rsp. */
static uint8_t xed_reg_of(xed_reg_enum_t reg)
{
	static const uint8_t dwarf[] = { X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP,
					 X86_RSI, X86_RDI, X86_R8,  X86_R9,  X86_R10, X86_R11,
					 X86_R12, X86_R13, X86_R14, X86_R15 };

	if (reg >= XED_REG_RAX && reg <= XED_REG_R15)
		return dwarf[reg - XED_REG_RAX];
	if (reg >= XED_REG_EAX && reg <= XED_REG_R15D)
		return dwarf[reg - XED_REG_EAX];
	if (reg >= XED_REG_AX && reg <= XED_REG_R15W)
		return dwarf[reg - XED_REG_AX];
	if (reg >= XED_REG_AL && reg <= XED_REG_R15B)
		return dwarf[reg - XED_REG_AL];
	if (reg >= XED_REG_AH && reg <= XED_REG_BH)
		return dwarf[reg - XED_REG_AH];
	if (reg == XED_REG_STACKPUSH || reg == XED_REG_STACKPOP)
		return X86_RSP;
	return REG_NONE;
}

static uint32_t xed_mask_of(xed_reg_enum_t reg)
{
	uint8_t number = xed_reg_of(reg);

	return number == REG_NONE ? 0 : 1u << number;
}

static uint8_t xed_width_of(unsigned bytes)
{
	return bytes == 0 || bytes > 255 ? 255 : (uint8_t)bytes;
}

static int64_t xed_sign_extend(uint64_t value, unsigned bits)
{
	unsigned unused = 64 - bits;

	return bits == 0 || bits >= 64 ? (int64_t)value : (int64_t)(value << unused) >> unused;
}

static void xed_note_register(xed_reg_enum_t reg, xed_operand_action_enum_t action, struct x86_insn *ret)
{
	uint32_t mask = xed_mask_of(reg);

	if (xed_operand_action_read(action) || xed_operand_action_conditional_write(action))
		ret->reads |= mask;
	if (xed_operand_action_written(action))
		ret->writes |= mask;
}

static void xed_fill_memory(const xed_decoded_inst_t *xed, unsigned i, bool is_address_only, uint64_t next,
			    struct x86_operand *ret)
{
	static const uint8_t shifts[] = { [1] = 0, [2] = 1, [4] = 2, [8] = 3 };
	xed_reg_enum_t base = xed_decoded_inst_get_base_reg(xed, i),
		       index = xed_decoded_inst_get_index_reg(xed, i);
	xed_reg_enum_t segment = xed_decoded_inst_get_seg_reg(xed, i);
	bool has_segment = segment == XED_REG_FS || segment == XED_REG_GS;
	bool has_plain_index = index == XED_REG_INVALID || xed_reg_of(index) != REG_NONE;

	ret->kind = X86_MEM;
	ret->width = xed_width_of(xed_decoded_inst_get_memory_operand_length(xed, i));
	ret->base = xed_reg_of(base);
	ret->index = xed_reg_of(index);
	ret->shift = shifts[xed_decoded_inst_get_scale(xed, i) & 15];
	ret->value = xed_decoded_inst_get_memory_displacement(xed, i);
	ret->has_address =
		is_address_only || (has_plain_index && !has_segment &&
				    !xed_decoded_inst_get_attribute(xed, XED_ATTRIBUTE_INDEX_REG_IS_POINTER));
	if (base == XED_REG_RIP || base == XED_REG_EIP)
		ret->value = (int64_t)(next + (uint64_t)ret->value);
}

static void xed_fill_immediate(const xed_decoded_inst_t *xed, xed_operand_enum_t name,
			       struct x86_operand *ret)
{
	ret->kind = X86_IMM;
	if (name == XED_OPERAND_IMM1)
		ret->value = xed_sign_extend(xed_decoded_inst_get_second_immediate(xed), 8);
	else
		ret->value = xed_sign_extend(xed_decoded_inst_get_unsigned_immediate(xed),
					     xed_decoded_inst_get_immediate_width_bits(xed));
}

static void xed_fill_operand(const xed_decoded_inst_t *xed, unsigned i, uint64_t next,
			     struct x86_operand *ret)
{
	const xed_operand_t *operand = xed_inst_operand(xed_decoded_inst_inst(xed), i);
	xed_operand_enum_t name = xed_operand_name(operand);
	xed_operand_action_enum_t action = xed_decoded_inst_operand_action(xed, i);

	memset(ret, 0, sizeof *ret);
	ret->width = xed_width_of(xed_decoded_inst_operand_length(xed, i));
	ret->is_read = xed_operand_action_read(action);
	ret->is_written = xed_operand_action_written(action);
	if (name == XED_OPERAND_MEM0 || name == XED_OPERAND_AGEN) {
		xed_fill_memory(xed, 0, name == XED_OPERAND_AGEN, next, ret);
	} else if (name == XED_OPERAND_MEM1) {
		xed_fill_memory(xed, 1, false, next, ret);
	} else if (name == XED_OPERAND_RELBR) {
		ret->kind = X86_IMM;
		ret->value = (int64_t)(next + (uint64_t)xed_decoded_inst_get_branch_displacement(xed));
	} else if (name == XED_OPERAND_IMM0 || name == XED_OPERAND_IMM1) {
		xed_fill_immediate(xed, name, ret);
	} else if (xed_operand_is_register(name)) {
		xed_reg_enum_t reg = xed_decoded_inst_get_reg(xed, name);

		ret->reg = xed_reg_of(reg);
		ret->kind = ret->reg == REG_NONE ? X86_OTHER_REG : X86_REG;
		ret->is_high_byte = reg >= XED_REG_AH && reg <= XED_REG_BH;
	}
}

static void xed_fill_operands(const xed_decoded_inst_t *xed, uint64_t next, struct x86_insn *ret)
{
	const xed_inst_t *form = xed_decoded_inst_inst(xed);

	for (unsigned i = 0; i < xed_inst_noperands(form); i++) {
		const xed_operand_t *operand = xed_inst_operand(form, i);
		xed_operand_enum_t name = xed_operand_name(operand);

		if (xed_operand_is_register(name) || xed_operand_is_memory_addressing_register(name))
			xed_note_register(xed_decoded_inst_get_reg(xed, name),
					  xed_decoded_inst_operand_action(xed, i), ret);
		if (ret->n_operands < X86_MAX_OPERANDS &&
		    xed_operand_operand_visibility(operand) != XED_OPVIS_SUPPRESSED)
			xed_fill_operand(xed, i, next, &ret->operand[ret->n_operands++]);
	}
	for (unsigned i = 0; i < xed_decoded_inst_number_of_memory_operands(xed); i++) {
		ret->reads |= xed_mask_of(xed_decoded_inst_get_base_reg(xed, i)) |
			      xed_mask_of(xed_decoded_inst_get_index_reg(xed, i));
		if (ret->op == X86_STORE_RDI && xed_decoded_inst_mem_written(xed, i))
			ret->operand_width = xed_width_of(xed_decoded_inst_get_memory_operand_length(xed, i));
	}
}

static bool xed_writes_flags(const xed_decoded_inst_t *xed)
{
	const xed_simple_flag_t *flags = xed_decoded_inst_get_rflags_info(xed);

	if (!flags)
		return false;

	const xed_flag_set_t *written = xed_simple_flag_get_written_flag_set(flags);
	const xed_flag_set_t *undefined = xed_simple_flag_get_undefined_flag_set(flags);

	return written->s.cf || written->s.zf || undefined->s.cf || undefined->s.zf;
}

/* The same processor as for Zydis; our operands have no registers beyond r15. */
static bool xed_decode_one(struct bytes code, xed_decoded_inst_t *ret)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, xed_tables_init);
	xed_decoded_inst_zero(ret);
	xed_decoded_inst_set_mode(ret, XED_MACHINE_MODE_LONG_64, XED_ADDRESS_WIDTH_64b);
	xed3_operand_set_mpxmode(ret, 1);
	xed3_operand_set_cet(ret, 1);
	xed3_operand_set_p4(ret, 1);
	xed3_operand_set_lzcnt(ret, 1);
	xed3_operand_set_tzcnt(ret, 1);
	xed3_operand_set_wbnoinvd(ret, 1);
	xed3_operand_set_cldemote(ret, 1);
	xed3_operand_set_no_apx(ret, 1);
	return xed_decode(ret, code.at, code.len < X86_MAX_LEN ? (unsigned)code.len : X86_MAX_LEN) ==
	       XED_ERROR_NONE;
}

/* The byte d6, which was recently named and is undefined, looks like data to older decoders. */
static bool xed_is_undefined(xed_iclass_enum_t iclass)
{
#ifdef XED_ICLASS_UDB_DEFINED
	return iclass == XED_ICLASS_UDB;
#else
	(void)iclass;
	return false;
#endif
}

static int xed_decode_operands(struct bytes code, uint64_t vaddr, struct x86_insn *ret)
{
	xed_decoded_inst_t xed;

	if (!xed_decode_one(code, &xed))
		return -EBADMSG;

	xed_iclass_enum_t iclass = xed_decoded_inst_get_iclass(&xed);

	if (xed_is_undefined(iclass))
		return -EBADMSG;
	ret->reads = ret->writes = 0;
	ret->op = ops[iclass];
	ret->len = (uint8_t)xed_decoded_inst_get_length(&xed);
	ret->n_operands = 0;
	ret->condition = ret->op == X86_BRANCH ? xed_condition_of(iclass) : CONDITION_OTHER;
	ret->operand_width = (uint8_t)(xed_decoded_inst_get_operand_width(&xed) / 8);
	ret->address_width = (uint8_t)(xed_operand_values_get_effective_address_width(
					       xed_decoded_inst_operands_const(&xed)) /
				       8);
	ret->writes_flags = xed_writes_flags(&xed);
	xed_fill_operands(&xed, vaddr + ret->len, ret);
	return 0;
}

static size_t xed_format(struct bytes code, uint64_t vaddr, char *text, size_t size)
{
	xed_decoded_inst_t xed;
	xed_print_info_t info;

	if (size == 0)
		return 0;
	text[0] = '\0';
	if (!xed_decode_one(code, &xed))
		return 0;
	xed_init_print_info(&info);
	info.p = &xed;
	info.buf = text;
	info.blen = size > INT32_MAX ? INT32_MAX : (int)size;
	info.runtime_address = vaddr;
	info.syntax = XED_SYNTAX_INTEL;
	info.format_options_valid = 1;
	info.format_options.lowercase_hex = 1;
	info.format_options.omit_unit_scale = 1;
	info.format_options.write_mask_curly_k0 = 1;
	if (!xed_format_generic(&info))
		text[0] = '\0';
	return strlen(text);
}

const struct x86_decoder x86_xed = { "xed", xed_decode_operands, xed_format };
