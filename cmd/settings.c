/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json_tree.h"
#include "base/text.h"
#include "cmd/option_value.h"

#define GO_ON (-1)
#define GROUPS_MAX 4
#define COUNT_MAX 9 /* of a counted option, such as --verbose */

/* How the command was found: cpprof, then "inspect" in it, and so on. */
static struct {
	const struct command_group *group;
	const char *name;
} settings_entered[GROUPS_MAX];
static size_t n_entered;

/* Text options point into it. */
static struct json_node *settings_root;

void settings_enter(const struct command_group *group, const char *name)
{
	if (n_entered == GROUPS_MAX)
		return;
	settings_entered[n_entered].group = group;
	settings_entered[n_entered++].name = name;
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* NULL if there is no directory for it. */
static char *settings_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	/* The specification requires absolute paths. */
	if (config && config[0] == '/')
		return alloc_printf("%s/cpprof/config.json", config);
	if (home && home[0] == '/')
		return alloc_printf("%s/.config/cpprof/config.json", home);
	return NULL;
}

/* Why the open file is not trusted; NULL if it is. */
static const char *settings_distrust(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return strerror(errno);
	if (!S_ISREG(st.st_mode))
		return "it is not a regular file";
	if (st.st_uid != geteuid())
		return "it belongs to another user";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "others may write to it (chmod go-w)";
	return NULL;
}

/* An open file, or negative: there is none, or it is not trusted, which was reported. */
static int settings_open(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return -1;
	const char *why =
		fd < 0 ? errno == ELOOP ? "it is a symbolic link" : strerror(errno) : settings_distrust(fd);
	if (!why)
		return TAKE_FD(fd);
	fprintf(stderr, "cpprof: ignoring the settings in '");
	cmd_print_name(stderr, path);
	fprintf(stderr, "': %s\n", why);
	return -1;
}

