/* SPDX-License-Identifier: Apache-2.0 */
#include "report/quality.h"
#include "tests/support/profiles.h"
#include "tests/test.h"

TEST(quality_counts_lost_samples_as_incomplete)
{
	struct profile_quality quality = { .samples = 90, .lost = 10 };

	CHECK(quality_percent(&quality) == 0);
	quality.by_end[STACK_COMPLETE] = 90;
	CHECK(quality_percent(&quality) == 90);
	CHECK(quality_percent(&(struct profile_quality){ 0 }) == 0);
}

TEST(quality_line_mentions_all_problems)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text line = { 0 };

	quality_line(p, &line);
	CHECK_STR(line.at,
		  "quality: 100 samples, 85.0% complete (10.0% no image, 5.0% no recipe), 2 lost, "
		  "throttled 1 time, 10.0% unsymbolised, 997 Hz, cpprof used 20.0 ms (1.0% of a CPU)");
}

TEST(quality_line_of_a_good_profile_is_short)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text line = { 0 };

	p->quality = (struct profile_quality){ .samples = 100, .by_end = { [STACK_COMPLETE] = 100 } };
	quality_line(p, &line);
	CHECK_STR(line.at, "quality: 100 samples, 100% complete, 0 lost, 0% unsymbolised, 997 Hz");
}

TEST(quality_line_without_samples_does_not_divide_by_zero)
{
	OWNED struct profile *p = profile_new();
	CLEANUP(text_done) struct text line = { 0 };

	quality_line(p, &line);
	CHECK_STR(line.at, "quality: 0 samples, 0 lost");
}

TEST(quality_table_shows_every_end_and_witness)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text table = { 0 };

	vec_push(&p->notes, intern_add(&p->strings, "no \033[31mterminal obeys this"));
	quality_table(p, NULL, NULL, &(struct style){ 0 }, &table);
	CHECK(strstr(table.at, "\n  complete                              85    85.0%\n"));
	CHECK(strstr(table.at, "\n  no image                              10    10.0%\n"));
	CHECK(strstr(table.at, "\n  cfi                                  400    99.3%\n"));
	CHECK(strstr(table.at, "\nnote: kernel stacks were not permitted\n"));
	CHECK(strstr(table.at, "\nnote: no ?[31mterminal obeys this\n"));
	CHECK(!strstr(table.at, "changed on the machine"));
	CHECK(strstr(table.at, "cpprof's CPU time"));
	p->quality.own_cpu_ns = p->quality.own_peak_kb = 0; /* an import, whose cost is not stored */
	text_clear(&table);
	quality_table(p, NULL, NULL, &(struct style){ 0 }, &table);
	CHECK(!strstr(table.at, "cpprof's"));
}

TEST(quality_table_shows_overhead_and_changes_to_the_machine)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text table = { 0 };

	p->quality.locked_kb = 16384;
	p->quality.raised_by = 10;
	p->quality.outer = 0;
	p->run.stack_size = 16384;
	quality_table(p, NULL, NULL, &(struct style){ 0 }, &table);
	CHECK(strstr(table.at, "\n  taken from the target, ~          372 us\nchanged on the machine\n"));
	CHECK(strstr(table.at, "\n  locked memory                    16.8 MB\n"));
	CHECK(strstr(table.at, "\n  priority raised by                    10\n"));
}

TEST(quality_reports_time_without_samples)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text line = { 0 };
	uint64_t sampled = profile_sum(p, 1);

	CHECK_EQ(quality_between(p), 0);                      /* unknown */
	p->quality.counted = sampled * 102 / 100 * 105 / 100; /* 2 % were lost, and 5 % is below the limit */
	CHECK_EQ(quality_between(p), 0);
	p->quality.counted = sampled * 2;
	CHECK(quality_between(p) > 48 && quality_between(p) < 50);
	quality_line(p, &line);
	CHECK(strstr(line.at, "49.0% of CPU time was not sampled (the timer was late)"));
	CHECK(strstr(quality_hint(p), "the host of a virtual machine"));
	p->quality.by_end[STACK_SNAPSHOT_ENDED] += 10; /* has a remedy: this hint is shown */
	CHECK(strstr(quality_hint(p), "--deep-stack"));
	p->quality.by_end[STACK_SNAPSHOT_ENDED] -= 10;
	while (p->threads.n < 200) /* at least as many threads as missing samples */
		vec_push(&p->threads, (struct profile_thread){ .tid = (int32_t)p->threads.n });
	text_clear(&line);
	quality_line(p, &line);
	CHECK(strstr(line.at, "49.0% of CPU time was not sampled (short-lived threads)"));
	CHECK(strstr(quality_hint(p), "a higher -F"));

	OWNED struct profile *none = profile_new();
	struct profile_metric metrics[] = { { .event = UINT32_MAX },
					    { .unit = intern_add(&none->strings, "ns") } };
	vec_push(&none->metrics, metrics[0]);
	vec_push(&none->metrics, metrics[1]);
	none->run.duration_ns = 1000000000;
	CHECK(strstr(quality_no_samples(none), "used no CPU time"));
	none->quality.counted = 200000000;
	CHECK(strstr(quality_no_samples(none), "ended before their first sample"));
}

