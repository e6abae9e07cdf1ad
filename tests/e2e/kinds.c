/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds: waits once for each kind of wait, each on its own call path, for at least WAIT_MS. Prints for each
 * the function and the kind; or "skipped", the function, and the reason, if that wait is not possible here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 80
#define HERE __attribute__((noinline)) static void
/* Prevents a tail call, so that the function stays on the stack. */
#define STAYS __asm__ volatile("" ::: "memory")

static int ends[2]; /* the read end, and the write end for the thread that ends the wait */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t is_ready;
static pid_t child;
static int faults_fd;
static char *missing; /* a page that is missing until userfaultfd provides it */
static char c;

static void must(int is_right, const char *what)
{
	if (is_right)
		return;
	perror(what);
	exit(1);
}

__attribute__((noinline)) static void pause_here(void)
{
	struct timespec t = { 0, WAIT_MS * 1000000 };

	while (nanosleep(&t, &t))
		;
}

/* ---- threads that end the waits --------------------------------------------------------------- */

static void *write_later(void *argument)
{
	pause_here();
	must(write(ends[1], "\n", 1) == 1, "write");
	return argument;
}

static void *unlock_later(void *argument)
{
	pthread_mutex_lock(&lock);
	pthread_barrier_wait(&is_ready);
	pause_here();
	pthread_mutex_unlock(&lock);
	return argument;
}

static void *give_page_later(void *argument)
{
	static char page[65536];
	struct uffdio_copy copy = { .dst = (uintptr_t)missing,
				    .src = (uintptr_t)page,
				    .len = (uint64_t)sysconf(_SC_PAGESIZE) };

	pause_here();
	must(ioctl(faults_fd, UFFDIO_COPY, &copy) == 0, "UFFDIO_COPY");
	return argument;
}

/* ---- the waits -------------------------------------------------------------------------------- */

HERE sleep_here(void)
{
	pause_here();
	STAYS;
}

HERE futex_here(void)
{
	pthread_barrier_wait(&is_ready);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	STAYS;
}

HERE pipe_here(void)
{
	must(read(ends[0], &c, 1) == 1, "read");
	STAYS;
}

HERE socket_here(void)
{
	must(recv(ends[0], &c, 1, 0) == 1, "recv");
	STAYS;
}

HERE tty_here(void)
{
	must(read(ends[0], &c, 1) == 1, "read");
	STAYS;
}

HERE poll_here(void)
{
	struct pollfd it = { .fd = ends[0], .events = POLLIN };

	must(poll(&it, 1, -1) == 1, "poll");
	STAYS;
}

HERE select_here(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(ends[0], &set);
	must(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1, "select");
	STAYS;
}

HERE epoll_here(void)
{
	struct epoll_event it = { .events = EPOLLIN };
	int fd = epoll_create1(0);

	must(epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &it) == 0, "epoll_ctl");
	must(epoll_wait(fd, &it, 1, -1) == 1, "epoll_wait");
	close(fd);
	STAYS;
}

HERE file_here(void) /* a lock on a file */
{
	struct flock it = { .l_type = F_WRLCK };

	must(fcntl(ends[0], F_SETLKW, &it) == 0, "F_SETLKW");
	STAYS;
}

HERE fault_here(void)
{
	c = *(volatile char *)missing;
	STAYS;
}

HERE child_here(void)
{
	must(waitpid(child, NULL, 0) == child, "waitpid");
	STAYS;
}

HERE vfork_here(void)
{
	pid_t it = vfork();

	if (it == 0) {
		pause_here();
		_exit(0);
	}
	STAYS;
}

HERE stop_here(void)
{
	raise(SIGSTOP);
	STAYS;
}

HERE signal_here(void) /* has no kind of its own */
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(sigwaitinfo(&set, NULL) == SIGUSR1, "sigwaitinfo");
	STAYS;
}

/* ---- preparation of the waits ----------------------------------------------------------------- */

static const char *make_pipe(void)
{
	return pipe(ends) ? strerror(errno) : NULL;
}

static const char *make_sockets(void)
{
	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) ? strerror(errno) : NULL;
}

static const char *make_tty(void)
{
	ends[1] = posix_openpt(O_RDWR | O_NOCTTY);
	if (ends[1] < 0 || grantpt(ends[1]) || unlockpt(ends[1]))
		return strerror(errno);
	ends[0] = open(ptsname(ends[1]), O_RDWR | O_NOCTTY);
	return ends[0] < 0 ? strerror(errno) : NULL;
}

