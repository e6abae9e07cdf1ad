/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/child.h"
#include "base/cleanup.h"
#include "base/file_open.h"
#include "base/sanitizer.h"
#include "base/store.h"
#include "tests/test.h"

/* What a sandboxed child of the tests can use. */
struct fenced {
	int ends[2];
	struct channel channel;
	char path[64];
	uint64_t realm;
};

/* Runs `run` in a child behind the fence; returns its exit status. Meanwhile serve answers its requests. */
static int fenced_run(struct fenced *fenced, int (*run)(void *context, int result),
		      void (*serve)(struct fenced *fenced, int kind, struct bytes message))
{
	struct child child = { 0 };
	struct child_options options = { .run = run, .context = fenced, .is_fenced = true };
	struct writer message = { 0 };
	int kind;

	CHECK_EQ(channel_pair(fenced->ends), 0);
	channel_init(&fenced->channel, fenced->ends[1]);
	options.channel = fenced->ends[1];
	CHECK_EQ(child_start(&child, &options), 0);
	close(fenced->ends[1]);
	const struct channel_end end = { .socket = fenced->ends[0] };
	while ((kind = channel_receive(&end, &message)) > 0)
		if (serve)
			serve(fenced, kind, writer_bytes(&message));
	writer_done(&message);
	close(fenced->ends[0]);
	int status = child_wait(&child);
	child_done(&child);
	return status;
}

static bool fence_is_there(void)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];
	bool is_there = false;

	while (status && fgets(line, sizeof(line), status))
		is_there |= strncmp(line, "Seccomp:", 8) == 0;
	if (status)
		fclose(status);
	return is_there;
}

/* qemu-user does not support seccomp filters. */
static int fence_tried(void *context, int result)
{
	(void)context;
	(void)result;
	return open("/dev/null", O_RDONLY) < 0 && errno == EPERM ? 0 : 3;
}

static bool fence_holds(void)
{
	struct fenced fenced;

	return fence_is_there() && fenced_run(&fenced, fence_tried, NULL) == 0;
}

static int child_tries_the_fence(void *context, int result)
{
	(void)context;
	(void)result;
	if (open("/etc/passwd", O_RDONLY) >= 0 || errno != EPERM)
		return 1;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || mkdir("/tmp/cpprof-fenced", 0700) == 0)
		return 2;
	if (execl("/bin/true", "true", (char *)NULL) >= 0 || errno != EPERM)
		return 3;
	struct rlimit limit;
	if (kill(getppid(), 0) == 0 || prlimit(getppid(), RLIMIT_CORE, NULL, &limit) == 0)
		return 5;
	if (getrlimit(RLIMIT_CORE, &limit) != 0)
		return 6;
	void *memory = malloc(1 << 24); /* allocating memory is allowed */
	if (!memory)
		return 4;
	free(memory);
	return 0;
}

TEST(a_fenced_child_opens_and_runs_nothing)
{
	struct fenced fenced = { 0 };

	if (!fence_holds())
		SKIP("the kernel, or what emulates it, knows no filters of system calls");
	CHECK_EQ(fenced_run(&fenced, child_tries_the_fence, NULL), 0);
}

/* ---- descriptors -------------------------------------------------------------------------------- */

static int child_counts_descriptors(void *context, int result)
{
	struct fenced *fenced = context;
	struct stat st;
	int n = 0;

	for (int fd = 0; fd <= 512; fd++) {
		if (fstat(fd, &st) < 0 || (fd == STDERR_FILENO && HAS_SANITIZER))
			continue;
		bool is_nothing = S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3);
		if (fd <= STDERR_FILENO ? is_nothing : fd == fenced->ends[1] || fd == result)
			n++;
		else
			return 100 + fd % 100;
	}
	return write(result, "x", 1) == 1 ? n : 99;
}

TEST(a_fenced_child_keeps_only_its_way_to_us)
{
	struct fenced fenced = { 0 };
	struct child child = { 0 };
	int high = fcntl(STDOUT_FILENO, F_DUPFD, 500), low = dup(STDOUT_FILENO);

	CHECK_EQ(channel_pair(fenced.ends), 0);
	CHECK(high >= 500 && low >= 0);
	struct child_options options = { .run = child_counts_descriptors,
					 .context = &fenced,
					 .is_fenced = true,
					 .channel = fenced.ends[1],
					 .has_result = true };
	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(child_wait(&child), HAS_SANITIZER ? 4 : 5);
	CHECK_EQ(child_result(&child).len, 1);
	child_done(&child);
	close(high);
	close(low);
	close(fenced.ends[0]);
	close(fenced.ends[1]);
}

/* ---- children ----------------------------------------------------------------------------------- */

static int child_tries_to_fork(void *context, int result)
{
	(void)context;
	(void)result;
	return fork() < 0 && errno == EPERM ? 0 : 1;
}

