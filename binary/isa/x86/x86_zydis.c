/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86_zydis: x86-64 bytes to neutral operands, with Zydis. The only file that uses Zydis.
 */
#include <errno.h>
#include <string.h>

#include <Zydis/Zydis.h>

#include "binary/isa/x86/x86_operands.h"

/* The result of ZydisDecoderInit: everything current processors decode, Intel's branches. */
static const ZydisDecoder decoder = {
	.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
	.stack_width = ZYDIS_STACK_WIDTH_64,
	.decoder_mode = {
		[ZYDIS_DECODER_MODE_MPX] = ZYAN_TRUE,
		[ZYDIS_DECODER_MODE_CET] = ZYAN_TRUE,
		[ZYDIS_DECODER_MODE_LZCNT] = ZYAN_TRUE,
		[ZYDIS_DECODER_MODE_TZCNT] = ZYAN_TRUE,
		[ZYDIS_DECODER_MODE_WBNOINVD] = ZYAN_TRUE,
		[ZYDIS_DECODER_MODE_CLDEMOTE] = ZYAN_TRUE,
	},
};

static const uint8_t ops[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	[ZYDIS_MNEMONIC_ADD] = X86_ADD,
	[ZYDIS_MNEMONIC_AND] = X86_AND,
	[ZYDIS_MNEMONIC_CALL] = X86_CALL,
	[ZYDIS_MNEMONIC_CBW] = X86_CONVERT,
	[ZYDIS_MNEMONIC_CDQE] = X86_CONVERT,
	[ZYDIS_MNEMONIC_CMP] = X86_CMP,
	[ZYDIS_MNEMONIC_CWDE] = X86_CONVERT,
	[ZYDIS_MNEMONIC_DEC] = X86_DEC,
	[ZYDIS_MNEMONIC_ENDBR64] = X86_ENDBR,
	[ZYDIS_MNEMONIC_ENTER] = X86_ENTER,
	[ZYDIS_MNEMONIC_HLT] = X86_STOP,
	[ZYDIS_MNEMONIC_INC] = X86_INC,
	[ZYDIS_MNEMONIC_INSB] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_INSD] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_INSW] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_INT] = X86_INT,
	[ZYDIS_MNEMONIC_INT3] = X86_INT3,
	[ZYDIS_MNEMONIC_IRET] = X86_STOP,
	[ZYDIS_MNEMONIC_IRETD] = X86_STOP,
	[ZYDIS_MNEMONIC_IRETQ] = X86_STOP,
	[ZYDIS_MNEMONIC_JB] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JBE] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JCXZ] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JECXZ] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JL] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JLE] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JMP] = X86_JMP,
	[ZYDIS_MNEMONIC_JNB] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JNBE] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JNL] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JNLE] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JNO] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JNP] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JNS] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JNZ] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JO] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JP] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JRCXZ] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JS] = X86_BRANCH,
	[ZYDIS_MNEMONIC_JZ] = X86_BRANCH,
	[ZYDIS_MNEMONIC_LEA] = X86_LEA,
	[ZYDIS_MNEMONIC_LEAVE] = X86_LEAVE,
	[ZYDIS_MNEMONIC_LOOP] = X86_LOOP,
	[ZYDIS_MNEMONIC_LOOPE] = X86_LOOP,
	[ZYDIS_MNEMONIC_LOOPNE] = X86_LOOP,
	[ZYDIS_MNEMONIC_MASKMOVDQU] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_MASKMOVQ] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_MOV] = X86_MOV,
	[ZYDIS_MNEMONIC_MOVNTI] = X86_MOV,
	[ZYDIS_MNEMONIC_MOVSB] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_MOVSD] = X86_STORE_RDI, /* or a vector move: see op_of */
	[ZYDIS_MNEMONIC_MOVSQ] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_MOVSW] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_MOVSX] = X86_MOVSX,
	[ZYDIS_MNEMONIC_MOVSXD] = X86_MOVSX,
	[ZYDIS_MNEMONIC_MOVZX] = X86_MOVZX,
	[ZYDIS_MNEMONIC_NOP] = X86_NOP,
	[ZYDIS_MNEMONIC_OR] = X86_OR,
	[ZYDIS_MNEMONIC_POP] = X86_POP,
	[ZYDIS_MNEMONIC_POPF] = X86_POPF,
	[ZYDIS_MNEMONIC_POPFQ] = X86_POPF,
	[ZYDIS_MNEMONIC_PUSH] = X86_PUSH,
	[ZYDIS_MNEMONIC_PUSHF] = X86_PUSHF,
	[ZYDIS_MNEMONIC_PUSHFQ] = X86_PUSHF,
	[ZYDIS_MNEMONIC_RET] = X86_RET,
	[ZYDIS_MNEMONIC_RSM] = X86_STOP,
	[ZYDIS_MNEMONIC_SBB] = X86_SBB,
	[ZYDIS_MNEMONIC_SHL] = X86_SHL,
	[ZYDIS_MNEMONIC_STOSB] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_STOSD] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_STOSQ] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_STOSW] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_SUB] = X86_SUB,
	[ZYDIS_MNEMONIC_SYSCALL] = X86_SYSCALL,
	[ZYDIS_MNEMONIC_SYSENTER] = X86_SYSCALL,
	[ZYDIS_MNEMONIC_SYSEXIT] = X86_STOP,
	[ZYDIS_MNEMONIC_SYSRET] = X86_STOP,
	[ZYDIS_MNEMONIC_TEST] = X86_TEST,
	[ZYDIS_MNEMONIC_UD0] = X86_STOP,
	[ZYDIS_MNEMONIC_UD1] = X86_STOP,
	[ZYDIS_MNEMONIC_UD2] = X86_STOP,
	[ZYDIS_MNEMONIC_UIRET] = X86_STOP,
	[ZYDIS_MNEMONIC_VMASKMOVDQU] = X86_STORE_RDI,
	[ZYDIS_MNEMONIC_XBEGIN] = X86_BRANCH,
	[ZYDIS_MNEMONIC_XCHG] = X86_XCHG,
	[ZYDIS_MNEMONIC_XOR] = X86_XOR,
};

