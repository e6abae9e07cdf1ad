/* SPDX-License-Identifier: Apache-2.0 */
#include "unwinder/hotspot_layout.h"

#include <string.h>

#define MAX_ENTRIES 8192 /* of the table; Java 17 has about 2,600 */
#define MAX_STRIDE 256
#define MAX_NAME 64
#define MAX_FIELD_OFFSET (1u << 16)
#define MAX_HEAPS 16 /* there are at most three */
#define MIN_LOG2 3   /* of a segment's size; it is 6 or 7 */
#define MAX_LOG2 16
#define MAX_HOPS 8192         /* back to a block's first segment: up to 254 segments per hop */
#define SEGMENT_FREE 255      /* in the map */
#define MAX_FRAME_WORDS 65536 /* half a megabyte; a method has at most 65535 local variables */

const char *const hotspot_export_names[HOTSPOT_EXPORTS] = {
	[HOTSPOT_STRUCTS] = "gHotSpotVMStructs",
	[HOTSPOT_TYPE_NAME] = "gHotSpotVMStructEntryTypeNameOffset",
	[HOTSPOT_FIELD_NAME] = "gHotSpotVMStructEntryFieldNameOffset",
	[HOTSPOT_TYPE_STRING] = "gHotSpotVMStructEntryTypeStringOffset",
	[HOTSPOT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[HOTSPOT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[HOTSPOT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
};

/* ---- words -------------------------------------------------------------------------------------- */

struct hotspot_reader {
	struct code_pages *pages;
	pid_t pid;
	bool is_anew;
};

/* size is 1, 2, 4 or 8. */
static bool hotspot_read(const struct hotspot_reader *r, uint64_t addr, unsigned size, uint64_t *ret)
{
	if (r->is_anew)
		code_pages_renew(r->pages, r->pid, addr);

	struct bytes bytes = code_pages_at(r->pages, r->pid, addr);

	*ret = 0;
	if (!addr || bytes.len < size)
		return false;
	memcpy(ret, bytes.at, size); /* little-endian, like this machine */
	return true;
}

/* A field of the structure at addr. */
static bool hotspot_get(const struct hotspot_reader *r, uint64_t addr, const struct hotspot_field *field,
			uint64_t *ret)
{
	return addr && field->size && hotspot_read(r, addr + field->offset, field->size, ret);
}

/* The same as a signed number. */
static bool hotspot_get_signed(const struct hotspot_reader *r, uint64_t addr,
			       const struct hotspot_field *field, int64_t *ret)
{
	unsigned unused = field->size ? 64 - 8u * field->size : 0;
	uint64_t value;

	if (!hotspot_get(r, addr, field, &value))
		return false;
	*ret = (int64_t)(value << unused) >> unused;
	return true;
}

/* ret has room for MAX_NAME bytes. */
static bool hotspot_read_name(const struct hotspot_reader *r, uint64_t addr, char *ret)
{
	for (size_t n = 0; addr && n < MAX_NAME;) {
		struct bytes bytes = code_pages_at(r->pages, r->pid, addr + n);
		size_t len = bytes.len < MAX_NAME - n ? bytes.len : MAX_NAME - n;
		if (!len)
			return false;
		memcpy(ret + n, bytes.at, len);
		if (memchr(ret + n, '\0', len))
			return true;
		n += len;
	}
	return false;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static const struct hotspot_wanted {
	const char *type, *field;
	enum hotspot_field_id id;
	bool is_static;
} hotspot_wanted[] = {
	{ "CodeCache", "_heaps", FIELD_HEAPS, true },
	{ "GrowableArrayBase", "_len", FIELD_ARRAY_LEN, false },
	{ "GenericGrowableArray", "_len", FIELD_ARRAY_LEN, false }, /* up to Java 15 */
	{ "GrowableArray<int>", "_data", FIELD_ARRAY_DATA, false },
	{ "CodeHeap", "_memory", FIELD_HEAP_MEMORY, false },
	{ "CodeHeap", "_segmap", FIELD_HEAP_SEGMAP, false },
	{ "CodeHeap", "_log2_segment_size", FIELD_HEAP_LOG2, false },
	{ "VirtualSpace", "_low", FIELD_SPACE_LOW, false },
	{ "VirtualSpace", "_high", FIELD_SPACE_HIGH, false },
	{ "HeapBlock::Header", "_length", FIELD_BLOCK_LENGTH, false },
	{ "HeapBlock::Header", "_used", FIELD_BLOCK_USED, false },
	{ "CodeBlob", "_frame_size", FIELD_FRAME_SIZE, false },
	{ "CodeBlob", "_frame_complete_offset", FIELD_FRAME_COMPLETE, false },
	{ "CodeBlob", "_code_begin", FIELD_CODE_BEGIN, false },
	{ "CodeBlob", "_code_offset", FIELD_CODE_OFFSET, false },
};
#define N_WANTED (sizeof(hotspot_wanted) / sizeof(hotspot_wanted[0]))

/* By the name of the field's type. Structures are addressed, not read; pointers have eight bytes. */
static uint8_t hotspot_size_of(const char *type)
{
	static const struct {
		const char *type;
		uint8_t size;
	} known[] = { { "int", 4 },      { "bool", 1 },    { "int16_t", 2 }, { "uint16_t", 2 }, { "u2", 2 },
		      { "uint32_t", 4 }, { "int32_t", 4 }, { "uint", 4 },    { "uint8_t", 1 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(type, known[i].type) == 0)
			return known[i].size;
	return 8;
}

static void hotspot_take_field(const struct hotspot_reader *r, uint64_t entry, const uint64_t *at,
			       const struct hotspot_wanted *wanted, struct hotspot_layout *ret)
{
	struct hotspot_field *field = &ret->field[wanted->id];
	uint64_t type, offset;
	char name[MAX_NAME];

	if (!hotspot_read(r, entry + at[wanted->is_static ? HOTSPOT_ADDRESS : HOTSPOT_OFFSET], 8, &offset) ||
	    (!wanted->is_static && offset > MAX_FIELD_OFFSET))
		return;
	if (!hotspot_read(r, entry + at[HOTSPOT_TYPE_STRING], 8, &type) || !hotspot_read_name(r, type, name))
		return;
	*field = (struct hotspot_field){ offset, wanted->is_static ? 8 : hotspot_size_of(name) };
}

/* False at the table's end. */
static bool hotspot_take_entry(const struct hotspot_reader *r, uint64_t entry, const uint64_t *at,
			       struct hotspot_layout *ret)
{
	char type_name[MAX_NAME], field_name[MAX_NAME];
	uint64_t type, field;
	bool is_read = false;

	if (!hotspot_read(r, entry + at[HOTSPOT_TYPE_NAME], 8, &type) || !type)
		return false;
	if (!hotspot_read_name(r, type, type_name))
		return true; /* longer than any of the required names */
	for (size_t i = 0; i < N_WANTED; i++) {
		if (strcmp(type_name, hotspot_wanted[i].type) != 0)
			continue;
		if (!is_read && (!hotspot_read(r, entry + at[HOTSPOT_FIELD_NAME], 8, &field) ||
				 !hotspot_read_name(r, field, field_name)))
			return true;
		is_read = true;
		if (strcmp(field_name, hotspot_wanted[i].field) == 0)
			hotspot_take_field(r, entry, at, &hotspot_wanted[i], ret);
	}
	return true;
}

static bool hotspot_has_all(const struct hotspot_layout *layout)
{
	for (unsigned i = 0; i < FIELD_N; i++)
		if (!layout->field[i].size && i != FIELD_CODE_BEGIN && i != FIELD_CODE_OFFSET)
			return false;
	return layout->field[FIELD_CODE_BEGIN].size || layout->field[FIELD_CODE_OFFSET].size;
}

bool hotspot_layout_read(struct code_pages *pages, pid_t pid, const uint64_t exports[HOTSPOT_EXPORTS],
			 struct hotspot_layout *ret)
{
	struct hotspot_reader r = { pages, pid, false };
	uint64_t at[HOTSPOT_EXPORTS];

	*ret = (struct hotspot_layout){ 0 };
	for (unsigned i = 0; i < HOTSPOT_EXPORTS; i++)
		if (!hotspot_read(&r, exports[i], 8, &at[i]) || (i != HOTSPOT_STRUCTS && at[i] > MAX_STRIDE))
			return false;
	if (!at[HOTSPOT_STRIDE])
		return false;
	for (unsigned i = 0; i < MAX_ENTRIES; i++)
		if (!hotspot_take_entry(&r, at[HOTSPOT_STRUCTS] + i * at[HOTSPOT_STRIDE], at, ret))
			break;
	return hotspot_has_all(ret);
}

/* ---- the code cache ----------------------------------------------------------------------------- */

struct hotspot_heap {
	uint64_t low, high; /* of the segments in use */
	uint64_t map, map_end;
	unsigned log2; /* of a segment's size */
};

static bool hotspot_read_heap(const struct hotspot_reader *r, const struct hotspot_field *field,
			      uint64_t addr, struct hotspot_heap *ret)
{
	uint64_t memory = addr + field[FIELD_HEAP_MEMORY].offset, log2;
	uint64_t map = addr + field[FIELD_HEAP_SEGMAP].offset;

	if (!addr || !hotspot_get(r, memory, &field[FIELD_SPACE_LOW], &ret->low) ||
	    !hotspot_get(r, memory, &field[FIELD_SPACE_HIGH], &ret->high) ||
	    !hotspot_get(r, map, &field[FIELD_SPACE_LOW], &ret->map) ||
	    !hotspot_get(r, map, &field[FIELD_SPACE_HIGH], &ret->map_end) ||
	    !hotspot_get(r, addr, &field[FIELD_HEAP_LOG2], &log2))
		return false;
	ret->log2 = (unsigned)log2;
	return log2 >= MIN_LOG2 && log2 <= MAX_LOG2 && ret->low && ret->low < ret->high;
}

static bool hotspot_find_heap(const struct hotspot_reader *r, const struct hotspot_field *field, uint64_t pc,
			      struct hotspot_heap *ret)
{
	uint64_t array, data, addr;
	int64_t n;

	if (!hotspot_read(r, field[FIELD_HEAPS].offset, 8, &array) ||
	    !hotspot_get_signed(r, array, &field[FIELD_ARRAY_LEN], &n) ||
	    !hotspot_get(r, array, &field[FIELD_ARRAY_DATA], &data))
		return false;
	for (int64_t i = 0; i < n && i < MAX_HEAPS; i++)
		if (hotspot_read(r, data + 8 * (uint64_t)i, 8, &addr) &&
		    hotspot_read_heap(r, field, addr, ret) && pc >= ret->low && pc < ret->high)
			return true;
	return false;
}

/* The map says for each segment how far to go back; 0 at the first segment of a block. */
static bool hotspot_find_block(const struct hotspot_reader *r, const struct hotspot_heap *heap, uint64_t pc,
			       uint64_t *ret)
{
	uint64_t segment = (pc - heap->low) >> heap->log2, back;

	for (unsigned hops = 0; hops < MAX_HOPS; hops++) {
		if (heap->map >= heap->map_end || segment >= heap->map_end - heap->map ||
		    !hotspot_read(r, heap->map + segment, 1, &back) || back == SEGMENT_FREE || back > segment)
			return false;
		*ret = heap->low + (segment << heap->log2);
		if (back == 0)
			return true;
		segment -= back;
	}
	return false;
}

/* The description of the code follows the block's header. */
static bool hotspot_find_blob(const struct hotspot_reader *r, const struct hotspot_field *field, uint64_t pc,
			      uint64_t *ret)
{
	struct hotspot_heap heap;
	uint64_t block, length, is_used;

	if (!hotspot_find_heap(r, field, pc, &heap) || !hotspot_find_block(r, &heap, pc, &block) ||
	    !hotspot_get(r, block, &field[FIELD_BLOCK_LENGTH], &length) ||
	    !hotspot_get(r, block, &field[FIELD_BLOCK_USED], &is_used) || (is_used & 0xff) != 1)
		return false;
	if (length <= (pc - block) >> heap.log2 || length > (heap.high - block) >> heap.log2)
		return false;
	*ret = block + field[FIELD_BLOCK_USED].offset + 8; /* the header's last field */
	return *ret <= pc;
}

static bool hotspot_code_begin(const struct hotspot_reader *r, const struct hotspot_field *field,
			       uint64_t blob, uint64_t *ret)
{
	uint64_t offset;

	if (field[FIELD_CODE_BEGIN].size)
		return hotspot_get(r, blob, &field[FIELD_CODE_BEGIN], ret);
	if (!hotspot_get(r, blob, &field[FIELD_CODE_OFFSET], &offset))
		return false;
	*ret = blob + offset;
	return true;
}

bool hotspot_code_at(struct code_pages *pages, pid_t pid, const struct hotspot_layout *layout, uint64_t pc,
		     bool is_anew, struct hotspot_code *ret)
{
	const struct hotspot_field *field = layout->field;
	struct hotspot_reader r = { pages, pid, is_anew };
	uint64_t blob, begin;
	int64_t words, from;

	if (!hotspot_find_blob(&r, field, pc, &blob) || !hotspot_code_begin(&r, field, blob, &begin) ||
	    begin < blob || begin > pc || !hotspot_get_signed(&r, blob, &field[FIELD_FRAME_SIZE], &words) ||
	    !hotspot_get_signed(&r, blob, &field[FIELD_FRAME_COMPLETE], &from))
		return false;
	if (words < 2 || words > MAX_FRAME_WORDS) /* the caller's frame pointer and the return address */
		return false;
	*ret = (struct hotspot_code){ 8 * (uint64_t)words, from < 0 ? UINT64_MAX : begin + (uint64_t)from };
	return true;
}
