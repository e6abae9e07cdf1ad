/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/functions/filled.h"

#include "base/search.h"

#define ALIGNMENT 16

enum word { WORD_CODE, WORD_FILL, WORD_OTHER };

static enum word filled_word_at(const struct functions *functions, uint64_t vaddr)
{
	struct insn insn;

	if (functions->isa->decode(image_code(functions->image, vaddr), vaddr, &insn) < 0)
		return WORD_OTHER;
	return insn.is_fill ? WORD_FILL : insn.is_padding ? WORD_OTHER : WORD_CODE;
}

/* Where the fill after the code at vaddr begins; `end` if there is none before that. */
static uint64_t filled_end(const struct functions *functions, uint64_t vaddr, uint64_t end)
{
	while (vaddr < end && filled_word_at(functions, vaddr) != WORD_FILL)
		vaddr += functions->isa->min_insn;
	return vaddr;
}

static void filled_find_between(struct filled *filled, const struct functions *functions, uint64_t start,
				uint64_t end)
{
	uint64_t step = functions->isa->min_insn;

	for (uint64_t at = (start + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; at < end;) {
		struct vaddr_range piece = { at, at };
		if (filled_word_at(functions, at - step) == WORD_FILL &&
		    filled_word_at(functions, at) == WORD_CODE)
			piece.end = filled_end(functions, at, end);
		if (piece.end > at && piece.end < end)
			vec_push(&filled->pieces, piece);
		at = piece.end > at ? (piece.end + ALIGNMENT) / ALIGNMENT * ALIGNMENT : at + ALIGNMENT;
	}
}

/* Functions whose end is not stated extend over what was not searched yet. */
static const struct function *filled_stated(const struct functions *functions, uint64_t vaddr)
{
	uint32_t index = functions_index(functions, vaddr);
	const struct function *f = index == FUNCTION_NONE ? NULL : &functions->at[index];

	return f && !function_is_inferred(f) ? f : NULL;
}

static uint64_t filled_next_stated(const struct functions *functions, uint64_t vaddr, uint64_t end)
{
	while (vaddr < end && !filled_stated(functions, vaddr)) {
		uint64_t next = functions_next_start(functions, vaddr);
		vaddr = next < end ? next : end;
	}
	return vaddr;
}

void filled_find(struct filled *filled, const struct functions *functions, struct vaddr_range window)
{
	const struct functions_private *p = functions->private;

	*filled = (struct filled){ 0 };
	for (size_t i = 0; functions->isa->min_insn > 1 && i < p->text.n; i++) {
		const struct text_range *range = &p->text.at[i];
		uint64_t at = range->start > window.start ? range->start : window.start;
		uint64_t end = range->end < window.end ? range->end : window.end;
		while (at < end) {
			const struct function *f = filled_stated(functions, at);
			uint64_t next = f ? f->end : filled_next_stated(functions, at, end);
			if (!f)
				filled_find_between(filled, functions, at, next);
			at = next;
		}
	}
}

void filled_done(struct filled *filled)
{
	vec_done(&filled->pieces);
}

void filled_starts(const struct filled *filled, struct function_starts *starts)
{
	for (size_t i = 0; i < filled->pieces.n; i++)
		vec_push(&starts->list, ((struct function_start){ .vaddr = filled->pieces.at[i].start,
								  .end = filled->pieces.at[i].end,
								  .kind = FUNCTION_WHOLE,
								  .sources = FROM_GAP | FROM_FILL,
								  .preference = PREFER_OTHER }));
}

const struct vaddr_range *filled_piece(const struct filled *filled, uint64_t vaddr)
{
	size_t n = search_first(i, filled->pieces.n, filled->pieces.at[i].start > vaddr);
	const struct vaddr_range *piece = n ? &filled->pieces.at[n - 1] : NULL;

	return piece && vaddr < piece->end ? piece : NULL;
}
