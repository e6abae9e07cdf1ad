/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/rehearse.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_NS 500000000ull
#define IOPRIO_OF_PROCESS 1
#define IOPRIO_IDLE (3 << 13) /* of linux/ioprio.h, which is not everywhere */

void rehearsal_init(struct rehearsal *rehearsal, bool is_wanted, uint64_t now_ns)
{
	*rehearsal = (struct rehearsal){ .start_ns = now_ns, .next_ns = is_wanted ? now_ns + FIRST_NS : 0 };
}

bool rehearsal_is_due(struct rehearsal *rehearsal, uint64_t now_ns)
{
	if (!rehearsal->next_ns || now_ns < rehearsal->next_ns)
		return false;
	rehearsal->next_ns = now_ns + (now_ns - rehearsal->start_ns) / 2;
	if (rehearsal->child && waitpid(rehearsal->child, NULL, WNOHANG) == 0)
		return false; /* still at it */
	rehearsal->child = 0;
	return true;
}

/* Time, disk and memory: whatever somebody else wants comes first. False if it would not. */
static bool step_aside(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool is_first_to_go = fd >= 0 && write(fd, "1000", 4) == 4;

	if (fd >= 0)
		close(fd);
	syscall(SYS_ioprio_set, IOPRIO_OF_PROCESS, 0, IOPRIO_IDLE);
	return is_first_to_go && sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }) == 0;
}

/* In the child. Quietly: who looks up the names at the end says what there is to say. */
static int rehearse(struct profile *profile, struct images *images, const struct resolve_options *options,
		    pid_t parent)
{
	struct resolve_options quiet = *options;
	struct diag diag = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || !step_aside())
		return 1;
	quiet.symbolize.n_threads = 1; /* others have their CPU idle for a reason */
	quiet.symbolize.has_time = true;
	quiet.symbolize.progress = NULL;
	quiet.symbolize.search.note = NULL;
	quiet.symbolize.search.fetching = NULL;
	quiet.symbolize.search.asks_debuginfod = false; /* a transfer cut short would have to begin anew */
	int error = resolve(profile, images, &quiet, &diag);
	store_close(quiet.symbolize.store); /* keeps to its size */
	return error < 0;
}

void rehearsal_start(struct rehearsal *rehearsal, struct profile *profile, struct images *images,
		     const struct resolve_options *options)
{
	size_t n_nodes = profile->cct.nodes.n;

	if (n_nodes - rehearsal->n_nodes < rehearsal->n_nodes / 32)
		return;
	rehearsal->n_nodes = n_nodes;
	pid_t parent = getpid(), child = fork();
	if (child == 0)
		_exit(rehearse(profile, images, options, parent));
	rehearsal->child = child > 0 ? child : 0; /* no memory for it now: perhaps next time */
}

void rehearsal_end(struct rehearsal *rehearsal)
{
	if (!rehearsal->child)
		return;
	kill(rehearsal->child, SIGKILL);
	while (waitpid(rehearsal->child, NULL, 0) < 0 && errno == EINTR)
		;
	rehearsal->child = 0;
}
