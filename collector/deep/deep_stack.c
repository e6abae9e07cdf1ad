/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deep_stack: a store of pages by thread and address, and the outline that is held until its sample arrives.
 */
#include "collector/deep/deep_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

#define NEARBY_MAX (DEEP_NEARBY_REGS + DEEP_NEARBY_STACK)
#define KNOWN_PAGES 32768 /* of the program, unless fewer are requested */

uint64_t deep_hash(const uint8_t *page)
{
	uint64_t lane[DEEP_LANES], word, hash = 0;

	for (size_t i = 0; i < DEEP_LANES; i++)
		lane[i] = i + 1;
	for (size_t i = 0; i < DEEP_PAGE / 8; i++) {
		uint64_t *h = &lane[i % DEEP_LANES];
		memcpy(&word, page + 8 * i, sizeof(word));
		*h = __builtin_bswap64(*h ^ word) * DEEP_FACTOR;
	}
	for (size_t i = 0; i < DEEP_LANES + 2; i++)
		hash = __builtin_bswap64(hash ^ (i < DEEP_LANES ? lane[i] : 0)) * DEEP_FACTOR;
	return hash;
}

/* ---- pages ---------------------------------------------------------------------------------- */

#define NO_PAGE UINT32_MAX

struct stored {
	uint64_t key, hash;
	uint8_t *bytes;
	pid_t tid;
	uint32_t next, before; /* of the same thread; NO_PAGE = none */
	bool is_used;          /* since the clock hand last passed */
};

struct deep_stacks {
	size_t max;        /* pages kept: some more than the program remembers having written */
	struct map by_key; /* -> stored */
	VEC(struct stored) stored;
	VEC(uint32_t) spare;  /* slots of threads that have ended, without memory */
	struct map by_thread; /* -> the first page of a thread */
	size_t hand;          /* of the clock algorithm that chooses the page to replace */
	/* The outline that waits for its sample; count 0 = none. */
	pid_t tid;
	uint64_t sp, first, end, thread;
	VEC(uint64_t) hashes;
	VEC(struct stack_page) pages; /* of the last sample */
	/* Hidden return addresses that wait for their sample; hidden_sp: of that sample. */
	pid_t hidden_tid;
	uint64_t hidden_sp;
	uint32_t n_hidden;
	struct hidden_return hidden[DEEP_HIDDEN_MAX + NEARBY_MAX];
	/* Possible further ones, likewise. */
	pid_t nearby_tid;
	uint64_t nearby_sp;
	uint32_t n_nearby;
	uint64_t nearby[NEARBY_MAX];
	/* The end of a mapping, likewise; and the snapshot with it. */
	pid_t tail_tid;
	uint64_t tail_sp, tail_start;
	size_t tail_len; /* 0 = none */
	uint8_t tail[DEEP_TAIL];
	pid_t below_tid;
	uint64_t below_sp;
	size_t below_len; /* 0 = none */
	uint8_t below[DEEP_BELOW];
	VEC(uint8_t) snapshot;
	/* A copied instruction, for the next sample; magic 0 = none. */
	pid_t stepped_tid;
	struct deep_stepped stepped;
	/* A breakpoint, likewise. */
	pid_t trapped_tid;
	struct deep_trapped trapped;
};

struct deep_stacks *deep_stacks_new(void)
{
	struct deep_stacks *stacks = alloc_zero(1, sizeof(*stacks));

	deep_stacks_limit(stacks, KNOWN_PAGES);
	return stacks;
}

void deep_stacks_limit(struct deep_stacks *stacks, size_t n_known)
{
	stacks->max = n_known + n_known / 4;
}

void deep_stacks_free(struct deep_stacks *stacks)
{
	if (!stacks)
		return;
	for (size_t i = 0; i < stacks->stored.n; i++)
		free(stacks->stored.at[i].bytes);
	vec_done(&stacks->stored);
	vec_done(&stacks->spare);
	map_done(&stacks->by_thread);
	vec_done(&stacks->hashes);
	vec_done(&stacks->pages);
	vec_done(&stacks->snapshot);
	map_done(&stacks->by_key);
	free(stacks);
}

/* Thread numbers have at most 22 bits, addresses of pages at most 40. */
static uint64_t deep_key_of(pid_t tid, uint64_t addr)
{
	return (uint64_t)(uint32_t)tid << 42 ^ addr / DEEP_PAGE;
}

static void deep_link(struct deep_stacks *stacks, uint32_t index)
{
	struct stored *stored = &stacks->stored.at[index];
	uint32_t first = map_find(&stacks->by_thread, (uint32_t)stored->tid);

	stored->before = NO_PAGE;
	stored->next = first == MAP_NONE ? NO_PAGE : first;
	if (stored->next != NO_PAGE)
		stacks->stored.at[stored->next].before = index;
	map_put(&stacks->by_thread, (uint32_t)stored->tid, index);
}

