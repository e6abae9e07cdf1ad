/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_entry: the bytes of one CIE or FDE.
 *
 * .eh_frame and .debug_frame contain the same data with small differences: the id of a CIE, what an FDE's
 * pointer to its CIE is relative to, and how addresses are encoded.
 */
#include <errno.h>
#include <string.h>

#include "binary/cfi/encoded.h"
#include "binary/cfi/frames_private.h"

#define LENGTH_IS_64_BIT 0xffffffffu
/* Of a CIE, in bytes: compilers use 7 and about 20. Any number of entries may share a CIE, and each of them
 * takes the time that it takes. */
#define MAX_AUGMENTATION 32
#define MAX_INITIAL 1024

int frame_entry_read(const struct frame_table *table, uint64_t offset, struct frame_entry *ret)
{
	struct reader r = reader_of(table->bytes);
	bool is_wide = false;

	reader_seek(&r, offset);
	uint64_t length = read_u32(&r);
	if (length == LENGTH_IS_64_BIT) {
		length = read_u64(&r);
		is_wide = true;
	}
	*ret = (struct frame_entry){ .is_terminator = length == 0, .next = reader_offset(&r) };
	if (r.failed || length > reader_left(&r))
		return -EBADMSG;
	if (ret->is_terminator)
		return 0;

	ret->next = reader_offset(&r) + length;
	uint64_t id_at = reader_offset(&r);
	/* The id in .eh_frame always has four bytes, whatever the length is. */
	bool is_wide_id = is_wide && table->is_debug;
	uint64_t id = is_wide_id ? read_u64(&r) : read_u32(&r);
	ret->body = reader_offset(&r);
	if (r.failed || ret->body > ret->next)
		return -EBADMSG;

	uint64_t debug_mark = is_wide_id ? UINT64_MAX : UINT32_MAX;
	ret->is_cie = id == (table->is_debug ? debug_mark : 0);
	if (ret->is_cie)
		ret->cie = offset;
	else if (table->is_debug)
		ret->cie = id;
	else if (id <= id_at)
		ret->cie = id_at - id;
	else
		return -EBADMSG;
	return 0;
}

static struct reader frame_entry_body_reader(const struct frame_table *table, const struct frame_entry *entry)
{
	struct reader r = reader_of(bytes_slice(table->bytes, 0, entry->next));

	reader_seek(&r, entry->body);
	return r;
}

static const char *frame_entry_read_letters(struct reader *r)
{
	size_t left = reader_left(r);

	if (!left || !memchr(r->at, 0, left < MAX_AUGMENTATION ? left : MAX_AUGMENTATION))
		reader_fail(r);
	return read_cstr(r);
}

static struct bytes frame_entry_rest_of(struct reader *r)
{
	return read_bytes(r, reader_left(r));
}

/* 'z' data, one letter at a time; data after an unknown letter is skipped by the length. */
static void frame_entry_read_augmentation(const struct frame_table *table, struct reader *r,
					  const char *letters, struct cie *cie)
{
	struct encoded_base base = { NULL, table->vaddr, 0, 0 };
	uint64_t len = read_uleb(r);
	uint64_t end = reader_offset(r) + len;
	uint8_t encoding;

	if (len > reader_left(r)) {
		r->failed = true;
		return;
	}
	for (bool is_known = true; *letters && is_known; letters++) {
		switch (*letters) {
		case 'R':
			cie->address_encoding = read_u8(r);
			break;
		case 'L':
			cie->lsda_encoding = read_u8(r);
			break;
		case 'P': /* the personality routine: only its size matters */
			encoding = read_u8(r);
			read_encoded(r, encoding & 0x7f, &base);
			break;
		case 'S':
			cie->is_signal_frame = true;
			break;
		case 'B':
			cie->ra_signed_with_b_key = true;
			break;
		case 'G': /* memory tagging of the frame: nothing to read */
			break;
		default:
			is_known = false;
		}
	}
	if (reader_offset(r) > end)
		r->failed = true;
	else
		reader_seek(r, end);
}