TEST(quality_accounts_for_all_counted_time)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text table = { 0 }, line = { 0 };
	struct quality_account account;
	uint64_t sampled = profile_sum(p, 1);

	CHECK(!quality_account(p, &account));
	CHECK(quality_seen(p) < 0);
	p->quality.counted = sampled * 2;
	CHECK(quality_account(p, &account));
	CHECK_EQ(account.lost, sampled / 50); /* 2 of 100 */
	CHECK_EQ((int64_t)account.counted, (int64_t)(account.sampled + account.lost) + account.between);
	CHECK(quality_seen(p) == 50);
	quality_table(p, NULL, NULL, &(struct style){ 0 }, &table);
	CHECK(strstr(table.at, "  in samples ") && strstr(table.at, "  50.0%\n"));
	CHECK(strstr(table.at, "  between samples ") && strstr(table.at, "  49.0%\n"));
	p->quality.idle = sampled / 2;
	p->quality.others = sampled / 4;
	CHECK(quality_account(p, &account));
	CHECK_EQ(account.ours, account.counted - sampled / 2 - sampled / 4);
	CHECK_EQ((int64_t)(account.ours - account.sampled - account.lost), account.between);
	CHECK(quality_seen(p) == 80);
	text_clear(&table);
	quality_table(p, NULL, NULL, &(struct style){ 0 }, &table);
	CHECK(strstr(table.at, "  of idle CPUs ") && strstr(table.at, "  of other processes "));
	p->quality.idle = p->quality.others = 0;
	p->quality.counted = sampled * 9 / 10; /* as if a weight had been counted twice */
	quality_line(p, &line);
	CHECK(strstr(line.at, "samples represent 13.3% more CPU time than the kernel counted"));
}

TEST(quality_of_an_idle_machine_allows_for_chance)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text why = { 0 };
	struct quality_bar bar = { .seen = 99 };
	uint64_t sampled = profile_sum(p, 1);

	p->quality.samples = 100; /* three standard errors are 30 % */
	p->quality.lost = 0;
	p->quality.idle = sampled * 10;
	p->quality.counted = sampled * 11 + sampled / 4;
	CHECK_EQ(quality_between(p), 0);
	CHECK(quality_meets(p, &bar, &why));
	p->quality.counted = sampled * 11 + sampled / 2;
	CHECK(quality_between(p) > 33 && quality_between(p) < 34);
	CHECK(!quality_meets(p, &bar, &why));
	p->quality.counted = sampled * 12;
	p->quality.lost = 100; /* that is no chance */
	CHECK_EQ(quality_between(p), 0);
	CHECK(!quality_meets(p, &bar, &why));
}

TEST(quality_says_how_much_time_a_clock_without_the_kernel_does_not_sample)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text line = { 0 }, table = { 0 }, why = { 0 };

	p->events.at[0].excludes_kernel = 1;
	p->quality.counted = profile_sum(p, 1) * 2;
	quality_line(p, &line);
	CHECK(strstr(line.at, "49.0% of CPU time was not sampled (in the kernel, or short-lived threads)"));
	CHECK(strstr(quality_hint(p), "time in the kernel is excluded"));
	quality_table(p, NULL, NULL, &(struct style){ 0 }, &table);
	CHECK(strstr(table.at, "  in the kernel, or between ") && strstr(table.at, "  49.0%\n"));
	CHECK(!quality_meets(p, &(struct quality_bar){ .seen = 51 }, &why));
	CHECK(strstr(why.at, "50.0% of the CPU time was sampled, without the kernel's"));
	p->quality.samples = p->quality.lost = 0;
	CHECK(strstr(quality_no_samples(p), "time in the kernel is excluded"));
}

TEST(quality_line_says_so_if_one_percent_is_missing_and_nothing_explains_it)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text line = { 0 };
	uint64_t sampled = profile_sum(p, 1);

	p->quality.lost = 0;
	p->run.n_cpus = 1; /* three threads: up to 3 of 100 intervals are explained */
	p->quality.counted = sampled * 1035 / 1000;
	CHECK_EQ(quality_between(p), 0);
	p->quality.counted = sampled * 105 / 100;
	quality_line(p, &line);
	CHECK(strstr(line.at, "4.8% of CPU time was not sampled (the timer was late)"));
	p->run.is_checkpoint = 1; /* the last samples were still in the kernel's buffers */
	CHECK_EQ(quality_between(p), 0);
}

