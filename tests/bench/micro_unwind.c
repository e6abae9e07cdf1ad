/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_unwind: the cost of a sample, without reading it: unwinding, and adding the stack to the tree.
 * usage: micro_unwind PERF.DATA [MODE [ROUNDS [full]]]
 *
 * full: no frames are taken from a thread's previous stack.
 * The first round computes all recipes; the later ones are the steady state.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/perfdata/perf_file.h"
#include "unwinder/cct.h"
#include "unwinder/unwinder.h"

typedef VEC(struct event) event_vec;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *copy(const void *from, size_t len)
{
	void *to = alloc_resize(NULL, len, 1);

	if (len)
		memcpy(to, from, len);
	return to;
}

/* Samples are borrowed from the source: they are copied. */
static void keep(event_vec *events, const struct event *event)
{
	struct event kept = *event;
	struct sample *s = &kept.sample;

	s->stack.at = copy(s->stack.at, s->stack.len);
	struct stack_page *deep = copy(s->deep, s->n_deep * sizeof(*deep));
	for (uint32_t i = 0; i < s->n_deep; i++)
		deep[i].at = copy(deep[i].at, STACK_PAGE);
	s->deep = deep;
	s->kernel_pc = copy(s->kernel_pc, s->n_kernel_pc * sizeof(uint64_t));
	s->user_pc = copy(s->user_pc, s->n_user_pc * sizeof(uint64_t));
	vec_push(events, kept);
}

struct round {
	double unwind, tree;
	uint64_t frames, complete;
};

static struct round run(struct unwinder *unwinder, const event_vec *events, struct stack *stacks,
			struct cct *cct)
{
	struct round round = { 0 };
	double start = seconds();

	for (size_t i = 0; i < events->n; i++) {
		unwinder_walk(unwinder, &events->at[i], &stacks[i]);
		round.frames += stacks[i].frames.n;
		round.complete += stacks[i].end == STACK_COMPLETE;
	}
	double middle = seconds();
	for (size_t i = 0; i < events->n; i++)
		cct_add_value(cct, cct_add_stack(cct, &stacks[i]), 0, 0, 1);
	round.unwind = middle - start;
	round.tree = seconds() - middle;
	return round;
}

/* A sample's stack is not in the cache after copying: the first access is part of the cost of unwinding. */
static void print(const struct round *r, size_t n, const struct cct *cct)
{
	double frames = (double)r->frames, samples = (double)n;

	printf("%zu samples, %.1f frames each, %.2f %% complete | unwind %.2f us a sample, %.0f ns a frame | "
	       "tree %.2f us, "
	       "%.1f M nodes/s, %zu nodes\n",
	       n, frames / samples, 100 * (double)r->complete / samples, r->unwind / samples * 1e6,
	       r->unwind / frames * 1e9, r->tree / samples * 1e6, frames / r->tree / 1e6, cct->nodes.n);
}

int main(int argc, char **argv)
{
	struct images *images = images_new();
	struct diag diag = { 0 };
	struct source *source;
	struct event event;
	event_vec events = { 0 };
	struct unwinder_options options = { 0 };

	if (argc < 2 || (argc > 2 && unwind_mode_parse(argv[2], &options.mode) < 0)) {
		fprintf(stderr, "usage: micro_unwind PERF.DATA [MODE [ROUNDS]]\n");
		return 2;
	}
	options.walks_in_full = argc > 4;
	if (perf_file_open(argv[1], &(struct perf_file_options){ 0 }, images, &source, &diag) < 0) {
		fprintf(stderr, "micro_unwind: %s: %s\n", diag.what, diag.why);
		return 1;
	}
	/* All mappings first: the rounds only unwind the samples. Meant for a recording of one program run.
	 */
	struct unwinder *unwinder = unwinder_new(images, source->info.isa, &options);
	while (source_next(source, &event, -1, &diag) > 0) {
		if (event.kind == EVENT_SAMPLE)
			keep(&events, &event);
		else
			unwinder_event(unwinder, &event);
	}
	struct stack *stacks = alloc_zero(events.n, sizeof(*stacks));
	struct cct cct;
	cct_init(&cct);
	for (int i = 0; i < (argc > 3 ? atoi(argv[3]) : 3) && events.n; i++) {
		struct round round = run(unwinder, &events, stacks, &cct);
		print(&round, events.n, &cct);
	}
	const struct unwinder_stats *stats = unwinder_stats(unwinder);
	printf("%llu cache hits, %llu misses, %llu functions\n", (unsigned long long)stats->cache_hits,
	       (unsigned long long)stats->cache_misses, (unsigned long long)stats->functions_compiled);
	return 0;
}
