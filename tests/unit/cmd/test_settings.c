/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json_tree.h"
#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/settings.h"

/* A command "sub" of a group "top", with an option of each kind. */
struct given {
	uint64_t number, positive, size;
	double seconds, percent;
	bool flag;
	int count, choice;
	const char *text;
	struct option_list list, rules;
};

static struct given given;
static char folder[] = "/tmp/cpprof-settings-XXXXXX";
static char path[sizeof(folder) + 32];

static int never_run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static const struct command subs[] = { { "sub", never_run, "" },
				       { "other", never_run, "" },
				       { NULL, NULL, NULL } };
static const struct command_group sub_group = { "cpprof top", "X", "", subs, NULL };
static const struct command tops[] = { { "top", never_run, "" },
				       { "second", never_run, "" },
				       { NULL, NULL, NULL } };
static const struct command_group top_group = { "cpprof", "X", "", tops, NULL };

static void write_settings(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	fputs(text, file);
	fclose(file);
	CHECK_EQ(chmod(path, mode), 0);
}

static void remove_folder(void)
{
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
}

static void prepare(void)
{
	static bool is_ready;

	if (!json_tree_is_there())
		SKIP("this build has no cJSON");
	option_list_done(&given.list);
	option_list_done(&given.rules);
	given = (struct given){ .number = 1, .positive = 2, .size = 3, .text = "default" };
	if (is_ready)
		return;
	is_ready = true;
	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/cpprof", folder);
	CHECK_EQ(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/cpprof/config.json", folder);
	atexit(remove_folder);
	setenv("XDG_CONFIG_HOME", folder, 1);
	settings_enter(&top_group, "top");
	settings_enter(&sub_group, "sub");
}

/* The exit code of options_parse for up to six words. */
static int parse(char *argv[8])
{
	static const struct option_rivals rivals[] = { { "number", "positive" }, { NULL, NULL } };
	const struct option_spec specs[] = {
		{ 'n', "number", OPTION_NUMBER, &given.number, "N", "" },
		{ 'p', "positive", OPTION_POSITIVE, &given.positive, "N", "" },
		{ 's', "size", OPTION_SIZE, &given.size, "N", "" },
		{ 0, "old-size", OPTION_SIZE, &given.size, "N", NULL },
		{ 0, "seconds", OPTION_SECONDS, &given.seconds, "N", "" },
		{ 0, "percent", OPTION_PERCENT, &given.percent, "N", "" },
		{ 'f', "flag", OPTION_FLAG, &given.flag, NULL, "" },
		{ 'v', "verbose", OPTION_COUNT, &given.count, NULL, "" },
		{ 0, "choice", OPTION_CHOICE, &given.choice, "one|two|three", "" },
		{ 0, "text", OPTION_TEXT, &given.text, "T", "" },
		{ 'l', "list", OPTION_LIST, &given.list, "L", "" },
		{ 0, "rules", OPTION_RULES, &given.rules, "R", "" },
		{ 0 },
	};
	struct command_line line = { .command = "top sub", .usage = "", .specs = specs, .rivals = rivals };
	int argc = 0;

	while (argv[argc])
		argc++;
	return options_parse(&line, argc, argv);
}

#define PARSE(...) parse((char *[8]){ "sub", __VA_ARGS__ })

static const char all[] = "{\"second\": {\"whatever\": 1}, \"top\": {\"other\": {\"x\": 1}, \"sub\": "
			  "{\"number\": 10, \"positive\": 20,"
			  " \"size\": \"16k\", \"seconds\": 0.25, \"percent\": 99.5, \"flag\": true, "
			  "\"verbose\": 2, \"choice\": \"three\","
			  " \"text\": \"words\", \"list\": [\"a,b\", 7], \"rules\": [\"o=n\"]}}}";

TEST(settings_are_the_defaults_of_options)
{
	prepare();
	write_settings(all, 0600);
	CHECK_EQ(PARSE(NULL), -1);
	CHECK_EQ(given.number, 10);
	CHECK_EQ(given.positive, 20);
	CHECK_EQ(given.size, 16384);
	CHECK(given.seconds == 0.25 && given.percent == 99.5);
	CHECK(given.flag);
	CHECK_EQ(given.count, 2);
	CHECK_EQ(given.choice, 2);
	CHECK_STR(given.text, "words");
	CHECK_EQ(given.list.values.n, 3);
	CHECK_STR(given.list.values.at[1], "b");
	CHECK_STR(given.list.values.at[2], "7");
	CHECK_STR(given.rules.values.at[0], "o=n");
}

TEST(settings_yield_to_the_command_line)
{
	prepare();
	write_settings(all, 0600);
	CHECK_EQ(PARSE("-s5", "--no-flag", "--list", "c", "--text=", "-v"), -1);
	CHECK_EQ(given.size, 5);
	CHECK(!given.flag);
	CHECK_EQ(given.list.values.n, 1); /* replaces the list in the file, does not extend it */
	CHECK_STR(given.list.values.at[0], "c");
	CHECK_STR(given.text, "");
	CHECK_EQ(given.count, 1);
	CHECK_EQ(given.number, 10); /* not on the command line: from the file */

	prepare();
	CHECK_EQ(PARSE("--old-size", "6", "-n4"), -1);
	CHECK_EQ(given.size, 6);     /* an alias of --size */
	CHECK_EQ(given.positive, 2); /* -n excludes it: the setting is ignored */

	prepare();
	CHECK_EQ(PARSE("--no-config"), -1);
	CHECK_EQ(given.number, 1);
	CHECK_STR(given.text, "default");
}

TEST(invalid_settings_are_refused)
{
	static const char *const bad[] = {
		"[]",
		"{\"tap\": {}}",
		"{\"top\": {\"sib\": {}}}",
		"{\"top\": 1}",
		"{\"top\": {\"sub\": []}}",
		"{\"top\": {\"sub\": {\"nomber\": 1}}}",
		"{\"top\": {\"sub\": {\"number\": 1.5}}}",
		"{\"top\": {\"sub\": {\"number\": -1}}}",
		"{\"top\": {\"sub\": {\"number\": 9007199254740993}}}",
		"{\"top\": {\"sub\": {\"number\": true}}}",
		"{\"top\": {\"sub\": {\"number\": null}}}",
		"{\"top\": {\"sub\": {\"positive\": 0}}}",
		"{\"top\": {\"sub\": {\"percent\": 101}}}",
		"{\"top\": {\"sub\": {\"flag\": 1}}}",
		"{\"top\": {\"sub\": {\"flag\": \"yes\"}}}",
		"{\"top\": {\"sub\": {\"verbose\": 1e9}}}",
		"{\"top\": {\"sub\": {\"choice\": \"four\"}}}",
		"{\"top\": {\"sub\": {\"choice\": 1}}}",
		"{\"top\": {\"sub\": {\"text\": 1}}}",
		"{\"top\": {\"sub\": {\"list\": {\"a\": 1}}}}",
		"{\"top\": {\"sub\": {\"list\": [[\"a\"]]}}}",
		"{\"top\": {\"sub\": {\"rules\": [\"none\"]}}}",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		prepare();
		write_settings(bad[i], 0600);
		if (PARSE(NULL) != EXIT_USAGE)
			CHECK_STR("taken", bad[i]);
		CHECK_EQ(PARSE("--no-config"), -1);
	}
}

TEST(settings_are_only_read_from_a_file_that_only_the_user_can_write)
{
	char aside[sizeof(path) + 8];

	prepare();
	write_settings(all, 0620);
	CHECK_EQ(PARSE(NULL), -1);
	CHECK_EQ(given.number, 1);
	write_settings(all, 0602);
	CHECK_EQ(PARSE(NULL), -1);
	CHECK_EQ(given.number, 1);
	write_settings(all, 0644);
	CHECK_EQ(PARSE(NULL), -1);
	CHECK_EQ(given.number, 10);

	prepare();
	snprintf(aside, sizeof(aside), "%s.aside", path);
	CHECK_EQ(rename(path, aside), 0);
	CHECK_EQ(PARSE(NULL), -1); /* no file */
	CHECK_EQ(given.number, 1);
	CHECK_EQ(symlink(aside, path), 0);
	CHECK_EQ(PARSE(NULL), -1);
	CHECK_EQ(given.number, 1);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK_EQ(PARSE(NULL), -1); /* a FIFO: opening it does not block */
	CHECK_EQ(given.number, 1);
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(unlink(aside), 0);
}

TEST(settings_of_another_user_are_not_read)
{
	if (geteuid() != 0)
		SKIP("only root can make a file of another user");
	prepare();
	write_settings(all, 0644);
	CHECK_EQ(chown(path, 1234, 1234), 0);
	CHECK_EQ(PARSE(NULL), -1);
	CHECK_EQ(given.number, 1);
	CHECK_EQ(unlink(path), 0);
}
