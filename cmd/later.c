/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/later.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_RUN 127 /* the same as in a shell */

static void later_wait_and_run(int input, const char *const *argv)
{
	struct pollfd waiting = { .fd = input, .events = POLLIN };

	while (poll(&waiting, 1, -1) < 0 && errno == EINTR)
		;
	if (!(waiting.revents & POLLIN))
		_exit(0);
	if (dup2(input, STDIN_FILENO) >= 0)
		execvp(argv[0], (char *const *)argv);
	_exit(NOT_RUN);
}

bool later_fork(struct later *later, const char *const *argv)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	fflush(NULL);
	later->child = fork();
	if (later->child == 0) {
		close(ends[1]);
		later_wait_and_run(ends[0], argv);
	}
	close(ends[0]);
	if (later->child < 0) {
		close(ends[1]);
		return false;
	}
	later->input = ends[1];
	return true;
}

int later_end(struct later *later)
{
	int status = 0;

	if (!later->input)
		return 0;
	close(later->input);
	later->input = 0;
	while (waitpid(later->child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
