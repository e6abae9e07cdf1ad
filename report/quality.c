/* SPDX-License-Identifier: Apache-2.0 */
#include "report/quality.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/number.h"
#include "report/waits.h"

#define DEEP_SHARE 50            /* more than one stack in this many is worth a hint */
#define LOST_SHARE 20            /* one sample in this many lost is worth a hint */
#define SHORT_NS 1000000000u     /* a command that has ended by then has used little CPU time, but some */
#define BETWEEN_MIN_NS 50000000u /* of CPU time: with less, the ends of intervals have too much weight */
#define BETWEEN_MIN_INTERVALS 50 /* the same for other events */
#define BETWEEN_MIN_PERCENT 10   /* that threads end is no fault */
#define LATE_MIN_PERCENT 1       /* what nothing explains */
#define OVER_MAX_PERCENT 1
#define CHANCE_ERRORS 3 /* standard errors of the number of samples */
#define UNPLACED_MIN_PERCENT 1

double quality_percent(const struct profile_quality *quality)
{
	return number_share(quality->by_end[STACK_COMPLETE], quality->samples + quality->lost);
}

static bool quality_is_clock(const struct profile *profile)
{
	return profile->metrics.n >= 2 &&
	       strcmp(intern_text(&profile->strings, profile->metrics.at[1].unit), "ns") == 0;
}

void quality_add_what(struct text *ret, const struct profile *profile)
{
	const char *name = quality_is_clock(profile) || profile->metrics.n < 2
				   ? "CPU time"
				   : intern_text(&profile->strings, profile->metrics.at[1].name);

	style_safe(ret, &(struct style){ 0 }, name);
}

bool quality_account(const struct profile *profile, struct quality_account *ret)
{
	const struct profile_quality *quality = &profile->quality;

	*ret = (struct quality_account){ .is_time = quality_is_clock(profile), .counted = quality->counted };
	ret->has_kernel = ret->is_time && profile->events.n && profile->events.at[0].excludes_kernel;
	if (profile->metrics.n < 2 || !quality->counted)
		return false;
	ret->sampled = profile_sum(profile, 1);
	if (quality->samples)
		ret->lost =
			(uint64_t)((double)ret->sampled / (double)quality->samples * (double)quality->lost);
	ret->idle = quality->idle;
	ret->others = quality->others;
	ret->ours = ret->counted - ret->idle - ret->others;
	if (ret->idle + ret->others >= ret->counted) /* the last intervals may end later */
		ret->ours = 1;
	ret->between = (int64_t)(ret->counted - ret->sampled - ret->lost - ret->idle - ret->others);
	if (ret->idle && quality->samples)
		ret->chance = CHANCE_ERRORS * (double)ret->sampled / sqrt((double)quality->samples);
	return true;
}

/* The same, if it is enough to judge by. */
static bool quality_long_account(const struct profile *profile, struct quality_account *ret)
{
	if (!quality_account(profile, ret))
		return false;
	if (ret->is_time)
		return ret->counted >= BETWEEN_MIN_NS;
	return ret->sampled &&
	       (double)ret->counted / (double)ret->sampled * (double)profile->quality.samples >=
		       BETWEEN_MIN_INTERVALS;
}

/*
 * Of what is missing, the part that threads that ended cannot account for, in percent: each of them, on each
 * CPU that it ran on, leaves less than one interval without a sample. The timer was late then: it fires only
 * once however long it had to wait, because interrupts were disabled, or because the host of a virtual
 * machine ran something else.
 */
static double quality_late(const struct profile *profile, const struct quality_account *account)
{
	uint64_t n_cpus = profile->run.n_cpus ? profile->run.n_cpus : 1;

	if (!profile->quality.samples || !account->is_time || account->has_kernel)
		return 0;
	double interval = (double)account->sampled / (double)profile->quality.samples;
	double late = (double)account->between - interval * (double)profile->threads.n * (double)n_cpus;
	return late > 0 ? 100 * late / (double)account->ours : 0;
}

double quality_between(const struct profile *profile)
{
	struct quality_account account;

	if (profile->run.is_checkpoint) /* the last samples were still in the kernel's buffers */
		return 0;
	if (!quality_long_account(profile, &account) || (double)account.between <= account.chance)
		return 0;
	double percent = number_share((uint64_t)account.between, account.ours);
	bool is_much = percent >= BETWEEN_MIN_PERCENT || quality_late(profile, &account) >= LATE_MIN_PERCENT;
	return is_much ? percent : 0;
}

enum between { BETWEEN_ENDS, BETWEEN_LATE, BETWEEN_KERNEL };

static enum between quality_between_why(const struct profile *profile)
{
	struct quality_account account;

