/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What compilers do with frames: switches, calls through pointers, variable and large frames, early
 * returns, variadic functions, functions that do not return. Needs no library.
 */
#include <stdarg.h>

typedef int (*operation)(int, int);

int shared;

void mcount(void)
{
}

void _mcount(void)
{
}

__attribute__((noreturn, noinline)) void die(int code)
{
	shared = code;
	for (;;)
		__asm__ volatile("" ::: "memory");
}

__attribute__((noreturn)) void __stack_chk_fail(void)
{
	die(2);
}
long __stack_chk_guard = 1;

static int add(int a, int b)
{
	return a + b;
}
static int sub(int a, int b)
{
	return a - b;
}
static int mul(int a, int b)
{
	return a * b;
}
operation operations[] = { add, sub, mul };

__attribute__((noinline)) int select_one(int kind, int a, int b)
{
	switch (kind) {
	case 0:
		return add(a, b) + shared;
	case 1:
		return operations[1](a, b) * 3;
	case 2:
		die(a);
	case 3:
		return operations[2](b, a);
	case 4:
		shared++;
		return select_one(kind - 1, b, a) + 1;
	case 5:
		return -a;
	case 6:
		return shared = b;
	case 7:
		return operations[kind - 5](shared, a);
	default:
		return -1;
	}
}

__attribute__((noinline)) int fill(int *to, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		to[i] = select_one(i & 7, i, n);
		sum += to[i];
	}
	return sum;
}

__attribute__((noinline)) int variable_frame(int n)
{
	int values[n];

	if (n <= 0)
		return 0;
	return fill(values, n) + values[n - 1];
}

__attribute__((noinline)) int large_frame(int n)
{
	int values[20000];

	return fill(values, n < 20000 ? n : 20000) + values[n % 100];
}

__attribute__((noinline)) int aligned_frame(int n)
{
	int values[16] __attribute__((aligned(64)));

	return fill(values, 16) + variable_frame(n) + values[n & 15];
}

__attribute__((noinline)) int sum_of(int n, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(list, int);
	va_end(list);
	return sum;
}

__attribute__((noinline)) int checked(int *p, int n)
{
	if (__builtin_expect(!p, 0))
		die(3);
	if (n == 0)
		return 0;
	int first = fill(p, n);
	if (__builtin_expect(first < 0, 0))
		return sum_of(3, first, n, shared);
	return first + checked(p + 1, n - 1);
}

__attribute__((cold, noinline)) int seldom(int a)
{
	return select_one(a & 7, a, a) + sum_of(2, a, a);
}

int run(int n)
{
	int values[8];

	if (n > 100)
		return seldom(n);
	return checked(values, n & 7) + large_frame(n) + aligned_frame(n) + sum_of(4, 1, 2, 3, n);
}

__attribute__((noreturn)) void _start(void)
{
	die(run(5));
}
