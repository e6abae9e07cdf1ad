/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/hotspot_entry.h"

#define MAX_INSNS 512 /* followed */
#define MAX_PATHS 16  /* branches to be followed */
#define MAX_SEEN 64   /* targets of branches, each followed once */

/* The registers that contain the caller's sp: up to Java 19, and since then. */
static const uint8_t entry_senders[] = { 13, 19 };

struct entry_path {
	uint64_t pc, written; /* mask of registers that no longer have their current value */
	int64_t record;       /* where the return address was stored, relative to sp */
	bool has_record;
};

struct entry {
	const struct isa *isa;
	struct entry_path now, paths[MAX_PATHS];
	unsigned n_paths, n_seen;
	uint64_t seen[MAX_SEEN];
};

static bool entry_is_kept(const struct entry_path *path, unsigned reg)
{
	return !(path->written >> reg & 1);
}

static bool entry_is_sender(unsigned reg)
{
	return reg == entry_senders[0] || reg == entry_senders[1];
}

/* The frame record is stored by one instruction, the frame pointer below the return address. */
static void entry_see_record(struct entry *entry, const struct insn *insn)
{
	const struct isa *isa = entry->isa;
	const struct effect *fp = NULL, *ra = NULL;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];
		if (e->kind != EFFECT_STORE || e->base != isa->sp || e->index != REG_NONE)
			continue;
		fp = e->reg == isa->fp ? e : fp;
		ra = e->reg == isa->ra ? e : ra;
	}
	if (!fp || !ra || ra->imm != fp->imm + 8 || !entry_is_kept(&entry->now, isa->fp))
		return;
	entry->now.record = ra->imm;
	entry->now.has_record = true;
}

/* The register that contains the caller's sp, according to the instruction. */
static unsigned entry_see_sender(const struct entry *entry, const struct insn *insn)
{
	const struct isa *isa = entry->isa;
	const struct entry_path *path = &entry->now;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];
		if (!entry_is_sender(e->reg) || e->base != isa->sp || e->index != REG_NONE)
			continue;
		/* An adapter, about to move sp. */
		if (e->kind == EFFECT_SET && e->imm == 0 && entry_is_kept(path, isa->sp) &&
		    entry_is_kept(path, isa->fp))
			return isa->sp;
		/* The interpreter: its frame contains it below the frame record. */
		if (e->kind == EFFECT_STORE && path->has_record && e->imm == path->record - 16 &&
		    entry_is_kept(path, e->reg))
			return e->reg;
	}
	return REG_NONE;
}

static void entry_write(struct entry *entry, const struct insn *insn)
{
	uint64_t written = insn->clobbers;

	for (unsigned i = 0; i < insn->n_effects; i++) {
		const struct effect *e = &insn->effect[i];
		if (e->kind == EFFECT_PUSH || e->kind == EFFECT_POP)
			written |= 1ull << entry->isa->sp;
		if (e->kind == EFFECT_EXCHANGE && e->base < REG_MAX)
			written |= 1ull << e->base;
		if (e->kind != EFFECT_STORE && e->kind != EFFECT_COMPARE && e->kind != EFFECT_PUSH &&
		    e->reg < REG_MAX)
			written |= 1ull << e->reg;
	}
	entry->now.has_record &= !(written >> entry->isa->sp & 1);
	entry->now.written |= written;
}

static void entry_remember(struct entry *entry, uint64_t target)
{
	for (unsigned i = 0; i < entry->n_seen; i++)
		if (entry->seen[i] == target)
			return;
	if (entry->n_paths == MAX_PATHS || entry->n_seen == MAX_SEEN)
		return;
	entry->seen[entry->n_seen++] = target;
	entry->paths[entry->n_paths] = entry->now;
	entry->paths[entry->n_paths++].pc = target;
}

/* False if the path ends: after that, the return address register may contain anything. */
static bool entry_go_on(struct entry *entry, const struct insn *insn)
{
	switch ((enum insn_flow)insn->flow) {
	case FLOW_NEXT:
		break;
	case FLOW_BRANCH:
		entry_remember(entry, insn->target);
		break;
	case FLOW_JUMP:
		entry_remember(entry, insn->target);
		return false;
	default:
		return false;
	}
	entry->now.pc += insn->len;
	return entry_is_kept(&entry->now, entry->isa->ra);
}

unsigned hotspot_entry_sender(const struct isa *isa, ahead_code code, void *context, uint64_t pc)
{
	struct entry entry = { .isa = isa, .now = { .pc = pc } };
	struct insn insn;

	if (isa->call_pushes_ra)
		return REG_NONE;
	for (unsigned n = 0; n < MAX_INSNS; n++) {
		bool goes_on = isa->decode(code(context, entry.now.pc), entry.now.pc, &insn) == 0 && insn.len;
		if (goes_on) {
			unsigned sender = entry_see_sender(&entry, &insn);
			if (sender != REG_NONE)
				return sender;
			entry_write(&entry, &insn);
			entry_see_record(&entry, &insn);
			goes_on = entry_go_on(&entry, &insn);
		}
		if (!goes_on && !entry.n_paths)
			break;
		if (!goes_on)
			entry.now = entry.paths[--entry.n_paths];
	}
	return REG_NONE;
}
