/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/subject.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "symbolize/dwarf/aranges.h"
#include "symbolize/files/unpacked_store.h"

static void open_jit(struct subject *subject, bool is_elsewhere)
{
	const struct symbolizer_request *request = subject->request;

	if (is_elsewhere || !request->process.pid)
		; /* a process with that pid is a different one, or may be */
	else if (request->jitdump && jitdump_open(&request->process, request->jitdump, &subject->jit) == 0)
		subject->jit_path = alloc_text(request->jitdump);
	else
		perfmap_open(&request->process, &subject->jit, &subject->jit_path);
	subject->file.how = alloc_text(subject->jit_path ? subject->jit_path : "no perf map");
}

bool subject_is_kernel(const struct subject *subject)
{
	return subject->request->image->kind == IMAGE_KERNEL && !subject->request->image->file.len;
}

void subject_open(struct subject *subject, const struct symbolizer_options *options, atomic_uint *ids)
{
	struct image *image = subject->request->image;

	subject->info_end = UINT64_MAX;
	if (image->file.len)
		debugfile_open(&subject->file, image, &options->search, ids);
	else if (image->kind == IMAGE_JIT)
		open_jit(subject, options->is_elsewhere);
	else if (image->kind != IMAGE_KERNEL)
		subject->file.how = alloc_text("the file could not be read");
}

void subject_done(struct subject *subject)
{
	unit_index_done(&subject->index);
	naming_free(subject->naming);
	debugfile_done(&subject->file);
	perfmap_done(&subject->jit);
	free(subject->jit_path);
	vec_done(&subject->wanted);
	vec_done(&subject->refused);
}

void subject_name(struct subject *subject, const struct kallsyms *kernel, bool demangles)
{
	const struct symbolizer_request *request = subject->request;
	struct naming_options options = { .id = request->id,
					  .image = request->image,
					  .debug = subject->file.debug,
					  .functions = request->functions,
					  .context = request->context,
					  .jit = subject->jit_path ? &subject->jit : NULL,
					  .kernel = subject_is_kernel(subject) ? kernel : NULL,
					  .demangles = demangles };

	subject->naming = naming_new(&options);
	/* With debug information, names have to be searched only for some functions; which ones is known
	 * later. */
	naming_prepare(subject->naming, subject->wanted.at, subject->file.debug ? 0 : subject->wanted.n);
}

void subject_unpack(struct subject *subject, enum dwarf_section number, struct store *store)
{
	struct image *file = subject->file.debug;
	const struct section *section = dwarf_section(file, number, false);

	subject->is_recalled[number] = unpacked_store_recall(store, file, section);
	if (number == DWARF_INFO)
		subject->info_end = debugfile_reach(&subject->file, subject->wanted.at, subject->wanted.n);
	image_section_start(file, section, number == DWARF_INFO ? subject->info_end : UINT64_MAX);
}

void subject_keep_unpacked(struct subject *subject, struct store *store)
{
	struct image *file = subject->wanted.n ? subject->file.debug : NULL;

	for (int i = 0; file && i < DWARF_SECTION_N; i++) {
		const struct section *section = dwarf_section(file, (enum dwarf_section)i, false);
		if (section && !subject->is_recalled[i])
			unpacked_store_keep(store, file, section);
	}
}

static bool is_indexed(const struct subject *subject, uint64_t vaddr)
{
	uint32_t units[UNIT_INDEX_MAX];

	return unit_index_find(&subject->index, vaddr, units) > 0;
}

/* Is there a unit for every address, as debugfile_reach promised? */
static bool subject_has_all(const struct subject *subject)
{
	for (size_t i = 0; i < subject->wanted.n; i++)
		if (!is_indexed(subject, subject->wanted.at[i]) &&
		    !aranges_is_stub(subject->request->image, subject->wanted.at[i]))
			return false;
	return true;
}

void subject_load(struct subject *subject)
{
	const struct image *image = subject->request->image;

	debugfile_load(&subject->file, subject->info_end);
	unit_index_build(&subject->index, &subject->file.dwarf, image);
	if (subject->info_end == UINT64_MAX || subject_has_all(subject))
		return;
	unit_index_done(&subject->index);
	subject->index = (struct unit_index){ 0 };
	debugfile_unload(&subject->file);
	debugfile_load(&subject->file, UINT64_MAX);
	unit_index_build(&subject->index, &subject->file.dwarf, image);
}
