/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in inlined calls and inlined calls in loops. Inlining is forced, so it is the same at every level. */
#include <stdlib.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define INLINE static inline __attribute__((always_inline))

volatile int sink;
NOINLINE int outside(int n) { return n + sink; }

/* A loop whose condition is inlined stays where it is written, with its body. */
INLINE int more(int i, int n)
{
	return i < n && sink != i; /* @more */
}
//: expect condition @condition if debug
//:   loop @cond-@cond_end
//:     inline more at @cond
//:   line @cond_body in @cond
NOINLINE void condition(int n) /* @condition */
{
	for (int i = 0; more(i, n); i++) { /* @cond */
		sink += 7; /* @cond_body */
		sink ^= n; /* @cond_end */
	}
}

/* A loop that is inlined as a whole is in the inlined call. */
INLINE void fill(int n)
{
	for (int i = 0; i < n; i++) /* @fill */
		sink = i * n; /* @fill_end */
}
//: expect whole @whole
//:   inline fill at @call_fill
//:     loop @fill-@fill_end
NOINLINE void whole(int n) /* @whole */
{
	sink = 1;
	fill(n); /* @call_fill */
	sink = 2;
}

/* Twice in one function: two loops, distinguished by their call sites. */
//: expect twice @twice if !alien
//:   inline fill at @fill1
//:     loop @fill-@fill_end
//:   inline fill at @fill2
//:     loop @fill-@fill_end
NOINLINE void twice(int n) /* @twice */
{
	fill(n); /* @fill1 */
	sink = 9;
	fill(n + sink); /* @fill2 */
}

/* An inlined loop in a loop. */
//: expect deep @deep
//:   loop @deep_for-@deep_end
//:     inline fill at @deep_fill
//:       loop @fill-@fill_end
NOINLINE void deep(int n) /* @deep */
{
	for (int i = 0; i < n; i++) { /* @deep_for */
		sink += 3;
		fill(sink); /* @deep_fill */
		sink -= 3; /* @deep_end */
	}
}

/* Figure 1 of the 2009 paper: p calls q, r is inlined in q inside a loop, r calls s. */
INLINE void r(int n)
{
	sink = outside(n); /* @r_call */
}
//: expect q @q
//:   loop @q_loop-@q_end
//:     inline r at @q_end
NOINLINE void q(int n) /* @q */
{
	for (int i = 0; i < n; i++) /* @q_loop */
		r(i); /* @q_end */
}

/* An inlined call in an inlined call, with a loop in between. */
INLINE int leaf(int i)
{
	return outside(i) ^ sink;
}
INLINE int middle(int n)
{
	int acc = 0;
	for (int i = 0; i < n; i++) /* @middle */
		acc += leaf(i); /* @middle_end */
	return acc;
}
INLINE int upper(int n)
{
	return middle(n) + 1; /* @upper_call */
}
//: expect tower @tower if !alien
//:   inline upper at @tower_call
//:     inline middle at @upper_call
//:       loop @middle-@middle_end
//:         inline leaf at @middle_end
// Without inlining information, the calls are known by their lines only, not how they nest.
//: expect tower @tower if alien
//:   inline middle *
//:     loop @middle-@middle_end
//:       inline leaf *
NOINLINE int tower(int n) /* @tower */
{
	return upper(n); /* @tower_call */
}

/* Cold code of a loop belongs to the loop, and adds no copy of it. */
NOINLINE __attribute__((cold)) void complain(int n) { sink = n; }
//: expect colds @colds
//:   loop @cold_for-@cold_end
//:   line @cold1 in @cold_for
//:   line @cold2 in @cold_for
NOINLINE void colds(const int *a, int n) /* @colds */
{
	for (int i = 0; i < n; i++) { /* @cold_for */
		if (a[i] < 0) {
			complain(i); /* @cold1 */
			complain(a[i]); /* @cold2 */
			continue;
		}
		sink += a[i];
		sink ^= i; /* @cold_end */
	}
}

/* The function after a call that never returns is not part of this one. */
static NOINLINE __attribute__((noreturn)) void die(int n)
{
	sink = n;
	exit(sink);
}
//: expect last_call @last_call
NOINLINE void last_call(int n) /* @last_call */
{
	sink = n + 1;
	die(n);
}
//: expect behind @behind
//:   loop @behind_for-@behind_end
NOINLINE void behind(int n) /* @behind */
{
	for (int i = 0; i < n; i++) /* @behind_for */
		sink -= i; /* @behind_end */
}

int main(int argc, char **argv)
{
	int a[3] = { argc, -argc, 0 };

	condition(argc);
	whole(argc);
	twice(argc);
	deep(argc);
	q(argc);
	tower(argc);
	colds(a, 3);
	behind(argc);
	if (argv[0])
		last_call(argc);
	return 0;
}
