/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text: the text of source files, searched at the path in the debug information, at a path rewritten
 * by a rule OLD=NEW, or under a directory by the longest suffix of the path.
 */
#pragma once

#include "base/diag.h"
#include "base/real_user.h"
#include "base/vec.h"

struct source_search {
	const char *const *directories; /* --source-dir */
	size_t n_directories;
	const char *const *rules; /* --source-map OLD=NEW */
	size_t n_rules;
	/* With whose permissions files are read, as source_user_limit says; see real_user_open. */
	struct user user;
	bool has_user;
};

struct source_text {
	char *bytes;       /* the whole file, zero-terminated */
	VEC(char *) lines; /* without their line ends; line 1 is at[0] */
};

/* 0, or -ENOENT. Regular files of at most 16 MB only. */
int source_text_read(const char *path, const struct source_search *search, struct source_text *ret);
void source_text_done(struct source_text *text);
