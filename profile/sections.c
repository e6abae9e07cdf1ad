/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/section.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const struct column run_columns[] = {
	COLUMN(struct profile_run, tool_version, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, command_line, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, mode, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, host, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, kernel, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, cpu, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, arch, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, target, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, n_cpus, CODE_PLAIN),
	COLUMN(struct profile_run, start_unix_ns, CODE_PLAIN),
	COLUMN(struct profile_run, duration_ns, CODE_PLAIN),
	COLUMN(struct profile_run, start_ns, CODE_PLAIN),
	COLUMN(struct profile_run, stack_size, CODE_PLAIN),
	COLUMN(struct profile_run, is_checkpoint, CODE_PLAIN),
	COLUMN(struct profile_run, is_resolved, CODE_PLAIN),
	COLUMN(struct profile_run, n_runs, CODE_PLAIN),
	COLUMN(struct profile_run, cpu_id, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_run, cycle_fs, CODE_PLAIN),
};
static const struct table run_table = TABLE(struct profile_run, run_columns);

static const struct column events_columns[] = {
	COLUMN(struct profile_event, name, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_event, unit, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_event, frequency, CODE_PLAIN),
	COLUMN(struct profile_event, period, CODE_PLAIN),
	COLUMN(struct profile_event, excludes_kernel, CODE_PLAIN),
};
static const struct table events_table = TABLE(struct profile_event, events_columns);

static const struct column metrics_columns[] = {
	COLUMN(struct profile_metric, name, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_metric, unit, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_metric, event, CODE_PLAIN, TO_OR_NONE(EVENT)),
};
static const struct table metrics_table = TABLE(struct profile_metric, metrics_columns);

static const struct column images_columns[] = {
	COLUMN(struct profile_image, path, CODE_DELTA, TO(STRING)),
	COLUMN(struct profile_image, kind, CODE_PLAIN),
	COLUMN(struct profile_image, elf_machine, CODE_PLAIN),
	COLUMN(struct profile_image, build_id, CODE_BUILD_ID),
	COLUMN(struct profile_image, debug, CODE_PLAIN, TO(STRING)),
	COLUMN(struct profile_image, pid, CODE_SIGNED),
	COLUMN(struct profile_image, writer, CODE_PLAIN),
};
static const struct table images_table = TABLE(struct profile_image, images_columns);

static const struct column processes_columns[] = {
	COLUMN(struct profile_process, pid, CODE_SIGNED),
	COLUMN(struct profile_process, parent_pid, CODE_SIGNED),
	COLUMN(struct profile_process, comm, CODE_DELTA, TO(STRING)),
	COLUMN(struct profile_process, command_line, CODE_DELTA, TO(STRING)),
	COLUMN(struct profile_process, start_ns, CODE_DELTA),
	COLUMN(struct profile_process, exit_ns, CODE_DELTA),
	COLUMN(struct profile_process, user, CODE_PLAIN),
	COLUMN(struct profile_process, group, CODE_PLAIN),
	COLUMN(struct profile_process, rank, CODE_DELTA),
	COLUMN(struct profile_process, is_unplaced, CODE_PLAIN),
};
static const struct table processes_table = TABLE(struct profile_process, processes_columns);

static const struct column threads_columns[] = {
	COLUMN(struct profile_thread, process, CODE_DELTA, TO(PROCESS)),
	COLUMN(struct profile_thread, tid, CODE_SIGNED),
	COLUMN(struct profile_thread, comm, CODE_DELTA, TO(STRING)),
	COLUMN(struct profile_thread, start_ns, CODE_DELTA),
	COLUMN(struct profile_thread, exit_ns, CODE_DELTA),
};
static const struct table threads_table = TABLE(struct profile_thread, threads_columns);

static const struct column bin_columns[] = {
	COLUMN(struct profile_bin, thread, CODE_DELTA, TO(THREAD)),
	COLUMN(struct profile_bin, bin, CODE_DELTA),
	COLUMN(struct profile_bin, samples, CODE_PLAIN),
};
static const struct table bin_table = TABLE(struct profile_bin, bin_columns);

struct note {
	uint32_t text;
};
static const struct column notes_columns[] = {
	COLUMN(struct note, text, CODE_PLAIN, TO(STRING)),
};
static const struct table notes_table = TABLE(struct note, notes_columns);

