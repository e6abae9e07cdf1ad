/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target: a program that is difficult to profile, and whose output shows whether it was disturbed.
 *
 *     target work [ROUNDS]     computes and prints a checksum; all other modes do so in the end
 *     target status CODE       exits with CODE
 *     target exec              replaces itself with `target work`
 *     target forks N           forks N children, a few at a time
 *     target threads N         creates N threads, a few at a time
 *     target signal N          sends itself signal N half-way
 *     target traced            its parent traces it all the time (ptrace)
 *     target libraries FILE N  loads and unloads a library N times
 *     target mappings N        creates N mappings, and keeps up to 60000 of them
 *     target name              its name consists of escape sequences
 *     target sp                computes with an invalid stack pointer
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 40
#define AT_ONCE 16
#define HELD 60000 /* below the default vm.max_map_count */

__attribute__((noinline)) static uint64_t compute(uint64_t rounds)
{
	uint64_t sum = 1;

	for (uint64_t i = 0; i < rounds * 5000000; i++)
		sum = sum * 6364136223846793005u + i;
	return sum;
}

static int finish(uint64_t rounds)
{
	printf("sum %016llx\n", (unsigned long long)compute(rounds));
	return 0;
}

static void *run_thread(void *unused)
{
	volatile uint64_t sink = compute(0);

	(void)sink;
	return unused;
}

static int run_threads(int n)
{
	pthread_t threads[AT_ONCE];

	for (int i = 0; i < n; i += AT_ONCE) {
		for (int k = 0; k < AT_ONCE; k++)
			if (pthread_create(&threads[k], NULL, run_thread, NULL) != 0)
				return 1;
		for (int k = 0; k < AT_ONCE; k++)
			pthread_join(threads[k], NULL);
	}
	return finish(ROUNDS);
}

static int run_forks(int n)
{
	int status;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(compute(0) == 1 ? 0 : 1);
		if (pid < 0 || (i >= AT_ONCE && (wait(&status) < 0 || status != 0)))
			return 1;
	}
	while (wait(&status) > 0)
		if (status != 0)
			return 1;
	return finish(ROUNDS);
}

static int run_signal(int number)
{
	volatile uint64_t sink = compute(ROUNDS);

	(void)sink;
	raise(number);
	return finish(ROUNDS);
}

/* The child works; the parent traces it and continues it after each stop. */
static int run_traced(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		printf("traced %d\n", (int)getpid());
		fflush(stdout);
		_exit(finish(ROUNDS * 4) + fflush(stdout));
	}
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return 1;
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, pid, NULL,
		       WSTOPSIG(status) == SIGTRAP ? 0 : (void *)(intptr_t)WSTOPSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run_libraries(const char *file, int n)
{
	for (int i = 0; i < n; i++) {
		void *library = dlopen(file, RTLD_NOW);

		if (!library || dlclose(library) != 0)
			return 1;
	}
	return finish(ROUNDS);
}

/* Every other one is executable, so that the kernel does not merge adjacent mappings. */
static int run_mappings(int n)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	static void *held[HELD];

	for (int i = 0; i < n; i++) {
		void **place = &held[i % HELD];

		if (*place)
			munmap(*place, 4096);
		*place = mmap(NULL, 4096, i % 2 ? PROT_READ | PROT_EXEC : PROT_READ, MAP_PRIVATE, fd, 0);
		if (*place == MAP_FAILED)
			return 1;
	}
	return finish(ROUNDS);
}

/* A loop with another stack pointer and frame pointer; all signals are blocked meanwhile. */
static void compute_at(uint64_t sp)
{
	uint64_t n = 100000000;
#if defined(__aarch64__)
	__asm__ volatile("mov x9, sp\n\tmov x10, x29\n\tmov sp, %1\n\tmov x29, %1\n"
			 "1:\tsubs %0, %0, #1\n\tb.ne 1b\n\tmov sp, x9\n\tmov x29, x10"
			 : "+r"(n)
			 : "r"(sp)
			 : "x9", "x10", "cc", "memory");
#else
	__asm__ volatile("mov %%rsp, %%r9\n\tmov %%rbp, %%r10\n\tmov %1, %%rsp\n\tmov %1, %%rbp\n"
			 "1:\tdec %0\n\tjne 1b\n\tmov %%r9, %%rsp\n\tmov %%r10, %%rbp"
			 : "+r"(n)
			 : "r"(sp)
			 : "r9", "r10", "cc", "memory");
#endif
}

static int run_sp(void)
{
	sigset_t all;
	uint64_t places[] = { 0,
			      1,
			      15,
			      UINT64_MAX,
			      UINT64_MAX & ~15ull,
			      1ull << 63,
			      (uint64_t)(uintptr_t)&run_sp,
			      (uint64_t)(uintptr_t)stdout };

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		compute_at(places[i]);
	return finish(ROUNDS);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "work";
	int n = argc > 2 ? atoi(argv[argc - 1]) : 0;

	if (strcmp(mode, "work") == 0)
		return finish(n ? (uint64_t)n : ROUNDS);
	if (strcmp(mode, "status") == 0)
		return finish(ROUNDS) + n;
	if (strcmp(mode, "exec") == 0) {
		finish(ROUNDS);
		fflush(stdout);
		execl("/proc/self/exe", argv[0], "work", (char *)NULL);
		return 1;
	}
	if (strcmp(mode, "forks") == 0)
		return run_forks(n);
	if (strcmp(mode, "threads") == 0)
		return run_threads(n);
	if (strcmp(mode, "signal") == 0)
		return run_signal(n);
	if (strcmp(mode, "traced") == 0)
		return run_traced();
	if (strcmp(mode, "libraries") == 0 && argc > 3)
		return run_libraries(argv[2], n);
	if (strcmp(mode, "mappings") == 0)
		return run_mappings(n);
	if (strcmp(mode, "name") == 0) {
		prctl(PR_SET_NAME, "\033]0;x\007\033[31m\n\t");
		return finish(ROUNDS);
	}
	if (strcmp(mode, "sp") == 0)
		return run_sp();
	fprintf(stderr, "target: no mode '%s'\n", mode);
	return 2;
}
