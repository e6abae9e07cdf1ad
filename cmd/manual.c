/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/manual.h"
#include "report/export/exporter.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char exit_codes[] = ".SH EXIT STATUS\n"
				 ".TP\n"
				 "0\n"
				 "success\n"
				 ".TP\n"
				 "1\n"
				 "error\n"
				 ".TP\n"
				 "2\n"
				 "wrong usage\n"
				 ".TP\n"
				 "3\n"
				 "not permitted\n"
				 ".TP\n"
				 "4\n"
				 "no such process\n"
				 ".TP\n"
				 "5\n"
				 "no samples\n"
				 ".TP\n"
				 "6\n"
				 "the profile is below --min-quality\n"
				 ".TP\n"
				 "7\n"
				 "a regression was found\n"
				 ".PP\n"
				 "Once its command has started, record exits with the command's own status "
				 "if that is not 0, and with 128+n if signal n killed it.\n";

static const char files[] =
	".SH FILES\n"
	".TP\n"
	"\\fI$XDG_CONFIG_HOME/cpprof/config.json\\fR, else \\fI~/.config/cpprof/config.json\\fR\n"
	"Default values of options, one JSON object per command, with the long option names as keys:\n"
	".EX\n"
	"{ \"record\": { \"frequency\": 499, \"event\": [\"cycles\", \"instructions\"] } }\n"
	".EE\n"
	"Options on the command line take precedence. The file must be a regular file that belongs to the "
	"user\n"
	"and that nobody else can write to. \\-\\-no\\-config ignores it.\n";

/* Text escaped for troff. */
static void manual_put(const char *text)
{
	bool at_start = true;

	for (; *text; text++) {
		if (at_start && (*text == '.' || *text == '\''))
			fputs("\\&", stdout);
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
		at_start = *text == '\n';
	}
}

/* The first sentence, on one line, for `man -k`. A full stop within a name, as in cpprof.data, does not end
 * it. */
static void manual_put_summary(const char *about)
{
	for (const char *c = about; *c; c++) {
		if (strchr(".:;", *c) && (c[1] == '\0' || isspace((unsigned char)c[1])))
			return;
		manual_put((char[]){ *c == '\n' ? ' ' : *c, '\0' });
	}
}

static void put_title(const char *name, const char *about)
{
	fputs(".TH ", stdout);
	for (const char *c = name; *c; c++)
		putchar(*c == ' ' ? '-' : toupper((unsigned char)*c));
	printf(" 1 \"\" \"cpprof %s\" \"cpprof manual\"\n.SH NAME\n", CPPROF_VERSION);
	for (const char *c = name; *c; c++)
		fputs(*c == ' ' ? "\\-" : (char[]){ *c, 0 }, stdout);
	fputs(" \\- ", stdout);
	manual_put_summary(about);
	putchar('\n');
}

static void put_option(const struct option_spec *spec)
{
	bool takes_value = spec->kind != OPTION_FLAG && spec->kind != OPTION_COUNT;

	fputs(".TP\n\\fB", stdout);
	if (spec->letter)
		printf("\\-%c%s", spec->letter, spec->name ? ", " : "");
	if (spec->name) {
		fputs("\\-\\-", stdout);
		manual_put(spec->name);
	}
	fputs("\\fR", stdout);
	if (takes_value && spec->value) {
		fputs(" \\fI", stdout);
		manual_put(spec->value);
		fputs("\\fR", stdout);
	}
	if (spec->kind == OPTION_FLAG && spec->name) {
		fputs(", \\fB\\-\\-no\\-", stdout);
		manual_put(spec->name);
		fputs("\\fR", stdout);
	}
	putchar('\n');
	manual_put(spec->help);
	putchar('\n');
}

static void put_body(const struct command_line *line)
{
	fputs(".SH SYNOPSIS\n\\fBcpprof ", stdout);
	manual_put(line->command);
	fputs("\\fR ", stdout);
	manual_put(line->usage);
	fputs("\n.SH DESCRIPTION\n", stdout);
	manual_put(line->about ? line->about : "");
	fputs("\n.SH OPTIONS\n", stdout);
	for (const struct option_spec *spec = line->specs; spec->name || spec->letter; spec++)
		if (spec->help)
			put_option(spec);
	puts(".TP\n\\fB\\-\\-no\\-config\\fR\nignore the settings in config.json; see FILES");
	puts(".TP\n"
	     "\\fB\\-h, \\-\\-help\\fR\n"
	     "show a summary of this page");
	if (line->examples) {
		fputs(".SH EXAMPLES\n.nf\n", stdout);
		manual_put(line->examples);
		fputs(".fi\n", stdout);
	}
}

int manual_of_command(const struct command_line *line)
{
	char name[64];

	snprintf(name, sizeof(name), "cpprof %s", line->command);
	put_title(name, line->about ? line->about : "");
	put_body(line);
	fputs(files, stdout);
	fputs(exit_codes, stdout);
	puts(".SH SEE ALSO\n.BR cpprof (1)");
	return EXIT_OK;
}

int manual_of_group(const struct command_group *group)
{
	put_title(group->name, group->about);
	printf(".SH SYNOPSIS\n\\fB%s\\fR %s [options] ...\n.SH DESCRIPTION\n", group->name, group->word);
	manual_put(group->about);
	fputs("\n.SH COMMANDS\n", stdout);
	for (const struct command *command = group->commands; command->name; command++) {
		printf(".TP\n\\fB%s\\fR\n", command->name);
		manual_put(command->summary);
		putchar('\n');
	}
	fputs(files, stdout);
	fputs(exit_codes, stdout);
	fputs(".SH SEE ALSO\n", stdout);
	for (const struct command *command = group->commands;
	     strcmp(group->name, "cpprof") == 0 && command->name; command++)
		printf(".BR cpprof\\-%s (1)%s\n", command->name, command[1].name ? "," : "");
	return EXIT_OK;
}

int manual_list_options(const struct command_line *line)
{
	for (const struct option_spec *spec = line->specs; spec->name || spec->letter; spec++) {
		if (!spec->help)
			continue;
		if (spec->name)
			printf("--%s\n", spec->name);
		if (spec->name && spec->kind == OPTION_FLAG)
			printf("--no-%s\n", spec->name);
		if (spec->letter)
			printf("-%c\n", spec->letter);
	}
	puts("--no-config");
	puts("--help");
	return EXIT_OK;
}

static void manual_put_formats(void)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		puts((*e)->name);
}

/* "text|json|md" */
static void manual_put_words(const char *words, const char *between)
{
	while (*words) {
		size_t len = strcspn(words, between);
		printf("%.*s\n", (int)len, words);
		words += len + strspn(words + len, between);
	}
}

int manual_list_values(const struct command_line *line, const char *option)
{
	for (const struct option_spec *spec = line->specs; spec->name || spec->letter; spec++) {
		bool fits = option[0] == '-' && option[1] == '-'
				    ? spec->name && strcmp(spec->name, option + 2) == 0
				    : option[0] == '-' && option[1] && option[1] == spec->letter;
		if (!fits)
			continue;
		if (spec->kind == OPTION_CHOICE)
			manual_put_words(spec->value, "|");
		else if (spec->kind == OPTION_TEXT && spec->name && strcmp(spec->name, "format") == 0)
			manual_put_formats();
	}
	return EXIT_OK;
}
