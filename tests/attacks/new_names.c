// SPDX-License-Identifier: Apache-2.0
/*
 * new_names names FOLDER N: maps one executable file N times, each time under a new name.
 * new_names memory N MB: maps N programs of MB megabytes in memory, one after the other, and gives each back.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int make_names(const char *folder, long n)
{
	char old[256] = "first", new[256];
	int fd = chdir(folder) == 0 ? open(old, O_RDWR | O_CREAT | O_CLOEXEC, 0755) : -1;

	if (fd < 0 || ftruncate(fd, 4096) < 0)
		return 1;
	for (long i = 0; i < n; i++) {
		snprintf(new, sizeof(new), "%0200ld", i);
		if (rename(old, new) < 0)
			return 1;
		memcpy(old, new, sizeof(old));
		void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		munmap(at, 4096);
	}
	return unlink(old);
}

static int take_memory(long n, long mb)
{
	size_t size = (size_t)mb << 20;
	char head[4096];
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const struct timespec pause = { .tv_sec = 1, .tv_nsec = 200000000 }; /* until cpprof has seen it */

	if (read(self, head, sizeof(head)) != sizeof(head))
		return 1;
	for (long i = 0; i < n; i++) {
		int fd = memfd_create("program", MFD_CLOEXEC);
		if (write(fd, head, sizeof(head)) != sizeof(head) || fallocate(fd, 0, 0, (off_t)size) < 0)
			return 1;
		void *at = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
		nanosleep(&pause, NULL);
		munmap(at, size);
		close(fd);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "names") == 0)
		return make_names(argv[2], atol(argv[3]));
	return argc == 4 ? take_memory(atol(argv[2]), atol(argv[3])) : 2;
}