	if (!quality_account(profile, &account))
		return BETWEEN_ENDS;
	return account.has_kernel                    ? BETWEEN_KERNEL
	       : quality_late(profile, &account) > 0 ? BETWEEN_LATE
						     : BETWEEN_ENDS;
}

double quality_unplaced(const struct profile *profile)
{
	uint32_t metric = wait_metrics_of(profile).off_cpu;

	return metric ? number_share(profile_sum_unplaced(profile, metric), profile_sum(profile, metric)) : 0;
}

double quality_seen(const struct profile *profile)
{
	struct quality_account account;

	return quality_account(profile, &account) ? number_share(account.sampled, account.ours) : -1;
}

bool quality_meets(const struct profile *profile, const struct quality_bar *bar, struct text *why)
{
	double complete = quality_percent(&profile->quality), seen = quality_seen(profile);
	CLEANUP(text_done) struct text what = { 0 };
	struct quality_account account;
	bool is_chance = quality_account(profile, &account) && account.chance > 0 &&
			 (double)account.ours - (double)account.sampled <= account.chance;

	quality_add_what(&what, profile);
	if (complete < bar->complete)
		text_printf(why, "%.1f%% of the stacks are complete; --min-quality requires %.4g", complete,
			    bar->complete);
	else if (bar->seen > 0 && seen < 0)
		text_printf(why,
			    "the sampled share of the %s is not known for this recording; "
			    "--min-quality requires seen=%.4g",
			    what.at, bar->seen);
	else if (bar->seen > 0 && seen < bar->seen && !is_chance)
		text_printf(why, "%.1f%% of the %s %s sampled%s; --min-quality requires seen=%.4g", seen,
			    what.at, quality_is_clock(profile) ? "was" : "were",
			    quality_between_why(profile) == BETWEEN_KERNEL ? ", without the kernel's" : "",
			    bar->seen);
	else
		return true;
	return false;
}

/* The weight of all samples of event 0, if that is time. */
static uint64_t sampled_ns(const struct profile *profile)
{
	return quality_is_clock(profile) ? profile_sum(profile, 1) : 0;
}

double quality_rate(const struct profile *profile)
{
	uint64_t ns = sampled_ns(profile), samples = profile->quality.samples;
	struct wait_metrics waits = wait_metrics_of(profile);
	uint64_t n_waits = waits.sampled ? profile_sum(profile, waits.sampled) : 0;

	if (waits.off_cpu == 1) /* nothing else was sampled */
		return 0;
	samples = samples > n_waits ? samples - n_waits : 0;
	if (ns == 0)
		ns = profile->run.duration_ns;
	return ns ? (double)samples * 1e9 / (double)ns : 0;
}

void quality_add_words(struct text *ret, const char *name)
{
	for (; *name; name++)
		text_add(ret, *name == '_' ? " " : name, 1);
}

/* "(1.1% snapshot ended, 0.2% no recipe)", the most frequent first. */
static void add_ends(const struct profile_quality *quality, struct text *ret)
{
	bool is_shown[STACK_END_N] = { [STACK_COMPLETE] = true };
	const char *before = " (";
	char number[NUMBER_MAX];

	for (;;) {
		int most = -1;
		for (int end = 0; end < STACK_END_N; end++)
			if (!is_shown[end] && quality->by_end[end] > 0 &&
			    (most < 0 || quality->by_end[end] > quality->by_end[most]))
				most = end;
		if (most < 0)
			break;
		is_shown[most] = true;
		text_printf(ret, "%s%s ", before,
			    number_percent(number_share(quality->by_end[most], quality->samples), number));
		quality_add_words(ret, stack_end_name((enum stack_end)most));
		before = ", ";
	}
	if (strcmp(before, ", ") == 0)
		text_printf(ret, ")");
}

static bool quality_is_live(const struct profile *profile)
{
	return strcmp(intern_text(&profile->strings, profile->run.mode), "import") != 0;
}

static void add_cost(const struct profile *profile, struct text *ret)
{
	const struct profile_quality *quality = &profile->quality;
	char time[NUMBER_MAX], share[NUMBER_MAX];

	if (quality->own_cpu_ns == 0 || !quality_is_live(profile))
		return;
	text_printf(ret, ", cpprof used %s", number_time(quality->own_cpu_ns, time));
	if (profile->run.duration_ns && quality->samples) /* the cost of starting up is not representative */
		text_printf(
			ret, " (%s of a CPU)",
			number_percent(number_share(quality->own_cpu_ns, profile->run.duration_ns), share));
}

/* Is it a trace of calls, or a sample of allocations? */
static bool quality_is_trace(const struct profile *profile)
{
	return strcmp(intern_text(&profile->strings, profile->run.mode), "trace") == 0;
}

bool quality_is_traced(const struct profile *profile)
{
	return quality_is_trace(profile) && quality_is_clock(profile);
}

