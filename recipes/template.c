/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/template.h"

#include <elf.h>
#include <string.h>

#include "binary/functions/stub.h"

/* ---- stubs -------------------------------------------------------------------------------------- */

uint32_t template_stub(const struct image *image, const struct isa *isa, uint64_t vaddr,
		       struct recipes *recipes, uint64_t *ret_start)
{
	struct stub stub;
	struct rule ra = { .reg = isa->ra, .kind = RULE_AT_CFA, .offset = -8 };

	if (!stub_match(image, vaddr, &stub))
		return RECIPE_NONE;
	bool has_pushed = stub.push_end && vaddr - stub.start >= stub.push_end;
	struct recipe recipe = {
		.cfa_kind = CFA_REG, .cfa_reg = isa->sp, .witness = WITNESS_TEMPLATE, .trust = TRUST_PROVEN
	};
	recipe.cfa_offset = stub.depth + (has_pushed ? stub.push_size : 0);
	recipe.n_rules = isa->call_pushes_ra || (has_pushed && stub.saves_ra) ? 1 : 0;
	*ret_start = stub.start;
	return recipes_add(recipes, &recipe, &ra);
}

/* ---- signals ------------------------------------------------------------------------------------ */

/*
 * What the kernel leaves at sp for the trampoline: a ucontext (AArch64: after 128 bytes of siginfo), with the
 * interrupted registers at these offsets from sp.
 */
struct signal_layout {
	uint8_t insns[4]; /* offsets in the trampoline (x86-64 has two forms): of its second instruction, and
			     after it */
	uint16_t sp;      /* of the saved sp */
	uint16_t reg[REG_MAX]; /* by DWARF number; 0 = none */
};

#define X86_GREG(n) (40 + 8 * (n))
static const struct signal_layout x86_layout = {
	.insns = { 0, 5, 7, 9 },
	.sp = X86_GREG(15),
	.reg = { [0] = X86_GREG(13),
		 [1] = X86_GREG(12),
		 [2] = X86_GREG(14),
		 [3] = X86_GREG(11),
		 [4] = X86_GREG(9),
		 [5] = X86_GREG(8),
		 [6] = X86_GREG(10),
		 [8] = X86_GREG(0),
		 [9] = X86_GREG(1),
		 [10] = X86_GREG(2),
		 [11] = X86_GREG(3),
		 [12] = X86_GREG(4),
		 [13] = X86_GREG(5),
		 [14] = X86_GREG(6),
		 [15] = X86_GREG(7),
		 [16] = X86_GREG(16) },
};

#define ARM_REG(n) (128 + 184 + 8 * (n))
static const struct signal_layout arm_layout = {
	.insns = { 0, 4, 8, 8 },
	.sp = ARM_REG(31),
	.reg = { ARM_REG(0),  ARM_REG(1),        ARM_REG(2),  ARM_REG(3),  ARM_REG(4),  ARM_REG(5),
		 ARM_REG(6),  ARM_REG(7),        ARM_REG(8),  ARM_REG(9),  ARM_REG(10), ARM_REG(11),
		 ARM_REG(12), ARM_REG(13),       ARM_REG(14), ARM_REG(15), ARM_REG(16), ARM_REG(17),
		 ARM_REG(18), ARM_REG(19),       ARM_REG(20), ARM_REG(21), ARM_REG(22), ARM_REG(23),
		 ARM_REG(24), ARM_REG(25),       ARM_REG(26), ARM_REG(27), ARM_REG(28), ARM_REG(29),
		 ARM_REG(30), [32] = ARM_REG(32) },
};

static const struct signal_layout *template_layout_of(const struct isa *isa)
{
	return isa->elf_machine == EM_AARCH64 ? &arm_layout : &x86_layout;
}

static bool template_is_trampoline(const struct image *image, const struct isa *isa, uint64_t vaddr)
{
	const struct signal_layout *layout = template_layout_of(isa);

	for (size_t i = 0; isa->is_signal_trampoline && i < ARRAY_LEN(layout->insns); i++)
		if (vaddr >= layout->insns[i] &&
		    isa->is_signal_trampoline(image_code(image, vaddr - layout->insns[i])))
			return true;
	return false;
}

