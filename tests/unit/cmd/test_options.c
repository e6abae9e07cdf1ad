/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/options.h"

struct given {
	uint64_t frequency, size;
	double seconds, percent;
	bool inherit, all_user;
	int verbose, format;
	const char *out;
	struct option_list pids, events;
};

struct parsed {
	struct given given;
	struct option_spec specs[12];
	struct command_line line;
	int code;
};

/* Parses up to seven words after the command's name. */
static void parse(struct parsed *p, bool stops_at_operand, char *argv[8])
{
	struct given *g = &p->given;
	const struct option_spec specs[] = {
		{ 'F', "frequency", OPTION_NUMBER, &g->frequency, "HZ", "rate" },
		{ 0, "stack-size", OPTION_SIZE, &g->size, "BYTES", "size" },
		{ 'd', "duration", OPTION_SECONDS, &g->seconds, "SEC", "time" },
		{ 0, "min-quality", OPTION_PERCENT, &g->percent, "PCT", "quality" },
		{ 0, "inherit", OPTION_FLAG, &g->inherit, NULL, "follow" },
		{ 'u', "all-user", OPTION_FLAG, &g->all_user, NULL, "user only" },
		{ 'v', "verbose", OPTION_COUNT, &g->verbose, NULL, "more" },
		{ 'f', "format", OPTION_CHOICE, &g->format, "text|json|md", "format" },
		{ 'o', "output", OPTION_TEXT, &g->out, "FILE", "file" },
		{ 'p', "pid", OPTION_LIST, &g->pids, "PID", "pids" },
		{ 'e', "event", OPTION_TEXTS, &g->events, "EVENT", "events" },
		{ 0 },
	};
	int argc = 0;

	memset(p, 0, sizeof(*p));
	g->inherit = true;
	memcpy(p->specs, specs, sizeof(specs));
	p->line = (struct command_line){ .command = "test", .usage = "", .specs = p->specs };
	p->line.stops_at_operand = stops_at_operand;
	while (argv[argc])
		argc++;
	p->code = options_parse(&p->line, argc, argv);
}

#define PARSE(p, ...) parse(p, false, (char *[8]){ "test", __VA_ARGS__ })
#define PARSE_COMMAND(p, ...) parse(p, true, (char *[8]){ "test", __VA_ARGS__ })

TEST(options_takes_values_attached_and_separate)
{
	struct parsed p;

	PARSE(&p, "-F99", "--stack-size=16k", "-d", "500ms", "--min-quality", "95%");
	CHECK_EQ(p.code, -1);
	CHECK_EQ(p.given.frequency, 99);
	CHECK_EQ(p.given.size, 16384);
	CHECK(p.given.seconds == 0.5);
	CHECK(p.given.percent == 95);
	CHECK_EQ(p.line.n_operands, 0);
}

TEST(options_every_flag_has_its_no_form)
{
	struct parsed p;

	PARSE(&p, "--no-inherit", "--all-user");
	CHECK_EQ(p.code, -1);
	CHECK(!p.given.inherit);
	CHECK(p.given.all_user);
	PARSE(&p, "--all-user", "--no-all-user");
	CHECK(!p.given.all_user);
	PARSE(&p, "--no-output");
	CHECK_EQ(p.code, EXIT_USAGE);
}

TEST(options_clusters_letters)
{
	struct parsed p;

	PARSE(&p, "-vuv", "-vo-");
	CHECK_EQ(p.code, -1);
	CHECK_EQ(p.given.verbose, 3);
	CHECK(p.given.all_user);
	CHECK_STR(p.given.out, "-");
}

TEST(options_lists_are_split_and_texts_are_not)
{
	struct parsed p;

	PARSE(&p, "-p", "1,2", "-p3", "-e", "a,b");
	CHECK_EQ(p.given.pids.values.n, 3);
	CHECK_STR(p.given.pids.values.at[2], "3");
	CHECK_EQ(p.given.events.values.n, 1);
	CHECK_STR(p.given.events.values.at[0], "a,b");
	option_list_done(&p.given.pids);
	option_list_done(&p.given.events);
}

TEST(options_choice_is_the_position_of_the_word)
{
	struct parsed p;

	PARSE(&p, "--format", "md");
	CHECK_EQ(p.given.format, 2);
	PARSE(&p, "--format", "js");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "--format", "");
	CHECK_EQ(p.code, EXIT_USAGE);
}

TEST(options_operands_may_be_anywhere)
{
	struct parsed p;

	PARSE(&p, "one", "-v", "two", "--", "-v");
	CHECK_EQ(p.code, -1);
	CHECK_EQ(p.given.verbose, 1);
	CHECK_EQ(p.line.n_operands, 3);
	CHECK_STR(p.line.operands[0], "one");
	CHECK_STR(p.line.operands[1], "two");
	CHECK_STR(p.line.operands[2], "-v");
	CHECK(p.line.operands[3] == NULL);
}

TEST(options_after_a_command_belong_to_it)
{
	struct parsed p;

	PARSE_COMMAND(&p, "-v", "ls", "-F", "--no-such", "--", "x");
	CHECK_EQ(p.code, -1);
	CHECK_EQ(p.given.verbose, 1);
	CHECK_EQ(p.line.n_operands, 5);
	CHECK_STR(p.line.operands[0], "ls");
	CHECK_STR(p.line.operands[3], "--");
}

TEST(options_refuse_invalid_values)
{
	struct parsed p;

	PARSE(&p, "-F", "x");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "-F", "12x");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "-F", "-1");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "-F", "99999999999999999999999");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "-F");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "--stack-size", "17179869184g");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "-d", "nan");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "--min-quality", "101");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "--all-user=1");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "--frequenzy", "1");
	CHECK_EQ(p.code, EXIT_USAGE);
	PARSE(&p, "-Z");
	CHECK_EQ(p.code, EXIT_USAGE);
}

TEST(options_nearest_finds_only_typing_errors)
{
	static const char *const names[] = { "record", "report", "attach" };

	CHECK_STR(text_nearest("recrod", names, 3), "record");
	CHECK_STR(text_nearest("reprt", names, 3), "report");
	CHECK(text_nearest("zebra", names, 3) == NULL);
}
