/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows: the rows of a report for programs and for pull requests: JSON, CSV, markdown. Field names are
 * stable: later versions only add.
 */
#pragma once

#include <stdio.h>

#include "report/text/text.h"

void report_markdown(const struct text_input *input, const struct text_options *options, struct text *ret);
void report_csv(const struct text_input *input, const struct text_options *options, struct text *ret);
/* 0, or -EIO if it could not be written. */
int report_json(const struct text_input *input, const struct text_options *options, FILE *to);
