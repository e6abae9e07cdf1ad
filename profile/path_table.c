/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/path_table.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "profile/tree_model.h"

#define FLAGS_N 4
#define KINDS_N (FLAGS_N * PATH_ENDS_N) /* flags + 4 * ends */

void path_table_init(struct path_table *table, size_t n_images)
{
	*table = (struct path_table){ .n_groups = n_images + 1 };
	vec_push(&table->lists, ((struct path_list){ 0 }));
	for (uint32_t i = 0; i < PATH_FIRST; i++)
		vec_push(&table->frames, ((struct path_frame){ 0 }));
	table->groups = alloc_zero(table->n_groups, sizeof(*table->groups));
	table->starts = alloc_zero(2 * table->n_groups + 1, sizeof(*table->starts));
}

void path_table_done(struct path_table *table)
{
	vec_done(&table->frames);
	vec_done(&table->lists);
	free(table->groups);
	free(table->hot);
	free(table->members);
	free(table->starts);
}

static inline struct path_frame path_frame_of(uint32_t group, uint64_t vaddr, unsigned flags, unsigned ends)
{
	return (struct path_frame){
		.vaddr = vaddr, .group = group, .flags = (uint8_t)flags, .ends = (uint8_t)ends
	};
}

/* ---- from a tree -------------------------------------------------------------------------------- */

static int path_compare(const void *a, const void *b, void *context)
{
	const struct tree_frame *frames = context;
	const struct tree_frame *x = &frames[*(const uint32_t *)a], *y = &frames[*(const uint32_t *)b];

	if (x->image != y->image)
		return (image_id)(x->image + 1) < (image_id)(y->image + 1) ? -1 : 1;
	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	return (int)x->flags - (int)y->flags;
}

/* bits: 1 = a node of the frame has no children, 2 = one has. */
static enum path_ends path_ends_of(unsigned bits)
{
	return bits == 1 ? PATH_ENDS : bits == 2 ? PATH_GOES_ON : PATH_ENDS_MIXED;
}

static void path_table_add(struct path_table *table, const struct tree_frame *frame, enum path_ends ends)
{
	uint32_t group = (image_id)(frame->image + 1);

	if (!table->groups[group].n++)
		table->groups[group].low = frame->vaddr;
	vec_push(&table->frames, path_frame_of(group, frame->vaddr, frame->flags, ends));
}

void path_table_gather(struct path_table *table, const struct cct *cct, path_ref *ret)
{
	CLEANUP(tree_model_done) struct tree_model model;

	tree_model_init(&model, 0);
	for (size_t i = PATH_FIRST; i < cct->nodes.n; i++) {
		const struct cct_node *node = &cct->nodes.at[i];
		ret[i] = tree_frame_of(&model, node->image, node->vaddr, node->flags);
	}
	size_t n = model.frames.n - PATH_FIRST;
	CLEANUP(freep) uint8_t *ends = alloc_zero(model.frames.n, sizeof(*ends));
	for (size_t i = PATH_FIRST; i < cct->nodes.n; i++)
		ends[ret[i]] |= i + 1 < cct->nodes.n && cct->nodes.at[i + 1].parent == i ? 2 : 1;
	CLEANUP(freep) uint32_t *order = alloc_zero(n + 1, sizeof(*order));
	CLEANUP(freep) path_ref *place = alloc_zero(model.frames.n, sizeof(*place));
	for (uint32_t i = 0; i < n; i++)
		order[i] = PATH_FIRST + i;
	if (n)
		qsort_r(order, n, sizeof(*order), path_compare, model.frames.at);
	for (uint32_t i = 0; i < n; i++) {
		const struct tree_frame *frame = &model.frames.at[order[i]];
		enum path_ends end = path_ends_of(ends[order[i]]);
		place[order[i]] = path_ref_of(PATH_FIRST + i, frame->flags, end);
		path_table_add(table, frame, end);
	}
	for (size_t i = PATH_FIRST; i < cct->nodes.n; i++)
		ret[i] = place[ret[i]];
	table->shift = tree_shift(cct);
}

/* ---- the frames, coded -------------------------------------------------------------------------- */

struct path_models {
	struct symbols_model step[2];
	struct symbols_model kind[KINDS_N];
};

static struct path_models *path_models_new(void)
{
	struct path_models *models = alloc_zero(1, sizeof(*models));

	for (unsigned i = 0; i < 2; i++)
		symbols_model_init(&models->step[i], SYMBOLS_LENGTHS);
	for (unsigned i = 0; i < KINDS_N; i++)
		symbols_model_init(&models->kind[i], KINDS_N);
	return models;
}

/* False if what was read is not in ascending order. */
SYMBOLS_INLINE bool path_table_code(struct path_table *table, struct symbols *begun, bool is_reader)
{
	CLEANUP(freep) struct path_models *models = path_models_new();
	struct symbols symbols = *begun;
	size_t next = PATH_FIRST;
	bool is_good = true;

	symbols.is_reader = is_reader; /* known to the compiler */
	for (uint32_t group = 0; group < table->n_groups && is_good; group++) {
		uint64_t vaddr = table->groups[group].low;
		unsigned kind = 0;
		for (uint32_t i = 0; i < table->groups[group].n && is_good; i++, next++) {
			struct path_frame *it = is_reader ? NULL : &table->frames.at[next];
			uint64_t step = is_reader ? 0 : (it->vaddr - vaddr) >> table->shift;
			uint64_t before = vaddr;
			unsigned flags = kind % FLAGS_N;
			if (i)
				step = symbols_spread(&symbols, &models->step[flags & 1], step);
			kind = symbols_code(&symbols, &models->kind[kind],
					    is_reader ? 0u : it->flags + (unsigned)FLAGS_N * it->ends);
			vaddr += step << table->shift;
			is_good = kind < KINDS_N &&
				  (!i || vaddr > before || (vaddr == before && kind % FLAGS_N > flags));
			if (is_reader && is_good)
				vec_push(&table->frames,
					 path_frame_of(group, vaddr, kind % FLAGS_N, kind / FLAGS_N));
		}
	}
	*begun = symbols;
	return is_good;
}

void path_table_write(struct path_table *table, struct symbols *symbols)
{
	(void)path_table_code(table, symbols, false);
}

bool path_table_read(struct path_table *table, struct symbols *symbols)
{
	return path_table_code(table, symbols, true);
}

/* ---- classes ------------------------------------------------------------------------------------ */

void path_table_classify(struct path_table *table)
{
	const struct path_frame *frames = table->frames.at;
	uint32_t first = PATH_FIRST;

	for (size_t i = 0; i < table->n_groups; i++) {
		table->groups[i].first = first;
		first += table->groups[i].n;
	}
	table->hot = alloc_zero(table->frames.n, sizeof(*table->hot));
	for (size_t i = PATH_FIRST; i < table->frames.n; i++)
		table->hot[i].position = table->starts[2 * frames[i].group + (frames[i].flags & 1) + 1]++;
	for (size_t i = 0; i < 2 * table->n_groups; i++)
		table->starts[i + 1] += table->starts[i];
	table->members = alloc_zero(table->frames.n, sizeof(*table->members));
	for (size_t i = PATH_FIRST; i < table->frames.n; i++) {
		uint32_t start = table->starts[2 * frames[i].group + (frames[i].flags & 1)];
		table->members[start + table->hot[i].position] =
			path_ref_of(i, frames[i].flags, frames[i].ends);
	}
}
