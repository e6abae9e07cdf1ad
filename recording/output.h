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
	int error;        /* why the link cannot be followed; 0 = no error */
	bool keeps_last;  /* the default name: an existing file becomes cpprof.data.old */
	bool has_rotated; /* this was done */
	bool has_written; /* by us, not by a checkpoint */
	bool is_left;     /* an empty profile was not written, because there is an older one of that name */
};

/* template: NULL = the default name. %p = pid, %t = time as 20260131-235959, %% = %. Allocated. */
char *output_expand(const char *template, pid_t pid, const struct tm *when);

/* fresh_file_follow, with a message for a link that must not be followed. */
int output_follow(const char *path, char **ret, struct diag *diag);

void output_init(struct output *output, const char *template, pid_t pid);
void output_done(struct output *output);
bool output_is_stdout(const struct output *output);
/* Standard output, a pipe, a device or a descriptor: it is written once, when everything is known. */
bool output_is_stream(const struct output *output);
/* Before anything is started: can a file of that name be written? option: the option that gives the name. */
int output_check(const char *template, const char *option, struct diag *diag);
/* Replaces an earlier file; but a profile without samples does not replace an earlier one with the default
 * name. */
int output_write(struct output *output, const struct profile *profile, struct diag *diag);
/* Writes it to the directory for temporary files; returns its name, allocated, or NULL. */
char *output_keep(const struct profile *profile);
/*
 * After output_write failed: a recording cannot be repeated, so it is kept in the directory for temporary
 * files unless part of it was written. The hint says where it is.
 */
void output_rescue(const struct output *output, const struct profile *profile, struct diag *diag);
