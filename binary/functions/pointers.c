/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pointers: which places in the text the pointers in data lead to. In a file that is not relocated, pointers
 * are plain words.
 */
#include <elf.h>
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "binary/functions/function_private.h"

/* In bytes. Segments may overlap in the file, and files have holes: then data seems to be endless. */
#define MOST (256u << 20)

typedef void (*pointer_visitor)(struct functions *functions, uint64_t to);

/* Returns how many bytes it has looked at. */
static uint64_t pointers_in_segment(struct functions *functions, const struct segment *segment, uint64_t most,
				    pointer_visitor visit)
{
	struct bytes data = image_bytes(functions->image, segment->vaddr);

	data.len = data.len < most ? data.len : (size_t)most;
	for (size_t at = (8 - segment->vaddr % 8) % 8; at + 8 <= data.len; at += 8) {
		uint64_t word;
		memcpy(&word, data.at + at, 8);
		if (word >= 4096 && functions_text(functions, word))
			visit(functions, word);
	}
	return data.len;
}

static void pointers_visit(struct functions *functions, pointer_visitor visit)
{
	const struct relocs *relocs = &functions->private->relocs;
	const struct image *image = functions->image;
	uint64_t left = image->file.len < MOST ? image->file.len : MOST;

	for (size_t i = 0; i < relocs->pointers.n; i++)
		visit(functions, relocs->pointers.at[i].to);
	for (size_t i = 0; i < image->n_segments && image->elf_type == ET_EXEC; i++)
		if (image->segments[i].type == PT_LOAD && !(image->segments[i].flags & PF_X))
			left -= pointers_in_segment(functions, &image->segments[i], left, visit);
}

static void pointers_add_evidence(struct functions *functions, uint64_t to)
{
	evidence_add(functions, EVIDENCE_POINTED, to);
}

static void pointers_add(struct functions *functions, uint64_t to)
{
	if (functions_text(functions, to))
		vec_push(&functions->private->pointed, to);
}

/* There may be a thousand pieces, and a million pointers. */
void pointers_sort(const struct functions *whole)
{
	struct functions_private *p = whole->private;
	struct functions functions = *whole;

	if (p->has_pointed)
		return;
	p->has_pointed = true;
	pointers_visit(&functions, pointers_add);
	sort_by_u64(p->pointed.at, p->pointed.n, sizeof(uint64_t));
}

void pointers_gather(struct functions *functions)
{
	const struct functions_private *p = functions->private, *whole = p->whole;

	if (!whole) {
		pointers_visit(functions, pointers_add_evidence);
		return;
	}
	for (size_t i = 0; i < p->text.n; i++)
		for (size_t k =
			     search_first(m, whole->pointed.n, whole->pointed.at[m] >= p->text.at[i].start);
		     k < whole->pointed.n && whole->pointed.at[k] < p->text.at[i].end; k++)
			pointers_add_evidence(functions, whole->pointed.at[k]);
}
