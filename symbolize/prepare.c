/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/prepare.h"

#include <stdlib.h>

#include "base/pool.h"

/* A slow job that can run in parallel with the others. */
struct preparation {
	enum { READ_NAMES, UNPACK } what;
	struct subject *subject;
	enum dwarf_section section;
	uint64_t cost; /* estimated; the most expensive are started first */
};

struct preparer {
	const struct symbolizer_options *options;
	const struct kallsyms *kernel;
	VEC(struct preparation) list;
};

/* In units of decompressing one byte. Without debug information, functions may have to be searched. */
static uint64_t naming_cost(const struct subject *subject)
{
	uint64_t size = subject->request->image->file.len;

	return subject->file.debug ? size / 8 : size;
}

static void add_subject(struct preparer *preparer, struct subject *subject)
{
	struct image *file = subject->file.debug;

	if (subject->wanted.n == 0)
		return;
	vec_push(&preparer->list, ((struct preparation){ READ_NAMES, subject, 0, naming_cost(subject) }));
	for (int i = 0; file && i < DWARF_SECTION_N; i++) {
		const struct section *section = dwarf_section(file, (enum dwarf_section)i, false);
		if (section && image_section_size(file, section) != section->size)
			vec_push(&preparer->list,
				 ((struct preparation){ UNPACK, subject, (enum dwarf_section)i,
							section->size }));
	}
}

/* Most expensive first, so that no thread starts a long job when the others are done. */
static int compare_preparations(const void *left, const void *right)
{
	const struct preparation *a = left, *b = right;

	return a->cost > b->cost ? -1 : a->cost < b->cost;
}

static void run_preparation(void *context, unsigned worker, size_t index)
{
	const struct preparer *preparer = context;
	const struct preparation *preparation = &preparer->list.at[index];

	(void)worker;
	switch (preparation->what) {
	case READ_NAMES:
		subject_name(preparation->subject, preparer->kernel, !preparer->options->keeps_mangled);
		break;
	case UNPACK:
		subject_unpack(preparation->subject, preparation->section, preparer->options->store);
		break;
	}
}

void subjects_prepare(struct subject *subjects, size_t n, const struct symbolizer_options *options,
		      const struct kallsyms *kernel, unsigned n_workers)
{
	struct preparer preparer = { .options = options, .kernel = kernel };

	for (size_t i = 0; i < n; i++)
		add_subject(&preparer, &subjects[i]);
	if (preparer.list.n)
		qsort(preparer.list.at, preparer.list.n, sizeof(*preparer.list.at), compare_preparations);
	pool_run(n_workers, preparer.list.n, run_preparation, &preparer);
	vec_done(&preparer.list);
}