uint32_t template_signal(const struct image *image, const struct isa *isa, uint64_t vaddr,
			 struct recipes *recipes)
{
	const struct signal_layout *layout = template_layout_of(isa);
	struct recipe recipe = { .cfa_kind = CFA_DEREF,
				 .cfa_reg = isa->sp,
				 .cfa_offset = layout->sp,
				 .witness = WITNESS_TEMPLATE,
				 .trust = TRUST_PROVEN,
				 .is_signal_frame = true };
	struct rule rules[REG_MAX];

	if (!template_is_trampoline(image, isa, vaddr))
		return RECIPE_NONE;
	for (unsigned reg = 0; reg < REG_MAX; reg++)
		if (layout->reg[reg])
			rules[recipe.n_rules++] = (struct rule){ .reg = (uint8_t)reg,
								 .kind = RULE_AT_REG,
								 .from = isa->sp,
								 .offset = layout->reg[reg] };
	return recipes_add(recipes, &recipe, rules);
}

bool template_is_uprobes(const struct image *image)
{
	return image->kind == IMAGE_UNKNOWN && strcmp(image->path, "[uprobes]") == 0;
}

bool template_is_uprobes_call(const struct image *image)
{
	return image->kind == IMAGE_UNKNOWN && strcmp(image->path, "[uprobes-trampoline]") == 0;
}

/* ---- frame pointers ----------------------------------------------------------------------------- */

uint32_t template_frame_pointer(const struct isa *isa, struct recipes *recipes)
{
	struct recipe recipe = { .cfa_kind = CFA_REG,
				 .cfa_reg = isa->fp,
				 .cfa_offset = 16,
				 .witness = WITNESS_FP,
				 .trust = TRUST_GUESS };
	struct rule rules[3] = { { .reg = isa->fp, .kind = RULE_AT_CFA, .offset = -16 },
				 { .reg = isa->ra, .kind = RULE_AT_CFA, .offset = -8 },
				 { .reg = isa->sp, .kind = RULE_UNDEFINED } };

	/* On AArch64 the pair is at the bottom of the frame: the caller's sp is somewhere above it. */
	recipe.n_rules = isa->call_pushes_ra ? 2 : 3;
	return recipes_add(recipes, &recipe, rules);
}

/* ---- where programs and threads begin ----------------------------------------------------------- */

#define ENTRY_MAX 128 /* bytes of an entry point without an unwind entry: the loader's has about eighty */

bool template_is_entry(const struct image *image, const struct frames *frames, uint64_t vaddr)
{
	struct fde entry, here;

	if (image->entry == 0 || vaddr < image->entry)
		return false;
	if (frames_find(frames, image->entry, &entry) == 0)
		return vaddr - entry.start < entry.size;
	return vaddr - image->entry < ENTRY_MAX && frames_find(frames, vaddr, &here) < 0;
}

uint64_t template_entry_end(const struct image *image, const struct frames *frames)
{
	uint64_t end = image->entry + ENTRY_MAX;
	struct fde entry;

	if (image->entry && frames_find(frames, image->entry, &entry) == 0)
		end = entry.start + entry.size;
	return end < image->entry ? UINT64_MAX : end;
}

#define SYSCALL_MAX_INSNS 6
#define NO_SYSCALL (-1)

/* The number of the system call that follows in the straight-line code at vaddr; ret_end: after it. */
static int64_t template_syscall_ahead(const struct image *image, const struct isa *isa, uint64_t vaddr,
				      uint64_t *ret_end)
{
	uint8_t number_reg = isa->elf_machine == EM_AARCH64 ? 8 : 0;
	int64_t number = NO_SYSCALL;

	for (unsigned n = 0; n < SYSCALL_MAX_INSNS && isa->decode; n++) {
		struct insn insn;
		if (isa->decode(image_code(image, vaddr), vaddr, &insn) < 0 || insn.len == 0)
			return NO_SYSCALL;
		vaddr += insn.len;
		*ret_end = vaddr;
		if (insn.is_syscall)
			return number;
		if (insn.flow != FLOW_NEXT)
			return NO_SYSCALL;
		for (unsigned i = 0; i < insn.n_effects; i++) {
			const struct effect *e = &insn.effect[i];
			if (e->kind == EFFECT_SET && e->reg == number_reg)
				number = e->base == REG_NONE && e->index == REG_NONE ? e->imm : NO_SYSCALL;
		}
		if (insn.clobbers >> number_reg & 1)
			number = NO_SYSCALL;
	}
	return NO_SYSCALL;
}

