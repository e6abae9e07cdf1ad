/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html: the contents of the page, part by part. Private to the html exporter.
 */
#pragma once

#include "base/json.h"
#include "report/derived.h"
#include "report/export/exporter.h"
#include "report/tree/document.h"

/* An element of the page: what is written to `packed` is compressed (deflate) and encoded in base64. Its id
 * is "kind-name". */
struct html_part {
	FILE *to, *text, *packed;
};
void html_part_open(struct html_part *part, FILE *to, const char *kind, const char *name);
/* Errors are reported through `to`, which is checked at the end. */
void html_part_close(struct html_part *part);

/* The names of the columns of each block, as a member of the open object; and the blocks, one part each. */
void html_column_directory(struct json *json);
void html_write_blocks(FILE *to, const struct document *document);
/* Source text and instructions, one part for each file and function. */
void html_write_texts(FILE *to, const struct document *document, const struct export_options *options);
/* A JSON object of everything else. */
void html_write_meta(FILE *to, const struct document *document, const struct export_options *options,
		     const struct derived *derived);