static void deep_unlink(struct deep_stacks *stacks, uint32_t index)
{
	const struct stored *stored = &stacks->stored.at[index];

	if (stored->next != NO_PAGE)
		stacks->stored.at[stored->next].before = stored->before;
	if (stored->before != NO_PAGE)
		stacks->stored.at[stored->before].next = stored->next;
	else if (stored->next != NO_PAGE)
		map_put(&stacks->by_thread, (uint32_t)stored->tid, stored->next);
	else
		map_remove(&stacks->by_thread, (uint32_t)stored->tid);
}

void deep_stacks_forget(struct deep_stacks *stacks, pid_t tid)
{
	uint32_t index = map_find(&stacks->by_thread, (uint32_t)tid);

	if (index == MAP_NONE)
		return;
	map_remove(&stacks->by_thread, (uint32_t)tid);
	while (index != NO_PAGE) {
		struct stored *stored = &stacks->stored.at[index];
		map_remove(&stacks->by_key, stored->key);
		free(stored->bytes);
		vec_push(&stacks->spare, index);
		index = stored->next;
		*stored = (struct stored){ .next = NO_PAGE, .before = NO_PAGE };
	}
}

/* A free slot, or that of a page that was not used for a while. */
static uint32_t deep_make_room(struct deep_stacks *stacks)
{
	if (stacks->spare.n) {
		uint32_t index = stacks->spare.at[--stacks->spare.n];
		stacks->stored.at[index].bytes = alloc_resize(NULL, 1, DEEP_PAGE);
		return index;
	}
	if (stacks->stored.n < stacks->max) {
		vec_push(&stacks->stored, ((struct stored){ .bytes = alloc_resize(NULL, 1, DEEP_PAGE) }));
		return (uint32_t)stacks->stored.n - 1;
	}
	while (stacks->stored.at[stacks->hand].is_used) {
		stacks->stored.at[stacks->hand].is_used = false;
		stacks->hand = (stacks->hand + 1) % stacks->stored.n;
	}
	uint32_t index = (uint32_t)stacks->hand;
	stacks->hand = (stacks->hand + 1) % stacks->stored.n;
	map_remove(&stacks->by_key, stacks->stored.at[index].key);
	deep_unlink(stacks, index);
	return index;
}

static void deep_take_page(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	uint64_t addr = read_u64(r), hash = read_u64(r);
	struct bytes bytes = read_bytes(r, DEEP_PAGE);

	if (r->failed || addr % DEEP_PAGE)
		return;

	uint64_t key = deep_key_of(tid, addr);
	uint32_t index = map_find(&stacks->by_key, key);
	if (index == MAP_NONE) {
		index = deep_make_room(stacks);
		map_put(&stacks->by_key, key, index);
		stacks->stored.at[index].tid = tid;
		deep_link(stacks, index);
	}
	struct stored *stored = &stacks->stored.at[index];
	stored->key = key;
	stored->hash = hash;
	stored->is_used = true;
	memcpy(stored->bytes, bytes.at, DEEP_PAGE);
}

static const struct stored *deep_find_page(struct deep_stacks *stacks, pid_t tid, uint64_t addr,
					   uint64_t hash)
{
	uint32_t index = map_find(&stacks->by_key, deep_key_of(tid, addr));

	if (index == MAP_NONE || stacks->stored.at[index].hash != hash)
		return NULL;
	stacks->stored.at[index].is_used = true;
	return &stacks->stored.at[index];
}

/* ---- outlines ------------------------------------------------------------------------------- */

static void deep_take_outline(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	vec_clear(&stacks->hashes);
	stacks->tid = tid;
	stacks->sp = read_u64(r);
	stacks->first = read_u64(r);
	stacks->end = read_u64(r);

	uint64_t n = read_u64(r);
	stacks->thread = read_u64(r);
	if (r->failed || stacks->first % DEEP_PAGE || n > DEEP_PAGES_MAX || n > reader_left(r) / 8 ||
	    stacks->first > UINT64_MAX - (DEEP_PAGES_MAX + 1) * DEEP_PAGE)
		return;
	for (uint64_t i = 0; i < n; i++)
		vec_push(&stacks->hashes, read_u64(r));
}

static void deep_take_hidden(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	uint64_t n;

	stacks->hidden_tid = tid;
	stacks->hidden_sp = read_u64(r);
	stacks->n_hidden = 0;
	n = read_u64(r);
	if (r->failed || n > DEEP_HIDDEN_MAX || n > reader_left(r) / 16)
		return;
	for (; stacks->n_hidden < n; stacks->n_hidden++) {
		uint64_t stack = read_u64(r);
		stacks->hidden[stacks->n_hidden] = (struct hidden_return){ stack, read_u64(r), false };
	}
}

