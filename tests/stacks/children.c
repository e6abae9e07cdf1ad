/* SPDX-License-Identifier: Apache-2.0 */
/* Children that share their parent's memory: one on its stack (vfork), one on a stack of its own (clone). */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

static int run_clone(void *unused)
{
	(void)unused;
	spin(0.15);
	return 0;
}

int main(void)
{
	const size_t size = 256 << 10;
	char *stack = malloc(size);
	pid_t child = vfork();

	if (child == 0) {
		spin(0.15);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	child = clone(run_clone, stack + size, CLONE_VM | SIGCHLD, NULL);
	return child < 0 || waitpid(child, NULL, 0) < 0;
}
