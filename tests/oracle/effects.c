/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effects: compares isa's description of instructions with what the processor does. Single-steps a command.
 * Before each step, registers and memory after it are predicted from the effects; after it, every register
 * must have the predicted value, be in the clobbers, or be unchanged; control must be where the flow says,
 * and a conditional branch must follow the last compare.
 *
 * usage: effects [-n STEPS] [-s SYSCALLS] CMD ARGS...      exit 77: stepping is not possible here
 * Stepping starts after SYSCALLS system calls: a load-exclusive loop, which the dynamic linker uses before
 * it has identified the processor, never ends when single-stepped.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/oracle/step_regs.h"
#include "tests/unit/binary/show_insn.h"

struct value {
	uint64_t bits;
	bool is_known;
};

struct store {
	uint64_t address;
	unsigned width;
	struct value value;
};

struct compare {
	struct value left, right;
	bool holds; /* the flags are still those of the compare */
};

/* The state of the machine between two effects. */
struct model {
	const struct isa *isa;
	pid_t tid;
	struct value reg[REG_MAX], loaded; /* loaded: the result of a LOAD without a register */
	struct store store[INSN_MAX_EFFECTS];
	unsigned n_stores;
	struct compare *compare;
};

struct tally {
	uint64_t steps, registers, stores, branches, wrong;
};

static bool read_target(pid_t tid, uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size }, remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static uint64_t low_bytes(uint64_t bits, unsigned width)
{
	return width >= 8 ? bits : bits & ((UINT64_C(1) << (8 * width)) - 1);
}

static uint64_t sign_extend(uint64_t bits, unsigned width)
{
	unsigned unused = 64 - 8 * width;

	return width >= 8 ? bits : (uint64_t)((int64_t)(bits << unused) >> unused);
}

static struct value reg_value(const struct model *model, uint8_t reg)
{
	return reg == REG_NONE ? (struct value){ 0, true } : model->reg[reg];
}

/* base + (index << shift) + imm. */
static struct value sum(const struct model *model, const struct effect *effect)
{
	struct value base = reg_value(model, effect->base), index = reg_value(model, effect->index);
	bool is_set = effect->kind == EFFECT_SET;
	uint64_t scaled;

	if (!is_set && effect->index != REG_NONE && effect->index_width != 8)
		return (struct value){ 0, false }; /* how the index is extended is not known */
	scaled = is_set && effect->is_signed ? sign_extend(index.bits, effect->index_width)
					     : low_bytes(index.bits, effect->index_width);
	scaled <<= effect->shift;
	return (struct value){ base.bits + (is_set && effect->is_subtracted ? -scaled : scaled) +
				       (uint64_t)effect->imm,
			       base.is_known && index.is_known };
}

static struct value load(const struct model *model, struct value address, unsigned width, bool is_signed)
{
	struct value found = { 0, false };

	if (address.is_known && width <= 8)
		found.is_known = read_target(model->tid, address.bits, &found.bits, width);
	if (is_signed)
		found.bits = sign_extend(found.bits, width);
	return found;
}

static void note_store(struct model *model, struct value address, unsigned width, struct value value)
{
	if (address.is_known && value.is_known && width <= 8)
		model->store[model->n_stores++] = (struct store){ address.bits, width, value };
}

static void set_reg(struct model *model, uint8_t reg, struct value value, unsigned width)
{
	value.bits = low_bytes(value.bits, width);
	model->reg[reg] = value;
}

static void apply_compare(struct model *model, const struct effect *effect)
{
	struct value left = effect->base == REG_NONE ? model->loaded : model->reg[effect->base];
	struct value right = effect->reg == REG_NONE ? (struct value){ (uint64_t)effect->imm, true }
						     : model->reg[effect->reg];

	left.bits = low_bytes(left.bits, effect->width);
	right.bits = low_bytes(right.bits, effect->width);
	*model->compare = (struct compare){ left, right, true };
}

