/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "binary/elf/image.h"

int decoder_refuse(const struct decoder *decoder, const char *why, ...)
{
	char text[160];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	diag_set(decoder->diag, -EBADMSG, "profile '%s' is corrupt", decoder->path);
	diag_why(decoder->diag, "section %s at offset %llu: %s", decoder->section,
		 (unsigned long long)decoder->offset, text);
	return -EBADMSG;
}

/* Copies of a constant size need no call; nearly all fields have one of these two sizes. */
static inline uint64_t field_get(const struct column *column, const uint8_t *row)
{
	uint64_t value = 0;
	uint32_t half;

	if (column->size == sizeof(value)) {
		memcpy(&value, row + column->offset, sizeof(value));
	} else if (column->size == sizeof(half)) {
		memcpy(&half, row + column->offset, sizeof(half));
		value = column->coding == CODE_SIGNED ? (uint64_t)(int64_t)(int32_t)half : half;
	} else {
		memcpy(&value, row + column->offset, column->size);
	}
	return value;
}

static inline void field_set(const struct column *column, uint8_t *row, uint64_t value)
{
	uint32_t half = (uint32_t)value;

	if (column->size == sizeof(value))
		memcpy(row + column->offset, &value, sizeof(value));
	else if (column->size == sizeof(half))
		memcpy(row + column->offset, &half, sizeof(half));
	else
		memcpy(row + column->offset, &value, column->size);
}

/* The reference values for the deltas of one column. */
struct history {
	uint64_t last;
	uint64_t *by_image; /* NULL unless the column is coded by image; the last slot is for IMAGE_NONE */
	uint64_t n_images;
	const struct column *image;
};

static uint64_t *history_of(struct history *history, const uint8_t *row)
{
	if (!history->by_image)
		return &history->last;

	uint64_t image = field_get(history->image, row);
	return &history->by_image[image < history->n_images ? image : history->n_images];
}

static uint64_t images_in(const struct table *table, const uint8_t *rows, size_t n)
{
	uint64_t max = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t image = field_get(&table->columns[table->image_column], rows + i * table->stride);
		if (image != IMAGE_NONE && image >= max)
			max = image + 1;
	}
	return max;
}

static struct history history_new(const struct table *table, const struct column *column, const uint8_t *rows,
				  size_t n)
{
	struct history history = { .image = &table->columns[table->image_column] };

	if (column->coding == CODE_IN_IMAGE) {
		history.n_images = images_in(table, rows, n);
		history.by_image = alloc_zero(history.n_images + 1, sizeof(*history.by_image));
	}
	return history;
}

static void history_done(struct history *history)
{
	free(history->by_image);
}

static void encode_build_id(const uint8_t *row, const struct column *column, struct writer *w)
{
	struct build_id id;

	memcpy(&id, row + column->offset, sizeof(id));
	write_u8(w, id.len);
	write_bytes(w, (struct bytes){ id.bytes, id.len });
}

static void encode_field(const struct column *column, const uint8_t *row, size_t index,
			 struct history *history, struct writer *w)
{
	uint64_t value = field_get(column, row);
	uint64_t *last = history_of(history, row);

	if (column->may_be_none)
		value = (uint32_t)(value + 1);
	switch (column->coding) {
	case CODE_SIGNED:
		write_sleb(w, (int64_t)value);
		break;
	case CODE_DELTA:
	case CODE_IN_IMAGE:
		write_sleb(w, (int64_t)(value - *last));
		*last = value;
		break;
	case CODE_BACK:
		write_uleb(w, index - value);
		break;
	default:
		write_uleb(w, value);
	}
}

void table_encode(const struct table *table, const void *rows, size_t n, struct writer *ret)
{
	struct writer w = { 0 };

	write_uleb(ret, n);
	write_uleb(ret, table->n_columns);
	for (size_t c = 0; c < table->n_columns; c++) {
		const struct column *column = &table->columns[c];
		CLEANUP(history_done) struct history history = history_new(table, column, rows, n);
		writer_clear(&w);
		for (size_t i = 0; i < n; i++) {
			const uint8_t *row = (const uint8_t *)rows + i * table->stride;
			if (column->coding == CODE_BUILD_ID)
				encode_build_id(row, column, &w);
			else
				encode_field(column, row, i, &history, &w);
		}
		write_uleb(ret, w.len);
		write_bytes(ret, writer_bytes(&w));
	}
	writer_done(&w);
}

