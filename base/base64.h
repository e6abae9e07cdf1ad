/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64: base64 encoding.
 */
#pragma once

#include <stdio.h>

/*
 * A stream that encodes everything written to it and writes the result to `to`. Closing it completes the text
 * and leaves `to` open; fclose fails if not everything could be written.
 */
FILE *base64_stream(FILE *to);
