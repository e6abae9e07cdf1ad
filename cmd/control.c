/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/real_user.h"
#include "cmd/cmd.h"

#define LINE_MAX_LEN 4096

static int control_watch(struct control *control, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	return epoll_ctl(control->wake_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Whoever can write to it decides what is probed. */
static bool control_is_ours(const struct stat *file)
{
	struct user user;
	bool is_owner = file->st_uid == geteuid() || (real_user_find(&user) && file->st_uid == user.uid);

	return is_owner && !(file->st_mode & (S_IWGRP | S_IWOTH));
}

static int control_refuse(const char *path, struct diag *diag)
{
	diag_set(diag, -EACCES, "cannot use '%s' with --control", path);
	diag_why(diag, "it belongs to another user, or others can write to it");
	diag_hint(diag, "give a path that does not exist: cpprof makes a FIFO that only you can use");
	return -EACCES;
}

/* Opened for reading and writing, so that it does not end when the first writer closes it. */
static int control_open_fifo(struct control *control, const char *path, struct diag *diag)
{
	struct stat file;

	if (mkfifo(path, 0600) == 0)
		control->is_made = true;
	else if (errno != EEXIST)
		return diag_set(diag, -errno, "cannot make '%s'", path);
	control->path = path;
	int fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return diag_set(diag, -errno, "cannot open '%s'", path);
	control->fifo.fd = fd;
	if (fstat(fd, &file) < 0 || !S_ISFIFO(file.st_mode)) {
		diag_set(diag, -EINVAL, "cannot use '%s' with --control", path);
		diag_why(diag, "it is not a FIFO");
		return -EINVAL;
	}
	return control_is_ours(&file) ? control_watch(control, fd) : control_refuse(path, diag);
}

int control_open(struct control *control, int other, const char *path, bool with_terminal, struct diag *diag)
{
	*control = (struct control){ .fifo.fd = -1, .terminal.fd = -1 };
	control->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (control->wake_fd < 0)
		return diag_set(diag, -errno, "cannot wait for control commands");
	int error = control_watch(control, other);
	if (!error && path)
		error = control_open_fifo(control, path, diag);
	if (!error && with_terminal && control_watch(control, STDIN_FILENO) == 0)
		control->terminal.fd = STDIN_FILENO;
	if (error)
		control_close(control);
	return error;
}

void control_close(struct control *control)
{
	if (control->fifo.fd >= 0)
		close(control->fifo.fd);
	if (control->wake_fd >= 0)
		close(control->wake_fd);
	if (control->is_made)
		unlink(control->path);
	text_done(&control->fifo.line);
	text_done(&control->terminal.line);
	*control = (struct control){ .wake_fd = -1, .fifo.fd = -1, .terminal.fd = -1 };
}

/* ---- lines -------------------------------------------------------------------------------------------- */

/* Is the first word of the line this one, or a prefix of it with at least this many letters? */
static bool control_says(const char *line, size_t len, const char *word, size_t least)
{
	return len >= least && len <= strlen(word) && strncmp(line, word, len) == 0;
}

static void control_do(struct control *control, struct recording *recording, const char *line)
{
	line += strspn(line, " \t");
	size_t len = strcspn(line, " \t");
	const char *name = line + len + strspn(line + len, " \t");

	if (!len)
		return;
	if (control_says(line, len, "reset", 3))
		recording_reset(recording);
	else if (control_says(line, len, "write", 1))
		recording_write_now(recording);
	else if (control_says(line, len, "quit", 1))
		control->is_over = true;
	else if (*name && control_says(line, len, "add", 1))
		recording_trace_more(recording, name);
	else if (*name && control_says(line, len, "remove", 1))
		recording_trace_less(recording, name);
	else
		cmd_say("the commands are: add NAME, remove NAME, reset, write, quit");
}

static void control_take(struct control *control, struct control_input *input, struct recording *recording,
			 const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (bytes[i] != '\n') {
			if (input->line.len < LINE_MAX_LEN)
				text_add(&input->line, &bytes[i], 1);
			continue;
		}
		control_do(control, recording, input->line.at ? input->line.at : "");
		text_clear(&input->line);
	}
}

static bool control_is_readable(const struct control *control, int fd)
{
	struct epoll_event events[4];
	int n = epoll_wait(control->wake_fd, events, 4, 0);

	for (int i = 0; i < n; i++)
		if (events[i].data.fd == fd)
			return true;
	return false;
}

static void control_read(struct control *control, struct control_input *input, struct recording *recording)
{
	char bytes[512];
	ssize_t n;

	while (input->fd >= 0 && control_is_readable(control, input->fd) &&
	       (n = read(input->fd, bytes, sizeof(bytes))) != -1) {
		if (n == 0) { /* end of input on the terminal */
			epoll_ctl(control->wake_fd, EPOLL_CTL_DEL, input->fd, NULL);
			input->fd = -1;
			return;
		}
		control_take(control, input, recording, bytes, (size_t)n);
	}
}

void control_obey(struct control *control, struct recording *recording)
{
	control_read(control, &control->fifo, recording);
	control_read(control, &control->terminal, recording);
}
