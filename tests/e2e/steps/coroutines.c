/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coroutines: two coroutines, each on its own mapping, which its stack fills to the last byte, that switch to
 * each other and not only back to main.
 * usage: coroutines [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define SIZE 65536
static volatile unsigned long work_done;
static int rounds = 20;
static ucontext_t main_context, first_context, second_context;

__attribute__((noinline)) static void work(int n)
{
	for (int i = 0; i < n; i++)
		work_done += (unsigned long)i * 31 + (work_done >> 7);
}

static void first(void)
{
	for (int i = 0; i < rounds; i++) {
		work(20);
		swapcontext(&first_context, &second_context);
	}
}

static void second(void)
{
	for (int i = 0; i < rounds; i++) {
		work(15);
		swapcontext(&second_context, &main_context);
	}
}

static void make(ucontext_t *context, void (*function)(void))
{
	/* The upper half stays PROT_NONE, so that no other mapping is adjacent to this one. */
	char *room = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(room, SIZE, PROT_READ | PROT_WRITE);
	getcontext(context);
	context->uc_stack.ss_sp = room;
	context->uc_stack.ss_size = SIZE;
	context->uc_link = &main_context;
	makecontext(context, function, 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = atoi(argv[1]);
	make(&first_context, first);
	make(&second_context, second);
	for (int i = 0; i < rounds; i++) {
		swapcontext(&main_context, &first_context);
		work(10);
	}
	printf("%lu\n", work_done);
	return 0;
}
