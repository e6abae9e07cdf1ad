/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structurer: static maps of an image's functions: one after the other, as they are asked for, or many at
 * once on all processors.
 */
#pragma once

#include "binary/functions/function.h"
#include "structure/structure.h"

struct structurer;
/* NULL if nothing can decode the image's code. The image must outlive it; it is not looked at before the
 * first question. */
struct structurer *structurer_new(struct image *image);
/* Before the first question: the functions of the image, as the caller has found them, who must not
 * use them until we are freed. */
void structurer_lend(struct structurer *structurer, struct functions *functions);
void structurer_free(struct structurer *structurer);
/* Looks through the whole image for functions that nothing names: for all of them, not for a sampled few. */
void structurer_survey(struct structurer *structurer);
/* Where the functions of the image start, as far as is known. Valid as long as the structurer. */
struct functions *structurer_functions(struct structurer *structurer);

/* The maps of the image, sorted by vaddr, and their strings: what is known of its source. */
struct structure_source {
	const struct function_map *maps;
	size_t n;
	const struct intern *strings;
};

/*
 * The function at vaddr (its start); parts of it are found among the maps. False if its control flow could
 * not be recovered; ret is then empty. Alien code of no known procedure has no name yet
 * (structure_name_aliens).
 */
bool structurer_build(struct structurer *structurer, uint64_t vaddr, const struct structure_source *source,
		      const struct structure_options *options, struct structure *ret);
/*
 * The same in two steps: the control flow, which is to be freed; and what is made of that, which another
 * thread may do, also while the flow of the next functions is recovered.
 */
struct cfg;
bool structurer_recover(struct structurer *structurer, uint64_t vaddr, const struct structure_source *source,
			struct cfg *ret);
void structurer_finish(const struct structurer *structurer, const struct cfg *cfg, uint64_t vaddr,
		       const struct structure_source *source, const struct structure_options *options,
		       struct structure *ret);
/* Does nothing enter the code at vaddr as a function, as far as is known? It is then part of one. */
bool structurer_is_part(struct structurer *structurer, uint64_t vaddr);
/*
 * A hash of what the structure of a function is made of. A structure with the same number, made from
 * the same image, has what structurer_build would make. Asks only for `function` and `extents`.
 */
uint64_t structurer_basis(struct structurer *structurer, const struct structure *structure,
			  const struct structure_source *source);

/* Many functions: which, and who takes what was found. */
struct structure_batch {
	const uint64_t *vaddrs; /* starts */
	size_t n;
	const struct function_map *maps; /* as above */
	size_t n_maps;
	struct intern *strings;
	const struct structure_options *options; /* may be NULL */
	unsigned n_threads;                      /* 0 = as many as there are CPUs */
	/*
	 * Called by the calling thread for each function whose control flow was recovered, in the order of
	 * vaddrs. What it is given is the structurer's.
	 */
	void (*take)(void *context, size_t index, const struct structure *structure);
	void *context;
};
/* The same result whatever the number of threads. */
void structurer_build_all(struct structurer *structurer, const struct structure_batch *batch);
