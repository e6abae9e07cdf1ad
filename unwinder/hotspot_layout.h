/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hotspot_layout: the layout of HotSpot's code cache in a process, as described by the runtime itself, and
 * its information about the compiled code at an address.
 *
 * libjvm exports a table of its structures' fields (vmStructs), made for debuggers. With it the code cache
 * can be read: heaps of segments, and a map from a segment to the block it belongs to, which begins with a
 * description of the code in it. One of its fields is the size of the code's frame. All of this exists as
 * long as the code does, so it may be read after a sample. But it is the target's memory and may contain
 * anything: every number is checked, and every search is bounded.
 */
#pragma once

#include "unwinder/code_pages.h"

/* Run-time addresses of the variables that libjvm exports, in the order of hotspot_export_names. */
enum hotspot_export {
	HOTSPOT_STRUCTS,
	HOTSPOT_TYPE_NAME,
	HOTSPOT_FIELD_NAME,
	HOTSPOT_TYPE_STRING,
	HOTSPOT_OFFSET,
	HOTSPOT_ADDRESS,
	HOTSPOT_STRIDE,
	HOTSPOT_EXPORTS
};
extern const char *const hotspot_export_names[HOTSPOT_EXPORTS];

enum hotspot_field_id {
	FIELD_HEAPS, /* the static one: its address instead of an offset */
	FIELD_ARRAY_LEN,
	FIELD_ARRAY_DATA,
	FIELD_HEAP_MEMORY,
	FIELD_HEAP_SEGMAP,
	FIELD_HEAP_LOG2,
	FIELD_SPACE_LOW,
	FIELD_SPACE_HIGH,
	FIELD_BLOCK_LENGTH,
	FIELD_BLOCK_USED,
	FIELD_FRAME_SIZE,
	FIELD_FRAME_COMPLETE,
	FIELD_CODE_BEGIN,  /* an address: up to Java 22 */
	FIELD_CODE_OFFSET, /* a number: since then */
	FIELD_N
};

struct hotspot_field {
	uint64_t offset;
	uint8_t size; /* bytes; 0 = the runtime has no such field */
};

struct hotspot_layout {
	struct hotspot_field field[FIELD_N];
};

/* Reads the table. False if there is no valid one, or a required field is missing. */
bool hotspot_layout_read(struct code_pages *pages, pid_t pid, const uint64_t exports[HOTSPOT_EXPORTS],
			 struct hotspot_layout *ret);

struct hotspot_code {
	uint64_t frame_size; /* bytes, from sp to the caller's sp; the return address is at its end */
	uint64_t frame_from; /* from this address on there is a frame; UINT64_MAX = not known */
};

/* The compiled code at pc. False if there is none with a fixed frame size. is_anew: data that was read since
 * the current epoch began may be out of date, and is read again, at most once per sample. */
bool hotspot_code_at(struct code_pages *pages, pid_t pid, const struct hotspot_layout *layout, uint64_t pc,
		     bool is_anew, struct hotspot_code *ret);
