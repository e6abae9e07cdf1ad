/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_table: the properties of the exporters, from which docs/formats.md and --help are generated.
 */
#pragma once

#include "base/text.h"

/* Appends a markdown table: one row per format, one column per property. */
void format_table(struct text *ret);
/* Appends "json, ndjson, ...". */
void format_names(struct text *ret);
