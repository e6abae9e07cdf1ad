/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_user: on whose behalf we are root, and opening files with no more rights than somebody else has.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct user {
	uid_t uid;
	gid_t gid;
};

/* Are we root because somebody typed sudo? Then who. */
bool real_user_find(struct user *ret);

/*
 * As open(2), with the rights of that user and of his group alone. Only root can take them; anybody else
 * opens with his own. NULL = our own. The calling thread has its rights back afterwards, and no other ever
 * lost them.
 */
int real_user_open(const struct user *user, const char *path, int flags);
/* The same with another way to open, which returns a descriptor or -1 and errno. */
int real_user_open_by(const struct user *user, int (*open_file)(const char *path, int flags),
		      const char *path, int flags);
