/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/database.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "profile/epochs.h"

#define GO_ON (-1)
#define SINCE_DEFAULT "1h"

/* ---- times -------------------------------------------------------------------------------------- */

static uint64_t database_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* "90m": that long ago. */
static bool database_parse_age(const char *text, uint64_t now_ms, uint64_t *ret)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "ms", 1 },     { "s", 1e3 },     { "m", 60e3 },    { "min", 60e3 },
		      { "h", 3600e3 }, { "d", 86400e3 }, { "w", 604800e3 } };
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	double value = strtod(text, &end);
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(end, units[i].unit) == 0) {
			double ms = value * units[i].ms;
			*ret = ms < (double)now_ms ? now_ms - (uint64_t)ms : 0;
			return true;
		}
	return false;
}

/* In local time. */
static bool database_parse_date(const char *text, uint64_t *ret)
{
	static const char *const formats[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
					       "%Y-%m-%d %H:%M", "%Y-%m-%d" };

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		struct tm when = { .tm_isdst = -1 };
		const char *end = strptime(text, formats[i], &when);
		time_t seconds = end && !*end ? mktime(&when) : -1;
		if (seconds >= 0) {
			*ret = (uint64_t)seconds * 1000;
			return true;
		}
	}
	return false;
}

bool database_parse_time(const char *text, uint64_t now_ms, uint64_t *ret)
{
	if (strcmp(text, "now") == 0) {
		*ret = now_ms;
		return true;
	}
	return database_parse_age(text, now_ms, ret) || database_parse_date(text, ret);
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Otherwise the range would be taken for the name of a profile. */
static int database_check_folder(const char *directory)
{
	struct diag diag = { 0 };
	struct stat st;
	int error = stat(directory, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;

	if (!error)
		return GO_ON;
	diag_set(&diag, error, "there is no database '%s'", directory);
	diag_hint(&diag, "to record one: sudo cpprof daemon --database %s", directory);
	return cmd_fail(&diag);
}

int database_choose(const struct database_choice *choice, const char *command, bool has_file,
		    const char **file, char **ret)
{
	const char *since = choice->since ? choice->since : SINCE_DEFAULT;
	const char *until = choice->until ? choice->until : "now";
	uint64_t now_ms = database_now_ms(), from, to;

	if (!choice->directory && (choice->since || choice->until))
		return cmd_usage(command, "--since and --until are of a database: give --database DIR");
	if (!choice->directory)
		return GO_ON;
	if (has_file)
		return cmd_usage(command, "give a file or --database DIR, not both");
	if (!database_parse_time(since, now_ms, &from))
		return cmd_usage(command, "--since: '%s' is not a time; give 3h, 2d or 2026-01-31T12:00",
				 since);
	if (!database_parse_time(until, now_ms, &to))
		return cmd_usage(command, "--until: '%s' is not a time; give 3h, 2d or 2026-01-31T12:00",
				 until);
	if (from >= to)
		return cmd_usage(command, "--since %s is not before --until %s", since, until);
	int code = database_check_folder(choice->directory);
	if (code >= 0)
		return code;
	*file = *ret = alloc_printf("%s@%s..%s%s%s", choice->directory, since, until,
				    choice->process ? "#" : "", choice->process ? choice->process : "");
	return GO_ON;
}

/* Is it the name of a time range? Its parts are cut out of `path`. */
static bool database_split(char *path, struct database_choice *ret)
{
	struct stat st;

	for (char *at = path; (at = strchr(at, '@')); at++) {
		char *dots = strstr(at, "..");
		*at = 0;
		bool is_folder = dots && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
		*at = is_folder ? 0 : '@';
		if (!is_folder)
			continue;
		*dots = 0;
		*ret = (struct database_choice){ .directory = path, .since = at + 1, .until = dots + 2 };
		char *process = strchr(dots + 2, '#');
		if (process)
			*process++ = 0;
		ret->process = process;
		return true;
	}
	return false;
}

char *database_place(const char *path)
{
	CLEANUP(freep) char *parts = alloc_text(path);
	struct database_choice choice;

	return alloc_text(database_split(parts, &choice) ? choice.directory : path);
}

static int database_query(const struct database_choice *choice, struct profile **ret, struct diag *diag)
{
	struct epochs_query query = { .process = choice->process };
	CLEANUP(epochs_closep) struct epochs *epochs = NULL;
	uint64_t now_ms = database_now_ms();
	size_t n_bad = 0;

	if (!database_parse_time(choice->since[0] ? choice->since : SINCE_DEFAULT, now_ms, &query.since_ms) ||
	    !database_parse_time(choice->until[0] ? choice->until : "now", now_ms, &query.until_ms))
		return diag_set(diag, -EINVAL, "'%s..%s' is not a time range", choice->since, choice->until);
	int error = epochs_open(choice->directory, false, &epochs, diag);
	if (!error)
		error = epochs_read(epochs, &query, ret, &n_bad, diag);
	if (!error && n_bad)
		fprintf(stderr,
			"cpprof: %zu epochs in %s cannot be read and are skipped; `cpprof epochs %s` says "
			"why\n",
			n_bad, choice->directory, choice->directory);
	return error;
}

int database_read(const char *path, struct profile **ret, struct diag *diag)
{
	CLEANUP(freep) char *parts = alloc_text(path);
	struct database_choice choice;

	if (!database_split(parts, &choice))
		return profile_read(path, ret, diag);
	return database_query(&choice, ret, diag);
}