static uint8_t zydis_op_of(const ZydisDecodedInstruction *zydis)
{
	uint8_t op = ops[zydis->mnemonic];
	bool is_far = zydis->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR;

	if (op == X86_STORE_RDI && zydis->mnemonic == ZYDIS_MNEMONIC_MOVSD &&
	    zydis->meta.category != ZYDIS_CATEGORY_STRINGOP)
		return X86_OTHER;
	if (is_far && op == X86_CALL)
		return X86_FAR_CALL;
	if (is_far && (op == X86_JMP || op == X86_RET))
		return X86_STOP;
	return op;
}

static uint8_t zydis_condition_of(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_JZ:
		return CONDITION_EQUAL;
	case ZYDIS_MNEMONIC_JNZ:
		return CONDITION_NOT_EQUAL;
	case ZYDIS_MNEMONIC_JNBE:
		return CONDITION_ABOVE;
	case ZYDIS_MNEMONIC_JNB:
		return CONDITION_ABOVE_EQUAL;
	case ZYDIS_MNEMONIC_JB:
		return CONDITION_BELOW;
	case ZYDIS_MNEMONIC_JBE:
		return CONDITION_BELOW_EQUAL;
	default:
		return CONDITION_OTHER;
	}
}

/* The general register that a register is part of. */
static uint8_t zydis_reg_of(ZydisRegister reg)
{
	static const uint8_t dwarf[] = { X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP,
					 X86_RSI, X86_RDI, X86_R8,  X86_R9,  X86_R10, X86_R11,
					 X86_R12, X86_R13, X86_R14, X86_R15 };

	if (reg < ZYDIS_REGISTER_AL || reg > ZYDIS_REGISTER_R15)
		return REG_NONE;
	if (reg >= ZYDIS_REGISTER_AX)
		return dwarf[(reg - ZYDIS_REGISTER_AX) % 16];
	if (reg >= ZYDIS_REGISTER_SPL)
		return dwarf[reg - ZYDIS_REGISTER_SPL + 4];
	return dwarf[(reg - ZYDIS_REGISTER_AL) % 4];
}

