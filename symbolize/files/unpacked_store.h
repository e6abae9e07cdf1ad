/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpacked_store: compressed sections of debug files, stored decompressed between runs. Debian compresses all
 * of them; decompressing libc's for one function takes longer than the rest of the symbol lookup.
 */
#pragma once

#include "base/store.h"
#include "binary/elf/image.h"

/* Gives the image the decompressed section from the store; false if the store has none, or it does not match
 * the file. */
bool unpacked_store_recall(struct store *store, struct image *file, const struct section *section);
/* Decompresses the rest of the section and stores all of it, unless it is so small that this gains nothing,
 * or so large that it would displace much else. */
void unpacked_store_keep(struct store *store, struct image *file, const struct section *section);
