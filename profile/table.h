/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table: an array of structs, column by column, as varints (FORMAT.md "Tables").
 *
 * A table is described once, by its columns; the same description is used to write, read and range-check it.
 * Columns may be added at the end: an old reader skips those it does not know, and a new reader sets those
 * that an old file does not have to zero.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/writer.h"

/* Far beyond any real profile; limits how much a hostile one can make us allocate. */
#define TABLE_ROWS_MAX (UINT64_C(1) << 26)

enum coding {
	CODE_PLAIN,    /* uleb */
	CODE_SIGNED,   /* sleb */
	CODE_DELTA,    /* sleb of the difference from the row before */
	CODE_BACK,     /* uleb of row number - value: refers to an earlier row of the same table */
	CODE_IN_IMAGE, /* sleb of the difference from the last row with the same image */
	CODE_BUILD_ID, /* u8 length and bytes */
};

/* What a number refers to: values at or above the limit of their kind are refused. */
enum refers {
	REF_ANYTHING,
	REF_STRING,
	REF_EVENT,
	REF_METRIC,
	REF_IMAGE,
	REF_PROCESS,
	REF_THREAD,
	REF_NODE,
	REF_N
};

struct column {
	const char *name;
	uint16_t offset, size; /* of the field in its struct */
	uint8_t coding, refers;
	bool may_be_none; /* UINT32_MAX is a value; stored as value + 1, so that it takes one byte */
};

#define COLUMN(type, field, code, ...)                                                               \
	{                                                                                            \
		.name = #field, .offset = offsetof(type, field), .size = sizeof(((type *)0)->field), \
		.coding = code, __VA_ARGS__                                                          \
	}
#define TO(kind) .refers = REF_##kind
#define TO_OR_NONE(kind) .refers = REF_##kind, .may_be_none = true

struct table {
	const struct column *columns;
	size_t n_columns;
	size_t stride;       /* size of the struct */
	size_t image_column; /* index of the image column for CODE_IN_IMAGE */
};

#define TABLE(type, list, ...)                                                                          \
	{                                                                                               \
		.columns = list, .n_columns = sizeof(list) / sizeof((list)[0]), .stride = sizeof(type), \
		__VA_ARGS__                                                                             \
	}

/* The current position in a file, for messages; and how many rows of each kind there are. */
struct decoder {
	const char *path;
	const char *section;
	uint64_t offset;    /* of the section in the file */
	struct bytes bytes; /* its contents, unpacked */
	uint64_t limits[REF_N];
	struct diag *diag;
};

/* "'path' is damaged: section nodes at offset 160: ..."; returns -EBADMSG. */
__attribute__((format(printf, 2, 3))) int decoder_refuse(const struct decoder *decoder, const char *why, ...);

void table_encode(const struct table *table, const void *rows, size_t n, struct writer *ret);
/* Rows are malloc'ed (NULL for none) and belong to the caller. */
int table_decode(const struct table *table, const struct decoder *decoder, void **ret_rows, size_t *ret_n);
