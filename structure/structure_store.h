/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structure_store: the structures of an image's functions, serialised with their strings: the form in which
 * the store keeps them between runs, and from which `cpprof struct` prints.
 */
#pragma once

#include "base/store.h"
#include "base/writer.h"
#include "structure/structure.h"

/* identity: of the image and its debug files; demangles: names are demangled. */
struct store_key structure_store_key(uint64_t identity, bool demangles,
				     const struct structure_options *options);

/* Takes structures one by one. */
struct structure_packer;
struct structure_packer *structure_packer_new(void);
void structure_packer_free(struct structure_packer *packer);
/* strings may be a different table in each call. */
void structure_pack(struct structure_packer *packer, const struct structure *structure,
		    const struct intern *strings);
/* All structures, serialised; writer_done it. */
void structure_packer_finish(const struct structure_packer *packer, struct writer *ret);

/* An entry that has been validated. It borrows the bytes. */
struct structure_entry;
/* NULL if the bytes are not a valid entry. They must be aligned to 8. */
struct structure_entry *structure_entry_open(struct bytes bytes);
void structure_entry_close(struct structure_entry *entry);
size_t structure_entry_count(const struct structure_entry *entry);
/* Where the function of structure i starts. */
uint64_t structure_entry_function(const struct structure_entry *entry, size_t i);
/* Replaces ret by structure i; its names are numbers for structure_entry_text. structure_done it. */
void structure_entry_get(const struct structure_entry *entry, size_t i, struct structure *ret);
/* Replaces the names of a structure from the entry by ids of the caller's strings. */
void structure_entry_rename(const struct structure_entry *entry, struct structure *structure,
			    struct intern *strings);
/* "" if there is no such number. Valid as long as the bytes. */
const char *structure_entry_text(const struct structure_entry *entry, uint32_t id);
