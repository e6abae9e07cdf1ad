/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes one of the synthetic profiles that the tests use: make_profile
 * sample|random|random:N|empty|hostile|none|one|kernel|threads|instances|deep|N FILE; N: a large one with
 * that many contexts; empty: no contents at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/made_profiles.h"
#include "tests/support/profiles.h"

/* Rank n of a job: each has a different tree and start time. */
static struct profile *nth_profile(uint32_t n)
{
	struct profile *profile = random_profile(1 + n / 2, 500);

	profile->run.start_unix_ns += n * UINT64_C(1234567890);
	for (size_t i = 0; i < profile->processes.n; i++)
		profile->processes.at[i].rank = 1 + n;
	return profile;
}

int main(int argc, char **argv)
{
	struct diag diag = { 0 };
	OWNED struct profile *profile = NULL;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "sample") == 0)
		profile = sample_profile();
	else if (strcmp(argv[1], "random") == 0)
		profile = random_profile(1, 500);
	else if (strncmp(argv[1], "random:", 7) == 0)
		profile = nth_profile((uint32_t)strtoul(argv[1] + 7, NULL, 10));
	else if (strcmp(argv[1], "deep") == 0)
		profile = deep_profile(20000);
	else if (strcmp(argv[1], "hostile") == 0)
		profile = hostile_profile();
	else if (strcmp(argv[1], "none") == 0)
		profile = profile_without_samples();
	else if (strcmp(argv[1], "one") == 0)
		profile = profile_of_one_sample();
	else if (strcmp(argv[1], "recursion") == 0)
		profile = profile_of_recursion();
	else if (strcmp(argv[1], "kernel") == 0)
		profile = profile_of_the_kernel();
	else if (strcmp(argv[1], "threads") == 0)
		profile = profile_of_threads(2000);
	else if (strcmp(argv[1], "instances") == 0)
		profile = profile_of_instances();
	else if (strtoul(argv[1], NULL, 10))
		profile = large_profile(strtoul(argv[1], NULL, 10));
	else
		profile = profile_new();
	if (profile_write(profile, argv[2], &diag) == 0)
		return 0;
	fprintf(stderr, "%s: %s\n", diag.what, diag.why);
	return 1;
}
