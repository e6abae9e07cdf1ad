/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_insn: formats a struct insn as one line, so that tests can state what an instruction does in readable
 * form: "push rbx", "rax = [rdi + rcx << 2 + 8]:4; kills rdx; branch above 0x401020".
 */
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "binary/isa/isa.h"

struct line {
	char text[512];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static inline void line_add(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int n = vsnprintf(line->text + line->len, sizeof line->text - line->len, format, args);
	va_end(args);
	if (n > 0)
		line->len += (size_t)n < sizeof line->text - line->len ? (size_t)n
								       : sizeof line->text - line->len - 1;
}

static inline const char *show_reg(const struct isa *isa, uint8_t reg)
{
	return reg == REG_NONE ? "?" : reg < isa->n_regs ? isa->reg_names[reg] : "BAD";
}

static inline void show_imm(struct line *line, int64_t imm)
{
	uint64_t value = imm < 0 ? -(uint64_t)imm : (uint64_t)imm;

	line_add(line, value < 10 ? "%s%llu" : "%s0x%llx", imm < 0 ? "-" : "", (unsigned long long)value);
}

/* base + index << shift + imm, as far as present. */
static inline void show_sum(struct line *line, const struct isa *isa, const struct effect *effect)
{
	if (effect->base != REG_NONE)
		line_add(line, "%s", isa->reg_names[effect->base]);
	if (effect->index != REG_NONE) {
		line_add(line, effect->is_subtracted ? " - " : effect->base != REG_NONE ? " + " : "");
		if (effect->index_width != 8)
			line_add(line, effect->kind == EFFECT_SET && effect->is_signed ? "s%d " : "u%d ",
				 effect->index_width * 8);
		line_add(line, "%s", isa->reg_names[effect->index]);
		if (effect->shift)
			line_add(line, " << %d", effect->shift);
	}
	if (effect->base == REG_NONE && effect->index == REG_NONE)
		show_imm(line, effect->imm);
	else if (effect->imm)
		line_add(line, effect->imm < 0 ? " - 0x%llx" : " + 0x%llx",
			 (unsigned long long)(effect->imm < 0 ? -(uint64_t)effect->imm
							      : (uint64_t)effect->imm));
}

static inline void show_effect(struct line *line, const struct isa *isa, const struct effect *effect)
{
	switch (effect->kind) {
	case EFFECT_PUSH:
		line_add(line, "push %s", show_reg(isa, effect->reg));
		break;
	case EFFECT_POP:
		line_add(line, "pop %s", show_reg(isa, effect->reg));
		break;
	case EFFECT_SET:
		line_add(line, "%s = ", show_reg(isa, effect->reg));
		show_sum(line, isa, effect);
		break;
	case EFFECT_AND:
		line_add(line, "%s = %s & ", show_reg(isa, effect->reg), show_reg(isa, effect->base));
		show_imm(line, effect->imm);
		break;
	case EFFECT_LOAD:
		line_add(line, "%s = %s[", show_reg(isa, effect->reg), effect->is_signed ? "signed " : "");
		show_sum(line, isa, effect);
		line_add(line, "]");
		break;
	case EFFECT_STORE:
		line_add(line, "[");
		show_sum(line, isa, effect);
		line_add(line, "] = %s", show_reg(isa, effect->reg));
		break;
	case EFFECT_EXCHANGE:
		line_add(line, "%s <-> %s", show_reg(isa, effect->reg), show_reg(isa, effect->base));
		break;
	case EFFECT_COMPARE:
		line_add(line, "compare %s ", show_reg(isa, effect->base));
		if (effect->reg != REG_NONE)
			line_add(line, "%s", show_reg(isa, effect->reg));
		else
			show_imm(line, effect->imm);
		break;
	default:
		line_add(line, "BAD EFFECT");
	}
	if (effect->width != 8)
		line_add(line, ":%d", effect->width);
}

static inline void show_mask(struct line *line, const struct isa *isa, const char *what, uint64_t mask)
{
	if (!mask)
		return;
	line_add(line, "; %s", what);
	for (unsigned reg = 0; reg < 64; reg++)
		if (mask >> reg & 1)
			line_add(line, " %s", show_reg(isa, (uint8_t)reg));
}

static inline void show_flow(struct line *line, const struct isa *isa, const struct insn *insn)
{
	static const char *const conditions[] = { "other", "==", "!=", ">", ">=", "<", "<=" };

	switch (insn->flow) {
	case FLOW_NEXT:
		return;
	case FLOW_BRANCH:
		line_add(line, "; branch %s 0x%llx", conditions[insn->condition],
			 (unsigned long long)insn->target);
		return;
	case FLOW_JUMP:
	case FLOW_CALL:
		line_add(line, "; %s 0x%llx", insn->flow == FLOW_JUMP ? "jump" : "call",
			 (unsigned long long)insn->target);
		return;
	case FLOW_JUMP_INDIRECT:
	case FLOW_CALL_INDIRECT:
		line_add(line, "; %s *%s", insn->flow == FLOW_JUMP_INDIRECT ? "jump" : "call",
			 show_reg(isa, insn->through));
		if (insn->slot)
			line_add(line, " slot 0x%llx", (unsigned long long)insn->slot);
		return;
	default:
		line_add(line, insn->flow == FLOW_RETURN ? "; return"
			       : insn->flow == FLOW_STOP ? "; stop"
							 : "; BAD FLOW");
	}
}

/* Valid until line is reused. "-" if the instruction has no effect of interest. */
static inline const char *show_insn(struct line *line, const struct isa *isa, const struct insn *insn)
{
	line->len = 0;
	line->text[0] = '\0';
	for (unsigned i = 0; i < insn->n_effects; i++) {
		line_add(line, "; ");
		show_effect(line, isa, &insn->effect[i]);
	}
	show_flow(line, isa, insn);
	show_mask(line, isa, "kills", insn->clobbers);
	show_mask(line, isa, "reads", insn->reads);
	line_add(line, "%s%s%s%s", insn->writes_flags ? "; flags" : "", insn->is_syscall ? "; syscall" : "",
		 insn->is_padding ? "; padding" : "", insn->is_entry_mark ? "; entry" : "");
	return line->len > 2 ? line->text + 2 : "-";
}
