/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall: everything stored about a stack is in order from its outermost frame inwards. The part that the
 * next stack shares with it is then a prefix, which stays in place.
 */
#include "unwinder/recall.h"

#include <stdlib.h>
#include <string.h>

#include "unwinder/needs.h"

#define RECALLS_MAX 1024 /* threads; a deep stack of each takes some hundred kilobytes */
/* Storing a stack costs half as much as walking it. So it pays if more than half of the walks share most of
 * their frames with the last one. */
#define CREDIT 4 /* at first: by how many walks these are ahead of the others */
#define CREDIT_MAX 8
#define PAUSE 16     /* without credit, only two in this many walks are stored, one after the other */
#define FIRST_MARK 4 /* frames inside the first mark: the innermost ones are rarely the same */

/* A frame that a later walk may reach. Counts include this frame and all frames outside it. */
struct mark {
	size_t n_frames, n_reads;
	uint64_t needed;    /* registers on which the rest of the walk depends */
	uint64_t telling;   /* ... or by which its calls are told apart */
	uint64_t low, high; /* addresses of the reads since the previous mark */
	uint32_t steps[WITNESS_N];
	bool is_return, is_interrupted, has_guessed, is_told;
	bool is_stale; /* those of regs that only tell calls apart are of an earlier stack */
	struct regs regs;
};

/* A word that was read. */
struct recall_read {
	struct cursor_note note;
	bool is_needed; /* the rest of the walk depends on it; otherwise it only tells calls apart */
};

struct recall {
	pid_t tid;
	struct recall_scope scope; /* epoch 0 = all code is in files */
	uint64_t serial;
	uint32_t credit, n_paused;
	bool was_deep; /* the last stack: only then the next one is recorded */
	uint64_t reach;
	enum stack_end end;
	VEC(struct frame) frames;
	VEC(struct recall_read) reads;
	VEC(struct mark) marks;
	uint64_t pages_start; /* the contents of the pages that were read */
	VEC(uint64_t) pages;
};

struct recalls {
	const struct isa *isa;
	struct map by_tid; /* -> all */
	VEC(struct recall) all;
	uint64_t serial;

	/* The current walk. */
	struct recall *now; /* NULL = nothing is stored for this thread, or it is not wanted */
	pid_t tid;
	struct recall_scope scope;
	struct cursor *cursor;
	size_t met;            /* marks of the last stack that the new one shares; 0 = none */
	size_t n_ahead;        /* marks [0, n_ahead) may still be reached */
	size_t verified;       /* the needed words of marks [0, verified) are unchanged */
	size_t n_same;         /* the other words of marks [0, n_same) are, too */
	bool is_verified;      /* both have been computed */
	struct cursor_log log; /* of the walk, innermost first, and its marks, in the same order */
	VEC(struct mark) marks;
};

struct recalls *recalls_new(const struct isa *isa)
{
	struct recalls *recalls = alloc_zero(1, sizeof(*recalls));

	recalls->isa = isa;
	return recalls;
}

static void recall_drop(struct recall *recall)
{
	vec_done(&recall->frames);
	vec_done(&recall->reads);
	vec_done(&recall->marks);
	vec_done(&recall->pages);
}

void recalls_drop_all(struct recalls *recalls)
{
	for (size_t i = 0; i < recalls->all.n; i++)
		recall_drop(&recalls->all.at[i]);
	vec_clear(&recalls->all);
	map_done(&recalls->by_tid);
}

void recalls_free(struct recalls *recalls)
{
	if (!recalls)
		return;
	recalls_drop_all(recalls);
	vec_done(&recalls->all);
	vec_done(&recalls->log.notes);
	vec_done(&recalls->marks);
	free(recalls);
}

static struct recall *recalls_find(struct recalls *recalls, pid_t tid)
{
	uint32_t index = map_find(&recalls->by_tid, (uint32_t)tid);

	return index == MAP_NONE ? NULL : &recalls->all.at[index];
}