/* Each of them once. */
static void deep_take_nearby(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	stacks->nearby_tid = tid;
	stacks->nearby_sp = read_u64(r);
	stacks->n_nearby = 0;
	for (size_t i = 0; i < NEARBY_MAX; i++) {
		uint64_t word = read_u64(r);
		uint32_t k = 0;
		while (k < stacks->n_nearby && stacks->nearby[k] != word)
			k++;
		if (!r->failed && word && k == stacks->n_nearby)
			stacks->nearby[stacks->n_nearby++] = word;
	}
}

static void deep_take_stepped(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	stacks->stepped_tid = tid;
	stacks->stepped.sp = read_u64(r);
	stacks->stepped.copy = read_u64(r);
	stacks->stepped.place = read_u64(r);
	stacks->stepped.magic = r->failed ? 0 : DEEP_MAGIC_STEPPED;
}

static void deep_take_trapped(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	stacks->trapped_tid = tid;
	stacks->trapped.sp = read_u64(r);
	stacks->trapped.has_next = read_u64(r);
	stacks->trapped.magic = r->failed ? 0 : DEEP_MAGIC_TRAPPED;
}

static void deep_take_tail(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	stacks->tail_tid = tid;
	stacks->tail_sp = read_u64(r);
	stacks->tail_start = read_u64(r);
	struct bytes bytes = read_bytes(r, DEEP_TAIL);
	stacks->tail_len = r->failed ? 0 : bytes.len;
	if (stacks->tail_len)
		memcpy(stacks->tail, bytes.at, stacks->tail_len);
}

static void deep_take_below(struct deep_stacks *stacks, pid_t tid, struct reader *r)
{
	stacks->below_tid = tid;
	stacks->below_sp = read_u64(r);
	struct bytes bytes = read_bytes(r, DEEP_BELOW);
	stacks->below_len = r->failed ? 0 : bytes.len;
	if (stacks->below_len)
		memcpy(stacks->below, bytes.at, stacks->below_len);
}

void deep_stacks_take(struct deep_stacks *stacks, pid_t tid, struct bytes payload)
{
	struct reader r = reader_of(payload);
	uint64_t magic = read_u64(&r);

	if (magic == DEEP_MAGIC_PAGE)
		deep_take_page(stacks, tid, &r);
	else if (magic == DEEP_MAGIC_OUTLINE)
		deep_take_outline(stacks, tid, &r);
	else if (magic == DEEP_MAGIC_HIDDEN)
		deep_take_hidden(stacks, tid, &r);
	else if (magic == DEEP_MAGIC_STEPPED)
		deep_take_stepped(stacks, tid, &r);
	else if (magic == DEEP_MAGIC_TRAPPED)
		deep_take_trapped(stacks, tid, &r);
	else if (magic == DEEP_MAGIC_NEARBY)
		deep_take_nearby(stacks, tid, &r);
	else if (magic == DEEP_MAGIC_TAIL)
		deep_take_tail(stacks, tid, &r);
	else if (magic == DEEP_MAGIC_BELOW)
		deep_take_below(stacks, tid, &r);
}

/* Valid for one sample. */
static void deep_join_hidden(struct deep_stacks *stacks, pid_t tid, const struct isa *isa,
			     struct sample *sample)
{
	if (stacks->n_hidden && tid == stacks->hidden_tid && regs_known(&sample->regs, isa->sp) &&
	    sample->regs.value[isa->sp] == stacks->hidden_sp) {
		sample->hidden = stacks->hidden;
		sample->n_hidden = stacks->n_hidden;
	}
	stacks->n_hidden = 0;
}

/* Another one, the innermost. */
static void deep_hide_first(struct deep_stacks *stacks, struct sample *sample, struct hidden_return first)
{
	uint32_t n = sample->n_hidden < DEEP_HIDDEN_MAX ? sample->n_hidden : DEEP_HIDDEN_MAX - 1;

	if (n)
		memmove(stacks->hidden + 1, sample->hidden, n * sizeof(*stacks->hidden));
	stacks->hidden[0] = first;
	sample->hidden = stacks->hidden;
	sample->n_hidden = n + 1;
}

static void deep_join_nearby(struct deep_stacks *stacks, pid_t tid, const struct isa *isa,
			     struct sample *sample)
{
	uint32_t n = stacks->n_nearby;

	stacks->n_nearby = 0;
	if (tid != stacks->nearby_tid || !regs_known(&sample->regs, isa->sp) ||
	    sample->regs.value[isa->sp] != stacks->nearby_sp ||
	    (sample->n_hidden && sample->hidden != stacks->hidden))
		return;
	for (uint32_t i = 0; i < n; i++)
		stacks->hidden[sample->n_hidden + i] =
			(struct hidden_return){ stacks->nearby_sp, stacks->nearby[i], true };
	sample->hidden = stacks->hidden;
	sample->n_hidden += n;
}

