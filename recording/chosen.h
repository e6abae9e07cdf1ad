/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen: functions that a user names, searched in the images that processes have mapped, with the places for
 * probes at their entries and exits.
 *
 * A pattern is a name as printed in reports or a linkage name, with or without parameters; a glob of such
 * names; FILE:NAME, where FILE is the last part of a path; or FILE+0xVADDR.
 */
#pragma once

#include "base/vec.h"
#include "binary/elf/image.h"
#include "binary/isa/isa.h"

struct chosen_function {
	char *name; /* as printed in reports */
	image_id image;
	uint64_t vaddr, end; /* end: of its contiguous code; vaddr = not known */
	uint64_t entry;      /* offset in the file of the entry probe */
	uint32_t skip; /* its distance from the start: after an entry marker (endbr64), where it is cheaper */
	VEC(uint64_t) exits; /* of exit probes; none = not known */
	size_t n_jumps;      /* how many of the last ones are jumps to other functions */
	VEC(uint64_t)
	ends; /* where its result is known: its returns, and those of functions that it tail-calls */
	bool has_all_ends;  /* whether the list is complete */
	size_t pattern;     /* the first one that matches it */
	bool is_start;      /* a function starts there */
	uint32_t n_stepped; /* how many of the entry and the most expensive exit the kernel single-steps */
	bool is_exit_stepped;
	bool exits_in_code; /* in some process its exits are probed, not its return addresses */
};

/* The result for a pattern. */
struct chosen_pattern {
	size_t n;
	char *nearest; /* the most similar name that does not match; NULL = none is close */
	size_t distance;
};

struct chosen {
	VEC(char *) patterns;
	VEC(struct chosen_function) functions; /* the index is the function's number */
	VEC(struct chosen_pattern) found;      /* by pattern */
	size_t n_more;                         /* functions that exceeded the maximum */
	VEC(image_id) looked_at;
};

void chosen_init(struct chosen *chosen, char *const *patterns, size_t n);
void chosen_done(struct chosen *chosen);
/* Adds a pattern; every image has to be searched again. */
void chosen_add_pattern(struct chosen *chosen, const char *pattern);
/* Does a pattern, without FILE:, match this name? readable: the demangled name; NULL = not mangled. */
bool chosen_fits(const char *pattern, const char *linkage, const char *readable);
/*
 * Searches an image, if that was not done before. Returns the index of the first new function; all from there
 * on are of this image.
 */
size_t chosen_look(struct chosen *chosen, struct images *images, image_id image, size_t max);
/* Does a probe there cost more than one whose instruction the kernel emulates? */
bool chosen_is_stepped(const struct image *image, uint64_t vaddr);