const char *quality_unit(const struct profile *profile)
{
	return quality_is_traced(profile) ? "call" : "sample";
}

static const char *const between_words[] = {
	[BETWEEN_ENDS] = "short-lived threads",
	[BETWEEN_LATE] = "the timer was late",
	[BETWEEN_KERNEL] = "in the kernel, or short-lived threads",
};

void quality_line(const struct profile *profile, struct text *ret)
{
	const struct profile_quality *quality = &profile->quality;
	CLEANUP(text_done) struct text what = { 0 };
	char number[NUMBER_MAX];

	quality_add_what(&what, profile);
	text_printf(ret, "quality: %s %s%s", number_count(quality->samples, number), quality_unit(profile),
		    quality->samples == 1 ? "" : "s");
	if (quality->samples > 0) {
		double complete = number_share(quality->by_end[STACK_COMPLETE], quality->samples);
		text_printf(ret, ", %s complete", number_percent(complete, number));
		add_ends(quality, ret);
	}
	text_printf(ret, ", %s lost", number_count(quality->lost, number));
	if (quality->unseen)
		text_printf(ret, ", representing %s more that were not measured",
			    number_count(quality->unseen, number));
	if (quality_between(profile) > 0)
		text_printf(ret, ", %s of %s %s not sampled (%s)",
			    number_percent(quality_between(profile), number), what.at,
			    quality_is_clock(profile) ? "was" : "were",
			    between_words[quality_between_why(profile)]);
	if (quality_unplaced(profile) >= UNPLACED_MIN_PERCENT)
		text_printf(ret, ", %s of waiting time without a call path",
			    number_percent(quality_unplaced(profile), number));
	struct quality_account account;
	if (quality_long_account(profile, &account) &&
	    account.between < -(int64_t)(account.ours / 100 * OVER_MAX_PERCENT))
		text_printf(ret, ", samples represent %s more %s than the kernel counted",
			    number_percent(number_share((uint64_t)-account.between, account.ours), number),
			    what.at);
	if (quality->throttled)
		text_printf(ret, ", throttled %s time%s", number_count(quality->throttled, number),
			    quality->throttled == 1 ? "" : "s");
	if (quality->folded_contexts)
		text_printf(ret, ", %s in contexts folded to save memory",
			    number_percent(number_share(quality->folded_samples, quality->samples), number));
	if (quality->thinned_samples)
		text_printf(ret, ", %s of the samples are represented by similar call paths to save space",
			    number_percent(number_share(quality->thinned_samples, quality->samples), number));
	if (quality->shortened_frames)
		text_printf(ret, ", %s frames without all of their inlined calls and loops",
			    number_count(quality->shortened_frames, number));
	if (profile->run.is_resolved && quality->samples > 0)
		text_printf(ret, ", %s unsymbolised",
			    number_percent(number_share(quality->unsymbolized, quality->samples), number));
	if (quality_rate(profile) > 0 && !quality_is_trace(profile))
		text_printf(ret, ", %.0f Hz", quality_rate(profile));
	add_cost(profile, ret);
	if (profile->run.is_checkpoint)
		text_printf(ret, ", checkpoint: the end of the recording is missing");
}

void quality_each(const struct profile *profile, void (*put)(void *context, const char *name, double value),
		  void *context)
{
	const struct profile_quality *quality = &profile->quality;
	struct text name = { 0 };

	put(context, "samples", (double)quality->samples);
	put(context, "complete_percent", quality_percent(quality));
	put(context, "lost", (double)quality->lost);
	put(context, "throttled", (double)quality->throttled);
	put(context, "between_samples_percent", quality_between(profile));
	if (wait_metrics_of(profile).off_cpu)
		put(context, "waits_without_path_percent", quality_unplaced(profile));
	struct quality_account account;
	if (quality_account(profile, &account)) {
		put(context, account.is_time ? "account.counted_ns" : "account.counted",
		    (double)account.counted);
		put(context, account.is_time ? "account.sampled_ns" : "account.sampled",
		    (double)account.sampled);
		put(context, account.is_time ? "account.lost_ns" : "account.lost", (double)account.lost);
		put(context, account.is_time ? "account.idle_ns" : "account.idle", (double)account.idle);
		put(context, account.is_time ? "account.others_ns" : "account.others",
		    (double)account.others);
		put(context, account.is_time ? "account.between_ns" : "account.between",
		    (double)account.between);
	}
	put(context, "clipped", (double)quality->clipped);
	put(context, "unsymbolized", (double)quality->unsymbolized);
	put(context, "without_lines", (double)quality->without_lines);
	put(context, "damaged_units", (double)quality->damaged_units);
	if (quality->shortened_frames)
		put(context, "shortened_frames", (double)quality->shortened_frames);
	put(context, "rate_hz", quality_rate(profile));
	put(context, "own_cpu_ns", (double)quality->own_cpu_ns);
	put(context, "own_peak_kb", (double)quality->own_peak_kb);
	for (int end = 0; end < STACK_END_N; end++) {
		text_clear(&name);
		text_printf(&name, "by_end.%s", stack_end_name((enum stack_end)end));
		put(context, name.at, (double)quality->by_end[end]);
	}
	for (int witness = WITNESS_NONE + 1; witness < WITNESS_N; witness++) {
		text_clear(&name);
		text_printf(&name, "by_witness.%s", witness_name((enum witness)witness));
		put(context, name.at, (double)quality->steps_by_witness[witness]);
	}
	text_done(&name);
}

