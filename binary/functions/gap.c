/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gap: finds the functions in the gap that contains a pc.
 *
 * A gap is text between functions that a symbol or an unwind entry states. Only this gap is searched, because
 * a sample is waiting: with evidence from all of a small text, or from the neighbourhood in a large one. A
 * long gap may be hand-written code of a library, or its tables; only a piece of it is searched. Pieces meet
 * at functions that are called, so their borders depend only on the image. A file without symbols and unwind
 * entries is one gap. If it is large, only the surroundings of the pc are searched. If it is even larger, all
 * of it is searched or nothing: functions_find_takes_long is for callers that cannot wait.
 */
#include "base/search.h"
#include "binary/functions/function_private.h"

#define MAX_WHOLE (16u << 20) /* bytes of text that may be decoded at once */
#define PIECE (32u << 10)     /* of a gap, rounded up to whole functions */
/* In a larger text: bytes decoded on either side for evidence (calls are mostly short) ... */
#define EVIDENCE_REACH (4u << 20)
/* ... and bytes searched on either side, rounded up to whole functions. */
#define WINDOW_REACH (256u << 10)
/* Bytes of text beyond which there would be too many windows: their evidence overlaps. */
#define MAX_WINDOWS (64u << 20)
/* Each window changes the whole index. A text of 64 MB has 150,000 functions. */
#define MAX_FUNCTIONS (1u << 18)

static bool gap_holds(const struct vaddr_range *ranges, size_t n, uint64_t vaddr)
{
	for (size_t i = 0; i < n; i++)
		if (vaddr >= ranges[i].start && vaddr < ranges[i].end)
			return true;
	return false;
}

static uint64_t gap_text_size(const struct functions *functions)
{
	uint64_t size = 0;

	for (size_t i = 0; i < functions->private->text.n; i++)
		size += functions->private->text.at[i].end - functions->private->text.at[i].start;
	return size;
}

bool functions_find_takes_long(const struct functions *functions)
{
	return gap_text_size(functions) > MAX_WINDOWS || functions->private->n_stated > MAX_FUNCTIONS;
}

bool functions_find_is_partial(const struct functions *functions)
{
	return gap_text_size(functions) > MAX_WHOLE || functions_find_takes_long(functions);
}

static struct vaddr_range gap_clip(struct vaddr_range range, uint64_t vaddr, uint64_t reach)
{
	vaddr &= ~UINT64_C(15);
	if (range.start + reach < vaddr)
		range.start = vaddr - reach;
	if (range.end > vaddr && range.end - vaddr > reach)
		range.end = vaddr + reach;
	return range;
}

void functions_look_around(struct functions *functions, uint64_t vaddr)
{
	struct vaddr_range all = { 0, UINT64_MAX };

	functions_gather(functions,
			 gap_text_size(functions) <= MAX_WHOLE ? all : gap_clip(all, vaddr, EVIDENCE_REACH));
}

/* Functions with inferred ends are part of the gap: they extend over others that were not found yet. */
static bool gap_is_stated(const struct function *f)
{
	return !function_is_inferred(f);
}

static struct vaddr_range gap_around(const struct functions *functions, const struct text_range *text,
				     uint64_t vaddr)
{
	struct vaddr_range gap = { text->start, text->end };
	size_t behind = search_first(i, functions->n, functions->at[i].start > vaddr);

	for (size_t i = behind; i < functions->n && functions->at[i].start < gap.end; i++)
		if (gap_is_stated(&functions->at[i]))
			gap.end = functions->at[i].start;
	for (size_t i = behind; i-- > 0 && functions->at[i].end > gap.start;)
		if (gap_is_stated(&functions->at[i]))
			gap.start = functions->at[i].end;
	return gap;
}

/* The first function from vaddr on that is called; `end` if there is none. */
static uint64_t gap_next_called(const struct functions *functions, uint64_t vaddr, uint64_t end)
{
	uint64_t step = functions->isa->min_insn;

	for (vaddr = (vaddr + step - 1) / step * step; vaddr < end; vaddr += step)
		if (functions_is_called(functions, vaddr))
			return vaddr;
	return end;
}

/* The n-th piece of a gap begins with the first called function after n times that many bytes. */
static uint64_t gap_piece_start(const struct functions *functions, struct vaddr_range gap, uint64_t from,
				uint64_t end)
{
	return from == gap.start ? from : gap_next_called(functions, from, end);
}

static struct vaddr_range gap_piece_around(const struct functions *functions, struct vaddr_range gap,
					   uint64_t vaddr)
{
	uint64_t from = gap.start + (vaddr - gap.start) / PIECE * PIECE, behind = vaddr + 1;
	uint64_t start = gap_piece_start(functions, gap, from, behind);
	uint64_t end = gap_next_called(functions, start < behind ? from + PIECE : behind, gap.end);

	while (start == behind) { /* none begins there */
		behind = from;
		from -= PIECE;
		start = gap_piece_start(functions, gap, from, behind);
	}
	return (struct vaddr_range){ start, end };
}