TEST(a_fenced_child_has_no_children)
{
	struct fenced fenced = { 0 };

	if (!fence_holds())
		SKIP("the kernel, or what emulates it, knows no filters of system calls");
	CHECK_EQ(fenced_run(&fenced, child_tries_to_fork, NULL), 0);
}

/* Its child would wait forever. */
static int child_leaves_a_child(void *context, int result)
{
	(void)context;
	(void)result;
	if (setsid() >= 0 || errno != EPERM || setpgid(0, getppid()) == 0)
		return 1;
	if (unshare(CLONE_NEWUSER) == 0 || syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) >= 0)
		return 2;
	pid_t pid = fork();
	while (pid == 0) {
		if (setsid() >= 0 || setpgid(0, 0) == 0)
			_exit(1);
		poll(NULL, 0, -1);
	}
	return pid < 0 ? 3 : 0;
}

TEST(children_of_a_fenced_child_end_with_it)
{
	struct fenced fenced = { 0 };
	struct child child = { 0 };
	struct child_options options = { .run = child_leaves_a_child,
					 .context = &fenced,
					 .is_fenced = true,
					 .forks = true,
					 .leads_group = true };
	char byte;

	if (!fence_holds())
		SKIP("the kernel, or what emulates it, knows no filters of system calls");
	CHECK_EQ(channel_pair(fenced.ends), 0);
	setsockopt(fenced.ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ .tv_sec = 20 },
		   sizeof(struct timeval));
	options.channel = fenced.ends[1];
	CHECK_EQ(child_start(&child, &options), 0);
	close(fenced.ends[1]);
	CHECK_EQ(child_wait(&child), 0);
	CHECK_EQ(recv(fenced.ends[0], &byte, 1, 0), 0); /* nobody has the other end any more */
	close(fenced.ends[0]);
	child_done(&child);
}

/* ---- files -------------------------------------------------------------------------------------- */

static int child_asks_for_files(void *context, int result)
{
	struct fenced *fenced = context;
	char text[8] = "";

	(void)result;
	file_open_through(&fenced->channel);
	int fd = file_open(fenced->path, 0);
	if (fd < 0 || read(fd, text, sizeof(text)) != 5 || memcmp(text, "hello", 5) != 0)
		return 1;
	if (file_open("/no/such/file", 0) != -ENOENT)
		return 2;
	return file_open("/dev/null", 0) == -ENOTBLK ? 0 : 3;
}

static void serve_files(struct fenced *fenced, int kind, struct bytes message)
{
	CHECK_EQ(kind, CHANNEL_OPEN);
	CLEANUP(close_fd) int fd = file_open_serve(message, &(struct file_open_rules){ 0 });
	const struct channel_end end = { .socket = fenced->ends[0] };
	channel_answer(&end, fd < 0 ? fd : 0, fd, (struct bytes){ 0 });
}

TEST(a_fenced_child_gets_files_from_its_parent)
{
	struct fenced fenced = { .path = "/tmp/cpprof-fence-XXXXXX" };
	int fd = mkstemp(fenced.path);

	CHECK(fd >= 0 && write(fd, "hello", 5) == 5);
	close(fd);
	CHECK_EQ(fenced_run(&fenced, child_asks_for_files, serve_files), 0);
	unlink(fenced.path);
}

static int serve_path(const char *path, const struct file_open_rules *rules)
{
	struct writer request = { 0 };

	write_u32(&request, 0);
	write_bytes(&request, (struct bytes){ (const uint8_t *)path, strlen(path) + 1 });
	int fd = file_open_serve(writer_bytes(&request), rules);
	writer_done(&request);
	return fd;
}

static bool is_that_file(const void *context, const char *path, const struct stat *st)
{
	return *(const ino_t *)context == st->st_ino && strstr(path, "cpprof-secret");
}

TEST(requested_files_are_opened_with_the_permissions_of_the_user)
{
	const struct user nobody = { 65534, 65534 };
	struct file_open_rules rules = { .user = &nobody };
	char path[] = "/tmp/cpprof-secret-XXXXXX";
	struct stat st;

	if (geteuid() != 0)
		SKIP("needs root, to be somebody else");
	int fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, "secret", 6) == 6 && fstat(fd, &st) == 0);
	CHECK_EQ(serve_path(path, &rules), -EACCES);
	CHECK(pwrite(fd, "\177ELF", 4, 0) == 4);
	CHECK_EQ(serve_path(path, &rules), -EACCES); /* also if it is an ELF file */
	ino_t other = st.st_ino + 1;
	rules.is_known = is_that_file;
	rules.context = &other;
	CHECK_EQ(serve_path(path, &rules), -EACCES);
	rules.context = &st.st_ino; /* unless it is known */
	int elf = serve_path(path, &rules);
	CHECK(elf >= 0);
	close(elf);
	CHECK(pwrite(fd, "text", 4, 0) == 4);
	CHECK_EQ(serve_path(path, &rules), -EACCES);
	close(fd);
	unlink(path);
	CHECK_EQ(file_open_serve((struct bytes){ 0 }, &rules), -EINVAL);
}

