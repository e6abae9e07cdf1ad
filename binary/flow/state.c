/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/flow/state.h"

value value_add(value v, int64_t c)
{
	if (c == 0)
		return v;
	if (value_kind(v) == VALUE_CONST)
		return value_const((int64_t)((uint64_t)value_constant(v) + (uint64_t)c));
	if (!value_is_frame(v) || c > INT32_MAX || c < INT32_MIN)
		return VALUE_UNKNOWN;

	int64_t offset = value_offset(v) + c;
	if (offset != (int32_t)offset)
		return VALUE_UNKNOWN;
	return value_make(value_kind(v), value_site(v), (int32_t)offset);
}

void state_enter(struct state *state, const struct isa *isa, int32_t bias)
{
	int32_t ra_size = isa->call_pushes_ra ? 8 : 0;
	uint64_t kept = isa->callee_saved | 1ull << isa->ra;

	state->n_slots = 0;
	state->known = 0;
	state->slots_changed = false;
	memset(state->reg, 0, sizeof(state->reg));
	for (unsigned r = 0; r < isa->n_regs && r < REG_MAX; r++)
		if (kept >> r & 1)
			state_set(state, r, value_entry(r));
	state_set(state, isa->sp, value_cfa(-ra_size - bias));
	if (isa->call_pushes_ra)
		state_store(state, value_cfa(-ra_size), 8, value_entry(isa->ra));
}

void state_enter_arguments(struct state *state, const struct isa *isa)
{
	for (unsigned r = 0; r < isa->n_regs && r < REG_MAX; r++)
		if (!(state->known >> r & 1))
			state_set(state, r, value_entry(r));
}

bool state_is_entry_like(const struct state *state, const struct isa *isa)
{
	return state_returns_through(state, isa, isa->ra);
}

bool state_returns_through(const struct state *state, const struct isa *isa, unsigned reg)
{
	int32_t ra_size = isa->call_pushes_ra ? 8 : 0;

	if (state->reg[isa->sp] != value_cfa(-ra_size))
		return false;
	for (uint64_t left = isa->callee_saved; left; left &= left - 1) {
		unsigned r = (unsigned)__builtin_ctzll(left);
		if (state->reg[r] != value_entry(r))
			return false;
	}
	if (isa->call_pushes_ra)
		return state_load(state, value_cfa(-ra_size)) == value_entry(isa->ra);
	return state->reg[reg] == value_entry(isa->ra);
}

value state_left_frame(const struct state *state, const struct isa *isa, unsigned reg)
{
	value sp = state->reg[isa->sp], fp = state->reg[isa->fp];
	value ra = isa->call_pushes_ra ? state_load(state, sp) : state->reg[reg];
	int32_t ra_size = isa->call_pushes_ra ? 8 : 0;
	bool is_frame = ra == value_entry(isa->ra) && value_kind(sp) == VALUE_CFA &&
			value_kind(fp) == VALUE_CFA && value_offset(fp) < 0 &&
			value_offset(fp) >= value_offset(sp) + ra_size;
	/* A frame that contains the function's own return address is its own. */
	bool is_own = is_frame && state_load(state, value_add(fp, 8)) == ra;

	return is_frame && !is_own ? fp : VALUE_UNKNOWN;
}

value state_load(const struct state *state, value at)
{
	for (uint32_t i = 0; i < state->n_slots; i++)
		if (state->slot[i].at == at)
			return state->slot[i].holds;
	return VALUE_UNKNOWN;
}

/* A slot is eight bytes: it may begin up to seven before `at`. */
static bool state_overlaps(value slot, value at, unsigned width)
{
	int64_t distance = (int64_t)value_offset(slot) - value_offset(at);

	return value_same_base(slot, at) && (uint64_t)(distance + 7) < (uint64_t)width + 7;
}

static bool state_is_worth_keeping(value v)
{
	enum value_kind kind = value_kind(v);

	return kind == VALUE_ENTRY || kind == VALUE_CFA || kind == VALUE_ALIGNED || kind == VALUE_CONST;
}

/* Slots stay sorted by address, so that equal states are equal bytes. */
static void state_insert(struct state *state, value at, value holds)
{
	uint32_t i = state->n_slots;

	if (i == STATE_MAX_SLOTS)
		return;
	for (; i > 0 && state->slot[i - 1].at > at; i--)
		state->slot[i] = state->slot[i - 1];
	state->slot[i] = (struct slot){ at, holds };
	state->n_slots++;
	state->slots_changed = true;
}

static void state_make_room(struct state *state)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < state->n_slots; i++)
		if (value_kind(state->slot[i].holds) != VALUE_CONST)
			state->slot[kept++] = state->slot[i];
	state->n_slots = kept;
}