/* Moves both ends outwards to functions that are called: only there it is certain that no function is split.
 */
static struct vaddr_range gap_snap(const struct functions *functions, struct vaddr_range gap,
				   struct vaddr_range window)
{
	uint64_t step = functions->isa->min_insn;

	while (window.start > gap.start && !functions_is_called(functions, window.start))
		window.start -= step < window.start - gap.start ? step : window.start - gap.start;
	while (window.end < gap.end && !functions_is_called(functions, window.end))
		window.end += step;
	return window;
}

/* Text that was already searched is left out. */
static struct vaddr_range gap_window_around(const struct functions *functions, struct vaddr_range gap,
					    uint64_t vaddr)
{
	const struct functions_private *p = functions->private;
	bool has_frames = functions->frames && frames_count(functions->frames);
	struct vaddr_range window;

	if (gap_text_size(functions) > MAX_WHOLE)
		window = gap_snap(functions, gap_clip(gap, vaddr, EVIDENCE_REACH),
				  gap_clip(gap, vaddr, WINDOW_REACH));
	else if (has_frames)
		window = gap_piece_around(functions, gap, vaddr);
	else /* the gap is split by a few symbols, and which calls return is determined for all at once */
		window = (struct vaddr_range){ 0, UINT64_MAX };
	for (size_t i = 0; i < p->inferred.n; i++) {
		if (p->inferred.at[i].end <= vaddr && p->inferred.at[i].end > window.start)
			window.start = p->inferred.at[i].end;
		if (p->inferred.at[i].start > vaddr && p->inferred.at[i].start < window.end)
			window.end = p->inferred.at[i].start;
	}
	return window;
}

/* ---- between traps ------------------------------------------------------------------------------- */

#define LONG_RUN 8              /* traps: a constant in code has at most seven such bytes */
#define MAX_BETWEEN (64u << 10) /* bytes that are looked at on either side */

/* Is it aligned, and do traps, one byte each, fill the space in front of it? */
static bool gap_is_behind_traps(const struct functions *functions, uint64_t vaddr, uint64_t low)
{
	struct insn insn;

	if (vaddr % 16 || vaddr < low + LONG_RUN)
		return false;
	for (uint64_t at = vaddr - LONG_RUN; at < vaddr; at++)
		if (functions->isa->decode(image_code(functions->image, at), at, &insn) < 0 || !insn.is_fill)
			return false;
	return functions->isa->decode(image_code(functions->image, vaddr), vaddr, &insn) == 0 &&
	       !insn.is_padding;
}

bool functions_between_traps(const struct functions *functions, uint64_t vaddr, uint64_t *start,
			     uint64_t *end)
{
	uint64_t at = vaddr & ~UINT64_C(15);

	if (functions->isa->min_insn != 1)
		return false;
	while (!gap_is_behind_traps(functions, at, *start)) {
		if (at < *start + 16 || vaddr - at > MAX_BETWEEN)
			return false;
		at -= 16;
	}
	uint64_t next = (vaddr & ~UINT64_C(15)) + 16;
	while (next < *end && next - vaddr < MAX_BETWEEN && !gap_is_behind_traps(functions, next, at))
		next += 16;
	*start = at;
	*end = next < *end ? next : *end;
	return true;
}

/* .init and .fini are one function each, and end where it does. */
static bool gap_is_one_function(const struct functions *functions, const struct text_range *text)
{
	static const char *const names[] = { ".init", ".fini" };

	for (size_t i = 0; text && i < ARRAY_LEN(names); i++) {
		const struct section *section = image_section(functions->image, names[i]);
		if (section && section->vaddr == text->start && section->vaddr + section->size == text->end)
			return true;
	}
	return false;
}

uint32_t functions_find(struct functions *functions, uint64_t vaddr)
{
	struct functions_private *p = functions->private;
	uint32_t index = functions_index(functions, vaddr);
	const struct text_range *text = functions_text(functions, vaddr);
	/* A function with inferred end extends to the next known start, over many that are not known yet. */
	bool is_certain = index != FUNCTION_NONE &&
			  (gap_is_stated(&functions->at[index]) || gap_is_one_function(functions, text));

	if (is_certain || functions->is_surveyed || !text || gap_holds(p->inferred.at, p->inferred.n, vaddr))
		return index;
	if (functions_find_takes_long(functions)) {
		functions_survey(functions);
	} else {
		functions_look_around(functions, vaddr);
		struct vaddr_range gap = gap_around(functions, text, vaddr),
				   window = gap_window_around(functions, gap, vaddr);
		functions_discover(functions, gap, window);
		vec_push(&p->inferred, window);
	}
	index = functions_index(functions, vaddr);
	/* What starts in front of a piece is not analysed for it. */
	return index == FUNCTION_NONE || functions_text(functions, functions->at[index].start)
		       ? index
		       : FUNCTION_NONE;
}
