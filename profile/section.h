/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section: the sections of a profile file. A new one needs a number here, a row in sections.c, and either the
 * description of a table or two functions.
 */
#pragma once

#include "profile/profile.h"
#include "profile/table.h"

/* Numbers never change: later versions of cpprof read the files of earlier ones. */
enum section_number {
	SECTION_STRINGS = 1,
	SECTION_RUN = 2,
	SECTION_EVENTS = 3,
	SECTION_METRICS = 4,
	SECTION_IMAGES = 5,
	SECTION_PROCESSES = 6,
	SECTION_THREADS = 7,
	SECTION_NODES = 8,
	SECTION_VALUES = 9,
	SECTION_TIMELINE = 10,
	SECTION_QUALITY = 11,
	SECTION_NOTES = 12,
	SECTION_FUNCTIONS = 13,
	SECTION_STRUCTURES = 14,
	SECTION_CODES = 15,
	SECTION_ROUNDS = 16,
	SECTION_SPREAD = 17,
	SECTION_ACTIVATIONS = 18,
	SECTION_DURATIONS = 19,
	SECTION_DOUBTS = 20,
	SECTION_TREE = 21,
	SECTION_SAMPLES_BEFORE = 22,
	SECTION_CONTEXTS = 23,
	SECTION_SAMPLES = 24,
	SECTION_PATHS = 25,
};

struct section_type {
	enum section_number number;
	const char *name;
	bool is_required;

	/* Either a VEC of the profile ... */
	const struct table *table;
	size_t vec;            /* its offset in struct profile */
	enum refers counts_as; /* later columns of this kind refer to its rows */

	/* ... or functions. encode writes nothing if the section would be empty. */
	void (*encode)(const struct profile *profile, struct writer *ret);
	int (*decode)(struct decoder *decoder, struct profile *profile);
};

/* The layout of every VEC. */
struct any_vec {
	void *at;
	size_t n, cap;
};

/* In the order in which they are written and decoded: sections that others refer to come first. */
const struct section_type *section_types(size_t *ret_n);

/* Writes the section's contents; nothing if there are none. */
void section_encode(const struct section_type *type, const struct profile *profile, struct writer *ret);
/* Reads decoder->bytes into the profile and updates decoder->limits. */
int section_decode(const struct section_type *type, struct decoder *decoder, struct profile *profile);

/* sections_cct.c */
void nodes_encode(const struct profile *profile, struct writer *ret);
int nodes_decode(struct decoder *decoder, struct profile *profile);
void values_encode(const struct profile *profile, struct writer *ret);
int values_decode(struct decoder *decoder, struct profile *profile);
void rounds_encode(const struct profile *profile, struct writer *ret);
int rounds_decode(struct decoder *decoder, struct profile *profile);
void activations_encode(const struct profile *profile, struct writer *ret);
int activations_decode(struct decoder *decoder, struct profile *profile);
void durations_encode(const struct profile *profile, struct writer *ret);
int durations_decode(struct decoder *decoder, struct profile *profile);
void doubts_encode(const struct profile *profile, struct writer *ret);
int doubts_decode(struct decoder *decoder, struct profile *profile);

/* sections_tree.c: nodes in another form. tree_is_written: whether this form is used instead of nodes. */
bool tree_is_written(const struct profile *profile);
void tree_encode(const struct profile *profile, struct writer *ret);
int tree_decode(struct decoder *decoder, struct profile *profile);

/* sections_contexts.c: nodes in a third form, as files of versions 1.4 and 1.5 have them; nobody writes them
 * so any more. contexts_make is for tests. False: they cannot be written so. */
bool contexts_make(const struct profile *profile, struct writer *ret);
void contexts_encode(const struct profile *profile, struct writer *ret);
int contexts_decode(struct decoder *decoder, struct profile *profile);

/* sections_paths.c: nodes in a fourth form, once profile_make_dense has made it. False: they cannot be
 * written so. */
bool paths_make(const struct profile *profile, struct writer *ret);
void paths_encode(const struct profile *profile, struct writer *ret);
int paths_decode(struct decoder *decoder, struct profile *profile);

/* sections_samples.c: values, rounds and activations in another form, once profile_make_dense has made it. */
void samples_encode(const struct profile *profile, struct writer *ret);
int samples_decode(struct decoder *decoder, struct profile *profile);
/* As files of version 1.4 have them; nobody writes them so any more. */
void samples_before_encode(const struct profile *profile, struct writer *ret);
int samples_before_decode(struct decoder *decoder, struct profile *profile);

/* sections_function.c */
void functions_encode(const struct profile *profile, struct writer *ret);
int functions_decode(struct decoder *decoder, struct profile *profile);
/* A table preceded by its length, in a section that has several. */
void section_write_table(const struct table *table, const void *rows, size_t n, struct writer *ret);
int section_read_table(const struct decoder *decoder, struct reader *r, const struct table *table,
		       void **ret_rows, size_t *ret_n);

/* sections_structure.c */
void structures_encode(const struct profile *profile, struct writer *ret);
int structures_decode(struct decoder *decoder, struct profile *profile);

/* sections_spread.c */
void spread_encode(const struct profile *profile, struct writer *ret);
int spread_decode(struct decoder *decoder, struct profile *profile);

/* sections_code.c */
void codes_encode(const struct profile *profile, struct writer *ret);
int codes_decode(struct decoder *decoder, struct profile *profile);