static bool decode_build_id(const struct column *column, uint8_t *row, struct reader *r)
{
	struct build_id id = { .len = read_u8(r) };
	struct bytes bytes = read_bytes(r, id.len);

	if (id.len > BUILD_ID_MAX || r->failed)
		return false;
	if (id.len)
		memcpy(id.bytes, bytes.at, id.len);
	memcpy(row + column->offset, &id, sizeof(id));
	return true;
}

/* Undoes the coding; value_fits decides whether the value is valid. */
static uint64_t decode_value(const struct column *column, size_t index, uint64_t *last, struct reader *r)
{
	switch (column->coding) {
	case CODE_SIGNED:
		return (uint64_t)read_sleb(r);
	case CODE_DELTA:
	case CODE_IN_IMAGE:
		return *last += (uint64_t)read_sleb(r);
	case CODE_BACK:
		return index - read_uleb(r);
	default:
		return read_uleb(r);
	}
}

/* limit: of what the column refers to. */
static inline bool value_fits(const struct column *column, uint64_t limit, uint64_t value)
{
	if (column->coding == CODE_SIGNED)
		return column->size == 8 || (int64_t)value == (int32_t)value;
	if (column->size < 8 && value >> (column->size * 8))
		return false;
	if (column->may_be_none && value == UINT32_MAX)
		return true;
	return column->refers == REF_ANYTHING || value < limit;
}

static int decode_column(const struct table *table, const struct column *of, const struct decoder *decoder,
			 struct bytes bytes, uint8_t *rows, size_t n)
{
	/* Copies: writes to the rows cannot alias them, which keeps them in registers. */
	const struct column copy = *of, *column = &copy;
	const uint64_t limit = decoder->limits[of->refers];
	struct reader r = reader_of(bytes);
	CLEANUP(history_done) struct history history = history_new(table, of, rows, n);

	for (size_t i = 0; i < n; i++) {
		uint8_t *row = rows + i * table->stride;
		if (column->coding == CODE_BUILD_ID) {
			if (!decode_build_id(column, row, &r))
				return decoder_refuse(decoder, "invalid build-id in row %zu", i);
			continue;
		}
		uint64_t value = decode_value(column, i, history_of(&history, row), &r);
		if (column->may_be_none)
			value = value ? value - 1 : UINT32_MAX;
		if (!value_fits(column, limit, value))
			return decoder_refuse(decoder, "%s of row %zu is out of range", column->name, i);
		if (column->coding == CODE_BACK && i > 0 && value >= i)
			return decoder_refuse(decoder, "%s of row %zu does not precede it", column->name, i);
		field_set(column, row, value);
	}
	if (r.failed || reader_left(&r))
		return decoder_refuse(decoder, "column %s has the wrong length", column->name);
	return 0;
}

int table_decode(const struct table *table, const struct decoder *decoder, void **ret_rows, size_t *ret_n)
{
	struct reader r = reader_of(decoder->bytes);
	uint64_t n = read_uleb(&r);
	uint64_t n_columns = read_uleb(&r);
	CLEANUP(freep) uint8_t *rows = NULL;

	if (r.failed || n > TABLE_ROWS_MAX)
		return decoder_refuse(decoder, "impossible number of rows");
	/* Every row takes a byte in every column, so the first column limits what we allocate. */
	if (n > 0 && (n_columns == 0 || n > reader_left(&r)))
		return decoder_refuse(decoder, "%llu rows do not fit", (unsigned long long)n);
	if (n > 0 && !(rows = calloc((size_t)n, table->stride)))
		return diag_set(decoder->diag, -ENOMEM, "cannot read profile '%s'", decoder->path);

	for (uint64_t c = 0; c < n_columns; c++) {
		struct bytes column = read_bytes(&r, read_uleb(&r));
		if (r.failed)
			return decoder_refuse(decoder, "column %llu is truncated", (unsigned long long)c);
		if (c >= table->n_columns)
			continue; /* of a later version */
		int error = decode_column(table, &table->columns[c], decoder, column, rows, (size_t)n);
		if (error < 0)
			return error;
	}
	for (uint64_t c = n_columns; n > 0 && c < table->n_columns; c++)
		if (!value_fits(&table->columns[c], decoder->limits[table->columns[c].refers], 0))
			return decoder_refuse(decoder, "column %s is missing", table->columns[c].name);
	if (reader_left(&r))
		return decoder_refuse(decoder, "%zu bytes too many", reader_left(&r));
	*ret_rows = TAKE(rows);
	*ret_n = (size_t)n;
	return 0;
}
