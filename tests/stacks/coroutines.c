/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines of the C library (swapcontext) that switch to each other. */
#include <ucontext.h>

#include "own_stack.h"
#include "spin.h"

#define N 4
#define STACK_BYTES (128u << 10)

static ucontext_t home, routine[N];

OWN static void turn(int self)
{
	swapcontext(&routine[self], self + 1 < N ? &routine[self + 1] : &home);
}

static void run(int self)
{
	for (;;) {
		for (int i = 0; i < 1000; i++)
			work();
		turn(self);
	}
}

int main(void)
{
	for (int i = 0; i < N; i++) {
		getcontext(&routine[i]);
		routine[i].uc_stack.ss_sp = own_stack(STACK_BYTES);
		routine[i].uc_stack.ss_size = STACK_BYTES;
		makecontext(&routine[i], (void (*)(void))run, 1, i);
	}
	while (cpu_seconds() < work_seconds())
		swapcontext(&home, &routine[0]);
	return 0;
}
