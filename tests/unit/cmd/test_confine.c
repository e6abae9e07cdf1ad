/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "base/sanitizer.h"
#include "cmd/browser.h"
#include "cmd/later.h"
#include "tests/test.h"

/* A folder with an input, a folder for the output and an unrelated one. */
struct confined {
	char root[64], input[80], output[80], other[80];
};

static void confined_make(struct confined *c)
{
	snprintf(c->root, sizeof(c->root), "/tmp/confine.XXXXXX");
	CHECK(mkdtemp(c->root) != NULL);
	snprintf(c->input, sizeof(c->input), "%s/in", c->root);
	snprintf(c->output, sizeof(c->output), "%s/out", c->root);
	snprintf(c->other, sizeof(c->other), "%s/other", c->root);
	CHECK_EQ(mkdir(c->output, 0700), 0);
	FILE *file = fopen(c->input, "we");
	CHECK(file != NULL);
	fclose(file);
	file = fopen(c->other, "we");
	CHECK(file != NULL);
	fclose(file);
}

static void confined_remove(const struct confined *c)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", c->root);
	CHECK_EQ(system(command), 0);
}

/* The exit status of a child that confines itself to these and then tries the operation. */
static int confined_try(const struct confine_options *options, int (*attempt)(const struct confined *c),
			const struct confined *c)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		confine(options);
		_exit(attempt(c));
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static bool opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int tries_files(const struct confined *c)
{
	char fresh[96], kept[96], outside[96];

	snprintf(fresh, sizeof(fresh), "%s/new", c->output);
	snprintf(kept, sizeof(kept), "%s/kept", c->output);
	snprintf(outside, sizeof(outside), "%s/new", c->root);
	if (!opens(c->input, O_RDONLY))
		return 1;
	if (!opens(fresh, O_RDWR | O_CREAT | O_EXCL) || rename(fresh, kept) < 0 || unlink(kept) < 0)
		return 2;
	if (opens(c->other, O_RDONLY) || opens("/etc/passwd", O_RDONLY))
		return 3;
	if (opens(c->input, O_WRONLY) || opens(outside, O_WRONLY | O_CREAT) || unlink(c->other) == 0)
		return 4;
	return 0;
}

static int tries_reading_all(const struct confined *c)
{
	if (!opens(c->other, O_RDONLY) || !opens("/etc/passwd", O_RDONLY))
		return 1;
	return opens(c->other, O_WRONLY) ? 2 : 0;
}

static void *does_nothing(void *context)
{
	return context;
}

static int tries_a_socket(const struct confined *c)
{
	(void)c;
	return socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM ? 0 : 1;
}

static int tries_to_get_out(const struct confined *c)
{
	(void)c;
	if (execl("/bin/true", "true", (char *)NULL) == 0 || errno != EPERM)
		return 1;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
		return 2;
	if (syscall(SYS_bpf, 0, NULL, 0) >= 0 || errno != EPERM)
		return 3;
	if (syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0) >= 0 || errno != EPERM)
		return 4;
	if (!HAS_SANITIZER && (fork() >= 0 || errno != EPERM))
		return 5;
	/* What it needs to continue: its memory, threads. */
	int from = 5, to = 0;
	struct iovec here = { &to, sizeof(to) }, there = { &from, sizeof(from) };
	if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != sizeof(to) || to != from)
		return 6;
	pthread_t thread;
	return pthread_create(&thread, NULL, does_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0 ? 0
													 : 7;
}

/* A file that it can read but not write: neither by its name nor through a descriptor. */
static int tries_to_change_a_file(const struct confined *c)
{
	int fd = open(c->input, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return 1;
	if (chmod(c->input, 04755) == 0 || fchmod(fd, 04755) == 0)
		return 2;
	if (syscall(452, AT_FDCWD, c->input, 04755, 0) == 0) /* fchmodat2 */
		return 3;
	if (chown(c->input, 1, 1) == 0 || lchown(c->input, 1, 1) == 0 || fchown(fd, 1, 1) == 0)
		return 4;
	if (setxattr(c->input, "user.a", "b", 1, 0) == 0 || fsetxattr(fd, "user.a", "b", 1, 0) == 0 ||
	    removexattr(c->input, "user.a") == 0 || errno != EPERM)
		return 5;
	return fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0600 && st.st_uid == geteuid() ? 0 : 6;
}

static int tries_others(const struct confined *c)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };
	struct rlimit limit;
	char fresh[96];

	if (prlimit(getppid(), RLIMIT_CORE, NULL, &limit) == 0 || getrlimit(RLIMIT_CORE, &limit) != 0)
		return 1;
	if (syscall(SYS_capget, &header, sets) != 0 || sets[1].permitted || sets[1].effective ||
	    (sets[0].permitted & (CAP_TO_MASK(CAP_CHOWN) | CAP_TO_MASK(CAP_SYS_ADMIN) |
				  CAP_TO_MASK(CAP_SYS_PTRACE) | CAP_TO_MASK(CAP_KILL))))
		return 2;
	if (HAS_SANITIZER)
		return 0;
	if (kill(getppid(), 0) == 0 || setsid() >= 0)
		return 3;
	if (ioctl(STDIN_FILENO, TIOCSTI, "x") == 0 || errno != EPERM)
		return 4;
	snprintf(fresh, sizeof(fresh), "%s/setuid", c->output);
	if (open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 04700) >= 0 || errno != EPERM)
		return 5;
	return 0;
}

