/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An openat2() for emulated programs, loaded by LD_PRELOAD: older qemu-user lacks that call, and cpprof
 * opens the binaries of a recording with it. Other calls, and openat2 if the system has it, are passed on.
 *
 * cpprof uses RESOLVE_IN_ROOT: "/" and ".." stay inside the given folder, in symbolic links as well.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_PATH 4096
#define MAX_LINKS 40

/* The part of the path that is resolved, without links and relative to the root, and the remaining part. */
struct walk {
	char done[MAX_PATH], left[MAX_PATH];
	int n_links;
	bool no_follow; /* fail if the last component is a symbolic link */
};

/* Programs started from here run natively and could not load this library. */
__attribute__((constructor)) static void preload_once(void)
{
	unsetenv("LD_PRELOAD");
}

static int refuse(int error)
{
	errno = error;
	return -1;
}

/* Takes the first component off the remaining path; false at the end. */
static bool walk_next(struct walk *walk, char name[MAX_PATH])
{
	char *start = walk->left + strspn(walk->left, "/");
	size_t len = strcspn(start, "/");

	memcpy(name, start, len);
	name[len] = '\0';
	memmove(walk->left, start + len, strlen(start + len) + 1);
	return len > 0;
}

static void walk_up(struct walk *walk)
{
	char *slash = strrchr(walk->done, '/');

	*(slash ? slash : walk->done) = '\0';
}

/* Prepends the link's target to the remaining path. */
static int walk_link(struct walk *walk, int root, const char *link)
{
	char target[MAX_PATH], left[2 * MAX_PATH + 2];
	ssize_t len = readlinkat(root, link, target, sizeof(target) - 1);

	if (len < 0)
		return -1;
	target[len] = '\0';
	if (++walk->n_links > MAX_LINKS)
		return refuse(ELOOP);
	if (target[0] == '/')
		walk->done[0] = '\0';
	int n = snprintf(left, sizeof(left), "%s/%s", target, walk->left);
	if (n < 0 || n >= MAX_PATH)
		return refuse(ENAMETOOLONG);
	memcpy(walk->left, left, (size_t)n + 1);
	return 0;
}

static int walk_name(struct walk *walk, int root, const char *name)
{
	char path[2 * MAX_PATH + 2];
	struct stat st;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		walk_up(walk);
		return 0;
	}
	int n = snprintf(path, sizeof(path), "%s%s%s", walk->done, walk->done[0] ? "/" : "", name);
	if (n < 0 || n >= MAX_PATH)
		return refuse(ENAMETOOLONG);
	if (fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (S_ISLNK(st.st_mode) && walk->no_follow && !walk->left[strspn(walk->left, "/")])
		return refuse(ELOOP);
	if (S_ISLNK(st.st_mode))
		return walk_link(walk, root, path);
	memcpy(walk->done, path, (size_t)n + 1);
	return 0;
}

static int open_in_root(int root, const char *path, const struct open_how *how)
{
	struct walk walk = { .no_follow = how->flags & O_NOFOLLOW };
	char name[MAX_PATH];

	if (!(how->resolve & RESOLVE_IN_ROOT))
		return refuse(ENOSYS);
	if (strlen(path) >= sizeof(walk.left))
		return refuse(ENAMETOOLONG);
	strcpy(walk.left, path);
	while (walk_next(&walk, name))
		if (walk_name(&walk, root, name) < 0)
			return -1;
	return openat(root, walk.done[0] ? walk.done : ".", (int)how->flags | O_NOFOLLOW, (mode_t)how->mode);
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	long result = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number == SYS_openat2 && result < 0 && errno == ENOSYS)
		return open_in_root((int)a[0], (const char *)a[1], (const struct open_how *)a[2]);
	return result;
}
