/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "collector/deep/deep_need.h"
#include "collector/deep/deep_stack.h"
#include "collector/deep/deep_wait.h"

#define FIRST 0x7ff000000000ull
#define SP (FIRST - 16384 + 8)

static uint8_t page_of_fives[DEEP_PAGE], page_of_sixes[DEEP_PAGE];

static void fill(void)
{
	memset(page_of_fives, 5, sizeof(page_of_fives));
	memset(page_of_sixes, 6, sizeof(page_of_sixes));
}

static struct writer page_record(uint64_t addr, const uint8_t *page)
{
	struct writer w = { 0 };

	write_u64(&w, DEEP_MAGIC_PAGE);
	write_u64(&w, addr);
	write_u64(&w, deep_hash(page));
	write_bytes(&w, (struct bytes){ page, DEEP_PAGE });
	write_u32(&w, 0); /* padding by the kernel */
	return w;
}

static void take_page(struct deep_stacks *stacks, pid_t tid, uint64_t addr, const uint8_t *page)
{
	struct writer w = page_record(addr, page);

	deep_stacks_take(stacks, tid, writer_bytes(&w));
	writer_done(&w);
}

/* A record of n pages, alternating those given. */
static void take_outline(struct deep_stacks *stacks, pid_t tid, uint64_t sp, uint64_t n, const uint8_t *page)
{
	struct writer w = { 0 };

	write_u64(&w, DEEP_MAGIC_OUTLINE);
	write_u64(&w, sp);
	write_u64(&w, FIRST);
	write_u64(&w, FIRST + n * DEEP_PAGE);
	write_u64(&w, n);
	write_u64(&w, 77); /* the kernel's identifier of the thread */
	for (uint64_t i = 0; i < n; i++)
		write_u64(&w, deep_hash(page));
	deep_stacks_take(stacks, tid, writer_bytes(&w));
	writer_done(&w);
}

static struct sample join(struct deep_stacks *stacks, pid_t tid, uint64_t sp)
{
	struct sample sample = { .stack_was_full = true, .regs = { .known = 1ull << isa_aarch64.sp } };

	sample.regs.value[isa_aarch64.sp] = sp;
	deep_stacks_join(stacks, tid, &isa_aarch64, &sample);
	return sample;
}

