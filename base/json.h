/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json: writes JSON as a stream; json_reader reads it.
 *
 * Memory is proportional to the nesting depth: arrays that grow with the profile are written element by
 * element. The writer handles commas and nesting; names and strings are escaped, and bytes that are not UTF-8
 * become U+FFFD. A write error is returned by json_done. Whenever no object or array is open, all output has
 * reached the stream.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH 64

struct json {
	FILE *to;
	unsigned depth;
	bool has_members[JSON_MAX_DEPTH]; /* a comma is needed before the next element */
	bool after_name;
	int error; /* the first of the stream's */
	uint32_t n_pending;
	char pending[4096]; /* not written to the stream yet: a call of stdio costs more than most values */
};

/* Writes to a stream that belongs to the caller; without locking, so no other thread may write to it
 * meanwhile. */
void json_init(struct json *json, FILE *to);
/* 0, or -errno when something could not be written. */
int json_done(struct json *json);

void json_object(struct json *json);
void json_array(struct json *json);
/* Ends the innermost object or array. */
void json_end_object(struct json *json);
void json_end_array(struct json *json);
void json_name(struct json *json, const char *name);

void json_text(struct json *json, const char *text); /* NULL is null */
void json_uint(struct json *json, uint64_t value);
void json_int(struct json *json, int64_t value);
/* The shortest form that reads back as the same number; NaN and infinities become null. */
void json_number(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
/* As text: 0x and digits. */
void json_hex(struct json *json, uint64_t value);
__attribute__((format(printf, 2, 3))) void json_printf(struct json *json, const char *format, ...);
/* A line break between records of a stream; nothing may be open. */
void json_line(struct json *json);

/* name and value in one. */
void json_text_of(struct json *json, const char *name, const char *text);
void json_uint_of(struct json *json, const char *name, uint64_t value);
void json_int_of(struct json *json, const char *name, int64_t value);
void json_number_of(struct json *json, const char *name, double value);
void json_bool_of(struct json *json, const char *name, bool value);

/* Length of the valid UTF-8 sequence at text (1-4), 0 if it is none. */
unsigned utf8_length(const char *text, size_t left);
/* Is such a sequence a control character of ASCII or Latin-1? Terminals obey both. */
bool utf8_is_control(const char *text, unsigned len);
