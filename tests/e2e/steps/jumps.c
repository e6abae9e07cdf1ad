/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jumps: everything that changes the stack pointer other than calls and returns: longjmp, signal handlers on
 * the same and on an alternate stack, longjmp out of a handler, coroutines, alloca, callbacks, tail calls.
 * usage: jumps [ROUNDS]
 */
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static volatile unsigned long work_done;
static jmp_buf out;
static sigjmp_buf out_of_handler;
static ucontext_t main_context, coroutine_context;

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		work_done += (unsigned long)i * 31 + (work_done >> 7);
}

__attribute__((noinline)) static int dive(int depth)
{
	char *room = alloca((size_t)depth * 16 + 16);

	memset(room, depth, 16);
	work(5);
	if (depth == 0)
		longjmp(out, 1);
	return dive(depth - 1) + room[3];
}

static void handle(int signal)
{
	work(20 + signal);
}

static void handle_and_leave(int signal)
{
	work(signal);
	siglongjmp(out_of_handler, 1);
}

static void coroutine(void)
{
	for (int i = 0; i < 5; i++) {
		work(20);
		swapcontext(&coroutine_context, &main_context);
	}
}

static int compare(const void *a, const void *b)
{
	work(2);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static unsigned long last(unsigned long n)
{
	work(10);
	return n + work_done;
}

__attribute__((noinline)) static unsigned long tail(unsigned long n)
{
	work(3);
	return last(n + 1); /* a tail call at -O2 */
}

static void signals(void)
{
	static char other_stack[65536];
	stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof(other_stack) };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = handle }, NULL);
	sigaction(SIGUSR2, &(struct sigaction){ .sa_handler = handle, .sa_flags = SA_ONSTACK }, NULL);
	sigaction(SIGALRM,
		  &(struct sigaction){ .sa_handler = handle_and_leave, .sa_flags = SA_ONSTACK | SA_NODEFER },
		  NULL);
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR1);
		kill(getpid(), SIGUSR2);
		if (!sigsetjmp(out_of_handler, 1))
			raise(SIGALRM);
		work(5);
	}
}

static void coroutines(void)
{
	static char its_stack[65536];

	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = its_stack;
	coroutine_context.uc_stack.ss_size = sizeof(its_stack);
	coroutine_context.uc_link = &main_context;
	makecontext(&coroutine_context, coroutine, 0);
	for (int i = 0; i < 6; i++) {
		swapcontext(&main_context, &coroutine_context);
		work(10);
	}
}

static void once(int round)
{
	int numbers[40];

	for (volatile int i = 0; i < 5; i++)
		if (!setjmp(out))
			dive(10 + i + round % 7);
	signals();
	coroutines();
	for (int i = 0; i < 40; i++)
		numbers[i] = (i * 7919) % 101;
	qsort(numbers, 40, sizeof(int), compare);
	for (unsigned long i = 0; i < 20; i++)
		work_done += tail(i);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++)
		once(i);
	printf("%lu\n", work_done);
	return 0;
}
