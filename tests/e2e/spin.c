/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spin: a program to be profiled: burns CPU in a known call path, in a given number of threads.
 *
 *     spin SECONDS [threads=N] [late=N] [child=PATH] [go=FILE] [plugin=FILE] [tick=FILE]
 *          [exit=N] [leave=1]
 *
 * late: number of threads that start at half time. child: program to fork and exec at half time, with the
 * remaining seconds. go: half time is when that file appears, and the other half follows. plugin: a library
 * that is loaded at half time and runs from then on. leave: the main thread exits at once and leaves the
 * others running. tick: a file to which a byte is written every 10 ms, to show that the program is running.
 * SLOW in the environment: factor for all times, on an emulated machine.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void burn(void)
{
	for (unsigned long i = 0; i < 200000; i++)
		sink += i;
}

__attribute__((noinline)) static void spin_until(double end)
{
	while (now() < end)
		burn();
}

static void spin_until_there(const char *file)
{
	while (access(file, F_OK) < 0)
		burn();
}

static void *run_thread(void *end)
{
	spin_until(*(double *)end);
	return NULL;
}

static void *run_ticker(void *file)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	for (;;) {
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
		if (write(fd, ".", 1) != 1)
			return NULL;
	}
}

static const char *value(int argc, char **argv, const char *key)
{
	size_t len = strlen(key);

	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], key, len) == 0 && argv[i][len] == '=')
			return argv[i] + len + 1;
	return NULL;
}

static int number(int argc, char **argv, const char *key)
{
	const char *text = value(argc, argv, key);

	return text ? atoi(text) : 0;
}

static void start_threads(pthread_t *threads, int n, double *end)
{
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, run_thread, end);
}

static void run_plugin(const char *file, double end)
{
	void *plugin = dlopen(file, RTLD_NOW);
	void (*plugin_burn)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_burn") : NULL;

	while (plugin_burn && now() < end)
		plugin_burn();
}

/* The factor by which times are extended on an emulated machine. */
static double slowness(void)
{
	const char *text = getenv("SLOW");

	return text ? atof(text) : 1;
}

static void start_child(const char *path, double seconds)
{
	char text[32];

	if (fork() != 0)
		return;
	snprintf(text, sizeof(text), "%g", seconds / slowness()); /* the child multiplies by it again */
	execl(path, path, text, (char *)NULL);
	_exit(99);
}

int main(int argc, char **argv)
{
	static double end; /* static, since threads may outlive main */
	double seconds = (argc > 1 ? atof(argv[1]) : 1) * slowness(), start = now();
	int n_threads = number(argc, argv, "threads"), n_late = number(argc, argv, "late");
	pthread_t threads[64], ticker;

	end = start + seconds;
	if (n_threads + n_late > 64)
		return 98;
	if (value(argc, argv, "tick"))
		pthread_create(&ticker, NULL, run_ticker, (void *)value(argc, argv, "tick"));
	start_threads(threads, n_threads, &end);
	if (number(argc, argv, "leave"))
		pthread_exit(NULL);
	if (value(argc, argv, "go")) {
		spin_until_there(value(argc, argv, "go"));
		end = now() + seconds / 2;
	} else {
		spin_until(start + seconds / 2);
	}
	start_threads(threads + n_threads, n_late, &end);
	if (value(argc, argv, "child"))
		start_child(value(argc, argv, "child"), seconds / 2);
	if (value(argc, argv, "plugin"))
		run_plugin(value(argc, argv, "plugin"), end);
	spin_until(end);
	for (int i = 0; i < n_threads + n_late; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	return number(argc, argv, "exit");
}
