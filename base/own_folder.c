/* SPDX-License-Identifier: Apache-2.0 */
#include "base/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/real_user.h"

#define MAX_LINKS 40 /* as many as the kernel follows */

static bool own_is_ours(const struct stat *st)
{
	struct user user;

	return st->st_uid == 0 || st->st_uid == geteuid() ||
	       (real_user_find(&user) && st->st_uid == user.uid);
}

static int own_refuse(struct diag *diag, const char *path)
{
	return diag_set(diag, -EPERM, "cannot use the folder '%s'", path);
}

/* ---- checks ------------------------------------------------------------------------------------- */

static int own_check_folder(const struct stat *st, const char *path, struct diag *diag)
{
	if (!own_is_ours(st)) {
		own_refuse(diag, path);
		diag_why(diag, "it belongs to user %u, who can change what is in it", (unsigned)st->st_uid);
		diag_hint(diag, "choose another folder: cpprof creates it if it does not exist");
		return -EPERM;
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		own_refuse(diag, path);
		diag_why(diag, "%s may write to it",
			 st->st_mode & S_IWOTH ? "everybody" : "the members of its group");
		diag_hint(diag, "choose another folder, or type: chmod go-w '%s'", path);
		return -EPERM;
	}
	return 0;
}

/* A folder above it, or a link that leads to it. */
static int own_check_way(const struct stat *st, const char *path, const char *wanted, struct diag *diag)
{
	bool is_open = S_ISDIR(st->st_mode) && (st->st_mode & (S_IWOTH | S_ISVTX)) == S_IWOTH;

	if (!own_is_ours(st)) {
		own_refuse(diag, wanted);
		diag_why(diag, "the %s '%s' belongs to user %u, who can replace it",
			 S_ISLNK(st->st_mode) ? "link" : "folder", path, (unsigned)st->st_uid);
		diag_hint(diag, "choose a folder elsewhere");
		return -EPERM;
	}
	if (is_open) {
		own_refuse(diag, wanted);
		diag_why(diag, "everybody may write to the folder '%s', and so replace it", path);
		diag_hint(diag, "choose a folder elsewhere, or type: chmod o-w '%s'", path);
		return -EPERM;
	}
	return 0;
}

/* ---- the way to it ------------------------------------------------------------------------------ */

struct own_way {
	const char *wanted; /* as the caller says it */
	char *at, *rest;    /* without links, "" = the root; what is still to be followed */
	int fd;             /* of at */
	int n_links;
};

static void own_way_done(struct own_way *way)
{
	if (way->fd >= 0)
		close(way->fd);
	free(way->at);
	free(way->rest);
}

static void own_set(char **text, char *value)
{
	free(*text);
	*text = value;
}

static void own_step_to(struct own_way *way, int fd, char *at)
{
	if (way->fd >= 0)
		close(way->fd);
	way->fd = fd;
	own_set(&way->at, at);
}

static int own_start(struct own_way *way, struct diag *diag)
{
	struct stat st;

	own_step_to(way, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), alloc_text(""));
	if (way->fd < 0 || fstat(way->fd, &st) < 0)
		return diag_set(diag, -errno, "cannot open '/'");
	return own_check_way(&st, "/", way->wanted, diag);
}

/* The next name on the way, allocated; NULL at its end. */
static char *own_next(struct own_way *way)
{
	const char *name = way->rest + strspn(way->rest, "/");
	size_t len = strcspn(name, "/");

	if (!len)
		return NULL;
	char *ret = alloc_text_n(name, len);
	own_set(&way->rest, alloc_text(name + len));
	return ret;
}

static bool own_is_last(const struct own_way *way)
{
	return way->rest[strspn(way->rest, "/")] == 0;
}

static int own_follow(struct own_way *way, int link, const char *path, struct diag *diag)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target));

	if (len <= 0 || len == sizeof(target) || ++way->n_links > MAX_LINKS)
		return diag_set(diag, -ELOOP, "cannot follow the link '%s'", path);
	own_set(&way->rest, alloc_printf("%.*s/%s", (int)len, target, way->rest));
	return target[0] == '/' ? own_start(way, diag) : 0;
}

