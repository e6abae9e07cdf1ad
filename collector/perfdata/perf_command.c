/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/perfdata/perf_command.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "base/vec.h"

/* Options that take the next word, if none is attached: letters, and names between spaces. */
struct takers {
	const char *letters, *names;
};

static const struct takers perf_takers = {
	"petuFcoCmjDkGrIx",
	" event pid tid uid freq count output cpu mmap-pages call-graph branch-filter delay clockid cgroup "
	"filter "
	"realtime user-regs intr-regs max-size control num-thread-synthesize ",
};
static const struct takers cpprof_takers = {
	"ptndDFceo",
	" pid tid name duration delay frequency freq count event stack-size deep-stack output format stream "
	"watch "
	"interval raw unwind workers min-quality checkpoint ring-size call-graph debug-dir symfs source-map ",
};

static const char *command_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static char *command_join(char *const *words, size_t n)
{
	struct text text = { 0 };

	for (size_t i = 0; i < n; i++)
		text_printf(&text, "%s%s", i ? " " : "", words[i]);
	return text.at ? text.at : alloc_text("");
}

static bool command_takes_next(const struct takers *takers, const char *word)
{
	if (word[1] != '-') {
		size_t at = 1;
		while (word[at] && !strchr(takers->letters, word[at]))
			at++;
		return word[at] && !word[at + 1];
	}
	if (strchr(word, '='))
		return false;
	const char *found = strstr(takers->names, word + 2);
	return found && found[-1] == ' ' && found[strlen(word + 2)] == ' ';
}

/* The value of -p X, -pX, --pid X or --pid=X; NULL if the word is another option. */
static const char *command_value(const char *word, const char *next, char letter, const char *name)
{
	size_t len = strlen(name);

	if (word[1] == letter)
		return word[2] ? word + 2 : next;
	if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, len) != 0)
		return NULL;
	return word[2 + len] == '=' ? word + 3 + len : word[2 + len] ? NULL : next;
}

/* Some tools write the whole command line as one word. */
static char *command_split(const char *line)
{
	CLEANUP(freep) char *copy = alloc_text(line);
	VEC(char *) words = { 0 };
	char *rest = NULL;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		vec_push(&words, word);
	char *recorded = perf_command_recorded(words.at, words.n);
	vec_done(&words);
	return recorded;
}

char *perf_command_recorded(char *const *words, size_t n)
{
	const char *space = n == 1 ? strchr(words[0], ' ') : NULL;

	if (space && space > words[0] && space[1] && space[1] != ' ')
		return command_split(words[0]);

	bool is_cpprof = n && strcmp(command_base_name(words[0]), "cpprof") == 0;
	const struct takers *takers = is_cpprof ? &cpprof_takers : &perf_takers;
	const char *pid = NULL, *tid = NULL;
	size_t i = 0;

	while (i < n && strcmp(words[i], "record") != 0 && strcmp(words[i], "attach") != 0)
		i++;
	for (i++; i < n && words[i][0] == '-' && strcmp(words[i], "--") != 0; i++) {
		const char *next = i + 1 < n ? words[i + 1] : NULL;
		pid = pid ? pid : command_value(words[i], next, 'p', "pid");
		tid = tid ? tid : command_value(words[i], next, 't', "tid");
		i += command_takes_next(takers, words[i]);
	}
	i += i < n && strcmp(words[i], "--") == 0;
	if (i < n)
		return command_join(words + i, n - i);
	if (pid)
		return alloc_printf("process %s", pid);
	return tid ? alloc_printf("thread %s", tid) : command_join(words, n);
}
