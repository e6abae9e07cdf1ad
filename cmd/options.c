/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options: parsing by table. Values are checked here, so that a command only sees sound ones.
 */
#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/habits.h"
#include "cmd/manual.h"

#define GO_ON (-1)
#define HELP_COLUMN 28
#define HELP_WIDTH 96
#define MAX_NAME 64 /* longest option name that a message repeats */

static bool is_end(const struct option_spec *spec)
{
	return !spec->name && !spec->letter;
}

static bool takes_value(const struct option_spec *spec)
{
	return spec->kind != OPTION_FLAG && spec->kind != OPTION_COUNT;
}

void option_list_done(struct option_list *list)
{
	for (size_t i = 0; i < list->values.n; i++)
		free(list->values.at[i]);
	vec_done(&list->values);
}

/* ---- values --------------------------------------------------------------------------------- */

static bool parse_number(const char *text, uint64_t *ret, const char **ret_rest)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, text[0] == '0' && tolower((unsigned char)text[1]) == 'x' ? 16 : 10);
	*ret_rest = end;
	return errno == 0;
}

static bool parse_size(const char *text, uint64_t *ret)
{
	static const struct {
		const char *suffix;
		unsigned shift;
	} units[] = { { "", 0 },    { "k", 10 }, { "kb", 10 }, { "m", 20 },
		      { "mb", 20 }, { "g", 30 }, { "gb", 30 } };
	const char *rest;
	uint64_t value;

	if (!parse_number(text, &value, &rest))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcasecmp(rest, units[i].suffix) == 0 && value <= UINT64_MAX >> units[i].shift) {
			*ret = value << units[i].shift;
			return true;
		}
	return false;
}

static bool parse_real(const char *text, double *ret, const char **ret_rest)
{
	char *end;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return false;
	*ret = strtod(text, &end);
	*ret_rest = end;
	return end != text && isfinite(*ret);
}

static bool parse_seconds(const char *text, double *ret)
{
	static const struct {
		const char *suffix;
		double factor;
	} units[] = { { "", 1 }, { "s", 1 }, { "ms", 1e-3 }, { "m", 60 }, { "h", 3600 } };
	const char *rest;
	double value;

	if (!parse_real(text, &value, &rest))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(rest, units[i].suffix) == 0 && value * units[i].factor < 1e9) {
			*ret = value * units[i].factor;
			return true;
		}
	return false;
}

static bool parse_percent(const char *text, double *ret)
{
	const char *rest;
	double value;

	if (!parse_real(text, &value, &rest) || (rest[0] && strcmp(rest, "%") != 0) || value > 100)
		return false;
	*ret = value;
	return true;
}

static bool parse_mode(const char *text, mode_t *ret)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 8);

	if (text[0] < '0' || text[0] > '7' || *rest || !value || value > 0777)
		return false;
	*ret = (mode_t)value;
	return true;
}

static bool parse_choice(const char *text, const char *words, int *ret)
{
	size_t len = strlen(text);
	int index = 0;

	for (const char *word = words; len; index++) {
		size_t word_len = strcspn(word, "|");
		if (word_len == len && memcmp(word, text, len) == 0) {
			*ret = index;
			return true;
		}
		if (!word[word_len])
			return false;
		word += word_len + 1;
	}
	return false;
}

static void add_split(struct option_list *list, const char *text)
{
	for (;;) {
		size_t len = strcspn(text, ",");
		if (len)
			vec_push(&list->values, alloc_text_n(text, len));
		if (!text[len])
			return;
		text += len + 1;
	}
}

static bool set_value(const struct option_spec *spec, const char *text)
{
	const char *rest;
	uint64_t number;

	switch (spec->kind) {
	case OPTION_TEXT:
		*(const char **)spec->to = text;
		return true;
	case OPTION_LIST:
		add_split(spec->to, text);
		return true;
	case OPTION_RULES:
	case OPTION_TEXTS:
		if (spec->kind == OPTION_RULES && (text[0] == '=' || !strchr(text, '=')))
			return false;
		vec_push(&((struct option_list *)spec->to)->values, alloc_text(text));
		return true;
	case OPTION_NUMBER:
	case OPTION_POSITIVE:
		if (!parse_number(text, &number, &rest) || *rest ||
		    (number == 0 && spec->kind == OPTION_POSITIVE))
			return false;
		*(uint64_t *)spec->to = number;
		return true;
	case OPTION_SIZE:
		return parse_size(text, spec->to);
	case OPTION_SECONDS:
	case OPTION_DURATION:
		return parse_seconds(text, spec->to) &&
		       (*(double *)spec->to > 0 || spec->kind == OPTION_SECONDS);
	case OPTION_PERCENT:
		return parse_percent(text, spec->to);
	case OPTION_MODE:
		return parse_mode(text, spec->to);
	case OPTION_CHOICE:
		return parse_choice(text, spec->value, spec->to);
	case OPTION_FLAG:
	case OPTION_COUNT:
		break;
	}
	return false;
}

