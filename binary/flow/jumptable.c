/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jumptable: the targets of an indirect jump.
 *
 * The value tells which table it is and how its entries become addresses; what is missing is the number of
 * entries. A compare of the index on the path to the jump gives the exact number; without one, the table ends
 * at the first entry that cannot be a target of this function, or where other data starts. An `and` or a byte
 * load of the index is only an upper limit. A jump without a table may go into an array of code.
 */
#include "binary/flow/flow_private.h"

#define LOOK_BACK 60      /* instructions between the compare and the load; real code needs about twelve */
#define MAX_ENTRIES 8192u /* the largest switch seen has about 2000 */
#define MANY_TARGETS (4 * MAX_ENTRIES)
#define TARGETS_PER_BLOCK 8 /* that cost as much as running a block */
#define MOST_PER_INSN 8u /* targets of all jumps; interpreters, in which many jumps share a table, have 3 */
#define MAX_BLOCKS 16    /* of an array of code: one for each misalignment within 16 bytes */
#define BLOCK_INSNS 256u /* of one of them, at most */

/* What the path to the load says about the index. */
struct bound {
	uint64_t count; /* entries */
	bool is_exact;
};

/* A walk back from the load along the path by which it was first reached. */
struct trail {
	const struct flow *flow;
	uint8_t reg; /* contains the index here; REG_NONE: it is the memory operand below */
	struct effect memory;
	uint8_t condition; /* that was true on this path, for the next compare above; CONDITION_OTHER = none
			    */
	uint8_t compared;  /* a register compared further down, and the resulting number of entries */
	uint64_t compared_count;
	uint64_t limit; /* upper limit found on the way */
};

static uint8_t jumptable_opposite(uint8_t condition)
{
	switch (condition) {
	case CONDITION_ABOVE:
		return CONDITION_BELOW_EQUAL;
	case CONDITION_ABOVE_EQUAL:
		return CONDITION_BELOW;
	case CONDITION_BELOW:
		return CONDITION_ABOVE_EQUAL;
	case CONDITION_BELOW_EQUAL:
		return CONDITION_ABOVE;
	default:
		return CONDITION_OTHER;
	}
}

static uint64_t jumptable_count_from(uint8_t condition, uint64_t limit)
{
	if (condition == CONDITION_BELOW_EQUAL && limit < MAX_ENTRIES)
		return limit + 1;
	if (condition == CONDITION_BELOW && limit <= MAX_ENTRIES)
		return limit;
	return 0;
}

/* The constant a register was last set to, a few instructions above i. */
static bool jumptable_constant_above(const struct flow *flow, uint32_t i, uint8_t reg, uint64_t *ret)
{
	for (uint32_t back = 0; back < 20 && i > 0; back++) {
		const struct insn *insn = flow_insn(flow, --i);
		for (unsigned k = insn->n_effects; k-- > 0;) {
			const struct effect *e = &insn->effect[k];
			if (e->kind == EFFECT_SET && e->reg == reg && e->base == REG_NONE &&
			    e->index == REG_NONE) {
				*ret = (uint64_t)e->imm;
				return true;
			}
			if (e->kind != EFFECT_STORE && e->kind != EFFECT_COMPARE && e->reg == reg)
				return false;
		}
		if (insn->clobbers & 1ull << reg)
			return false;
	}
	return false;
}

static bool jumptable_same_memory(const struct effect *a, const struct effect *b)
{
	return a->base == b->base && a->index == b->index && a->shift == b->shift && a->imm == b->imm;
}

/* The compare at instruction i, effect k: does it bound the index, or a register that may turn out to be it?
 */
static uint64_t jumptable_meet_compare(struct trail *t, uint32_t i, unsigned k)
{
	const struct insn *insn = flow_insn(t->flow, i);
	const struct effect *e = &insn->effect[k];
	uint64_t limit = (uint64_t)e->imm;
	uint8_t condition = t->condition;

	t->condition = CONDITION_OTHER;
	if (condition == CONDITION_OTHER ||
	    (e->reg != REG_NONE && !jumptable_constant_above(t->flow, i, e->reg, &limit)))
		return 0;

	uint64_t count = jumptable_count_from(condition, limit);
	if (e->base == REG_NONE)
		return t->reg == REG_NONE && k > 0 && insn->effect[k - 1].kind == EFFECT_LOAD &&
				       jumptable_same_memory(&insn->effect[k - 1], &t->memory)
			       ? count
			       : 0;
	if (e->base == t->reg)
		return count;
	t->compared = e->base;
	t->compared_count = count;
	return 0;
}

