/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/deep/deep_need.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "collector/deep/deep_stack.h"

#define WINDOW 32       /* walks after which a limit may be lowered */
#define WORTH 4         /* one in this many must have needed what was copied */
#define WASTE_MAX 8     /* pages per walk: what is above the outermost frame of a thread's own stack */
#define LEAST 4         /* pages, if there was a limit */
#define PLACE_PAGES 32  /* for a place where a stack was truncated; more if that happens again */
#define PLACES_MAX 4096 /* the kernel stores no more */
#define CUT_OFF_TOO_OFTEN \
	16 /* more truncated than complete: places do not help, the thread is deep after all */
#define GROWTH 8

struct need {
	uint64_t thread;
	uint32_t limit;    /* as far as we know */
	uint32_t n_walks;  /* in this window, with copied pages */
	uint32_t n_used;   /* of those: walks that needed them */
	uint32_t n_needed; /* the most that one of them needed */
	uint64_t n_wasted; /* pages that were copied for them and not needed */
	uint32_t n_cut;    /* with limit 0: truncated stacks minus complete ones */
	bool has_limit;    /* the program has been given it */
};

/* For samples in a piece of code. */
struct code_need {
	uint32_t limit;           /* 0: it was not worth it */
	uint32_t n_walks, n_used; /* as above */
};

struct deep_needs {
	struct map by_tid; /* -> threads */
	VEC(struct need) threads;
	VEC(uint32_t) spare;
	struct map places;  /* key -> limit */
	struct map by_code; /* key -> codes */
	VEC(struct code_need) codes;
	struct map hints; /* key -> part of the hint */
};

struct deep_needs *deep_needs_new(void)
{
	return alloc_zero(1, sizeof(struct deep_needs));
}

void deep_needs_free(struct deep_needs *needs)
{
	if (!needs)
		return;
	map_done(&needs->by_tid);
	map_done(&needs->places);
	map_done(&needs->by_code);
	vec_done(&needs->codes);
	map_done(&needs->hints);
	vec_done(&needs->threads);
	vec_done(&needs->spare);
	free(needs);
}

static struct need *need_of(struct deep_needs *needs, pid_t tid)
{
	uint32_t index = map_find(&needs->by_tid, (uint32_t)tid);

	if (index != MAP_NONE)
		return &needs->threads.at[index];
	if (needs->spare.n) {
		index = needs->spare.at[--needs->spare.n];
	} else {
		index = (uint32_t)needs->threads.n;
		vec_push(&needs->threads, (struct need){ 0 });
	}
	needs->threads.at[index] = (struct need){ .limit = DEEP_PAGES_FIRST };
	map_put(&needs->by_tid, (uint32_t)tid, index);
	return &needs->threads.at[index];
}

static bool need_set_limit(struct need *need, uint32_t limit, struct deep_limit *ret)
{
	if (limit == need->limit)
		return false;
	need->limit = limit;
	need->has_limit = true;
	*ret = (struct deep_limit){ .key = need->thread, .n_pages = limit };
	return true;
}

static uint32_t need_raised(uint32_t limit)
{
	limit = limit < LEAST * GROWTH ? LEAST * GROWTH : limit * GROWTH;
	return limit < DEEP_PAGES_MAX ? limit : DEEP_PAGES_MAX;
}

/*
 * Room for twice what was needed, or none. If everything that is copied is needed, as on a thread's own
 * stack, the limit costs nothing, and the next stack may be deeper: it is kept.
 */
static uint32_t need_lowered(const struct need *need)
{
	uint32_t limit = LEAST;

	if (need->n_wasted <= (uint64_t)WASTE_MAX * need->n_walks)
		return need->limit;
	if (need->n_used * WORTH < need->n_walks)
		return 0;
	while (limit < 2 * need->n_needed)
		limit *= 2;
	return limit < need->limit ? limit : need->limit;
}

static struct code_need *need_find_code(struct deep_needs *needs, uint64_t key, bool is_wanted)
{
	uint32_t index = map_find(&needs->by_code, key);

	if (index != MAP_NONE || !is_wanted)
		return index == MAP_NONE ? NULL : &needs->codes.at[index];
	if (needs->codes.n >= PLACES_MAX) {
		map_done(&needs->by_code);
		needs->by_code = (struct map){ 0 };
		vec_clear(&needs->codes);
	}
	map_put(&needs->by_code, key, (uint32_t)needs->codes.n);
	vec_push(&needs->codes, (struct code_need){ .limit = PLACE_PAGES });
	return &needs->codes.at[needs->codes.n - 1];
}