void recalls_forget(struct recalls *recalls, pid_t tid)
{
	struct recall *recall = recalls_find(recalls, tid);

	if (!recall)
		return;
	/* Moves the last entry into the free one. */
	size_t index = (size_t)(recall - recalls->all.at), last = recalls->all.n - 1;
	map_remove(&recalls->by_tid, (uint32_t)tid);
	recall_drop(recall);
	if (index != last) {
		*recall = recalls->all.at[last];
		map_put(&recalls->by_tid, (uint32_t)recall->tid, (uint32_t)index);
	}
	recalls->all.n = last;
}

/* ---- is the rest the same? ---------------------------------------------------------------------- */

static bool recall_page_is_same(const struct recalls *recalls, uint64_t addr)
{
	const struct recall *recall = recalls->now;
	const struct memory *memory = &recalls->cursor->private_.memory;
	uint64_t before = (addr - recall->pages_start) / STACK_PAGE,
		 now = (addr - memory->deep_start) / STACK_PAGE;

	return addr >= recall->pages_start && before < recall->pages.n && addr >= memory->deep_start &&
	       now < memory->n_deep && memory->deep[now].hash == recall->pages.at[before];
}

static bool recall_pages_are_same(const struct recalls *recalls, uint64_t low, uint64_t high)
{
	for (uint64_t addr = low & ~(uint64_t)(STACK_PAGE - 1); addr < high; addr += STACK_PAGE)
		if (!recall_page_is_same(recalls, addr))
			return false;
	return true;
}

/* Words that only tell calls apart are updated. */
static bool recall_word_is_same(const struct recalls *recalls, struct recall_read *read)
{
	struct memory *memory = &recalls->cursor->private_.memory;
	struct cursor_note *note = &read->note;
	const uint8_t *word = note->size == 8 ? memory_piece(memory, note->addr, 8) : NULL;
	enum memory_status status = MEMORY_OK;
	uint64_t value = 0;

	if (word) /* the case for nearly all of them */
		memcpy(&value, word, 8);
	else
		status = memory_peek(memory, note->addr, note->size, &value);
	value = status == MEMORY_OK ? value : 0;
	bool is_same = status == (enum memory_status)note->status && value == note->value;
	if (!is_same && !read->is_needed) {
		note->value = value;
		note->status = (uint8_t)status;
	}
	return is_same;
}

/* Are the words that were read between mark i and the next outer one unchanged? False if one is not that is
 * needed. */
static bool recall_mark_is_same(const struct recalls *recalls, size_t i, bool *ret_all)
{
	struct recall *recall = recalls->now;
	const struct mark *mark = &recall->marks.at[i];
	size_t from = i ? recall->marks.at[i - 1].n_reads : 0;

	*ret_all = true;
	if (from == mark->n_reads || recall_pages_are_same(recalls, mark->low, mark->high))
		return true;
	for (size_t at = from; at < mark->n_reads; at++) {
		struct recall_read *read = &recall->reads.at[at];
		if (recall_word_is_same(recalls, read))
			continue;
		if (read->is_needed)
			return false;
		*ret_all = false;
	}
	return true;
}

static size_t recall_verified_marks(struct recalls *recalls)
{
	bool is_all, was_all = true;

	if (recalls->is_verified)
		return recalls->verified;
	recalls->is_verified = true;
	while (recalls->verified < recalls->now->marks.n &&
	       recall_mark_is_same(recalls, recalls->verified, &is_all)) {
		recalls->verified++;
		was_all &= is_all;
		recalls->n_same += was_all;
	}
	return recalls->verified;
}

static bool recall_regs_are_same(const struct regs *a, const struct regs *b, uint64_t needed)
{
	if ((a->known ^ b->known) & needed)
		return false;
	for (uint64_t left = a->known & needed; left; left &= left - 1) {
		int reg = __builtin_ctzll(left);
		if (a->value[reg] != b->value[reg])
			return false;
	}
	return true;
}

