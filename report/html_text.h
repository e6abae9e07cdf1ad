/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_text: foreign text on an HTML page.
 */
#pragma once

#include <stdio.h>

/* Between tags or in the quotes of an attribute: no markup, no control characters, no bytes that are not
 * UTF-8. */
void html_escaped(FILE *to, const char *text);
