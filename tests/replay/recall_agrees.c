/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recall_agrees: checks that every stack of a recording is the same stack, and the same node of the tree,
 * whether it is unwound in full or only up to the frames shared with the thread's previous stack.
 *
 *     recall_agrees PERF.DATA [LEAST]
 *
 * LEAST: percent of all frames that must come from previous stacks (so that the test is not empty).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "collector/perfdata/perf_file.h"
#include "unwinder/cct.h"
#include "unwinder/unwinder.h"

struct way {
	struct unwinder *unwinder;
	struct stack stack;
	struct cct cct;
};

struct comparison {
	struct way full, brief;
	struct map path_of;
	VEC(struct cct_path) paths;
	uint64_t n_samples, n_frames, n_shared, n_wrong;
};

static bool frames_are_same(const struct frame *a, const struct frame *b)
{
	return a->pc == b->pc && a->vaddr == b->vaddr && a->image == b->image &&
	       a->is_return == b->is_return && a->witness == b->witness && a->verdict == b->verdict;
}

static bool stacks_are_same(const struct stack *a, const struct stack *b)
{
	if (a->frames.n != b->frames.n || a->n_kernel != b->n_kernel || a->end != b->end)
		return false;
	for (size_t i = 0; i < a->frames.n; i++)
		if (!frames_are_same(&a->frames.at[i], &b->frames.at[i]))
			return false;
	return true;
}

static struct cct_path *path_of(struct comparison *c, pid_t tid)
{
	uint32_t index = map_find(&c->path_of, (uint32_t)tid);

	if (index == MAP_NONE) {
		index = (uint32_t)c->paths.n;
		vec_push(&c->paths, (struct cct_path){ 0 });
		map_put(&c->path_of, (uint32_t)tid, index);
	}
	return &c->paths.at[index];
}

static void compare(struct comparison *c, const struct event *event)
{
	unwinder_walk(c->full.unwinder, event, &c->full.stack);
	unwinder_walk(c->brief.unwinder, event, &c->brief.stack);
	uint32_t full = cct_add_stack(&c->full.cct, &c->full.stack);
	uint32_t brief = cct_follow_stack(&c->brief.cct, &c->brief.stack, path_of(c, event->tid));

	if (full != brief || !stacks_are_same(&c->full.stack, &c->brief.stack)) {
		printf("sample %" PRIu64 " differs: %zu frames, %s, and %zu frames, %s, %u of them shared\n",
		       c->n_samples, c->full.stack.frames.n, stack_end_name(c->full.stack.end),
		       c->brief.stack.frames.n, stack_end_name(c->brief.stack.end), c->brief.stack.n_shared);
		c->n_wrong++;
	}
	c->n_samples++;
	c->n_frames += c->full.stack.frames.n;
	c->n_shared += c->brief.stack.n_shared;
}

static void begin(struct way *way, struct images *images, const struct isa *isa, bool is_full)
{
	struct unwinder_options options = { .walks_in_full = is_full };

	way->unwinder = unwinder_new(images, isa, &options);
	cct_init(&way->cct);
}

static void end(struct way *way)
{
	unwinder_free(way->unwinder);
	stack_done(&way->stack);
	cct_done(&way->cct);
}

static void run(struct comparison *c, struct source *source, struct images *images)
{
	struct diag diag = { 0 };
	struct event event;

	begin(&c->full, images, source->info.isa, true);
	begin(&c->brief, images, source->info.isa, false);
	while (source_next(source, &event, -1, &diag) > 0) {
		if (event.kind == EVENT_SAMPLE) {
			compare(c, &event);
			continue;
		}
		unwinder_event(c->full.unwinder, &event);
		unwinder_event(c->brief.unwinder, &event);
	}
	const struct unwinder_stats *full = unwinder_stats(c->full.unwinder),
				    *brief = unwinder_stats(c->brief.unwinder);
	if (full->frames != brief->frames ||
	    memcmp(full->steps_by_witness, brief->steps_by_witness, sizeof(full->steps_by_witness)) != 0) {
		printf("the unwind steps are counted differently\n");
		c->n_wrong++;
	}
	end(&c->full);
	end(&c->brief);
	for (size_t i = 0; i < c->paths.n; i++)
		vec_done(&c->paths.at[i].steps);
	vec_done(&c->paths);
	map_done(&c->path_of);
}

int main(int argc, char **argv)
{
	struct images *images = images_new();
	struct comparison c = { 0 };
	struct diag diag = { 0 };
	struct source *source;

	if (argc < 2 ||
	    perf_file_open(argv[1], &(struct perf_file_options){ 0 }, images, &source, &diag) < 0) {
		printf("cannot read the recording: %s: %s\n", diag.what, diag.why);
		return 2;
	}
	run(&c, source, images);
	source_close(source);
	images_free(images);
	printf("%" PRIu64 " samples, %" PRIu64 " frames, %" PRIu64 " of them from last stacks, %" PRIu64
	       " differences\n",
	       c.n_samples, c.n_frames, c.n_shared, c.n_wrong);
	if (argc > 2 && c.n_shared * 100 < c.n_frames * strtoull(argv[2], NULL, 10)) {
		printf("fewer frames from last stacks than %s %%\n", argv[2]);
		return 1;
	}
	return c.n_wrong != 0;
}