static int own_open_next(const struct own_way *way, const char *name)
{
	int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, fd = openat(way->fd, name, flags);

	if (fd < 0 && errno == ENOENT && own_is_last(way) && mkdirat(way->fd, name, 0700) == 0)
		fd = openat(way->fd, name, flags);
	return fd;
}

static int own_step(struct own_way *way, const char *name, struct diag *diag)
{
	bool is_up = strcmp(name, "..") == 0;
	const char *slash = strrchr(way->at, '/');
	CLEANUP(freep)
	char *path = is_up ? alloc_text_n(way->at, slash ? (size_t)(slash - way->at) : 0)
			   : alloc_printf("%s/%s", way->at, name);
	CLEANUP(close_fd) int fd = own_open_next(way, name);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return diag_set(diag, -errno, "cannot %s the folder '%s'",
				errno == ENOENT || own_is_last(way) ? "create" : "open", way->wanted);
	if (S_ISLNK(st.st_mode)) {
		int error = own_check_way(&st, path, way->wanted, diag);
		return error ? error : own_follow(way, fd, path, diag);
	}
	if (!S_ISDIR(st.st_mode))
		return diag_set(diag, -ENOTDIR, "cannot use the folder '%s'", path);
	int error = own_is_last(way) ? 0 : own_check_way(&st, path, way->wanted, diag);
	if (!error)
		own_step_to(way, TAKE_FD(fd), TAKE(path));
	return error;
}

int own_folder_make(const char *path, char **ret, struct diag *diag)
{
	CLEANUP(freep) char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
	CLEANUP(own_way_done)
	struct own_way way = { .wanted = path,
			       .fd = -1,
			       .at = alloc_text(""),
			       .rest = alloc_printf("%s/%s", here ? here : "", path) };
	int error = here || path[0] == '/' ? own_start(&way, diag)
					   : diag_set(diag, -errno, "cannot open the folder '%s'", path);
	struct stat st;

	while (!error) {
		CLEANUP(freep) char *name = own_next(&way);
		if (!name)
			break;
		if (strcmp(name, ".") != 0)
			error = own_step(&way, name, diag);
	}
	if (!error && fstat(way.fd, &st) < 0)
		error = diag_set(diag, -errno, "cannot open the folder '%s'", path);
	if (!error)
		error = own_check_folder(&st, path, diag);
	if (!error)
		*ret = way.at[0] ? TAKE(way.at) : alloc_text("/");
	return error;
}

/* ---- in such a folder --------------------------------------------------------------------------- */

int own_folder_make_in(const char *folder, const char *name, struct diag *diag)
{
	CLEANUP(freep) char *path = alloc_printf("%s/%s", folder, name);
	struct stat st;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return diag_set(diag, -errno, "cannot create the folder '%s'", path);
	if (lstat(path, &st) < 0)
		return diag_set(diag, -errno, "cannot open the folder '%s'", path);
	if (S_ISDIR(st.st_mode))
		return own_check_folder(&st, path, diag);
	own_refuse(diag, path);
	diag_why(diag, S_ISLNK(st.st_mode) ? "it is a symbolic link" : "it is a file");
	diag_hint(diag, "choose another folder, or remove '%s'", path);
	return -EPERM;
}

int own_folder_check_file(const char *folder, const char *name, struct diag *diag)
{
	CLEANUP(freep) char *path = alloc_printf("%s/%s", folder, name);
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : diag_set(diag, -errno, "cannot open '%s'", path);
	if (S_ISREG(st.st_mode) && own_is_ours(&st))
		return 0;
	diag_set(diag, -EPERM, "cannot use the file '%s'", path);
	if (S_ISREG(st.st_mode))
		diag_why(diag, "it belongs to user %u", (unsigned)st.st_uid);
	else
		diag_why(diag, S_ISLNK(st.st_mode) ? "it is a symbolic link" : "it is not a regular file");
	diag_hint(diag, "choose another folder, or remove '%s'", path);
	return -EPERM;
}

int own_folder_open_file(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return TAKE_FD(fd);
	errno = fd >= 0 ? EINVAL : errno;
	return -1;
}
