/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text: the text report: a summary paragraph, then one view, then the quality line. A pure function of the
 * profile and its scope tree.
 */
#pragma once

#include "report/text/text_report.h"

void report_text(const struct text_input *input, const struct text_options *options, struct text *ret);
