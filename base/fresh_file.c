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
#include "base/bytes.h"
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

/* The rules of fs.protected_symlinks and fs.protected_fifos, whether or not they are set here. */
static bool fresh_file_may_use(const struct stat *folder, const struct stat *file)
{
	return file->st_uid == geteuid() || file->st_uid == folder->st_uid ||
	       (folder->st_mode & (S_ISVTX | S_IWOTH)) != (S_ISVTX | S_IWOTH);
}

/* Follows one link; *ret stays NULL if path is not a link, *ret_mode is 0 if there is nothing. Owner and
 * target belong to the same link. */
static int fresh_file_follow_once(const char *path, mode_t *ret_mode, char **ret)
{
	CLEANUP(freep) char *folder = fresh_file_folder(path);
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char target[PATH_MAX];
	struct stat folder_stat, st;
	CLEANUP(close_fd) int folder_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd)
	int fd = folder_fd < 0 || !*name ? -1 : openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	*ret_mode = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0; /* writing the file will report the cause */
	*ret_mode = st.st_mode;
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return 0; /* it is replaced, or cannot be */
	if (fstat(folder_fd, &folder_stat) < 0 || !fresh_file_may_use(&folder_stat, &st))
		return -EACCES;
	if (!S_ISLNK(st.st_mode))
		return 0;
	ssize_t len = readlinkat(fd, "", target, sizeof(target));
	if (len <= 0 || len == sizeof(target))
		return -ENAMETOOLONG;
	*ret = target[0] == '/' || !slash ? alloc_printf("%.*s", (int)len, target)
					  : alloc_printf("%s%.*s", folder, (int)len, target);
	return 0;
}

bool fresh_file_is_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" }; /* bash and zsh: >(command) */

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		size_t len = strlen(folders[i]);
		if (strncmp(path, folders[i], len) == 0 && path[len] &&
		    strspn(path + len, "0123456789") == strlen(path + len))
			return true;
	}
	return strcmp(path, "/dev/stdout") == 0 || strcmp(path, "/dev/stderr") == 0;
}

/* *ret_mode: of what is there; 0 if there is nothing, or a descriptor. */
static int fresh_file_find(const char *path, mode_t *ret_mode, char **ret)
{
	CLEANUP(freep) char *at = alloc_text(path);

	*ret_mode = 0;
	for (int i = 0; strcmp(at, "-") != 0 && !fresh_file_is_descriptor(at); i++) {
		char *next = NULL;
		int error = i < MAX_LINKS ? fresh_file_follow_once(at, ret_mode, &next) : -ELOOP;
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

int fresh_file_follow(const char *path, char **ret)
{
	mode_t mode;

	return fresh_file_find(path, &mode, ret);
}

int fresh_file_explain(const char *path, int error, struct diag *diag)
{
	diag_set(diag, error, "cannot write '%s'", path);
	if (error != -EACCES)
		return error;
	diag_why(diag, "it is a link or a pipe of another user, in a directory that everybody can write to");
	diag_hint(diag, "give a path in another directory");
	return error;
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

static int fresh_file_rename(struct fresh_file *file)
{
	if (!file->beside)
		return 0;
	if (rename(file->beside, file->path) < 0)
		return -errno;
	free(TAKE(file->beside));
	return 0;
}

static int fresh_file_number(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	long number = strcmp(name, "stdout") == 0   ? STDOUT_FILENO
		      : strcmp(name, "stderr") == 0 ? STDERR_FILENO
						    : strtol(name, NULL, 10);

	return number > INT_MAX ? -1 : (int)number;
}

int fresh_file_check_descriptor(const char *path)
{
	int flags = fcntl(fresh_file_number(path), F_GETFL);

	return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? -EBADF : 0;
}

/* The open file itself. Opening it again would truncate what somebody appends to, and cannot be done with a
 * socket. */
static int fresh_file_open_descriptor(const char *path)
{
	int error = fresh_file_check_descriptor(path);
	int fd = error ? -1 : fcntl(fresh_file_number(path), F_DUPFD_CLOEXEC, 0);

	return error ? error : fd < 0 ? -errno : fd;
}

/*
 * A pipe, a device or a descriptor, which may be a file: -ENOENT if it is none of these. Nobody else can put
 * something else there once it was looked at: it is ours, or the folder is not one that everybody writes to.
 */
static int fresh_file_open_special(const char *path, int flags)
{
	CLEANUP(freep) char *at = NULL;
	mode_t mode;

	if (fresh_file_find(path, &mode, &at))
		return -ENOENT; /* somebody else's, made since the path was followed: it is replaced */
	if (fresh_file_is_descriptor(at) && flags == O_WRONLY)
		return fresh_file_open_descriptor(at);
	if (!fresh_file_is_descriptor(at) && (!mode || S_ISREG(mode)))
		return -ENOENT;
	int fd = open(at, flags | O_TRUNC | O_CLOEXEC | (mode ? O_NOFOLLOW : 0));
	return fd < 0 ? -errno : fd;
}

static int fresh_file_open_for(struct fresh_file *file, const char *path, int flags, mode_t mode)
{
	int special = fresh_file_open_special(path, flags);

	*file = (struct fresh_file){ .fd = special < 0 ? -1 : special, .path = alloc_text(path) };
	return special >= 0 ? 0 : special != -ENOENT ? special : fresh_file_make_for_user(file, mode);
}

int fresh_file_open(struct fresh_file *file, const char *path, mode_t mode)
{
	return fresh_file_open_for(file, path, O_WRONLY, mode);
}

int fresh_file_overwrite(const char *path, int flags, struct diag *diag)
{
	CLEANUP(fresh_file_done) struct fresh_file file = { .fd = -1 };
	CLEANUP(freep) char *at = NULL;
	int error = fresh_file_follow(path, &at);

	if (error)
		return fresh_file_explain(path, error, diag);
	error = fresh_file_open_for(&file, at, flags, FRESH_PRIVATE);
	if (!error)
		error = fresh_file_rename(&file);
	return error ? diag_set(diag, error, "cannot write '%s'", path) : TAKE_FD(file.fd);
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

	return fd >= 0 && close(fd) < 0 ? -errno : fresh_file_rename(file);
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
