/* SPDX-License-Identifier: Apache-2.0 */
/* All forms of loops in C. The expectations for each function are above it; see ../check.py. */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noipa_or_noclone))
#ifdef __clang__
#define noipa_or_noclone noinline
#else
#define noipa_or_noclone noipa
#endif

volatile int sink;

//: expect nest @nest
//:   loop @i-@body
//:     loop @j-@body
//:       loop @k-@body
//:   line @body in @k
NOINLINE long nest(const int *a, long n, long m) /* @nest */
{
	long sum = 0;

	for (long i = 0; i < n; i++) /* @i */
		for (long j = 0; j < m; j++) /* @j */
			for (long k = 0; k < a[j]; k++) /* @k */
				sink = (int)(sum += a[i * m + j] ^ k); /* @body */
	return sum;
}

//: expect siblings @siblings
//:   loop @first-@first_end
//:     loop @inner-@inner_end
//:   loop @second-@second_end
NOINLINE void siblings(int n) /* @siblings */
{
	for (int i = 0; i < n; i++) { /* @first */
		sink = i;
		for (int j = i; j < n; j++) /* @inner */
			sink += j; /* @inner_end */
		sink--; /* @first_end */
	}
	while (sink < n) /* @second */
		sink++; /* @second_end */
}

//: expect until @until
//:   loop @body1-@test1
NOINLINE void until(int n) /* @until */
{
	sink = n;
	do {
		sink -= 3; /* @body1 */
		sink += 2;
		sink *= 2;
		sink -= n;
	} while (sink > 0); /* @test1 */
}

//: expect chain @chain
//:   loop @walk-@walk_end
struct node {
	struct node *next;
	int value;
};
NOINLINE int chain(const struct node *node, int wanted) /* @chain */
{
	while (node) { /* @walk */
		if (node->value == wanted)
			return 1;
		node = node->next; /* @walk_end */
	}
	return 0;
}

//: expect one_line @one_line
//:   loop @both-@both
//:   loop @both-@both
NOINLINE void one_line(int n) /* @one_line */
{
	for (int i = 0; i < n; i++) sink = i; for (int j = n; j > 0; j--) sink += j; /* @both */
}

//: expect dispatch @dispatch
//:   loop @for-@last
//:   line @case3 in @for
//:   line @case5 in @for
//:   line @leave in @for
NOINLINE int dispatch(const unsigned char *code, int n) /* @dispatch */
{
	int acc = 0;

	for (int i = 0; i < n; i++) { /* @for */
		switch (code[i]) {
		case 0: acc += sink; break;
		case 1: acc -= sink; break;
		case 2: acc ^= sink; break;
		case 3: sink = acc * 3; break; /* @case3 */
		case 4: acc = acc << sink; break;
		case 5: sink = acc / (sink | 1); break; /* @case5 */
		default: return acc; /* @leave */
		case 6: acc |= sink; break; /* @last */
		}
	}
	return acc;
}

//: expect tangled @tangled
//:   loop @any-@any_end irreducible
NOINLINE void tangled(int n) /* @tangled */
{
	if (n > sink)
		goto middle; /* @before */
top:
	sink += 5; /* @any */
	sink ^= n;
middle:
	sink -= 3;
	sink *= n;
	if (sink < n)
		goto top; /* @any_end */
	sink = 0;
}

// The head has nothing to execute; clang at -O0 still jumps back to its line.
//: expect endless @endless if clang O0
//:   loop @head-@forever_end
//:   line @give_up in @head
//:   line @got in @head
//: expect endless @endless if !clang|!O0
//:   loop @forever-@forever_end
//:   line @give_up in @forever
//:   line @got in @forever
NOINLINE int endless(int n) /* @endless */
{
	for (;;) { /* @head */
		sink += n; /* @forever */
		if (sink > 100)
			return sink; /* @got */
		sink *= 2;
		if (sink < -100)
			abort(); /* @give_up */
		sink -= 1; /* @forever_end */
	}
}

#define EACH(i, n) for (int i = 0; i < (n); i++)
//: expect macro @macro
//:   loop @each-@each_end
NOINLINE void macro(int n) /* @macro */
{
	EACH (i, n) { /* @each */
		sink = i;
		sink += n; /* @each_end */
	}
}

//: expect straight @straight
NOINLINE void straight(int n) /* @straight */
{
	sink = n;
	if (n > 3)
		sink = 4;
}

int main(int argc, char **argv)
{
	static int a[64];
	struct node node = { NULL, argc };

	nest(a, argc, argc);
	siblings(argc);
	until(argc);
	chain(&node, 2);
	one_line(argc);
	dispatch((unsigned char *)argv[0], argc);
	tangled(argc);
	endless(argc);
	macro(argc);
	straight(argc);
	return 0;
}
