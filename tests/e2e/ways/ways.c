/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose execution paths (ways) are known: branches, nested loops, a switch, recursion, a call that
 * is left by longjmp. It prints nothing; gcov and llvm-cov count the same run.
 */
#include <setjmp.h>
#include <stdlib.h>

static volatile unsigned sink;
static jmp_buf back;

__attribute__((noinline)) unsigned classify(unsigned i)
{
	unsigned r = 1;

	if (i % 4 == 0)
		r += i;
	if (i & 1)
		r *= 3;
	else
		r ^= sink;
	return r;
}

__attribute__((noinline)) unsigned nested(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) {
		if (i % 3 == 0)
			continue;
		for (unsigned k = 0; k < i; k++)
			sum += k & 1 ? classify(k) : k;
	}
	return sum;
}

__attribute__((noinline)) unsigned choose(unsigned kind)
{
	switch (kind) {
	case 0:
		return sink + 3;
	case 1:
		sink += 4;
		break;
	case 2:
		return 7;
	case 3:
		sink ^= 9;
		break;
	case 4:
		sink = sink * 5 + 1;
		break;
	case 5:
		return sink - 8;
	case 6:
		sink -= 2;
		break;
	default:
		sink++;
	}
	return sink & 7;
}

__attribute__((noinline)) unsigned fib(unsigned n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) void leave(unsigned i)
{
	if (i % 5 == 0)
		longjmp(back, 1);
	sink += i;
}

__attribute__((noinline)) void straight(void)
{
	sink++;
}

__attribute__((noinline)) unsigned jumps(unsigned i)
{
	if (i & 1)
		leave(i);
	else
		sink += 2;
	return sink;
}

/* Which side of the first branch was taken follows from which branch comes next. */
__attribute__((noinline)) void decide(unsigned a, unsigned b, unsigned c)
{
	if (a) {
		sink += 3;
		if (b)
			sink ^= 5;
	} else {
		sink -= 7;
		if (c)
			sink ^= 11;
	}
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;

	for (unsigned i = 0; i < n; i++) {
		sink += classify(i);
		sink += choose(i % 11);
		straight();
		decide(i & 1, i % 3 == 0, i % 5 == 0);
	}
	sink += nested(n / 20);
	sink += fib(12);
	for (unsigned i = 0; i < 100; i++)
		if (setjmp(back) == 0)
			jumps(i);
	return 0;
}