/* The slots shrink to the first `kept`. */
static void state_keep_slots(struct state *state, uint32_t kept)
{
	state->slots_changed |= kept != state->n_slots;
	state->n_slots = kept;
}

void state_store(struct state *state, value at, unsigned width, value holds)
{
	uint32_t kept = 0;

	if (width == 8 && holds != VALUE_UNKNOWN && state_load(state, at) == holds)
		return;
	while (kept < state->n_slots && !state_overlaps(state->slot[kept].at, at, width))
		kept++;
	for (uint32_t i = kept; i < state->n_slots; i++)
		if (!state_overlaps(state->slot[i].at, at, width))
			state->slot[kept++] = state->slot[i];
	state_keep_slots(state, kept);

	if (width != 8 || !state_is_worth_keeping(holds))
		return;
	if (state->n_slots == STATE_MAX_SLOTS && value_kind(holds) != VALUE_CONST)
		state_make_room(state);
	state_insert(state, at, holds);
}

bool state_overlaps_save(const struct state *state, value at, unsigned width)
{
	for (uint32_t i = 0; i < state->n_slots; i++)
		if (value_kind(state->slot[i].holds) == VALUE_ENTRY &&
		    state_overlaps(state->slot[i].at, at, width))
			return true;
	return false;
}

void state_call(struct state *state, const struct isa *isa, uint64_t clobbered)
{
	value sp = state->reg[isa->sp];
	uint32_t kept = 0;

	state_forget(state, clobbered);
	if (!value_is_frame(sp))
		return;
	for (uint32_t i = 0; i < state->n_slots; i++) {
		value at = state->slot[i].at;
		if (!value_same_base(at, sp) || value_offset(at) >= value_offset(sp))
			state->slot[kept++] = state->slot[i];
	}
	state_keep_slots(state, kept);
}

/* Is there a location where both have the register's entry value? Also true if one of them has it nowhere. */
static bool state_agree_on(const struct state *a, const struct state *b, unsigned reg, unsigned n_regs)
{
	value v = value_entry(reg);
	bool a_has = false, b_has = false;

	for (unsigned r = 0; r < n_regs; r++) {
		if (a->reg[r] == v && b->reg[r] == v)
			return true;
		a_has |= a->reg[r] == v;
		b_has |= b->reg[r] == v;
	}
	for (uint32_t i = 0; i < a->n_slots; i++) {
		if (a->slot[i].holds == v && state_load(b, a->slot[i].at) == v)
			return true;
		a_has |= a->slot[i].holds == v;
	}
	for (uint32_t i = 0; i < b->n_slots; i++)
		b_has |= b->slot[i].holds == v;
	return !a_has || !b_has;
}

/* After an alloca sp is unknown. That does not contradict another path as long as fp gives the frame on both.
 */
static bool state_sp_contradicts(const struct state *a, const struct state *b, const struct isa *isa)
{
	value sp_a = a->reg[isa->sp], sp_b = b->reg[isa->sp];

	if (sp_a == sp_b)
		return false;
	bool is_known = value_is_frame(sp_a) && value_same_base(sp_a, sp_b);
	bool has_fp = value_kind(a->reg[isa->fp]) == VALUE_CFA && a->reg[isa->fp] == b->reg[isa->fp];
	return is_known || !has_fp;
}

bool state_contradicts(const struct state *a, const struct state *b, const struct isa *isa)
{
	if (state_sp_contradicts(a, b, isa))
		return true;
	for (uint64_t left = isa->callee_saved | 1ull << isa->ra; left; left &= left - 1)
		if (!state_agree_on(a, b, (unsigned)__builtin_ctzll(left), isa->n_regs))
			return true;
	return false;
}

static bool state_join_slots(struct state *into, const struct state *other)
{
	uint32_t kept = 0, j = 0;

	if (into->n_slots == other->n_slots &&
	    memcmp(into->slot, other->slot, into->n_slots * sizeof(into->slot[0])) == 0)
		return false;
	for (uint32_t i = 0; i < into->n_slots; i++) {
		while (j < other->n_slots && other->slot[j].at < into->slot[i].at)
			j++;
		if (j < other->n_slots && other->slot[j].at == into->slot[i].at &&
		    other->slot[j].holds == into->slot[i].holds)
			into->slot[kept++] = into->slot[i];
	}
	bool is_changed = kept != into->n_slots;
	into->n_slots = kept;
	return is_changed;
}

uint64_t state_join(struct state *into, const struct state *other)
{
	uint64_t lost = 0;

	for (uint64_t left = into->known; left; left &= left - 1) {
		unsigned r = (unsigned)__builtin_ctzll(left);
		lost |= (uint64_t)(into->reg[r] != other->reg[r]) << r;
	}
	state_forget(into, lost);
	return lost | (state_join_slots(into, other) ? STATE_SLOTS : 0);
}