/* Strings: how many, their lengths, then all their bytes. Id 0 is always "". */
static void strings_encode(const struct profile *profile, struct writer *ret)
{
	const struct intern *strings = &profile->strings;

	write_uleb(ret, strings->strings.n);
	for (size_t i = 0; i < strings->strings.n; i++)
		write_uleb(ret, strings->lengths.at[i]);
	for (size_t i = 0; i < strings->strings.n; i++)
		write_bytes(ret, (struct bytes){ (const uint8_t *)strings->strings.at[i],
						 strings->lengths.at[i] });
}

static int strings_decode(struct decoder *decoder, struct profile *profile)
{
	struct reader lengths = reader_of(decoder->bytes);
	uint64_t n = read_uleb(&lengths);
	struct reader texts = lengths;

	if (lengths.failed || n > reader_left(&lengths))
		return decoder_refuse(decoder, "impossible number of strings");
	for (uint64_t i = 0; i < n; i++)
		read_uleb(&texts);
	for (uint64_t i = 0; i < n; i++) {
		struct bytes text = read_bytes(&texts, read_uleb(&lengths));
		if (texts.failed || text.len > UINT32_MAX)
			return decoder_refuse(decoder, "string %llu is truncated", (unsigned long long)i);
		if (text.len && memchr(text.at, 0, text.len))
			return decoder_refuse(decoder, "string %llu contains a zero byte",
					      (unsigned long long)i);
		if (intern_add_n(&profile->strings, (const char *)text.at, text.len) != i)
			return decoder_refuse(decoder, "string %llu occurs twice", (unsigned long long)i);
	}
	if (reader_left(&texts))
		return decoder_refuse(decoder, "%zu bytes too many", reader_left(&texts));
	decoder->limits[REF_STRING] = profile->strings.strings.n;
	return 0;
}

static void run_encode(const struct profile *profile, struct writer *ret)
{
	table_encode(&run_table, &profile->run, 1, ret);
}

static int run_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(freep) void *rows = NULL;
	size_t n;
	int error = table_decode(&run_table, decoder, &rows, &n);

	if (error < 0)
		return error;
	if (n != 1)
		return decoder_refuse(decoder, "%zu rows, not one", n);
	memcpy(&profile->run, rows, sizeof(profile->run));
	return 0;
}

/* The timeline's section is the width of a bin, followed by its table. */
static void timeline_encode(const struct profile *profile, struct writer *ret)
{
	write_uleb(ret, profile->bin_ns);
	table_encode(&bin_table, profile->timeline.at, profile->timeline.n, ret);
}

static int timeline_decode(struct decoder *decoder, struct profile *profile)
{
	struct reader r = reader_of(decoder->bytes);
	struct decoder rest = *decoder;
	void *rows;

	profile->bin_ns = read_uleb(&r);
	rest.bytes = bytes_from(decoder->bytes, reader_offset(&r));
	int error = table_decode(&bin_table, &rest, &rows, &profile->timeline.n);
	if (error < 0)
		return error;
	profile->timeline.at = rows;
	profile->timeline.cap = profile->timeline.n;
	if (profile->timeline.n > 0 && profile->bin_ns == 0)
		return decoder_refuse(decoder, "bins have no width");
	return 0;
}

/* Quality is a list of (counter, value), so that counters can be added and removed between versions. */
struct tally {
	uint32_t counter;
	uint64_t value;
};
static const struct column tally_columns[] = {
	COLUMN(struct tally, counter, CODE_PLAIN),
	COLUMN(struct tally, value, CODE_PLAIN),
};
static const struct table tally_table = TABLE(struct tally, tally_columns);

#define COUNTER_BY_END 0x100     /* + enum stack_end */
#define COUNTER_BY_WITNESS 0x200 /* + enum witness */

