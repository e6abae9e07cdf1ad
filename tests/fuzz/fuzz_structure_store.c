/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_structure_store: a stored entry with the structures of an image. An entry that opens can be read to
 * its end, and packs to one that opens again.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "structure/structure_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct structure *s)
{
	if (s->scopes.n == 0)
		abort();
	for (size_t i = 1; i < s->scopes.n; i++)
		if (s->scopes.at[i].parent >= i)
			abort();
	for (size_t i = 0; i < s->ranges.n; i++)
		if (s->ranges.at[i].scope >= s->scopes.n)
			abort();
	for (size_t i = 0; i < s->pieces.n; i++)
		if (s->pieces.at[i].scope >= s->scopes.n)
			abort();
	for (size_t i = 0; i < s->statements.n; i++)
		if (s->statements.at[i].scope >= s->scopes.n)
			abort();
}

static void pack_again(const struct structure_entry *entry)
{
	struct structure_packer *packer = structure_packer_new();
	struct structure s = { 0 };
	struct intern strings;
	struct writer bytes = { 0 };

	intern_init(&strings);
	for (size_t i = 0; i < structure_entry_count(entry); i++) {
		structure_entry_get(entry, i, &s);
		check(&s);
		structure_entry_rename(entry, &s, &strings);
		structure_pack(packer, &s, &strings);
	}
	structure_packer_finish(packer, &bytes);
	struct structure_entry *again = structure_entry_open(writer_bytes(&bytes));
	if (!again || structure_entry_count(again) != structure_entry_count(entry))
		abort();
	structure_entry_close(again);
	structure_packer_free(packer);
	structure_done(&s);
	writer_done(&bytes);
	intern_done(&strings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = alloc_zero(1, size + 1); /* aligned, as in a mapped file */

	memcpy(copy, data, size);
	struct structure_entry *entry = structure_entry_open((struct bytes){ copy, size });
	if (entry)
		pack_again(entry);
	structure_entry_close(entry);
	free(copy);
	return 0;
}