static void jumptable_lower_limit(struct trail *t, uint64_t limit)
{
	if (limit && (!t->limit || limit < t->limit))
		t->limit = limit;
}

static uint64_t jumptable_width_limit(uint8_t width)
{
	return width == 1 ? 256 : width == 2 ? 65536 : 0;
}

/* An effect that writes the index: what it was before. False if that is not known. */
static bool jumptable_follow_write(struct trail *t, const struct effect *e)
{
	if (e->kind == EFFECT_LOAD) {
		jumptable_lower_limit(t, jumptable_width_limit(e->width));
		t->memory = *e;
		t->reg = REG_NONE;
		return true;
	}
	if (e->kind == EFFECT_AND) {
		if (e->imm >= 0)
			jumptable_lower_limit(t, (uint64_t)e->imm + 1);
		return false;
	}
	if (e->kind != EFFECT_SET || e->imm != 0 || e->is_subtracted)
		return false;
	if (e->index == REG_NONE && e->base != REG_NONE) {
		t->reg = e->base;
		return true;
	}
	if (e->base == REG_NONE && e->index != REG_NONE && e->shift == 0) {
		if (!e->is_signed)
			jumptable_lower_limit(t, jumptable_width_limit(e->index_width));
		t->reg = e->index;
		return true;
	}
	return false;
}

static bool jumptable_writes(const struct effect *e, uint8_t reg, uint8_t sp)
{
	switch ((enum effect_kind)e->kind) {
	case EFFECT_PUSH:
		return reg == sp;
	case EFFECT_STORE:
	case EFFECT_COMPARE:
		return false;
	case EFFECT_EXCHANGE:
		return e->reg == reg || e->base == reg;
	default:
		return e->reg == reg;
	}
}

enum trail_step { TRAIL_GOES_ON, TRAIL_ENDS };

static enum trail_step jumptable_pass_insn(struct trail *t, uint32_t i, uint64_t *ret_count)
{
	const struct insn *insn = flow_insn(t->flow, i);
	uint64_t caller_saved =
		insn->flow == FLOW_CALL || insn->flow == FLOW_CALL_INDIRECT ? ~t->flow->isa->callee_saved : 0;
	uint64_t lost = insn->clobbers | caller_saved;

	if (t->compared != REG_NONE && (lost >> t->compared & 1))
		t->compared = REG_NONE;
	if (t->reg != REG_NONE && (lost >> t->reg & 1))
		return TRAIL_ENDS;
	for (unsigned k = insn->n_effects; k-- > 0;) {
		const struct effect *e = &insn->effect[k];
		if (e->kind == EFFECT_COMPARE) {
			*ret_count = jumptable_meet_compare(t, i, k);
			if (*ret_count)
				return TRAIL_ENDS;
			continue;
		}
		bool is_store_here =
			e->kind == EFFECT_STORE && t->reg == REG_NONE && jumptable_same_memory(e, &t->memory);
		if (is_store_here && e->reg != REG_NONE)
			t->reg = e->reg;
		else if (is_store_here)
			return TRAIL_ENDS;
		else if (t->reg != REG_NONE && jumptable_writes(e, t->reg, t->flow->isa->sp) &&
			 !jumptable_follow_write(t, e))
			return TRAIL_ENDS;
		if (t->compared != REG_NONE && jumptable_writes(e, t->compared, t->flow->isa->sp))
			t->compared = REG_NONE;
	}
	if (t->reg != REG_NONE && t->reg == t->compared) {
		*ret_count = t->compared_count;
		return *ret_count ? TRAIL_ENDS : TRAIL_GOES_ON;
	}
	return TRAIL_GOES_ON;
}

/* The instruction from which control reached i; records the condition that was true on the way. */
static uint32_t jumptable_previous(struct trail *t, uint32_t i)
{
	const struct flow *flow = t->flow;
	uint32_t from = i ? i - 1 : FLOW_NONE;

	if (flow->flags.at[i] & INSN_LEADER)
		from = flow->private->first_from.at[i];
	if (from == FLOW_NONE || flow->insns.at[from].flow != FLOW_BRANCH)
		return from;

	const struct insn *branch = &flow->insns.at[from];
	bool is_taken = branch->target == flow->vaddrs.at[i];
	t->condition = is_taken ? branch->condition : jumptable_opposite(branch->condition);
	return from;
}

