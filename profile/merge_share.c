/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of merge that several processes do together: everything except values is sent up to the first, and
 * numbers come back.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/merge_private.h"

/* ---- numbers ------------------------------------------------------------------------------------ */

void merge_numbers_done(struct merge_numbers *numbers)
{
	for (size_t kind = 0; kind < NUMBER_KINDS; kind++)
		vec_done(&numbers->of[kind]);
	*numbers = (struct merge_numbers){ 0 };
}

void merge_numbers_follow(struct merge_numbers *numbers, const struct merge_numbers *next)
{
	numbers->n_nodes = next->n_nodes;
	for (size_t kind = 0; kind < NUMBER_KINDS; kind++) {
		if (next->of[kind].n == 0) /* the chain ends here */
			vec_clear(&numbers->of[kind]);
		for (size_t i = 0; i < numbers->of[kind].n; i++)
			numbers->of[kind].at[i] = next->of[kind].at[numbers->of[kind].at[i]];
	}
}

void merge_numbers_pack(const struct merge_numbers *numbers, struct writer *ret)
{
	write_uleb(ret, numbers->n_nodes);
	for (size_t kind = 0; kind < NUMBER_KINDS; kind++) {
		write_uleb(ret, numbers->of[kind].n);
		for (size_t i = 0; i < numbers->of[kind].n; i++)
			write_uleb(ret, numbers->of[kind].at[i]);
	}
}

int merge_numbers_parse(struct bytes bytes, struct merge_numbers *ret)
{
	struct reader r = reader_of(bytes);

	*ret = (struct merge_numbers){ .n_nodes = (uint32_t)read_uleb(&r) };
	for (size_t kind = 0; kind < NUMBER_KINDS; kind++)
		for (uint64_t n = read_uleb(&r); n > 0 && !r.failed; n--)
			vec_push(&ret->of[kind], (uint32_t)read_uleb(&r));
	return r.failed || reader_left(&r) ? -EBADMSG : 0;
}

/* ---- up ----------------------------------------------------------------------------------------- */

void merger_close(struct merger *m)
{
	merge_digest(m);
}

static void share_write_digests(struct writer *ret, const uint64_t *digests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		write_u64(ret, digests[i]);
}

void merger_pack_share(struct merger *m, struct writer *ret)
{
	CLEANUP(writer_done) struct writer file = { 0 };

	if (m->n_added == 0)
		return;
	merge_digest(m);
	merge_order_times(m->all);
	merge_functions_finish(m->all);
	write_uleb(ret, m->n_added);
	write_uleb(ret, m->events_differ);
	write_uleb(ret, m->values->n + m->n_shared);
	write_uleb(ret, m->times.bin_ns);
	write_uleb(ret, m->times.end_ns[0]);
	write_uleb(ret, m->times.end_ns[1]);
	write_uleb(ret, m->times.n);
	write_uleb(ret, m->times.log.len);
	write_bytes(ret, writer_bytes(&m->times.log));
	write_uleb(ret, m->all->threads.n + m->all->images.n);
	share_write_digests(ret, m->digests.thread.at, m->all->threads.n);
	share_write_digests(ret, m->digests.image.at, m->all->images.n);
	profile_pack_fast(m->all, &file);
	write_bytes(ret, writer_bytes(&file));
}

/* The form in which it is sent. */
struct share {
	uint64_t n_added, events_differ, n_values;
	struct merge_times times; /* its log is the sender's bytes */
	struct bytes digests;
	struct profile *profile;
};

static int share_parse(struct bytes bytes, const char *name, struct share *ret, struct diag *diag)
{
	struct reader r = reader_of(bytes);

	ret->n_added = read_uleb(&r);
	ret->events_differ = read_uleb(&r);
	ret->n_values = read_uleb(&r);
	ret->times.bin_ns = read_uleb(&r);
	ret->times.end_ns[0] = read_uleb(&r);
	ret->times.end_ns[1] = read_uleb(&r);
	ret->times.n = read_uleb(&r);
	struct bytes log = read_bytes(&r, read_uleb(&r));
	write_bytes(&ret->times.log, log);
	uint64_t n = read_uleb(&r);
	ret->digests = read_bytes(&r, n * sizeof(uint64_t));
	if (r.failed || ret->times.bin_ns == 0)
		return diag_set(diag, -EBADMSG, "%s is not complete", name);
	int error = profile_parse(bytes_from(bytes, reader_offset(&r)), name, &ret->profile, diag);
	if (error == 0 && n != ret->profile->threads.n + ret->profile->images.n)
		error = diag_set(diag, -EBADMSG, "%s is not complete", name);
	return error;
}

