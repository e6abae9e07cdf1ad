/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html: what the page carries, part by part. Private to the html exporter.
 */
#pragma once

#include "base/json.h"
#include "report/derived.h"
#include "report/export/exporter.h"
#include "report/tree/document.h"

/* An element of the page whose text is deflated and in base64: what is written to `packed`. Its id is
 * "kind-name". */
struct html_part {
	FILE *to, *text, *packed;
};
void html_part_open(struct html_part *part, FILE *to, const char *kind, const char *name);
/* An error shows in `to`, whose writer is asked at the end. */
void html_part_close(struct html_part *part);

/* The names of the columns of each block, as a member of the open object; and the blocks, a part each. */
void html_column_directory(struct json *json);
void html_write_blocks(FILE *to, const struct document *document);
/* Source text and instructions, a part for each file and function. */
void html_write_texts(FILE *to, const struct document *document, const struct export_options *options);
/* A JSON object of everything else. */
void html_write_meta(FILE *to, const struct document *document, const struct export_options *options,
		     const struct derived *derived);