static const char *make_page(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_api api = { .api = UFFD_API };

	faults_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	missing = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (uintptr_t)missing, page },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	if (faults_fd < 0 || ioctl(faults_fd, UFFDIO_API, &api) || ioctl(faults_fd, UFFDIO_REGISTER, &range))
		return strerror(errno);
	return NULL;
}

/* Another process takes the lock first: file locks are per process. */
static const char *make_locked_file(void)
{
	struct flock it = { .l_type = F_WRLCK };
	int told[2];

	FILE *file = tmpfile();
	if (!file || pipe(told))
		return strerror(errno);
	ends[0] = fileno(file);
	child = fork();
	if (child == 0) {
		must(fcntl(ends[0], F_SETLKW, &it) == 0, "F_SETLKW");
		must(write(told[1], "", 1) == 1, "write");
		pause_here();
		_exit(0);
	}
	must(read(told[0], &c, 1) == 1, "read");
	return NULL;
}

/* Bypasses the page cache. Each read waits for less than a millisecond, so there are many. */
#define DISK_BYTES 4096
static char block[DISK_BYTES] __attribute__((aligned(DISK_BYTES)));

HERE disk_here(void)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		must(pread(ends[0], block, sizeof(block), 0) == sizeof(block), "pread");
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 + (now.tv_nsec - start.tv_nsec) / 1000000 < 4 * WAIT_MS);
	STAYS;
}

static const char *make_disk(void)
{
	struct rusage before, after;

	ends[0] = open("kinds.disk", O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0600);
	if (ends[0] < 0)
		return strerror(errno);
	unlink("kinds.disk");
	if (pwrite(ends[0], block, sizeof(block), 0) != sizeof(block) || fsync(ends[0]))
		return strerror(errno);
	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < 16; i++)
		must(pread(ends[0], block, sizeof(block), 0) == sizeof(block), "pread");
	getrusage(RUSAGE_THREAD, &after);
	return after.ru_nvcsw - before.ru_nvcsw < 8 ? "the disk answers at once" : NULL;
}

static const char *make_child(void)
{
	child = fork();
	if (child == 0) {
		pause_here();
		_exit(0);
	}
	return NULL;
}

/* A child that ends the wait with a signal; sent twice, in case the wait has not begun yet. */
static const char *make_signaller(int first, int second)
{
	child = fork();
	if (child == 0) {
		pause_here();
		kill(getppid(), first);
		for (int i = 0; second && i < 5; i++) {
			pause_here();
			kill(getppid(), second);
		}
		_exit(0);
	}
	return NULL;
}

static const char *make_continuer(void)
{
	return make_signaller(SIGCONT, SIGCONT);
}

static const char *make_caller(void)
{
	return make_signaller(SIGUSR1, 0);
}

static const struct part {
	const char *name, *kind;
	void (*act)(void);
	const char *(*make)(void); /* the reason if it is not possible, or NULL */
	void *(*ender)(void *);
} parts[] = {
	{ "sleep_here", "sleep", sleep_here, NULL, NULL },
	{ "futex_here", "futex", futex_here, NULL, unlock_later },
	{ "pipe_here", "pipe", pipe_here, make_pipe, write_later },
	{ "socket_here", "socket", socket_here, make_sockets, write_later },
	{ "tty_here", "tty", tty_here, make_tty, write_later },
	{ "poll_here", "poll", poll_here, make_pipe, write_later },
	{ "select_here", "poll", select_here, make_pipe, write_later },
	{ "epoll_here", "poll", epoll_here, make_pipe, write_later },
	{ "file_here", "file", file_here, make_locked_file, NULL },
	{ "fault_here", "page fault", fault_here, make_page, give_page_later },
	{ "child_here", "child", child_here, make_child, NULL },
	{ "vfork_here", "vfork", vfork_here, NULL, NULL },
	{ "stop_here", "stopped", stop_here, make_continuer, NULL },
	{ "signal_here", "other", signal_here, make_caller, NULL },
	/* Must be last: after very many waits of a thread, the next ones may not be sampled. */
	{ "disk_here", "disk", disk_here, make_disk, NULL },
};

int main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	pthread_barrier_init(&is_ready, NULL, 2);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct part *part = &parts[i];
		const char *why = part->make ? part->make() : NULL;
		pthread_t ender;

		if (why) {
			printf("skipped %s: %s\n", part->name, why);
			continue;
		}
		if (part->ender)
			must(pthread_create(&ender, NULL, part->ender, NULL) == 0, "pthread_create");
		part->act();
		if (part->ender)
			pthread_join(ender, NULL);
		printf("%s %s\n", part->name, part->kind);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
