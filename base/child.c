/* SPDX-License-Identifier: Apache-2.0 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fence.h"
#include "base/landlock.h"
#include "base/sanitizer.h"

#define IOPRIO_OF_PROCESS 1
#define IOPRIO_IDLE (3 << 13) /* from linux/ioprio.h, which is not installed everywhere */
#define CLOSE_RANGE 436       /* the same on all architectures; newer than some headers */
#define CLOSE_MAX (1u << 20)
#define READ_BYTES 16384
#define NAP_NS 1000000 /* between two polls of a child whose end cannot be waited for with a deadline */

/* ---- in the child ------------------------------------------------------------------------------- */

/* Uses CPU and disk only when they are idle, and is killed first when memory runs out. Returns false if the
 * kernel refuses. */
static bool child_step_aside(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	bool is_first_to_go = fd >= 0 && write(fd, "1000", 4) == 4;

	if (fd >= 0)
		close(fd);
	syscall(SYS_ioprio_set, IOPRIO_OF_PROCESS, 0, IOPRIO_IDLE);
	return is_first_to_go && sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }) == 0;
}

/* more: above this, it is killed even if it ignores the signal of the limit. */
static bool child_limit(__rlimit_resource_t resource, uint64_t value, uint64_t more)
{
	struct rlimit own;

	if (!value)
		return true;
	if (getrlimit(resource, &own) < 0)
		own.rlim_max = RLIM_INFINITY;
	uint64_t most =
		value + more < own.rlim_max ? value + more : own.rlim_max; /* only root may raise it */
	return setrlimit(resource, &(struct rlimit){ value < most ? value : most, most }) == 0;
}

static bool child_drop_capabilities(bool keeps_reading)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, sets) != 0)
		return false;
	uint32_t kept = keeps_reading ? sets[0].permitted & CAP_TO_MASK(CAP_DAC_READ_SEARCH) : 0;
	memset(sets, 0, sizeof(sets));
	sets[0].permitted = sets[0].effective = kept;
	return syscall(SYS_capset, &header, sets) == 0;
}

static bool child_drop_privileges(const struct child_options *options)
{
	const struct rlimit none = { 0, 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || !child_drop_capabilities(!options->is_fenced))
		return false;
	/* Older kernels do not have these rules: there the limit on file sizes has to do. */
	landlock_restrict(
		&(struct landlock_files){ .executes = options->executes, .connects = options->connects });
	return setrlimit(RLIMIT_FSIZE, &none) == 0 && setrlimit(RLIMIT_CORE, &none) == 0;
}

/* If the parent died before the request to die with it took effect, it is no longer our parent. */
static bool child_dies_with(pid_t parent)
{
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

/* From there on; before Linux 5.9 one by one. */
static void child_close_range(unsigned first, unsigned last)
{
	struct rlimit limit;

	if (first > last || syscall(CLOSE_RANGE, first, last, 0) == 0)
		return;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > CLOSE_MAX)
		limit.rlim_cur = CLOSE_MAX;
	for (unsigned fd = first; fd <= last && fd < limit.rlim_cur; fd++)
		close((int)fd);
}

void child_close_from(int first)
{
	child_close_range((unsigned)first, UINT_MAX);
}

/* Of what we have open (the terminal, rings, maps, the store), a fenced child keeps only its way to us. -1:
 * there is none. */
static bool child_close_others(int channel, int end)
{
	const int kept[] = { channel < end ? channel : end, channel < end ? end : channel };
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); /* Landlock may not let us write to it */
	unsigned first = STDERR_FILENO + 1;

	/* A sanitizer says on stderr what it has found. */
	for (int fd = 0; fd < (HAS_SANITIZER ? STDERR_FILENO : STDERR_FILENO + 1); fd++)
		if (fd != channel && fd != end && (nothing < 0 || dup2(nothing, fd) != fd))
			return false;
	for (unsigned i = 0; i < 2; i++) {
		if (kept[i] < (int)first)
			continue;
		child_close_range(first, (unsigned)kept[i] - 1);
		first = (unsigned)kept[i] + 1;
	}
	child_close_range(first, UINT_MAX);
	return true;
}

/* end: of the pipe to us, if there is one. */
static int child_run(const struct child_options *options, pid_t parent, int end)
{
	if (options->is_idle && !child_step_aside())
		return CHILD_REFUSED;
	if (options->is_fenced && !real_user_become(options->user))
		return CHILD_REFUSED;
	if (!options->outlives_us && !child_dies_with(parent)) /* a change of user resets it */
		return CHILD_REFUSED;
	if (options->prepare)
		options->prepare(options->context);
	if (options->is_fenced && !child_close_others(options->channel > 0 ? options->channel : -1, end))
		return CHILD_REFUSED;
	if (!child_limit(RLIMIT_AS, options->max_memory, 0) ||
	    !child_limit(RLIMIT_CPU, options->max_cpu_s, 1))
		return CHILD_REFUSED;
	if ((options->is_unprivileged || options->is_fenced) && !child_drop_privileges(options))
		return CHILD_REFUSED;
	if (options->is_fenced)
		fence_close(options->forks);
	return options->run(options->context, options->has_result ? end : -1);
}

/* ---- beginning ---------------------------------------------------------------------------------- */

