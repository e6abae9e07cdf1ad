/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/checkpoint.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COST_FACTOR 20 /* forking a large process stops it for a moment: at most 5 % of the time */

void checkpoint_init(struct checkpoint *checkpoint, uint64_t interval_ns, uint64_t now_ns)
{
	*checkpoint = (struct checkpoint){ .interval_ns = interval_ns, .next_ns = now_ns + interval_ns };
}

bool checkpoint_is_due(struct checkpoint *checkpoint, uint64_t now_ns)
{
	if (!checkpoint->interval_ns || now_ns < checkpoint->next_ns)
		return false;
	if (checkpoint->writer && waitpid(checkpoint->writer, NULL, WNOHANG) == 0) {
		checkpoint->next_ns = now_ns + checkpoint->interval_ns; /* still at it */
		return false;
	}
	checkpoint->writer = 0;
	return true;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void checkpoint_write(struct checkpoint *checkpoint, struct output *output, struct profile *profile,
		      uint64_t now_ns)
{
	struct diag diag = { 0 };
	pid_t pid = fork();

	if (pid == 0) {
		profile->run.is_checkpoint = 1;
		_exit(output_write(output, profile, &diag) < 0);
	}

	uint64_t cost = clock_ns() - now_ns;
	uint64_t pause =
		cost * COST_FACTOR > checkpoint->interval_ns ? cost * COST_FACTOR : checkpoint->interval_ns;
	checkpoint->next_ns = now_ns + pause;
	if (pid < 0)
		return; /* no memory for it now; perhaps next time */
	checkpoint->writer = pid;
	output->has_rotated = true; /* it keeps the last file, we must not do so again */
}

void checkpoint_wait(struct checkpoint *checkpoint)
{
	while (checkpoint->writer && waitpid(checkpoint->writer, NULL, 0) < 0 && errno == EINTR)
		;
	checkpoint->writer = 0;
}
