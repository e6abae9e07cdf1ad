/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wander: calls and returns at random, through functions with different kinds of frames, up to some hundred
 * deep: the outer part of a stack stays the same for a while, and frames reappear at the same addresses with
 * different contents.
 *
 *     wander SECONDS SEED
 */
#include <alloca.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEEPEST 600

static volatile uint64_t sink;
static uint64_t state;
static struct timespec until;

static uint64_t dice(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec);
}

static uint64_t go(unsigned depth);

__attribute__((noinline)) static uint64_t small(unsigned depth)
{
	return go(depth + 1) + depth;
}

__attribute__((noinline)) static uint64_t registers(unsigned depth)
{
	uint64_t a = dice(), b = dice(), c = dice(), d = dice();

	a += go(depth + 1);
	return a ^ b * c - d;
}

__attribute__((noinline)) static uint64_t array(unsigned depth)
{
	volatile uint64_t words[40];

	memset((void *)words, (int)dice(), sizeof(words));
	words[depth % 40] = go(depth + 1);
	return words[dice() % 40];
}

__attribute__((noinline)) static uint64_t variable(unsigned depth)
{
	size_t len = 16 + dice() % 300;
	volatile char *room = alloca(len);

	room[len - 1] = (char)go(depth + 1);
	return (uint64_t)room[dice() % len];
}

__attribute__((noinline)) static uint64_t twice(unsigned depth)
{
	uint64_t sum = go(depth + 1);

	return sum + go(depth + 1);
}

static volatile unsigned signal_depth;

static void on_signal(int number)
{
	sink += (uint64_t)number + (signal_depth < DEEPEST ? small(signal_depth) : 0);
}

__attribute__((noinline)) static uint64_t by_signal(unsigned depth)
{
	signal_depth = depth + 1;
	raise(SIGUSR1);
	return depth;
}

__attribute__((noinline)) static uint64_t work(void)
{
	for (uint64_t i = dice() % 2000; i > 0; i--)
		sink += i;
	return sink;
}

/* On average as many calls as returns; the deeper the stack, the more likely is a return. */
static uint64_t go(unsigned depth)
{
	static uint64_t (*const ways[])(unsigned) = { small, registers, array, variable,
						      twice, registers, small, by_signal };
	uint64_t sum = 0;

	while (depth < DEEPEST && dice() % 1000 > 400 + depth / 2 && !is_over()) {
		uint64_t way = dice() % 64;
		sum += work();
		sum ^= ways[way == 0 ? 7 : way % 7](depth);
	}
	return sum;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	state = strtoull(argv[2], NULL, 10) * 2 + 1;
	signal(SIGUSR1, on_signal);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(atof(argv[1]) * 1e9) % 1000000000;
	until.tv_sec += (long)atof(argv[1]) + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (!is_over())
		sink += go(0);
	printf("%lu\n", (unsigned long)sink);
	return 0;
}