static struct bound jumptable_find_bound(const struct flow *flow, const struct flow_load *load)
{
	struct trail t = {
		.flow = flow, .reg = load->index, .compared = REG_NONE, .condition = CONDITION_OTHER
	};
	uint32_t i = jumptable_previous(&t, load->insn);
	uint64_t count = 0;

	for (unsigned steps = 0; steps < LOOK_BACK && i != FLOW_NONE; steps++) {
		if (jumptable_pass_insn(&t, i, &count) == TRAIL_ENDS)
			break;
		i = jumptable_previous(&t, i);
	}
	if (count)
		return (struct bound){ count, true };
	return (struct bound){ t.limit && t.limit < MAX_ENTRIES ? t.limit : MAX_ENTRIES, false };
}

/* The next data that some instruction refers to: in the image if that is known, in this function in any case.
 */
static uint64_t jumptable_next_data(const struct flow *flow, uint64_t table)
{
	uint64_t next = flow->ignores_references ? UINT64_MAX : facts_next_reference(flow->facts, table);

	for (size_t i = 0; i < flow->loads.n; i++)
		if (flow->loads.at[i].table > table && flow->loads.at[i].table < next)
			next = flow->loads.at[i].table;
	return next;
}

static bool jumptable_read_entry(const struct flow *flow, uint64_t at, uint8_t width, bool is_signed,
				 uint64_t *ret)
{
	if (width == 8)
		return relocs_read_pointer(flow->facts->relocs, flow->facts->image, at, ret);

	struct reader r = reader_of(bytes_slice(image_bytes(flow->facts->image, at), 0, width));
	uint64_t entry = read_uint(&r, width);
	if (is_signed)
		entry = (uint64_t)((int64_t)(entry << (64 - 8 * width)) >> (64 - 8 * width));
	*ret = entry;
	return !r.failed;
}

/* May an entry of a table without a known end be a target? */
static bool jumptable_is_plausible(const struct flow *flow, uint64_t target, uint8_t width)
{
	if (target == flow->vaddrs.at[0])
		return false;
	if (flow_holds(flow, target))
		return flow_insn_at(flow, target) != FLOW_NONE;
	if (width != 8)
		return false;

	uint32_t index = facts_index(flow->facts, target);
	if (index == FUNCTION_NONE) /* cold code of a file without unwind entries */
		return image_is_code(flow->facts->image, target);
	return flow->facts->at[index].start == target && !function_is_sure(&flow->facts->at[index]);
}

/*
 * An unreachable case: the compiler generated no code for it, and its label is after the last instruction of
 * the function. Recognised only if the end is stated.
 */
static bool jumptable_is_unreachable_case(const struct flow *flow, uint64_t target)
{
	return !flow->is_inferred && target == flow->parts.at[0].end;
}

static void jumptable_read_table(struct flow *flow, const struct flow_target *how, struct bound bound)
{
	const struct flow_load *load = &flow->loads.at[how->load];
	uint64_t end = jumptable_next_data(flow, load->table);

	for (uint64_t k = 0; k < bound.count; k++) {
		uint64_t at = load->table + k * load->width, entry, target;

		if ((at >= end && !bound.is_exact) ||
		    !jumptable_read_entry(flow, at, load->width, how->is_signed, &entry))
			return;
		target = how->base + (entry << how->shift);
		if (at >= end &&
		    !flow_holds(flow, target)) /* the compare allows more entries than the table has */
			return;
		if (jumptable_is_unreachable_case(flow, target))
			continue;
		if (!bound.is_exact && !jumptable_is_plausible(flow, target, load->width))
			return;
		if (bound.is_exact && !image_is_code(flow->facts->image, target))
			return;
		vec_push(&flow->table_targets, target);
	}
}

/* --- arrays of code ------------------------------------------------------------------------------ */

/*
 * Code that copies memory jumps to one of several blocks of equal size: to the address of the first plus an
 * offset. Is the register of the jump at i such a sum? *ret: the address of the first block.
 */
