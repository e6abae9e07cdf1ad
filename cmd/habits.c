/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/habits.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cmd/cmd.h"
#include "profile/container.h"

struct habit {
	const char *commands; /* each followed by a space */
	const char *options;  /* each followed by a space */
	const char *answer;
};

static const struct habit habit_options[] = {
	{ "record attach ", "-C --cpu ",
	  "CPUs cannot be selected: -a profiles all; or select processes with -p PID or -n NAME" },
	{ "record attach ", "-G ", "a control group is given by its directory: -a --cgroup FOLDER" },
	{ "record attach ", "-b --branch-any -j --branch-filter ",
	  "branch records are not needed: call stacks are always recorded" },
	{ "record attach ", "-m --mmap-pages ",
	  "the size of the kernel's buffers is set with --ring-size BYTES" },
	{ "record attach ", "-i ", "child processes are excluded with --no-inherit" },
	{ "record attach ", "-s --stat -T --timestamp -P -d --data --sample-cpu ",
	  "threads and times are always recorded" },
	{ "record attach ", "--switch-output --overwrite --max-size ",
	  "a profile stays small; for one profile per interval use --stream SEC or --watch FILE" },
	{ "record attach ", "-N -B --no-buildid --no-buildid-cache --buildid-all -z --compression-level ",
	  "not needed: a profile is small and contains its symbols" },
	{ "report ", "-s ", "rows are chosen with --group-by function|module|file|loop|line|thread|process" },
	{ "report ", "-F --fields ", "columns are chosen with --columns NAME,..." },
	{ "report ", "-S --symbols --symbol-filter -p --parent ",
	  "stacks that contain a function are shown with --focus NAME" },
	{ "report ", "-G --inverted --call-graph ",
	  "callers are shown with --view callers, calling contexts with --view tree" },
	{ "report ", "--tui --gtk ",
	  "there is no interactive terminal interface; for a browser: --html OUT.html" },
	{ "report annotate ", "-k --vmlinux -v -M --objdump --symfs -D --dump-raw-trace --header ",
	  "a profile contains its symbols and code; `cpprof report --view quality` shows what is missing" },
	{ "annotate ", "-s --symbol ", "the function is given without an option: cpprof annotate FUNCTION" },
};

static const struct habit habit_commands[] = {
	{ "top ", NULL, "try: cpprof attach -p PID -d 10 && cpprof report" },
	{ "stat ", NULL, "events are sampled, not just counted; try: cpprof record -- COMMAND" },
	{ "script ", NULL,
	  "single samples are not stored, only their counts; for flame graphs: cpprof export -f folded" },
	{ "archive buildid-cache inject ", NULL,
	  "a profile contains its symbols; no other file has to be kept" },
	{ "version ", NULL, "try: cpprof --version" },
	{ "run profile start ", NULL, "try: cpprof record -- COMMAND" },
	{ "view show open ", NULL, "try: cpprof report" },
	{ "flamegraph flame html ", NULL, "try: cpprof report --html OUT.html" },
};

static bool habits_has(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (; *words; words += strcspn(words, " ") + 1)
		if (strncmp(words, word, len) == 0 && words[len] == ' ')
			return true;
	return false;
}

const char *habits_answer_option(const char *command, const char *option)
{
	for (size_t i = 0; i < sizeof(habit_options) / sizeof(habit_options[0]); i++)
		if (habits_has(habit_options[i].commands, command) &&
		    habits_has(habit_options[i].options, option))
			return habit_options[i].answer;
	return NULL;
}

/* ---- a word that is not a command ------------------------------------------------------------ */

static bool habits_starts_with(const char *path, const char *magic, size_t len)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char start[16];

	return fd >= 0 && read(fd, start, len) == (ssize_t)len && memcmp(start, magic, len) == 0;
}

static bool habits_is_program(const char *word)
{
	const char *dirs = getenv("PATH");
	struct stat st;

	if (strchr(word, '/'))
		return stat(word, &st) == 0 && S_ISREG(st.st_mode) && access(word, X_OK) == 0;
	while (dirs && *dirs) {
		size_t len = strcspn(dirs, ":");
		CLEANUP(freep) char *path = alloc_printf("%.*s/%s", (int)len, dirs, word);
		if (access(path, X_OK) == 0)
			return true;
		dirs += len + (dirs[len] == ':');
	}
	return false;
}

/* What to type instead; NULL if it is not known. Allocated. */
static char *habits_guess(const char *word)
{
	if (word[0] == '-')
		return alloc_printf("options come after a command: cpprof record [options] -- COMMAND, "
				    "cpprof attach -p PID [options]");
	if (isdigit((unsigned char)word[0]) && strspn(word, "0123456789") == strlen(word))
		return alloc_printf("to profile that process: cpprof attach -p %s", word);
	if (habits_starts_with(word, CONTAINER_MAGIC, sizeof(CONTAINER_MAGIC)))
		return alloc_printf("to look at that profile: cpprof report %s", word);
	if (habits_starts_with(word, "PERFILE2", 8))
		return alloc_printf("to make a profile of that recording: cpprof import %s", word);
	if (habits_is_program(word))
		return alloc_printf("to run and profile it: cpprof record -- %s", word);
	return NULL;
}

int habits_answer_command(const char *word)
{
	CLEANUP(freep) char *guess = NULL;

	for (size_t i = 0; i < sizeof(habit_commands) / sizeof(habit_commands[0]) && !guess; i++)
		if (habits_has(habit_commands[i].commands, word))
			guess = alloc_text(habit_commands[i].answer);
	if (!guess)
		guess = habits_guess(word);
	if (!guess)
		return -1;
	fprintf(stderr, "cpprof: there is no command '");
	cmd_print_name(stderr, word);
	fprintf(stderr, "'\n        ");
	cmd_print_name(stderr, guess);
	fprintf(stderr, "\n");
	return EXIT_USAGE;
}
