/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text: the report people read: a paragraph that says what dominates, then one view, then how far it
 * can be trusted. A pure function of the profile and its fused tree.
 */
#pragma once

#include "report/text/text_report.h"

void report_text(const struct text_input *input, const struct text_options *options, struct text *ret);
