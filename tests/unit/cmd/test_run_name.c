/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_name.h"

#include <stdlib.h>

#include "tests/test.h"

static void check_name(const char *template, const char *want)
{
	char *name = run_name(template, 3, 12);

	CHECK_STR(name, want);
	free(name);
}

TEST(names_may_contain_run_and_rank)
{
	check_name("a-%n.data", "a-3.data");
	check_name("%r/%n%n", "12/33");
	check_name("%p-%t-%n", "%p-%t-3"); /* placeholders that are expanded later are kept */
	check_name("%%n-%%%n", "%%n-%%3"); /* so is an escaped percent sign */
	check_name("%", "%");
	check_name("", "");
	CHECK(run_name(NULL, 1, 1) == NULL);
}

TEST(placeholders_are_distinguished_from_escaped_percent_signs)
{
	CHECK(run_name_has("x%n", 'n'));
	CHECK(!run_name_has("x%%n", 'n'));
	CHECK(run_name_has("x%%%n", 'n'));
	CHECK(!run_name_has("x%", 'n'));
	CHECK(!run_name_has(NULL, 'n'));
}

TEST(the_rank_comes_from_the_launcher)
{
	uint32_t rank = 99;

	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("PMIX_RANK");
	unsetenv("PMI_RANK");
	unsetenv("SLURM_PROCID");
	CHECK(!run_rank(&rank));
	setenv("SLURM_PROCID", "4", 1);
	CHECK(run_rank(&rank));
	CHECK_EQ(rank, 4);
	setenv("PMI_RANK", "3", 1);
	CHECK(run_rank(&rank));
	CHECK_EQ(rank, 3);
	setenv("PMIX_RANK", "2", 1);
	setenv("OMPI_COMM_WORLD_RANK", "1", 1);
	CHECK(run_rank(&rank));
	CHECK_EQ(rank, 1);
	setenv("OMPI_COMM_WORLD_RANK", "-1", 1); /* invalid: the next variable is used */
	CHECK(run_rank(&rank));
	CHECK_EQ(rank, 2);
	setenv("PMIX_RANK", "2x", 1);
	CHECK(run_rank(&rank));
	CHECK_EQ(rank, 3);
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("PMIX_RANK");
	unsetenv("PMI_RANK");
	unsetenv("SLURM_PROCID");
}
