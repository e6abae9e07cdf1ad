/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro_first: the cost of the first sample in an image, and of the first in each further function: the index
 * of the image, then recipes at addresses covered by unwind entries. usage: micro_first ELF [places]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "binary/cfi/frames.h"
#include "recipes/knowledge.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return ((double)t.tv_sec + (double)t.tv_nsec / 1e9) * 1e3;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* In the middle of the i-th unwind entry; 0 if there is none. */
static uint64_t middle_of(const struct frames *frames, size_t i)
{
	struct fde fde;

	return frames_get(frames, i, &fde) < 0 || fde.size == 0 ? 0 : fde.start + fde.size / 2 / 4 * 4;
}

static double ask(struct knowledge *knowledge, image_id id, uint64_t vaddr)
{
	struct place place;
	double start = now();

	knowledge_place(knowledge, id, vaddr, false, &place);
	return now() - start;
}

int main(int argc, char **argv)
{
	struct images *images = images_new();
	size_t n = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 1000;
	image_id id;

	if (argc < 2 || n == 0 || images_open(images, argv[1], &id, NULL) < 0) {
		fprintf(stderr, "usage: micro_first ELF [places]\n");
		return 2;
	}
	struct image *image = images_get(images, id);
	struct frames *frames = frames_read(image);
	struct knowledge *knowledge = knowledge_new(images, isa_for_machine(image->elf_machine), UNWIND_AUTO, NULL);
	size_t n_frames = frames_count(frames), step = n_frames / n ? n_frames / n : 1, n_asked = 0;
	double *took = malloc(n * sizeof(*took)), index = n_frames ? ask(knowledge, id, middle_of(frames, 0)) : 0, sum = 0;

	for (size_t i = step; took && i < n_frames && n_asked < n; i += step)
		if (middle_of(frames, i))
			took[n_asked++] = ask(knowledge, id, middle_of(frames, i));
	for (size_t i = 0; i < n_asked; i++)
		sum += took[i];
	if (n_asked) {
		qsort(took, n_asked, sizeof(*took), by_value);
		printf("first sample with the index %.1f ms; then in %zu other functions %.3f ms in the middle, %.3f on average, 99 of 100 below %.3f, longest %.1f\n",
		       index, n_asked, took[n_asked / 2], sum / (double)n_asked, took[n_asked * 99 / 100], took[n_asked - 1]);
	}
	free(took);
	knowledge_free(knowledge);
	frames_free(frames);
	images_free(images);
	return n_asked ? 0 : 1;
}