/* The field of a counter; NULL if the counter is not known. */
static uint64_t *counter_field(struct profile_quality *quality, uint32_t counter)
{
	uint64_t *const fields[] = {
		&quality->samples,         &quality->lost,           &quality->throttled,
		&quality->clipped,         &quality->own_cpu_ns,     &quality->own_peak_kb,
		&quality->unsymbolized,    &quality->without_lines,  &quality->damaged_units,
		&quality->wakeups,         &quality->outer,          &quality->counted,
		&quality->folded_contexts, &quality->folded_samples, &quality->unseen,
		&quality->locked_kb,       &quality->raised_by,      &quality->thinned_below,
		&quality->thinned_samples, &quality->idle,           &quality->others,
	};

	if (counter < ARRAY_LEN(fields))
		return fields[counter];
	if (counter >= COUNTER_BY_END && counter - COUNTER_BY_END < STACK_END_N)
		return &quality->by_end[counter - COUNTER_BY_END];
	if (counter >= COUNTER_BY_WITNESS && counter - COUNTER_BY_WITNESS < WITNESS_N)
		return &quality->steps_by_witness[counter - COUNTER_BY_WITNESS];
	return NULL;
}

static void quality_encode(const struct profile *profile, struct writer *ret)
{
	struct profile_quality quality = profile->quality;
	VEC(struct tally) tallies = { 0 };

	for (uint32_t counter = 0; counter < COUNTER_BY_WITNESS + WITNESS_N; counter++) {
		const uint64_t *field = counter_field(&quality, counter);
		if (field && *field)
			vec_push(&tallies, (struct tally){ counter, *field });
	}
	table_encode(&tally_table, tallies.at, tallies.n, ret);
	vec_done(&tallies);
}

static int quality_decode(struct decoder *decoder, struct profile *profile)
{
	CLEANUP(freep) void *rows = NULL;
	size_t n;
	int error = table_decode(&tally_table, decoder, &rows, &n);

	if (error < 0)
		return error;
	for (size_t i = 0; i < n; i++) {
		const struct tally *tally = (const struct tally *)rows + i;
		uint64_t *field = counter_field(&profile->quality, tally->counter);
		if (field)
			*field = tally->value;
	}
	return 0;
}

#define ROWS(section, field, kind)                                                    \
	{                                                                             \
		.number = SECTION_##section, .name = #field, .table = &field##_table, \
		.vec = offsetof(struct profile, field), .counts_as = REF_##kind       \
	}
#define CODED(section, field, required)                                               \
	{                                                                             \
		.number = SECTION_##section, .name = #field, .is_required = required, \
		.encode = field##_encode, .decode = field##_decode                    \
	}

static const struct section_type types[] = {
	CODED(STRINGS, strings, true),
	CODED(RUN, run, true),
	ROWS(EVENTS, events, EVENT),
	ROWS(METRICS, metrics, METRIC),
	ROWS(IMAGES, images, IMAGE),
	ROWS(PROCESSES, processes, PROCESS),
	ROWS(THREADS, threads, THREAD),
	CODED(NODES, nodes, true),
	CODED(TREE, tree, true),
	CODED(CONTEXTS, contexts, true),
	CODED(PATHS, paths, true),
	CODED(VALUES, values, false),
	CODED(TIMELINE, timeline, false),
	CODED(QUALITY, quality, false),
	ROWS(NOTES, notes, ANYTHING),
	CODED(FUNCTIONS, functions, false),
	CODED(STRUCTURES, structures, false),
	CODED(CODES, codes, false),
	CODED(ROUNDS, rounds, false),
	CODED(SPREAD, spread, false),
	CODED(ACTIVATIONS, activations, false),
	CODED(SAMPLES_BEFORE, samples_before, true),
	CODED(SAMPLES, samples, true),
	CODED(DURATIONS, durations, false),
	CODED(DOUBTS, doubts, false),
};

const struct section_type *section_types(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(types);
	return types;
}

void section_encode(const struct section_type *type, const struct profile *profile, struct writer *ret)
{
	struct any_vec vec;

	if (type->encode) {
		type->encode(profile, ret);
		return;
	}
	memcpy(&vec, (const char *)profile + type->vec, sizeof(vec));
	if (vec.n > 0)
		table_encode(type->table, vec.at, vec.n, ret);
}

int section_decode(const struct section_type *type, struct decoder *decoder, struct profile *profile)
{
	struct any_vec vec;

	if (type->decode)
		return type->decode(decoder, profile);

	int error = table_decode(type->table, decoder, &vec.at, &vec.n);
	if (error < 0)
		return error;
	vec.cap = vec.n;
	memcpy((char *)profile + type->vec, &vec, sizeof(vec));
	decoder->limits[type->counts_as] = vec.n;
	return 0;
}
