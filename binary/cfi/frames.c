/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames: where an image's unwind entries are, and which one covers an address.
 *
 * The index is one sorted array of (start, offset). It is filled from the linker's table in .eh_frame_hdr
 * without reading the entries; if that is missing or does not match them, by one pass over .eh_frame. Entries
 * of .debug_frame are added for code that .eh_frame does not cover.
 */
#include "binary/cfi/frames.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "binary/cfi/encoded.h"
#include "binary/cfi/entry_point.h"
#include "binary/cfi/frames_private.h"

#define HDR_CHECKS 16  /* entries of the linker's table compared with .eh_frame before it is trusted */
#define MAX_OVERLAPS 4 /* how many entries back an entry that covers an address is searched */
#define IN_DEBUG (1ull << 63)
#define PER_ENTRY 80 /* bytes: the index, the function, and what says which are analysed */

struct frame_ref {
	uint64_t start;
	uint64_t where; /* offset into its table; IN_DEBUG: .debug_frame */
};

struct frames {
	struct image *image;
	struct frame_table eh, debug;
	VEC(struct frame_ref) refs;
	uint64_t taken;                  /* from the image's memory budget */
	uint64_t entry_start, entry_end; /* of the unwind entry that covers the image's entry point */
};

const struct image *frames_image(const struct frames *frames)
{
	return frames->image;
}

/* By size in memory, not in the file: a separate debug file has the addresses but not the code. */
static bool frames_is_executable(const struct image *image, uint64_t vaddr)
{
	for (size_t i = 0; i < image->n_segments; i++) {
		const struct segment *s = &image->segments[i];
		if (s->type == PT_LOAD && (s->flags & PF_X) && vaddr - s->vaddr < s->mem_size)
			return true;
	}
	return image->n_segments == 0;
}

static int frames_read_ref(const struct frames *frames, struct frame_ref ref, struct fde *ret)
{
	const struct frame_table *table = ref.where & IN_DEBUG ? &frames->debug : &frames->eh;

	return frame_fde_read(table, ref.where & ~IN_DEBUG, ret);
}

/* ---- filling the index ---------------------------------------------------------------------- */

static bool frames_pay(struct frames *frames, uint64_t n)
{
	if (!image_take(frames->image, n * PER_ENTRY))
		return false;
	frames->taken += n * PER_ENTRY;
	return true;
}

/* Also gives back what they cost. */
static void frames_drop_refs(struct frames *frames)
{
	image_give_back(frames->image, frames->taken);
	frames->taken = 0;
	vec_clear(&frames->refs);
}

/* One pass over the entries. Consecutive entries share their CIE, so the last one is kept. */
static void frames_scan_table(struct frames *frames, const struct frame_table *table)
{
	uint64_t offset = 0, cie_offset = UINT64_MAX;
	struct frame_entry entry;
	struct cie cie;
	struct fde fde;

	for (; offset < table->bytes.len && frame_entry_read(table, offset, &entry) == 0;
	     offset = entry.next) {
		if (entry.is_terminator && !table->has_true_end)
			break;
		if (entry.is_terminator || entry.is_cie)
			continue;
		if (entry.cie != cie_offset) {
			cie_offset = UINT64_MAX;
			if (frame_cie_read(table, entry.cie, &cie) < 0)
				continue;
			cie_offset = entry.cie;
		}
		/* The linker leaves entries of removed functions, with a start of zero. */
		if (frame_fde_read_with(table, &entry, &cie, &fde) == 0 &&
		    frames_is_executable(frames->image, fde.start)) {
			if (!frames_pay(frames, 1))
				break;
			vec_push(
				&frames->refs,
				((struct frame_ref){ fde.start, offset | (table->is_debug ? IN_DEBUG : 0) }));
		}
	}
}

static bool frames_is_hdr_true(const struct frames *frames)
{
	size_t n = frames->refs.n, stride = n / HDR_CHECKS + 1;

	for (size_t i = 0; i < n; i += stride) {
		struct fde fde;
		struct frame_ref ref = frames->refs.at[n - 1 - i];
		if (frames_read_ref(frames, ref, &fde) < 0 || fde.start != ref.start)
			return false;
	}
	return n > 0;
}

/* The linker's table: pairs of (function start, entry). False if it is missing or cannot be trusted. */
static bool frames_take_hdr_table(struct frames *frames, struct reader *r, uint64_t hdr_vaddr,
				  uint8_t count_encoding, uint8_t table_encoding)
{
	struct encoded_base base = { NULL, hdr_vaddr, hdr_vaddr, 0 };
	uint64_t count = read_encoded(r, count_encoding, &base);

	if (count_encoding == ENCODING_OMIT || table_encoding == ENCODING_OMIT || r->failed ||
	    count > reader_left(r) / 4 || !frames_pay(frames, count))
		return false;
	vec_reserve(&frames->refs, (size_t)count);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t start = read_encoded(r, table_encoding, &base);
		uint64_t where = read_encoded(r, table_encoding, &base) - frames->eh.vaddr;
		if (r->failed || where >= frames->eh.bytes.len)
			return false;
		vec_push(&frames->refs, ((struct frame_ref){ start, where }));
	}
	return frames_is_hdr_true(frames);
}

