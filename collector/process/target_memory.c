/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target_memory: the mappings of a process, and what is in its memory.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/process/envoy.h"

struct cursor {
	const char *at, *end;
	bool failed;
};

static uint64_t target_take_number(struct cursor *c, unsigned base, char until)
{
	uint64_t value = 0;
	const char *start = c->at;

	for (; c->at < c->end && isxdigit((unsigned char)*c->at); c->at++) {
		unsigned char digit = (unsigned char)tolower((unsigned char)*c->at);
		value = value * base + (unsigned)(isdigit(digit) ? digit - '0' : 10 + digit - 'a');
	}
	if (c->at == start || c->at - start > 20 || c->at >= c->end || *c->at != until)
		c->failed = true;
	else
		c->at++;
	return value;
}

static void target_take_permissions(struct cursor *c, struct target_map *ret)
{
	if (c->end - c->at < 5 || c->at[4] != ' ') {
		c->failed = true;
		return;
	}
	ret->is_readable = c->at[0] == 'r';
	ret->is_writable = c->at[1] == 'w';
	ret->is_executable = c->at[2] == 'x';
	c->at += 5;
}

static void target_take_path(struct cursor *c, struct target_map *ret)
{
	static const char deleted[] = " (deleted)";
	size_t len = sizeof(deleted) - 1;

	while (c->at < c->end && *c->at == ' ')
		c->at++;
	ret->path = c->at;
	ret->path_len = (size_t)(c->end - c->at);
	if (ret->path_len > len && memcmp(c->end - len, deleted, len) == 0) {
		ret->path_len -= len;
		ret->is_deleted = true;
	}
}

bool target_parse_map(const char *line, size_t len, struct target_map *ret)
{
	struct cursor c = { line, line + len, false };
	struct target_map map = { 0 };

	map.start = target_take_number(&c, 16, '-');
	map.end = target_take_number(&c, 16, ' ');
	target_take_permissions(&c, &map);
	map.offset = target_take_number(&c, 16, ' ');
	map.major = (uint32_t)target_take_number(&c, 16, ':');
	map.minor = (uint32_t)target_take_number(&c, 16, ' ');
	const char *inode = c.at;
	while (c.at < c.end && isdigit((unsigned char)*c.at))
		map.inode = map.inode * 10 + (uint64_t)(*c.at++ - '0');
	if (c.failed || c.at == inode || (c.at < c.end && *c.at != ' ') || map.end <= map.start)
		return false;
	target_take_path(&c, &map);
	*ret = map;
	return true;
}

int target_maps(pid_t pid, void (*visit)(void *context, const struct target_map *map), void *context)
{
	char path[64];
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	CLEANUP(freep) char *text = envoy_read_file(pid, path, &len);
	if (!text)
		return errno == ENOENT ? -ESRCH : -errno;
	for (char *line = text; line < text + len;) {
		size_t line_len = strcspn(line, "\n");
		struct target_map map;
		line[line_len] = 0; /* so that the path is terminated */
		if (target_parse_map(line, line_len, &map)) {
			line[(size_t)(map.path - line) + map.path_len] = 0;
			visit(context, &map);
		}
		line += line_len + 1;
	}
	return 0;
}

static ssize_t target_read_mem_file(pid_t pid, uint64_t addr, void *to, size_t len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	ssize_t n = pread(fd, to, len, (off_t)addr);
	return n < 0 ? -errno : n;
}

ssize_t target_read_memory(pid_t pid, uint64_t addr, void *to, size_t len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)addr, len };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (n < 0 && errno == ENOSYS) /* a kernel without CONFIG_CROSS_MEMORY_ATTACH, or qemu-user */
		return target_read_mem_file(pid, addr, to, len);
	return n < 0 ? -errno : n;
}
