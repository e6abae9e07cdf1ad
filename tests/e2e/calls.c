/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls: functions that are called a known number of times on known call paths, for a known time. Reads a
 * line first, so that a tracer can attach. usage: calls [PLUGIN]
 *
 * PLUGIN: a shared library with a function plugged(int), loaded later.
 *
 * With CALLS_TIMES in the environment, the program writes to that file, for some paths: the number of calls,
 * the nanoseconds between the first and the last statement of the function, those between the statements
 * before and after the call, and how often the thread was preempted meanwhile. What a tracer measures must
 * lie between the two times. The last line is an upper bound of burner's total CPU time.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone, noipa))

static volatile unsigned sink;
static jmp_buf out;

struct times {
	const char *path;
	long n, kept;
	long long inside, outside;
};
static struct times times[] = { { .path = "main>alpha>target" },
				{ .path = "main>beta>target" },
				{ .path = "main>outer_sleeper>sleeper" },
				{ .path = "main>burner" },
				{ .path = "main>uneven" } };
static struct times *timed; /* of the current call */
static long long burnt;

static long long now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000ll + at.tv_nsec;
}

static long kept_from_running(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Times one call on a path. */
#define TIMED(index, call)                          \
	do {                                        \
		timed = &times[index];              \
		timed->kept -= kept_from_running(); \
		long long before = now();           \
		(call);                             \
		timed->outside += now() - before;   \
		timed->kept += kept_from_running(); \
		timed->n++;                         \
	} while (0)

/* Time in ns that this thread was runnable but not running, from schedstat; 0 if not available. */
static long long waited_for_cpu(void)
{
	FILE *from = fopen("/proc/thread-self/schedstat", "r");
	long long waited = 0;

	if (from && fscanf(from, "%*s %lld", &waited) != 1)
		waited = 0;
	if (from)
		fclose(from);
	return waited;
}

static void write_times(const char *path)
{
	FILE *to = path ? fopen(path, "w") : NULL;

	for (size_t i = 0; to && i < sizeof(times) / sizeof(*times); i++)
		fprintf(to, "%s %ld %lld %lld %ld\n", times[i].path, times[i].n, times[i].inside,
			times[i].outside, times[i].kept);
	if (to) {
		fprintf(to, "%lld\n", burnt);
		fclose(to);
	}
}

OWN static void pause_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

OWN int target(int n)
{
	long long start = now();

	for (int i = 0; i < 100 * n; i++)
		sink += (unsigned)i;
	timed->inside += now() - start;
	return n + 1;
}

OWN int alpha(int n)
{
	int got;

	TIMED(0, got = target(n));
	return got + 1;
}

OWN int beta(int n)
{
	int got;

	TIMED(1, got = target(n));
	return got + 2;
}

OWN int recurse(int depth)
{
	int below = depth ? recurse(depth - 1) : 0;

	sink++; /* prevents a tail call */
	return below + 1;
}

OWN int landing(int n)
{
	sink += (unsigned)n;
	return n;
}

/* Ends in a tail call. */
OWN int springboard(int n)
{
	sink++;
	return landing(n + 1);
}

OWN int leave_somehow(int n)
{
	if (n % 2)
		longjmp(out, 1);
	return n;
}

OWN int sleeper(int ms)
{
	long long start = now();

	pause_ms(ms);
	timed->inside += now() - start;
	return ms;
}

/* Short, except for one in twenty calls. */
OWN int uneven(int n)
{
	long long start = now();

	pause_ms(n % 20 == 19 ? 60 : 2);
	timed->inside += now() - start;
	return n;
}

OWN int burner(int ms)
{
	long long start = now();
	struct timespec used;
	double end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	end = (double)used.tv_sec + (double)used.tv_nsec / 1e9 + ms / 1e3;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while ((double)used.tv_sec + (double)used.tv_nsec / 1e9 < end);
	timed->inside += now() - start;
	return ms;
}

/* Touches new pages, two of three in the function that it calls. */
OWN int toucher(volatile char *pages, int n, long size)
{
	for (int i = 0; i < n; i++)
		pages[i * size] = 1;
	return n;
}

OWN int outer_toucher(void)
{
	enum { PAGES = 30 };
	long size = sysconf(_SC_PAGESIZE);
	char *pages =
		mmap(NULL, (size_t)size * PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, (size_t)size * PAGES, MADV_NOHUGEPAGE);
	int n = toucher(pages, PAGES * 2 / 3, size);
	for (int i = PAGES * 2 / 3; i < PAGES; i++)
		((volatile char *)pages)[i * size] = 1;
	munmap(pages, (size_t)size * PAGES);
	return n;
}

/* Calls another traced function, whose time is not counted for this one. */
OWN int outer_sleeper(int ms)
{
	int got;

	TIMED(2, got = sleeper(ms));
	return got + 1;
}

OWN int threaded(int n)
{
	sink += (unsigned)n;
	return n;
}

static void *run_thread(void *nothing)
{
	for (int i = 0; i < 25; i++)
		threaded(i);
	return nothing;
}

static void run_threads(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, run_thread, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

static void run_plugin(const char *path)
{
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*plugged)(int) = library ? (int (*)(int))dlsym(library, "plugged") : NULL;

	if (!plugged)
		return;
	pause_ms(getenv("SLOW") ? 6000 : 1500); /* for cpprof to notice; SLOW: if emulated */
	for (int i = 0; i < 15; i++)
		plugged(i);
}

int main(int argc, char **argv)
{
	getchar();
	for (int i = 0; i < 100; i++)
		alpha(3);
	for (int i = 0; i < 50; i++)
		beta(7);
	for (int i = 0; i < 7; i++)
		recurse(10);
	for (int i = 0; i < 30; i++)
		springboard(i);
	for (volatile int i = 0; i < 40; i++)
		if (setjmp(out) == 0)
			leave_somehow(i);
	for (int i = 0; i < 20; i++)
		outer_sleeper(2);
	long long start = now(), waited = waited_for_cpu();
	for (int i = 0; i < 20; i++)
		TIMED(3, burner(2));
	waited = waited_for_cpu() - waited;
	burnt = now() - start - waited; /* an upper bound of their CPU time */
	for (int i = 0; i < 40; i++)
		TIMED(4, uneven(i));
	for (int i = 0; i < 10; i++)
		outer_toucher();
	run_threads();
	run_plugin(argc > 1 ? argv[1] : NULL);
	write_times(getenv("CALLS_TIMES"));
	puts("done");
	return 0;
}
