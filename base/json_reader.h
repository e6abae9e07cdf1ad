/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_reader: JSON as a stream of events, from memory or from a stream, of which a window is buffered. No
 * tree is built: memory is proportional to the nesting depth, not to the size of the document. Strict:
 * whatever RFC 8259 does not allow is refused with its offset.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"

#define JSON_READER_DEPTH 64

enum json_event {
	JSON_END,    /* of the input: nothing is open */
	JSON_OBJECT, /* begins */
	JSON_ARRAY,  /* begins */
	JSON_CLOSE,  /* the innermost object or array ends */
	JSON_NAME,   /* of a member; its value follows */
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
	JSON_BAD, /* see `why` and json_reader_offset */
};

struct json_reader {
	struct reader input;
	unsigned depth;
	bool is_object[JSON_READER_DEPTH];
	bool is_empty[JSON_READER_DEPTH]; /* nothing in it yet */
	bool wants_value;                 /* a name was read */
	bool has_value;                   /* the document has begun */
	bool is_stream;                   /* values may follow each other, as in ndjson */
	FILE *from;                       /* NULL: all of it is in memory */
	uint8_t *window;
	size_t window_size;
	uint64_t passed; /* bytes before the window */
	const char *why;
	struct bytes text; /* for a string or name: as written, including escapes; for a number: its digits;
			      valid until the next event */
};

void json_reader_init(struct json_reader *reader, struct bytes bytes, bool is_stream);
/* The stream belongs to the caller; call json_reader_done afterwards. */
void json_reader_init_stream(struct json_reader *reader, FILE *from);
void json_reader_done(struct json_reader *reader);
/* Whether the remaining input starts with this. */
bool json_reader_starts(const struct json_reader *reader, const char *text);
enum json_event json_reader_next(struct json_reader *reader);
/* Skips the value whose first event was just read. False if it is invalid. */
bool json_reader_skip(struct json_reader *reader, enum json_event first);
uint64_t json_reader_offset(const struct json_reader *reader);

/* The last number, if it is an integer that fits. */
bool json_reader_int(const struct json_reader *reader, int64_t *ret);
/* Whether the last string or name is this one. (None of ours need escapes.) */
bool json_reader_is(const struct json_reader *reader, const char *text);