/* Section headers say where .eh_frame ends; without them, .eh_frame_hdr at least says where it starts. */
static void frames_find_eh_frame(struct frames *frames)
{
	struct image *image = frames->image;
	const struct section *section = image_section(image, ".eh_frame");
	struct bytes bytes = section ? image_section_bytes(image, section) : (struct bytes){ 0 };

	if (bytes.len)
		frames->eh = (struct frame_table){ image, bytes, section->vaddr, false, true };

	const struct segment *hdr = image_segment(image, PT_GNU_EH_FRAME);
	if (hdr) {
		struct reader r = reader_of(bytes_slice(image_bytes(image, hdr->vaddr), 0, hdr->file_size));
		struct encoded_base base = { NULL, hdr->vaddr, hdr->vaddr, 0 };
		uint8_t version = read_u8(&r), eh_encoding = read_u8(&r);
		uint8_t count_encoding = read_u8(&r), table_encoding = read_u8(&r);
		uint64_t eh_frame = read_encoded(&r, eh_encoding, &base);
		bool is_usable = !r.failed && version == 1 && eh_frame;
		if (is_usable && !bytes.len)
			frames->eh = (struct frame_table){ image, image_bytes(image, eh_frame), eh_frame,
							   false, false };
		if (is_usable &&
		    frames_take_hdr_table(frames, &r, hdr->vaddr, count_encoding, table_encoding))
			return;
	}
	frames_drop_refs(frames);
	frames_scan_table(frames, &frames->eh);
}

/* By start; of two with the same start, the one in .eh_frame first. */
static int frames_compare(const void *left, const void *right)
{
	const struct frame_ref *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->where < b->where ? -1 : a->where > b->where;
}

static void frames_sort_index(struct frames *frames)
{
	struct frame_ref *refs = frames->refs.at;
	size_t n = frames->refs.n, kept = 0;
	bool is_sorted = true;

	for (size_t i = 1; i < n && is_sorted; i++)
		is_sorted = refs[i - 1].start < refs[i].start;
	if (is_sorted)
		return;
	qsort(refs, n, sizeof(*refs), frames_compare);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || refs[kept - 1].start != refs[i].start)
			refs[kept++] = refs[i];
	frames->refs.n = kept;
}

/* The C library's entry of _start may also cover the function after it, and marks both as outermost. */
static void frames_bound_entry_point(struct frames *frames)
{
	const struct image *image = frames->image;
	struct fde fde;

	if (!image->entry || frames_find(frames, image->entry, &fde) < 0)
		return;
	frames->entry_start = fde.start;
	frames->entry_end = entry_point_end(image, fde.start + fde.size);
}

struct frames *frames_read(struct image *image)
{
	struct frames *frames = alloc_zero(1, sizeof(*frames));

	frames->image = image;
	frames_find_eh_frame(frames);
	frames->debug =
		(struct frame_table){ image, image_named_bytes(image, ".debug_frame"), 0, true, true };
	frames_scan_table(frames, &frames->debug);
	frames_sort_index(frames);
	frames_bound_entry_point(frames);
	return frames;
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	frames_drop_refs(frames);
	vec_done(&frames->refs);
	free(frames);
}

/* ---- queries ---------------------------------------------------------------------------------- */

size_t frames_count(const struct frames *frames)
{
	return frames->refs.n;
}

uint64_t frames_start(const struct frames *frames, size_t index)
{
	return frames->refs.at[index].start;
}

static void frames_clip(const struct frames *frames, struct fde *fde)
{
	if (frames->entry_end > fde->start && fde->start == frames->entry_start &&
	    fde->size > frames->entry_end - fde->start)
		fde->size = frames->entry_end - fde->start;
}

int frames_get(const struct frames *frames, size_t index, struct fde *ret)
{
	struct fde fde;

	if (index >= frames->refs.n || frames_read_ref(frames, frames->refs.at[index], &fde) < 0 ||
	    fde.start != frames->refs.at[index].start)
		return -EBADMSG;
	*ret = fde;
	frames_clip(frames, ret);
	return 0;
}

/* The CIE at an offset of a table; NULL if it is damaged. */
static const struct cie *frames_cached_cie(const struct frame_table *table, uint64_t offset,
					   struct cie_memo *memo)
{
	if (memo->is_full && memo->is_debug == table->is_debug && memo->offset == offset)
		return &memo->cie;
	memo->is_full = frame_cie_read(table, offset, &memo->cie) == 0;
	memo->is_debug = table->is_debug;
	memo->offset = offset;
	return memo->is_full ? &memo->cie : NULL;
}

int frames_get_next(const struct frames *frames, size_t index, struct cie_memo *memo, struct fde *ret)
{
	struct frame_entry entry;

	if (index >= frames->refs.n)
		return -EBADMSG;
	struct frame_ref ref = frames->refs.at[index];
	const struct frame_table *table = ref.where & IN_DEBUG ? &frames->debug : &frames->eh;
	if (frame_entry_read(table, ref.where & ~IN_DEBUG, &entry) < 0 || entry.is_terminator || entry.is_cie)
		return -EBADMSG;
	const struct cie *cie = frames_cached_cie(table, entry.cie, memo);
	if (!cie || frame_fde_read_with(table, &entry, cie, ret) < 0 || ret->start != ref.start)
		return -EBADMSG;
	frames_clip(frames, ret);
	return 0;
}

size_t frames_count_up_to(const struct frames *frames, uint64_t vaddr)
{
	return search_first(i, frames->refs.n, frames->refs.at[i].start > vaddr);
}

int frames_find_index(const struct frames *frames, uint64_t vaddr, struct fde *ret, size_t *ret_index)
{
	size_t n = frames_count_up_to(frames, vaddr);

	for (size_t back = 1; back <= n && back <= MAX_OVERLAPS; back++) {
		int error = frames_get(frames, n - back, ret);
		if (error < 0 && back == 1)
			return error;
		if (error == 0 && vaddr - ret->start < ret->size) {
			if (ret_index)
				*ret_index = n - back;
			return 0;
		}
	}
	return -ENOENT;
}

int frames_find(const struct frames *frames, uint64_t vaddr, struct fde *ret)
{
	return frames_find_index(frames, vaddr, ret, NULL);
}
