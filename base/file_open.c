/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_open.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/channel.h"
#include "base/cleanup.h"
#include "base/real_user.h"

#define FILE_OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* Of this process; set once, before it has threads. */
static struct channel *file_open_channel;

void file_open_through(struct channel *channel)
{
	file_open_channel = channel;
}

/* Set once, before there are threads. */
static bool (*file_open_may_use)(const char *root);

void file_open_guard_roots(bool (*may_use)(const char *root))
{
	file_open_may_use = may_use;
}

static int file_open_ask(const char *path, int flags)
{
	struct writer request = { 0 };

	write_u32(&request, (uint32_t)flags);
	write_bytes(&request, (struct bytes){ (const uint8_t *)path, strlen(path) + 1 });
	int fd = channel_ask(file_open_channel, CHANNEL_OPEN, writer_bytes(&request), NULL);
	writer_done(&request);
	return fd;
}

/* The length of a "/proc/PID/root" prefix of the path; 0 if it has none. */
static size_t file_open_root(const char *path)
{
	int end = 0;

	sscanf(path, "/proc/%*[0-9]/root%n", &end);
	return end && path[end] == '/' ? (size_t)end : 0;
}

/* Links in the root of a process lead inside it, as they do for that process. */
static int file_open_inside(const char *path, size_t root, int flags)
{
	CLEANUP(freep) char *folder = alloc_text_n(path, root);
	CLEANUP(close_fd) int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct open_how how = { .flags = (unsigned)flags, .resolve = RESOLVE_IN_ROOT };

	if (fd >= 0 && file_open_may_use && !file_open_may_use(folder)) {
		errno = ENOENT;
		return -1;
	}
	return fd < 0 ? -1 : (int)syscall(SYS_openat2, fd, path + root + 1, &how, sizeof(how));
}

/* Checks before it opens: opening a device may already have an effect. */
static int file_open_regular(const char *path, int flags)
{
	size_t root = file_open_root(path);
	CLEANUP(close_fd)
	int seen = root ? file_open_inside(path, root, O_PATH | O_CLOEXEC | flags)
			: open(path, O_PATH | O_CLOEXEC | flags);
	struct stat st;
	char self[32];

	if (seen < 0 || fstat(seen, &st) < 0)
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = ENOTBLK; /* an errno that nothing else here returns */
		return -1;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", seen);
	int fd = open(self, FILE_OPEN_FLAGS);
	return fd < 0 && errno == ENOENT ? open(path, FILE_OPEN_FLAGS | flags) : fd; /* without /proc */
}

int file_open(const char *path, int flags)
{
	if (file_open_channel)
		return file_open_ask(path, flags & O_NOFOLLOW);
	int fd = file_open_regular(path, flags & O_NOFOLLOW);
	return fd >= 0 ? fd : -errno;
}

/* /proc/PID/status says what the pid is inside a container, /proc/PID/stat when the process began. */
static bool file_open_is_status(const char *path)
{
	int status = 0, stat = 0;

	sscanf(path, "/proc/%*[0-9]/status%n", &status);
	sscanf(path, "/proc/%*[0-9]/stat%n", &stat);
	return (status && !path[status]) || (stat && !path[stat]);
}

/* Files that no parser of ours wants, but that say much: memory of processes, state of the kernel. What
 * procfs shows depends on our privileges, not only on permissions. */
static bool file_open_is_secret(int fd, const char *path)
{
	struct statfs fs;
	ElfW(Ehdr) header;
	bool is_elf = pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
		      memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;

	if (fstatfs(fd, &fs) != 0 || fs.f_type == PROC_SUPER_MAGIC)
		return !file_open_is_status(path);
	return is_elf && header.e_type == ET_CORE;
}

static bool file_open_is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/* With our own permissions. */
static int file_open_known(const struct file_open_rules *rules, const char *path, int flags)
{
	CLEANUP(close_fd) int fd = file_open_regular(path, flags);
	struct stat st;

	if (fd >= 0 && file_open_is_elf(fd) && fstat(fd, &st) == 0 &&
	    rules->is_known(rules->context, path, &st))
		return TAKE_FD(fd);
	errno = EACCES;
	return -1;
}

int file_open_serve(struct bytes request, const struct file_open_rules *rules)
{
	struct reader r = reader_of(request);
	int flags = (int)read_u32(&r) & O_NOFOLLOW;
	const char *path = read_cstr(&r);

	if (r.failed)
		return -EINVAL;
	int fd = real_user_open_by(rules->user, file_open_regular, path, flags);
	if (fd < 0 && errno == EACCES && rules->is_known)
		fd = file_open_known(rules, path, flags);
	if (fd >= 0 && file_open_is_secret(fd, path)) {
		close(fd);
		return -EACCES;
	}
	return fd >= 0 ? fd : -errno;
}
