/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cycles/count_loops.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "report/cycles/counts.h"

static int loop_counts_compare(const void *left, const void *right)
{
	const struct header_count *a = left, *b = right;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	return a->module < b->module ? -1 : a->module > b->module;
}

static struct header_count *loop_counts_at(struct header_count *list, size_t n, uint64_t vaddr)
{
	size_t at = search_first(i, n, list[i].vaddr >= vaddr);

	return at < n && list[at].vaddr == vaddr ? &list[at] : NULL;
}

static void loop_counts_take_ways(struct loop_counts *to, const struct cycles_counts *counts)
{
	vec_push(&to->functions, ((struct counted_function){ .vaddr = counts->function,
							     .module = (uint32_t)to->modules.n - 1,
							     .is_relative = counts->is_relative,
							     .total = counts->total,
							     .first_way = to->ways.n,
							     .n_ways = counts->ways.n }));
	for (size_t i = 0; i < counts->ways.n; i++) {
		const struct cycles_way *way = &counts->ways.at[i];
		vec_push(&to->ways, ((struct counted_way){ .count = way->count,
							   .next = way->next,
							   .leaves = way->leaves,
							   .first_block = to->way_blocks.n,
							   .n_blocks = way->n_blocks }));
		for (size_t k = 0; k < way->n_blocks; k++)
			vec_push(&to->way_blocks, counts->way_blocks.at[way->first_block + k]);
	}
}

/* For one function: its blocks, and those of its paths that lead back to one. */
static void loop_counts_take(void *context, const struct cycles_counts *counts)
{
	struct loop_counts *to = context;
	size_t first = to->headers.n;
	double sum = 0;

	struct counted_module module = { .name = alloc_text(counts->module) };

	memcpy(module.build_id, counts->build_id, sizeof(module.build_id));
	vec_push(&to->modules, module);
	loop_counts_take_ways(to, counts);
	for (size_t i = 0; i < counts->ways.n; i++)
		sum += counts->ways.at[i].count;
	for (size_t i = 0; i < counts->blocks.n; i++)
		vec_push(&to->headers,
			 ((struct header_count){ .vaddr = counts->blocks.at[i].vaddr,
						 .module = (uint32_t)to->modules.n - 1,
						 .count = counts->blocks.at[i].count,
						 .is_relative = counts->is_relative,
						 .has_back = !counts->is_cut && sum == counts->total }));
	struct header_count *own = to->headers.at + first;
	if (counts->blocks.n)
		qsort(own, counts->blocks.n, sizeof(*own), loop_counts_compare);
	for (size_t i = 0; i < counts->ways.n; i++) {
		struct header_count *header =
			counts->ways.at[i].next
				? loop_counts_at(own, counts->blocks.n, counts->ways.at[i].next)
				: NULL;
		if (header)
			header->back += counts->ways.at[i].count;
	}
}

int loop_counts_read(const char *path, const struct profile *profile, struct loop_counts *ret,
		     struct diag *diag)
{
	*ret = (struct loop_counts){ 0 };
	int error = cycles_counts_each(path, profile, loop_counts_take, ret, diag);

	if (ret->headers.n)
		qsort(ret->headers.at, ret->headers.n, sizeof(*ret->headers.at), loop_counts_compare);
	return error;
}

/* Does it belong to one of the profile's files of that name, or to none? */
static int loop_counts_check_module(const char *path, const struct counted_module *module,
				    const struct profile *profile, struct diag *diag)
{
	int error = 0;

	for (size_t i = 0; i < profile->images.n; i++) {
		const struct profile_image *image = &profile->images.at[i];
		const char *name = intern_text(&profile->strings, image->path), *slash = strrchr(name, '/');
		if (strcmp(slash ? slash + 1 : name, module->name) != 0)
			continue;
		error = cycles_counts_check(path, module->name, module->build_id, &image->build_id, diag);
		if (!error)
			return 0;
	}
	return error;
}

int loop_counts_check(const char *path, const struct loop_counts *counts, const struct profile *profile,
		      struct diag *diag)
{
	for (size_t i = 0; i < counts->modules.n; i++) {
		int error = loop_counts_check_module(path, &counts->modules.at[i], profile, diag);
		if (error)
			return error;
	}
	return 0;
}
