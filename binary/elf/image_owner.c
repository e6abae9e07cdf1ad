/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_owner: whether a file can be trusted. A build-id is only a claim: somebody who can write a file could
 * give it the build-id of libc, and names of their own, which the store would then use for the real libc. So
 * a file that others can write is identified by a number that cannot be guessed, and only in this run.
 */
#include <pthread.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/real_user.h"
#include "binary/elf/image_private.h"

static uint64_t owner_secret;

static void owner_draw_secret(void)
{
	/* If this fails there are worse problems; the store is not trusted then. */
	if (getrandom(&owner_secret, sizeof(owner_secret), 0) != (ssize_t)sizeof(owner_secret))
		owner_secret = hash_u64(clock_now_ns() ^ (uint64_t)getpid() << 32);
}

/* Drawn when the first file is opened, so before any child is forked, which must identify the same files. */
static uint64_t owner_get_secret(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, owner_draw_secret);
	return owner_secret;
}

/* A group with the same number as its user contains only that user, by convention of all distributions. */
static bool owner_is_only_writer(const struct stat *st)
{
	bool is_private_group = st->st_gid == 0 || st->st_gid == st->st_uid;

	return !(st->st_mode & S_IWOTH) && (!(st->st_mode & S_IWGRP) || is_private_group);
}

uint32_t image_file_writer(const struct stat *st)
{
	if (!owner_is_only_writer(st) || st->st_uid == (uid_t)-1)
		return IMAGE_WRITERS;
	return real_user_is_ours(st->st_uid) ? 0 : st->st_uid + 1;
}

uint64_t image_file_foreign(const struct stat *st)
{
	uint64_t hash = hash_u64(owner_get_secret() ^ (uint64_t)st->st_dev);

	if (!image_file_writer(st))
		return 0;
	hash = hash_u64(hash ^ (uint64_t)st->st_ino);
	hash = hash_u64(hash ^ (uint64_t)st->st_size);
	hash = hash_u64(hash ^ (uint64_t)st->st_mtim.tv_sec);
	return hash_u64(hash ^ (uint64_t)st->st_mtim.tv_nsec) | 1;
}
