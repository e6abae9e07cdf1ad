/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options: parses options according to a table.
 */
#include "cmd/options.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/habits.h"
#include "cmd/manual.h"
#include "cmd/option_value.h"
#include "cmd/settings.h"

#define GO_ON (-1)
#define HELP_COLUMN 28
#define HELP_WIDTH 96
#define MAX_NAME 64 /* longest option name that is repeated in a message */

static bool is_end(const struct option_spec *spec)
{
	return !spec->name && !spec->letter;
}

void option_list_done(struct option_list *list)
{
	for (size_t i = 0; i < list->values.n; i++)
		free(list->values.at[i]);
	vec_done(&list->values);
}

static int bad_value(const struct command_line *line, const struct option_spec *spec, const char *given,
		     const char *text)
{
	bool is_choice = spec->kind == OPTION_CHOICE;

	return cmd_usage(line->command, "%s takes %s%s%s, not '%s'", given, option_value_wants(spec),
			 is_choice ? " " : "", is_choice ? spec->value : "", text);
}

/* ---- names ---------------------------------------------------------------------------------- */

static int unknown_option(const struct command_line *line, const char *name)
{
	CLEANUP(freep) char *given = alloc_printf("--%s", name);
	const char *answer = habits_answer_option(line->command, given);
	VEC(const char *) names = { 0 };

	if (answer)
		return cmd_usage(line->command, "there is no option '%s': %s", given, answer);
	vec_push(&names, "help");
	vec_push(&names, "no-config");
	for (const struct option_spec *spec = line->specs; !is_end(spec); spec++)
		if (spec->name && spec->help)
			vec_push(&names, spec->name);

	const char *near = text_nearest(name, names.at, names.n);
	vec_done(&names);
	if (near)
		return cmd_usage(line->command, "unknown option '--%s'; did you mean '--%s'?", name, near);
	return cmd_usage(line->command, "unknown option '--%s'", name);
}

static int unknown_letter(const struct command_line *line, const char *given)
{
	const char *answer = habits_answer_option(line->command, given);

	if (answer)
		return cmd_usage(line->command, "there is no option '%s': %s", given, answer);
	return cmd_usage(line->command, "unknown option '%s'", given);
}

static const struct option_spec *find_name(const struct option_spec *specs, const char *name, size_t len)
{
	for (const struct option_spec *spec = specs; !is_end(spec); spec++)
		if (spec->name && strlen(spec->name) == len && memcmp(spec->name, name, len) == 0)
			return spec;
	return NULL;
}

static const struct option_spec *find_letter(const struct option_spec *specs, char letter)
{
	for (const struct option_spec *spec = specs; !is_end(spec); spec++)
		if (spec->letter == letter)
			return spec;
	return NULL;
}

/* ---- help ----------------------------------------------------------------------------------- */

/* Wraps lines; `indent` columns of the first line are already used, and stay empty in the others. */
static void print_words(const char *text, size_t indent)
{
	size_t used = indent;

	for (;;) {
		size_t len = strcspn(text, " \n");
		if (used > indent && used + 1 + len > HELP_WIDTH) {
			printf("\n%*s", (int)indent, "");
			used = indent;
		}
		used += (size_t)printf("%s%.*s", used > indent ? " " : "", (int)len, text);
		text += len + strspn(text + len, " \n");
		if (!*text)
			break;
	}
	putchar('\n');
}

