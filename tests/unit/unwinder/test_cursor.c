/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All accesses of an unwind through a cursor are recorded. tests/lint/includes.py checks that there are no
 * others.
 */
#include "unwinder/cursor.h"

#include "tests/test.h"

#define STACK 0x7000u
enum { RBX = 3, RBP = 6, RSP = 7, R12 = 12, RIP = 16 };

static const uint64_t words[] = { 11, 22, 33, 44, 55, 66 };

struct scene {
	struct cursor cursor;
	struct cursor_log log;
};

/* rbx is not known. */
static void begin(struct scene *s)
{
	struct sample sample = { .stack = { (const uint8_t *)words, sizeof(words) }, .stack_was_full = true };

	sample.regs.known = 1u << RBP | 1u << RSP | 1u << R12 | 1u << RIP;
	sample.regs.value[RSP] = STACK;
	sample.regs.value[RBP] = STACK + 16;
	sample.regs.value[R12] = 12;
	cursor_init(&s->cursor, NULL, NULL);
	cursor_begin(&s->cursor, &isa_x86_64, 1, &sample);
	s->log = (struct cursor_log){ .is_new = true, .reg = REG_NONE };
	s->cursor.private_.log = &s->log;
}

static void check_regs(const struct scene *s, size_t i, enum note_kind kind, uint64_t mask, unsigned reg)
{
	CHECK(i < s->log.notes.n);
	CHECK_EQ(s->log.notes.at[i].kind, kind);
	CHECK_EQ(s->log.notes.at[i].value, mask);
	CHECK_EQ(s->log.notes.at[i].reg, reg);
}

static void check_step(const struct scene *s, size_t i, uint64_t frame)
{
	CHECK(i < s->log.notes.n);
	CHECK_EQ(s->log.notes.at[i].kind, NOTE_STEP);
	CHECK_EQ(s->log.notes.at[i].addr, frame);
}

static void check_read(const struct scene *s, size_t i, uint64_t addr, enum memory_status status,
		       uint64_t value, unsigned reg)
{
	CHECK(i < s->log.notes.n);
	CHECK_EQ(s->log.notes.at[i].kind, NOTE_READ);
	CHECK_EQ(s->log.notes.at[i].addr, addr);
	CHECK_EQ(s->log.notes.at[i].status, status);
	CHECK_EQ(s->log.notes.at[i].value, value);
	CHECK_EQ(s->log.notes.at[i].reg, reg);
}

TEST(cursor_logs_uses_of_registers_known_or_not)
{
	struct scene s;
	uint64_t value;

	begin(&s);
	CHECK(cursor_reg(&s.cursor, RBP, &value));
	CHECK_EQ(value, STACK + 16);
	CHECK(!cursor_reg(&s.cursor, RBX, &value));
	CHECK(!cursor_reg(&s.cursor, REG_NONE, &value)); /* no register: not logged */
	CHECK_EQ(s.log.notes.n, 3);
	check_step(&s, 0, 0); /* logged automatically: no attempt was started */
	check_regs(&s, 1, NOTE_USE, 1u << RBP, REG_NONE);
	check_regs(&s, 2, NOTE_USE, 1u << RBX, REG_NONE);
	vec_done(&s.log.notes);
}

TEST(cursor_logs_successful_and_failed_reads)
{
	struct scene s;
	struct cursor_piece piece;
	uint64_t value;

	begin(&s);
	CHECK_EQ(cursor_read(&s.cursor, STACK + 8, 8, &value), MEMORY_OK);
	CHECK_EQ(cursor_read(&s.cursor, STACK + 64, 8, &value), MEMORY_BEYOND);
	CHECK_EQ(cursor_reach(&s.cursor), STACK + 16);
	CHECK(cursor_can_read(&s.cursor, STACK + 40));
	CHECK(!cursor_can_read(&s.cursor, STACK - 8));
	CHECK_EQ(cursor_reach(&s.cursor), STACK + 16); /* cursor_can_read does not count */
	CHECK(cursor_find_piece(&s.cursor, STACK + 8, 24, &piece));
	CHECK_EQ(cursor_load(&s.cursor, &piece, STACK + 16), 33);
	CHECK_EQ(cursor_reach(&s.cursor), STACK + 24);
	CHECK(!cursor_find_piece(&s.cursor, STACK + 40, 16, &piece));
	CHECK_EQ(s.log.notes.n, 6);
	check_read(&s, 1, STACK + 8, MEMORY_OK, 22, REG_NONE);
	check_read(&s, 2, STACK + 64, MEMORY_BEYOND, 0, REG_NONE);
	check_read(&s, 3, STACK + 40, MEMORY_OK, 66, REG_NONE);
	check_read(&s, 4, STACK - 8, MEMORY_BAD, 0, REG_NONE);
	check_read(&s, 5, STACK + 16, MEMORY_OK, 33, REG_NONE);
	vec_done(&s.log.notes);
}