/* End of file on this pipe means that the child has ended: so waiting for that can have a deadline. */
static int child_open_pipe(const struct child_options *options, int *ret_ends)
{
	if (!options->has_result && !options->max_ns)
		return 0;
	if (pipe2(ret_ends, O_CLOEXEC) < 0)
		return -errno;
	fcntl(ret_ends[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static void child_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

int child_start(struct child *child, const struct child_options *options)
{
	int ends[2] = { -1, -1 };

	if (child_is_busy(child) || (options->is_at_rest && !options->is_at_rest(options->rest_context)))
		return -EBUSY;
	int error = child_open_pipe(options, ends);
	if (error)
		return error;
	pid_t parent = getpid(), pid = fork();
	if (options->leads_group && pid >= 0) /* in both processes: either may run first */
		setpgid(pid, pid);
	if (pid == 0) {
		child_close(ends[0]);
		_exit(child_run(options, parent, ends[1]));
	}
	error = pid < 0 ? -errno : 0;
	child_close(ends[1]);
	if (error) {
		child_close(ends[0]);
		return error;
	}
	writer_clear(&child->bytes);
	*child = (struct child){ .pid = pid,
				 .result = ends[0],
				 .has_pipe = ends[0] >= 0,
				 .bytes = child->bytes,
				 .max_result = options->max_result ? options->max_result : CHILD_RESULT_MAX,
				 .deadline_ns = options->max_ns ? clock_now_ns() + options->max_ns : 0,
				 .leads_group = options->leads_group,
				 .is_idle = options->is_idle,
				 .was_started = true };
	return 0;
}

/* ---- its end ------------------------------------------------------------------------------------ */

void child_raise(const struct child *child)
{
	const struct sched_param none = { 0 };
	char path[64];
	int pid;

	if (!child->pid)
		return;
	sched_setscheduler(child->pid, SCHED_OTHER, &none);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)child->pid, (int)child->pid);
	FILE *children = fopen(path, "re");
	while (children && fscanf(children, "%d", &pid) == 1)
		sched_setscheduler(pid, SCHED_OTHER, &none);
	if (children)
		fclose(children);
}

static void child_end(struct child *child, int cause)
{
	if (!child->cause)
		child->cause = cause;
	if (child->is_idle) /* to die, it needs a CPU, too */
		child_raise(child);
	kill(child->leads_group ? -child->pid : child->pid, SIGKILL);
}

static void child_close_pipe(struct child *child)
{
	if (child->has_pipe)
		close(child->result);
	child->has_pipe = false;
}

/* Reads what is available; closes the pipe at its end. */
static void child_read(struct child *child)
{
	uint8_t piece[READ_BYTES];
	ssize_t n = 0;

	while (child->has_pipe && (n = read(child->result, piece, sizeof(piece))) > 0) {
		if (child->bytes.len + (size_t)n > child->max_result)
			child_end(child, -EMSGSIZE);
		else if (!child->cause)
			write_bytes(&child->bytes, (struct bytes){ piece, (size_t)n });
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		child_close_pipe(child);
}

/* Once it has ended, kills the rest of its process group. This happens before it is reaped: until then its
 * pid cannot be reused. */
static bool child_end_group(const struct child *child, int flags)
{
	siginfo_t ended = { 0 };
	int failed;

	do
		failed = waitid(P_PID, (id_t)child->pid, &ended, WEXITED | WNOWAIT | flags);
	while (failed && errno == EINTR);
	if (!failed && !ended.si_pid)
		return false;
	kill(-child->pid, SIGKILL);
	return true;
}

static int child_status(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU ? -ETIME : -ECANCELED;
}

/* Has it ended? With WNOHANG in flags, does not wait. */
static bool child_reap(struct child *child, int flags)
{
	int status = 0;
	pid_t got;

	if (child->leads_group && !child_end_group(child, flags))
		return false;
	do
		got = waitpid(child->pid, &status, flags);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return false;
	child_read(child); /* its last output */
	child_close_pipe(child);
	if (child->cause)
		child->status = child->cause;
	else
		child->status = got > 0 ? child_status(status) : -ECANCELED;
	child->pid = 0;
	return true;
}

bool child_is_busy(struct child *child)
{
	if (!child->pid)
		return false;
	child_read(child);
	if (child->deadline_ns && clock_now_ns() >= child->deadline_ns)
		child_end(child, -ETIME);
	return !child_reap(child, WNOHANG);
}

/* Waits until the pipe has something to read or the time is up. */
static void child_await_pipe(struct child *child)
{
	struct pollfd pipe = { .fd = child->result, .events = POLLIN };
	uint64_t now = clock_now_ns();
	int timeout_ms = -1;

	if (child->deadline_ns)
		timeout_ms = now >= child->deadline_ns
				     ? 0
				     : (int)((child->deadline_ns - now) / CLOCK_NS_PER_MS) + 1;
	poll(&pipe, 1, timeout_ms);
}

int child_wait(struct child *child)
{
	if (!child->was_started)
		return -ESRCH;
	while (child_is_busy(child)) {
		if (child->has_pipe && !child->cause)
			child_await_pipe(child);
		else if (child->deadline_ns && !child->cause)
			nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
		else
			child_reap(child, 0);
	}
	return child->status;
}

struct bytes child_result(const struct child *child)
{
	return child->pid ? (struct bytes){ 0 } : writer_bytes(&child->bytes);
}

void child_kill(struct child *child)
{
	if (!child->pid)
		return;
	child_end(child, -ECANCELED);
	child_reap(child, 0);
}

void child_leave(struct child *child)
{
	if (child_is_busy(child))
		child_end(child, -ECANCELED);
}

void child_done(struct child *child)
{
	child_kill(child);
	writer_done(&child->bytes);
	*child = (struct child){ 0 };
}

void child_forget(struct child *child)
{
	if (child->pid)
		child_end(child, -ECANCELED);
	child_close_pipe(child);
	writer_done(&child->bytes);
	*child = (struct child){ 0 };
}