static void apply(struct model *model, const struct effect *effect)
{
	struct value unknown = { 0, false }, *sp = &model->reg[model->isa->sp];
	struct value reg = effect->reg == REG_NONE ? unknown : model->reg[effect->reg], swapped;

	switch (effect->kind) {
	case EFFECT_PUSH:
		sp->bits -= effect->width;
		note_store(model, *sp, effect->width, reg);
		break;
	case EFFECT_POP:
		model->reg[effect->reg] = load(model, *sp, effect->width, false);
		sp->bits += effect->width;
		break;
	case EFFECT_SET:
		set_reg(model, effect->reg, sum(model, effect), effect->width);
		break;
	case EFFECT_AND:
		reg = reg_value(model, effect->base);
		reg.bits &= (uint64_t)effect->imm;
		set_reg(model, effect->reg, reg, effect->width);
		break;
	case EFFECT_LOAD:
		reg = load(model, sum(model, effect), effect->width, effect->is_signed);
		*(effect->reg == REG_NONE ? &model->loaded : &model->reg[effect->reg]) = reg;
		break;
	case EFFECT_STORE:
		note_store(model, sum(model, effect), effect->width, reg);
		break;
	case EFFECT_EXCHANGE:
		swapped = model->reg[effect->base];
		model->reg[effect->base] = reg;
		model->reg[effect->reg] = swapped;
		break;
	case EFFECT_COMPARE:
		apply_compare(model, effect);
		break;
	default:
		abort();
	}
}

static bool is_taken(const struct compare *compare, uint8_t condition)
{
	uint64_t a = compare->left.bits, b = compare->right.bits;

	switch (condition) {
	case CONDITION_EQUAL:
		return a == b;
	case CONDITION_NOT_EQUAL:
		return a != b;
	case CONDITION_ABOVE:
		return a > b;
	case CONDITION_ABOVE_EQUAL:
		return a >= b;
	case CONDITION_BELOW:
		return a < b;
	case CONDITION_BELOW_EQUAL:
		return a <= b;
	default:
		abort();
	}
}

/* The expected pc after the step; unknown for returns, and where no value is known. */
static struct value foretell_pc(const struct model *model, const struct insn *insn, uint64_t vaddr,
				struct tally *tally)
{
	const struct compare *compare = model->compare;
	uint64_t next = vaddr + insn->len;

	switch (insn->flow) {
	case FLOW_NEXT:
		return (struct value){ next, true };
	case FLOW_JUMP:
	case FLOW_CALL:
		return (struct value){ insn->target, true };
	case FLOW_JUMP_INDIRECT:
	case FLOW_CALL_INDIRECT:
		return insn->through == REG_NONE ? model->loaded : model->reg[insn->through];
	case FLOW_BRANCH:
		if (insn->condition == CONDITION_OTHER || !compare->holds || !compare->left.is_known ||
		    !compare->right.is_known)
			return (struct value){ 0, false };
		tally->branches++;
		return (struct value){ is_taken(compare, insn->condition) ? insn->target : next, true };
	default:
		return (struct value){ 0, false };
	}
}

static void complain(const struct isa *isa, struct bytes code, uint64_t vaddr, const struct insn *insn,
		     const char *what, uint64_t foretold, uint64_t found, struct tally *tally)
{
	char text[128];
	struct line line;

	if (tally->wrong++ >= 30)
		return;
	isa->format(code, vaddr, text, sizeof text);
	printf("0x%llx: %s\n  %s\n  %s: expected 0x%llx, found 0x%llx\n", (unsigned long long)vaddr, text,
	       show_insn(&line, isa, insn), what, (unsigned long long)foretold, (unsigned long long)found);
}

static bool is_call(const struct insn *insn)
{
	return insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT;
}

/* Calls and returns change sp or ra, which the effects do not include. */
static void apply_flow(struct model *model, const struct insn *insn, uint64_t vaddr)
{
	const struct isa *isa = model->isa;

	if (is_call(insn) && isa->call_pushes_ra) {
		model->reg[isa->sp].bits -= 8;
		note_store(model, model->reg[isa->sp], 8, (struct value){ vaddr + insn->len, true });
	} else if (is_call(insn)) {
		model->reg[isa->ra] = (struct value){ vaddr + insn->len, true };
	} else if (insn->flow == FLOW_RETURN && isa->call_pushes_ra) {
		model->reg[isa->sp].is_known = false; /* ret imm */
	}
}

static void check_step(struct model *model, const struct insn *insn, struct bytes code, uint64_t vaddr,
		       struct value pc, const uint64_t *after, struct tally *tally)
{
	const struct isa *isa = model->isa;

	if (pc.is_known && isa->strip_pc(pc.bits) != after[isa->pc] &&
	    after[isa->pc] != vaddr) /* rep: the same instruction again */
		complain(isa, code, vaddr, insn, "pc", pc.bits, after[isa->pc], tally);
	for (uint8_t reg = 0; reg < isa->n_regs; reg++) {
		if (reg == isa->pc || insn->clobbers >> reg & 1 || !model->reg[reg].is_known)
			continue;
		tally->registers++;
		if (model->reg[reg].bits != after[reg])
			complain(isa, code, vaddr, insn, isa->reg_names[reg], model->reg[reg].bits,
				 after[reg], tally);
	}
	for (unsigned i = 0; i < model->n_stores; i++) {
		const struct store *store = &model->store[i];
		uint64_t found = 0;

		if (!read_target(model->tid, store->address, &found, store->width))
			continue;
		tally->stores++;
		if (found != low_bytes(store->value.bits, store->width))
			complain(isa, code, vaddr, insn, "memory", store->value.bits, found, tally);
	}
}

