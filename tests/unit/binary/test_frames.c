/* SPDX-License-Identifier: Apache-2.0 */
#include "binary/cfi/frames.h"

#include <errno.h>

#include "tests/elf_maker.h"
#include "tests/frame_maker.h"
#include "tests/test.h"

#define TEXT 0x1000u
#define EH 0x2000u
#define HDR 0x3000u
#define LSDA 0x4000u

static const uint8_t text[0x400];

struct made {
	struct images *images;
	struct image *image;
	struct frames *frames;
};

static void made_done(struct made *m)
{
	frames_free(m->frames);
	images_free(m->images);
}

/* Three functions with a gap after the second. Not in order of address, as in real files. */
static void three_functions(struct writer *eh)
{
	size_t cie = frame_cie(eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	frame_fde(eh, EH, cie, TEXT + 0x100, 0x80, 0, PROGRAM(0x41, 0x0e, 16));
	frame_fde(eh, EH, cie, TEXT, 0x100, 0, PROGRAM(0));
	frame_fde(eh, EH, cie, TEXT + 0x200, 0x10, 0, PROGRAM(0));
}

static struct made make(enum elf_layout layout, struct bytes eh, struct bytes hdr, struct bytes lsda,
			struct bytes debug)
{
	struct elf_part parts[] = {
		{ ".text", TEXT, PF_R | PF_X, { text, sizeof(text) }, 0 },
		{ ".eh_frame", EH, PF_R, eh, 0 },
		{ ".eh_frame_hdr", HDR, PF_R, hdr, hdr.len ? PT_GNU_EH_FRAME : 0 },
		{ ".gcc_except_table", LSDA, PF_R, lsda, 0 },
		{ ".debug_frame", 0, 0, debug, 0 },
	};
	struct made m = { .images = images_new() };

	m.image = elf_image(m.images, "made", EM_X86_64, 0, layout, parts, ARRAY_LEN(parts), NULL);
	m.frames = frames_read(m.image);
	return m;
}

/* A search table as linkers write it: sorted pairs relative to the data. */
static void make_hdr(struct writer *w, const uint64_t (*pairs)[2], uint32_t n)
{
	write_u8(w, 1);
	write_u8(w, 0x1b);
	write_u8(w, 0x03);
	write_u8(w, 0x3b);
	write_u32(w, EH - (HDR + 4));
	write_u32(w, n);
	for (uint32_t i = 0; i < n; i++) {
		write_u32(w, (uint32_t)(pairs[i][0] - HDR));
		write_u32(w, (uint32_t)(EH + pairs[i][1] - HDR));
	}
}

static void check_three(const struct frames *frames)
{
	struct fde fde;

	CHECK_EQ(frames_count(frames), 3);
	CHECK_EQ(frames_start(frames, 0), TEXT);
	CHECK_EQ(frames_start(frames, 2), TEXT + 0x200);
	CHECK_EQ(frames_find(frames, TEXT + 0x17f, &fde), 0);
	CHECK_EQ(fde.start, TEXT + 0x100);
	CHECK_EQ(fde.size, 0x80);
	CHECK_EQ(fde.cie.ra_reg, 16);
	CHECK_EQ(fde.cie.data_align, -8);
	CHECK_EQ(fde.program.at[0], 0x41);
	CHECK_EQ(frames_find(frames, TEXT + 0x180, &fde), -ENOENT);
	CHECK_EQ(frames_find(frames, TEXT - 1, &fde), -ENOENT);
	CHECK_EQ(frames_find(frames, TEXT + 0x210, &fde), -ENOENT);
}

TEST(frames_are_found_by_scanning_eh_frame)
{
	struct writer eh = { 0 };

	three_functions(&eh);
	struct made m =
		make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, PROGRAM(0), PROGRAM(0));
	check_three(m.frames);
	made_done(&m);
	writer_done(&eh);
}

