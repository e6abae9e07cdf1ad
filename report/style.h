/* SPDX-License-Identifier: Apache-2.0 */
/*
 * style: lines of text for a terminal, or plain text for other outputs.
 *
 * Names come from foreign files: control characters, escape sequences and invalid UTF-8 are replaced before
 * they are shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct style {
	size_t width; /* columns; 0 = no limit */
	bool color;
	bool utf8; /* tree lines and arrows; otherwise ASCII */
};

enum tint { TINT_PLAIN, TINT_BOLD, TINT_DIM, TINT_HOT, TINT_WARM };

/* A line being written. Text beyond the width is cut off, with an ellipsis. */
struct line {
	struct text *to;
	const struct style *style;
	size_t used; /* columns */
	bool is_full;
};

struct line line_start(struct text *to, const struct style *style);
/* foreign text: made safe first */
void line_name(struct line *line, enum tint tint, const char *name);
__attribute__((format(printf, 3, 4))) void line_printf(struct line *line, enum tint tint, const char *format,
						       ...);
/* Spaces up to a column. */
void line_pad(struct line *line, size_t column);
void line_end(struct line *line);

/* Appends name with everything dangerous replaced. */
void style_safe(struct text *to, const struct style *style, const char *name);
/* Columns that safe text takes. */
size_t style_columns(const char *safe);
/* A paragraph, broken at spaces to fit the width (at most 100 columns), with a line end. */
void style_paragraph(struct text *to, const struct style *style, const char *safe);
