/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structurer: static maps of an image's functions: one after the other, as they are asked for, or many at once
 * on all processors.
 */
#pragma once

#include "binary/function.h"
#include "structure/structure.h"

struct structurer;
/* NULL if nothing can decode the image's code. The image must outlive it. */
struct structurer *structurer_new(struct image *image);
void structurer_free(struct structurer *structurer);
/* Looks through the whole image for functions that nothing names: for all of them, not for a sampled few. */
void structurer_survey(struct structurer *structurer);
/* Where the functions of the image start, as far as is known. Valid as long as the structurer, until a survey. */
const struct functions *structurer_functions(const struct structurer *structurer);

/*
 * The function at vaddr (its start). maps are those of the image, sorted by vaddr; parts of the function
 * are found among them. False if its control flow could not be recovered; ret is then empty.
 */
bool structurer_build(struct structurer *structurer, uint64_t vaddr, const struct function_map *maps, size_t n_maps,
		      struct intern *strings, const struct structure_options *options, struct structure *ret);

/* Many functions: which, and who takes what was found. */
struct structure_batch {
	const uint64_t *vaddrs; /* starts */
	size_t n;
	const struct function_map *maps; /* as above */
	size_t n_maps;
	struct intern *strings;
	const struct structure_options *options; /* may be NULL */
	unsigned n_threads; /* 0 = as many as there are CPUs */
	/*
	 * Called by the calling thread for each function whose control flow was recovered, in the order of vaddrs.
	 * What it is given is the structurer's.
	 */
	void (*take)(void *context, size_t index, const struct structure *structure);
	void *context;
};
/* The same result whatever the number of threads. */
void structurer_build_all(struct structurer *structurer, const struct structure_batch *batch);
