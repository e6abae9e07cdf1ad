/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_ask: single facts about a process. A daemon needs them for each process that it samples: newer
 * kernels answer with a few bytes, older ones with a text in /proc, which takes ten times as long.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/process/target.h"

/* From linux/pidfd.h (Linux 6.13) and linux/fs.h (Linux 6.11), which are not installed everywhere. */
struct ask_process {
	uint64_t mask, cgroup;
	uint32_t pid, tgid, ppid, ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};
#define ASK_PROCESS _IOWR(0xff, 11, struct ask_process)
#define ASK_CREDENTIALS 2u

struct ask_map {
	uint64_t size, query_flags, query_addr;
	uint64_t start, end, flags, page_size, offset, inode;
	uint32_t major, minor, name_size, build_id_size;
	uint64_t name_addr, build_id_addr;
};
#define ASK_MAP _IOWR('f', 17, struct ask_map)

/* ---- the user ------------------------------------------------------------------------------------------ */

/* The line of /proc/PID/status that starts with name: the first of its four numbers, the real id. */
static bool ask_real_id(const char *status, const char *name, unsigned *ret)
{
	const char *line = strstr(status, name);
	char *end = NULL;

	if (!line)
		return false;
	line += strlen(name);
	*ret = (unsigned)strtoul(line, &end, 10);
	return end > line;
}

static bool ask_status(pid_t pid, struct user *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	CLEANUP(freep) char *text = target_read_file(path, NULL);
	return text && ask_real_id(text, "\nUid:", &ret->uid) && ask_real_id(text, "\nGid:", &ret->gid);
}

/* Not the owner of /proc/PID: a process can choose whether that is root. */
bool target_user(pid_t pid, struct user *ret)
{
	struct ask_process process = { .mask = ASK_CREDENTIALS };
	CLEANUP(close_fd) int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && errno == ESRCH)
		return false;
	if (fd < 0 || ioctl(fd, ASK_PROCESS, &process) < 0 || !(process.mask & ASK_CREDENTIALS))
		return ask_status(pid, ret);
	ret->uid = process.ruid;
	ret->gid = process.rgid;
	return true;
}

/* ---- a mapping ----------------------------------------------------------------------------------------- */

struct ask_search {
	uint64_t addr;
	struct target_range found;
};

static void ask_match(void *context, const struct target_map *map)
{
	struct ask_search *search = context;

	if (search->addr >= map->start && search->addr < map->end)
		search->found = (struct target_range){ map->start, map->end };
}

struct target_range target_map_at(pid_t pid, uint64_t addr)
{
	struct ask_map map = { .size = sizeof(map), .query_addr = addr };
	struct ask_search search = { .addr = addr };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return search.found;
	if (ioctl(fd, ASK_MAP, &map) == 0)
		return (struct target_range){ map.start, map.end };
	if (errno != ENOENT) /* that would be the answer; otherwise the kernel, or an emulator, cannot tell */
		target_maps(pid, ask_match, &search);
	return search.found;
}