TEST(frames_are_found_through_the_search_table_without_section_headers)
{
	struct writer eh = { 0 }, hdr = { 0 };
	size_t cie = frame_cie(&eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));
	uint64_t pairs[3][2] = { { TEXT, 0 }, { TEXT + 0x100, 0 }, { TEXT + 0x200, 0 } };

	pairs[1][1] = frame_fde(&eh, EH, cie, TEXT + 0x100, 0x80, 0, PROGRAM(0x41, 0x0e, 16));
	pairs[0][1] = frame_fde(&eh, EH, cie, TEXT, 0x100, 0, PROGRAM(0));
	pairs[2][1] = frame_fde(&eh, EH, cie, TEXT + 0x200, 0x10, 0, PROGRAM(0));
	make_hdr(&hdr, pairs, 3);
	struct made m =
		make(ELF_WITHOUT_SECTIONS, writer_bytes(&eh), writer_bytes(&hdr), PROGRAM(0), PROGRAM(0));
	CHECK_EQ(m.image->n_sections, 0);
	check_three(m.frames);
	made_done(&m);
	writer_done(&eh);
	writer_done(&hdr);
}

TEST(frames_do_not_trust_a_wrong_search_table)
{
	struct writer eh = { 0 }, hdr = { 0 };
	uint64_t pairs[2][2] = { { TEXT, 8 }, { TEXT + 0x10, 16 } };

	three_functions(&eh);
	make_hdr(&hdr, pairs, 2);
	struct made m =
		make(ELF_WITH_SECTIONS, writer_bytes(&eh), writer_bytes(&hdr), PROGRAM(0), PROGRAM(0));
	check_three(m.frames);
	made_done(&m);
	writer_done(&eh);
	writer_done(&hdr);
}

TEST(frames_continue_after_a_terminator_within_the_section)
{
	struct writer eh = { 0 };
	size_t cie = frame_cie(&eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	frame_fde(&eh, EH, cie, TEXT, 0x100, 0, PROGRAM(0));
	write_u32(&eh, 0);
	frame_fde(&eh, EH, cie, TEXT + 0x100, 0x80, 0, PROGRAM(0));
	struct made m =
		make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, PROGRAM(0), PROGRAM(0));
	CHECK_EQ(frames_count(m.frames), 2);
	made_done(&m);
	writer_done(&eh);
}

TEST(frames_leave_out_functions_the_linker_dropped)
{
	struct writer eh = { 0 };
	size_t cie = frame_cie(&eh, "zR", 1, -8, 16, PROGRAM(0x0c, 7, 8, 0x90, 1));

	frame_fde(&eh, EH, cie, 0x10, 0x100, 0, PROGRAM(0));
	frame_fde(&eh, EH, cie, TEXT, 0x100, 0, PROGRAM(0));
	struct made m =
		make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, PROGRAM(0), PROGRAM(0));
	CHECK_EQ(frames_count(m.frames), 1);
	CHECK_EQ(frames_start(m.frames, 0), TEXT);
	made_done(&m);
	writer_done(&eh);
}

TEST(frames_recognise_signal_frames_and_signed_return_addresses)
{
	struct writer eh = { 0 };
	size_t cie = frame_cie(&eh, "zRSB", 4, -8, 30, PROGRAM(0x0c, 31, 0));
	struct fde fde;

	frame_fde(&eh, EH, cie, TEXT, 0x10, 0, PROGRAM(0));
	struct made m =
		make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, PROGRAM(0), PROGRAM(0));
	CHECK_EQ(frames_get(m.frames, 0, &fde), 0);
	CHECK(fde.cie.is_signal_frame);
	CHECK(fde.cie.ra_signed_with_b_key);
	CHECK_EQ(fde.cie.code_align, 4);
	made_done(&m);
	writer_done(&eh);
}