static bool recall_is_at_mark(const struct recalls *recalls, const struct mark *mark,
			      const struct recall_state *state)
{
	const struct recall *recall = recalls->now;

	return recall->frames.at[mark->n_frames - 1].pc == state->pc && mark->is_return == state->is_return &&
	       mark->is_interrupted == state->is_interrupted && mark->has_guessed == state->has_guessed &&
	       (mark->is_told || !state->is_told) &&
	       recall_regs_are_same(&mark->regs, recalls->cursor->private_.frame, mark->needed);
}

/* ---- a walk ------------------------------------------------------------------------------------- */

static bool recall_still_holds(const struct recall *recall, const struct recall_scope *scope)
{
	return recall->scope.generation == scope->generation &&
	       (!recall->scope.epoch || recall->scope.epoch == scope->epoch);
}

static bool recall_is_pausing(struct recall *recall)
{
	return !recall->credit && ++recall->n_paused % PAUSE > 1;
}

bool recalls_begin(struct recalls *recalls, pid_t tid, struct recall_scope scope, struct cursor *cursor)
{
	recalls->now = cursor->private_.memory.read || !scope.generation ? NULL : recalls_find(recalls, tid);
	if (recalls->now && (!recalls->now->was_deep || recall_is_pausing(recalls->now)))
		recalls->now = NULL;
	recalls->tid = tid;
	recalls->scope = scope;
	recalls->cursor = cursor;
	recalls->met = recalls->verified = recalls->n_same = 0;
	recalls->is_verified = false;
	if (!recalls->now)
		return false;
	vec_clear(&recalls->log.notes);
	vec_clear(&recalls->marks);
	cursor_note_into(cursor, &recalls->log);
	recalls->n_ahead = recall_still_holds(recalls->now, &scope) ? recalls->now->marks.n : 0;
	return true;
}

/*
 * The rest has the same frames, but some of its calls are new, or it is not known which. What told them apart
 * is no longer known, except for the registers at the mark.
 */
static void recall_lose_calls(struct recalls *recalls, struct mark *mark)
{
	struct recall *recall = recalls->now;

	for (size_t i = 0; i < recalls->met; i++)
		recall->marks.at[i].is_stale = true;
	for (size_t i = 0; i < mark->n_frames; i++)
		if (recall->frames.at[i].cfa != FRAME_OF_COROUTINE)
			recall->frames.at[i].held = 0;
	mark->regs = *recalls->cursor->private_.frame;
	mark->is_stale = false;
}

/* Which calls of the rest are the same? */
static void recall_compare_calls(struct recalls *recalls, struct stack *stack)
{
	const struct recall *recall = recalls->now;
	struct mark *mark = &recalls->now->marks.at[recalls->met - 1];
	bool are_words_same = recalls->n_same >= recalls->met;
	bool are_regs_same =
		mark->is_stale ||
		recall_regs_are_same(&mark->regs, recalls->cursor->private_.frame, mark->telling);

	stack->is_new_inside = !are_words_same || !are_regs_same;
	/* The words between two marks belong to calls inside the outer one. */
	stack->n_same =
		(uint32_t)(are_words_same ? mark->n_frames : recall->marks.at[recalls->n_same].n_frames);
	if (stack->is_new_inside || mark->is_stale)
		recall_lose_calls(recalls, mark);
}

static void recall_append_rest(struct recalls *recalls, const struct mark *mark, struct stack *stack,
			       uint64_t steps[WITNESS_N])
{
	const struct recall *recall = recalls->now;

	vec_reserve(&stack->frames, stack->frames.n + mark->n_frames);
	for (size_t i = mark->n_frames; i-- > 0;)
		stack->frames.at[stack->frames.n++] = recall->frames.at[i];
	for (size_t i = 0; i < WITNESS_N; i++)
		steps[i] = i == WITNESS_NONE ? 0 : mark->steps[i];
	stack->end = recall->end;
	if (recall->reach > recalls->cursor->private_.memory.reach)
		recalls->cursor->private_.memory.reach = recall->reach;
}

