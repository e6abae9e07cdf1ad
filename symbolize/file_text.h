/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_text: strings that a file describes, and that may be much longer than it: every end of a string in a
 * section is a string, too, a linkage name repeats its own parts, and a path begins with its directory's.
 */
#pragma once

#include "base/intern.h"
#include "binary/elf/image.h"

/* Adds a string to a table, and takes it from the image's memory budget. 0 if there is not enough left.
 * Without an image, there is no limit. */
uint32_t file_text_add(struct intern *strings, struct image *image, const char *text, size_t len);
