/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that converts timelines to one clock.
 *
 * Bins of a merge begin at multiples of their width since 1970, and widths are powers of two times the first:
 * so widening in two steps gives the same result as in one. The error is at most the width of a bin, because
 * bins of a recording begin at its start.
 */
#include <string.h>

#include "profile/merge_private.h"
#include "profile/timeline.h"

#define WIDTH_MAX ((uint64_t)TIMELINE_FIRST_NS << 39) /* the widest that fits into 64 bits */

struct merge_bin {
	uint32_t thread;
	uint64_t bin, samples;
};
typedef VEC(struct merge_bin) merge_rows;

void merge_times_init(struct merge_times *times)
{
	times->bin_ns = TIMELINE_FIRST_NS;
}

/* ---- the log ------------------------------------------------------------------------------------ */

/* Consecutive rows of one thread; those in one bin are combined. */
static void merge_times_log(struct merge_times *times, const struct merge_bin *rows, size_t n)
{
	struct merge_bin sum = rows[0];
	uint64_t last = 0;
	size_t n_bins = 1;

	for (size_t i = 1; i < n; i++)
		n_bins += rows[i].bin != rows[i - 1].bin;
	write_uleb(&times->log, rows[0].thread);
	write_uleb(&times->log, n_bins);
	for (size_t i = 1; i <= n; i++) {
		if (i < n && rows[i].bin == sum.bin) {
			sum.samples += rows[i].samples;
			continue;
		}
		write_uleb(&times->log, sum.bin - last);
		write_uleb(&times->log, sum.samples);
		last = sum.bin;
		sum = i < n ? rows[i] : sum;
	}
	times->n += n_bins;
}

static void merge_times_log_all(struct merge_times *times, const merge_rows *rows)
{
	size_t n;

	for (size_t i = 0; i < rows->n; i += n) {
		for (n = 1; i + n < rows->n && rows->at[i + n].thread == rows->at[i].thread; n++)
			;
		merge_times_log(times, rows->at + i, n);
	}
}

/* Everything that was logged, in bins that are wider by this factor. */
static void merge_times_read(const struct merge_times *times, uint64_t times_as_wide, merge_rows *ret)
{
	struct reader r = reader_of(writer_bytes(&times->log));

	while (reader_left(&r)) {
		struct merge_bin row = { .thread = (uint32_t)read_uleb(&r) };
		uint64_t n = read_uleb(&r), bin = 0;
		for (uint64_t i = 0; i < n; i++) {
			bin += read_uleb(&r);
			row.bin = bin / times_as_wide;
			row.samples = read_uleb(&r);
			vec_push(ret, row);
		}
	}
}

static int merge_times_compare(const void *a, const void *b)
{
	const struct merge_bin *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->bin > y->bin) - (x->bin < y->bin);
}

static void merge_times_sort(merge_rows *rows)
{
	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), merge_times_compare);
}

/* Sorted, if bins of several threads are to be combined; otherwise in the order of the threads, which is
 * kept. */
static void merge_times_widen(struct merge_times *times, uint64_t bin_ns, bool sorts)
{
	merge_rows rows = { 0 };

	merge_times_read(times, bin_ns / times->bin_ns, &rows);
	if (sorts)
		merge_times_sort(&rows);
	writer_clear(&times->log);
	times->n = 0;
	times->bin_ns = bin_ns;
	merge_times_log_all(times, &rows);
	times->settled = times->log.len;
	vec_done(&rows);
}

/* ---- adding ------------------------------------------------------------------------------------- */

/* When a bin of `from` begins; a start of 0 is that of a run without wall-clock time. */
static uint64_t merge_bin_time(uint64_t start_ns, uint64_t bin_ns, uint32_t bin)
{
	uint64_t at = start_ns / bin_ns, time_ns;

	if (__builtin_add_overflow(at, bin, &at) || __builtin_mul_overflow(at, bin_ns, &time_ns))
		return UINT64_MAX;
	return time_ns;
}

static bool merge_times_fit(const struct merge_times *times, uint64_t start_ns, uint64_t bin_ns)
{
	uint64_t end = times->end_ns[0] / bin_ns, start = start_ns / bin_ns;

	return (end < start || end - start < TIMELINE_BINS) && times->end_ns[1] / bin_ns < TIMELINE_BINS;
}

