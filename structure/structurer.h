/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structurer: static maps of an image's functions: one at a time on request, or many in parallel.
 */
#pragma once

#include "binary/functions/function.h"
#include "structure/structure.h"

struct structurer;
/* NULL if the image's code cannot be decoded. The image must outlive it; it is not read before the first
 * query. */
struct structurer *structurer_new(struct image *image);
/* Before the first query: lends the functions of the image that the caller has already found. The caller must
 * not use them until the structurer is freed. */
void structurer_lend(struct structurer *structurer, struct functions *functions);
void structurer_free(struct structurer *structurer);
/* Searches the whole image for functions without symbols: for callers that need all functions, not a few
 * sampled ones. */
void structurer_survey(struct structurer *structurer);
/* The known starts of the image's functions. Valid as long as the structurer. */
struct functions *structurer_functions(struct structurer *structurer);

/* The maps of the image, sorted by vaddr, and their strings: what is known about its source. */
struct structure_source {
	const struct function_map *maps;
	size_t n;
	const struct intern *strings;
};

/*
 * The function at vaddr (its start); parts of it are found among the maps. False if its control flow could
 * not be recovered; ret is then empty. Alien code whose procedure is not known has no name yet
 * (structure_name).
 */
bool structurer_build(struct structurer *structurer, uint64_t vaddr, const struct structure_source *source,
		      const struct structure_options *options, struct structure *ret);
/*
 * The same in two steps: the control flow, which is to be freed; and the structure derived from it. Another
 * thread may do the second step, even while the control flow of further functions is recovered.
 */
struct cfg;
bool structurer_recover(struct structurer *structurer, uint64_t vaddr, const struct structure_source *source,
			struct cfg *ret);
void structurer_finish(const struct structurer *structurer, const struct cfg *cfg, uint64_t vaddr,
		       const struct structure_source *source, const struct structure_options *options,
		       struct structure *ret);
/* Is the code at vaddr part of another function, because nothing is known to call it as a function? */
bool structurer_is_part(struct structurer *structurer, uint64_t vaddr);
/*
 * A hash of the data from which a function's structure is made. A structure of the same image with the same
 * hash is equal to what structurer_build would make. Uses only `function` and `extents`.
 */
uint64_t structurer_basis(struct structurer *structurer, const struct structure *structure,
			  const struct structure_source *source);

/* A request for many functions, and the receiver of the results. */
struct structure_batch {
	const uint64_t *vaddrs; /* starts */
	size_t n;
	const struct function_map *maps; /* as above */
	size_t n_maps;
	struct intern *strings;
	const struct structure_options *options; /* may be NULL */
	unsigned n_threads;                      /* 0 = as many as there are CPUs */
	/*
	 * Called in the calling thread for each function whose control flow was recovered, in the order of
	 * vaddrs. The structure belongs to the structurer.
	 */
	void (*take)(void *context, size_t index, const struct structure *structure);
	void *context;
};
/* The result does not depend on the number of threads. */
void structurer_build_all(struct structurer *structurer, const struct structure_batch *batch);
