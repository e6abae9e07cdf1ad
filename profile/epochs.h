/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs: a database of profiles, one for each stretch of time.
 *
 *     DIR/version               what this is
 *     DIR/lock                  held by whoever writes
 *     DIR/epochs/S-E.epoch      a profile of the time from S to E, in milliseconds since 1970, without names
 *     DIR/epochs/S-open.epoch   the one that is being recorded, as of its last checkpoint
 *     DIR/images/KEY.names      what is known of the code of one image: names, lines, loops, machine code
 *     DIR/index                 which processes are in which epoch, so that most need not be read
 *
 * Files appear whole or not at all. An epoch whose time lies in that of another has been merged into it and
 * counts no longer: so a merge is done when its file is there, and nothing is lost or counted twice at any
 * moment. Files that cannot be read are left out, and said.
 */
#pragma once

#include "base/vec.h"
#include "profile/profile.h"

struct epoch {
	uint64_t start_ms, end_ms; /* end: of the open one, that of its last checkpoint */
	char *name;                /* in the folder of epochs */
	uint64_t bytes;
	bool is_open;
	/* From the index, or 0: */
	bool is_indexed;
	uint64_t samples, complete, lost, cpu_ns;
};

struct epochs;
/*
 * Makes the folder if it writes and there is none. -EBUSY: another one writes; -EBADMSG: it is no database,
 * or one of a later version.
 */
int epochs_open(const char *directory, bool writes, struct epochs **ret, struct diag *diag);
void epochs_close(struct epochs *epochs);
static inline void epochs_closep(struct epochs **epochs)
{
	epochs_close(*epochs);
}

/* Those that count, by time. Read anew; valid until the next call. */
const struct epoch *epochs_list(struct epochs *epochs, size_t *ret_n);
uint64_t epochs_bytes(struct epochs *epochs); /* of all that is there */

/* ---- writing, epochs.c ---------------------------------------------------------------------------- */

/* Where checkpoints of the epoch that begins then go. Allocated. */
char *epochs_open_path(const struct epochs *epochs, uint64_t start_unix_ns);
/* A finished epoch. An open one of the same start is gone afterwards. */
int epochs_put(struct epochs *epochs, const struct profile *profile, struct diag *diag);
/* What a daemon that was killed has left. */
void epochs_recover(struct epochs *epochs);
/* What a resolved profile, which was put before, knows of the code of its images. May be called by a child.
 */
int epochs_put_names(struct epochs *epochs, struct profile *profile, struct diag *diag);
/* Removes from a sorted list the addresses of an image whose names were put before; returns how many are
 * left.
 */
size_t epochs_lack_names(const struct epochs *epochs, const struct profile *profile, uint32_t image,
			 uint64_t *vaddrs, size_t n);

/* ---- growing old, epochs_keep.c ------------------------------------------------------------------- */

struct epochs_limits {
	uint64_t age_s;                       /* what is older goes; 0 = nothing does */
	uint64_t bytes;                       /* the oldest go while there is more; 0 = whatever */
	uint64_t hours_after_s, days_after_s; /* of that age, the epochs of an hour and of a day become one */
};
struct epochs_kept {
	size_t n_merged, n_dropped; /* epochs */
	size_t n_names;             /* files of names that no epoch refers to any more */
};
struct epochs_kept epochs_keep(struct epochs *epochs, const struct epochs_limits *limits, uint64_t now_ms);
/* To make room: the oldest one. False if there is none but the open one. */
bool epochs_drop_oldest(struct epochs *epochs);

/* ---- reading, epochs_read.c ----------------------------------------------------------------------- */

struct epochs_query {
	uint64_t since_ms, until_ms; /* epochs that have time in common with this; until 0 = now */
	const char *process;         /* only those of that name, or of that number; NULL = all */
	bool without_names;
};
/* One profile of them all, with names. -ENOENT if there is none. n_bad: files that could not be read. */
int epochs_read(struct epochs *epochs, const struct epochs_query *query, struct profile **ret,
		size_t *ret_n_bad, struct diag *diag);
