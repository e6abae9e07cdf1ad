/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_depth: how the cost of a sample grows with the depth of its stack, from 10 to 10 000 frames:
 * unwinding for the first time, in full, and if only the innermost ten frames have changed; and adding the
 * stack to the tree in full and from the shared frames on. usage: micro_depth [ROUNDS]
 *
 * The program takes two samples of itself at each depth, whose innermost frames differ, and unwinds them
 * alternately.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "collector/deep/deep_stack.h"
#include "collector/live/perf_source.h"
#include "collector/process/mapping.h"
#include "collector/process/target.h"
#include "tests/support/own_registers.h"
#include "unwinder/cct.h"
#include "unwinder/unwinder.h"

#define CHANGING 10 /* frames */

struct capture {
	struct event event;
	uint8_t *bytes; /* whole pages, the first one holds sp */
	uint64_t start, end;
	VEC(struct stack_page) pages;
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- samples of ourselves ---------------------------------------------------------------------- */

static void find_stack(void *context, const struct target_map *map)
{
	struct capture *c = context;
	uint64_t sp = c->event.sample.regs.value[own_isa()->sp];

	if (map->start <= sp && sp < map->end)
		c->end = map->end;
}

/* As copied by the kernel and our BPF program. */
__attribute__((noipa)) static void capture(struct capture *c)
{
	struct sample *sample = &c->event.sample;
	ucontext_t context;

	getcontext(&context);
	own_registers(&context, &sample->regs);
	target_maps(getpid(), find_stack, c);

	uint64_t sp = sample->regs.value[own_isa()->sp],
		 deep = (sp + SOURCE_STACK_SIZE) & ~(uint64_t)(STACK_PAGE - 1);
	c->start = sp & ~(uint64_t)(STACK_PAGE - 1);
	c->bytes = alloc_zero(1, c->end - c->start);
	target_read_memory(getpid(), c->start, c->bytes, c->end - c->start);
	sample->stack = (struct bytes){ c->bytes + (sp - c->start),
					c->end - sp < SOURCE_STACK_SIZE ? c->end - sp : SOURCE_STACK_SIZE };
	for (uint64_t at = deep; at < c->end; at += STACK_PAGE)
		vec_push(&c->pages, ((struct stack_page){ c->bytes + (at - c->start),
							  deep_hash(c->bytes + (at - c->start)) }));
	sample->deep = c->pages.at;
	sample->n_deep = (uint32_t)c->pages.n;
	sample->deep_start = deep;
}

#define WAY(name, other)                                                                   \
	__attribute__((noipa)) static long name(long n, bool is_second, struct capture *c) \
	{                                                                                  \
		volatile long pad[4] = { n, is_second };                                   \
		if (n == 0)                                                                \
			capture(c);                                                        \
		else                                                                       \
			pad[2] = other(n - 1, is_second, c);                               \
		return pad[0] + pad[2] + #name[0];                                         \
	}
WAY(one_inner, one_inner)
WAY(two_inner, two_inner)

__attribute__((noipa)) static long go_down(long n, bool is_second, struct capture *c)
{
	volatile long pad[4] = { n, is_second };

	if (n > CHANGING)
		pad[2] = go_down(n - 1, is_second, c);
	else
		pad[2] = is_second ? two_inner(n - 1, true, c) : one_inner(n - 1, false, c);
	return pad[0] + pad[2];
}

/* ---- walking them -------------------------------------------------------------------------------- */

struct scene {
	struct images *images;
	struct mapper *mapper;
	struct unwinder *unwinder;
};

static void add_map(void *context, const struct target_map *map)
{
	struct scene *s = context;
	char path[4096];
	struct mapping_file file = { .inode = map->inode, .major = map->major, .minor = map->minor };
	struct event event = { .kind = EVENT_MAPPING, .pid = getpid(), .tid = getpid() };

	if (!map->is_executable)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)map->path_len, map->path);
	event.mapping = (struct mapping){ .start = map->start,
					  .len = map->end - map->start,
					  .file_offset = map->offset,
					  .image = IMAGE_NONE,
					  .is_executable = true,
					  .path = path };
	mapper_resolve(s->mapper, getpid(), &file, &event.mapping);
	unwinder_event(s->unwinder, &event);
}