static void print_option(const struct option_spec *spec)
{
	char left[128];
	const char *no = spec->kind == OPTION_FLAG && spec->name ? "[no-]" : "";
	int n = snprintf(left, sizeof(left), "  %c%c%s%s%s%s", spec->letter ? '-' : ' ',
			 spec->letter ? spec->letter : ' ', spec->letter && spec->name ? ", " : "  ",
			 spec->name ? "--" : "", no, spec->name ? spec->name : "");

	if (option_takes_value(spec) && spec->value && n > 0 && (size_t)n < sizeof(left))
		snprintf(left + n, sizeof(left) - (size_t)n, " %s", spec->value);
	printf("%-*s", HELP_COLUMN, left);
	if (strlen(left) >= HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	print_words(spec->help, HELP_COLUMN);
}

static void options_print_help(const struct command_line *line)
{
	static const struct option_spec no_config = {
		0, "no-config", OPTION_COUNT, NULL, NULL, "ignore the settings in config.json"
	};
	static const struct option_spec help = { 'h', "help", OPTION_COUNT, NULL, NULL, "show this text" };

	printf("usage: cpprof %s%s%s\n", line->command, line->usage[0] ? " " : "", line->usage);
	if (line->about) {
		putchar('\n');
		print_words(line->about, 0);
	}
	printf("\noptions:\n");
	for (const struct option_spec *spec = line->specs; !is_end(spec); spec++)
		if (spec->help)
			print_option(spec);
	print_option(&no_config);
	print_option(&help);
	if (line->examples)
		printf("\nexamples:\n%s", line->examples);
}

/* ---- argv ----------------------------------------------------------------------------------- */

struct cursor {
	char **argv;
	int argc, at;
	bool has_settings; /* until --no-config */
	struct settings_given given;
};

static int set_from(const struct command_line *line, struct cursor *cursor, const struct option_spec *spec,
		    const char *given, const char *attached)
{
	const char *text = attached;

	if (!text && cursor->at < cursor->argc)
		text = cursor->argv[cursor->at++];
	if (!text)
		return cmd_usage(line->command, "%s needs a value (%s)", given,
				 spec->value ? spec->value : "VALUE");
	vec_push(&cursor->given.variables, spec->to);
	return option_value_set(spec, text) ? GO_ON : bad_value(line, spec, given, text);
}

static void set_switch(struct cursor *cursor, const struct option_spec *spec, bool is_on)
{
	vec_push(&cursor->given.variables, spec->to);
	if (spec->kind == OPTION_FLAG)
		*(bool *)spec->to = is_on;
	else
		++*(int *)spec->to;
}

static int parse_long(const struct command_line *line, struct cursor *cursor, const char *name)
{
	size_t len = strcspn(name, "=");
	const char *attached = name[len] ? name + len + 1 : NULL;
	bool is_no = len > 3 && memcmp(name, "no-", 3) == 0;
	const struct option_spec *spec = find_name(line->specs, name, len);
	char given[MAX_NAME + 3];

	snprintf(given, sizeof(given), "--%.*s", (int)len, name);
	if (!spec && is_no) {
		spec = find_name(line->specs, name + 3, len - 3);
		if (spec && spec->kind != OPTION_FLAG)
			return cmd_usage(line->command, "'%s': '--%s' has no negative form", given,
					 spec->name);
	} else {
		is_no = false;
	}
	if (!spec)
		return unknown_option(line, given + 2);
	if (option_takes_value(spec))
		return set_from(line, cursor, spec, given, attached);
	if (attached)
		return cmd_usage(line->command, "%s takes no value", given);
	set_switch(cursor, spec, !is_no);
	return GO_ON;
}

static int parse_letters(const struct command_line *line, struct cursor *cursor, const char *letters)
{
	for (; *letters; letters++) {
		const struct option_spec *spec = find_letter(line->specs, *letters);
		char given[] = { '-', *letters, 0 };
		if (!spec && *letters == 'h') {
			options_print_help(line);
			return EXIT_OK;
		}
		if (!spec)
			return unknown_letter(line, given);
		if (option_takes_value(spec))
			return set_from(line, cursor, spec, given, letters[1] ? letters + 1 : NULL);
		set_switch(cursor, spec, true);
	}
	return GO_ON;
}

static int parse_words(struct command_line *line, struct cursor *cursor)
{
	char **argv = cursor->argv;
	int n = 0; /* operands so far, stored in argv[1..n]: never ahead of the cursor */

	while (cursor->at < cursor->argc) {
		char *word = argv[cursor->at++];
		int code = GO_ON;

		if (strcmp(word, "--help") == 0) {
			options_print_help(line);
			return EXIT_OK;
		}
		if (strcmp(word, "--") == 0)
			break;
		if (strcmp(word, "--no-config") == 0) {
			cursor->has_settings = false;
			continue;
		}
		if (word[0] != '-' || !word[1]) {
			argv[1 + n++] = word;
			if (line->stops_at_operand)
				break;
		} else if (word[1] == '-') {
			code = parse_long(line, cursor, word + 2);
		} else {
			code = parse_letters(line, cursor, word + 1);
		}
		if (code >= 0)
			return code;
	}
	while (cursor->at < cursor->argc)
		argv[1 + n++] = argv[cursor->at++];
	argv[1 + n] = NULL; /* argv[argc] is already NULL if nothing was removed */
	line->operands = argv + 1;
	line->n_operands = n;
	return GO_ON;
}

int options_parse(struct command_line *line, int argc, char **argv)
{
	static const struct option_spec none[] = { { 0 } };
	struct cursor cursor = { argv, argc, 1, true, { { 0 } } };

	if (!line->specs)
		line->specs = none;
	if (argc == 2 && strcmp(argv[1], "--man-page") == 0)
		return manual_of_command(line);
	if (argc == 2 && strcmp(argv[1], "--list-options") == 0)
		return manual_list_options(line);
	if (argc == 3 && strcmp(argv[1], "--list-values") == 0)
		return manual_list_values(line, argv[2]);
	int code = parse_words(line, &cursor);
	if (code < 0 && cursor.has_settings)
		code = settings_apply(line, &cursor.given);
	vec_done(&cursor.given.variables);
	return code;
}