/*
 * pc at the copy, or after it, means the instruction itself. A copied call has pushed the address after the
 * copy: the kernel also corrects that later.
 */
static void deep_join_stepped(struct deep_stacks *stacks, pid_t tid, const struct isa *isa,
			      struct sample *sample)
{
	const struct deep_stepped it = stacks->stepped;
	uint64_t *pc = &sample->regs.value[isa->pc], top;

	stacks->stepped.magic = 0;
	if (!it.magic || tid != stacks->stepped_tid || !regs_known(&sample->regs, isa->sp) ||
	    !regs_known(&sample->regs, isa->pc) || sample->regs.value[isa->sp] != it.sp)
		return;
	if (*pc - it.copy <= DEEP_SLOT) {
		*pc += it.place - it.copy;
		return;
	}
	if (!isa->call_pushes_ra || sample->stack.len < sizeof(top))
		return;
	memcpy(&top, sample->stack.at, sizeof(top));
	if (top - it.copy <= DEEP_SLOT)
		deep_hide_first(stacks, sample,
				(struct hidden_return){ it.sp, top + it.place - it.copy, false });
}

static void deep_join_trapped(struct deep_stacks *stacks, pid_t tid, const struct isa *isa,
			      struct sample *sample)
{
	const struct deep_trapped it = stacks->trapped;

	stacks->trapped.magic = 0;
	sample->is_after_break = it.magic && tid == stacks->trapped_tid &&
				 regs_known(&sample->regs, isa->sp) && sample->regs.value[isa->sp] == it.sp;
	sample->is_at_break = sample->is_after_break && it.has_next;
}

/* A snapshot that ends within the tail, where the kernel gave up, is completed. */
static void deep_join_tail(struct deep_stacks *stacks, pid_t tid, const struct isa *isa,
			   struct sample *sample)
{
	size_t len = stacks->tail_len, n = sample->stack.len;

	stacks->tail_len = 0;
	if (tid != stacks->tail_tid || !regs_known(&sample->regs, isa->sp) ||
	    sample->regs.value[isa->sp] != stacks->tail_sp)
		return;
	uint64_t offset = stacks->tail_sp + n - stacks->tail_start;
	if (offset >= len)
		return;
	vec_clear(&stacks->snapshot);
	vec_reserve(&stacks->snapshot, n + len - offset);
	if (n)
		memcpy(stacks->snapshot.at, sample->stack.at, n);
	memcpy(stacks->snapshot.at + n, stacks->tail + offset, len - offset);
	sample->stack = (struct bytes){ stacks->snapshot.at, n + len - offset };
}

static void deep_join_below(struct deep_stacks *stacks, pid_t tid, const struct isa *isa,
			    struct sample *sample)
{
	if (stacks->below_len && tid == stacks->below_tid && regs_known(&sample->regs, isa->sp) &&
	    sample->regs.value[isa->sp] == stacks->below_sp)
		sample->below = (struct bytes){ stacks->below, stacks->below_len };
	stacks->below_len = 0;
}

void deep_stacks_join(struct deep_stacks *stacks, pid_t tid, const struct isa *isa, struct sample *sample)
{
	size_t n = stacks->hashes.n;
	bool is_its_own = tid == stacks->tid && regs_known(&sample->regs, isa->sp) &&
			  sample->regs.value[isa->sp] == stacks->sp;

	if (!sample->n_hidden)
		deep_join_hidden(stacks, tid, isa, sample);
	if (stacks->tail_len)
		deep_join_tail(stacks, tid, isa, sample);
	deep_join_below(stacks, tid, isa, sample);
	deep_join_stepped(stacks, tid, isa, sample);
	deep_join_trapped(stacks, tid, isa, sample);
	if (stacks->n_nearby)
		deep_join_nearby(stacks, tid, isa, sample);
	vec_clear(&stacks->hashes); /* an outline is valid for one sample */
	vec_clear(&stacks->pages);
	if (!n || !is_its_own)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = stacks->hashes.at[i];
		if (hash == DEEP_HOLE) {
			vec_push(&stacks->pages, (struct stack_page){ 0 });
			continue;
		}
		const struct stored *stored =
			deep_find_page(stacks, tid, stacks->first + i * DEEP_PAGE, hash);
		if (!stored)
			break;
		vec_push(&stacks->pages, ((struct stack_page){ stored->bytes, hash }));
	}
	sample->deep = stacks->pages.at;
	sample->n_deep = (uint32_t)stacks->pages.n;
	sample->deep_start = stacks->first;
	sample->deep_thread = stacks->thread;
	if (stacks->first + stacks->pages.n * DEEP_PAGE >= stacks->end)
		sample->stack_was_full = false; /* there is no more of it */
}
