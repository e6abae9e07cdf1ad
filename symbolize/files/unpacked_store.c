/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/files/unpacked_store.h"

#define VERSION 1
#define LEAST (64u << 10)
#define MOST (64u << 20)

static struct store_key unpacked_store_key_of(const struct image *file, const struct section *section)
{
	return (struct store_key){ "unpacked", VERSION, { image_identity(file), section->offset } };
}

static bool is_worth_it(const struct image *file, const struct section *section)
{
	uint64_t size = image_section_size(file, section);

	return size != section->size && size >= LEAST && size <= MOST && !file->is_changed;
}

bool unpacked_store_recall(struct store *store, struct image *file, const struct section *section)
{
	struct store_key key = unpacked_store_key_of(file, section);
	struct bytes entry = is_worth_it(file, section) ? store_get(store, &key) : (struct bytes){ 0 };

	if (entry.len && entry.len == image_section_size(file, section) &&
	    image_section_lend(file, section, entry, store_release))
		return true;
	store_release(entry);
	return false;
}

void unpacked_store_keep(struct store *store, struct image *file, const struct section *section)
{
	struct store_key key = unpacked_store_key_of(file, section);

	if (store && is_worth_it(file, section))
		store_put(store, &key, image_section_bytes(file, section));
}
