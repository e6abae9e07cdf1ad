/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpacked_store: compressed sections of debug files, stored decompressed between runs. Debian compresses all
 * of them; decompressing libc's for one function takes longer than the rest of the symbol lookup.
 */
#pragma once

#include "base/store.h"
#include "binary/elf/image.h"

/* Gives the image the section as the store has it; false if it has none, or the file says that it is another.
 */
bool unpacked_store_recall(struct store *store, struct image *file, const struct section *section);
/* Unpacks what is left of it and keeps all, unless it is so small that this gains nothing, or so large that
 * much else would have to go. */
void unpacked_store_keep(struct store *store, struct image *file, const struct section *section);
