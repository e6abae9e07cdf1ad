/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_text: selected columns before the names in a text report.
 */
#pragma once

#include "report/text/columns.h"

void columns_put_header(const struct text_report *report, struct line *line);
/* Percentages of the report's metric are relative to `whole`. */
void columns_put_row(const struct text_report *report, struct line *line, const struct view *view,
		     uint32_t row, uint64_t whole);

/* Formats any cell except text: "12.3%", "1.2 ms", "11.2-13.9%". */
const char *column_number(const struct cell *cell, char text[NUMBER_MAX]);