static int bad_value(const struct command_line *line, const struct option_spec *spec, const char *given,
		     const char *text)
{
	static const char *const wants[] = {
		[OPTION_NUMBER] = "a number",
		[OPTION_POSITIVE] = "a number above 0",
		[OPTION_RULES] = "OLD=NEW",
		[OPTION_SIZE] = "a size such as 16384 or 16k",
		[OPTION_SECONDS] = "a time such as 2.5 or 500ms",
		[OPTION_DURATION] = "a time above 0 such as 2.5 or 500ms",
		[OPTION_PERCENT] = "a percentage from 0 to 100",
		[OPTION_MODE] = "rights in octal such as 600 or 644",
	};

	if (spec->kind == OPTION_CHOICE)
		return cmd_usage(line->command, "%s takes one of %s, not '%s'", given, spec->value, text);
	return cmd_usage(line->command, "%s takes %s, not '%s'", given, wants[spec->kind], text);
}

/* ---- names ---------------------------------------------------------------------------------- */

const char *options_nearest(const char *wanted, const char *const *names, size_t n)
{
	size_t best = strlen(wanted) > 4 ? 3 : 2; /* first distance that is no longer close */
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t d = text_distance(wanted, names[i]);
		if (d < best) {
			best = d;
			found = names[i];
		}
	}
	return found;
}

static int unknown_option(const struct command_line *line, const char *name)
{
	CLEANUP(freep) char *given = alloc_printf("--%s", name);
	const char *answer = habits_answer_option(line->command, given);
	VEC(const char *) names = { 0 };

	if (answer)
		return cmd_usage(line->command, "there is no option '%s': %s", given, answer);
	vec_push(&names, "help");
	for (const struct option_spec *spec = line->specs; !is_end(spec); spec++)
		if (spec->name && spec->help)
			vec_push(&names, spec->name);

	const char *near = options_nearest(name, names.at, names.n);
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

/* Broken where a line is full; `indent` columns of the first are taken, and of the others left free. */
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

	if (takes_value(spec) && spec->value && n > 0 && (size_t)n < sizeof(left))
		snprintf(left + n, sizeof(left) - (size_t)n, " %s", spec->value);
	printf("%-*s", HELP_COLUMN, left);
	if (strlen(left) >= HELP_COLUMN)
		printf("\n%*s", HELP_COLUMN, "");
	print_words(spec->help, HELP_COLUMN);
}

static void options_print_help(const struct command_line *line)
{
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
	print_option(&help);
	if (line->examples)
		printf("\nexamples:\n%s", line->examples);
}

/* ---- argv ----------------------------------------------------------------------------------- */

struct cursor {
	char **argv;
	int argc, at;
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
	return set_value(spec, text) ? GO_ON : bad_value(line, spec, given, text);
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
			return cmd_usage(line->command, "'%s': '--%s' is not something to switch off", given,
					 spec->name);
	} else {
		is_no = false;
	}
	if (!spec)
		return unknown_option(line, given + 2);
	if (takes_value(spec))
		return set_from(line, cursor, spec, given, attached);
	if (attached)
		return cmd_usage(line->command, "%s takes no value", given);
	if (spec->kind == OPTION_FLAG)
		*(bool *)spec->to = !is_no;
	else
		++*(int *)spec->to;
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
		if (takes_value(spec))
			return set_from(line, cursor, spec, given, letters[1] ? letters + 1 : NULL);
		if (spec->kind == OPTION_FLAG)
			*(bool *)spec->to = true;
		else
			++*(int *)spec->to;
	}
	return GO_ON;
}

int options_parse(struct command_line *line, int argc, char **argv)
{
	static const struct option_spec none[] = { { 0 } };
	struct cursor cursor = { argv, argc, 1 };
	int n = 0; /* operands so far, kept in argv[1..n]: never ahead of the cursor */

	if (!line->specs)
		line->specs = none;
	if (argc == 2 && strcmp(argv[1], "--man-page") == 0)
		return manual_of_command(line);
	if (argc == 2 && strcmp(argv[1], "--list-options") == 0)
		return manual_list_options(line);
	if (argc == 3 && strcmp(argv[1], "--list-values") == 0)
		return manual_list_values(line, argv[2]);
	while (cursor.at < argc) {
		char *word = argv[cursor.at++];
		int code = GO_ON;

		if (strcmp(word, "--help") == 0) {
			options_print_help(line);
			return EXIT_OK;
		}
		if (strcmp(word, "--") == 0)
			break;
		if (word[0] != '-' || !word[1]) {
			argv[1 + n++] = word;
			if (line->stops_at_operand)
				break;
		} else if (word[1] == '-') {
			code = parse_long(line, &cursor, word + 2);
		} else {
			code = parse_letters(line, &cursor, word + 1);
		}
		if (code >= 0)
			return code;
	}
	while (cursor.at < argc)
		argv[1 + n++] = argv[cursor.at++];
	argv[1 + n] = NULL; /* argv[argc] is NULL already if nothing was taken out */
	line->operands = argv + 1;
	line->n_operands = n;
	return GO_ON;
}