static struct scene scene_new(bool walks_in_full)
{
	struct scene s = { .images = images_new() };

	s.mapper = mapper_new(s.images);
	s.unwinder = unwinder_new(s.images, own_isa(),
				  &(struct unwinder_options){ .walks_in_full = walks_in_full });
	target_maps(getpid(), add_map, &s);
	return s;
}

static void scene_done(struct scene *s)
{
	unwinder_free(s->unwinder);
	mapper_free(s->mapper);
	images_free(s->images);
}

/* Nanoseconds per unwind, and per stack added to the tree. */
struct cost {
	double first, walk, add;
	size_t n_frames;
	bool is_complete;
};

static struct cost measure(const struct capture captures[2], bool walks_in_full, int rounds)
{
	struct scene scene = scene_new(walks_in_full);
	struct stack stack = { 0 };
	struct cct cct;
	struct cct_path path = { 0 };
	struct cost cost = { 0 };

	cct_init(&cct);
	double start = now_ns();
	unwinder_walk(scene.unwinder, &captures[0].event, &stack);
	cost.first = now_ns() - start;
	for (int i = 0; i < rounds; i++) {
		start = now_ns();
		unwinder_walk(scene.unwinder, &captures[i % 2].event, &stack);
		double middle = now_ns();
		if (walks_in_full)
			cct_add_stack(&cct, &stack);
		else
			cct_follow_stack(&cct, &stack, &path);
		if (i < rounds / 2)
			continue; /* not warm yet */
		cost.walk += (middle - start) / (rounds - rounds / 2);
		cost.add += (now_ns() - middle) / (rounds - rounds / 2);
	}
	cost.n_frames = stack.frames.n;
	cost.is_complete = stack.end == STACK_COMPLETE;
	vec_done(&path.steps);
	cct_done(&cct);
	stack_done(&stack);
	scene_done(&scene);
	return cost;
}

/* A single call site, so that both stacks have the same outermost frames. */
__attribute__((noipa)) static void take_one(struct capture *c, long depth, bool is_second)
{
	c->event = (struct event){ .kind = EVENT_SAMPLE, .pid = getpid(), .tid = getpid() };
	go_down(depth, is_second, c);
}

static void print_depth(long depth, int rounds)
{
	struct capture captures[2] = { 0 };

	for (volatile int i = 0; i < 2; i++) /* not unrolled */
		take_one(&captures[i], depth, i);
	struct cost full = measure(captures, true, rounds), brief = measure(captures, false, rounds);
	double n = (double)full.n_frames;
	printf("%8zu %10.0f %10.1f %10.1f %10.2f %10.2f %10.2f %10.2f%s\n", full.n_frames, full.first / n,
	       full.walk / n, brief.walk / n, full.walk / 1e3, brief.walk / 1e3, full.add / 1e3,
	       brief.add / 1e3, full.is_complete ? "" : "  (not complete)");
	for (int i = 0; i < 2; i++) {
		free(captures[i].bytes);
		vec_done(&captures[i].pages);
	}
}

int main(int argc, char **argv)
{
	static const long depths[] = { 10, 30, 100, 300, 1000, 3000, 10000 };
	int rounds = argc > 1 ? atoi(argv[1]) : 200;

	printf("%8s %32s %21s %21s\n", "", "ns a frame", "us a walk", "us into the tree");
	printf("%8s %10s %10s %10s %10s %10s %10s %10s\n", "frames", "first", "in full", "changed", "in full",
	       "changed", "in full", "changed");
	for (size_t i = 0; i < ARRAY_LEN(depths); i++)
		print_depth(depths[i], rounds < 4 ? 4 : rounds);
	return 0;
}