TEST(quality_accounts_for_events_that_are_not_time)
{
	OWNED struct profile *p = sample_profile();
	CLEANUP(text_done) struct text table = { 0 }, line = { 0 }, why = { 0 };
	struct quality_account account;

	p->metrics.at[1].name = intern_add(&p->strings, "cycles");
	p->metrics.at[1].unit = intern_add(&p->strings, "count");
	p->quality.counted = profile_sum(p, 1) * 2;
	CHECK(quality_account(p, &account) && !account.is_time);
	quality_line(p, &line);
	CHECK(strstr(line.at, "49.0% of cycles were not sampled (short-lived threads)"));
	quality_table(p, NULL, NULL, &(struct style){ 0 }, &table);
	CHECK(strstr(table.at, "cycles\n  counted by the kernel "));
	CHECK(!quality_meets(p, &(struct quality_bar){ .seen = 51 }, &why));
	CHECK(strstr(why.at, "50.0% of the cycles were sampled"));
	p->metrics.at[1].name = intern_add(&p->strings, "\033[2Jcycles");
	text_clear(&line);
	quality_line(p, &line);
	CHECK(strstr(line.at, "of ?[2Jcycles were not sampled"));
	p->quality.samples = 20; /* too few to judge */
	CHECK_EQ(quality_between(p), 0);
}

TEST(quality_can_be_required_for_stacks_and_for_cpu_time)
{
	OWNED struct profile *p = sample_profile(); /* 85 of 102 stacks are complete */
	CLEANUP(text_done) struct text why = { 0 };

	CHECK(quality_meets(p, &(struct quality_bar){ 0 }, &why));
	CHECK(quality_meets(p, &(struct quality_bar){ .complete = 80 }, &why));
	CHECK(!quality_meets(p, &(struct quality_bar){ .complete = 84 }, &why));
	CHECK(strstr(why.at, "83.3% of the stacks are complete"));
	text_clear(&why);
	CHECK(!quality_meets(p, &(struct quality_bar){ .seen = 1 }, &why));
	CHECK(strstr(why.at, "not known"));
	text_clear(&why);
	p->quality.counted = profile_sum(p, 1) * 2;
	CHECK(quality_meets(p, &(struct quality_bar){ .complete = 80, .seen = 49 }, &why));
	CHECK(!quality_meets(p, &(struct quality_bar){ .complete = 80, .seen = 51 }, &why));
	CHECK(strstr(why.at, "50.0% of the CPU time was sampled"));
}

TEST(quality_hint_says_how_to_lose_fewer_samples)
{
	OWNED struct profile *p = sample_profile();

	p->quality.samples = 100;
	p->quality.lost = 5;
	CHECK(!quality_hint(p));
	p->quality.lost = 6;
	CHECK(strstr(quality_hint(p), "--ring-size"));
	p->run.mode = intern_add(&p->strings, "import");
	CHECK_STR(quality_hint(p), "many samples were lost during the recording");
}

TEST(quality_hint_says_how_to_get_deep_stacks)
{
	OWNED struct profile *p = sample_profile();

	CHECK(!quality_hint(p));
	p->quality.by_end[STACK_SNAPSHOT_ENDED] = 3; /* of 100 */
	p->quality.outer = 0;
	CHECK(strstr(quality_hint(p), "CAP_BPF"));
	CHECK(strstr(quality_hint(p), "--stack-size 65528"));
	vec_push(&p->notes,
		 intern_add(&p->strings, "stacks deeper than --stack-size are cut off: there is no libbpf"));
	CHECK_STR(quality_hint(p), "stacks deeper than --stack-size are cut off: there is no libbpf");
	p->quality.outer = 50; /* deep stacks were copied, but not all completely */
	CHECK(strstr(quality_hint(p), "--deep-stack"));
	p->run.mode = intern_add(&p->strings, "import");
	CHECK(strstr(quality_hint(p), "perf record"));
}

TEST(quality_no_samples_distinguishes_short_and_idle_runs)
{
	OWNED struct profile *p = profile_new();

	p->run.mode = intern_add(&p->strings, "record");
	p->run.duration_ns = 30000000;
	CHECK(strstr(quality_no_samples(p), "too short"));
	p->run.duration_ns = 3000000000;
	CHECK(strstr(quality_no_samples(p), "no CPU time"));
	p->run.mode = intern_add(&p->strings, "attach");
	p->run.duration_ns = 30000000;
	CHECK(strstr(quality_no_samples(p), "no CPU time"));
	p->quality.lost = 1;
	CHECK(strstr(quality_no_samples(p), "every sample was lost"));
}
