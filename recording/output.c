/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fresh_file.h"
#include "base/text.h"

char *output_expand(const char *template, pid_t pid, const struct tm *when)
{
	struct text text = { 0 };
	char time[32];

	strftime(time, sizeof(time), "%Y%m%d-%H%M%S", when);
	text_printf(&text, "%s", "");
	for (const char *at = template ? template : PROFILE_DEFAULT; *at; at++) {
		if (at[0] == '%' && at[1] == 'p')
			text_printf(&text, "%d", pid);
		else if (at[0] == '%' && at[1] == 't')
			text_printf(&text, "%s", time);
		else
			text_add(&text, at, 1);
		if (at[0] == '%' && at[1] && strchr("pt%", at[1]))
			at++;
	}
	return text.at;
}

int output_follow(const char *path, char **ret, struct diag *diag)
{
	int error = fresh_file_follow(path, ret);

	return error ? fresh_file_explain(path, error, diag) : 0;
}

void output_init(struct output *output, const char *template, pid_t pid)
{
	time_t now = time(NULL);
	struct tm when;

	localtime_r(&now, &when);
	*output = (struct output){ .path = output_expand(template, pid, &when), .keeps_last = !template };
	char *path = NULL;
	if (template)
		output->error = fresh_file_follow(output->path, &path);
	if (path) {
		free(output->path);
		output->path = path;
	}
}

void output_done(struct output *output)
{
	free(output->path);
	output->path = NULL;
}

bool output_is_stdout(const struct output *output)
{
	return strcmp(output->path, "-") == 0;
}

bool output_is_stream(const struct output *output)
{
	struct stat st;

	return output_is_stdout(output) || fresh_file_is_descriptor(output->path) ||
	       (stat(output->path, &st) == 0 && !S_ISREG(st.st_mode));
}

/* In a sticky folder such as /tmp, the file of another user cannot be replaced, except by root. */
static int output_may_replace(const struct output *output, const char *folder)
{
	struct stat file, in;

	if (geteuid() == 0 || lstat(output->path, &file) < 0 || stat(folder, &in) < 0)
		return 0;
	return (in.st_mode & S_ISVTX) && file.st_uid != geteuid() && in.st_uid != geteuid() ? -EPERM : 0;
}

int output_check(const char *template, const char *option, struct diag *diag)
{
	struct output output;
	struct stat st;
	int error = 0;

	output_init(&output, template, 0);
	if (output.error) {
		CLEANUP(freep) char *path = NULL;
		error = output_follow(output.path, &path, diag);
		output_done(&output);
		return error;
	}
	const char *slash = strrchr(output.path, '/');
	CLEANUP(freep)
	char *folder = slash ? alloc_text_n(output.path, (size_t)(slash - output.path) + 1) : alloc_text(".");
	if (!output.path[0])
		error = -ENOENT;
	else if (fresh_file_is_descriptor(output.path)) /* whoever has opened it could do so: we may not */
		error = fresh_file_check_descriptor(output.path);
	else if (stat(output.path, &st) == 0 && S_ISDIR(st.st_mode))
		error = -EISDIR;
	else if (stat(output.path, &st) == 0 && !S_ISREG(st.st_mode))
		error = faccessat(AT_FDCWD, output.path, W_OK, AT_EACCESS) < 0 ? -errno : 0;
	else if (!output_is_stdout(&output))
		error = faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0
				? -errno
				: output_may_replace(&output, folder);
	if (error) {
		diag_set(diag, error, "cannot write '%s'", output.path);
		diag_hint(diag, "nothing was recorded; choose another path with %s FILE", option);
	}
	output_done(&output);
	return error;
}

/* A run that recorded nothing must not replace what an earlier one recorded. */
static bool output_is_kept(const struct output *output, const struct profile *profile)
{
	return output->keeps_last && !output->has_rotated && !profile->quality.samples &&
	       access(output->path, F_OK) == 0;
}

int output_write(struct output *output, const struct profile *profile, struct diag *diag)
{
	CLEANUP(freep) char *path = NULL;
	int error = output->error ? output_follow(output->path, &path, diag) : 0;

	output->is_left = output_is_kept(output, profile);
	if (output->is_left)
		return 0;
	if (!error && output->keeps_last && !output->has_rotated)
		error = profile_rotate(output->path, diag);
	output->has_rotated |= !error;
	if (!error)
		error = profile_write_mode(profile, path ? path : output->path, output->mode, diag);
	output->has_written |= !error;
	return error;
}

/* In a folder that anybody may write to: a name that did not exist before. */
char *output_keep(const struct profile *profile)
{
	const char *folder = getenv("TMPDIR");
	CLEANUP(freep)
	char *path = alloc_printf("%s/cpprof-XXXXXX.data", folder && folder[0] ? folder : "/tmp");
	CLEANUP(close_fd) int fd = mkostemps(path, (int)strlen(".data"), O_CLOEXEC);
	struct diag diag = { 0 };

	if (fd < 0)
		return NULL;
	if (profile_write(profile, path, &diag) < 0) {
		unlink(path);
		return NULL;
	}
	return TAKE(path);
}

void output_rescue(const struct output *output, const struct profile *profile, struct diag *diag)
{
	bool is_there = output->has_written && !output_is_stdout(output);
	CLEANUP(freep) char *path = is_there || diag->error == -EPIPE ? NULL : output_keep(profile);

	if (is_there)
		diag_hint(diag, "the profile was written without symbols; add them with: cpprof resolve %s",
			  output->path);
	else if (path)
		diag_hint(diag, "it is kept as '%s'; look at it with: cpprof report %s", path, path);
}
