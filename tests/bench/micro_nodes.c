/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_nodes: the cost of a frame in a calling context tree of N nodes: to create it, and to find it again.
 * usage: micro_nodes N
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "unwinder/cct.h"

#define DEPTH 20     /* frames of a stack */
#define FANOUT 8     /* callees of a frame that occur */
#define FINDS 200000 /* stacks looked up again */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Stack number n, deterministic: outer frames from few, inner ones from many. */
static void make_stack(uint64_t n, struct stack *ret)
{
	uint64_t dice = n * 0x9e3779b97f4a7c15u + 1;

	vec_clear(&ret->frames);
	for (unsigned i = 0; i < DEPTH; i++) {
		dice ^= dice >> 29;
		dice *= 0xbf58476d1ce4e5b9u;
		vec_push(&ret->frames,
			 ((struct frame){ .vaddr = 0x1000 * (i + 1) + 4 * (dice >> 33) % (4 * FANOUT),
					  .is_return = i > 0 }));
	}
	ret->end = STACK_COMPLETE;
}

int main(int argc, char **argv)
{
	size_t want = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, n_stacks = 0;
	struct stack stack = { 0 };
	struct cct cct;

	if (!want) {
		fprintf(stderr, "usage: micro_nodes N\n");
		return 2;
	}
	cct_init(&cct);
	double start = seconds();
	for (; cct.nodes.n < want; n_stacks++) {
		make_stack(n_stacks, &stack);
		cct_add_stack(&cct, &stack);
	}
	double made = seconds() - start;

	start = seconds();
	for (size_t i = 0; i < FINDS; i++)
		make_stack(i % n_stacks, &stack);
	double alone = seconds() - start;
	start = seconds();
	for (size_t i = 0; i < FINDS; i++) {
		make_stack(i % n_stacks, &stack);
		cct_add_stack(&cct, &stack);
	}
	double found = seconds() - start - alone;
	printf("%zu nodes: %.0f ns per new frame, %.0f ns per existing frame\n", cct.nodes.n,
	       1e9 * made / (double)(n_stacks * DEPTH), 1e9 * found / (FINDS * DEPTH));
	cct_done(&cct);
	vec_done(&stack.frames);
	return 0;
}
