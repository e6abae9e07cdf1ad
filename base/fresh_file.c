/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fresh_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/real_user.h"

#define MAX_LINKS 40 /* as many as the kernel follows */
#define MAX_TRIES 1000
#define UNFINISHED ".new"

static char *fresh_file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? alloc_text_n(path, (size_t)(slash - path) + 1) : alloc_text(".");
}

/* The rule of fs.protected_symlinks, whether or not it is set here. */
static bool fresh_file_may_follow(const struct stat *folder, const struct stat *link)
{
	return link->st_uid == geteuid() || link->st_uid == folder->st_uid ||
	       (folder->st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH);
}

/* Follows one link; *ret stays NULL if path is not a link. Owner and target belong to the same link. */
static int fresh_file_follow_once(const char *path, char **ret)
{
	CLEANUP(freep) char *folder = fresh_file_folder(path);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char target[PATH_MAX];
	struct stat folder_stat, link_stat;
	CLEANUP(close_fd) int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd)
	int fd = folder_fd < 0 || !*name ? -1 : openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &link_stat) < 0 || !S_ISLNK(link_stat.st_mode))
		return 0; /* writing the file will report the cause */
	if (fstat(folder_fd, &folder_stat) < 0 || !fresh_file_may_follow(&folder_stat, &link_stat))
		return -EACCES;
	ssize_t len = readlinkat(fd, "", target, sizeof(target));
	if (len <= 0 || len == sizeof(target))
		return -ENAMETOOLONG;
	*ret = target[0] == '/' || !slash ? alloc_printf("%.*s", (int)len, target)
					  : alloc_printf("%s%.*s", folder, (int)len, target);
	return 0;
}

int fresh_file_follow(const char *path, char **ret)
{
	CLEANUP(freep) char *at = alloc_text(path);

	for (int i = 0; strcmp(at, "-") != 0 && strncmp(at, "/dev/", 5) != 0; i++) {
		char *next = NULL;
		int error = i < MAX_LINKS ? fresh_file_follow_once(at, &next) : -ELOOP;
		if (error)
			return error;
		if (!next)
			break;
		free(at);
		at = next;
	}
	*ret = TAKE(at);
	return 0;
}

int fresh_file_explain(const char *path, int error, struct diag *diag)
{
	diag_set(diag, error, "cannot write '%s'", path);
	if (error != -EACCES)
		return error;
	diag_why(diag,
		 "it is a symbolic link made by another user in a directory that everybody can write to");
	diag_hint(diag, "give the file it points to, or a path in another directory");
	return error;
}

int fresh_file_overwrite(const char *path, int flags, struct diag *diag)
{
	CLEANUP(freep) char *at = NULL;
	int error = fresh_file_follow(path, &at);

	if (error)
		return fresh_file_explain(path, error, diag);
	if (strncmp(at, "/dev/", 5) != 0)
		flags |= O_NOFOLLOW; /* a link that was made since then */
	int fd = open(at, flags | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return fd < 0 ? diag_set(diag, -errno, "cannot write '%s'", path) : fd;
}

/* Created with its final mode: a confined command (cmd/confine.h) can no longer change it. */
static int fresh_file_create(const char *path, mode_t mode)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	if (mode == FRESH_BY_UMASK || mode == FRESH_PRIVATE)
		return open(path, flags, mode == FRESH_PRIVATE ? 0600 : 0666);
	mode_t own = umask(0); /* of all threads: only if the user chose a mode */
	int fd = open(path, flags, mode), error = errno;
	umask(own);
	errno = error;
	return fd;
}

/* A name that did not exist before. */
static int fresh_file_make(struct fresh_file *file, mode_t mode)
{
	for (unsigned i = 0; i < MAX_TRIES; i++) {
		CLEANUP(freep)
		char *beside = alloc_printf("%s.%d-%u" UNFINISHED, file->path, (int)getpid(), i);
		file->fd = fresh_file_create(beside, mode);
		if (file->fd < 0 && errno == EEXIST)
			continue;
		if (file->fd < 0)
			return -errno;
		file->beside = TAKE(beside);
		return 0;
	}
	return -EEXIST;
}

bool fresh_file_is_unfinished(const char *name)
{
	size_t len = strlen(name), end = strlen(UNFINISHED);
	const char *at = name + len - end;

	if (len < end || strcmp(at, UNFINISHED) != 0)
		return false;
	const char *number = at;
	while (number > name && isdigit((unsigned char)number[-1]))
		number--;
	const char *pid = number - 1;
	if (number == at || pid <= name || *pid != '-')
		return false;
	at = pid;
	while (pid > name && isdigit((unsigned char)pid[-1]))
		pid--;
	return pid < at && pid > name + 1 && pid[-1] == '.';
}

/* The same as fresh_file_make, owned by the user who called sudo. */
static int fresh_file_make_for_user(struct fresh_file *file, mode_t mode)
{
	struct user user, own;

	if (!real_user_find(&user) || !real_user_own_files(&user, &own))
		return fresh_file_make(file, mode);
	int error = fresh_file_make(file, mode);
	real_user_own_files(&own, &user);
	return error;
}

int fresh_file_open(struct fresh_file *file, const char *path, mode_t mode)
{
	struct stat st;

	*file = (struct fresh_file){ .fd = -1, .path = alloc_text(path) };
	/* /dev/stdout may be a file. O_CREAT: only then does the kernel protect other users' pipes in sticky
	 * folders. */
	if (strncmp(path, "/dev/", 5) == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) {
		file->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		return file->fd < 0 ? -errno : 0;
	}
	return fresh_file_make_for_user(file, mode);
}

FILE *fresh_file_stream(struct fresh_file *file)
{
	FILE *stream = fdopen(file->fd, "w");

	if (stream)
		file->fd = -1;
	return stream;
}

int fresh_file_keep(struct fresh_file *file)
{
	int fd = TAKE_FD(file->fd);

	if (fd >= 0 && close(fd) < 0)
		return -errno;
	if (!file->beside)
		return 0;
	if (rename(file->beside, file->path) < 0)
		return -errno;
	free(TAKE(file->beside));
	return 0;
}

void fresh_file_done(struct fresh_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->beside)
		unlink(file->beside);
	free(file->beside);
	free(file->path);
	*file = (struct fresh_file){ .fd = -1 };
}
