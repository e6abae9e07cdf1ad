/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "report/cycles/counts.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

#define COUNTS(HEAD)                                                                 \
	"{\"schema\":\"cpprof-paths\"" HEAD ",\"functions\":[{\"vaddr\":\"0x1000\"," \
	"\"blocks\":[{\"vaddr\":\"0x1040\",\"count\":7}]}]}"
#define COMMAND ",\"command\":\"./solve \\\"a\\\\b\\\" 5\""

/* Are only proportions known, for a profile of this mode and command? */
static bool is_relative(const char *text, const char *mode, const char *command)
{
	OWNED struct profile *p = profile_new();
	CLEANUP(cycles_counts_done) struct cycles_counts counts = { 0 };
	const struct bytes bytes = { (const uint8_t *)text, strlen(text) };
	struct diag diag = { 0 };

	p->run.mode = intern_add(&p->strings, mode);
	p->run.target = intern_add(&p->strings, command);
	CHECK_EQ(cycles_counts_parse(bytes, "counts", p, 0x1000, &counts, &diag), 0);
	CHECK(cycles_counts_of(&counts, 0x1040) == 7);
	CHECK(cycles_counts_of(&counts, 0x1000) < 0);
	return counts.is_relative;
}

TEST(counts_of_a_whole_run_of_the_command_are_exact)
{
	static const char command[] = "./solve \"a\\b\" 5";

	CHECK(!is_relative(COUNTS(",\"whole\":true" COMMAND), "record", command));
	CHECK(!is_relative(COUNTS(COMMAND ",\"whole\":true"), "record", command));
	CHECK(is_relative(COUNTS(",\"whole\":false" COMMAND), "record", command));
	CHECK(is_relative(COUNTS(COMMAND), "record", command));
}

TEST(counts_of_another_run_are_proportions)
{
	CHECK(is_relative(COUNTS(",\"whole\":true" COMMAND), "record", "./solve \"a\\b\" 6"));
	CHECK(is_relative(COUNTS(COMMAND ",\"whole\":true"), "record", "./solve \"a\\b\" 6"));
	CHECK(is_relative(COUNTS(",\"whole\":true" COMMAND), "attach", "./solve \"a\\b\" 5"));
}