TEST(cursor_logs_how_a_register_of_the_caller_was_found)
{
	struct scene s;
	uint64_t value;

	begin(&s);
	cursor_attempt(&s.cursor);
	CHECK(!cursor_caller_reg(&s.cursor, R12, &value));
	cursor_inherit(&s.cursor, 1u << R12);
	cursor_find_reg(&s.cursor, RBX);
	CHECK_EQ(cursor_read(&s.cursor, STACK, 8, &value), MEMORY_OK);
	cursor_give(&s.cursor, RBX, value);
	cursor_find_reg(&s.cursor, RBP);
	CHECK_EQ(cursor_read(&s.cursor, STACK - 8, 8, &value), MEMORY_BAD);
	cursor_lose(&s.cursor, RBP);
	CHECK(cursor_caller_reg(&s.cursor, RBX, &value));
	CHECK_EQ(value, 11);
	CHECK_EQ(s.log.notes.n, 5);
	check_step(&s, 0, 0);
	check_regs(&s, 1, NOTE_NEED, 1u << R12, REG_NONE);
	check_read(&s, 2, STACK, MEMORY_OK, 11, RBX);
	check_read(&s, 3, STACK - 8, MEMORY_BAD, 0, RBP);
	check_regs(&s, 4, NOTE_NEED, 1u << RBX, REG_NONE);
	cursor_advance(&s.cursor);
	CHECK(cursor_reg(&s.cursor, R12, &value));
	CHECK_EQ(value, 12);
	check_step(&s, 5, 1); /* the step of the next frame */
	vec_done(&s.log.notes);
}

TEST(cursor_logs_unchanged_registers)
{
	struct scene s;
	uint64_t value;

	begin(&s);
	cursor_attempt(&s.cursor);
	cursor_give(&s.cursor, RBP, 5);
	CHECK_EQ(cursor_lost_regs(&s.cursor, 1u << RBX | 1u << RBP | 1u << R12), 1u << R12);
	cursor_keep(&s.cursor, 1u << RBX | 1u << RBP | 1u << R12);
	CHECK_EQ(s.log.notes.n, 5);
	check_regs(&s, 1, NOTE_USE, 1u << RBX | 1u << RBP | 1u << R12, REG_NONE);
	check_regs(&s, 2, NOTE_NEED, 1u << RBX | 1u << RBP | 1u << R12, REG_NONE);
	check_regs(&s, 3, NOTE_USE, 1u << RBX, RBX);
	check_regs(&s, 4, NOTE_USE, 1u << R12, R12);
	cursor_advance(&s.cursor);
	CHECK(!cursor_reg(&s.cursor, RBX, &value));
	CHECK(cursor_reg(&s.cursor, RBP, &value));
	CHECK_EQ(value, 5);
	CHECK(cursor_reg(&s.cursor, R12, &value));
	CHECK_EQ(value, 12);
	vec_done(&s.log.notes);
}

TEST(cursor_restores_all_registers_of_a_packed_rule)
{
	static const struct rule rules[] = { { .reg = RBP, .kind = RULE_AT_CFA, .offset = -16 },
					     { .reg = RIP, .kind = RULE_AT_CFA, .offset = -8 } };
	const struct recipe recipe = { .cfa_kind = CFA_REG, .cfa_reg = RSP, .n_rules = ARRAY_LEN(rules) };
	const struct packed_rule rule = packed_rule_of(&recipe, rules, 0);
	struct cursor_move move = { .isa = &isa_x86_64, .rule = &rule, .cfa = STACK + 32, .ra = 44 };
	struct cursor_piece slots;
	struct scene s;
	uint64_t value;

	begin(&s);
	cursor_attempt(&s.cursor);
	CHECK(cursor_find_piece(&s.cursor, STACK + 16, 16, &slots));
	move.slots = &slots;
	CHECK_EQ(cursor_move(&s.cursor, &move), 0);
	CHECK_EQ(s.log.notes.n, 3);
	check_read(&s, 1, STACK + 24, MEMORY_OK, 44, RIP);
	check_read(&s, 2, STACK + 16, MEMORY_OK, 33, RBP);
	CHECK(cursor_reg(&s.cursor, RBP, &value));
	CHECK_EQ(value, 33);
	check_step(&s, 3, 1);
	check_regs(&s, 4, NOTE_USE, 1u << RBP, REG_NONE);
	CHECK(cursor_reg(&s.cursor, RSP, &value));
	CHECK_EQ(value, STACK + 32);
	CHECK(cursor_reg(&s.cursor, RIP, &value));
	CHECK_EQ(value, 44);
	vec_done(&s.log.notes);
}

TEST(cursor_shows_its_registers_only_without_a_log)
{
	struct scene s;

	begin(&s);
	CHECK(!cursor_show_regs(&s.cursor));
	s.cursor.private_.log = NULL;
	CHECK_EQ(cursor_show_regs(&s.cursor)->value[R12], 12);
	vec_done(&s.log.notes);
}
