/* SPDX-License-Identifier: Apache-2.0 */
/* (That it does not wait for a process that never answers: tests/attacks/silent.sh.) */
#include "collector/process/envoy.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "tests/test.h"

#define BYTES (600u << 10) /* more than one answer */

static uint8_t memory[BYTES];

/* A process of user 65534 with a copy of our memory. */
static pid_t start_foreign(void)
{
	int ready[2];
	char byte;

	CHECK_EQ(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0 &&
		    write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(another_users_process_is_read_through_a_child)
{
	if (geteuid() != 0)
		SKIP("needs root, to be another user");
	for (size_t i = 0; i < BYTES; i++)
		memory[i] = (uint8_t)(i * 7 + i / 256);
	struct envoy *envoy = envoy_new();
	pid_t pid = start_foreign();
	CLEANUP(freep) uint8_t *copy = alloc_zero(1, BYTES);
	char path[64];

	envoy_use(envoy);
	CHECK_EQ(envoy_read_memory(pid, (uintptr_t)memory, copy, BYTES), BYTES);
	CHECK_EQ(memcmp(copy, memory, BYTES), 0);
	CHECK(envoy_read_memory(pid, 0, copy, 1) < 0);
	CHECK(!envoy_is_silent(pid));

	struct target_range map = envoy_map_at(pid, (uintptr_t)memory);
	CHECK(map.start <= (uintptr_t)memory && map.end > (uintptr_t)memory);

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	size_t len = 0;
	CLEANUP(freep) char *maps = envoy_read_file(pid, path, &len);
	CHECK(maps && len > 0 && strlen(maps) == len);

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	CLEANUP(close_fd) int fd = envoy_open(pid, path);
	CHECK(fd >= 0);
	CHECK(envoy_open(pid, "/proc/none") < 0);
	CHECK_EQ(envoy_n_refused(envoy), 0);
	end(pid);
	envoy_free(envoy);
}

TEST(a_process_of_ours_is_read_directly)
{
	struct envoy *envoy = envoy_new();
	uint32_t number = 0x12345678, copy = 0;

	envoy_use(envoy);
	CHECK_EQ(envoy_read_memory(getpid(), (uintptr_t)&number, &copy, sizeof(copy)), sizeof(copy));
	CHECK_EQ(copy, number);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1); /* no child */
	envoy_free(envoy);
}