static uint32_t zydis_mask_of(ZydisRegister reg)
{
	uint8_t number = zydis_reg_of(reg);

	return number == REG_NONE ? 0 : 1u << number;
}

/* 0 bits means that the size depends on the processor (xsave and similar). */
static uint8_t zydis_width_of(uint16_t bits)
{
	return bits == 0 || bits / 8 > 255 ? 255 : (uint8_t)(bits / 8);
}

static void zydis_note_registers(const ZydisDecodedOperand *operand, struct x86_insn *ret)
{
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		uint32_t mask = zydis_mask_of(operand->reg.value);

		if (operand->actions & (ZYDIS_OPERAND_ACTION_MASK_READ | ZYDIS_OPERAND_ACTION_CONDWRITE))
			ret->reads |= mask;
		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			ret->writes |= mask;
	} else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		ret->reads |= zydis_mask_of(operand->mem.base) | zydis_mask_of(operand->mem.index);
	}
}

static void zydis_fill_memory(const ZydisDecodedOperand *operand, uint64_t next, struct x86_operand *ret)
{
	static const uint8_t shifts[] = { [1] = 0, [2] = 1, [4] = 2, [8] = 3 };
	const ZydisDecodedOperandMem *mem = &operand->mem;
	bool has_segment = mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS;

	ret->kind = X86_MEM;
	ret->base = zydis_reg_of(mem->base);
	ret->index = zydis_reg_of(mem->index);
	ret->shift = shifts[mem->scale & 15];
	ret->value = mem->disp.has_displacement ? mem->disp.value : 0;
	ret->has_address =
		mem->type == ZYDIS_MEMOP_TYPE_AGEN || (mem->type == ZYDIS_MEMOP_TYPE_MEM && !has_segment);
	if (mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP)
		ret->value = (int64_t)(next + (uint64_t)ret->value);
}

static int64_t zydis_sign_extend(uint64_t value, unsigned bits)
{
	unsigned unused = 64 - bits;

	return bits == 0 || bits >= 64 ? (int64_t)value : (int64_t)(value << unused) >> unused;
}

static void zydis_fill_immediate(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operand,
				 uint64_t next, struct x86_operand *ret)
{
	/* The second immediate is only ever that of enter. */
	const struct ZydisDecodedInstructionRawImm_ *raw =
		&zydis->raw.imm[operand->id > 0 && zydis->raw.imm[1].size ? 1 : 0];

	ret->kind = X86_IMM;
	if (operand->imm.is_relative)
		ret->value = (int64_t)(next + operand->imm.value.u);
	else
		ret->value = zydis_sign_extend(operand->imm.value.u, raw->size);
}

static void zydis_fill_operand(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operand,
			       uint64_t next, struct x86_operand *ret)
{
	memset(ret, 0, sizeof *ret);
	ret->width = zydis_width_of(operand->size);
	ret->is_read = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	ret->is_written = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		ret->reg = zydis_reg_of(operand->reg.value);
		ret->kind = ret->reg == REG_NONE ? X86_OTHER_REG : X86_REG;
		ret->is_high_byte =
			operand->reg.value >= ZYDIS_REGISTER_AH && operand->reg.value <= ZYDIS_REGISTER_BH;
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		zydis_fill_memory(operand, next, ret);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		zydis_fill_immediate(zydis, operand, next, ret);
		break;
	default:
		break;
	}
}

static bool zydis_writes_flags(const ZydisDecodedInstruction *zydis)
{
	const ZydisAccessedFlags *flags = zydis->cpu_flags;

	return flags && ((flags->modified | flags->set_0 | flags->set_1 | flags->undefined) &
			 (ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_ZF));
}

/* Instructions of an obsolete coprocessor (Knights Corner), some of which Zydis mistakes for x86-64. */
static bool zydis_is_extinct(const ZydisDecodedInstruction *zydis)
{
	return zydis->meta.isa_ext == ZYDIS_ISA_EXT_KNC || zydis->meta.isa_ext == ZYDIS_ISA_EXT_KNCE ||
	       zydis->meta.isa_ext == ZYDIS_ISA_EXT_KNCV ||
	       zydis->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
}

