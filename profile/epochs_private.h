/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a database share.
 */
#pragma once

#include "base/hash.h"
#include "profile/epochs.h"
#include "profile/merge.h"

/* A line of the index: what one process name has in one epoch. */
struct epoch_process {
	char *epoch, *comm;
	uint64_t samples, cpu_ns;
};

struct epochs {
	char *directory;
	bool writes;
	int lock; /* -1 = not held */
	VEC(struct epoch) all;
	VEC(struct epoch_process) index;
};

/* DIR/folder/name, allocated. */
char *epochs_path(const struct epochs *epochs, const char *folder, const char *name);
/* The name of a file of names; false: this image is known by nothing that lasts. */
bool epochs_image_key(const struct profile *profile, const struct profile_image *image, char ret[128]);
/* Of a finished epoch: its file, allocated; and what is written to it. */
char *epochs_name(const struct profile *profile);
int epochs_make_plain(const struct profile *profile, const char *name, struct profile **ret,
		      struct diag *diag);
/* Addresses of the kernel mean something until it is started again: its image is that of this boot. */
void epochs_mark_kernel(struct profile *profile);
void epochs_mark_image(struct profile_image *image);
int epochs_write(struct epochs *epochs, struct profile *profile, const char *name, struct diag *diag);

/* epochs_index.c */
void epochs_index_read(struct epochs *epochs);
/* An epoch has come; those that are gone go from the index as well. */
void epochs_index_add(struct epochs *epochs, const char *name, const struct profile *profile);
void epochs_index_clear(struct epochs *epochs);
/* May this epoch hold something of that process? */
bool epochs_index_may_have(const struct epochs *epochs, const struct epoch *epoch, const char *process);
