/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_text: foreign text on an HTML page.
 */
#pragma once

#include <stdio.h>

/* For text between tags or in a quoted attribute: no markup, no control characters, only valid UTF-8. */
void html_escaped(FILE *to, const char *text);
