/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code_file: an ELF file opened for its code, for `inspect` and `verify`.
 */
#pragma once

#include "base/diag.h"
#include "binary/cfi/frames.h"
#include "binary/elf/image.h"
#include "binary/elf/symbols.h"
#include "binary/functions/function.h"

struct code_file {
	struct images *images;
	struct image *image;
	struct symbols *symbols;
	struct frames *frames;
	const struct isa *isa;
};

/* -ENOEXEC, with the reason, for a file of an unsupported machine. */
int code_file_open(struct code_file *file, const char *path, struct diag *diag);
void code_file_close(struct code_file *file);

/* Index of the function of that name (any of its symbols), or at that hexadecimal address, or FUNCTION_NONE.
 */
uint32_t code_file_function(const struct code_file *file, struct functions *functions, const char *name);
