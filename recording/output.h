/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output: the output file of a recording: names with %p and %t, keeping the previous default file, ownership
 * under sudo.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/diag.h"
#include "profile/profile.h"

struct output {
	char *path;       /* "-" = standard output */
	mode_t mode;      /* as in fresh_file_open */
	int error;        /* why the name cannot be followed; 0 = it can */
	bool keeps_last;  /* the default name: a file of that name becomes cpprof.data.old */
	bool has_rotated; /* that was done */
	bool has_written; /* by us, not by a checkpoint */
	bool is_left;     /* an empty profile was not written, for there is an older one of that name */
};

/* template: NULL = the default name. %p = pid, %t = time as 20260131-235959, %% = %. Allocated. */
char *output_expand(const char *template, pid_t pid, const struct tm *when);

/* fresh_file_follow, with words for a link that must not be followed. */
int output_follow(const char *path, char **ret, struct diag *diag);

void output_init(struct output *output, const char *template, pid_t pid);
void output_done(struct output *output);
bool output_is_stdout(const struct output *output);
/* Before anything is started: can a file of that name be written? option is the one that names it. */
int output_check(const char *template, const char *option, struct diag *diag);
/* An empty file of that name, for something other than a profile; a descriptor or -errno. */
int output_create(const char *path, struct diag *diag);
/* Replaces what was written before; but a profile without samples leaves the last one under the default name.
 */
int output_write(struct output *output, const struct profile *profile, struct diag *diag);
/* In the folder for temporary files; its name, allocated, or NULL. */
char *output_keep(const struct profile *profile);
/*
 * After output_write failed: a recording cannot be had again, so it is kept in the folder for temporary files
 * unless something of it was written. The hint says where it is.
 */
void output_rescue(const struct output *output, const struct profile *profile, struct diag *diag);