/* settings_root stays NULL if there are no settings. */
static int settings_load(const char *path, struct diag *diag)
{
	CLEANUP(freep) uint8_t *bytes = NULL;
	CLEANUP(close_fd) int fd = settings_open(path);
	size_t len = 0;

	json_tree_free(TAKE(settings_root));
	if (fd < 0)
		return 0;
	bytes = alloc_zero(1, JSON_TREE_SIZE + 1);
	for (;;) {
		ssize_t got = read(fd, bytes + len, JSON_TREE_SIZE + 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return diag_set(diag, -errno, "cannot read '%s'", path);
		if (got == 0)
			break;
		len += (size_t)got;
	}
	return json_tree_parse((struct bytes){ bytes, len }, path, &settings_root, diag);
}

/* ---- its contents ------------------------------------------------------------------------------- */

static int settings_refuse_key(const char *path, const char *kind, const char *key, const char *const *names,
			       size_t n, struct diag *diag)
{
	const char *near = text_nearest(key, names, n);

	diag_set(diag, -EINVAL, "cannot use '%s'", path);
	if (near)
		diag_why(diag, "unknown %s \"%s\"; did you mean \"%s\"?", kind, key, near);
	else
		diag_why(diag, "unknown %s \"%s\"", kind, key);
	return -EINVAL;
}

static int settings_refuse_kind(const char *path, const char *name, const char *wants, const char *words,
				struct diag *diag)
{
	diag_set(diag, -EINVAL, "cannot use '%s'", path);
	diag_why(diag, "\"%s\" takes %s%s%s", name, wants, words ? " " : "", words ? words : "");
	return -EINVAL;
}

/* Every name in this object is a command of the group. */
static int settings_check_commands(const struct json_node *node, const struct command_group *group,
				   const char *path, struct diag *diag)
{
	VEC(const char *) names = { 0 };
	int error = 0;

	for (const struct command *command = group->commands; command->name; command++)
		vec_push(&names, command->name);
	for (const struct json_node *member = json_node_first(node); member && !error;
	     member = json_node_next(member)) {
		bool is_known = false;
		for (size_t i = 0; i < names.n; i++)
			is_known = is_known || strcmp(names.at[i], json_node_name(member)) == 0;
		if (!is_known)
			error = settings_refuse_key(path, "command", json_node_name(member), names.at,
						    names.n, diag);
		else if (json_node_kind(member) != JSON_KIND_OBJECT)
			error = settings_refuse_kind(path, json_node_name(member), "an object of options",
						     NULL, diag);
	}
	vec_done(&names);
	return error;
}

/* The object of the command that is run; NULL if there is none. */
static int settings_find(const char *path, const struct json_node **ret, struct diag *diag)
{
	const struct json_node *node = settings_root;

	if (json_node_kind(node) != JSON_KIND_OBJECT)
		return settings_refuse_kind(path, "config.json", "an object of commands", NULL, diag);
	for (size_t i = 0; i < n_entered && node; i++) {
		int error = settings_check_commands(node, settings_entered[i].group, path, diag);
		if (error < 0)
			return error;
		node = json_node_get(node, settings_entered[i].name);
	}
	*ret = node;
	return 0;
}

/* ---- one option --------------------------------------------------------------------------------- */

/* One value, as on the command line. */
static bool settings_set_scalar(const struct option_spec *spec, const struct json_node *node)
{
	bool is_whole = spec->kind != OPTION_SECONDS && spec->kind != OPTION_DURATION &&
			spec->kind != OPTION_PERCENT && spec->kind != OPTION_QUALITY;
	char digits[64];
	int64_t integer;
	double number;

	if (json_node_text(node))
		return option_value_set(spec, json_node_text(node));
	if (spec->kind == OPTION_TEXT || spec->kind == OPTION_CHOICE)
		return false;
	if (json_node_integer(node, &integer))
		snprintf(digits, sizeof(digits), "%" PRId64, integer);
	else if (!is_whole && json_node_number(node, &number))
		snprintf(digits, sizeof(digits), "%.17g", number);
	else
		return false;
	return option_value_set(spec, digits);
}

static bool settings_set_switch(const struct option_spec *spec, const struct json_node *node)
{
	int64_t count;
	bool is_on;

	if (json_node_bool(node, &is_on)) {
		if (spec->kind == OPTION_FLAG)
			*(bool *)spec->to = is_on;
		else
			*(int *)spec->to = is_on;
		return true;
	}
	if (spec->kind == OPTION_FLAG || !json_node_integer(node, &count) || count < 0 || count > COUNT_MAX)
		return false;
	*(int *)spec->to = (int)count;
	return true;
}

static bool settings_set(const struct option_spec *spec, const struct json_node *node)
{
	bool is_list = spec->kind == OPTION_LIST || spec->kind == OPTION_TEXTS || spec->kind == OPTION_RULES;

	if (!option_takes_value(spec))
		return settings_set_switch(spec, node);
	if (!is_list || json_node_kind(node) != JSON_KIND_ARRAY)
		return settings_set_scalar(spec, node);
	for (node = json_node_first(node); node; node = json_node_next(node))
		if (!settings_set_scalar(spec, node))
			return false;
	return true;
}

static const struct option_spec *settings_spec(const struct command_line *line, const char *name)
{
	for (const struct option_spec *spec = line->specs; spec->name || spec->letter; spec++)
		if (spec->name && strcmp(spec->name, name) == 0)
			return spec;
	return NULL;
}

static bool settings_is_given(const struct settings_given *given, const struct option_spec *spec)
{
	for (size_t i = 0; spec && i < given->variables.n; i++)
		if (given->variables.at[i] == spec->to)
			return true;
	return false;
}

/* Is this option, or one that excludes it, on the command line? */
static bool settings_is_overridden(const struct command_line *line, const struct settings_given *given,
				   const struct option_spec *spec)
{
	const struct option_rivals *rivals = line->rivals;

	if (settings_is_given(given, spec))
		return true;
	for (; rivals && rivals->one; rivals++) {
		bool is_one = strcmp(rivals->one, spec->name) == 0;
		if ((is_one || strcmp(rivals->other, spec->name) == 0) &&
		    settings_is_given(given, settings_spec(line, is_one ? rivals->other : rivals->one)))
			return true;
	}
	return false;
}

static int settings_unknown_option(const struct command_line *line, const char *key, const char *path,
				   struct diag *diag)
{
	CLEANUP(freep) char *kind = alloc_printf("option of '%s'", line->command);
	VEC(const char *) names = { 0 };

	for (const struct option_spec *spec = line->specs; spec->name || spec->letter; spec++)
		if (spec->name && spec->help)
			vec_push(&names, spec->name);
	int error = settings_refuse_key(path, kind, key, names.at, names.n, diag);
	vec_done(&names);
	return error;
}

static int settings_apply_all(const struct command_line *line, const struct settings_given *given,
			      const char *path, struct diag *diag)
{
	const struct json_node *options = NULL;
	int error = settings_load(path, diag);

	if (error < 0 || !settings_root)
		return error;
	error = settings_find(path, &options, diag);
	if (error < 0 || !options)
		return error;
	for (const struct json_node *node = json_node_first(options); node; node = json_node_next(node)) {
		const struct option_spec *spec = settings_spec(line, json_node_name(node));
		if (!spec)
			return settings_unknown_option(line, json_node_name(node), path, diag);
		if (!settings_is_overridden(line, given, spec) && !settings_set(spec, node))
			return settings_refuse_kind(path, json_node_name(node), option_value_wants(spec),
						    spec->kind == OPTION_CHOICE ? spec->value : NULL, diag);
	}
	return 0;
}

int settings_apply(const struct command_line *line, const struct settings_given *given)
{
	CLEANUP(freep) char *path = n_entered ? settings_path() : NULL;
	struct diag diag = { 0 };

	if (!path || settings_apply_all(line, given, path, &diag) == 0)
		return GO_ON;
	diag_hint(&diag, "correct the file, or try: cpprof %s --no-config ...", line->command);
	cmd_fail(&diag);
	return diag.error == -EINVAL ? EXIT_USAGE : EXIT_FAULT;
}
