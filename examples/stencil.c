/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stencil: a small program with everything a call-path profiler should show: loops in loops, small
 * functions that the compiler inlines, recursion, calls through pointers, and two threads.
 *
 * One thread relaxes a grid (a stencil code, as in HPC), the other sorts and searches records (as a
 * server would). Built with -O2 -g and without frame pointers. Runs for about three seconds, or for
 * as many as its argument says.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIDE 512
#define N_RECORDS 20000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- a grid is relaxed -------------------------------------------------------------------- */

static inline double average(const double *row, size_t x)
{
	return 0.25 * (row[x - 1] + row[x + 1] + row[x - SIDE] + row[x + SIDE]);
}

static inline double residual(double before, double after)
{
	double difference = after - before;

	return difference * difference;
}

static double relax(double *to, const double *from)
{
	double sum = 0;

	for (size_t y = 1; y + 1 < SIDE; y++)
		for (size_t x = 1; x + 1 < SIDE; x++) {
			size_t at = y * SIDE + x;
			to[at] = average(from, at);
			sum += residual(from[at], to[at]);
		}
	return sum;
}

static void *solve(void *argument)
{
	double end = *(double *)argument, residue = 1;
	double *a = calloc(SIDE * SIDE, sizeof(*a)), *b = calloc(SIDE * SIDE, sizeof(*b));

	for (size_t i = 0; i < SIDE; i++)
		a[i] = b[i] = 100;
	while (now() < end && residue > 1e-12) {
		residue = relax(b, a);
		double *swap = a;
		a = b;
		b = swap;
	}
	printf("residue %g\n", residue);
	free(a);
	free(b);
	return NULL;
}

/* ---- records are sorted and searched ------------------------------------------------------ */

struct record {
	uint32_t key;
	char name[28];
};

typedef int (*compare_fn)(const struct record *, const struct record *);

static int by_key(const struct record *a, const struct record *b)
{
	return a->key < b->key ? -1 : a->key > b->key;
}

static int by_name(const struct record *a, const struct record *b)
{
	return strcmp(a->name, b->name);
}

static inline void exchange(struct record *a, struct record *b)
{
	struct record c = *a;

	*a = *b;
	*b = c;
}

/* Splits [low, high] so that nothing behind *ret_i belongs before anything up to *ret_j. */
static void split(struct record *records, long low, long high, compare_fn compare, long *ret_i, long *ret_j)
{
	struct record pivot = records[(low + high) / 2];
	long i = low, j = high;

	while (i <= j) {
		while (compare(&records[i], &pivot) < 0)
			i++;
		while (compare(&records[j], &pivot) > 0)
			j--;
		if (i <= j)
			exchange(&records[i++], &records[j--]);
	}
	*ret_i = i;
	*ret_j = j;
}

/* Recurses into the smaller half, goes on with the larger. */
static void sort(struct record *records, long low, long high, compare_fn compare)
{
	while (low < high) {
		long i, j;
		split(records, low, high, compare, &i, &j);
		if (j - low < high - i) {
			sort(records, low, j, compare);
			low = i;
		} else {
			sort(records, i, high, compare);
			high = j;
		}
	}
}

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

static void fill(struct record *records, uint32_t *state)
{
	for (size_t i = 0; i < N_RECORDS; i++) {
		records[i].key = next_random(state);
		snprintf(records[i].name, sizeof(records[i].name), "record %08x", next_random(state));
	}
}

static void *serve(void *argument)
{
	double end = *(double *)argument;
	struct record *records = calloc(N_RECORDS, sizeof(*records));
	uint32_t state = 2463534242u;
	size_t rounds = 0;

	while (now() < end) {
		fill(records, &state);
		sort(records, 0, N_RECORDS - 1, by_key);
		sort(records, 0, N_RECORDS - 1, by_name);
		rounds++;
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL); /* the next request */
	}
	printf("%zu rounds\n", rounds);
	free(records);
	return NULL;
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 3);
	pthread_t server;

	if (pthread_create(&server, NULL, serve, &end) != 0)
		return 1;
	solve(&end);
	pthread_join(server, NULL);
	return 0;
}
