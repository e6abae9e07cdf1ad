/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares complete exports of the fixture with golden files. CPPROF_REFRESH=1 rewrites them; review the
 * difference.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "tests/test.h"
#include "tests/unit/report/export_fixture.h"

static char *read_whole(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = alloc_zero(1 << 20, 1);

	if (file) {
		(void)!fread(text, 1, (1 << 20) - 1, file);
		fclose(file);
	}
	return text;
}

static void check_golden(const char *format, const char *name)
{
	CLEANUP(freep) char *path = alloc_printf("%s/export/%s", GOLDEN_FOLDER, name);
	struct export_options options = { .metric = 1 };
	struct fixture fixture;

	fixture_init(&fixture);
	CLEANUP(freep) char *got = fixture_export(&fixture, format, &options, NULL);
	fixture_done(&fixture);
	if (getenv("CPPROF_REFRESH")) {
		FILE *file = fopen(path, "w");
		CHECK(file);
		fputs(got, file);
		fclose(file);
	}
	CLEANUP(freep) char *want = read_whole(path);
	CHECK_STR(got, want);
}

TEST(every_exporter_writes_a_profile_without_samples)
{
	for (const struct exporter *const *e = exporters; *e; e++) {
		struct export_options options = { .metric = 1 };
		struct fixture fixture;
		size_t len = 0;

		fixture_init(&fixture);
		fixture.tree.scopes.n = 1;
		fixture.tree.values.n = 0;
		CLEANUP(freep) char *got = fixture_export(&fixture, (*e)->name, &options, &len);
		CHECK(len > 0 || strcmp((*e)->name, "folded") == 0 || strcmp((*e)->name, "llvm-sample") == 0);
		fixture_done(&fixture);
	}
}

TEST(callgrind_has_the_observed_calls)
{
	struct export_options options = { .metric = 1 };
	struct fixture fixture;

	fixture_init(&fixture);
	fixture.tree.activations = fixture.tree.n_metrics++;
	for (uint32_t scope = 1; scope < fixture.tree.scopes.n; scope++)
		vec_push(&fixture.tree.values,
			 ((struct scope_value){ scope, 0, fixture.tree.activations, 4000000 + scope }));
	CLEANUP(freep) char *got = fixture_export(&fixture, "callgrind", &options, NULL);
	CHECK(strstr(got, "\ndesc: numbers of calls are lower bounds, from observed calls; 1 where they are "
			  "not counted\n"));
	CHECK(strstr(got, "\ncalls=4000001 "));
	CHECK(strstr(got, "\ncalls=4000002 "));
	fixture_done(&fixture);
}

TEST(callgrind_reads_as_its_golden_file)
{
	check_golden("callgrind", "callgrind");
}

TEST(openmetrics_reads_as_its_golden_file)
{
	check_golden("openmetrics", "openmetrics.prom");
}

TEST(svg_reads_as_its_golden_file)
{
	check_golden("svg", "flame.svg");
}

TEST(firefox_reads_as_its_golden_file)
{
	check_golden("firefox", "firefox.json");
}

TEST(llvm_sample_reads_as_its_golden_file)
{
	check_golden("llvm-sample", "llvm.prof");
}
