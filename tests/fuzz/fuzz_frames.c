/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_frames: the unwind tables of a small ELF file: every entry is read, looked up, and its landing pads
 * are read.
 *
 * input: u8 flags (1: section headers, 2: .debug_frame instead of .eh_frame); u16 length of
 * .eh_frame_hdr, u16 length of the exception data, both; the rest is the table
 */
#include <stdlib.h>

#include "binary/cfi/frames.h"
#include "tests/elf_maker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(struct bytes bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		sink += bytes.at[i];
}

static void use(const struct frames *frames)
{
	struct landing_site sites[16];
	struct fde fde;

	for (size_t i = 0; i < frames_count(frames); i++) {
		if (i && frames_start(frames, i) <= frames_start(frames, i - 1))
			abort();
		if (frames_get(frames, i, &fde) < 0)
			continue;
		touch(fde.program);
		touch(fde.cie.program);
		size_t n = frames_landing_pads(frames, &fde, sites, ARRAY_LEN(sites));
		for (size_t k = 0; k < n && k < ARRAY_LEN(sites); k++)
			if (sites[k].end < sites[k].start)
				abort();
		uint64_t end = fde.start + fde.size;
		if (frames_find(frames, end - 1, &fde) == 0 && fde.start > end - 1)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t text[4096];
	struct reader r = reader_of((struct bytes){ data, size });
	uint8_t flags = read_u8(&r);
	uint16_t hdr_len = read_u16(&r), lsda_len = read_u16(&r);
	struct bytes hdr = read_bytes(&r, hdr_len), lsda = read_bytes(&r, lsda_len);
	struct bytes table = read_bytes(&r, reader_left(&r));
	struct elf_part parts[] = {
		{ ".text", 0x1000, PF_R | PF_X, { text, sizeof(text) }, 0 },
		{ ".eh_frame_hdr", 0x3000, PF_R, hdr, hdr.len ? PT_GNU_EH_FRAME : 0 },
		{ ".gcc_except_table", 0x20000, PF_R, lsda, 0 },
		{ flags & 2 ? ".debug_frame" : ".eh_frame", flags & 2 ? 0 : 0x40000, PF_R, table, 0 },
	};
	struct images *images = images_new();
	struct image *image =
		elf_image(images, "fuzz", EM_X86_64, 0, flags & 1 ? ELF_WITH_SECTIONS : ELF_WITHOUT_SECTIONS,
			  parts, ARRAY_LEN(parts), NULL);

	if (image) {
		struct frames *frames = frames_read(image);
		use(frames);
		frames_free(frames);
	}
	images_free(images);
	return 0;
}