/* False if the target is gone. */
static bool resume(int request, pid_t tid, int *signal)
{
	int status;

	if (ptrace(request, tid, NULL, (void *)(intptr_t)*signal) < 0 || waitpid(tid, &status, __WALL) < 0 ||
	    !WIFSTOPPED(status))
		return false;
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

static bool check_one(const struct isa *isa, pid_t tid, struct compare *compare, int *signal,
		      struct tally *tally)
{
	struct model model = { .isa = isa, .tid = tid, .compare = compare };
	uint64_t before[REG_MAX], after[REG_MAX];
	uint8_t buffer[16];
	struct insn insn;

	if (!step_regs_read(tid, before))
		return false;

	uint64_t vaddr = before[isa->pc];
	struct bytes code = { buffer, sizeof buffer };
	int delivered = *signal;

	while (code.len && !read_target(tid, vaddr, buffer, code.len))
		code.len--; /* the mapping may end after the instruction */
	if (isa->decode(code, vaddr, &insn) < 0) {
		printf("0x%llx: does not decode\n", (unsigned long long)vaddr);
		tally->wrong++;
		return resume(PTRACE_SINGLESTEP, tid, signal);
	}
	for (unsigned i = 0; i < isa->n_regs; i++)
		model.reg[i] = (struct value){ before[i], true };
	if (insn.writes_flags)
		compare->holds = false;
	for (unsigned i = 0; i < insn.n_effects; i++)
		apply(&model, &insn.effect[i]);

	struct value pc = foretell_pc(&model, &insn, vaddr, tally);

	apply_flow(&model, &insn, vaddr);
	if (!resume(PTRACE_SINGLESTEP, tid, signal) || !step_regs_read(tid, after))
		return false;
	tally->steps++;
	if (memcmp(before, after, isa->n_regs * sizeof before[0]) == 0)
		return true; /* some kernels stop twice after a system call */
	if (delivered || *signal || (insn.is_syscall && after[isa->pc] != vaddr + insn.len))
		compare->holds = false; /* a handler, an exec or a fault intervened */
	else
		check_step(&model, &insn, code, vaddr, pc, after, tally);
	return true;
}

/*
 * Runs to the return of a system call: the first stop is that of exec, then each call has two. Then one
 * more step, because on AArch64 the kernel changes a register during a system-call stop.
 */
static void skip(pid_t tid, uint64_t n_syscalls, int *signal)
{
	bool is_alive = true;

	for (uint64_t i = 0; n_syscalls && is_alive && i < 2 * n_syscalls + 1; i++)
		is_alive = resume(PTRACE_SYSCALL, tid, signal);
	if (n_syscalls && is_alive)
		resume(PTRACE_SINGLESTEP, tid, signal);
}

static pid_t start(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			execvp(argv[0], argv);
		_exit(126);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return -1;
	return pid;
}

int main(int argc, char **argv)
{
	const struct isa *isa = isa_for_machine(STEP_MACHINE);
	uint64_t n_steps = 1000000, n_syscalls = 0;
	struct compare compare = { .holds = false };
	struct tally tally = { 0 };
	int option, signal = 0;

	while ((option = getopt(argc, argv, "+n:s:")) != -1) {
		if (option == 'n')
			n_steps = strtoull(optarg, NULL, 0);
		else if (option == 's')
			n_syscalls = strtoull(optarg, NULL, 0);
		else
			return 2;
	}

	pid_t pid = optind < argc && isa ? start(argv + optind) : -1;

	if (pid < 0) {
		printf("skipped: cannot step '%s' on this machine\n", optind < argc ? argv[optind] : "");
		return 77;
	}
	skip(pid, n_syscalls, &signal);
	while (tally.steps < n_steps && check_one(isa, pid, &compare, &signal, &tally))
		continue;
	kill(pid, SIGKILL);
	printf("%s: %llu steps, %llu registers, %llu stores, %llu branches checked, %llu wrong\n", isa->name,
	       (unsigned long long)tally.steps, (unsigned long long)tally.registers,
	       (unsigned long long)tally.stores, (unsigned long long)tally.branches,
	       (unsigned long long)tally.wrong);
	return tally.steps > 0 && tally.wrong == 0 ? 0 : 1;
}