/* The smallest width, at least min_ns, for which all bins fit. */
static uint64_t merge_times_width(const struct merge_times *times, uint64_t start_ns, uint64_t min_ns)
{
	uint64_t bin_ns = times->bin_ns;

	while (bin_ns < WIDTH_MAX && (bin_ns < min_ns || !merge_times_fit(times, start_ns, bin_ns)))
		bin_ns *= 2;
	return bin_ns;
}

/* The earliest start so far; 0 = none is known. */
static uint64_t merge_times_start(const struct merger *m)
{
	uint64_t all = m->all->run.start_unix_ns, from = m->from->run.start_unix_ns;

	return all && (!from || all < from) ? all : from;
}

void merge_times_add(struct merger *m)
{
	const struct profile *from = m->from;
	struct merge_times *times = &m->times;
	merge_rows rows = { 0 };

	for (size_t i = 0; i < from->timeline.n; i++) {
		const struct profile_bin *bin = &from->timeline.at[i];
		bool is_placed = merge_is_placed(from, from->threads.at[bin->thread].process);
		uint64_t start_ns = is_placed ? from->run.start_unix_ns : 0;
		uint64_t time_ns = merge_bin_time(start_ns, from->bin_ns, bin->bin);
		if (time_ns > times->end_ns[!is_placed])
			times->end_ns[!is_placed] = time_ns;
		vec_push(&rows, (struct merge_bin){ m->thread[bin->thread], time_ns, bin->samples });
	}
	if (rows.n == 0)
		return;
	uint64_t bin_ns = merge_times_width(times, merge_times_start(m), from->bin_ns);
	if (bin_ns > times->bin_ns)
		merge_times_widen(times, bin_ns, m->options.reduces || m->options.joins);
	for (size_t i = 0; i < rows.n; i++)
		rows.at[i].bin /= bin_ns;
	merge_times_log_all(times, &rows);
	if ((m->options.reduces || m->options.joins) && times->log.len > 2 * times->settled + 65536)
		merge_times_widen(times, bin_ns, true);
	vec_done(&rows);
}

void merge_times_add_log(struct merger *m, const struct merge_times *other, const uint32_t *thread,
			 size_t n_threads)
{
	struct merge_times *times = &m->times;
	merge_rows rows = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(times->end_ns); i++)
		if (other->end_ns[i] > times->end_ns[i])
			times->end_ns[i] = other->end_ns[i];
	uint64_t bin_ns = merge_times_width(times, m->all->run.start_unix_ns, other->bin_ns);
	if (bin_ns > times->bin_ns)
		merge_times_widen(times, bin_ns, false);
	merge_times_read(other, bin_ns / other->bin_ns, &rows);
	for (size_t i = 0; i < rows.n; i++)
		rows.at[i].thread = rows.at[i].thread < n_threads ? thread[rows.at[i].thread] : 0;
	merge_times_log_all(times, &rows);
	vec_done(&rows);
}

/* ---- the result --------------------------------------------------------------------------------- */

void merge_times_finish(struct merger *m, const uint32_t *thread)
{
	struct profile *all = m->all;
	uint64_t bin_ns = merge_times_width(&m->times, all->run.start_unix_ns, 0);
	uint64_t first = all->run.start_unix_ns / bin_ns;
	merge_rows rows = { 0 };
	size_t n = 0;

	merge_times_read(&m->times, bin_ns / m->times.bin_ns, &rows);
	writer_done(&m->times.log);
	for (size_t i = 0; i < rows.n; i++)
		rows.at[i].thread = thread[rows.at[i].thread];
	merge_times_sort(&rows);
	/* In place, where the rows were: a bin is smaller than a row, and there may be millions. */
	for (size_t i = 0; i < rows.n; i++) {
		struct merge_bin row = rows.at[i];
		const struct profile_process *process =
			&all->processes.at[all->threads.at[row.thread].process];
		uint64_t before = process->is_unplaced ? 0 : first;
		struct profile_bin bin = { row.thread, (uint32_t)(row.bin > before ? row.bin - before : 0),
					   row.samples };
		for (; i + 1 < rows.n && merge_times_compare(&row, &rows.at[i + 1]) == 0; i++)
			bin.samples += rows.at[i + 1].samples;
		memcpy((char *)rows.at + n++ * sizeof(bin), &bin, sizeof(bin));
	}
	all->timeline.at = (void *)rows.at;
	all->timeline.n = n;
	all->timeline.cap = rows.cap; /* and more */
	all->bin_ns = bin_ns;
}
