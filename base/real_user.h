/* SPDX-License-Identifier: Apache-2.0 */
/*
 * real_user: the user on whose behalf we run as root, and opening files with the permissions of another user.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct user {
	uid_t uid;
	gid_t gid;
};

#define USER_NOBODY 65534 /* can read what everybody can read */

/* Whether we are root because of sudo, and the user who called it. */
bool real_user_find(struct user *ret);

/* Root, the user who runs us, and the one who called sudo: they could do worse without us. The answer
 * does not change in a process that becomes another user. */
bool real_user_is_ours(uid_t uid);
/* Becomes that user, permanently. Does nothing if we are not root, or if user is NULL or root. */
bool real_user_become(const struct user *user);

/*
 * Like open(2), with the permissions of that user and their primary group only. Only root can change
 * permissions; other users open with their own. NULL = our own. The calling thread gets its permissions back
 * afterwards; other threads are not affected.
 */
int real_user_open(const struct user *user, const char *path, int flags);
/* The same with a function that opens the file and returns a descriptor, or -1 and errno. */
int real_user_open_by(const struct user *user, int (*open_file)(const char *path, int flags),
		      const char *path, int flags);

/* From now on, new files of the calling thread belong to that user; what it may access does not change.
 * *ret_before: to whom they belonged. False: nothing was changed. */
bool real_user_own_files(const struct user *user, struct user *ret_before);