/* qemu-user supports neither kind of rule. */
static bool confine_can_be(const struct confined *c)
{
	if (test_is_in_valgrind()) {
		SKIP("valgrind does not survive an exec that is refused");
		return false;
	}
	if (confined_try(&(struct confine_options){ .reads_all = true }, tries_a_socket, c) == 0)
		return true;
	SKIP("the kernel's filters cannot be had here");
	return false;
}

static bool landlock_can_be(void)
{
	return syscall(444, NULL, 0, 1) >= 1;
}

TEST(confined_command_runs_nothing_and_reaches_nobody)
{
	struct confined c;

	confined_make(&c);
	if (confine_can_be(&c))
		CHECK_EQ(confined_try(&(struct confine_options){ .reads_all = true }, tries_to_get_out, &c),
			 0);
	confined_remove(&c);
}

TEST(confined_command_changes_no_mode_owner_or_attribute)
{
	struct confined c;

	confined_make(&c);
	if (confine_can_be(&c)) {
		CHECK_EQ(chmod(c.input, 0600), 0);
		CHECK_EQ(confined_try(&(struct confine_options){ .reads_all = true }, tries_to_change_a_file,
				      &c),
			 0);
		CHECK_EQ(confined_try(&(struct confine_options){ .reads_all = true, .has_children = true },
				      tries_to_change_a_file, &c),
			 0);
	}
	confined_remove(&c);
}

TEST(confined_command_leaves_other_processes_alone)
{
	struct confined c;
	char output[96];

	confined_make(&c);
	snprintf(output, sizeof(output), "%s/profile.json", c.output);
	if (confine_can_be(&c))
		CHECK_EQ(confined_try(&(struct confine_options){ .reads_all = true, .output = output },
				      tries_others, &c),
			 0);
	confined_remove(&c);
}

/* ---- its output --------------------------------------------------------------------------------- */

static int writes_its_output(const struct confined *c)
{
	CLEANUP(fresh_file_done) struct fresh_file file;
	char path[96];

	snprintf(path, sizeof(path), "%s/page.html", c->output);
	if (fresh_file_open(&file, path, 0664) < 0 || write(file.fd, "x", 1) != 1)
		return 1;
	return fresh_file_keep(&file) == 0 ? 0 : 2;
}

/* Also in a folder of another user: only root can be in this position. */
TEST(confined_command_gives_its_output_a_mode_and_an_owner)
{
	bool is_root = geteuid() == 0;
	struct confined c;
	char path[96];
	struct stat st;

	confined_make(&c);
	snprintf(path, sizeof(path), "%s/page.html", c.output);
	if (confine_can_be(&c)) {
		CHECK_EQ(is_root ? chown(c.output, 65534, 65534) : 0, 0);
		setenv("SUDO_UID", "65533", 1);
		setenv("SUDO_GID", "65532", 1);
		mode_t own = umask(077);
		CHECK_EQ(confined_try(&(struct confine_options){ .output = path }, writes_its_output, &c), 0);
		umask(own);
		unsetenv("SUDO_UID");
		unsetenv("SUDO_GID");
		CHECK_EQ(stat(path, &st), 0);
		CHECK_EQ(st.st_mode & 07777, 0664);
		CHECK_EQ(st.st_uid, is_root ? 65533 : geteuid());
		CHECK(!is_root || st.st_gid == 65532);
	}
	confined_remove(&c);
}

TEST(confined_command_has_its_input_and_the_folder_of_its_output)
{
	struct confined c;
	char output[96];
	const char *input = c.input;

	confined_make(&c);
	snprintf(output, sizeof(output), "%s/profile.json", c.output);
	if (landlock_can_be()) {
		CHECK_EQ(confined_try(&(struct confine_options){ &input, 1, .output = output }, tries_files,
				      &c),
			 0);
		CHECK_EQ(confined_try(&(struct confine_options){ .reads_all = true }, tries_reading_all, &c),
			 0);
	} else {
		SKIP("the kernel has no Landlock");
	}
	confined_remove(&c);
}

/* The helper was forked before, so it still runs, but only on request. */
TEST(later_program_runs_only_when_it_gets_input)
{
	char made[] = "/tmp/later.XXXXXX";
	int fd = mkstemp(made);
	struct later asked = { 0 }, unasked = { 0 };

	CHECK(fd >= 0);
	close(fd);
	CHECK(later_fork(&unasked, (const char *const[]){ "rm", made, NULL }));
	CHECK_EQ(later_end(&unasked), 0);
	CHECK_EQ(access(made, F_OK), 0);
	CHECK(later_fork(&asked, (const char *const[]){ "rm", made, NULL }));
	CHECK_EQ(write(asked.input, "", 1), 1);
	CHECK_EQ(later_end(&asked), 0);
	CHECK(access(made, F_OK) < 0);
	struct later missing = { 0 };
	CHECK(later_fork(&missing, (const char *const[]){ "no-such-program", NULL }));
	CHECK_EQ(write(missing.input, "", 1), 1);
	CHECK_EQ(WEXITSTATUS(later_end(&missing)), 127);
}