#define X86_EXIT 60
#define ARM_EXIT 93

/*
 * clone's child calls the thread's function and then makes the exit system call itself. Looks for a call
 * through a register, followed directly by the system call exit.
 */
bool template_is_thread_start(const struct image *image, const struct isa *isa, uint64_t vaddr)
{
	uint64_t end;

	return template_syscall_ahead(image, isa, vaddr, &end) ==
	       (isa->elf_machine == EM_AARCH64 ? ARM_EXIT : X86_EXIT);
}

/* A move of the number, 5 or 4 bytes long, and the system call. */
bool template_is_exec(const struct image *image, const struct isa *isa, uint64_t vaddr)
{
	enum { X86_EXECVE = 59, X86_EXECVEAT = 322, ARM_EXECVE = 221, ARM_EXECVEAT = 281 };
	bool is_arm = isa->elf_machine == EM_AARCH64;
	uint64_t end = 0;
	int64_t number = template_syscall_ahead(image, isa, vaddr - (is_arm ? 8 : 7), &end);

	return end == vaddr && (is_arm ? number == ARM_EXECVE || number == ARM_EXECVEAT
				       : number == X86_EXECVE || number == X86_EXECVEAT);
}

/* Does the instruction do this and nothing else: reg = base, or reg = [base]? */
static bool template_does(const struct insn *insn, enum effect_kind kind, unsigned reg, unsigned base)
{
	const struct effect *e = &insn->effect[0];

	return insn->flow == FLOW_NEXT && insn->n_effects == 1 && !insn->clobbers && e->kind == kind &&
	       e->reg == reg && e->base == base && e->index == REG_NONE && e->imm == 0;
}

/*
 * The C library's code takes the next context from a callee-saved register and switches to it. AArch64: mov
 * x0, x19; cbnz x0; b. x86-64: mov %rbx, %rsp; mov (%rsp), %rdi; test; je.
 */
bool template_is_context_start(const struct image *image, const struct isa *isa, uint64_t vaddr)
{
	bool is_arm = isa->elf_machine == EM_AARCH64;
	struct insn insn[4];

	for (size_t n = 0; n < ARRAY_LEN(insn);) {
		if (!isa->decode || isa->decode(image_code(image, vaddr), vaddr, &insn[n]) < 0 ||
		    insn[n].len == 0)
			return false;
		vaddr += insn[n].len;
		if (n > 0 || !(insn[n].is_padding || insn[n].is_entry_mark))
			n++;
	}
	if (is_arm)
		return template_does(&insn[0], EFFECT_SET, 0, 19) && insn[1].flow == FLOW_BRANCH &&
		       insn[1].reads == 1 && insn[2].flow == FLOW_JUMP;
	return template_does(&insn[0], EFFECT_SET, isa->sp, 3) &&
	       template_does(&insn[1], EFFECT_LOAD, 5, isa->sp) && insn[3].flow == FLOW_BRANCH;
}

/* ---- emulated calls ----------------------------------------------------------------------------- */

bool template_is_made_call(const struct isa *isa, struct bytes before, uint64_t vaddr)
{
	struct insn insn = { 0 };
	bool has_address = false;

	if (isa->call_pushes_ra || before.len % isa->min_insn)
		return false;
	for (uint64_t at = vaddr - before.len; at < vaddr; at += insn.len) {
		if (isa->decode(bytes_from(before, before.len - (size_t)(vaddr - at)), at, &insn) < 0 ||
		    !insn.len)
			return false;
		const struct effect *e = &insn.effect[0];
		if (insn.clobbers >> isa->ra & 1)
			has_address = false;
		if (insn.n_effects && e->kind == EFFECT_SET && e->reg == isa->ra)
			has_address =
				e->base == REG_NONE && e->index == REG_NONE && (uint64_t)e->imm == vaddr;
	}
	return has_address && (insn.flow == FLOW_JUMP_INDIRECT || insn.flow == FLOW_JUMP);
}
