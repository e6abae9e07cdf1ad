/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debuginfod_command: runs debuginfod-find and reads its output: the path of the file, or why there is none,
 * and lines of progress.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbolize/files/debuginfod_ways.h"

#define COMMAND "debuginfod-find"
#define FAILURE "Server query failed: "
#define MAX_ERRNO 133
#define NOT_STARTED 127 /* the exit code of a child of posix_spawn that could not start the program */

extern char **environ;

/* The running command, and its output. */
struct command {
	pid_t pid;
	FILE *out, *err;
};

static void command_fill_hex(const struct build_id *build_id, char ret[2 * BUILD_ID_MAX + 1])
{
	ret[0] = '\0';
	for (size_t i = 0; i < build_id->len; i++)
		snprintf(ret + 2 * i, 3, "%02x", build_id->bytes[i]);
}

/* Signals are blocked in this process during a recording; but the command must end with Ctrl-C. */
static int command_spawn(char **argv, int out, int err, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
	int error = posix_spawnp(ret, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -error;
}

static int command_start(struct command *command, char **argv)
{
	int out[2], err[2];

	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err, O_CLOEXEC) < 0) {
		int error = -errno;
		close(out[0]);
		close(out[1]);
		return error;
	}
	int error = command_spawn(argv, out[1], err[1], &command->pid);
	if (error == -ENOENT || error == -EACCES)
		error = -ENOPKG;
	close(out[1]);
	close(err[1]);
	command->out = fdopen(out[0], "re");
	command->err = fdopen(err[0], "re");
	return error;
}

/* If a child cannot report why it failed to start (qemu-user), only its exit code shows it. */
static int command_end(struct command *command)
{
	int status;

	while (waitpid(command->pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_STARTED)
		return -ENOPKG;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* The command prints the text of strerror, and does not set a locale. */
static int command_errno_of(const char *text)
{
	for (int error = 1; error <= MAX_ERRNO; error++)
		if (strcmp(strerror(error), text) == 0)
			return -error;
	return -EIO;
}

/* "Progress 12 / 34" */
static bool command_read_progress(const char *line, long *ret_done, long *ret_total)
{
	static const char start[] = "Progress ", between[] = " / ";
	const char *at = line + strlen(start);
	char *end;

	if (strncmp(line, start, strlen(start)) != 0)
		return false;
	*ret_done = strtol(at, &end, 10);
	if (end == at || strncmp(end, between, strlen(between)) != 0)
		return false;
	at = end + strlen(between);
	*ret_total = strtol(at, &end, 10);
	return end != at;
}

/* Reads until the command closes it. Returns the negative errno that it reports; 0 if none. */
static int command_listen(FILE *err, const struct debuginfod_watch *watch)
{
	CLEANUP(freep) char *line = NULL;
	size_t size = 0;
	int error = 0;

	while (getline(&line, &size, err) > 0) {
		long done, total;

		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, FAILURE, strlen(FAILURE)) == 0)
			error = command_errno_of(line + strlen(FAILURE));
		else if (watch->progress && command_read_progress(line, &done, &total))
			watch->progress(watch->context, done > 0 ? (uint64_t)done : 0,
					total > 0 ? (uint64_t)total : 0);
	}
	return error;
}

static int command_read_path(FILE *out, char **ret)
{
	CLEANUP(freep) char *line = NULL;
	size_t size = 0;

	if (getline(&line, &size, out) <= 0 || line[0] != '/')
		return -EIO;
	line[strcspn(line, "\n")] = '\0';
	*ret = TAKE(line);
	return 0;
}

static void command_close(struct command *command)
{
	if (command->out)
		fclose(command->out);
	if (command->err)
		fclose(command->err);
}

int debuginfod_command_find(const struct build_id *build_id, const struct debuginfod_watch *watch, char **ret)
{
	char hex[2 * BUILD_ID_MAX + 1], *path = NULL;
	char *loud[] = { (char *)COMMAND, (char *)"-v", (char *)"debuginfo", hex, NULL };
	char *quiet[] = { (char *)COMMAND, (char *)"debuginfo", hex, NULL };
	struct command command = { 0 };

	command_fill_hex(build_id, hex);
	int error = command_start(&command, watch->progress ? loud : quiet);
	if (error == 0) {
		int told = command_listen(command.err, watch);
		int found = command_read_path(command.out, &path);
		int ended = command_end(&command);
		error = told < 0 ? told : ended < 0 ? ended : found;
	}
	command_close(&command);
	if (error < 0) {
		free(path);
		return error;
	}
	*ret = path;
	return 0;
}
