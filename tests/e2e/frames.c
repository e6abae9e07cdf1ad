/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames: short functions with frame pointers, and leaf functions without a frame. Each is called from one
 * place only: by a direct call, or by a pointer, so that nothing but the registers tells who called it.
 *
 * usage: frames ROUNDS
 */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

NOINLINE static unsigned long direct_leaf(unsigned long at)
{
	__asm__ volatile("");
	return at * 7 + 1;
}

NOINLINE static void direct_inner(void)
{
	sink = direct_leaf(sink) + 1;
	__asm__ volatile("");
}

NOINLINE static void direct_outer(void)
{
	direct_inner();
	__asm__ volatile("");
}

NOINLINE static unsigned long pointed_leaf(unsigned long at)
{
	__asm__ volatile("");
	return at * 5 + 1;
}
static unsigned long (*volatile to_leaf)(unsigned long) = pointed_leaf;

NOINLINE static void pointed_inner(void)
{
	sink = to_leaf(sink) + 1;
	__asm__ volatile("");
}
static void (*volatile to_inner)(void) = pointed_inner;

NOINLINE static void pointed_outer(void)
{
	to_inner();
	__asm__ volatile("");
}
static void (*volatile to_outer)(void) = pointed_outer;

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000000;

	for (long i = 0; i < n; i++) {
		direct_outer();
		to_outer();
	}
	return 0;
}