static void share_done(struct share *share)
{
	writer_done(&share->times.log);
	profile_free(share->profile);
}

static void share_add_digests(struct merger *m, struct bytes digests)
{
	struct reader r = reader_of(digests);

	merge_digest_grow(m);
	for (size_t i = 0; i < m->from->threads.n; i++)
		m->digests.thread.at[m->thread[i]] += read_u64(&r);
	for (size_t i = 0; i < m->from->images.n; i++)
		m->digests.image.at[m->image[i]] += read_u64(&r);
}

static void share_keep(struct merge_numbers *numbers, enum merge_number kind, const uint32_t *number,
		       size_t n)
{
	vec_clear(&numbers->of[kind]);
	for (size_t i = 0; i < n; i++)
		vec_push(&numbers->of[kind], number[i]);
}

int merger_add_share(struct merger *m, struct bytes bytes, const char *name, struct merge_numbers *ret,
		     struct diag *diag)
{
	CLEANUP(share_done) struct share share = { 0 };
	int error = share_parse(bytes, name, &share, diag);

	if (error == 0)
		error = merge_check_room(m, share.n_values, share.times.n, share.profile->cct.nodes.n, name,
					 diag);
	if (error < 0)
		return error;
	merge_digest(m);
	merge_add(m, share.profile);
	merge_times_add_log(m, &share.times, m->thread, share.profile->threads.n);
	share_add_digests(m, share.digests);
	m->n_added += share.n_added - 1;
	m->n_shared += share.n_values;
	m->events_differ |= share.events_differ;
	share_keep(ret, NUMBER_NODE, m->node, share.profile->cct.nodes.n);
	share_keep(ret, NUMBER_THREAD, m->thread, share.profile->threads.n);
	share_keep(ret, NUMBER_METRIC, m->metric, share.profile->metrics.n);
	merge_forget(m);
	return 0;
}

/* ---- and back ----------------------------------------------------------------------------------- */

struct profile *merger_settle(struct merger *m, struct merge_numbers *ret)
{
	merge_order(m);

	struct profile *all = TAKE(m->all);
	size_t n = all->cct.nodes.n;
	ret->n_nodes = (uint32_t)n;
	share_keep(ret, NUMBER_THREAD, m->values->thread, all->threads.n);
	share_keep(ret, NUMBER_METRIC, m->values->metric, all->metrics.n);
	share_keep(ret, NUMBER_NODE, m->values->list, n);
	for (uint32_t i = 0; i < n; i++)
		ret->of[NUMBER_NODE].at[m->values->list[i]] = i;
	return all;
}

static uint32_t *share_take(struct merge_numbers *numbers, enum merge_number kind)
{
	numbers->of[kind].n = 0;
	return TAKE(numbers->of[kind].at);
}

struct packed_values *merger_take_values(struct merger *m, struct merge_numbers *numbers)
{
	struct packed_values *values = m->values;

	m->values = alloc_zero(1, sizeof(*m->values));
	merger_free(m);
	if (values->list) /* of the first process: they have been set */
		return values;
	if (numbers->of[NUMBER_NODE].n == 0) {
		packed_values_done(values);
		return values;
	}
	values->list = alloc_resize(NULL, numbers->n_nodes + 1, sizeof(*values->list));
	memset(values->list, 0xff, numbers->n_nodes * sizeof(*values->list)); /* belongs to no list */
	for (uint32_t i = 0; i < numbers->of[NUMBER_NODE].n; i++)
		values->list[numbers->of[NUMBER_NODE].at[i]] = i;
	values->thread = share_take(numbers, NUMBER_THREAD);
	values->metric = share_take(numbers, NUMBER_METRIC);
	return values;
}
