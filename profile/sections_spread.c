/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spread of values over ranks, in the file: the number of ranks, then a row for each node and metric.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "profile/section.h"

static const struct column spread_columns[] = {
	COLUMN(struct profile_spread, node, CODE_DELTA, TO(NODE)),
	COLUMN(struct profile_spread, metric, CODE_DELTA, TO(METRIC)),
	COLUMN(struct profile_spread, kind, CODE_PLAIN),
	COLUMN(struct profile_spread, n, CODE_PLAIN),
	COLUMN(struct profile_spread, min, CODE_PLAIN),
	COLUMN(struct profile_spread, max, CODE_PLAIN),
	COLUMN(struct profile_spread, min_rank, CODE_PLAIN, TO_OR_NONE(ANYTHING)),
	COLUMN(struct profile_spread, max_rank, CODE_PLAIN, TO_OR_NONE(ANYTHING)),
	COLUMN(struct profile_spread, squares, CODE_PLAIN),
	COLUMN(struct profile_spread, squares_high, CODE_PLAIN),
};
static const struct table spread_table = TABLE(struct profile_spread, spread_columns);

void spread_encode(const struct profile *profile, struct writer *ret)
{
	if (!profile->n_ranks)
		return;
	write_uleb(ret, profile->n_ranks);
	table_encode(&spread_table, profile->spread.at, profile->spread.n, ret);
}

static bool spread_is_before(const struct profile_spread *a, const struct profile_spread *b)
{
	if (a->node != b->node)
		return a->node < b->node;
	return a->metric != b->metric ? a->metric < b->metric : a->kind < b->kind;
}

static int spread_check(const struct decoder *decoder, const struct profile *profile)
{
	for (size_t i = 0; i < profile->spread.n; i++) {
		const struct profile_spread *row = &profile->spread.at[i];
		if (i && !spread_is_before(row - 1, row))
			return decoder_refuse(decoder, "row %zu is out of order", i);
		if (row->kind >= SPREAD_KIND_N || row->n == 0 || row->n > profile->n_ranks ||
		    row->min > row->max)
			return decoder_refuse(decoder, "row %zu contradicts itself", i);
	}
	return 0;
}

int spread_decode(struct decoder *decoder, struct profile *profile)
{
	struct reader r = reader_of(decoder->bytes);
	struct decoder rest = *decoder;
	void *rows;

	profile->n_ranks = read_uleb(&r);
	if (r.failed || profile->n_ranks == 0 || profile->n_ranks > UINT32_MAX)
		return decoder_refuse(decoder, "impossible number of ranks");
	rest.bytes = bytes_from(decoder->bytes, reader_offset(&r));
	int error = table_decode(&spread_table, &rest, &rows, &profile->spread.n);
	if (error < 0)
		return error;
	profile->spread.at = rows;
	profile->spread.cap = profile->spread.n;
	return spread_check(decoder, profile);
}
