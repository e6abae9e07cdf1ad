/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many threads N SECONDS: N threads alive, all of them working in turn.
 * many images N SECONDS PLUGIN...: one thread that works in N copies of a library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double end;
static volatile unsigned long sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void burn(void)
{
	for (unsigned long i = 0; i < 100000; i++)
		sink += i;
}

static void *work(void *unused)
{
	(void)unused;
	while (now() < end)
		burn();
	return NULL;
}

static int threads(int n)
{
	pthread_t *all = calloc((size_t)n, sizeof(*all));

	for (int i = 0; i < n; i++)
		if (pthread_create(&all[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(all[i], NULL);
	free(all);
	return 0;
}

static int images(int n, char **paths)
{
	void (**burns)(void) = calloc((size_t)n, sizeof(*burns));

	for (int i = 0; i < n; i++) {
		void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
		if (!library || !(burns[i] = (void (*)(void))dlsym(library, "plugin_burn"))) {
			fprintf(stderr, "many: %s\n", dlerror());
			return 1;
		}
	}
	for (int i = 0; now() < end; i = (i + 1) % n)
		burns[i]();
	free(burns);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	int n = atoi(argv[2]);
	end = now() + atof(argv[3]);
	if (strcmp(argv[1], "threads") == 0)
		return threads(n);
	return argc - 4 == n ? images(n, argv + 4) : 2;
}
