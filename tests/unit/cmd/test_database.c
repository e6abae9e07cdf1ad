/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/database.h"

#include <stdlib.h>
#include <time.h>

#include "cmd/daemon_metrics.h"
#include "tests/test.h"

#define NOW 1700000000000ull

static uint64_t time_of(const char *text)
{
	uint64_t ms = 0;

	CHECK(database_parse_time(text, NOW, &ms));
	return ms;
}

TEST(times_are_ages_dates_or_now)
{
	uint64_t ms;

	CHECK_EQ(time_of("now"), NOW);
	CHECK_EQ(time_of("3h"), NOW - 3 * 3600 * 1000);
	CHECK_EQ(time_of("1.5h"), NOW - 5400 * 1000);
	CHECK_EQ(time_of("2d"), NOW - 2 * 86400 * 1000ull);
	CHECK_EQ(time_of("90m"), NOW - 5400 * 1000);
	CHECK_EQ(time_of("30000d"), 0); /* earlier than 1970: clamped */
	setenv("TZ", "UTC", 1);
	tzset();
	CHECK_EQ(time_of("2023-11-14T22:13:20"), NOW);
	CHECK_EQ(time_of("2023-11-14 22:13"), NOW - 20 * 1000);
	CHECK_EQ(time_of("2023-11-14"), NOW - (22 * 3600 + 13 * 60 + 20) * 1000ull);
	static const char *const wrong[] = { "",        "3",          "h",           "-3h",
					     "3 hours", "2023-13-40", "2023-11-14x", "yesterday" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CHECK(!database_parse_time(wrong[i], NOW, &ms));
}

TEST(names_of_processes_cannot_break_the_metrics)
{
	struct profile *profile = profile_new();
	struct daemon_metrics metrics = { 0 };
	struct diag diag = { 0 };
	char path[] = "/tmp/cpprof_metrics.XXXXXX", text[4096] = "";

	vec_push(&profile->metrics, ((struct profile_metric){ 0, 0, UINT32_MAX }));
	vec_push(&profile->metrics, ((struct profile_metric){ 0, intern_add(&profile->strings, "ns"), 0 }));
	vec_push(&profile->processes,
		 ((struct profile_process){ .comm = intern_add(&profile->strings, "a\"b\\c\nd") }));
	vec_push(&profile->processes,
		 ((struct profile_process){ .comm = intern_add(&profile->strings, "a\"b\\c\td") }));
	vec_push(&profile->processes,
		 ((struct profile_process){ .comm = intern_add(&profile->strings, "caf\xc3") }));
	for (uint32_t i = 0; i < profile->processes.n; i++)
		vec_push(&profile->threads, ((struct profile_thread){ .process = i }));
	cct_add_value(&profile->cct, CCT_INCOMPLETE, 0, 0, 2);
	cct_add_value(&profile->cct, CCT_INCOMPLETE, 0, 1, 1500000000);
	cct_add_value(&profile->cct, CCT_INCOMPLETE, 1, 1, 1000000000);
	cct_add_value(&profile->cct, CCT_INCOMPLETE, 2, 1, 500000000);
	profile->quality.samples = 2;
	daemon_metrics_add(&metrics, profile);
	int fd = mkstemp(path);
	CHECK(fd >= 0);
	CHECK_EQ(daemon_metrics_write(&metrics, path, &diag), 0);
	FILE *file = fopen(path, "r");
	CHECK(file && fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	remove(path);
	CHECK(strstr(text, "cpprof_cpu_seconds_total{process=\"a\\\"b\\\\c?d\"} 2.500000000\n"));
	CHECK(strstr(text, "cpprof_cpu_seconds_total{process=\"caf?\"} 0.500000000\n"));
	CHECK(strstr(text, "\ncpprof_samples_total 2\n"));
	daemon_metrics_done(&metrics);
	profile_free(profile);
}