static bool jumptable_find_array(const struct flow *flow, uint32_t i, uint64_t *ret)
{
	uint8_t reg = flow->insns.at[i].through;

	if (reg >= REG_MAX || i == 0 || (flow->flags.at[i] & INSN_LEADER))
		return false;
	const struct insn *add = flow_insn(flow, i - 1);
	const struct effect *e = &add->effect[0];
	if (add->n_effects == 0 || e->kind != EFFECT_SET || e->reg != reg || e->base >= REG_MAX ||
	    e->index >= REG_MAX || e->shift || e->imm)
		return false;
	return (jumptable_constant_above(flow, i - 1, e->base, ret) ||
		jumptable_constant_above(flow, i - 1, e->index, ret)) &&
	       flow_holds(flow, *ret);
}

/* The end of the block that starts at `at`, including padding; 0 if it does not end. */
static uint64_t jumptable_block_end(const struct flow *flow, uint64_t at)
{
	uint32_t first = flow_insn_at(flow, at), i = first;

	while (i < flow->insns.n && i - first < BLOCK_INSNS &&
	       (flow->insns.at[i].flow == FLOW_NEXT || flow->insns.at[i].flow == FLOW_BRANCH))
		i++;
	for (i++; i < flow->insns.n && i - first < BLOCK_INSNS && flow->insns.at[i].is_padding;)
		i++;
	return i < flow->insns.n && i - first < BLOCK_INSNS ? flow->vaddrs.at[i] : 0;
}

static void jumptable_read_array(struct flow *flow, uint64_t at)
{
	uint64_t size = 0;

	for (unsigned n = 0; n < MAX_BLOCKS && flow_holds(flow, at) && flow_insn_at(flow, at) != FLOW_NONE;
	     n++) {
		uint64_t next = jumptable_block_end(flow, at);
		vec_push(&flow->table_targets, at);
		if (next <= at || (size && next - at != size))
			return;
		size = next - at;
		at = next;
	}
}

/* --- all ----------------------------------------------------------------------------------------- */

/* Reads the targets; false if the value does not determine them. */
static bool jumptable_read(struct flow *flow, uint32_t i, value through)
{
	struct flow_target how = { .width = 8 };
	uint64_t array;

	if (value_kind(through) == VALUE_UNKNOWN && jumptable_find_array(flow, i, &array)) {
		jumptable_read_array(flow, array);
		return true;
	}
	if (value_kind(through) == VALUE_LOAD)
		how.load = (uint32_t)value_offset(through);
	else if (value_kind(through) == VALUE_TARGET)
		how = flow->targets.at[value_offset(through)];
	else
		return false;

	const struct flow_load *load = &flow->loads.at[how.load];
	bool has_width = load->width == 8 || value_kind(through) == VALUE_TARGET;
	if (load->index == REG_NONE || !has_width)
		return false;
	jumptable_read_table(flow, &how, jumptable_find_bound(flow, load));
	return true;
}

/* Many jumps through one large table cost more than many blocks. False: there is no target. */
static bool jumptable_pay(const struct flow *flow, uint32_t n_targets)
{
	uint64_t *budget = &flow->private->budget, cost = n_targets / TARGETS_PER_BLOCK;

	if (flow->table_targets.n > MANY_TARGETS && *budget) /* some is left for this block itself */
		*budget -= cost < *budget ? cost : *budget - 1;
	return n_targets > 0;
}

bool jumptable_resolve(struct flow *flow, uint32_t i, value through)
{
	uint32_t known = map_find(&flow->private->table_of, i);

	if (known != MAP_NONE && flow->tables.at[known].through == through)
		return jumptable_pay(flow, flow->tables.at[known].n);

	struct flow_table table = { .insn = i, .first = (uint32_t)flow->table_targets.n, .through = through };
	if (flow->table_targets.n > MANY_TARGETS + flow->insns.n * MOST_PER_INSN ||
	    !jumptable_read(flow, i, through))
		return false;
	table.n = (uint32_t)flow->table_targets.n - table.first;
	if (known != MAP_NONE) {
		flow->tables.at[known] = table;
		return jumptable_pay(flow, table.n);
	}
	map_put(&flow->private->table_of, i, (uint32_t)flow->tables.n);
	vec_push(&flow->tables, table);
	return jumptable_pay(flow, table.n);
}

const uint64_t *flow_jump_targets(const struct flow *flow, uint32_t i, size_t *ret_n)
{
	uint32_t known = map_find(&flow->private->table_of, i);

	*ret_n = 0;
	if (known == MAP_NONE || flow->tables.at[known].n == 0)
		return NULL;
	*ret_n = flow->tables.at[known].n;
	return flow->table_targets.at + flow->tables.at[known].first;
}
