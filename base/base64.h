/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64: bytes as text.
 */
#pragma once

#include <stdio.h>

/*
 * A stream that writes in base64 to another one what is written to it. Closing it ends the text and leaves
 * `to` open; fclose tells whether all of it could be written.
 */
FILE *base64_stream(FILE *to);