/* A shift or rotation by an immediate that is effectively 0 does not change the flags. */
static bool zydis_is_shift_by_zero(const ZydisDecodedInstruction *zydis, const struct x86_insn *x86)
{
	const struct x86_operand *count = &x86->operand[x86->n_operands ? x86->n_operands - 1 : 0];
	bool is_long = zydis->attributes & ZYDIS_ATTRIB_HAS_REX && zydis->raw.rex.W;

	return x86->n_operands &&
	       (zydis->meta.category == ZYDIS_CATEGORY_SHIFT ||
		zydis->meta.category == ZYDIS_CATEGORY_ROTATE) &&
	       count->kind == X86_IMM && (count->value & (is_long ? 63 : 31)) == 0;
}

/*
 * What Zydis omits: cmps and scas change the pointers they read through, bsf and bsr of 0 do not change their
 * destination, xlat reads al.
 */
static void zydis_mend(const ZydisDecodedInstruction *zydis, struct x86_insn *ret)
{
	if (zydis->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	    zydis->meta.category == ZYDIS_CATEGORY_IOSTRINGOP)
		ret->writes |= ret->reads & (1u << X86_RSI | 1u << X86_RDI);
	if (zydis->mnemonic == ZYDIS_MNEMONIC_BSF || zydis->mnemonic == ZYDIS_MNEMONIC_BSR ||
	    zydis->mnemonic == ZYDIS_MNEMONIC_XLAT)
		ret->reads |= ret->writes;
	if (zydis_is_shift_by_zero(zydis, ret))
		ret->writes_flags = false;
}

static int zydis_decode(struct bytes code, uint64_t vaddr, struct x86_insn *ret)
{
	ZydisDecoderContext context;
	ZydisDecodedInstruction zydis;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, code.at, code.len, &zydis)) ||
	    zydis_is_extinct(&zydis))
		return -EBADMSG;
	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeOperands(&decoder, &context, &zydis, operands, zydis.operand_count)))
		return -EBADMSG;

	ret->reads = ret->writes = 0;
	ret->op = zydis_op_of(&zydis);
	ret->len = zydis.length;
	ret->condition = ret->op == X86_BRANCH ? zydis_condition_of(zydis.mnemonic) : CONDITION_OTHER;
	ret->operand_width = zydis.operand_width / 8;
	ret->address_width = zydis.address_width / 8;
	ret->writes_flags = zydis_writes_flags(&zydis);
	ret->n_operands = zydis.operand_count_visible < X86_MAX_OPERANDS ? zydis.operand_count_visible
									 : X86_MAX_OPERANDS;
	for (unsigned i = 0; i < zydis.operand_count; i++) {
		zydis_note_registers(&operands[i], ret);
		if (i < ret->n_operands)
			zydis_fill_operand(&zydis, &operands[i], vaddr + zydis.length, &ret->operand[i]);
		if (ret->op == X86_STORE_RDI && operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			ret->operand_width = zydis_width_of(operands[i].size);
	}
	zydis_mend(&zydis, ret);
	return 0;
}

static bool zydis_formatter_init(ZydisFormatter *formatter)
{
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} settings[] = {
		{ ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED },
		{ ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE },
	};

	if (!ZYAN_SUCCESS(ZydisFormatterInit(formatter, ZYDIS_FORMATTER_STYLE_INTEL)))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		if (!ZYAN_SUCCESS(
			    ZydisFormatterSetProperty(formatter, settings[i].property, settings[i].value)))
			return false;
	return true;
}

static size_t zydis_format(struct bytes code, uint64_t vaddr, char *text, size_t size)
{
	ZydisFormatter formatter;
	ZydisDecodedInstruction zydis;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];

	if (size == 0)
		return 0;
	if (!zydis_formatter_init(&formatter) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.at, code.len, &zydis, operands)) ||
	    !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &zydis, operands,
							  zydis.operand_count_visible, text, size, vaddr,
							  ZYAN_NULL))) {
		text[0] = '\0';
		return 0;
	}
	return strlen(text);
}

const struct x86_decoder x86_zydis = { "zydis", zydis_decode, zydis_format };
