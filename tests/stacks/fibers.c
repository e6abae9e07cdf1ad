/* SPDX-License-Identifier: Apache-2.0 */
/* Fibers whose switch is written in assembly without unwind tables, as in many fiber libraries. */
#include <unistd.h>

#include "own_stack.h"
#include "spin.h"

#define N 4
#define STACK_BYTES (128u << 10)
#ifndef ROUNDS
#define ROUNDS 1000 /* of work between two switches */
#endif
#define TURNS (ROUNDS ? 1 : 1000) /* of all fibers, between two looks at the clock */

/* In fiber.S. */
void *fiber_make(void *stack_top, void (*function)(void));
void fiber_switch(void **save, void *to);

static void *home, *fiber[N];
static int current;

OWN static void turn(void)
{
	int self = current;

	current = (self + 1) % N;
	fiber_switch(&fiber[self], self + 1 < N ? fiber[self + 1] : home);
}

static void run(void)
{
	for (;;) {
		for (int i = 0; i < ROUNDS; i++)
			work();
		turn();
	}
}

int main(void)
{
	for (int i = 0; i < N; i++)
		fiber[i] = fiber_make(own_stack(STACK_BYTES) + STACK_BYTES, run);
	while (cpu_seconds() < work_seconds())
		for (int i = 0; i < TURNS; i++)
			fiber_switch(&home, fiber[0]);
	return 0;
}