TEST(memory_of_processes_is_not_opened)
{
	const struct file_open_rules rules = { 0 };
	char path[] = "/tmp/cpprof-core-XXXXXX";
	ElfW(Ehdr) header = { .e_ident = ELFMAG, .e_type = ET_DYN };
	int file = mkstemp(path);

	CHECK(file >= 0 && write(file, &header, sizeof(header)) == sizeof(header));
	int fd = serve_path(path, &rules);
	CHECK(fd >= 0);
	close(fd);
	header.e_type = ET_CORE;
	CHECK_EQ(pwrite(file, &header, sizeof(header), 0), sizeof(header));
	CHECK_EQ(serve_path(path, &rules), -EACCES);
	CHECK_EQ(serve_path("/proc/1/maps", &rules), -EACCES);
	CHECK_EQ(serve_path("/proc/version", &rules), -EACCES);
	fd = serve_path("/proc/1/status", &rules);
	CHECK(fd >= 0);
	close(fd);
	close(file);
	unlink(path);
}

/* ---- the store ---------------------------------------------------------------------------------- */

static const struct store_key fence_key = { "lines", 3, { 1, 2 } };
static struct store *served;

static int child_uses_the_store(void *context, int result)
{
	struct fenced *fenced = context;
	struct store *store = store_open_channel(&fenced->channel, fenced->realm);
	const struct store_key other = { "lines", 3, { 9, 9 } };

	(void)result;
	struct bytes got = store_get(store, &fence_key);
	if (got.len != 3 || memcmp(got.at, "old", 3) != 0)
		return 1;
	store_release(got);
	if (store_get(store, &other).len)
		return 2;
	store_put(store, &other, (struct bytes){ (const uint8_t *)"new", 3 });
	got = store_get(store, &other);
	return got.len == 3 && memcmp(got.at, "new", 3) == 0 ? 0 : 3;
}

static void serve_store(struct fenced *fenced, int kind, struct bytes message)
{
	if (kind == CHANNEL_PUT) {
		store_serve_put(served, fenced->realm, message);
		return;
	}
	CLEANUP(close_fd) int fd = store_serve_get(served, fenced->realm, message);
	const struct channel_end end = { .socket = fenced->ends[0] };
	channel_answer(&end, fd < 0 ? fd : 0, fd, (struct bytes){ 0 });
}

TEST(a_fenced_child_uses_the_store_through_its_parent)
{
	struct fenced fenced = { 0 };
	char path[] = "/tmp/cpprof-store-XXXXXX", command[64];

	CHECK(mkdtemp(path));
	served = store_open(path, 0);
	store_put(served, &fence_key, (struct bytes){ (const uint8_t *)"old", 3 });
	CHECK_EQ(fenced_run(&fenced, child_uses_the_store, serve_store), 0);
	/* A kind is part of a file name: path separators are refused. */
	CHECK_EQ(store_serve_get(served, 0,
				 (struct bytes){ (const uint8_t *)"../a\0........................", 28 }),
		 -ENOENT);
	CHECK_EQ(store_serve_get(served, 0, (struct bytes){ 0 }), -ENOENT);
	store_close(served);
	snprintf(command, sizeof(command), "rm -r %s", path);
	CHECK_EQ(system(command), 0);
}

/* Stores its own data under another's key. */
static int child_in_a_realm(void *context, int result)
{
	struct fenced *fenced = context;
	struct store *store = store_open_channel(&fenced->channel, fenced->realm);

	(void)result;
	if (store_get(store, &fence_key).len)
		return 1;
	store_put(store, &fence_key, (struct bytes){ (const uint8_t *)"lie", 3 });
	struct bytes got = store_get(store, &fence_key);
	return got.len == 3 && memcmp(got.at, "lie", 3) == 0 ? 0 : 2;
}

TEST(a_child_in_a_realm_changes_nothing_outside_of_it)
{
	struct fenced first = { .realm = 77 }, second = { .realm = 78 };
	char path[] = "/tmp/cpprof-store-XXXXXX", command[64];

	CHECK(mkdtemp(path));
	served = store_open(path, 0);
	store_put(served, &fence_key, (struct bytes){ (const uint8_t *)"old", 3 });
	CHECK_EQ(fenced_run(&first, child_in_a_realm, serve_store), 0);
	CHECK_EQ(fenced_run(&second, child_in_a_realm, serve_store), 0);
	CHECK_EQ(fenced_run(&first, child_in_a_realm, serve_store), 1); /* it finds its own entry */
	struct bytes got = store_get(served, &fence_key);
	CHECK(got.len == 3 && memcmp(got.at, "old", 3) == 0);
	store_release(got);
	store_close(served);
	snprintf(command, sizeof(command), "rm -r %s", path);
	CHECK_EQ(system(command), 0);
}
