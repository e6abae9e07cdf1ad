/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/group_reads.h"

#include <string.h>

void group_reads_done(struct group_reads *reads)
{
	map_done(&reads->by_stream);
	vec_done(&reads->last);
}

/* perf's own files do not say which copy of an event a sample belongs to, but there is one per thread. */
static struct group_last *group_reads_last(struct group_reads *reads, const struct perf_record *record)
{
	uint64_t key = record->stream ? record->stream
				      : hash_u64(record->id ^ (uint64_t)(uint32_t)record->tid << 32);
	uint32_t at = map_find(&reads->by_stream, key);

	if (at == MAP_NONE) {
		map_put(&reads->by_stream, key, at = (uint32_t)reads->last.n);
		vec_push(&reads->last, (struct group_last){ 0 });
	}
	return &reads->last.at[at];
}

/* A counter that went backwards has started again: another thread with the same tid. */
static uint64_t group_reads_since(uint64_t now, uint64_t *last)
{
	uint64_t since = now >= *last ? now - *last : now;

	*last = now;
	return since;
}

static uint64_t group_reads_word(const struct perf_counts *counts, uint64_t at)
{
	uint64_t word;

	memcpy(&word, counts->entries.at + 8 * at, sizeof(word));
	return word;
}

/* The position after the sample's own event: 0 = that event; SIZE_MAX = not a member of its group. */
static size_t group_reads_position(const struct perf_counts *counts, uint64_t i,
				   const struct group_members *members, uint32_t first)
{
	if (!counts->has_ids)
		return i == 0 ? 0 : SIZE_MAX;
	uint32_t event = members->event(members->context, group_reads_word(counts, i * counts->words + 1));
	return event == UINT32_MAX || event < first || event - first > SAMPLE_VALUES_MAX ? SIZE_MAX
											 : event - first;
}

void group_reads_apply(struct group_reads *reads, const struct perf_record *record,
		       const struct group_members *members, struct sample *sample)
{
	const struct perf_counts *counts = &record->sample.counts;

	if (!counts->entries.len)
		return;

	struct group_last *last = group_reads_last(reads, record);
	memset(sample->more, 0, sizeof(sample->more));
	for (uint64_t i = 0; i < counts->n; i++) {
		size_t at = group_reads_position(counts, i, members, sample->event);
		if (at == SIZE_MAX)
			continue;
		uint64_t value =
			group_reads_since(group_reads_word(counts, i * counts->words), &last->values[at]);
		if (at) {
			sample->more[at - 1] = value;
			sample->n_more = sample->n_more > at ? sample->n_more : (uint32_t)at;
		} else if (members->has_weight) {
			sample->weight = value;
		}
	}
}
