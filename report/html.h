/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html: what the page carries, part by part. Private to the html exporter.
 */
#pragma once

#include "base/json.h"
#include "report/document.h"
#include "report/exporter.h"

/* The names and lengths of the columns, as a member of the open object; and the columns themselves. */
void html_column_directory(struct json *json, const struct document *document);
void html_write_columns(FILE *to, const struct document *document);
/* A JSON object of everything else. */
void html_write_meta(FILE *to, const struct document *document, const struct export_options *options);