#define SHORT_LIVED "processes and threads that ended before their first sample are missing"
#define TIMER_LATE                                                                                         \
	"the sampling timer was late, as happens when the host of a virtual machine is busy, and at very " \
	"high rates; percentages are correct, times are too low"

#define IN_KERNEL                                                                                         \
	"time in the kernel is excluded, and processes and threads that ended before their first sample " \
	"are "                                                                                            \
	"missing"

/* The note of the recording that deep stacks could not be copied; NULL if there is none. */
static const char *quality_no_deep(const struct profile *profile)
{
	const char start[] = "stacks deeper than --stack-size are cut off:";

	for (size_t i = 0; i < profile->notes.n; i++) {
		const char *note = profile->strings.strings.at[profile->notes.at[i]];
		if (strncmp(note, start, strlen(start)) == 0)
			return note;
	}
	return NULL;
}

const char *quality_missing(const struct profile *profile)
{
	static const char *const sentences[] = {
		[BETWEEN_ENDS] = SHORT_LIVED "; try a higher -F, or --clock auto as root",
		[BETWEEN_LATE] = TIMER_LATE,
		[BETWEEN_KERNEL] = IN_KERNEL,
	};

	if (quality_between(profile) <= 0 || !profile->quality.samples)
		return NULL;
	return sentences[quality_between_why(profile)];
}

/* If many stacks ended at the end of the copied part. */
static const char *quality_deep_hint(const struct profile *profile)
{
	if (!quality_is_live(profile))
		return "many stacks are deeper than the part that was copied; copy more (perf record "
		       "--call-graph dwarf,65528), or record with cpprof as root";
	if (profile->quality.outer)
		return "many stacks are too deep, or change too fast, to be copied; try a larger "
		       "--deep-stack or --ring-size, or a lower -F";
	const char *why = quality_no_deep(profile);
	if (why && !strstr(why, "CAP_BPF")) /* privileges would not help */
		return why;
	return "many stacks are deeper than the part that was copied; as root (or with CAP_BPF and "
	       "CAP_PERFMON) they are copied whole; --stack-size 65528 copies more";
}

const char *quality_hint(const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;

	bool loses = quality->samples && quality->lost * LOST_SHARE > quality->samples + quality->lost;

	if (loses && quality_is_traced(profile))
		return "many calls were lost because there are too many to copy the stack of each; try a "
		       "smaller --stack-size, or trace functions that are called less often";
	if (loses && quality_is_trace(profile))
		return "many samples were lost because the kernel's buffers were full; try a larger "
		       "--every, or a smaller --stack-size";
	if (loses)
		return quality_is_live(profile) ? "many samples were lost because the kernel's buffers were "
						  "full; try a lower -F, a smaller --stack-size, or larger "
						  "buffers: --ring-size, with ulimit -l or as root"
						: "many samples were lost during the recording";
	const char *missing = quality_missing(profile);
	if (quality->by_end[STACK_SNAPSHOT_ENDED] * DEEP_SHARE <= quality->samples)
		return missing;
	/* Nothing can be done about the others: other hints come first. */
	return missing && quality_between_why(profile) == BETWEEN_ENDS ? missing : quality_deep_hint(profile);
}

const char *quality_no_samples(const struct profile *profile)
{
	if (quality_is_trace(profile) && !quality_is_traced(profile))
		return "no allocation was sampled during the recording; try a smaller --every";
	if (quality_is_traced(profile))
		return "no call of the traced functions ended during the recording";
	if (profile->quality.lost > 0)
		return "every sample was lost; try a lower rate with -F or a smaller --stack-size";
	if (quality_between(profile) > 0)
		return quality_between_why(profile) == BETWEEN_KERNEL ? IN_KERNEL "; try -F 20000, or root"
								      : SHORT_LIVED "; try -F 20000";
	if (strcmp(intern_text(&profile->strings, profile->run.mode), "record") == 0 &&
	    profile->run.duration_ns < SHORT_NS)
		return "the run was too short; about one sample is taken per millisecond of CPU time, more "
		       "with -F 20000";
	return "the target used no CPU time during the recording";
}
