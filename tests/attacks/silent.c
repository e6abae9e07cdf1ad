/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process whose file system stops answering: what reads of it waits, and no signal ends that.
 *
 *     silent page FOLDER USER    spins in code whose next page is never delivered
 *     silent exec FOLDER USER    never gets past its exec: closing a file is never answered
 *     silent lock FOLDER USER    spins, while its mappings are locked: one thread changes them, after another
 *                                process that reads a page of them
 *
 * Started by root, it does what fusermount does: mounts a file system at FOLDER, in a mount namespace of its
 * own, for USER, who serves it. Prints its pid and that of the server when it is ready; when the server is
 * killed, all who wait get an error.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* unshare */
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PAUSE_US 200000
#define SECONDS 60 /* then it is over, whatever happens */
#define PAGE 4096
#define SIZE (2 * PAGE)

static void check(bool is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	exit(77);
}

/* ---- the file system: a folder with one file --------------------------------------------------- */

static void reply(int fd, const struct fuse_in_header *to, int error, const void *body, size_t len)
{
	uint8_t message[sizeof(struct fuse_out_header) + PAGE];
	struct fuse_out_header header = { .len = (uint32_t)(sizeof(header) + len),
					  .error = error,
					  .unique = to->unique };

	memcpy(message, &header, sizeof(header));
	if (len)
		memcpy(message + sizeof(header), body, len);
	if (write(fd, message, header.len) < 0 && errno == ENODEV)
		_exit(0);
}

static struct fuse_attr attributes(uint64_t node)
{
	bool is_folder = node == FUSE_ROOT_ID;

	return (struct fuse_attr){ .ino = node,
				   .mode = (is_folder ? S_IFDIR : S_IFREG) | 0755,
				   .nlink = 1,
				   .size = is_folder ? 0 : SIZE,
				   .blksize = PAGE };
}

/* A loop at the end of the first page; what follows the loop is on the second. */
static void deliver(int fd, const struct fuse_in_header *to)
{
	static const uint8_t loop[] = {
#if defined(__x86_64__)
		0xeb,
		0xfe /* jmp . */
#else
		0x00,
		0x00,
		0x00,
		0x14 /* b . */
#endif
	};
	uint8_t page[PAGE] = { 0 };

	memcpy(page + PAGE - sizeof(loop), loop, sizeof(loop));
	reply(fd, to, 0, page, PAGE);
}

/* Not before version 7.13 of the protocol would more than one page be asked for. */
static void answer(int fd, const struct fuse_in_header *to, const void *body)
{
	const struct fuse_read_in *wanted = body;
	struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = PAGE };
	struct fuse_entry_out entry = {
		.nodeid = 2, .entry_valid = SECONDS, .attr_valid = SECONDS, .attr = attributes(2)
	};
	struct fuse_attr_out attr = { .attr_valid = SECONDS, .attr = attributes(to->nodeid) };
	struct fuse_open_out file = { .fh = 1 };

	switch (to->opcode) {
	case FUSE_INIT:
		return reply(fd, to, 0, &init, sizeof(init));
	case FUSE_LOOKUP:
		return reply(fd, to, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return reply(fd, to, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
		return reply(fd, to, 0, &file, sizeof(file));
	case FUSE_READ:
		if (wanted->offset == 0)
			deliver(fd, to);
		return;
	case FUSE_FLUSH:
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
	case FUSE_BATCH_FORGET:
		return;
	default:
		return reply(fd, to, -ENOSYS, NULL, 0);
	}
}

static void serve(int fd)
{
	static uint8_t message[1 << 20];

	while (read(fd, message, sizeof(message)) > 0 || errno == EINTR || errno == ENOENT)
		answer(fd, (const struct fuse_in_header *)message, message + sizeof(struct fuse_in_header));
	_exit(0);
}

/* ---- the process ------------------------------------------------------------------------------- */

/* Not /dev/fuse: on some machines only root may open that. */
static int open_device(const char *folder)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s.device", folder);
	check(mknod(path, S_IFCHR | 0600, makedev(10, 229)) == 0 || errno == EEXIST, "mknod");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	check(fd >= 0, "FUSE");
	return fd;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	check(fd >= 0 && write(fd, text, strlen(text)) > 0, path);
	close(fd);
}

