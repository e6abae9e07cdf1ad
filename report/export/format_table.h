/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_table: what the exporters say about themselves: docs/formats.md and --help are made of it.
 */
#pragma once

#include "base/text.h"

/* Appends a markdown table: a row a format, a column a thing it can hold. */
void format_table(struct text *ret);
/* Appends "json, ndjson, ...". */
void format_names(struct text *ret);
