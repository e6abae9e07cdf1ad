/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/flow/state.h"
#include "tests/test.h"

#define RBX 3
#define RBP 6
#define RSP 7
#define RA 16

static struct state entry(void)
{
	struct state state;

	state_enter(&state, &isa_x86_64, 0);
	return state;
}

TEST(state_at_entry_holds_the_return_address_below_the_cfa)
{
	struct state state = entry();

	CHECK_EQ(state.reg[RSP], value_cfa(-8));
	CHECK_EQ(state_load(&state, value_cfa(-8)), value_entry(RA));
	CHECK(state_is_entry_like(&state, &isa_x86_64));
}

TEST(state_at_entry_of_aarch64_holds_it_in_a_register)
{
	struct state state;

	state_enter(&state, &isa_aarch64, 0);
	CHECK_EQ(state.reg[isa_aarch64.sp], value_cfa(0));
	CHECK_EQ(state.reg[isa_aarch64.ra], value_entry(isa_aarch64.ra));
	CHECK_EQ(state.n_slots, 0);
	CHECK(state_is_entry_like(&state, &isa_aarch64));
}

TEST(state_store_invalidates_overlapping_slots)
{
	struct state state = entry();

	state_store(&state, value_cfa(-16), 8, value_entry(RBP));
	state_store(&state, value_cfa(-20), 8, value_entry(RBX));
	CHECK_EQ(state_load(&state, value_cfa(-16)), VALUE_UNKNOWN);
	CHECK_EQ(state_load(&state, value_cfa(-20)), value_entry(RBX));
	state_store(&state, value_cfa(-64), 64, VALUE_UNKNOWN);
	CHECK_EQ(state.n_slots, 0);
}

TEST(state_store_keeps_slots_of_another_base)
{
	struct state state = entry();

	state_store(&state, value_make(VALUE_ALIGNED, 5, -8), 8, value_entry(RBX));
	CHECK_EQ(state_load(&state, value_cfa(-8)), value_entry(RA));
	CHECK_EQ(state_load(&state, value_make(VALUE_ALIGNED, 6, -8)), VALUE_UNKNOWN);
}

TEST(state_full_of_slots_drops_constants_before_saved_registers)
{
	struct state state = entry();

	for (int32_t i = 0; i < STATE_MAX_SLOTS + 8; i++)
		state_store(&state, value_cfa(-16 - 8 * i), 8, value_const(0x1000 + i));
	CHECK_EQ(state.n_slots, STATE_MAX_SLOTS);
	state_store(&state, value_cfa(-4096), 8, value_entry(RBX));
	CHECK_EQ(state_load(&state, value_cfa(-4096)), value_entry(RBX));
	CHECK_EQ(state_load(&state, value_cfa(-8)), value_entry(RA));
}

TEST(state_call_invalidates_slots_below_sp)
{
	struct state state = entry();

	state_store(&state, value_cfa(-16), 8, value_entry(RBP));
	state_store(&state, value_cfa(-24), 8, value_entry(RBX));
	state_set(&state, RSP, value_cfa(-16));
	state_call(&state, &isa_x86_64, 1);
	CHECK_EQ(state.reg[0], VALUE_UNKNOWN);
	CHECK_EQ(state_load(&state, value_cfa(-16)), value_entry(RBP));
	CHECK_EQ(state_load(&state, value_cfa(-24)), VALUE_UNKNOWN);
}

TEST(state_join_keeps_what_both_agree_on)
{
	struct state a = entry(), b = entry();

	state_set(&a, RBX, value_const(1));
	state_set(&b, RBX, value_const(2));
	state_store(&a, value_cfa(-16), 8, value_entry(RBP));
	CHECK(state_join(&a, &b));
	CHECK_EQ(a.reg[RBX], VALUE_UNKNOWN);
	CHECK_EQ(a.reg[RBP], value_entry(RBP));
	CHECK_EQ(state_load(&a, value_cfa(-16)), VALUE_UNKNOWN);
	CHECK_EQ(state_load(&a, value_cfa(-8)), value_entry(RA));
	CHECK(!state_join(&a, &b));
}

TEST(state_join_returns_which_registers_were_lost)
{
	struct state a = entry(), b = entry();

	CHECK_EQ(state_join(&a, &b), 0);
	state_set(&b, RBX, value_const(1));
	CHECK_EQ(state_join(&a, &b), 1ull << RBX);
	CHECK_EQ(a.known >> RBX & 1, 0);
	state_store(&a, value_cfa(-16), 8, value_entry(RBP));
	CHECK_EQ(state_join(&a, &b), STATE_SLOTS);
	CHECK_EQ(state_join(&a, &b), 0);
}

TEST(state_notes_that_slots_changed_only_if_they_did)
{
	struct state state = entry();

	state_store(&state, value_cfa(-16), 8, value_entry(RBP));
	CHECK(state.slots_changed);
	state.slots_changed = false;
	state_store(&state, value_cfa(-16), 8, value_entry(RBP)); /* the same value again */
	state_store(&state, value_cfa(-32), 8, VALUE_UNKNOWN);    /* the slot has no value */
	CHECK(!state.slots_changed);
	state_store(&state, value_cfa(-12), 4, VALUE_UNKNOWN); /* overwrites half of the slot */
	CHECK(state.slots_changed);
	CHECK_EQ(state_load(&state, value_cfa(-16)), VALUE_UNKNOWN);
}

TEST(state_contradicts_when_a_register_is_saved_in_two_places)
{
	struct state a = entry(), b = entry();

	CHECK(!state_contradicts(&a, &b, &isa_x86_64));
	state_store(&a, value_cfa(-16), 8, value_entry(RBX));
	CHECK(!state_contradicts(&a, &b, &isa_x86_64)); /* rbx is live in both */
	state_set(&a, RBX, VALUE_UNKNOWN);
	CHECK(state_contradicts(&a, &b, &isa_x86_64));
	state_set(&b, RBX, VALUE_UNKNOWN);
	CHECK(!state_contradicts(&a, &b, &isa_x86_64)); /* rbx is unknown in b: no contradiction */
	state_set(&b, RSP, value_cfa(-24));
	CHECK(state_contradicts(&a, &b, &isa_x86_64));
}

TEST(value_add_gives_up_where_an_offset_does_not_fit)
{
	CHECK_EQ(value_add(value_cfa(-8), 16), value_cfa(8));
	CHECK_EQ(value_add(value_cfa(-8), INT64_MAX), VALUE_UNKNOWN);
	CHECK_EQ(value_add(value_cfa(INT32_MAX), 1), VALUE_UNKNOWN);
	CHECK_EQ(value_add(value_entry(RBX), 0), value_entry(RBX));
	CHECK_EQ(value_add(value_entry(RBX), 1), VALUE_UNKNOWN);
	CHECK_EQ(value_constant(value_add(value_const(-5), 2)), -3);
	CHECK_EQ(value_const(INT64_MAX), VALUE_UNKNOWN);
}