/* Returns the pid of the server. */
static pid_t mount_served(const char *folder, unsigned user)
{
	int fd = open_device(folder);
	char options[128];

	check(unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
	      "unshare");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd, user, user);
	check(mount("silent", folder, "fuse", MS_NOSUID | MS_NODEV, options) == 0, "mount");
	check(setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0, "setresuid");
	pid_t us = getpid();
	pid_t server = fork();
	if (server == 0) {
		alarm(SECONDS); /* even if the other process, which waits for us, is not ended by a signal */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == us)
			serve(fd);
		_exit(0);
	}
	close(fd); /* otherwise the file system would outlive its server */
	return server;
}

/* In a user namespace, anybody may put a file at a name that stands for memory without one, where code
 * is read from the process itself. */
static void hide(const char *path, unsigned user)
{
	char map[64];

	snprintf(map, sizeof(map), "0 %u 1", user);
	check(prctl(PR_SET_DUMPABLE, 1) == 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0,
	      "a user namespace");
	put("/proc/self/uid_map", map);
	check(mount(path, "/dev/zero", NULL, MS_BIND, NULL) == 0, "a bind mount");
}

/* Reading a page of another process's memory locks that process's mappings until the page is there. */
static void read_for_ever(pid_t from, const uint8_t *page)
{
	char path[64];
	uint8_t byte;

	alarm(SECONDS);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)from);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	usleep(2 * PAUSE_US);
	_exit(fd >= 0 && pread(fd, &byte, 1, (off_t)(uintptr_t)page) == 1 ? 0 : 1);
}

static void *change_mappings(void *unused)
{
	usleep(3 * PAUSE_US);
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return unused;
}

/* Whoever wants to read the mappings waits behind the one who wants to change them. */
static void lock_mappings(const uint8_t *page)
{
	pid_t us = getpid();
	pthread_t thread;

	check(prctl(PR_SET_DUMPABLE, 1) == 0, "prctl");
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* fails without Yama, where it is not needed */
	if (fork() == 0)
		read_for_ever(us, page);
	check(pthread_create(&thread, NULL, change_mappings, NULL) == 0, "pthread_create");
	for (int i = 0; i < 4; i++) /* the first time, pages that the fork has shared are written */
		usleep(PAUSE_US);
}

int main(int argc, char **argv)
{
	char path[4096];
	unsigned user = argc > 3 ? (unsigned)atoi(argv[3]) : 0;

	check(user != 0, "usage: silent page|exec|lock FOLDER USER");
	bool is_page = strcmp(argv[1], "page") == 0, is_exec = strcmp(argv[1], "exec") == 0;
	alarm(SECONDS);
	pid_t server = mount_served(argv[2], user);
	snprintf(path, sizeof(path), "%s/file", argv[2]);
	if (is_page)
		hide(path, user);
	int fd = open(is_page ? "/dev/zero" : path, O_RDONLY | O_CLOEXEC);
	check(fd >= 0, "open");
	uint8_t *code = is_exec ? NULL : mmap(NULL, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	check(code != MAP_FAILED, "mmap");
	if (code)
		check(*(volatile uint8_t *)code == 0, "the first page");
	char text[64];
	int len = snprintf(text, sizeof(text), "%d %d\n", (int)getpid(), (int)server);
	if (!is_page && !is_exec)
		lock_mappings(code + PAGE);
	check(write(STDOUT_FILENO, text, (size_t)len) == len, "write");
	if (is_exec)
		return execl("/bin/true", "true", (char *)NULL);
#if defined(__x86_64__)
	code += PAGE - 2;
#else
	code += PAGE - 4;
#endif
	((void (*)(void))code)();
	return 0;
}