TEST(deep_stack_any_changed_bit_changes_the_hash)
{
	fill();
	uint64_t before = deep_hash(page_of_fives);
	for (size_t bit = 0; bit < DEEP_PAGE * 8; bit += 7) {
		page_of_fives[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK(deep_hash(page_of_fives) != before);
		page_of_fives[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	CHECK_EQ(deep_hash(page_of_fives), before);
}

/* Sign bits of two words of one lane: a hash without mixing would cancel them out. */
TEST(deep_stack_equal_changes_do_not_cancel_in_the_hash)
{
	fill();
	uint64_t before = deep_hash(page_of_fives);
	page_of_fives[7] ^= 0x80;
	page_of_fives[7 + 8 * DEEP_LANES] ^= 0x80;
	CHECK(deep_hash(page_of_fives) != before);
}

TEST(deep_stack_is_joined_with_the_sample_that_follows)
{
	struct deep_stacks *stacks = deep_stacks_new();

	fill();
	take_page(stacks, 7, FIRST, page_of_fives);
	take_page(stacks, 7, FIRST + DEEP_PAGE, page_of_fives);
	take_outline(stacks, 7, SP, 2, page_of_fives);
	struct sample sample = join(stacks, 7, SP);
	CHECK_EQ(sample.n_deep, 2);
	CHECK_EQ(sample.deep_start, FIRST);
	CHECK_EQ(sample.deep[1].at[100], 5);
	CHECK(!sample.stack_was_full);
	/* Once only. */
	CHECK_EQ(join(stacks, 7, SP).n_deep, 0);
	/* Later samples may refer to the pages of this one. */
	take_outline(stacks, 7, SP, 2, page_of_fives);
	CHECK_EQ(join(stacks, 7, SP).n_deep, 2);
	deep_stacks_free(stacks);
}

TEST(deep_stack_of_another_thread_or_moment_is_not_joined)
{
	struct deep_stacks *stacks = deep_stacks_new();

	fill();
	take_page(stacks, 7, FIRST, page_of_fives);
	take_outline(stacks, 7, SP, 1, page_of_fives);
	CHECK_EQ(join(stacks, 8, SP).n_deep, 0);
	take_outline(stacks, 7, SP, 1, page_of_fives);
	CHECK_EQ(join(stacks, 7, SP + 16).n_deep, 0);
	take_outline(stacks, 8, SP, 1, page_of_fives); /* no pages of thread 8 were recorded */
	CHECK_EQ(join(stacks, 8, SP).n_deep, 0);
	deep_stacks_free(stacks);
}

TEST(deep_stack_ends_at_a_page_with_another_hash)
{
	struct deep_stacks *stacks = deep_stacks_new();

	fill();
	take_page(stacks, 7, FIRST, page_of_fives);
	take_page(stacks, 7, FIRST + DEEP_PAGE, page_of_sixes);
	take_page(stacks, 7, FIRST + 2 * DEEP_PAGE, page_of_fives);
	take_outline(stacks, 7, SP, 3, page_of_fives);
	struct sample sample = join(stacks, 7, SP);
	CHECK_EQ(sample.n_deep, 1);
	CHECK(sample.stack_was_full);
	deep_stacks_free(stacks);
}

TEST(deep_stack_pages_unused_for_long_are_evicted)
{
	struct deep_stacks *stacks = deep_stacks_new();

	fill();
	deep_stacks_limit(stacks, 8);
	for (pid_t tid = 1; tid <= 100; tid++)
		take_page(stacks, tid, FIRST, page_of_fives);
	unsigned n_kept = 0;
	for (pid_t tid = 1; tid <= 100; tid++) {
		take_outline(stacks, tid, SP, 1, page_of_fives);
		n_kept += join(stacks, tid, SP).n_deep;
	}
	CHECK_EQ(n_kept, 10);
	deep_stacks_free(stacks);
}

TEST(deep_stack_pages_of_a_thread_that_has_ended_are_freed)
{
	struct deep_stacks *stacks = deep_stacks_new();

	fill();
	deep_stacks_limit(stacks, 8);
	for (unsigned round = 0; round < 3; round++) {
		for (pid_t tid = 1; tid <= 3; tid++)
			for (uint64_t i = 0; i < 3; i++)
				take_page(stacks, tid, FIRST + i * DEEP_PAGE, page_of_fives);
		deep_stacks_forget(stacks, 2);
		deep_stacks_forget(stacks, 77);
		for (pid_t tid = 1; tid <= 3; tid++) {
			take_outline(stacks, tid, SP, 3, page_of_fives);
			CHECK_EQ(join(stacks, tid, SP).n_deep, tid == 2 ? 0 : 3);
		}
	}
	for (pid_t tid = 10; tid < 40; tid++) /* other threads reuse the freed slots, then end */
		take_page(stacks, tid, FIRST, page_of_fives);
	for (pid_t tid = 1; tid < 40; tid++)
		deep_stacks_forget(stacks, tid);
	take_outline(stacks, 39, SP, 1, page_of_fives);
	CHECK_EQ(join(stacks, 39, SP).n_deep, 0);
	deep_stacks_free(stacks);
}

TEST(deep_stack_may_have_holes)
{
	struct deep_stacks *stacks = deep_stacks_new();
	struct writer w = { 0 };
	const uint64_t outline[] = { DEEP_MAGIC_OUTLINE, SP, FIRST, FIRST + 2 * DEEP_PAGE, 2, 77, DEEP_HOLE };

	fill();
	take_page(stacks, 7, FIRST + DEEP_PAGE, page_of_fives);
	for (size_t i = 0; i < ARRAY_LEN(outline); i++)
		write_u64(&w, outline[i]);
	write_u64(&w, deep_hash(page_of_fives));
	deep_stacks_take(stacks, 7, writer_bytes(&w));
	struct sample sample = join(stacks, 7, SP);
	CHECK_EQ(sample.deep_thread, 77);
	CHECK_EQ(sample.n_deep, 2);
	CHECK(!sample.deep[0].at);
	CHECK_EQ(sample.deep[1].at[0], 5);
	writer_done(&w);
	deep_stacks_free(stacks);
}

/* For a mapping that ends at FIRST, of which the kernel has copied all but n bytes from SP on. */
static struct sample join_tail(struct deep_stacks *stacks, uint64_t sp, size_t n, const uint8_t *copied)
{
	uint64_t record[3 + DEEP_TAIL / 8] = { DEEP_MAGIC_TAIL, SP, FIRST - DEEP_TAIL };
	struct sample sample = { .stack = { copied, FIRST - SP - n },
				 .regs = { .known = 1ull << isa_aarch64.sp } };

	memset(record + 3, 6, DEEP_TAIL);
	deep_stacks_take(stacks, 7, (struct bytes){ (const uint8_t *)record, sizeof(record) });
	sample.regs.value[isa_aarch64.sp] = sp;
	deep_stacks_join(stacks, 7, &isa_aarch64, &sample);
	return sample;
}

TEST(deep_stack_snapshot_gets_the_last_bytes_of_its_mapping)
{
	struct deep_stacks *stacks = deep_stacks_new();
	uint8_t copied[FIRST - SP];

	memset(copied, 5, sizeof(copied));
	struct sample sample = join_tail(stacks, SP, 48, copied);
	CHECK_EQ(sample.stack.len, FIRST - SP);
	CHECK_EQ(sample.stack.at[0], 5);
	CHECK_EQ(sample.stack.at[FIRST - SP - 49], 5);
	CHECK_EQ(sample.stack.at[FIRST - SP - 48], 6);
	CHECK_EQ(sample.stack.at[FIRST - SP - 1], 6);
	/* One that is whole stays as it is, and so does one that ended elsewhere, or is another's. */
	CHECK(join_tail(stacks, SP, 0, copied).stack.at == copied);
	CHECK_EQ(join_tail(stacks, SP, DEEP_TAIL + 1, copied).stack.len, FIRST - SP - DEEP_TAIL - 1);
	CHECK_EQ(join_tail(stacks, SP + 8, 48, copied).stack.len, FIRST - SP - 48);
	deep_stacks_free(stacks);
}

TEST(deep_stack_adds_what_lies_below_sp_to_one_sample)
{
	uint64_t record[2 + DEEP_BELOW / 8] = { DEEP_MAGIC_BELOW, SP, [2 + DEEP_BELOW / 8 - 1] = 7 };
	struct bytes payload = { (const uint8_t *)record, sizeof(record) };
	struct deep_stacks *stacks = deep_stacks_new();
	uint64_t last;

	for (uint64_t sp = SP; sp <= SP + 8; sp += 8) {
		struct sample sample = { .regs.known = 1u << isa_x86_64.sp },
			      next = { .regs.known = 1u << isa_x86_64.sp };
		sample.regs.value[isa_x86_64.sp] = next.regs.value[isa_x86_64.sp] = sp;
		deep_stacks_take(stacks, 5, payload);
		deep_stacks_join(stacks, 5, &isa_x86_64, &sample);
		deep_stacks_join(stacks, 5, &isa_x86_64, &next);
		CHECK_EQ(sample.below.len, sp == SP ? DEEP_BELOW : 0);
		CHECK_EQ(next.below.len, 0);
		if (sp != SP)
			continue;
		memcpy(&last, sample.below.at + DEEP_BELOW - 8, 8);
		CHECK_EQ(last, 7);
	}
	deep_stacks_free(stacks);
}

TEST(deep_stack_survives_invalid_records)
{
	struct deep_stacks *stacks = deep_stacks_new();
	struct writer w = page_record(FIRST, page_of_fives);

	for (size_t len = 0; len < DEEP_PAGE_RECORD; len += 5) /* truncated */
		deep_stacks_take(stacks, 7, (struct bytes){ w.at, len });
	take_outline(stacks, 7, SP, 1, page_of_fives);
	CHECK_EQ(join(stacks, 7, SP).n_deep, 0);
	writer_clear(&w);
	write_u64(&w, DEEP_MAGIC_OUTLINE);
	write_u64(&w, SP);
	write_u64(&w, UINT64_MAX - DEEP_PAGE + 1);
	write_u64(&w, UINT64_MAX);
	write_u64(&w, UINT64_MAX);
	deep_stacks_take(stacks, 7, writer_bytes(&w));
	CHECK_EQ(join(stacks, 7, SP).n_deep, 0);
	writer_done(&w);
	deep_stacks_free(stacks);
}

/* ---- who needs it ------------------------------------------------------------------------------- */

#define THREAD (5ull << 32 | 7)

static uint64_t last_key;

/* The limit after that many unwinds with a given and a needed size; -1: unchanged. */
static int limit_after(struct deep_needs *needs, int n_walks, uint32_t n_copied, uint32_t n_needed,
		       bool is_cut_off)
{
	struct deep_use use = { .thread = THREAD,
				.sp = SP,
				.n_copied = n_copied,
				.n_needed = n_needed,
				.is_cut_off = is_cut_off };
	struct deep_limit limit = { 0 };
	int last = -1;

	for (int i = 0; i < n_walks; i++)
		if (deep_needs_note(needs, 7, &use, &limit)) {
			last_key = limit.key;
			last = (int)limit.n_pages;
		}
	return last;
}

TEST(deep_need_rises_at_once)
{
	struct deep_needs *needs = deep_needs_new();

	CHECK_EQ(limit_after(needs, 1, DEEP_PAGES_FIRST, DEEP_PAGES_FIRST, true), 8 * DEEP_PAGES_FIRST);
	/* Samples that were already in flight add no information. */
	CHECK_EQ(limit_after(needs, 10, DEEP_PAGES_FIRST, DEEP_PAGES_FIRST, true), -1);
	CHECK_EQ(limit_after(needs, 1, 8 * DEEP_PAGES_FIRST, 8 * DEEP_PAGES_FIRST, true), DEEP_PAGES_MAX);
	CHECK_EQ(limit_after(needs, 10, DEEP_PAGES_MAX, DEEP_PAGES_MAX, true), -1);
	deep_needs_free(needs);
}

TEST(deep_need_falls_after_a_while_to_twice_what_was_needed)
{
	struct deep_needs *needs = deep_needs_new();

	CHECK_EQ(limit_after(needs, 20, DEEP_PAGES_FIRST, 13, false), -1);
	CHECK_EQ(limit_after(needs, 1000, DEEP_PAGES_FIRST, 3, false), 8);
	CHECK_EQ(last_key, THREAD);
	CHECK_EQ(limit_after(needs, 1000, 8, 3, false), -1);
	deep_needs_free(needs);
}

/* The copied memory is of a stack below the sampled one. */
TEST(deep_need_above_the_copied_pages_counts_as_all_of_them)
{
	struct deep_needs *needs = deep_needs_new();

	CHECK_EQ(limit_after(needs, 8, 3, 1u << 31, false), -1);
	CHECK_EQ(limit_after(needs, 24, 60, 1, false), 8);
	deep_needs_free(needs);
}

/* Shallow for a long time, then deep: the first deep stack must not be cut off. */
TEST(deep_need_does_not_fall_while_all_copied_pages_are_needed)
{
	struct deep_needs *needs = deep_needs_new();

	CHECK_EQ(limit_after(needs, 5000, 4, 3, false), -1);
	CHECK_EQ(limit_after(needs, 5000, 60, 59, false), -1);
	CHECK_EQ(limit_after(needs, 5000, 2, 0, false), -1);
	deep_needs_free(needs);
}

/* A goroutine from time to time. */
TEST(deep_need_of_few_stacks_is_tracked_by_their_address)
{
	struct deep_needs *needs = deep_needs_new();

	CHECK_EQ(limit_after(needs, 1000, DEEP_PAGES_FIRST, 0, false), 0);
	CHECK_EQ(last_key, THREAD);
	CHECK_EQ(limit_after(needs, 1, 0, 0, true), 32);
	CHECK_EQ(last_key, deep_place_key(THREAD, SP));
	CHECK_EQ(limit_after(needs, 3, 0, 0, true), -1); /* were already in flight */
	CHECK_EQ(limit_after(needs, 1, 32, 32, true), 8 * 32);
	CHECK_EQ(last_key, deep_place_key(THREAD, SP));
	CHECK_EQ(limit_after(needs, 100, 40, 20, false), -1);
	/* It has become deep in new places all the time. */
	CHECK(limit_after(needs, 40, 0, 0, true) > 0);
	CHECK_EQ(last_key, THREAD);
	deep_needs_free(needs);
}

/* Goroutines come and go, each at a different address, and run the same code. */
TEST(deep_need_of_few_stacks_is_tracked_by_their_code)
{
	struct deep_needs *needs = deep_needs_new();
	struct deep_use use = { .thread = THREAD, .sp = SP, .pc = 0x4010ff, .is_cut_off = true };
	struct deep_limit limit = { 0 };

	CHECK_EQ(limit_after(needs, 1000, DEEP_PAGES_FIRST, 0, false), 0);
	CHECK(deep_needs_note(needs, 7, &use, &limit));
	CHECK_EQ(limit.key, deep_code_key(THREAD, 0x401000));
	CHECK_EQ(limit.n_pages, 32);
	/* Already in flight; meanwhile the place has a limit, too. */
	CHECK(deep_needs_note(needs, 7, &use, &limit));
	CHECK_EQ(limit.key, deep_place_key(THREAD, SP));
	/* It is deeper than that. */
	use.n_needed = use.n_copied = 32;
	CHECK(deep_needs_note(needs, 7, &use, &limit));
	CHECK_EQ(limit.key, deep_code_key(THREAD, 0x401000));
	CHECK_EQ(limit.n_pages, 8 * 32);
	/* For as long as some stacks there need it. */
	use.is_cut_off = false;
	for (int i = 0; i < 1000; i++) {
		use.n_needed = i % 3 ? 0 : 20;
		CHECK(!deep_needs_note(needs, 7, &use, &limit));
	}
	use.n_needed = 0;
	bool is_told = false;
	for (int i = 0; i < 100; i++)
		is_told |= deep_needs_note(needs, 7, &use, &limit);
	CHECK(is_told);
	CHECK_EQ(limit.n_pages, 0);
	deep_needs_free(needs);
}

TEST(deep_need_of_a_deep_stack_stays)
{
	struct deep_needs *needs = deep_needs_new();

	CHECK_EQ(limit_after(needs, 5000, 700, 690, false), -1);
	deep_needs_free(needs);
}

TEST(deep_need_reports_each_hint_once)
{
	struct deep_needs *needs = deep_needs_new();
	struct deep_use use = { .sp = SP, .place = deep_place_key(THREAD, SP), .hint = 0x7008 };
	struct deep_limit limit = { 0 };

	CHECK(deep_needs_note(needs, 7, &use, &limit));
	CHECK_EQ(limit.key, use.place);
	CHECK_EQ(limit.hint, 0x7008);
	CHECK(!deep_needs_note(needs, 7, &use, &limit));
	use.hint = 0x9008;
	CHECK(deep_needs_note(needs, 7, &use, &limit));
	CHECK_EQ(limit.hint, 0x9008);
	deep_needs_free(needs);
}

TEST(deep_need_of_an_ended_thread_is_forgotten)
{
	struct deep_needs *needs = deep_needs_new();
	uint64_t thread = 0;

	CHECK(!deep_needs_forget(needs, 7, &thread));
	CHECK_EQ(limit_after(needs, 1000, DEEP_PAGES_FIRST, 0, false), 0);
	CHECK(deep_needs_forget(needs, 7, &thread));
	CHECK_EQ(thread, THREAD);
	CHECK(!deep_needs_forget(needs, 7, &thread));
	CHECK_EQ(limit_after(needs, 20, DEEP_PAGES_FIRST, 0, false), -1);
	deep_needs_free(needs);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

static void add(struct deep_wait *wait, struct order *order, pid_t tid, uint64_t time, uint64_t magic)
{
	uint64_t record[2] = { time, magic };
	struct deep_waiting it = { .time_ns = time, .time_at = 0, .tid = tid };

	deep_wait_add(wait, order, &it, (struct bytes){ (const uint8_t *)record, sizeof(record) },
		      (struct bytes){ (const uint8_t *)&record[1], 8 });
}

static void check_next(struct order *order, uint64_t want_time, uint64_t want_magic)
{
	uint64_t time, record[2];
	struct bytes bytes;

	CHECK(order_next(order, &time, &bytes));
	memcpy(record, bytes.at, sizeof(record));
	CHECK_EQ(time, want_time);
	CHECK_EQ(record[0], want_time);
	CHECK_EQ(record[1], want_magic);
}

TEST(deep_wait_gives_records_the_time_of_their_sample)
{
	struct deep_wait wait = { 0 };
	struct order *order = order_new();
	struct bytes bytes;
	uint64_t time;

	add(&wait, order, 7, 1005, DEEP_MAGIC_PAGE);
	add(&wait, order, 7, 1006, DEEP_MAGIC_OUTLINE);
	deep_wait_end(&wait, order, 7, 1000);
	order_finish(order);
	check_next(order, 1000, DEEP_MAGIC_PAGE);
	check_next(order, 1000, DEEP_MAGIC_OUTLINE);
	CHECK(!order_next(order, &time, &bytes));
	order_free(order);
	deep_wait_done(&wait);
}

TEST(deep_wait_keeps_pages_of_a_lost_sample_and_drops_its_outline)
{
	struct deep_wait wait = { 0 };
	struct order *order = order_new();
	struct bytes bytes;
	uint64_t time;

	add(&wait, order, 7, 1005, DEEP_MAGIC_PAGE);
	add(&wait, order, 7, 1006, DEEP_MAGIC_OUTLINE);
	deep_wait_end(&wait, order, -1, 2000);
	deep_wait_end(&wait, order, 7, 3000);
	order_finish(order);
	check_next(order, 1005, DEEP_MAGIC_PAGE);
	CHECK(!order_next(order, &time, &bytes));
	order_free(order);
	deep_wait_done(&wait);
}
