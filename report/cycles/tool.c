/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/child.h"
#include "base/cleanup.h"

#define MAX_OUTPUT (16u << 20)
#define MAX_CPU_S 10
#define MAX_MEMORY (4ull << 30) /* of address space: LLVM maps much more than it uses */

struct tool_job {
	const char *path;
	const char *const *args;
	int input, nowhere; /* nowhere: /dev/null, for messages */
};

/* Not in relative folders of PATH: the current one may be anybody's. */
char *tool_find(const char *name)
{
	const char *at = getenv("PATH");

	while (at && *at) {
		size_t len = strcspn(at, ":");
		CLEANUP(freep) char *path = alloc_printf("%.*s/%s", (int)len, at, name);
		struct stat found;
		if (at[0] == '/' && stat(path, &found) == 0 && S_ISREG(found.st_mode) &&
		    access(path, X_OK) == 0)
			return TAKE(path);
		at += len + (at[len] == ':');
	}
	return NULL;
}

static int tool_become(void *context, int result)
{
	const struct tool_job *job = context;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(job->input, STDIN_FILENO) < 0 || dup2(result, STDOUT_FILENO) < 0 ||
	    dup2(job->nowhere, STDERR_FILENO) < 0)
		return CHILD_REFUSED;
	execv(job->path, (char *const *)job->args);
	return CHILD_REFUSED;
}

/* An anonymous file with the input, at its start. */
static int tool_input(struct bytes input)
{
	int fd = memfd_create("cpprof", MFD_CLOEXEC);

	for (size_t at = 0; fd >= 0 && at < input.len;) {
		ssize_t n = write(fd, input.at + at, input.len - at);
		if (n <= 0) {
			int error = n < 0 ? -errno : -EIO;
			close(fd);
			return error;
		}
		at += (size_t)n;
	}
	if (fd < 0)
		return -errno;
	lseek(fd, 0, SEEK_SET);
	return fd;
}

int tool_run(const char *path, const char *const *args, struct bytes input, uint64_t max_ns,
	     struct writer *ret)
{
	struct tool_job job = { path, args, tool_input(input), open("/dev/null", O_WRONLY | O_CLOEXEC) };
	struct child child = { 0 };

	int status = job.input < 0 ? job.input : job.nowhere < 0 ? -errno : 0;
	if (!status)
		status = child_start(&child, &(struct child_options){ .run = tool_become,
								      .context = &job,
								      .is_unprivileged = true,
								      .executes = true,
								      .leads_group = true,
								      .has_result = true,
								      .max_memory = MAX_MEMORY,
								      .max_cpu_s = MAX_CPU_S,
								      .max_ns = max_ns,
								      .max_result = MAX_OUTPUT });
	if (!status)
		status = child_wait(&child);
	if (status >= 0)
		write_bytes(ret, child_result(&child));
	child_done(&child);
	if (job.input >= 0)
		close(job.input);
	if (job.nowhere >= 0)
		close(job.nowhere);
	return status == CHILD_REFUSED ? -ENOEXEC : status;
}
