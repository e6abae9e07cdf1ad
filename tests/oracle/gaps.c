/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gaps: compares the functions found window by window, as for samples, with those found by analysing the
 * whole file. Addresses in the text are looked up in scattered order.
 * usage: gaps [--bare] [--every BYTES] MIN_PERCENT ELF...
 * --bare: symbols and unwind entries are hidden, so that the whole text is one gap.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "binary/functions/function.h"

struct file {
	struct images *images;
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool file_open(struct file *file, const char *path)
{
	image_id id;

	*file = (struct file){ .images = images_new() };
	if (images_open(file->images, path, &id, NULL) < 0)
		return false;
	file->image = images_get(file->images, id);
	file->symbols = symbols_read(file->image);
	file->frames = frames_read(file->image);
	return true;
}

static void file_close(struct file *file)
{
	frames_free(file->frames);
	symbols_free(file->symbols);
	images_free(file->images);
}

static struct functions *index_of(const struct file *file, bool is_bare)
{
	struct function_options hide = { is_bare, is_bare, is_bare };

	return functions_new(file->image, file->symbols, file->frames, &hide);
}

struct tally {
	uint64_t n, same, n_gap, same_gap;
	double longest;
};

/* Addresses in steps of that many bytes, in scattered order. */
static void compare(struct functions *whole, struct functions *parts, uint64_t every, struct tally *tally)
{
	uint64_t start, end;

	for (size_t i = 0; functions_text_range(whole, i, &start, &end); i++) {
		uint64_t n = (end - start) / every, stride = n / 3 * 2 + 1;
		while (n && n % stride == 0)
			stride++;
		for (uint64_t k = 0, at = 0; k < n; k++, at = (at + stride) % n) {
			uint64_t vaddr = start + at * every;
			double before = now();
			uint32_t found = functions_find(parts, vaddr), wanted = functions_index(whole, vaddr);
			double took = now() - before;
			uint64_t a = wanted == FUNCTION_NONE ? 0 : whole->at[wanted].start;
			uint64_t b = found == FUNCTION_NONE ? 0 : parts->at[found].start;
			bool is_gap = wanted == FUNCTION_NONE || function_is_inferred(&whole->at[wanted]);

			tally->n++;
			tally->same += a == b;
			tally->n_gap += is_gap;
			tally->same_gap += is_gap && a == b;
			tally->longest = took > tally->longest ? took : tally->longest;
			if (a != b && getenv("GAPS_SHOW"))
				printf("%llx: whole %llx, window %llx\n", (unsigned long long)vaddr,
				       (unsigned long long)a, (unsigned long long)b);
		}
	}
}

static bool check(const char *path, bool is_bare, uint64_t every, double least)
{
	struct tally tally = { 0 };
	struct file file;

	if (!file_open(&file, path)) {
		fprintf(stderr, "gaps: cannot read '%s'\n", path);
		file_close(&file);
		return false;
	}
	struct functions *whole = index_of(&file, is_bare), *parts = index_of(&file, is_bare);
	double start = now();
	functions_survey(whole);
	double surveyed = now() - start;
	compare(whole, parts, every, &tally);
	double share = tally.n_gap ? 100.0 * (double)tally.same_gap / (double)tally.n_gap : 100;
	printf("%s%s: %llu places, %llu in gaps, of these %.4f %% in the same function; survey %.1f ms, "
	       "longest answer %.1f ms\n",
	       path, is_bare ? ", bare" : "", (unsigned long long)tally.n, (unsigned long long)tally.n_gap,
	       share, surveyed * 1e3, tally.longest * 1e3);
	functions_free(whole);
	functions_free(parts);
	file_close(&file);
	return share >= least;
}

int main(int argc, char **argv)
{
	bool is_bare = false, is_fine = true;
	uint64_t every = 64;
	int at = 1;

	if (at < argc && strcmp(argv[at], "--bare") == 0) {
		is_bare = true;
		at++;
	}
	if (at + 1 < argc && strcmp(argv[at], "--every") == 0) {
		every = strtoull(argv[at + 1], NULL, 10);
		at += 2;
	}
	if (at + 2 > argc || every == 0) {
		fprintf(stderr, "usage: gaps [--bare] [--every BYTES] MIN_PERCENT ELF...\n");
		return 2;
	}
	double least = strtod(argv[at++], NULL);
	for (; at < argc; at++)
		is_fine &= check(argv[at], is_bare, every, least);
	return is_fine ? 0 : 1;
}
