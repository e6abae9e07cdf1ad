/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that implement the database.
 */
#pragma once

#include "base/hash.h"
#include "profile/epochs.h"
#include "profile/merge.h"

/* A line of the index: samples and CPU time of one process name in one epoch; comm NULL: of the whole epoch.
 */
struct epoch_process {
	char *epoch, *comm;
	uint64_t samples, cpu_ns;
};

struct epochs {
	char *directory;
	bool writes;
	int lock;           /* -1 = not held */
	size_t epoch_bytes; /* limit of an epoch; 0 = none */
	VEC(struct epoch) all;
	VEC(struct epoch_process) index;
};

/* DIR/folder/name, allocated. */
char *epochs_path(const struct epochs *epochs, const char *folder, const char *name);
/* As epochs_list, with those that were merged, and without what the index says. */
const struct epoch *epochs_list_all(struct epochs *epochs, size_t *ret_n);
/* The name of an image's symbol file; false if the image cannot be recognised later. */
bool epochs_image_key(const struct profile *profile, const struct profile_image *image, char ret[128]);
/* The file name of a finished epoch, allocated; and the profile that is written to it. */
char *epochs_name(const struct profile *profile);
int epochs_make_plain(const struct profile *profile, const char *name, struct profile **ret,
		      struct diag *diag);
/* Kernel addresses are valid until the next boot: the kernel's image is identified by the boot ID. */
void epochs_mark_kernel(struct profile *profile);
void epochs_mark_image(struct profile_image *image);
/* Writes the file and its lines of the index. */
int epochs_write(struct epochs *epochs, struct profile **profile, const char *name, size_t max_bytes,
		 struct diag *diag);

/* epochs_fit.c: writes the file. If it would take more than max_bytes (0 = no limit), the profile is replaced
 * by one with fewer call paths. */
int epochs_write_file(const struct epochs *epochs, struct profile **profile, const char *name,
		      size_t max_bytes, struct diag *diag);

/* epochs_index.c */
void epochs_index_read(struct epochs *epochs);
/* Adds an epoch, and removes those that no longer exist. */
void epochs_index_add(struct epochs *epochs, const char *name, const struct profile *profile);
void epochs_index_clear(struct epochs *epochs);
/* May this epoch contain samples of the process? */
bool epochs_index_may_have(const struct epochs *epochs, const struct epoch *epoch, const char *process);