/* .debug_frame as DWARF 4 writes it: version 4, absolute addresses, a CIE marked by all ones. */
static void debug_frame(struct writer *w, bool is_wide)
{
	size_t start = w->len;

	write_u32(w, is_wide ? UINT32_MAX : 0);
	if (is_wide)
		write_u64(w, 2 + 8 + 1 + 2 + 1 + 1 + 1 + 2);
	is_wide ? write_u64(w, UINT64_MAX) : write_u32(w, UINT32_MAX);
	write_bytes(w, PROGRAM(4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8));
	if (!is_wide)
		frame_patch_u32(w, start, (uint32_t)(w->len - 4));
	size_t fde = w->len;
	write_u32(w, is_wide ? UINT32_MAX : 0);
	if (is_wide)
		write_u64(w, 24);
	is_wide ? write_u64(w, start) : write_u32(w, (uint32_t)start);
	write_u64(w, TEXT + 0x300);
	write_u64(w, 0x20);
	if (!is_wide)
		frame_patch_u32(w, fde, (uint32_t)(w->len - fde - 4));
}

TEST(frames_of_debug_frame_complete_eh_frame)
{
	struct writer eh = { 0 }, debug = { 0 };
	struct fde fde;

	three_functions(&eh);
	debug_frame(&debug, false);
	struct made m = make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, PROGRAM(0),
			     writer_bytes(&debug));
	CHECK_EQ(frames_count(m.frames), 4);
	CHECK_EQ(frames_find(m.frames, TEXT + 0x31f, &fde), 0);
	CHECK_EQ(fde.start, TEXT + 0x300);
	CHECK_EQ(fde.cie.program.len, 3);
	made_done(&m);
	writer_done(&eh);
	writer_done(&debug);
}

TEST(frames_read_in_sequence_have_their_own_cies)
{
	struct writer eh = { 0 }, debug = { 0 };
	struct cie_memo memo = { 0 };
	struct fde one, other;

	three_functions(&eh);
	size_t cie = frame_cie(&eh, "zRS", 1, -8, 16, PROGRAM(0x0c, 7, 8));
	frame_fde(&eh, EH, cie, TEXT + 0x180, 0x10, 0, PROGRAM(0));
	frame_fde(&eh, EH, 1 << 20, TEXT + 0x190, 0x10, 0, PROGRAM(0)); /* its CIE does not exist */
	debug_frame(&debug, false);                                     /* here the CIE is at offset 0, too */
	struct made m = make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, PROGRAM(0),
			     writer_bytes(&debug));

	CHECK_EQ(frames_count(m.frames), 5);
	for (size_t i = 0; i < frames_count(m.frames); i++) {
		CHECK_EQ(frames_get(m.frames, i, &one), 0);
		CHECK_EQ(frames_get_next(m.frames, i, &memo, &other), 0);
		CHECK_EQ(other.start, one.start);
		CHECK_EQ(other.size, one.size);
		CHECK_EQ(other.cie.is_signal_frame, one.cie.is_signal_frame);
		CHECK(other.cie.program.at == one.cie.program.at);
	}
	CHECK_EQ(frames_get_next(m.frames, 5, &memo, &other), -EBADMSG);
	made_done(&m);
	writer_done(&eh);
	writer_done(&debug);
}

TEST(frames_read_entries_with_64_bit_lengths)
{
	struct writer debug = { 0 };
	struct fde fde;

	debug_frame(&debug, true);
	struct made m =
		make(ELF_WITH_SECTIONS, PROGRAM(0), (struct bytes){ 0 }, PROGRAM(0), writer_bytes(&debug));
	CHECK_EQ(frames_find(m.frames, TEXT + 0x300, &fde), 0);
	CHECK_EQ(fde.size, 0x20);
	made_done(&m);
	writer_done(&debug);
}

TEST(frames_know_landing_pads)
{
	struct writer eh = { 0 };
	size_t cie = frame_cie(&eh, "zLR", 1, -8, 16, PROGRAM(0x0c, 7, 8));
	/* no pad base, no types, uleb call sites: one without a pad, one with, one outside the function */
	struct bytes lsda = PROGRAM(0xff, 0xff, 0x01, 13, 0x05, 0x05, 0, 0, 0x10, 0x08, 0x40, 0, 0xf0, 0x01,
				    0x80, 0x01, 1);
	struct landing_site site;
	struct fde fde;

	frame_fde(&eh, EH, cie, TEXT, 0x100, LSDA, PROGRAM(0));
	struct made m = make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, lsda, PROGRAM(0));
	CHECK_EQ(frames_get(m.frames, 0, &fde), 0);
	CHECK_EQ(fde.lsda, LSDA);
	CHECK_EQ(frames_landing_pads(m.frames, &fde, &site, 1), 1);
	CHECK_EQ(site.start, TEXT + 0x10);
	CHECK_EQ(site.end, TEXT + 0x18);
	CHECK_EQ(site.pad, TEXT + 0x40);
	made_done(&m);
	writer_done(&eh);
}