/* Code that is sampled in many stacks, few of which are deep, is not worth it, now and later. */
static bool need_lower_code(struct code_need *code, const struct deep_use *use)
{
	code->n_walks += use->n_copied > 0;
	code->n_used += use->n_copied > 0 && use->n_needed > 0;
	if (!code->limit || code->n_walks < WINDOW)
		return false;
	bool is_worth_it = code->n_used * WORTH >= code->n_walks;
	code->n_walks = code->n_used = 0;
	code->limit = is_worth_it ? code->limit : 0;
	return !is_worth_it;
}

static bool need_note_code(struct deep_needs *needs, const struct need *need, const struct deep_use *use,
			   struct deep_limit *ret)
{
	uint64_t key = deep_code_key(need->thread, use->pc);
	size_t n_known = needs->codes.n;
	struct code_need *code = use->pc ? need_find_code(needs, key, use->is_cut_off) : NULL;

	if (!code)
		return false;
	bool is_new = needs->codes.n != n_known, is_lowered = need_lower_code(code, use);
	bool is_raised = use->is_cut_off && code->limit && !is_new && use->n_copied >= code->limit &&
			 code->limit < DEEP_PAGES_MAX;
	if (is_raised)
		code->limit = need_raised(code->limit);
	*ret = (struct deep_limit){ .key = key, .n_pages = code->limit };
	return is_new || is_lowered || is_raised;
}

static bool need_note_place(struct deep_needs *needs, struct need *need, const struct deep_use *use,
			    struct deep_limit *ret)
{
	uint64_t key = deep_place_key(need->thread, use->sp);
	uint32_t known = map_find(&needs->places, key), limit = PLACE_PAGES;

	if (known != MAP_NONE && use->n_copied < known)
		return false; /* its sample was taken before that limit was set */
	if (known != MAP_NONE)
		limit = need_raised(known);
	if (needs->places.n >= PLACES_MAX)
		map_done(&needs->places);
	map_put(&needs->places, key, limit);
	*ret = (struct deep_limit){ .key = key, .n_pages = limit };
	return known != limit;
}

/* The thread's limit is 0: only code and places matter. */
static bool need_note_apart(struct deep_needs *needs, struct need *need, const struct deep_use *use,
			    struct deep_limit *ret)
{
	if (!use->is_cut_off) {
		need->n_cut -= need->n_cut > 0;
		return need_note_code(needs, need, use, ret);
	}
	if (++need->n_cut >= CUT_OFF_TOO_OFTEN) {
		need->n_cut = 0;
		return need_set_limit(need, need_raised(0), ret);
	}
	return need_note_code(needs, need, use, ret) || need_note_place(needs, need, use, ret);
}

/* Each hint is given once. */
static bool need_note_hint(struct deep_needs *needs, const struct deep_use *use, struct deep_limit *ret)
{
	uint32_t value = (uint32_t)hash_u64(use->hint) >> 1; /* not MAP_NONE */

	if (!use->hint || map_find(&needs->hints, use->place) == value)
		return false;
	if (needs->hints.n >= PLACES_MAX) {
		map_done(&needs->hints);
		needs->hints = (struct map){ 0 };
	}
	map_put(&needs->hints, use->place, value);
	*ret = (struct deep_limit){ .key = use->place, .hint = use->hint };
	return true;
}

bool deep_needs_note(struct deep_needs *needs, pid_t tid, const struct deep_use *use, struct deep_limit *ret)
{
	if (need_note_hint(needs, use, ret))
		return true;
	struct need *need = need_of(needs, tid);

	if (use->thread)
		need->thread = use->thread;
	if (!need->thread)
		return false;
	if (!need->has_limit && use->n_copied > need->limit)
		need->limit = DEEP_PAGES_MAX; /* a first stack has a higher one to begin with */
	if (need->limit == 0)
		return need_note_apart(needs, need, use, ret);
	uint32_t n_needed = use->n_needed < use->n_copied ? (uint32_t)use->n_needed : use->n_copied;
	need->n_needed = n_needed > need->n_needed ? n_needed : need->n_needed;
	need->n_walks += use->n_copied > 0;
	need->n_used += n_needed > 0;
	need->n_wasted += use->n_copied - n_needed;
	bool is_raised = use->is_cut_off && use->n_copied >= need->limit;
	if (!is_raised && need->n_walks < WINDOW)
		return false;
	uint32_t limit = is_raised ? need_raised(need->limit) : need_lowered(need);
	need->n_walks = need->n_used = need->n_needed = 0;
	need->n_wasted = 0;
	return need_set_limit(need, limit, ret);
}

bool deep_needs_forget(struct deep_needs *needs, pid_t tid, uint64_t *ret_key)
{
	uint32_t index = map_find(&needs->by_tid, (uint32_t)tid);

	if (index == MAP_NONE)
		return false;
	map_remove(&needs->by_tid, (uint32_t)tid);
	vec_push(&needs->spare, index);
	*ret_key = needs->threads.at[index].thread;
	return needs->threads.at[index].has_limit;
}
