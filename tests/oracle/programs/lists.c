/* SPDX-License-Identifier: Apache-2.0 */
/* C code that compilers split, clone and nest: cold paths, partial inlining, GNU nested functions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *next;
	long key;
	char name[24];
};

struct table {
	struct node *bucket[64];
	size_t n;
};

static unsigned long mix(unsigned long x)
{
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ul;
	return x ^ x >> 32;
}

static void __attribute__((cold, noinline)) die(const char *why)
{
	fprintf(stderr, "died: %s: %s\n", why, strerror(errno));
	exit(1);
}

static struct node *find(struct table *t, long key)
{
	for (struct node *n = t->bucket[mix((unsigned long)key) % 64]; n; n = n->next)
		if (n->key == key)
			return n;
	return NULL;
}

static struct node *add(struct table *t, long key, const char *name)
{
	struct node *n = find(t, key);

	if (__builtin_expect(n != NULL, 0)) {
		if (strcmp(n->name, name) != 0)
			die("two names for one key");
		return n;
	}
	n = malloc(sizeof(*n));
	if (!n)
		die("no memory");
	n->key = key;
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->next = t->bucket[mix((unsigned long)key) % 64];
	t->bucket[mix((unsigned long)key) % 64] = n;
	t->n++;
	return n;
}

static int compare(const void *a, const void *b)
{
	long x = (*(struct node *const *)a)->key, y = (*(struct node *const *)b)->key;
	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static long sum(struct table *t, int mode, long scale)
{
	struct node **all = malloc(t->n * sizeof(*all));
	size_t n = 0;
	long result = 0;

	if (!all)
		die("no memory");
	for (int i = 0; i < 64; i++)
		for (struct node *at = t->bucket[i]; at; at = at->next)
			all[n++] = at;
	qsort(all, n, sizeof(*all), compare);
	switch (mode) {
	case 0:
		for (size_t i = 0; i < n; i++)
			result += all[i]->key * scale;
		break;
	case 1:
		for (size_t i = 0; i < n; i++)
			result ^= (long)mix((unsigned long)all[i]->key);
		break;
	case 2:
		for (size_t i = 1; i < n; i++)
			result += all[i]->key - all[i - 1]->key;
		break;
	default:
		die("unknown mode");
	}
	free(all);
	return result;
}

int main(int argc, char **argv)
{
	struct table t = { 0 };
	long total = 0;

	for (long i = 0; i < 1000 * argc; i++) {
		char name[24];
		snprintf(name, sizeof(name), "n%ld", i % 100);
		add(&t, i % 100, name);
	}
#ifndef __clang__
	long twice(long x)
	{
		return x * 2 + total;
	}
	total = twice(argc);
#endif
	for (int mode = 0; mode < 3; mode++)
		total += sum(&t, mode, 3);
	printf("%ld %zu %s\n", total, t.n, argv[0]);
	return 0;
}