/* The fields between the augmentation string and its data depend on the version. */
static bool frame_entry_read_cie_numbers(struct reader *r, uint8_t version, struct cie *cie)
{
	if (version == 4) {
		uint8_t address_size = read_u8(r), segment_size = read_u8(r);
		if (address_size != 8 || segment_size != 0)
			return false;
	}
	cie->code_align = read_uleb(r);
	cie->data_align = read_sleb(r);
	cie->ra_reg = version == 1 ? read_u8(r) : read_uleb(r);
	return true;
}

int frame_cie_read(const struct frame_table *table, uint64_t offset, struct cie *ret)
{
	struct frame_entry entry;
	struct cie cie = { .address_encoding = ENCODING_ABSOLUTE, .lsda_encoding = ENCODING_OMIT };

	if (frame_entry_read(table, offset, &entry) < 0 || !entry.is_cie)
		return -EBADMSG;

	struct reader r = frame_entry_body_reader(table, &entry);
	uint8_t version = read_u8(&r);
	const char *augmentation = frame_entry_read_letters(&r);
	if (version != 1 && version != 3 && version != 4)
		return -EBADMSG;
	if (strncmp(augmentation, "eh", 2) == 0) { /* before gcc 3: a pointer to exception data */
		reader_skip(&r, 8);
		augmentation += 2;
	}
	if (!frame_entry_read_cie_numbers(&r, version, &cie))
		return -EBADMSG;
	cie.has_augmentation_data = *augmentation == 'z';
	if (cie.has_augmentation_data)
		frame_entry_read_augmentation(table, &r, augmentation + 1, &cie);
	else if (*augmentation)
		return -EBADMSG; /* unknown, and of unknown length */
	cie.program = frame_entry_rest_of(&r);
	if (r.failed || cie.program.len > MAX_INITIAL)
		return -EBADMSG;
	*ret = cie;
	return 0;
}

int frame_fde_read_with(const struct frame_table *table, const struct frame_entry *entry,
			const struct cie *cie, struct fde *ret)
{
	struct encoded_base base = { table->image, table->vaddr, 0, 0 };
	struct reader r = frame_entry_body_reader(table, entry);
	struct fde fde = { .cie = *cie };

	fde.start = read_encoded(&r, cie->address_encoding, &base);
	fde.size = read_encoded_value(&r, cie->address_encoding);
	if (cie->has_augmentation_data) {
		struct bytes data = read_bytes(&r, read_uleb(&r));
		struct reader a = reader_of(data);
		/* The vaddr of the data; it does not matter for an empty one. */
		struct encoded_base here = { table->image, 0, 0, fde.start };
		if (data.len)
			here.vaddr = table->vaddr + (uint64_t)(data.at - table->bytes.at);
		if (data.len && cie->lsda_encoding != ENCODING_OMIT)
			fde.lsda = read_encoded(&a, cie->lsda_encoding, &here);
		r.failed |= a.failed;
	}
	fde.program_vaddr = table->vaddr + reader_offset(&r);
	fde.program = frame_entry_rest_of(&r);
	if (r.failed || fde.size == 0 || fde.start + fde.size < fde.start)
		return -EBADMSG;
	*ret = fde;
	return 0;
}

int frame_fde_read(const struct frame_table *table, uint64_t offset, struct fde *ret)
{
	struct frame_entry entry;
	struct cie cie;

	if (frame_entry_read(table, offset, &entry) < 0 || entry.is_terminator || entry.is_cie)
		return -EBADMSG;
	if (frame_cie_read(table, entry.cie, &cie) < 0)
		return -EBADMSG;
	return frame_fde_read_with(table, &entry, &cie, ret);
}

bool fde_starts_in_frame(const struct fde *fde)
{
	/* The first instruction states where the CFA is, instead of advancing to where it changes:
	 * DW_CFA_def_cfa, its variants for the register and the offset alone, and those with a factor. */
	switch (fde->program.len ? fde->program.at[0] : 0) {
	case 0x0c:
	case 0x0d:
	case 0x0e:
	case 0x12:
	case 0x13:
		return true;
	default:
		return false;
	}
}