static void recall_set_mark(struct recalls *recalls, const struct recall_state *state, size_t n_before)
{
	vec_push(&recalls->marks, ((struct mark){ .n_frames = n_before,
						  .n_reads = recalls->log.notes.n,
						  .is_return = state->is_return,
						  .is_interrupted = state->is_interrupted,
						  .has_guessed = state->has_guessed,
						  .is_told = state->is_told,
						  .regs = *recalls->cursor->private_.frame }));
}

bool recalls_meet(struct recalls *recalls, const struct recall_state *state, struct stack *stack,
		  uint64_t ret_steps[WITNESS_N])
{
	const struct recall *recall = recalls->now;
	size_t n_before = stack->frames.n - stack->n_kernel;
	uint64_t sp = recalls->cursor->private_.frame->value[recalls->isa->sp];

	if (n_before < FIRST_MARK)
		return false;
	while (recalls->n_ahead && recall->marks.at[recalls->n_ahead - 1].regs.value[recalls->isa->sp] < sp)
		recalls->n_ahead--;
	if (recalls->n_ahead && recall_is_at_mark(recalls, &recall->marks.at[recalls->n_ahead - 1], state) &&
	    recalls->n_ahead <= recall_verified_marks(recalls) &&
	    n_before + recall->marks.at[recalls->n_ahead - 1].n_frames < STACK_MAX_FRAMES) {
		recalls->met = recalls->n_ahead;
		recall_compare_calls(recalls, stack);
		recall_append_rest(recalls, &recall->marks.at[recalls->met - 1], stack, ret_steps);
		return true;
	}
	if (n_before % RECALL_EVERY == FIRST_MARK)
		recall_set_mark(recalls, state, n_before);
	return false;
}

/* ---- storing a stack ------------------------------------------------------------------------------ */

/* The next stack of this thread will be stored. */
static void recall_expect(struct recalls *recalls)
{
	struct recall *known = recalls_find(recalls, recalls->tid);

	if (known) {
		known->was_deep = true;
		return;
	}
	if (recalls->all.n == RECALLS_MAX)
		recalls_drop_all(recalls);
	map_put(&recalls->by_tid, (uint32_t)recalls->tid, (uint32_t)recalls->all.n);
	vec_push(&recalls->all, ((struct recall){ .tid = recalls->tid, .was_deep = true, .credit = CREDIT }));
}

static void recall_forget_stack(struct recall *recall)
{
	recall->was_deep = false;
	vec_clear(&recall->marks);
}

static void recall_keep_pages(struct recall *recall, const struct sample *sample)
{
	recall->pages_start = sample->deep_start;
	vec_clear(&recall->pages);
	vec_reserve(&recall->pages, sample->n_deep);
	for (uint32_t i = 0; i < sample->n_deep; i++)
		recall->pages.at[recall->pages.n++] = sample->deep[i].hash;
}

static void recall_keep_read(struct recall *recall, const struct cursor_note *read, bool is_needed,
			     struct mark *mark)
{
	vec_push(&recall->reads, ((struct recall_read){ *read, is_needed }));
	mark->low = read->addr < mark->low ? read->addr : mark->low;
	mark->high = read->addr + read->size > mark->high ? read->addr + read->size : mark->high;
	if (read->status != MEMORY_OK)
		mark->low = 0; /* not in a page: it must be read again */
}

/* What the walk depends on, and what tells calls apart as well. */
struct recall_needs {
	struct needs plain, telling;
};

