/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runner: runs every TEST that was linked in; with arguments, only those whose name contains one; -NAME
 * leaves that one out.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "tests/test.h"

static struct test_case *tests;

void test_register(struct test_case *test)
{
	struct test_case **end = &tests;

	while (*end)
		end = &(*end)->next;
	*end = test;
}

static int passed;
int test_skipped;

/* A failing or skipped test leaves by longjmp, so only one that holds comes back here. */
static void run(void **state)
{
	((struct test_case *)*state)->run();
	passed++;
}

static bool wanted(const char *name, int argc, char **argv)
{
	bool is_wanted = true; /* unless some are named, and this is none of them */

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-' && strcmp(name, argv[i] + 1) == 0)
			return false;
		if (argv[i][0] != '-' && strstr(name, argv[i]))
			return true;
		is_wanted &= argv[i][0] == '-';
	}
	return is_wanted;
}

int main(int argc, char **argv)
{
	struct CMUnitTest *list = NULL;
	size_t n = 0;

	for (struct test_case *test = tests; test; test = test->next) {
		if (!wanted(test->name, argc, argv))
			continue;
		list = alloc_resize(list, n + 1, sizeof(*list));
		list[n++] =
			(struct CMUnitTest){ .name = test->name, .test_func = run, .initial_state = test };
	}
	int failed = _cmocka_run_group_tests(argv[0], list, n, NULL, NULL);
	free(list);
	printf("tally: %d passed, %d failed, %d skipped\n", passed, failed, test_skipped);
	return failed ? 1 : 0;
}
