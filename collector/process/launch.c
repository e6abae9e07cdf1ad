/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch: uses two pipes. The child waits for a byte on one; the other is closed by a successful exec, and
 * carries an errno if exec fails.
 */
#include "collector/process/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noreturn)) static void run_child(char *const *argv, const sigset_t *signals, int go, int error)
{
	char byte;

	if (signals)
		sigprocmask(SIG_SETMASK, signals, NULL);

	if (read(go, &byte, 1) != 1) /* the profiler gave up */
		_exit(127);
	execvp(argv[0], argv);

	int cause = errno;
	ssize_t n = write(error, &cause, sizeof(cause));
	_exit(n < 0 ? 126 : 127);
}

int launch_prepare(char *const *argv, const sigset_t *signals, struct launch *ret, struct diag *diag)
{
	int go[2], error[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return diag_set(diag, -errno, "cannot start '%s'", argv[0]);
	if (pipe2(error, O_CLOEXEC) < 0) {
		diag_set(diag, -errno, "cannot start '%s'", argv[0]);
		close(go[0]);
		close(go[1]);
		return diag->error;
	}

	pid_t pid = fork();
	if (pid == 0) {
		close(go[1]);
		run_child(argv, signals, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	*ret = (struct launch){ .pid = pid, .go = go[1], .error = error[0] };
	if (pid > 0)
		return 0;
	diag_set(diag, -errno, "cannot start '%s'", argv[0]);
	*ret = (struct launch){ 0 };
	close(go[1]);
	close(error[0]);
	return diag->error;
}

/* The errno of execve alone does not tell the cause. */
static int launch_refuse(const char *name, int error, struct diag *diag)
{
	struct stat st;
	bool is_path = strchr(name, '/') != NULL, is_there = stat(name, &st) == 0;

	diag_set(diag, error, "cannot run '%s'", name);
	if (is_path && is_there && S_ISDIR(st.st_mode)) {
		diag_set(diag, -EISDIR, "cannot run '%s'", name);
		diag_why(diag, "it is a directory");
	} else if (error == -ENOENT && !is_path) {
		diag_why(diag, "there is no such command in PATH");
		if (is_there && S_ISREG(st.st_mode))
			diag_hint(diag, "try: ./%s", name);
		else if (strchr(name, ' '))
			diag_hint(diag, "give the arguments separately; or try: cpprof record -- sh -c '%s'",
				  name);
	} else if (error == -ENOENT && is_there) {
		diag_why(diag, "the interpreter it asks for (#! or dynamic linker) is missing");
	} else if (error == -EACCES && is_there && !(st.st_mode & 0111)) {
		diag_why(diag, "it is not executable");
		diag_hint(diag, "try: chmod +x %s", name);
	}
	return diag->error;
}

int launch_start(struct launch *launch, const char *name, struct diag *diag)
{
	int cause = 0;
	ssize_t n = write(launch->go, "", 1);

	if (n == 1) {
		do
			n = read(launch->error, &cause, sizeof(cause));
		while (n < 0 && errno == EINTR);
	}
	launch->is_started = n == 0;
	if (n == 0)
		return 0;
	return launch_refuse(name, n == sizeof(cause) ? -cause : -EIO, diag);
}

bool launch_poll(struct launch *launch)
{
	if (launch->pid && !launch->is_over && waitpid(launch->pid, &launch->status, WNOHANG) == launch->pid)
		launch->is_over = true;
	return launch->is_over;
}

void launch_done(struct launch *launch)
{
	if (!launch->pid)
		return;
	close(launch->go);
	close(launch->error);
	if (!launch->is_started)
		while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
			;
	*launch = (struct launch){ 0 };
}