/* The notes of the walk from the newest back to number `from`. */
static void recall_keep_notes(struct recalls *recalls, size_t from, struct recall_needs *needs,
			      struct mark *mark)
{
	mark->low = UINT64_MAX;
	mark->high = 0;
	while (recalls->log.notes.n > from) {
		const struct cursor_note *note = &recalls->log.notes.at[--recalls->log.notes.n];
		bool is_needed = needs_take(&needs->plain, recalls->isa, note);
		if (needs_take(&needs->telling, recalls->isa, note))
			recall_keep_read(recalls->now, note, is_needed, mark);
	}
	mark->n_reads = recalls->now->reads.n;
	mark->needed = needs->plain.needed | 1ull << recalls->isa->sp;
	mark->telling = needs->telling.needed;
}

/* Marks of the walk, outermost first. n_own: frames that were walked, not recalled. */
static void recall_keep_marks(struct recalls *recalls, const struct stack *stack, size_t n_own)
{
	struct recall *recall = recalls->now;
	struct mark last = recall->marks.n ? recall->marks.at[recall->marks.n - 1] : (struct mark){ 0 };
	struct recall_needs needs = {
		.plain = { .needed = last.needed, .frame = UINT64_MAX },
		.telling = { .needed = last.telling | last.needed, .frame = UINT64_MAX, .tells = true }
	};
	size_t at = n_own;

	for (size_t i = recalls->marks.n; i-- > 0;) {
		struct mark mark = recalls->marks.at[i];
		size_t index = mark.n_frames; /* of its frame, from the innermost on */
		memcpy(mark.steps, last.steps, sizeof(mark.steps));
		while (at > index) {
			const struct frame *frame = &stack->frames.at[stack->n_kernel + --at];
			vec_push(&recall->frames, *frame);
			mark.steps[frame->witness]++;
		}
		mark.n_frames = recall->frames.n;
		recall_keep_notes(recalls, mark.n_reads, &needs, &mark);
		vec_push(&recall->marks, mark);
		last = mark;
	}
}

static void recall_judge(struct recall *recall, bool was_useful)
{
	if (was_useful && recall->credit < CREDIT_MAX)
		recall->credit++;
	else if (!was_useful && recall->credit)
		recall->credit--;
}

/* The frames inside the innermost mark are not stored. */
static void recall_keep_stack(struct recalls *recalls, const struct sample *sample, bool has_jit,
			      struct stack *stack)
{
	struct recall *recall = recalls->now;
	const struct mark *met = recalls->met ? &recall->marks.at[recalls->met - 1] : NULL;
	size_t n_shared = met ? met->n_frames : 0;

	recall_judge(recall, n_shared >= (stack->frames.n - stack->n_kernel) / 2);
	stack->n_shared = (uint32_t)n_shared;
	stack->shared_serial = recall->serial;
	stack->serial = recall->serial = ++recalls->serial;
	recall->scope.generation = recalls->scope.generation;
	if (has_jit || !met)
		recall->scope.epoch = has_jit ? recalls->scope.epoch : 0;
	recall->end = stack->end;
	recall->reach = cursor_reach(recalls->cursor);
	recall->frames.n = n_shared;
	recall->reads.n = met ? met->n_reads : 0;
	recall->marks.n = recalls->met;
	recall_keep_marks(recalls, stack, stack->frames.n - stack->n_kernel - n_shared);
	recall_keep_pages(recall, sample);
}

void recalls_end(struct recalls *recalls, const struct sample *sample, bool has_jit, struct stack *stack)
{
	/* JIT code that could not be analysed may be different the next time. */
	bool is_final = stack->end == STACK_COMPLETE || (!has_jit && stack->end != STACK_TOO_DEEP);
	bool is_deep = is_final && stack->frames.n - stack->n_kernel >= RECALL_LEAST;

	recalls->cursor->private_.log = NULL;
	if (recalls->now && is_deep)
		recall_keep_stack(recalls, sample, has_jit, stack);
	else if (recalls->now)
		recall_forget_stack(recalls->now);
	else if (is_deep && !recalls->cursor->private_.memory.read && recalls->scope.generation)
		recall_expect(recalls);
}
