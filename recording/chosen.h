/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen: functions that a user names, found in the images that processes have mapped, with the places where
 * probes see their calls begin and end.
 *
 * A pattern is a name as reports print it or as the linker has it, with or without its parameters; a glob of
 * those; FILE:NAME, where FILE is the last part of a path; or FILE+0xVADDR.
 */
#pragma once

#include "base/vec.h"
#include "binary/elf/image.h"
#include "binary/isa/isa.h"

struct chosen_function {
	char *name; /* as reports print it */
	image_id image;
	uint64_t vaddr, end; /* end: of its code in one piece; vaddr = not known */
	uint64_t entry;      /* offset in the file of the probe that sees calls begin */
	uint32_t skip;       /* how far it is from the start: behind a mark of entries, where it is cheaper */
	VEC(uint64_t) exits; /* the same; none = where they are is not known */
	size_t n_jumps;      /* the last ones of them, that are jumps to other functions */
	VEC(uint64_t)
	ends; /* where its result is known: its returns, and those of functions that it jumps to */
	bool has_all_ends;  /* none of them may be missing */
	size_t pattern;     /* the first that names it */
	bool is_start;      /* a function begins there */
	uint32_t n_stepped; /* of the entry and the dearest exit: those that the kernel steps over */
	bool is_exit_stepped;
};

/* What was found of a pattern. */
struct chosen_pattern {
	size_t n;
	char *nearest; /* the name most like it, of those that it does not name; NULL = none is close */
	size_t distance;
};

struct chosen {
	VEC(char *) patterns;
	VEC(struct chosen_function) functions; /* their indices are their numbers */
	VEC(struct chosen_pattern) found;      /* by pattern */
	size_t n_more;                         /* that there was no room for */
	VEC(image_id) looked_at;
};

void chosen_init(struct chosen *chosen, char *const *patterns, size_t n);
void chosen_done(struct chosen *chosen);
/* One more; every image has to be looked through again. */
void chosen_add_pattern(struct chosen *chosen, const char *pattern);
/* Does a pattern, without FILE:, name this? readable: NULL = it is not mangled. */
bool chosen_fits(const char *pattern, const char *linkage, const char *readable);
/*
 * Looks an image through, the first time it is asked for. Returns the index of the first function that is
 * new; all from there on are of this image.
 */
size_t chosen_look(struct chosen *chosen, struct images *images, image_id image, size_t max);
