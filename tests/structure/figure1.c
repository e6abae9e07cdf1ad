/* SPDX-License-Identifier: Apache-2.0 */
/* Figure 1 of Tallent et al. 2009: p calls q, which calls s through r, inlined in a loop. */
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static volatile unsigned long sink;

static NOINLINE void s(void)
{
	for (int i = 0; i < 20000; i++)
		sink += sink * 31 + 7;
}

static inline __attribute__((always_inline)) void r(int n)
{
	sink ^= n;
	s();
	sink++;
}

static NOINLINE void q(int n)
{
	for (int i = 0; i < n; i++) /* the loop */
		r(i);
}

static NOINLINE void p(double seconds)
{
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	while (clock() < end)
		q(100);
	sink = 0;
}

int main(int argc, char **argv)
{
	p(argc > 1 ? strtod(argv[1], NULL) : 1);
	return 0;
}