/* Any number of functions may have the same table, however long it is. */
TEST(frames_read_no_more_landing_pads_than_a_function_has_bytes)
{
	struct writer eh = { 0 }, lsda = { 0 };
	size_t cie = frame_cie(&eh, "zLR", 1, -8, 16, PROGRAM(0x0c, 7, 8));
	struct fde fde;

	write_bytes(&lsda, PROGRAM(0xff, 0xff, 0x01, 100));
	for (int i = 0; i < 25; i++)
		write_bytes(&lsda, PROGRAM(0, 0, 1, 0));
	frame_fde(&eh, EH, cie, TEXT, 4, LSDA, PROGRAM(0));
	struct made m = make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, writer_bytes(&lsda),
			     PROGRAM(0));
	CHECK_EQ(frames_get(m.frames, 0, &fde), 0);
	CHECK_EQ(frames_landing_pads(m.frames, &fde, NULL, 0), 4);
	made_done(&m);
	writer_done(&eh);
	writer_done(&lsda);
}

TEST(frames_survive_truncation_anywhere)
{
	struct writer eh = { 0 };
	struct fde fde;

	three_functions(&eh);
	for (size_t len = 0; len < eh.len; len++) {
		struct made m = make(ELF_WITH_SECTIONS, bytes_slice(writer_bytes(&eh), 0, len),
				     (struct bytes){ 0 }, PROGRAM(0), PROGRAM(0));
		CHECK(frames_count(m.frames) < 3);
		for (size_t i = 0; i < frames_count(m.frames); i++)
			CHECK_EQ(frames_get(m.frames, i, &fde), 0);
		made_done(&m);
	}
	writer_done(&eh);
}

/* A daemon reads the entries of a library again and again. */
TEST(frames_give_back_what_they_took_from_the_images_memory_budget)
{
	struct writer eh = { 0 };

	three_functions(&eh);
	struct made m =
		make(ELF_WITH_SECTIONS, writer_bytes(&eh), (struct bytes){ 0 }, PROGRAM(0), PROGRAM(0));
	CHECK(image_take(m.image, 255 << 20)); /* of 256 MB and a little */
	for (int i = 0; i < 20000; i++) {
		frames_free(m.frames);
		m.frames = frames_read(m.image);
	}
	CHECK_EQ(frames_count(m.frames), 3);
	CHECK(!image_is_too_much(m.image));
	made_done(&m);
	writer_done(&eh);
}

TEST(frames_of_this_program_cover_its_functions)
{
	struct images *images = images_new();
	image_id id;
	struct fde fde;

	CHECK_EQ(images_open(images, "/proc/self/exe", &id, NULL), 0);
	struct image *image = images_get(images, id);
	struct frames *frames = frames_read(image);
	CHECK(frames_count(frames) > 100);
	for (size_t i = 0; i < frames_count(frames); i++) {
		CHECK_EQ(frames_get(frames, i, &fde), 0);
		CHECK_EQ(frames_find(frames, fde.start + fde.size - 1, &fde), 0);
		CHECK_EQ(fde.start, frames_start(frames, i));
	}
	frames_free(frames);
	images_free(images);
}

TEST(an_entry_that_begins_with_the_position_of_the_cfa_starts_in_a_frame)
{
	static const uint8_t part[] = { 0x0e, 0x40, 0x83, 0x04 }, whole[] = { 0x41, 0x0e, 0x10 };

	CHECK(fde_starts_in_frame(&(struct fde){ .program = { part, sizeof(part) } }));
	CHECK(!fde_starts_in_frame(&(struct fde){ .program = { whole, sizeof(whole) } }));
	CHECK(!fde_starts_in_frame(&(struct fde){ 0 }));
}
