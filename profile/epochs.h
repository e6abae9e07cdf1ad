/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epochs: a database of profiles, one per period of time (epoch).
 *
 *     DIR/version               the format of the database
 *     DIR/lock                  locked by the process that writes
 *     DIR/epochs/S-E.epoch      the profile of the time from S to E (ms since 1970), without symbols
 *     DIR/epochs/S-open.epoch   the epoch that is being recorded, as of its last checkpoint
 *     DIR/images/KEY.names      symbols, lines, loops and machine code of one image; KEY: its build-id, and
 *                               who can write its file (profile_image), so that nobody else is deceived
 *     DIR/index                 which processes are in which epoch, so that a query can skip epochs
 *
 * Files appear whole or not at all. An epoch that lies within the time of another has been merged into it and
 * is ignored: a merge takes effect when its file appears, so at no moment is anything lost or counted twice.
 * Files that cannot be read are skipped and reported.
 */
#pragma once

#include "base/vec.h"
#include "profile/profile.h"

struct epoch {
	uint64_t start_ms, end_ms; /* of the open epoch, end is the time of its last checkpoint */
	char *name;                /* of its file */
	uint64_t bytes;
	bool is_open;
	/* From the index; 0 if it is not there: */
	bool is_indexed;
	uint64_t samples, complete, lost, cpu_ns;
};

struct epochs;
/*
 * A writer creates the folder if necessary; -EPERM: others could change it (base/own_folder.h). -EBUSY:
 * another process writes to it; -EBADMSG: it is not a database, or one of a later version.
 */
int epochs_open(const char *directory, bool writes, struct epochs **ret, struct diag *diag);
void epochs_close(struct epochs *epochs);
static inline void epochs_closep(struct epochs **epochs)
{
	epochs_close(*epochs);
}

/* Its path; of a writer, without links. */
const char *epochs_directory(const struct epochs *epochs);
/* A file in it, of its user: the last epoch for Prometheus. */
#define EPOCHS_FUNCTIONS "functions.openmetrics"

/* Epochs that would take more are thinned out; those of an hour may take twice as much, those of a day seven
 * times as much. 0 = no limit. */
void epochs_limit(struct epochs *epochs, size_t epoch_bytes);

/* All epochs by time, without those that were merged. Reads the folder again; valid until the next call. */
const struct epoch *epochs_list(struct epochs *epochs, size_t *ret_n);
uint64_t epochs_bytes(struct epochs *epochs); /* the size of the whole database */

/* ---- writing, epochs.c ---------------------------------------------------------------------------- */

/* The file for checkpoints of the epoch that starts then. Allocated. */
char *epochs_open_path(const struct epochs *epochs, uint64_t start_unix_ns);
/* Stores a finished epoch and removes the open one with the same start. */
int epochs_put(struct epochs *epochs, const struct profile *profile, struct diag *diag);
/* Finishes the epochs that a killed daemon has left open, and deletes those that are damaged and what it has
 * not finished writing. Only before anything else is written. */
struct epochs_recovered {
	size_t n_finished, n_damaged; /* epochs */
	size_t n_unfinished;          /* temporary files */
};
struct epochs_recovered epochs_recover(struct epochs *epochs);
/* Stores the symbols of a resolved profile, whose epoch was stored before. May be called by a child process.
 */
int epochs_put_names(struct epochs *epochs, struct profile *profile, struct diag *diag);
/* Removes the addresses whose symbols are already stored from a sorted list; returns how many are left. */
size_t epochs_lack_names(const struct epochs *epochs, const struct profile *profile, uint32_t image,
			 uint64_t *vaddrs, size_t n);

/* ---- merging and deleting, epochs_keep.c ---------------------------------------------------------- */

struct epochs_limits {
	uint64_t age_s; /* older epochs are deleted; 0 = no limit */
	uint64_t bytes; /* of the database: the oldest epochs are deleted; 0 = no limit */
	uint64_t hours_after_s, days_after_s; /* the age at which epochs are merged by hour and by day */
};
struct epochs_kept {
	size_t n_merged, n_dropped; /* epochs */
	size_t n_names;             /* deleted symbol files, which no epoch refers to any more */
};
struct epochs_kept epochs_keep(struct epochs *epochs, const struct epochs_limits *limits, uint64_t now_ms);
/* Deletes the oldest epoch, to make room. False if there is only the open one. */
bool epochs_drop_oldest(struct epochs *epochs);

/* ---- reading, epochs_read.c ----------------------------------------------------------------------- */

struct epochs_query {
	uint64_t since_ms, until_ms; /* epochs that overlap this range; until 0 = now */
	const char *process;         /* only processes with this name or pid; NULL = all */
	bool without_names;
};
/* One profile of all of them, with symbols. -ENOENT if there is none. n_bad: files that could not be read. */
int epochs_read(struct epochs *epochs, const struct epochs_query *query, struct profile **ret,
		size_t *ret_n_bad, struct diag *diag);
